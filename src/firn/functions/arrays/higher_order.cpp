// Array functions that take a lambda, or do without: arrayMap, arrayFilter, arrayExists, arraySum, arraySort.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "firn/functions/aggregate.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/lambda_rows.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/overflow.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

/// Types of what a call works on, before there are rows.
struct Shape {
    bool has_lambda = false;
    TypePtr array, value;
};

Shape shape_of(ArgumentList arguments, const char* name) {
    Shape shape;
    shape.has_lambda = takes_lambda(arguments);
    const size_t first = shape.has_lambda ? 1 : 0;
    if (arguments.size() <= first)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes at least one array", name);
    for (size_t i = first; i < arguments.size(); ++i) element_type(arguments, i, name);
    shape.array = arguments[first].type;
    shape.value = shape.has_lambda ? arguments[0].type->children().back() : shape.array->child();
    return shape;
}

using MakeOverload = std::function<Overload(const Shape&, const FunctionContext&)>;

void add(FunctionRegistry& registry, const char* name, bool lambda_needed, MakeOverload make, bool truth = false) {
    Definition definition;
    definition.name = name;
    definition.nulls = NullHandling::Custom;
    definition.min_arguments = lambda_needed ? 2 : 1;
    definition.resolve = [=](ArgumentList arguments, const FunctionContext& context) {
        const Shape shape = shape_of(arguments, name);
        if (lambda_needed && !shape.has_lambda)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "First argument of function {} must be a function", name);
        if (truth) {
            const TypeId id = unwrap(shape.value)->id();
            if (id != TypeId::UInt8 && id != TypeId::Bool && id != TypeId::Nothing)
                fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The condition of function {} must be UInt8, not {}", name,
                     shape.value->name());
        }
        return make(shape, context);
    };
    definition.lambda_parameters = [=](ArgumentList arguments, size_t parameters) {
        return lambda_parameters_of(arguments, 1, parameters, name);
    };
    registry.add(std::move(definition));
}

/// A number for each row from the truth of its elements.
template <typename T, typename F>
Overload over_truth(const Shape& shape, TypeId result, const char* name, F f) {
    const TypePtr type = make_type(result);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, name);
                const std::vector<uint8_t> truth = truth_of(elements.values);
                Output<T> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    out[i] = f(truth.data() + range.begin, range.size());
                }
                return out.finish(type);
            }};
}

uint32_t count_true(const uint8_t* truth, uint32_t size) {
    return static_cast<uint32_t>(std::count(truth, truth + size, 1));
}
uint32_t first_true(const uint8_t* truth, uint32_t size) {
    const auto* at = std::find(truth, truth + size, 1);
    return at == truth + size ? 0 : static_cast<uint32_t>(at - truth) + 1;
}
uint32_t last_true(const uint8_t* truth, uint32_t size) {
    for (uint32_t j = size; j > 0; --j)
        if (truth[j - 1]) return j;
    return 0;
}

/// arrayFirst and its kin: one element, its default (or NULL) where none is.
Overload pick_one(const Shape& shape, const char* name, bool last, bool or_null) {
    const TypePtr type = or_null ? make_nullable(shape.array->child()) : shape.array->child();
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, name);
                const std::vector<uint8_t> truth = truth_of(elements.values);
                std::vector<uint32_t> rows(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    const uint32_t at = last ? last_true(truth.data() + range.begin, range.size())
                                             : first_true(truth.data() + range.begin, range.size());
                    rows[i] = at == 0 ? kNoRow : range.begin + at - 1;
                }
                return flatten(gather_or_default(retype(flatten(elements.array->child()), type), rows));
            }};
}

Overload make_filter(const Shape& shape, const FunctionContext&) {
    return {shape.array, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, 1, "arrayFilter");
                const std::vector<uint8_t> truth = truth_of(elements.values);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    for (uint32_t j = range.begin; j < range.end; ++j)
                        if (truth[j]) out.pick(j);
                    out.end_row();
                }
                return out.finish(shape.array, elements.array->child());
            }};
}

Overload make_map(const Shape& shape, const FunctionContext&) {
    const TypePtr type = make_array(shape.value);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, 1, "arrayMap");
                return Vector::array(type, call.rows, elements.array->offsets_buffer(), elements.values);
            }};
}

Overload make_sort(const Shape& shape, bool reverse) {
    return {shape.array, [=](const KernelArguments& call) {
                const Elements elements =
                    elements_of(call, shape.has_lambda ? 1 : 0, reverse ? "arrayReverseSort" : "arraySort");
                return sort_rows(*elements.array, call.rows, nullptr, shape.array,
                                 ElementBefore{*elements.values, reverse});
            }};
}

