// Bounds of column chunks and pages as values of the natural types, as far as they can be trusted.
#pragma once

#include "firn/file/data_file.h"
#include "firn/file/parquet/metadata.h"
#include "firn/file/parquet/schema.h"

namespace firn::file::pq {

/// order: of the column, as the footer says.
ValueStatistics chunk_statistics(const Leaf& leaf, const ColumnChunk& chunk, ColumnOrder order);

/// Page `page` of an index whose lists have been found of equal length; ordered: whether its bounds can be used.
void page_bounds(const Leaf& leaf, const ColumnIndex& index, size_t page, bool ordered, PageRange& out);

/// One bound, stored as PLAIN without a length, as one row of leaf.type; null where it cannot be used. `lower` decides
/// which zero of floats is meant.
VectorPtr decode_bound(const Leaf& leaf, std::string_view bytes, bool lower);

/// Whether min_value and max_value (or a column index) of that order can be used.
bool order_is_known(const Leaf& leaf, ColumnOrder order);

}  // namespace firn::file::pq
