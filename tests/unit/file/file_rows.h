// Rows of data files as text, and open files in memory, for the tests of readers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/file/data_file.h"

namespace firn::file {

/// A file of the repository, by its path from the root.
std::shared_ptr<const storage::OpenFile> open_test_file(const std::string& path);
/// Bytes as an open file named `name`, not mapped.
std::shared_ptr<const storage::OpenFile> open_bytes(std::string bytes, const std::string& name);
std::string read_test_file(const std::string& path);
/// The files below a folder whose names hold `part`, in order.
std::vector<std::string> test_files(const std::string& folder, const std::string& part);

/// Each row of all units, cells parted by tabs, strings quoted.
std::vector<std::string> rows_of(const DataFile& file, size_t rows_at_once = 1000);
std::vector<std::string> rows_of(const DataFile& file, const std::vector<ReadField>& columns,
                                 size_t rows_at_once = 1000);
/// "name Type, name Type": the top-level fields.
std::string fields_of(const DataFile& file);
const FileField& field_of(const DataFile& file, const std::string& name);
/// The rows of `selection` (all where null) of every column of a unit, read column after column.
std::vector<std::string> read_rows(UnitReader& reader, size_t columns, uint64_t begin, size_t count,
                                   const Selection* selection);

}  // namespace firn::file
