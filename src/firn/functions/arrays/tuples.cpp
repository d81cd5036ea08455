// Tuples element by element: arithmetic, norms and distances, names, concatenation.
#include <algorithm>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/composed.h"
#include "firn/functions/arrays/vectors.h"
#include "firn/functions/declare.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

using Bound = std::shared_ptr<const BoundFunction>;
/// What takes the tuple arguments' rows to the result's; made from types alone, so that kernels can be put together.
struct Computed {
    TypePtr type;
    std::function<VectorPtr(const std::vector<VectorPtr>& arguments, size_t rows)> compute;
};

const TypePtr& require_tuple(const TypePtr& type, const char* name, size_t position) {
    if (type->id() != TypeId::Tuple)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Argument {} of function {} should be a tuple, not {}", position + 1,
             name, type->name());
    return type;
}

VectorPtr part(const VectorPtr& tuple, size_t i) { return flatten(flatten(tuple)->child(i)); }

/// function(a[i]) or function(a[i], b[i]) for each element, as a tuple. by_number: b is one number for all elements.
Computed each(const char* function, const char* name, const std::vector<TypePtr>& types, bool by_number,
              const FunctionContext& context) {
    require_tuple(types[0], name, 0);
    const size_t size = types[0]->children().size();
    if (types.size() > 1 && !by_number) {
        require_tuple(types[1], name, 1);
        if (types[1]->children().size() != size)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                 "Expected tuples of the same size as arguments of function {}, got {} and {}", name, types[0]->name(),
                 types[1]->name());
    }
    std::vector<Bound> functions;
    std::vector<TypePtr> results;
    for (size_t i = 0; i < size; ++i) {
        const TypePtr& left = types[0]->child(i);
        functions.push_back(types.size() == 1
                                ? bind_types(function, {left}, context)
                                : bind_types(function, {left, by_number ? types[1] : types[1]->child(i)}, context));
        results.push_back(functions.back()->result_type());
    }
    const TypePtr type = make_tuple_type(results);
    return {type, [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                std::vector<VectorPtr> parts;
                for (size_t i = 0; i < functions.size(); ++i) {
                    const VectorPtr left = part(arguments[0], i);
                    if (arguments.size() == 1)
                        parts.push_back(call_bound(functions[i], {left}, rows));
                    else
                        parts.push_back(call_bound(
                            functions[i], {left, by_number ? flatten(arguments[1]) : part(arguments[1], i)}, rows));
                }
                return Vector::tuple(type, rows, std::move(parts));
            }};
}

/// function(… function(x1, x2) …, xn) of a computed tuple's elements.
Computed fold(const char* function, Computed tuple, const FunctionContext& context) {
    const auto& elements = tuple.type->children();
    if (elements.empty())
        return {make_type(TypeId::UInt8),
                [](const auto&, size_t rows) { return flatten(Vector::defaults(make_type(TypeId::UInt8), rows)); }};
    TypePtr type = elements[0];
    std::vector<Bound> functions;
    for (size_t i = 1; i < elements.size(); ++i) {
        functions.push_back(bind_types(function, {type, elements[i]}, context));
        type = functions.back()->result_type();
    }
    return {type, [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                const VectorPtr values = tuple.compute(arguments, rows);
                VectorPtr sum = part(values, 0);
                for (size_t i = 0; i < functions.size(); ++i)
                    sum = call_bound(functions[i], {sum, part(values, i + 1)}, rows);
                return sum;
            }};
}

/// function(x)
Computed then(const char* function, Computed inner, const FunctionContext& context) {
    const Bound bound = bind_types(function, {inner.type}, context);
    return {bound->result_type(), [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                return call_bound(bound, {inner.compute(arguments, rows)}, rows);
            }};
}

/// function(x, constant)
Computed then_with(const char* function, Computed inner, double constant, const FunctionContext& context) {
    const VectorPtr value = make_value<double>(make_type(TypeId::Float64), constant);
    const Bound bound =
        FunctionRegistry::instance().bind(function, {{inner.type, nullptr}, {value->type(), value}}, context);
    return {bound->result_type(), [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                return call_bound(bound, {inner.compute(arguments, rows), Vector::constant(value, rows)}, rows);
            }};
}

Computed each_of(const char* function, Computed tuple, const FunctionContext& context) {
    const Computed outer = each(function, function, {tuple.type}, false, context);
    return {outer.type, [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                return outer.compute({tuple.compute(arguments, rows)}, rows);
            }};
}

Computed squares(Computed tuple, const FunctionContext& context) {
    const Computed outer = each("multiply", "multiply", {tuple.type, tuple.type}, false, context);
    return {outer.type, [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                const VectorPtr values = tuple.compute(arguments, rows);
                return outer.compute({values, values}, rows);
            }};
}

