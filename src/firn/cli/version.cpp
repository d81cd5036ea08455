#include "firn/cli/version.h"

namespace firn::cli {

std::string version_line() { return "firn " FIRN_VERSION; }

}  // namespace firn::cli
