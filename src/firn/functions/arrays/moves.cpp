// Arrays made from arrays: rotations and shifts, partial sorts, fills, splits, sets, folds.
#include <algorithm>
#include <memory>
#include <set>

#include "firn/functions/aggregate.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/lambda_rows.h"
#include "firn/functions/cast.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/overflow.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

/// The values without rows' bounds: all children one after another, and where each argument's begin.
struct Children {
    VectorPtr all;
    std::vector<uint32_t> start;
};
Children joined_children(const TypePtr& element, const std::vector<VectorPtr>& vectors) {
    Children out;
    uint32_t total = 0;
    std::vector<VectorPtr> parts;
    for (const auto& vector : vectors) {
        parts.push_back(flatten(vector));
        out.start.push_back(total);
        total += static_cast<uint32_t>(parts.back()->size());
    }
    out.all = concat(element, parts);
    return out;
}

/// arrayRotateLeft, arrayShiftRight …: `by` places to the left; shifts fill with a default or the third argument.
Overload resolve_move(ArgumentList arguments, const FunctionContext& context, const char* name, bool rotate,
                      bool left) {
    const TypePtr element = element_type(arguments, 0, name), type = arguments[0].type;
    require_integer(arguments, 1, name);
    std::function<VectorPtr(const VectorPtr&)> filler;
    if (arguments.size() > 2) {
        const TypePtr types[] = {element, arguments[2].type};
        if (!same_type(common_type(types), element)) fail_argument(name, *arguments[2].type, 2);
        filler = make_cast(arguments[2].type, element, context);
    }
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]), places = flatten(as_int64(call[1]));
                std::vector<VectorPtr> parts{array->child()};
                if (filler) parts.push_back(filler(call[2]));
                const Children children = joined_children(element, parts);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    const int64_t size = range.size();
                    const int64_t given = places->values<int64_t>()[i];
                    if (given == INT64_MIN)
                        fail(ErrorCode::VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE, "Shift number {} is out of range", given);
                    // As far as size places all is shifted out; before j is added, for which there may be no room.
                    const int64_t kept = rotate ? given % std::max<int64_t>(size, 1) : std::clamp(given, -size, size);
                    const int64_t by = left ? kept : -kept;
                    const uint32_t fill = filler ? children.start[1] + static_cast<uint32_t>(i) : kNoRow;
                    for (int64_t j = 0; j < size; ++j) {
                        const int64_t from = rotate ? ((j + by) % size + size) % size : j + by;
                        const bool inside = from >= 0 && from < size;
                        out.pick(rotate || inside ? range.begin + static_cast<uint32_t>(from) : fill);
                    }
                    out.end_row();
                }
                return out.finish(type, children.all);
            }};
}

struct LambdaFunction {
    const char* name;
    size_t arrays_from;  // with a lambda; one less without
    bool lambda_needed;
};
void add_lambda(FunctionRegistry& registry, const LambdaFunction& function, Resolver resolve) {
    Definition definition;
    definition.name = function.name;
    definition.nulls = NullHandling::Custom;
    definition.min_arguments = function.lambda_needed ? 2 : 1;
    definition.resolve = std::move(resolve);
    definition.lambda_parameters = [=](ArgumentList arguments, size_t parameters) {
        return lambda_parameters_of(arguments, function.arrays_from, parameters, function.name);
    };
    registry.add(std::move(definition));
}
void require_lambda(ArgumentList arguments, const char* name) {
    if (!takes_lambda(arguments))
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The first argument of function {} must be a lambda", name);
}

/// The first `limit` elements in order, the others anyhow.
Overload resolve_partial_sort(ArgumentList arguments, const char* name, bool reverse) {
    const size_t limit_at = takes_lambda(arguments) ? 1 : 0;
    if (arguments.size() < limit_at + 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes a limit and an array", name);
    element_type(arguments, limit_at + 1, name);
    require_integer(arguments, limit_at, name);
    const TypePtr type = arguments[limit_at + 1].type;
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, limit_at + 1, name);
                const VectorPtr limits = flatten(as_int64(call[limit_at]));
                return sort_rows(*elements.array, call.rows, limits->values<int64_t>(), type,
                                 ElementBefore{*elements.values, reverse});
            }};
}

