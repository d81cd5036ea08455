// Bloom filters of row groups (ORC v1 specification, "Bloom Filter Index"; the later form, BLOOM_FILTER_UTF8).
#pragma once

#include <optional>

#include "firn/file/orc/tail.h"
#include "firn/vector/vector.h"

namespace firn::file::orc {

/// The hash by which a column's filters know a value (row 0 of a flat vector of the column's natural type). Nothing for
/// types whose filters are not read, and for values that do not equal only themselves (zeros and NaNs).
std::optional<uint64_t> bloom_hash(const Type& type, const Vector& value);
/// True where the filter is damaged, too.
bool bloom_may_contain(const BloomFilter& filter, uint64_t hash);

}  // namespace firn::file::orc
