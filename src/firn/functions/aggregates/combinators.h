// Aggregate functions around aggregate functions: NULL rules, -If, -Array, -Distinct, -OrNull, -OrDefault.
#pragma once

#include "firn/functions/aggregate.h"

namespace firn::functions {

/// Rows with a NULL argument are left out. `null_when_empty`: the result is NULL where no row is left.
/// arguments: the types as given, Nullable or not; `inner` takes them without Nullable.
AggregatePtr skip_nulls(AggregatePtr inner, std::span<const TypePtr> arguments, bool null_when_empty);
/// The result is NULL (to_null) or the type's default where no row came.
AggregatePtr or_empty(AggregatePtr inner, bool to_null);
/// Rows where the last argument is not zero.
AggregatePtr only_if(AggregatePtr inner);
/// Arguments are arrays; each element is a row.
AggregatePtr of_elements(AggregatePtr inner);
/// Each combination of arguments counts once.
AggregatePtr of_different(AggregatePtr inner, std::vector<TypePtr> arguments);
/// Always NULL: of a NULL literal.
AggregatePtr always_null(std::string name);

}  // namespace firn::functions