/// Elements where the lambda is 0 become the one before (or behind) them.
Overload resolve_fill(ArgumentList arguments, const char* name, bool reverse) {
    require_lambda(arguments, name);
    const TypePtr type = arguments[1].type;
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, 1, name);
                const auto truth = truth_of(elements.values);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    std::vector<uint32_t> picked(range.size());
                    for (uint32_t n = 0; n < range.size(); ++n) {
                        const uint32_t j = reverse ? range.size() - 1 - n : n;
                        const bool own = n == 0 || truth[range.begin + j];
                        picked[j] = own ? range.begin + j : picked[reverse ? j + 1 : j - 1];
                    }
                    for (const uint32_t j : picked) out.pick(j);
                    out.end_row();
                }
                return out.finish(type, elements.array->child());
            }};
}

/// A new array begins at (arrayReverseSplit: ends with) each element where the lambda is not 0.
Overload resolve_split(ArgumentList arguments, const char* name, bool reverse) {
    require_lambda(arguments, name);
    const TypePtr type = make_array(arguments[1].type);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, 1, name);
                const auto truth = truth_of(elements.values);
                std::vector<int64_t> inner{0}, outer{0};
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*elements.array, i);
                    for (uint32_t j = range.begin; j < range.end; ++j) {
                        const bool cut = reverse ? truth[j] != 0 : j + 1 < range.end && truth[j + 1];
                        if (cut || j + 1 == range.end) inner.push_back(j + 1);
                    }
                    outer.push_back(static_cast<int64_t>(inner.size()) - 1);
                }
                const auto offsets = [](const std::vector<int64_t>& ends) {
                    auto buffer = Buffer::allocate(ends.size() * sizeof(int64_t));
                    std::copy(ends.begin(), ends.end(), buffer->mutable_as<int64_t>());
                    return buffer;
                };
                const VectorPtr pieces =
                    Vector::array(type->child(), inner.size() - 1, offsets(inner), flatten(elements.array->child()));
                return Vector::array(type, call.rows, offsets(outer), pieces);
            }};
}

enum class SetOperation : uint8_t { Union, SymmetricDifference, Except, Jaccard };

/// Sets of the elements of several arrays.
Overload resolve_set_operation(ArgumentList arguments, const FunctionContext& context, const char* name,
                               SetOperation operation) {
    std::vector<TypePtr> types;
    for (size_t i = 0; i < arguments.size(); ++i) {
        element_type(arguments, i, name);
        types.push_back(arguments[i].type);
    }
    if (operation == SetOperation::Except && !same_type(types[0]->child(), types[1]->child()))
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function {} requires arrays of one element type, not {} and {}",
             name, types[0]->name(), types[1]->name());
    const TypePtr type = common_type(types), element = type->child();
    std::vector<std::function<VectorPtr(const VectorPtr&)>> casts;
    for (const auto& each : types) casts.push_back(make_cast(each, type, context));
    const bool except = operation == SetOperation::Except;
    const TypePtr result = operation == SetOperation::Jaccard ? make_type(TypeId::Float64) : except ? types[0] : type;
    return {result, [=](const KernelArguments& call) -> VectorPtr {
                std::vector<VectorPtr> arrays, children;
                for (size_t n = 0; n < call.size(); ++n) {
                    arrays.push_back(flatten(casts[n](call[n])));
                    children.push_back(arrays.back()->child());
                }
                const Children joined = joined_children(element, children);
                const Vector& all = *joined.all;
                const auto less = [&](uint32_t a, uint32_t b) { return compare_values(all, a, all, b) < 0; };
                ElementPicker out(call.rows);
                Output<double> ratios(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    std::vector<std::set<uint32_t, decltype(less)>> sets(arrays.size(),
                                                                         std::set<uint32_t, decltype(less)>(less));
                    for (size_t n = 0; n < arrays.size(); ++n) {
                        const Range range = range_at(*arrays[n], i);
                        for (uint32_t j = range.begin; j < range.end; ++j) sets[n].insert(joined.start[n] + j);
                    }
                    if (except) {
                        const Range range = range_at(*arrays[0], i);
                        for (uint32_t j = range.begin; j < range.end; ++j)
                            if (!sets[1].contains(joined.start[0] + j)) out.pick(joined.start[0] + j);
                    } else {
                        std::set<uint32_t, decltype(less)> in_any(less);
                        for (const auto& set : sets) in_any.insert(set.begin(), set.end());
                        size_t in_all = 0;
                        for (const uint32_t j : in_any) {
                            const bool everywhere =
                                std::all_of(sets.begin(), sets.end(), [&](const auto& set) { return set.contains(j); });
                            in_all += everywhere;
                            if (operation == SetOperation::Union || !everywhere) out.pick(j);
                        }
                        ratios[i] = static_cast<double>(in_all) / static_cast<double>(in_any.size());
                    }
                    out.end_row();
                }
                if (operation == SetOperation::Jaccard) return ratios.finish(result);
                return retype(out.finish(type, joined.all), result);
            }};
}

