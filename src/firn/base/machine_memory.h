// How much memory there is.
#pragma once

#include <cstdint>

namespace firn {

/// Where nobody says how much there is.
constexpr int64_t kUnknownMemory = INT64_MAX / 8;

/// Bytes of memory that the process may have: the machine's, or fewer where its control group says so; else
/// kUnknownMemory. Thread-safe.
int64_t machine_memory();

}  // namespace firn
