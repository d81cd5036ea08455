// in, notIn: values looked up in a constant set.
#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/functions/value_set.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

/// One element of the right side as a value of the left type; null where no value of that type equals it.
/// Text that is no value of the type is an error, as in a comparison.
VectorPtr as_left_type(const VectorPtr& element, const TypePtr& left, const FunctionContext& context) {
    const TypePtr inner = unwrap(element->type());
    if (element->is_null(0) || inner->id() == TypeId::Nothing || left->id() == TypeId::Nothing) return nullptr;
    VectorPtr value = flatten(element);
    if (accepts_null(*value->type())) value = value->with_nulls(strip_nullable(value->type()), nullptr);
    value = retype(value, inner);
    if (same_type(inner, left)) return value;
    if (left->id() == TypeId::Tuple) {
        if (inner->id() != TypeId::Tuple || inner->children().size() != left->children().size())
            fail(ErrorCode::TYPE_MISMATCH, "Elements of type {} cannot be in a set for {}", inner->name(),
                 left->name());
        std::vector<VectorPtr> parts;
        std::vector<TypePtr> types;
        for (size_t i = 0; i < left->children().size(); ++i) {
            const TypePtr part_type = unwrap(left->child(i));
            const VectorPtr part = as_left_type(value->child(i), part_type, context);
            if (!part) return nullptr;
            parts.push_back(part);
            types.push_back(part_type);
        }
        return Vector::tuple(make_tuple_type(types), 1, std::move(parts));
    }
    CastRule rule;
    rule.accurate = true;
    const bool text = is_string_like(inner->id());
    rule.strict_text = true;
    try {
        const VectorPtr cast = flatten(make_cast(inner, left, context, rule)(value));
        // A decimal or time that loses digits equals nothing.
        const bool digits = left->id() == TypeId::Decimal || left->id() == TypeId::DateTime64 || is_float(left->id()) ||
                            is_date_or_time(left->id());
        if (!text && digits) {
            if (inner->id() == TypeId::Float64 || inner->id() == TypeId::Float32 || is_number(inner->id()) ||
                is_date_or_time(inner->id())) {
                const VectorPtr back = flatten(make_cast(left, inner, context)(cast));
                if (compare_values(*back, 0, *value, 0) != 0) return nullptr;
            }
        }
        return cast;
    } catch (const Error& error) {
        if (text) {
            if (error.code() == ErrorCode::ARGUMENT_OUT_OF_BOUND) return nullptr;
            if (error.code() == ErrorCode::CANNOT_PARSE_TEXT || error.code() == ErrorCode::ATTEMPT_TO_READ_AFTER_EOF)
                throw Error(ErrorCode::TYPE_MISMATCH, error.message());
            if (error.code() == ErrorCode::UNKNOWN_ELEMENT_OF_ENUM) return nullptr;
            throw;
        }
        if (error.code() == ErrorCode::CANNOT_CONVERT_TYPE || error.code() == ErrorCode::DECIMAL_OVERFLOW)
            return nullptr;
        throw;
    }
}

/// The right side's elements, each a vector of one row.
std::vector<VectorPtr> elements_of(const VectorPtr& constant, const TypePtr& left) {
    const VectorPtr flat = flatten(constant);
    const TypePtr type = unwrap(flat->type());
    std::vector<VectorPtr> out;
    if (type->id() == TypeId::Array && left->id() != TypeId::Array) {
        for (int64_t i = flat->offsets()[0]; i < flat->offsets()[1]; ++i)
            out.push_back(flatten(slice(flat->child(), static_cast<size_t>(i), 1)));
        return out;
    }
    if (type->id() == TypeId::Array && type->child()->id() == TypeId::Array) {  // arrays in an array of arrays
        for (int64_t i = flat->offsets()[0]; i < flat->offsets()[1]; ++i)
            out.push_back(flatten(slice(flat->child(), static_cast<size_t>(i), 1)));
        return out;
    }
    if (type->id() == TypeId::Tuple) {
        bool one_tuple = left->id() == TypeId::Tuple;
        if (one_tuple)
            for (const auto& child : type->children()) one_tuple &= unwrap(child)->id() != TypeId::Tuple;
        if (!one_tuple) {
            for (const auto& child : flat->children()) out.push_back(flatten(child));
            return out;
        }
    }
    out.push_back(flat);
    return out;
}

/// The left type with plain elements, as the set holds it.
TypePtr plain_type(const TypePtr& left) {
    const TypePtr inner = unwrap(left);
    if (inner->id() != TypeId::Tuple) return inner;
    std::vector<TypePtr> elements;
    for (const auto& child : inner->children()) elements.push_back(unwrap(child));
    return make_tuple_type(std::move(elements));
}