Overload resolve_remove(ArgumentList arguments, const FunctionContext& context) {
    const TypePtr type = arguments[0].type;
    const TypePtr pair[] = {element_type(arguments, 0, "arrayRemove"), arguments[1].type};
    const TypePtr common = common_type(pair);
    auto cast_array = make_cast(type, make_array(common), context), cast_value = make_cast(pair[1], common, context);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]), compared = flatten(cast_array(call[0]));
                const VectorPtr values = flatten(cast_value(call[1]));
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    for (uint32_t j = range.begin; j < range.end; ++j)
                        if (!equal_values(*compared->child(), j, *values, i)) out.pick(j);
                    out.end_row();
                }
                return out.finish(type, array->child());
            }};
}

/// Tuples of the arrays' elements; the shorter arrays go on with NULL.
Overload resolve_zip_unaligned(ArgumentList arguments, const FunctionContext&) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < arguments.size(); ++i)
        elements.push_back(make_nullable(element_type(arguments, i, "arrayZipUnaligned")));
    const TypePtr tuple = make_tuple_type(elements), type = make_array(tuple);
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> arrays;
                for (size_t n = 0; n < call.size(); ++n) arrays.push_back(flatten(call[n]));
                std::vector<std::vector<uint32_t>> rows(call.size());
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                offsets->mutable_as<int64_t>()[0] = 0;
                for (size_t i = 0; i < call.rows; ++i) {
                    uint32_t longest = 0;
                    for (const auto& array : arrays) longest = std::max(longest, range_at(*array, i).size());
                    for (size_t n = 0; n < arrays.size(); ++n) {
                        const Range range = range_at(*arrays[n], i);
                        for (uint32_t j = 0; j < longest; ++j)
                            rows[n].push_back(j < range.size() ? range.begin + j : kNoRow);
                    }
                    offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(rows[0].size());
                }
                std::vector<VectorPtr> children;
                for (size_t n = 0; n < arrays.size(); ++n)
                    children.push_back(
                        flatten(gather_or_default(retype(flatten(arrays[n]->child()), elements[n]), rows[n])));
                return Vector::array(type, call.rows, std::move(offsets),
                                     Vector::tuple(tuple, rows[0].size(), std::move(children)));
            }};
}

