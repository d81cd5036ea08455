// Constants of SQL in the terms of an Iceberg column, and ranges of a column from comparisons of a function of it.
#pragma once

#include <optional>

#include "firn/iceberg/predicate.h"
#include "firn/plan/expression.h"

namespace firn::table {

/// A constant as values of a column's type: the value equal to it, or, where there is none, the greatest value below and
/// the least above it (each absent where there is none such).
struct ColumnValues {
    std::optional<iceberg::Literal> exact, below, above;
    /// The comparison is of rounded numbers: values from below to above (both given) may equal the constant.
    bool approximate = false;
};
/// Nothing where SQL's comparison of the column with the constant is no comparison of the column's own values.
/// `value`: one row, not NULL.
std::optional<ColumnValues> column_values(const iceberg::NestedField& field, const Vector& value);

/// For calls that are monotonic in the only column that they read (`field`): a predicate on it that holds wherever
/// `call op value` does. Null where there is none to be had.
iceberg::PredicatePtr monotonic_predicate(const plan::Expression& call, const iceberg::NestedField& field,
                                          iceberg::PredicateOp op, const Vector& value);

}  // namespace firn::table
