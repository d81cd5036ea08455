// The interactive shell: edits lines, keeps a history, shows results, progress and errors, and goes on after them.
#pragma once

#include <functional>
#include <string_view>

#include "firn/session/session.h"

namespace firn::cli {

/// Until the end of input or `exit`. Returns the exit status.
int run_shell(session::Session& session, const std::function<void(std::string_view)>& write);

}  // namespace firn::cli
