// isNull, isNotNull, nullIf, assumeNotNull, toNullable and their kin.
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

VectorPtr null_flags(const VectorPtr& vector, size_t rows, bool inverted) {
    const TypePtr type = make_type(TypeId::UInt8);
    const Vector& flat = vector->flat_base();
    const bool all = accepts_null(*flat.type()) && unwrap(flat.type())->id() == TypeId::Nothing;
    if (all || !flat.nulls()) return Vector::constant(make_value<uint8_t>(type, all != inverted), rows);
    Output<uint8_t> out(rows);
    for (size_t i = 0; i < rows; ++i) out[i] = (flat.nulls()[vector->is_constant() ? 0 : i] != 0) != inverted;
    return out.finish(type);
}

Overload resolve_is_null(bool inverted) {
    return {make_type(TypeId::UInt8),
            [inverted](const KernelArguments& call) { return null_flags(call[0], call.rows, inverted); }};
}

Overload resolve_null_if(std::span<const Argument> arguments, const FunctionContext& context) {
    const TypePtr type = make_nullable(arguments[0].type);
    const auto equals = FunctionRegistry::instance().bind("equals", {arguments[0], arguments[1]}, context);
    return {type, [type, equals](const KernelArguments& call) -> VectorPtr {
                const VectorPtr value = flatten(call[0]);
                if (unwrap(type)->id() == TypeId::Nothing) return value;
                auto flags = Buffer::allocate_zeroed(call.rows);
                auto* out = flags->mutable_as<uint8_t>();
                if (value->nulls()) std::memcpy(out, value->nulls(), call.rows);
                const VectorPtr same = equals->execute(call.vectors, call.rows);
                if (same->flat_base().type()->physical() != Physical::None)
                    for (const uint32_t row : selected_rows(same)) out[row] = 1;
                if (!accepts_null(*type)) return value;  // arrays and tuples are never NULL
                return value->with_nulls(type, std::move(flags));
            }};
}

Overload resolve_assume_not_null(std::span<const Argument> arguments, const FunctionContext&) {
    const TypePtr type = strip_nullable(arguments[0].type);
    return {type, [type](const KernelArguments& call) -> VectorPtr {
                if (type->physical() == Physical::None) {
                    if (call.rows == 0) return Vector::defaults(type, 0);
                    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "NULL has no other type than Nullable(Nothing)");
                }
                return retype(call[0], type);
            }};
}

Overload resolve_to_nullable(std::span<const Argument> arguments, const FunctionContext&) {
    const TypePtr type = make_nullable(arguments[0].type);
    return {type, [type](const KernelArguments& call) { return retype(call[0], type); }};
}

Overload resolve_is_zero_or_null(std::span<const Argument> arguments, const FunctionContext&) {
    if (!is_number(unwrap(arguments[0].type)->id()) && unwrap(arguments[0].type)->id() != TypeId::Nothing)
        fail_argument("isZeroOrNull", *arguments[0].type, 0);
    return {make_type(TypeId::UInt8), [](const KernelArguments& call) -> VectorPtr {
                Output<uint8_t> out(call.rows);
                std::memset(out.data(), 1, call.rows);
                if (call[0]->flat_base().type()->physical() != Physical::None)
                    for (const uint32_t row : selected_rows(call[0])) out[row] = 0;
                return out.finish(make_type(TypeId::UInt8));
            }};
}

}  // namespace

void register_null_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, size_t count, auto resolve, bool any_case = false) {
        Definition definition;
        definition.name = name;
        definition.case_insensitive = any_case;
        definition.nulls = NullHandling::Custom;
        definition.min_arguments = definition.max_arguments = count;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add(
        "isNull", 1, [](std::span<const Argument>, const FunctionContext&) { return resolve_is_null(false); }, true);
    add("isNotNull", 1, [](std::span<const Argument>, const FunctionContext&) { return resolve_is_null(true); });
    add("nullIf", 2, resolve_null_if, true);
    add("assumeNotNull", 1, resolve_assume_not_null);
    add("toNullable", 1, resolve_to_nullable);
    add("isZeroOrNull", 1, resolve_is_zero_or_null);
    add("isNullable", 1, [](std::span<const Argument> arguments, const FunctionContext&) {
        const uint8_t value = accepts_null(*arguments[0].type);
        return Overload{make_type(TypeId::UInt8), [value](const KernelArguments& call) {
                            return Vector::constant(make_value<uint8_t>(make_type(TypeId::UInt8), value), call.rows);
                        }};
    });
}

}  // namespace firn::functions