/// lambda(… lambda(start, x1) …, xn)
Overload resolve_fold(ArgumentList arguments, const FunctionContext&) {
    require_lambda(arguments, "arrayFold");
    const TypePtr type = arguments.back().type, given = arguments[0].type->children().back();
    if (!same_type(type, given))
        fail(ErrorCode::TYPE_MISMATCH,
             "The lambda of arrayFold has to return what it accumulates, {}, and not {}: cast the start value",
             type->name(), given->name());
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> arrays;
                for (size_t n = 1; n + 1 < call.size(); ++n) arrays.push_back(flatten(call[n]));
                uint32_t longest = 0;
                for (size_t i = 0; i < call.rows; ++i) {
                    longest = std::max(longest, range_at(*arrays[0], i).size());
                    for (const auto& array : arrays)
                        if (range_at(*array, i).size() != range_at(*arrays[0], i).size())
                            fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                                 "Arrays passed to arrayFold must have equal size");
                }
                VectorPtr folded = flatten(call[call.size() - 1]);
                for (uint32_t step = 0; step < longest; ++step) {
                    std::vector<uint32_t> rows, place(call.rows);
                    std::vector<std::vector<uint32_t>> elements(arrays.size());
                    for (size_t i = 0; i < call.rows; ++i) {
                        place[i] = static_cast<uint32_t>(i);
                        if (range_at(*arrays[0], i).size() <= step) continue;
                        place[i] = static_cast<uint32_t>(call.rows + rows.size());
                        rows.push_back(static_cast<uint32_t>(i));
                        for (size_t n = 0; n < arrays.size(); ++n)
                            elements[n].push_back(range_at(*arrays[n], i).begin + step);
                    }
                    std::vector<VectorPtr> parameters{flatten(gather(folded, rows))};
                    for (size_t n = 0; n < arrays.size(); ++n)
                        parameters.push_back(flatten(gather(arrays[n]->child(), elements[n])));
                    const VectorPtr parts[] = {folded, flatten(call.lambdas[0]->call(parameters, rows))};
                    folded = flatten(gather(concat(type, parts), place));
                }
                return folded;
            }};
}

/// Running sums that are never below 0.
Overload resolve_sum_non_negative(ArgumentList arguments, const FunctionContext& context) {
    const size_t first = takes_lambda(arguments) ? 1 : 0;
    const TypePtr value =
        first ? arguments[0].type->children().back() : element_type(arguments, 0, "arrayCumSumNonNegative");
    if (!is_number(value->id())) fail_argument("arrayCumSumNonNegative", *arguments[first].type, first);
    const bool floats = is_float(value->id());
    const TypePtr element = make_type(floats ? TypeId::Float64 : TypeId::Int64), type = make_array(element);
    auto cast = make_cast(value, element, context);
    return {type, [=](const KernelArguments& call) {
                const Elements elements = elements_of(call, first, "arrayCumSumNonNegative");
                const VectorPtr values = flatten(cast(elements.values));
                const auto run = [&]<typename T>() {
                    Output<T> out(values->size());
                    for (size_t i = 0; i < call.rows; ++i) {
                        const Range range = range_at(*elements.array, i);
                        T sum = 0;
                        for (uint32_t j = range.begin; j < range.end; ++j)
                            out[j] = sum = std::max<T>(0, add_wrapping(sum, values->template values<T>()[j]));
                    }
                    return out.finish(element);
                };
                const VectorPtr sums = floats ? run.template operator()<double>() : run.template operator()<int64_t>();
                return Vector::array(type, call.rows, elements.array->offsets_buffer(), sums);
            }};
}

/// An empty array becomes one of the element's default.
Overload resolve_empty_to_single(ArgumentList arguments, const FunctionContext&) {
    const TypePtr element = element_type(arguments, 0, "emptyArrayToSingle"), type = arguments[0].type;
    if (unwrap(element)->id() == TypeId::Nothing)
        fail(ErrorCode::NOT_IMPLEMENTED, "emptyArrayToSingle of an array without an element type");
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    for (uint32_t j = range.begin; j < range.end; ++j) out.pick(j);
                    if (range.size() == 0) out.pick(kNoRow);
                    out.end_row();
                }
                return out.finish(type, array->child());
            }};
}

