// Comparing and hashing rows of vectors, in any encoding.
#pragma once

#include <cstdint>
#include <span>

#include "firn/vector/vector.h"

namespace firn {

/// Order of two values of the same type. NULL and NaN: `nulls_direction` says where they stand against other values: 1 =
/// after, -1 = before; NaN counts as greatest below NULL. -0.0 == 0.0. Arrays compare elementwise, then by length; tuples
/// elementwise. Returns <0, 0, >0.
int compare_values(const Vector& a, size_t row_a, const Vector& b, size_t row_b, int nulls_direction = 1);

/// Equality for grouping, DISTINCT and set operations: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0.
bool equal_values(const Vector& a, size_t row_a, const Vector& b, size_t row_b);

/// A hash of each row over all columns, consistent with equal_values and independent of encoding. hashes: rows of them.
void hash_rows(std::span<const VectorPtr> columns, size_t rows, uint64_t* hashes);

/// Mixes a 64-bit value well enough to take low or high bits of it.
inline uint64_t mix_hash(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x;
}
uint64_t hash_bytes(const char* data, size_t size);

}  // namespace firn
