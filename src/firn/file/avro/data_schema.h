// An Avro schema as fields with SQL types and Iceberg's ids (Iceberg spec: Appendix A, Avro).
#pragma once

#include <string>
#include <vector>

#include "firn/file/avro/schema.h"
#include "firn/file/data_file.h"

namespace firn::file::avro {

/// Where a field's values stand in the file's schema.
struct FieldSource {
    NodeId node = 0;       ///< the type of values that are not null
    int null_branch = -1;  ///< of the union with null; -1: never null
};

struct DataSchema {
    std::vector<FileField> fields;     ///< top level
    std::vector<FieldSource> sources;  ///< by FileField::index
};

/// The root must be a record. NOT_IMPLEMENTED for unions other than of null and one type, LIMIT_EXCEEDED for more than
/// kMaxDataFields fields, TOO_DEEP_RECURSION for types nested over kMaxDepth.
///
/// Natural types: timestamps are DateTime64 of 3, 6 or 9 digits, of 'UTC' where the schema says adjust-to-utc; time of
/// day is an Int64 of microseconds (Int32 of milliseconds); enums are String; Iceberg's maps (arrays of key and value
/// with logicalType map) are Map; variants are a String of JSON.
DataSchema to_data_schema(const Schema& schema, const std::string& file);

/// A record of metadata and value that is one variant.
bool is_variant(const Schema& schema, const Node& node);

inline constexpr size_t kMaxDataFields = 100'000;

}  // namespace firn::file::avro