/// All runs of `size` neighbours.
Overload resolve_shingles(ArgumentList arguments, const FunctionContext&) {
    element_type(arguments, 0, "arrayShingles");
    require_integer(arguments, 1, "arrayShingles");
    const TypePtr type = make_array(arguments[0].type);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]), sizes = flatten(as_int64(call[1]));
                std::vector<int64_t> ends{0};
                ElementPicker inner(call.rows);
                size_t pieces = 0;
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    const int64_t size = sizes->values<int64_t>()[i];
                    if (size < 1 || size > range.size())
                        fail(ErrorCode::BAD_ARGUMENTS,
                             "The length of function arrayShingles has to be between 1 and the array's size, {}",
                             range.size());
                    for (uint32_t j = range.begin; j + size <= range.end; ++j, ++pieces) {
                        for (uint32_t k = 0; k < size; ++k) inner.pick(j + k);
                        inner.end_row();
                    }
                    ends.push_back(static_cast<int64_t>(pieces));
                }
                auto offsets = Buffer::allocate(ends.size() * sizeof(int64_t));
                std::copy(ends.begin(), ends.end(), offsets->mutable_as<int64_t>());
                return Vector::array(type, call.rows, std::move(offsets), inner.finish(type->child(), array->child()));
            }};
}

/// arrayReduceInRanges('sum', [(first, length), …], array): an aggregate function over parts of each row's elements.
Overload resolve_reduce_in_ranges(ArgumentList arguments, const FunctionContext& context) {
    const TypePtr pairs = element_type(arguments, 1, "arrayReduceInRanges");
    if (pairs->id() != TypeId::Tuple || pairs->children().size() != 2)
        fail_argument("arrayReduceInRanges", *arguments[1].type, 1);
    const FunctionRegistry& registry = FunctionRegistry::instance();
    std::vector<Argument> parts(arguments.begin() + 2, arguments.end());
    parts.insert(parts.begin(), arguments[0]);
    for (auto& part : parts)
        if (part.type->id() == TypeId::Array) part.constant = nullptr;
    const auto reduce = registry.bind("arrayReduce", parts, context);
    const TypePtr type = make_array(reduce->result_type());
    const TypePtr number = make_type(TypeId::Int64);
    auto cast = make_cast(arguments[1].type, make_array(make_tuple_type({number, number})), context);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr ranges = flatten(cast(call[1])), bounds = flatten(ranges->child());
                const auto* firsts = bounds->child(0)->values<int64_t>();
                const auto* lengths = bounds->child(1)->values<int64_t>();
                std::vector<VectorPtr> columns;
                size_t pieces = 0;
                for (size_t n = 2; n < call.size(); ++n) {
                    const VectorPtr array = flatten(call[n]);
                    ElementPicker picker(bounds->size());
                    pieces = 0;
                    for (size_t i = 0; i < call.rows; ++i) {
                        const Range range = range_at(*array, i), mine = range_at(*ranges, i);
                        const auto size = static_cast<int64_t>(range.size());
                        for (uint32_t j = mine.begin; j < mine.end; ++j, ++pieces) {
                            const int64_t first = firsts[j] > 0 ? firsts[j] - 1 : firsts[j] < 0 ? size + firsts[j] : 0;
                            const int64_t begin = std::clamp<int64_t>(first, 0, size);
                            // What lies behind the array's end counts no more, and the sum could overflow.
                            const int64_t length = std::min(lengths[j], first > 0 ? size - begin : INT64_MAX);
                            const int64_t end = std::clamp<int64_t>(
                                length >= 0 ? std::min(first, size) + length : size + length, begin, size);
                            for (int64_t k = begin; k < end; ++k) picker.pick(range.begin + static_cast<uint32_t>(k));
                            picker.end_row();
                        }
                    }
                    columns.push_back(picker.finish(call[n]->type(), array->child()));
                }
                columns.insert(columns.begin(),
                               Vector::constant(call[0]->is_constant() ? call[0]->base() : call[0], pieces));
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                for (size_t i = 0; i <= call.rows; ++i)
                    offsets->mutable_as<int64_t>()[i] = ranges->offsets()[i] - ranges->offsets()[0];
                return Vector::array(type, call.rows, std::move(offsets), flatten(reduce->execute(columns, pieces)));
            }};
}

}  // namespace

