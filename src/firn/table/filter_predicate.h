// SQL filters as predicates on Iceberg columns, for pruning.
#pragma once

#include <functional>
#include <optional>

#include "firn/iceberg/predicate.h"
#include "firn/plan/expression.h"

namespace firn::table {

/// The Iceberg field that an expression's column stands for; null for columns that are none (virtual ones).
using FieldOfColumn = std::function<const iceberg::NestedField*(size_t column)>;

struct FilterPredicate {
    iceberg::PredicatePtr predicate;
    /// The predicate is true for exactly the rows for which the filter is; otherwise it is true for these and more.
    bool exact = false;
};

/// A predicate that every row which passes the filter satisfies. Understands and, or, not, comparisons with constants
/// (also through casts and monotonic functions such as toDate, toYYYYMM), IN, LIKE and startsWith with a prefix, IS NULL,
/// isNaN, and boolean columns. What it does not understand is Maybe.
FilterPredicate filter_predicate(const plan::Expression& filter, const FieldOfColumn& fields);

}  // namespace firn::table
