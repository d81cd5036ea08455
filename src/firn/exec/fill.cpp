#include "firn/base/error.h"
#include "firn/exec/operators.h"

namespace firn::exec {

void run_fill(Run&, const plan::FillNode&, Stage&) { fail(ErrorCode::NOT_IMPLEMENTED, "WITH FILL is not supported yet"); }

}  // namespace firn::exec