void register_array_move_functions(FunctionRegistry& registry) {
    struct Move {
        const char* name;
        bool rotate, left;
    };
    for (const Move& move : {Move{"arrayRotateLeft", true, true}, Move{"arrayRotateRight", true, false},
                             Move{"arrayShiftLeft", false, true}, Move{"arrayShiftRight", false, false}})
        declare_seeing_nulls(registry, {move.name}, 2, move.rotate ? 2 : 3,
                             [move](ArgumentList arguments, const FunctionContext& context) {
                                 return resolve_move(arguments, context, move.name, move.rotate, move.left);
                             });
    const std::pair<const char*, SetOperation> sets[] = {
        {"arrayUnion", SetOperation::Union},
        {"arraySymmetricDifference", SetOperation::SymmetricDifference},
        {"arrayExcept", SetOperation::Except},
        {"arrayJaccardIndex", SetOperation::Jaccard}};
    for (const auto& [name, operation] : sets) {
        const bool two = operation == SetOperation::Except || operation == SetOperation::Jaccard;
        declare_seeing_nulls(
            registry, {name}, two ? 2 : 1, two ? 2 : SIZE_MAX,
            [name = name, operation = operation](ArgumentList arguments, const FunctionContext& context) {
                return resolve_set_operation(arguments, context, name, operation);
            });
    }
    for (const bool reverse : {false, true}) {
        const char* sort = reverse ? "arrayPartialReverseSort" : "arrayPartialSort";
        add_lambda(registry, {sort, 2, true}, [=](ArgumentList arguments, const FunctionContext&) {
            return resolve_partial_sort(arguments, sort, reverse);
        });
        const char* fill = reverse ? "arrayReverseFill" : "arrayFill";
        add_lambda(registry, {fill, 1, true}, [=](ArgumentList arguments, const FunctionContext&) {
            return resolve_fill(arguments, fill, reverse);
        });
        const char* split = reverse ? "arrayReverseSplit" : "arraySplit";
        add_lambda(registry, {split, 1, true}, [=](ArgumentList arguments, const FunctionContext&) {
            return resolve_split(arguments, split, reverse);
        });
    }
    add_lambda(registry, {"arrayCumSumNonNegative", 1, false}, resolve_sum_non_negative);
    declare_seeing_nulls(registry, {"arrayRemove", {"array_remove"}}, 2, 2, resolve_remove);
    declare_seeing_nulls(registry, {"arrayZipUnaligned"}, 1, SIZE_MAX, resolve_zip_unaligned);
    declare_seeing_nulls(registry, {"emptyArrayToSingle"}, 1, 1, resolve_empty_to_single);
    declare_seeing_nulls(registry, {"arrayShingles"}, 2, 2, resolve_shingles);
    declare_seeing_nulls(registry, {"arrayReduceInRanges"}, 3, SIZE_MAX, resolve_reduce_in_ranges);
    {
        Definition definition;
        definition.name = "arrayFold";
        definition.nulls = NullHandling::Custom;
        definition.min_arguments = 3;
        definition.resolve = resolve_fold;
        definition.lambda_parameters = [](ArgumentList arguments, size_t parameters) {
            const ArgumentList arrays = arguments.first(arguments.size() - 1);
            auto types = lambda_parameters_of(arrays, 1, parameters - 1, "arrayFold");
            types.insert(types.begin(), arguments.back().type);
            return types;
        };
        registry.add(std::move(definition));
    }
}

}  // namespace firn::functions
