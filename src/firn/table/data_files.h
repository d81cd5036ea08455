// Opening the files that manifests name: footers are parsed once and kept in the metadata cache.
#pragma once

#include <memory>

#include "firn/file/data_file.h"
#include "firn/iceberg/scan_plan.h"

namespace firn::table {

/// Errors name the file. Formats that data and delete files do not have are ICEBERG_SPECIFICATION_VIOLATION.
std::shared_ptr<const file::DataFile> open_file(const iceberg::TableFiles& table, const iceberg::FileRef& file);

}  // namespace firn::table
