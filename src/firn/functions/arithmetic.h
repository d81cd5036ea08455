// Arithmetic by kinds of types: each returns an Overload, or one without a kernel where the types are not its own.
#pragma once

#include "firn/functions/function.h"

namespace firn::functions {

enum class Arithmetic : uint8_t {
    Plus,
    Minus,
    Multiply,
    Divide,
    IntDiv,
    IntDivOrZero,
    Modulo,
    ModuloOrZero,
    PositiveModulo
};

struct ArithmeticCall {
    Arithmetic op;
    std::string_view name;
    const FunctionContext* context;
};

Overload number_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b);
Overload decimal_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b);
Overload time_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b);
/// Any of them; ILLEGAL_TYPE_OF_ARGUMENT.
Overload resolve_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b);

/// A date or time plus `sign` times a count of units, as addDays and `+ INTERVAL` do; counts are Int64.
/// ILLEGAL_TYPE_OF_ARGUMENT where the unit is finer than the type can be made.
Overload add_units(const TypePtr& time, IntervalKind kind, int sign, const FunctionContext& context);

}  // namespace firn::functions