/// NULLs are passed over.
Overload make_extreme(const Shape& shape, int direction, const char* name) {
    const TypePtr type = shape.value;
    if (type->id() == TypeId::Nothing)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function {} cannot be applied to an array without an element type",
             name);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, name);
                std::vector<uint32_t> rows(call.rows, kNoRow);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    for (uint32_t j = range.begin; j < range.end; ++j)
                        if (!elements.values->is_null(j) &&
                            (rows[i] == kNoRow ||
                             compare_values(*elements.values, j, *elements.values, rows[i]) * direction > 0))
                            rows[i] = j;
                }
                return flatten(gather_or_default(elements.values, rows));
            }};
}

/// The type in which numbers are summed.
TypePtr sum_type(const TypePtr& value, const char* name) {
    const TypeId id = value->id();
    if (id == TypeId::Decimal) return make_decimal(38, value->scale());
    if (is_float(id)) return make_type(TypeId::Float64);
    if (is_integer(id) && integer_bits(id) > 64) return value;
    if (is_signed_integer(id)) return make_type(TypeId::Int64);
    if (is_unsigned_integer(id) || id == TypeId::Bool) return make_type(TypeId::UInt64);
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Unexpected type {} of elements of function {}", value->name(), name);
}

/// out[row] = sum (or running sums) in T.
template <typename T>
VectorPtr sum_rows(const Elements& elements, const VectorPtr& values, size_t rows, const TypePtr& type) {
    Output<T> out(rows);
    const T* in = values->values<T>();
    for (size_t i = 0; i < rows; ++i) {
        const Range range = range_at(*elements.array, i);
        T sum = T();
        for (uint32_t j = range.begin; j < range.end; ++j) sum = add_wrapping(sum, in[j]);
        out[i] = sum;
    }
    return out.finish(type);
}

Overload make_sum(const Shape& shape, const FunctionContext& context) {
    const TypePtr type = sum_type(shape.value, "arraySum");
    auto cast = make_cast(shape.value, type, context);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, "arraySum");
                const VectorPtr values = flatten(cast(elements.values));
                VectorPtr out;
                dispatch_fixed(type->physical(), [&]<typename T>() {
                    if constexpr (sizeof(T) >= 8) out = sum_rows<T>(elements, values, call.rows, type);
                });
                return out;
            }};
}

Overload make_float_fold(const Shape& shape, const FunctionContext& context, bool average, const char* name) {
    sum_type(shape.value, name);
    const TypePtr type = make_type(TypeId::Float64);
    auto cast = make_cast(shape.value, type, context);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, name);
                const VectorPtr values = flatten(cast(elements.values));
                Output<double> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    double value = average ? 0 : 1;
                    for (uint32_t j = range.begin; j < range.end; ++j)
                        average ? value += values->values<double>()[j] : value *= values->values<double>()[j];
                    out[i] = average ? value / range.size() : value;
                }
                return out.finish(type);
            }};
}

Overload make_cumulative(const Shape& shape, const FunctionContext& context) {
    const TypePtr element = sum_type(shape.value, "arrayCumSum"), type = make_array(element);
    auto cast = make_cast(shape.value, element, context);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, "arrayCumSum");
                const VectorPtr values = flatten(cast(elements.values));
                VectorPtr out;
                dispatch_fixed(element->physical(), [&]<typename T>() {
                    if constexpr (sizeof(T) >= 8) {
                        Output<T> sums(values->size());
                        for (size_t i = 0; i < call.rows; ++i) {
                            const Range range = range_at(*elements.array, i);
                            T sum = T();
                            for (uint32_t j = range.begin; j < range.end; ++j)
                                sums[j] = sum = add_wrapping(sum, values->values<T>()[j]);
                        }
                        out = sums.finish(element);
                    }
                });
                return Vector::array(type, call.rows, elements.array->offsets_buffer(), out);
            }};
}

Overload make_difference(const Shape& shape, const FunctionContext& context) {
    const auto minus =
        FunctionRegistry::instance().bind("minus", {{shape.value, nullptr}, {shape.value, nullptr}}, context);
    const TypePtr element = minus->result_type(), type = make_array(element);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, shape.has_lambda ? 1 : 0, "arrayDifference");
                std::vector<uint32_t> before(elements.values->size());
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    for (uint32_t j = range.begin; j < range.end; ++j) before[j] = j == range.begin ? j : j - 1;
                }
                const VectorPtr pair[] = {elements.values, gather(elements.values, before)};
                return Vector::array(type, call.rows, elements.array->offsets_buffer(),
                                     flatten(minus->execute(pair, elements.values->size())));
            }};
}

