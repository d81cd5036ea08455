// Split-block bloom filters (BloomFilter.md of apache/parquet-format).
#pragma once

#include <span>
#include <string>

#include "firn/file/parquet/schema.h"

namespace firn::file::pq {

/// The value as the filter's hash takes it: PLAIN, strings without their length. Empty where the value (one row of the
/// leaf's natural type) has no such form. `known` says whether it has.
std::string plain_bytes(const Leaf& leaf, const Vector& value, bool& known);

/// Whether a filter may contain the value; bitset: a multiple of 32 bytes, not empty.
bool bloom_may_contain(std::span<const uint8_t> bitset, std::string_view plain);

}  // namespace firn::file::pq