Overload resolve_constant_set(const Argument& left, const Argument& right, const FunctionContext& context,
                              bool negated) {
    const TypePtr plain = plain_type(left.type);
    std::vector<VectorPtr> values;
    for (const auto& element : elements_of(right.constant, plain))
        if (VectorPtr value = as_left_type(element, plain, context)) values.push_back(retype(value, plain));
    const TypePtr result = make_type(TypeId::UInt8);
    if (plain->physical() == Physical::None)
        return {result, [=](const KernelArguments& call) {
                    return Vector::constant(make_value<uint8_t>(result, negated), call.rows);
                }};
    std::shared_ptr<const ValueSet> set = ValueSet::make(flatten(concat(plain, values)));
    return {result, [=](const KernelArguments& call) {
                Output<uint8_t> out(call.rows);
                set->find(*flatten(call[0]), out.data());
                if (negated)
                    for (size_t i = 0; i < call.rows; ++i) out[i] ^= 1;
                return out.finish(result);
            }};
}

/// A set that holds columns: x = a or x = b or …
Overload resolve_row_set(const Argument& left, const Argument& right, const FunctionContext& context, bool negated) {
    const TypePtr result = make_type(TypeId::UInt8);
    if (right.type->id() == TypeId::Array) {
        const auto has =
            FunctionRegistry::instance().bind("has", {{right.type, nullptr}, {left.type, nullptr}}, context);
        return {result, [=](const KernelArguments& call) {
                    const VectorPtr vectors[] = {call[1], call[0]};
                    const VectorPtr found = flatten(has->execute(vectors, call.rows));
                    return map_unary<uint8_t, uint8_t>(found, call.rows, result, [negated](uint8_t x) {
                        return static_cast<uint8_t>((x != 0) != negated);
                    });
                }};
    }
    std::vector<TypePtr> types = {right.type};
    const bool tuple = right.type->id() == TypeId::Tuple &&
                       (left.type->id() != TypeId::Tuple || unwrap(right.type->child(0))->id() == TypeId::Tuple);
    if (tuple) types = right.type->children();
    std::vector<std::shared_ptr<const BoundFunction>> tests;
    for (const auto& type : types)
        tests.push_back(FunctionRegistry::instance().bind("equals", {{left.type, nullptr}, {type, nullptr}}, context));
    return {result, [=](const KernelArguments& call) {
                auto out = Buffer::allocate_zeroed(call.rows);
                auto* flags = out->mutable_as<uint8_t>();
                const VectorPtr whole = flatten(call[1]);
                for (size_t n = 0; n < tests.size(); ++n) {
                    const VectorPtr pair[] = {call[0], tuple ? whole->child(n) : whole};
                    const VectorPtr same = tests[n]->execute(pair, call.rows);
                    if (same->flat_base().type()->physical() != Physical::None)
                        for (const uint32_t row : selected_rows(same)) flags[row] = 1;
                }
                if (negated)
                    for (size_t i = 0; i < call.rows; ++i) flags[i] ^= 1;
                return Vector::flat(result, call.rows, std::move(out));
            }};
}

/// NULL on the left is NULL; NULLs on the right match nothing.
Overload resolve_in(std::span<const Argument> arguments, const FunctionContext& context, bool negated) {
    Argument left = arguments[0];
    const Argument& right = arguments[1];
    const bool nullable = accepts_null(*left.type);
    if (nullable && unwrap(left.type)->id() == TypeId::Nothing) {
        const TypePtr null = make_nullable(make_type(TypeId::Nothing));
        return {null, [null](const KernelArguments& call) { return Vector::defaults(null, call.rows); }};
    }
    left.type = strip_nullable(left.type);
    Overload overload = right.constant ? resolve_constant_set(left, right, context, negated)
                                       : resolve_row_set(left, right, context, negated);
    if (!nullable) return overload;
    const TypePtr result = make_nullable(overload.result);
    return {result, [=, kernel = overload.kernel](const KernelArguments& call) {
                const VectorPtr given = flatten(call[0]);
                const VectorPtr vectors[] = {given->with_nulls(left.type, nullptr), call[1]};
                return flatten(kernel({vectors, {}, call.rows}))->with_nulls(result, given->nulls_buffer());
            }};
}

}  // namespace

void register_set_functions(FunctionRegistry& registry) {
    for (const bool negated : {false, true}) {
        Definition definition;
        definition.name = negated ? "notIn" : "in";
        definition.aliases = {negated ? "globalNotIn" : "globalIn"};
        definition.nulls = NullHandling::Custom;
        definition.min_arguments = definition.max_arguments = 2;
        definition.resolve = [negated](std::span<const Argument> arguments, const FunctionContext& context) {
            return resolve_in(arguments, context, negated);
        };
        registry.add(std::move(definition));
    }
}

}  // namespace firn::functions
