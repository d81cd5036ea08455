// What a snapshot's metadata says of its columns, for the planner's guesses: bounds and NULL counts of the live files, and
// numbers of distinct values from statistics files.
#pragma once

#include "firn/plan/source.h"
#include "firn/table/iceberg_source.h"

namespace firn::table {

/// Of a column of the source's schema; `type` is its SQL type. Bounds are of the rows before deletes. Knows nothing, beyond
/// distinct values, of a table whose manifests would take long to read, and of one whose metadata cannot be read: that is
/// for the scan to report.
plan::ColumnEstimate estimate_column(const IcebergSource& source, const iceberg::NestedField& field,
                                     const TypePtr& type);

}  // namespace firn::table
