// From stored values to values of the natural SQL type.
#pragma once

#include <cstddef>
#include <span>

#include "firn/file/parquet/schema.h"

namespace firn::file::pq {

/// n raw values (Leaf::raw_width bytes each) as n of leaf.type, for every Conversion but None and FixedBytes.
/// INCORRECT_DATA for a decimal that does not fit its precision's width.
void convert_values(const Leaf& leaf, const char* raw, size_t n, char* out);

}  // namespace firn::file::pq
