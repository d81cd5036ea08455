#pragma once

#include <string>

namespace firn::cli {

/// "firn 0.1.0".
std::string version_line();

}  // namespace firn::cli
