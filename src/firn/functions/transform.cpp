// transform(x, from, to[, default]): values looked up in a constant list. Named tuple functions of arithmetic; mapFromArrays.
#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

using Arguments = std::span<const Argument>;

Overload resolve_transform(Arguments arguments, const FunctionContext& context) {
    for (size_t i = 1; i < 3; ++i) {
        if (arguments[i].type->id() != TypeId::Array) fail_argument("transform", *arguments[i].type, i);
        if (!arguments[i].constant)
            fail(ErrorCode::ILLEGAL_COLUMN, "Argument {} of function transform must be a constant array", i + 1);
    }
    const TypePtr fallback = arguments.size() > 3 ? arguments[3].type : arguments[0].type;
    const TypePtr types[] = {arguments[2].type->child(), fallback};
    const TypePtr type = common_type(types);
    const TypePtr keys[] = {arguments[1].type->child(), arguments[0].type};
    const TypePtr key = common_type(keys);
    const auto elements = [](const VectorPtr& constant) {
        const VectorPtr flat = flatten(constant);
        return flatten(slice(flat->child(), static_cast<size_t>(flat->offsets()[0]),
                             static_cast<size_t>(flat->offsets()[1] - flat->offsets()[0])));
    };
    const VectorPtr from = flatten(make_cast(keys[0], key, context)(elements(arguments[1].constant)));
    const VectorPtr to = flatten(make_cast(types[0], type, context)(elements(arguments[2].constant)));
    if (from->size() != to->size())
        fail(ErrorCode::BAD_ARGUMENTS,
             "The second and third arguments of function transform must be arrays of the same size");
    auto cast_key = make_cast(arguments[0].type, key, context), cast_fallback = make_cast(fallback, type, context);
    const size_t fallback_at = arguments.size() > 3 ? 3 : 0;
    return {type, [=](const KernelArguments& call) {
                const VectorPtr wanted = flatten(cast_key(call[0])), other = flatten(cast_fallback(call[fallback_at]));
                const VectorPtr parts[] = {to, other};
                const VectorPtr all = concat(type, parts);
                std::vector<uint32_t> rows(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    rows[i] = static_cast<uint32_t>(to->size() + i);
                    for (size_t n = 0; n < from->size(); ++n)
                        if (equal_values(*from, n, *wanted, i)) {
                            rows[i] = static_cast<uint32_t>(n);
                            break;
                        }
                }
                return flatten(gather(all, rows));
            }};
}

void add_alias(FunctionRegistry& registry, const char* name, const char* operation, size_t count) {
    Definition definition;
    definition.name = name;
    definition.min_arguments = definition.max_arguments = count;
    definition.resolve = [=](Arguments arguments, const FunctionContext& context) {
        if (arguments[0].type->id() != TypeId::Tuple) fail_argument(name, *arguments[0].type, 0);
        return FunctionRegistry::instance().find(operation)->resolve(arguments, context);
    };
    registry.add(std::move(definition));
}

Overload resolve_map_from_arrays(Arguments arguments, const FunctionContext& context) {
    for (size_t i = 0; i < 2; ++i)
        if (arguments[i].type->id() != TypeId::Array) fail_argument("mapFromArrays", *arguments[i].type, i);
    const TypePtr pair = make_tuple_type({arguments[0].type, arguments[1].type});
    const TypePtr type = make_map(arguments[0].type->child(), arguments[1].type->child());
    Converter convert = make_nested_converter(pair, type, context, {});
    return {type, [=](const KernelArguments& call) {
                return convert(Vector::tuple(pair, call.rows, {flatten(call[0]), flatten(call[1])}), nullptr).vector;
            }};
}

}  // namespace

void register_transform_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, size_t least, size_t most, auto resolve, NullHandling nulls) {
        Definition definition;
        definition.name = name;
        definition.nulls = nulls;
        definition.min_arguments = least;
        definition.max_arguments = most;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("transform", 3, 4, resolve_transform, NullHandling::Custom);
    add("mapFromArrays", 2, 2, resolve_map_from_arrays, NullHandling::Custom);
    add_alias(registry, "tuplePlus", "plus", 2);
    add_alias(registry, "tupleMinus", "minus", 2);
    add_alias(registry, "tupleMultiplyByNumber", "multiply", 2);
    add_alias(registry, "tupleDivideByNumber", "divide", 2);
}

}  // namespace firn::functions
