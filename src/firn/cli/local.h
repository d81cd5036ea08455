// `firn local`: statements from -q, a file, or standard input; the interactive shell on a terminal.
#pragma once

namespace firn::cli {

/// argv[0] is "local". Returns the exit status; throws Error for bad arguments.
int run_local(int argc, char** argv);

}  // namespace firn::cli