Computed norm(VectorNorm which, Computed tuple, double power, const FunctionContext& context) {
    switch (which) {
        case VectorNorm::L1:
            return fold("plus", each_of("abs", tuple, context), context);
        case VectorNorm::L2Squared:
            return fold("plus", squares(tuple, context), context);
        case VectorNorm::L2:
            return then("sqrt", norm(VectorNorm::L2Squared, tuple, power, context), context);
        case VectorNorm::Linf:
            return then("toFloat64", fold("greatest", each_of("abs", tuple, context), context), context);
        case VectorNorm::Lp:
            break;
    }
    Computed sizes = each_of("toFloat64", each_of("abs", tuple, context), context);
    const Computed powers{sizes.type, [=](const std::vector<VectorPtr>& arguments, size_t rows) {
                              const VectorPtr values = sizes.compute(arguments, rows);
                              std::vector<VectorPtr> parts;
                              for (size_t i = 0; i < sizes.type->children().size(); ++i) {
                                  auto raised = Buffer::allocate(rows * sizeof(double));
                                  const VectorPtr element = part(values, i);
                                  for (size_t row = 0; row < rows; ++row)
                                      raised->mutable_as<double>()[row] =
                                          std::pow(element->values<double>()[row], power);
                                  parts.push_back(Vector::flat(element->type(), rows, std::move(raised)));
                              }
                              return Vector::tuple(sizes.type, rows, std::move(parts));
                          }};
    return then_with("pow", fold("plus", powers, context), 1 / power, context);
}

Computed identity(const TypePtr& type) {
    return {type, [](const std::vector<VectorPtr>& arguments, size_t) { return flatten(arguments[0]); }};
}

std::vector<TypePtr> types_of(ArgumentList arguments) {
    std::vector<TypePtr> types;
    for (const auto& argument : arguments) types.push_back(argument.type);
    return types;
}

Overload overload_of(Computed computed) {
    return {computed.type, [computed](const KernelArguments& call) {
                return computed.compute({call.vectors.begin(), call.vectors.end()}, call.rows);
            }};
}

Overload resolve_concat(ArgumentList arguments, const FunctionContext&) {
    std::vector<TypePtr> elements;
    for (size_t n = 0; n < arguments.size(); ++n) {
        const auto& own = require_tuple(arguments[n].type, "tupleConcat", n)->children();
        elements.insert(elements.end(), own.begin(), own.end());
    }
    const TypePtr type = make_tuple_type(elements);
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> parts;
                for (const auto& tuple : call.vectors)
                    for (size_t i = 0; i < tuple->type()->children().size(); ++i) parts.push_back(part(tuple, i));
                return Vector::tuple(type, call.rows, std::move(parts));
            }};
}

std::vector<std::string> names_of(const DataType& tuple) {
    if (!tuple.names().empty()) return tuple.names();
    std::vector<std::string> names;
    for (size_t i = 1; i <= tuple.children().size(); ++i) names.push_back(std::to_string(i));
    return names;
}

Overload resolve_names(ArgumentList arguments, const FunctionContext&) {
    const auto names = names_of(*require_tuple(arguments[0].type, "tupleNames", 0));
    const TypePtr type = make_array(make_type(TypeId::String));
    return {type, [=](const KernelArguments& call) {
                VectorBuilder out(type);
                for (size_t i = 0; i < call.rows; ++i) {
                    for (const auto& name : names) out.element().append_string(name);
                    out.end_array();
                }
                return out.finish();
            }};
}

Overload resolve_pairs(ArgumentList arguments, const FunctionContext&) {
    const TypePtr& tuple = require_tuple(arguments[0].type, "tupleToNameValuePairs", 0);
    const auto names = names_of(*tuple);
    if (tuple->children().empty()) fail_argument("tupleToNameValuePairs", *tuple, 0);
    for (const auto& element : tuple->children())
        if (!same_type(element, tuple->child(0)))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                 "The tuple given to tupleToNameValuePairs must have elements of one type, not {}", tuple->name());
    const TypePtr type = make_array(make_tuple_type({make_type(TypeId::String), tuple->child(0)}));
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> parts;
                for (size_t i = 0; i < names.size(); ++i) parts.push_back(part(call[0], i));
                VectorBuilder out(type);
                for (size_t row = 0; row < call.rows; ++row) {
                    for (size_t i = 0; i < names.size(); ++i) {
                        out.element().element(0).append_string(names[i]);
                        out.element().element(1).append_from(*parts[i], row);
                        out.element().end_tuple();
                    }
                    out.end_array();
                }
                return out.finish();
            }};
}