/// arrayReduce('sum', arr): an aggregate function over each row's elements.
Overload resolve_reduce(ArgumentList arguments, const FunctionContext&) {
    std::string name = require_text(arguments[0], "arrayReduce", 0);
    std::vector<TypePtr> types;
    for (size_t i = 1; i < arguments.size(); ++i) types.push_back(element_type(arguments, i, "arrayReduce"));
    std::vector<VectorPtr> parameters;
    if (const size_t open = name.find('('); open != std::string::npos && name.back() == ')') {
        const std::string text = name.substr(open + 1, name.size() - open - 2);
        parameters.push_back(
            flatten(cast_vector(make_string_value(make_type(TypeId::String), text), make_type(TypeId::Float64))));
        name.resize(open);
    }
    const AggregatePtr aggregate = AggregateRegistry::instance().bind(name, types, parameters);
    const TypePtr type = aggregate->result_type();
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> arrays;
                for (size_t n = 1; n < call.size(); ++n) arrays.push_back(flatten(call[n]));
                std::vector<VectorPtr> parts;
                Arena arena;
                const size_t bytes = (aggregate->state_size() + 15) / 16 * 16 + 16;
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*arrays[0], i);
                    std::vector<VectorPtr> columns;
                    for (const auto& array : arrays) {
                        const Range own = range_at(*array, i);
                        if (own.size() != range.size())
                            fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                                 "Arrays passed to arrayReduce must have equal size");
                        columns.push_back(slice(array->child(), own.begin, own.size()));
                    }
                    char* state = arena.allocate(bytes, 16);
                    aggregate->create(state);
                    const auto destroy = [&](char* s) {
                        if (aggregate->has_destructor()) aggregate->destroy(s);
                    };
                    const std::unique_ptr<char, decltype(destroy)> guard(state, destroy);
                    if (range.size()) aggregate->add_all(columns, range.size(), state, arena);
                    parts.push_back(copy_owned(aggregate->finish(&state, 1, 0)));
                }
                return flatten(concat(type, parts));
            }};
}

}  // namespace

void register_higher_order_functions(FunctionRegistry& registry) {
    add(registry, "arrayMap", true, make_map);
    add(registry, "arrayFilter", true, make_filter, true);
    add(
        registry, "arrayCount", false,
        [](const Shape& s, const FunctionContext&) {
            return over_truth<uint32_t>(s, TypeId::UInt32, "arrayCount", count_true);
        },
        true);
    add(
        registry, "arrayExists", false,
        [](const Shape& s, const FunctionContext&) {
            return over_truth<uint8_t>(s, TypeId::UInt8, "arrayExists", [](const uint8_t* t, uint32_t n) {
                return static_cast<uint8_t>(first_true(t, n) != 0);
            });
        },
        true);
    add(
        registry, "arrayAll", false,
        [](const Shape& s, const FunctionContext&) {
            return over_truth<uint8_t>(s, TypeId::UInt8, "arrayAll", [](const uint8_t* t, uint32_t n) {
                return static_cast<uint8_t>(count_true(t, n) == n);
            });
        },
        true);
    add(
        registry, "arrayFirstIndex", true,
        [](const Shape& s, const FunctionContext&) {
            return over_truth<uint32_t>(s, TypeId::UInt32, "arrayFirstIndex", first_true);
        },
        true);
    add(
        registry, "arrayLastIndex", true,
        [](const Shape& s, const FunctionContext&) {
            return over_truth<uint32_t>(s, TypeId::UInt32, "arrayLastIndex", last_true);
        },
        true);
    add(
        registry, "arrayFirst", true,
        [](const Shape& s, const FunctionContext&) { return pick_one(s, "arrayFirst", false, false); }, true);
    add(
        registry, "arrayLast", true,
        [](const Shape& s, const FunctionContext&) { return pick_one(s, "arrayLast", true, false); }, true);
    add(
        registry, "arrayFirstOrNull", true,
        [](const Shape& s, const FunctionContext&) { return pick_one(s, "arrayFirstOrNull", false, true); }, true);
    add(
        registry, "arrayLastOrNull", true,
        [](const Shape& s, const FunctionContext&) { return pick_one(s, "arrayLastOrNull", true, true); }, true);
    add(registry, "arraySort", false, [](const Shape& s, const FunctionContext&) { return make_sort(s, false); });
    add(registry, "arrayReverseSort", false, [](const Shape& s, const FunctionContext&) { return make_sort(s, true); });
    add(registry, "arrayMin", false,
        [](const Shape& s, const FunctionContext&) { return make_extreme(s, -1, "arrayMin"); });
    add(registry, "arrayMax", false,
        [](const Shape& s, const FunctionContext&) { return make_extreme(s, 1, "arrayMax"); });
    add(registry, "arraySum", false, make_sum);
    add(registry, "arrayAvg", false,
        [](const Shape& s, const FunctionContext& c) { return make_float_fold(s, c, true, "arrayAvg"); });
    add(registry, "arrayProduct", false,
        [](const Shape& s, const FunctionContext& c) { return make_float_fold(s, c, false, "arrayProduct"); });
    add(registry, "arrayCumSum", false, make_cumulative);
    add(registry, "arrayDifference", false, make_difference);
    Definition reduce;
    reduce.name = "arrayReduce";
    reduce.nulls = NullHandling::Custom;
    reduce.min_arguments = 2;
    reduce.resolve = resolve_reduce;
    registry.add(std::move(reduce));
}

}  // namespace firn::functions
