// What a snapshot's metadata says of its columns, for the planner's guesses: bounds and NULL counts of the live files, and
// numbers of distinct values from statistics files.
#pragma once

#include "firn/plan/source.h"
#include "firn/table/iceberg_source.h"

namespace firn::table {

using Manifests = std::vector<std::shared_ptr<const iceberg::Manifest>>;

/// The snapshot's data manifests; nothing where they are too many, or where they cannot be read: that is for the scan to
/// report.
std::optional<Manifests> manifests_for_estimates(const IcebergSource& source);

/// Of a column of the source's schema; `type` is its SQL type. Bounds are of the rows before deletes. Knows nothing, beyond
/// distinct values, without manifests, and where their bounds cannot be read.
plan::ColumnEstimate estimate_column(const IcebergSource& source, const std::optional<Manifests>& manifests,
                                     const iceberg::NestedField& field, const TypePtr& type);

}  // namespace firn::table
