#include "firn/functions/declare.h"

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"

namespace firn::functions {

namespace {

Definition definition_of(const FunctionName& name, size_t least, size_t most, Resolver resolve) {
    Definition definition;
    definition.name = name.name;
    definition.aliases = name.aliases;
    definition.case_insensitive = name.any_case;
    definition.min_arguments = least;
    definition.max_arguments = most;
    definition.resolve = std::move(resolve);
    return definition;
}

/// The conversion of the one row of a constant, or of all rows.
template <typename F>
VectorPtr convert(const VectorPtr& vector, F f) {
    return vector->is_constant() ? Vector::constant(f(vector->base()), vector->size()) : f(vector);
}

}  // namespace

void declare(FunctionRegistry& registry, const FunctionName& name, size_t least, size_t most, Resolver resolve) {
    registry.add(definition_of(name, least, most, std::move(resolve)));
}

void declare_seeing_nulls(FunctionRegistry& registry, const FunctionName& name, size_t least, size_t most,
                          Resolver resolve) {
    Definition definition = definition_of(name, least, most, std::move(resolve));
    definition.nulls = NullHandling::Custom;
    registry.add(std::move(definition));
}

void require_string(ArgumentList arguments, size_t i, const char* function) {
    if (!is_string_like(arguments[i].type->id())) fail_argument(function, *arguments[i].type, i);
}

void require_integer(ArgumentList arguments, size_t i, const char* function) {
    if (!is_integer(arguments[i].type->id()) && arguments[i].type->id() != TypeId::Bool)
        fail_argument(function, *arguments[i].type, i);
}

VectorPtr as_int64(const VectorPtr& numbers) {
    const TypePtr type = make_type(TypeId::Int64);
    return convert(numbers, [&](const VectorPtr& flat) {
        return flat->type()->physical() == Physical::Int64 ? retype(flat, type) : convert_numbers(type, flat);
    });
}

VectorPtr as_float64(const VectorPtr& numbers) {
    const TypePtr type = make_type(TypeId::Float64);
    if (numbers->type()->id() == TypeId::Float64) return numbers;
    return convert(numbers, [&](const VectorPtr& flat) {
        return flat->type()->id() == TypeId::Decimal ? make_cast(flat->type(), type, {})(flat)
                                                     : convert_numbers(type, flat);
    });
}

VectorPtr as_text(const VectorPtr& values, const FunctionContext& context) {
    const TypePtr type = make_type(TypeId::String);
    if (values->type()->id() == TypeId::String) return values;
    if (values->type()->id() == TypeId::FixedString) return values->with_type(type);
    return convert(values, [&](const VectorPtr& flat) { return make_cast(flat->type(), type, context)(flat); });
}

}  // namespace firn::functions
