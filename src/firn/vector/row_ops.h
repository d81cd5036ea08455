// Comparing and hashing rows of vectors, in any encoding.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

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

/// False where a quick look shows that no row is NULL. The entry for NULL that dictionaries of files end with, which mostly
/// no row uses, does not make it true.
bool may_have_null(const Vector& vector);

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

/// What hash_rows gives for one column whose value, not NULL, is this one.
template <typename T>
uint64_t hash_value(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
        double d = value;
        if (d == 0) d = 0;  // -0.0
        uint64_t bits;
        std::memcpy(&bits, &d, sizeof(bits));
        if (d != d) bits = 0x7ff8000000000000ULL;
        return mix_hash(bits);
    } else if constexpr (std::is_same_v<T, StringRef>) {
        return hash_bytes(value.data, value.size);
    } else if constexpr (sizeof(T) <= 8) {
        return mix_hash(static_cast<uint64_t>(value));
    } else if constexpr (sizeof(T) == 16) {
        return mix_hash(static_cast<uint64_t>(value) ^ mix_hash(static_cast<uint64_t>(value >> 64)));
    } else {
        return hash_bytes(reinterpret_cast<const char*>(&value), sizeof(T));
    }
}

}  // namespace firn
