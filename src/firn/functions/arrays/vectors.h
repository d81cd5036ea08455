// Norms and distances of tuples and of arrays of numbers, which share their functions' names.
#pragma once

#include "firn/functions/declare.h"

namespace firn::functions {

enum class VectorNorm : uint8_t { L1, L2, L2Squared, Linf, Lp };

/// Whether the first argument is a tuple.
bool is_tuple_call(ArgumentList arguments);
// For tuples; result types are those of the arithmetic they are made of. power: of Lp.
Overload tuple_norm(ArgumentList arguments, VectorNorm which, double power, const FunctionContext& context);
Overload tuple_distance(ArgumentList arguments, VectorNorm which, double power, const char* name,
                        const FunctionContext& context);
Overload tuple_normalize(ArgumentList arguments, VectorNorm which, double power, const FunctionContext& context);
Overload tuple_dot_product(ArgumentList arguments, const char* name, const FunctionContext& context);
Overload tuple_cosine_distance(ArgumentList arguments, const FunctionContext& context);

}  // namespace firn::functions
