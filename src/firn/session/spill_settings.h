// The settings that say when a query's operators spill to disk, where to, and how compressed.
#pragma once

#include "firn/base/settings.h"
#include "firn/exec/execute.h"

namespace firn::session {

/// max_bytes_before_external_* and max_bytes_ratio_before_external_*, the lesser of both: the ratio is of max_memory_usage
/// or, without one, of nine tenths of the machine's (the control group's) memory. BAD_ARGUMENTS for a ratio outside [0, 1).
/// temporary_files_codec: BAD_ARGUMENTS for a codec that is not there.
void set_spill_options(const Settings& settings, exec::ExecutionOptions& options);

}  // namespace firn::session
