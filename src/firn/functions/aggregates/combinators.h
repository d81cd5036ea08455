// Aggregate functions around aggregate functions: NULL rules, -If, -Array, -Distinct, -OrNull, -OrDefault, -State,
// -Merge, -ForEach, -Resample.
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
/// The state as a value of type AggregateFunction(name(parameters), arguments…).
AggregatePtr to_state(AggregatePtr inner, std::string name, std::span<const VectorPtr> parameters,
                      std::span<const TypePtr> arguments);
/// States of the function `name`, added together. ILLEGAL_TYPE_OF_ARGUMENT for anything else.
AggregatePtr from_states(std::string_view name, std::span<const TypePtr> arguments);
/// The function whose states an AggregateFunction type holds.
AggregatePtr function_of_state(const DataType& type);
/// Arguments are arrays; the elements at one place of them are one group. The result is an array.
AggregatePtr of_each(AggregatePtr inner);
/// parameters: begin, end and step of intervals; one more argument, of type `key`, says which one a row belongs to.
AggregatePtr resampled(AggregatePtr inner, std::span<const VectorPtr> parameters, const TypePtr& key);
/// Always NULL: of a NULL literal.
AggregatePtr always_null(std::string name);

}  // namespace firn::functions
