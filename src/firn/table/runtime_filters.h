// Filters that become known while a query runs, applied to files, units and rows.
#pragma once

#include "firn/table/iceberg_scan.h"

namespace firn::table {

/// Whether a file's bounds show that no row of it passes the filters that are ready.
bool file_fails_runtime_filters(const ScanContext& context, const iceberg::PlannedFile& planned);
/// The same for a unit's statistics.
bool unit_fails_runtime_filters(const ScanContext& context, const OpenedFile& file, size_t unit);

/// Marks the rows of `values` (any encoding, of the filter's column) that may pass.
Selection passing_rows(const plan::RuntimeFilter::Content& content, const VectorPtr& values);

}  // namespace firn::table
