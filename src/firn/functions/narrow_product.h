// Products of 64-bit integers that happen to be small, as most decimals are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::functions {

/// out[i] = a[i] * b[i]. False where a factor does not fit into 32 bits, or the machine has no fast way: then `out` is not
/// to be read.
bool multiply_narrow(const int64_t* a, const int64_t* b, size_t rows, int64_t* out);

}  // namespace firn::functions
