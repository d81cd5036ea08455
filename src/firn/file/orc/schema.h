// An ORC file's types as fields with SQL types and Iceberg's ids.
#pragma once

#include "firn/file/data_file.h"
#include "firn/file/orc/tail.h"

namespace firn::file::orc {

/// The top-level fields. FileField::index is the column's number less one (column 0 is the row itself). Checks that the
/// columns are numbered depth first. NOT_IMPLEMENTED for unions, TOO_DEEP_RECURSION beyond kMaxDepth.
///
/// Natural types: timestamps have 9 digits, 6 where Iceberg wrote the file and does not say NANOS; instants are of
/// 'UTC'. Iceberg's uuid is UUID, its fixed FixedString, its time Int64 of microseconds, its variant (a struct of
/// metadata and value) a String of JSON whose parts are no fields. All is optional but a map's key.
std::vector<FileField> to_fields(const Tail& tail, const std::string& file);

/// A struct of metadata and value that is one variant.
bool is_variant(const Tail& tail, uint32_t column);

inline constexpr int kMaxDepth = 64;

}  // namespace firn::file::orc
