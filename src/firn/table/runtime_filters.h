// Filters that become known while a query runs, applied to files, units and rows.
#pragma once

#include "firn/table/iceberg_scan.h"

namespace firn::table {

/// Whether a file's bounds show that no row of it passes the filters that are ready.
bool file_fails_runtime_filters(const ScanContext& context, const iceberg::PlannedFile& planned);
/// The same for a unit's statistics.
bool unit_fails_runtime_filters(const ScanContext& context, const OpenedFile& file, size_t unit);

/// The rows of a unit's batches that may pass one filter. Remembers what it found of the entries of the dictionary met last.
class RuntimeFilterTest {
public:
    /// Of `values` (any encoding, of the filter's column).
    Selection passing_rows(const std::shared_ptr<const plan::RuntimeFilter::Content>& content, const VectorPtr& values);

private:
    std::shared_ptr<const plan::RuntimeFilter::Content> content_;
    VectorPtr base_;
    std::vector<uint8_t> entries_;  // of base_: 0 fails, 1 passes, 2 not yet looked at
};

}  // namespace firn::table