/// a + (i1, i2): each interval in turn.
Overload resolve_intervals(ArgumentList arguments, const FunctionContext& context, const char* name,
                           const char* function) {
    const TypePtr& tuple = require_tuple(arguments[1].type, name, 1);
    std::vector<Bound> functions;
    TypePtr type = arguments[0].type;
    for (const auto& element : tuple->children()) {
        functions.push_back(bind_types(function, {type, element}, context));
        type = functions.back()->result_type();
    }
    return {type, [=](const KernelArguments& call) {
                VectorPtr sum = flatten(call[0]);
                for (size_t i = 0; i < functions.size(); ++i)
                    sum = call_bound(functions[i], {sum, part(call[1], i)}, call.rows);
                return sum;
            }};
}

}  // namespace

bool is_tuple_call(ArgumentList arguments) { return arguments[0].type->id() == TypeId::Tuple; }

Overload tuple_norm(ArgumentList arguments, VectorNorm which, double power, const FunctionContext& context) {
    return overload_of(norm(which, identity(arguments[0].type), power, context));
}

Overload tuple_distance(ArgumentList arguments, VectorNorm which, double power, const char* name,
                        const FunctionContext& context) {
    return overload_of(norm(which, each("minus", name, types_of(arguments.first(2)), false, context), power, context));
}

Overload tuple_dot_product(ArgumentList arguments, const char* name, const FunctionContext& context) {
    return overload_of(fold("plus", each("multiply", name, types_of(arguments), false, context), context));
}

Overload tuple_normalize(ArgumentList arguments, VectorNorm which, double power, const FunctionContext& context) {
    const TypePtr type = arguments[0].type;
    const Computed length = norm(which, identity(type), power, context);
    const Computed divided = each("divide", "Normalize", {type, length.type}, true, context);
    return {divided.type, [=](const KernelArguments& call) {
                return divided.compute({call[0], length.compute({call[0]}, call.rows)}, call.rows);
            }};
}

Overload tuple_cosine_distance(ArgumentList arguments, const FunctionContext& context) {
    const Overload dot = tuple_dot_product(arguments, "cosineDistance", context);
    const Overload left = tuple_norm(arguments.first(1), VectorNorm::L2, 2, context);
    const Overload right = tuple_norm(arguments.last(1), VectorNorm::L2, 2, context);
    const TypePtr type = make_type(TypeId::Float64);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr product = as_float64(flatten(dot.kernel(call)));
                const VectorPtr a = left.kernel({call.vectors.first(1), {}, call.rows}),
                                b = right.kernel({call.vectors.last(1), {}, call.rows});
                auto out = Buffer::allocate(call.rows * sizeof(double));
                for (size_t i = 0; i < call.rows; ++i)
                    out->mutable_as<double>()[i] =
                        1 - product->values<double>()[i] / (a->values<double>()[i] * b->values<double>()[i]);
                return Vector::flat(type, call.rows, std::move(out));
            }};
}

void register_tuple_functions(FunctionRegistry& registry) {
    struct Entry {
        const char* name;
        const char* function;
        size_t arguments;
        bool by_number;
    };
    const Entry entries[] = {
        {"tupleMultiply", "multiply", 2, false},    {"tupleDivide", "divide", 2, false},
        {"tupleNegate", "negate", 1, false},        {"tupleModulo", "modulo", 2, false},
        {"tupleIntDiv", "intDiv", 2, false},        {"tupleIntDivOrZero", "intDivOrZero", 2, false},
        {"tupleModuloByNumber", "modulo", 2, true}, {"tuplePositiveModuloByNumber", "positiveModulo", 2, true},
        {"tupleIntDivByNumber", "intDiv", 2, true}, {"tupleIntDivOrZeroByNumber", "intDivOrZero", 2, true}};
    for (const Entry& entry : entries)
        declare_seeing_nulls(
            registry, {entry.name}, entry.arguments, entry.arguments,
            [entry](ArgumentList arguments, const FunctionContext& context) {
                return overload_of(each(entry.function, entry.name, types_of(arguments), entry.by_number, context));
            });
    declare_seeing_nulls(
        registry, {"tupleHammingDistance"}, 2, 2, [](ArgumentList arguments, const FunctionContext& context) {
            return overload_of(
                fold("plus", each("notEquals", "tupleHammingDistance", types_of(arguments), false, context), context));
        });
    declare_seeing_nulls(registry, {"tupleConcat"}, 1, SIZE_MAX, resolve_concat);
    declare_seeing_nulls(registry, {"tupleNames"}, 1, 1, resolve_names);
    declare_seeing_nulls(registry, {"tupleToNameValuePairs"}, 1, 1, resolve_pairs);
    for (const bool add : {true, false}) {
        const char* name = add ? "addTupleOfIntervals" : "subtractTupleOfIntervals";
        declare_seeing_nulls(registry, {name}, 2, 2, [=](ArgumentList arguments, const FunctionContext& context) {
            return resolve_intervals(arguments, context, name, add ? "plus" : "minus");
        });
    }
}

}  // namespace firn::functions
