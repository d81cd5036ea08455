#include "firn/base/error.h"
#include "firn/exec/operators.h"

namespace firn::exec {

void run_window(Run&, const plan::WindowNode&, Stage&, const Columns&) {
    fail(ErrorCode::NOT_IMPLEMENTED, "Window functions are not supported yet");
}

}  // namespace firn::exec
