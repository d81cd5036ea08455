// What the columns of a scan are in one data file: read from it, or constant.
#pragma once

#include "firn/table/iceberg_scan.h"
#include "firn/table/projection.h"

namespace firn::table {

/// Whether a virtual column has one value in all rows of a file.
bool is_file_constant(VirtualColumn column);

/// Fills columns and constants of an opened file. A column that the file lacks is its identity partition value, its
/// initial default, or NULL; ICEBERG_SPECIFICATION_VIOLATION where it is required and has neither.
void resolve_columns(const ScanContext& context, const FileFields& fields, OpenedFile& file);
file::ReadField project_key(const KeyField& key, const FileFields& fields, const OpenedFile& file);

/// Whether filters on _path, _file … alone leave nothing of a file, which then need not be opened.
bool file_is_skipped(const ScanContext& context, const iceberg::PlannedFile& planned);

}  // namespace firn::table
