// Iceberg's types and values as SQL's, and back (SPEC: the table of types in docs/architecture.md).
#pragma once

#include <optional>

#include "firn/iceberg/schema.h"
#include "firn/iceberg/values.h"
#include "firn/vector/builder.h"
#include "firn/vector/vector.h"

namespace firn::table {

struct IcebergTypeOptions {
    bool time_as_time64 = false;  // time as Time64(6) instead of Int64 microseconds
};

/// The SQL type of a column; Nullable where it is optional, except Array, Map and Tuple.
TypePtr sql_type(const iceberg::Type& type, bool required, const IcebergTypeOptions& options);
inline TypePtr sql_type(const iceberg::NestedField& field, const IcebergTypeOptions& options) {
    return sql_type(*field.type, field.required, options);
}

/// Appends a primitive value (null too) to a builder of the SQL type of its kind.
void append_datum(VectorBuilder& builder, const iceberg::Datum& value);
/// One row of a value of any type, of the SQL type `type`.
VectorPtr literal_vector(const iceberg::Literal& literal, const TypePtr& type);
VectorPtr datum_vector(const iceberg::Datum& value, const TypePtr& type);

/// A row of a vector as a value of an Iceberg column's type. The vector's type is the column's SQL type, Nullable or not.
/// Nothing where SQL's value has no counterpart. Bytes are views into the vector.
std::optional<iceberg::Datum> datum_of(const Vector& vector, size_t row, const iceberg::Type& type);

}  // namespace firn::table
