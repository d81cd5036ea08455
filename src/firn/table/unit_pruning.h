// Which units of a data file, and which rows of them, may hold rows that pass: by statistics, page index, bloom filters.
#pragma once

#include "firn/table/iceberg_scan.h"
#include "firn/table/projection.h"

namespace firn::table {

/// Statistics of a file's column (of `natural` reading type `type`) as knowledge of the table's field.
iceberg::ValueRange range_of_statistics(const file::ValueStatistics& statistics, const TypePtr& type,
                                        const iceberg::NestedField& field);

/// The work of a file: its units that may match, with the rows that may.
std::vector<UnitWork> plan_units(ScanContext& context, const FileFields& fields,
                                 const std::shared_ptr<const OpenedFile>& file);

}  // namespace firn::table
