// Opening the files that manifests name: footers are parsed once and kept in the metadata cache.
#pragma once

#include <memory>

#include "firn/file/data_file.h"
#include "firn/iceberg/scan_plan.h"

namespace firn::table {

/// Errors name the file. Formats that data and delete files do not have are ICEBERG_SPECIFICATION_VIOLATION.
/// `ahead`: what begin_opening gave for the file, or null.
std::shared_ptr<const file::DataFile> open_file(const iceberg::TableFiles& table, const iceberg::FileRef& file,
                                                std::shared_ptr<const storage::OpenFile> ahead = nullptr);

/// Where the table's file is, and the size that its manifest says.
storage::ObjectInfo known_of(const iceberg::TableFiles& table, const iceberg::FileRef& file);

/// A file whose footer is on its way.
struct FileAhead {
    std::shared_ptr<const storage::OpenFile> file;
    std::shared_ptr<const void> bytes;  // kept till the footer is read
};

/// Asks remote storage for the footer (of small files: all) without waiting. Empty for local files, and where the footer
/// is in the cache.
FileAhead begin_opening(const iceberg::TableFiles& table, const iceberg::FileRef& file);

}  // namespace firn::table
