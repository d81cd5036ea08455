// Functions of maps that take a lambda of (key, value), and sorts: mapFilter, mapApply, mapExists, mapSort.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/lambda_rows.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

struct Entries {
    VectorPtr map;           // flat, its offsets starting at 0
    VectorPtr keys, values;  // flat, of all rows
};
Entries entries_of(const VectorPtr& vector) {
    Entries out;
    out.map = compact_array(vector);
    const VectorPtr pairs = flatten(out.map->child());
    out.keys = flatten(pairs->child(0));
    out.values = flatten(pairs->child(1));
    return out;
}

/// The lambda's value for each entry: of key and value, or of the pair.
VectorPtr apply(const Lambda& lambda, size_t parameters, const Entries& entries) {
    if (parameters == 1) return call_lambda(lambda, *entries.map, {flatten(entries.map->child())});
    return call_lambda(lambda, *entries.map, {entries.keys, entries.values});
}

const TypePtr& require_map(ArgumentList arguments, size_t i, const char* name) {
    if (i >= arguments.size() || arguments[i].type->id() != TypeId::Map)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Argument {} of function {} must be a map", i + 1, name);
    return arguments[i].type;
}

/// `map_at`: where the map stands when a lambda is given.
void add(FunctionRegistry& registry, const char* name, size_t map_at, bool lambda_needed, Resolver resolve) {
    Definition definition;
    definition.name = name;
    definition.nulls = NullHandling::Custom;
    definition.min_arguments = map_at + (lambda_needed ? 1 : 0);
    definition.max_arguments = map_at + 1;
    definition.resolve = [=](ArgumentList arguments, const FunctionContext& context) {
        if (lambda_needed && !takes_lambda(arguments))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The first argument of function {} must be a lambda", name);
        require_map(arguments, takes_lambda(arguments) ? map_at : map_at - 1, name);
        return resolve(arguments, context);
    };
    definition.lambda_parameters = [=](ArgumentList arguments, size_t parameters) {
        const TypePtr& map = require_map(arguments, map_at, name);
        if (parameters == 1) return std::vector<TypePtr>{make_tuple_type({map->child(0), map->child(1)})};
        if (parameters != 2)
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "The lambda of function {} has to take a key and a value",
                 name);
        return std::vector<TypePtr>{map->child(0), map->child(1)};
    };
    registry.add(std::move(definition));
}

size_t parameters_of(ArgumentList arguments) { return arguments[0].type->children().size() - 1; }

Overload resolve_filter(ArgumentList arguments, const FunctionContext&) {
    const TypePtr type = arguments[1].type;
    const size_t parameters = parameters_of(arguments);
    return {type, [=](const KernelArguments& call) {
                const Entries entries = entries_of(call[1]);
                const auto truth = truth_of(apply(*call.lambdas[0], parameters, entries));
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*entries.map, i);
                    for (uint32_t j = range.begin; j < range.end; ++j)
                        if (truth[j]) out.pick(j);
                    out.end_row();
                }
                return out.finish(type, entries.map->child());
            }};
}

Overload resolve_apply(ArgumentList arguments, const FunctionContext&) {
    const TypePtr pair = arguments[0].type->children().back();
    if (pair->id() != TypeId::Tuple || pair->children().size() != 2)
        fail(ErrorCode::BAD_ARGUMENTS, "The lambda of function mapApply has to return a tuple (key, value), not {}",
             pair->name());
    const TypePtr type = make_map(pair->child(0), pair->child(1));
    const size_t parameters = parameters_of(arguments);
    return {type, [=](const KernelArguments& call) {
                const Entries entries = entries_of(call[1]);
                return Vector::array(type, call.rows, entries.map->offsets_buffer(),
                                     apply(*call.lambdas[0], parameters, entries));
            }};
}

Overload resolve_test(ArgumentList arguments, bool all) {
    const TypePtr type = make_type(TypeId::UInt8);
    const size_t parameters = parameters_of(arguments);
    return {type, [=](const KernelArguments& call) {
                const Entries entries = entries_of(call[1]);
                const auto truth = truth_of(apply(*call.lambdas[0], parameters, entries));
                Output<uint8_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*entries.map, i);
                    const auto begin = truth.begin() + range.begin, end = truth.begin() + range.end;
                    const auto count = std::count(begin, end, 1);
                    out[i] = all ? count == end - begin : count > 0;
                }
                return out.finish(type);
            }};
}

/// By the lambda's value, or by key and value. partial: the first `limit` entries in order, the others anyhow.
Overload resolve_sort(ArgumentList arguments, bool reverse, bool partial) {
    const bool by_lambda = takes_lambda(arguments);
    const size_t limit_at = by_lambda ? 1 : 0, map_at = limit_at + (partial ? 1 : 0);
    const size_t parameters = by_lambda ? parameters_of(arguments) : 0;
    if (partial) require_integer(arguments, limit_at, "mapPartialSort");
    const TypePtr type = arguments[map_at].type;
    return {type, [=](const KernelArguments& call) {
                const Entries entries = entries_of(call[map_at]);
                const VectorPtr by = by_lambda ? apply(*call.lambdas[0], parameters, entries) : entries.keys;
                const VectorPtr limits = partial ? flatten(as_int64(call[limit_at])) : nullptr;
                const auto order_of = [&](uint32_t a, uint32_t b) {
                    const int order = compare_values(*by, a, *by, b, reverse ? -1 : 1);
                    return order != 0 || by_lambda ? order : compare_values(*entries.values, a, *entries.values, b);
                };
                const auto before = [&](uint32_t a, uint32_t b) {
                    return reverse ? order_of(b, a) < 0 : order_of(a, b) < 0;
                };
                return sort_rows(*entries.map, call.rows, partial ? limits->values<int64_t>() : nullptr, type, before);
            }};
}

}  // namespace

void register_map_lambda_functions(FunctionRegistry& registry) {
    add(registry, "mapFilter", 1, true, resolve_filter);
    add(registry, "mapApply", 1, true, resolve_apply);
    add(registry, "mapExists", 1, true,
        [](ArgumentList arguments, const FunctionContext&) { return resolve_test(arguments, false); });
    add(registry, "mapAll", 1, true,
        [](ArgumentList arguments, const FunctionContext&) { return resolve_test(arguments, true); });
    for (const bool reverse : {false, true})
        for (const bool partial : {false, true}) {
            const char* name = partial ? (reverse ? "mapPartialReverseSort" : "mapPartialSort")
                                       : (reverse ? "mapReverseSort" : "mapSort");
            add(registry, name, partial ? 2 : 1, false, [=](ArgumentList arguments, const FunctionContext&) {
                return resolve_sort(arguments, reverse, partial);
            });
        }
}

}  // namespace firn::functions
