#include "firn/functions/argument_types.h"

#include <type_traits>

namespace firn::functions {

TypePtr strip_low_cardinality_deep(const TypePtr& type) {
    switch (type->id()) {
        case TypeId::LowCardinality:
            return strip_low_cardinality_deep(type->child());
        case TypeId::Array: {
            const TypePtr element = strip_low_cardinality_deep(type->child());
            return element == type->child() ? type : make_array(element);
        }
        case TypeId::Map: {
            const TypePtr key = strip_low_cardinality_deep(type->child(0)),
                          value = strip_low_cardinality_deep(type->child(1));
            return key == type->child(0) && value == type->child(1) ? type : make_map(key, value);
        }
        case TypeId::Tuple: {
            std::vector<TypePtr> elements;
            bool changed = false;
            for (const auto& child : type->children()) {
                elements.push_back(strip_low_cardinality_deep(child));
                changed |= elements.back() != child;
            }
            return changed ? make_tuple_type(std::move(elements), type->names()) : type;
        }
        default:
            return type;
    }
}

VectorPtr retype(const VectorPtr& vector, const TypePtr& type) {
    if (vector->type() == type) return vector;
    switch (vector->encoding()) {
        case Encoding::Constant:
            return Vector::constant(retype(vector->base(), type), vector->size());
        case Encoding::Dictionary:
            return Vector::dictionary(retype(vector->base(), type), vector->size(), vector->values_buffer());
        case Encoding::RunLength:
            return Vector::run_length(retype(vector->base(), type), vector->size(), vector->values_buffer());
        case Encoding::Flat:
            break;
    }
    if (type->id() == TypeId::Array)
        return Vector::array(type, vector->size(), vector->offsets_buffer(), retype(vector->child(), type->child()));
    if (type->id() == TypeId::Map)
        return Vector::array(type, vector->size(), vector->offsets_buffer(),
                             retype(vector->child(), make_tuple_type({type->child(0), type->child(1)})));
    if (type->id() == TypeId::Tuple) {
        std::vector<VectorPtr> children;
        for (size_t i = 0; i < vector->children().size(); ++i)
            children.push_back(retype(vector->child(i), type->child(i)));
        return Vector::tuple(type, vector->size(), std::move(children));
    }
    if (vector->nulls() && !accepts_null(*type)) return vector->with_nulls(type, nullptr);
    return vector->with_type(type);
}

int64_t int_at(const Vector& flat, size_t row) {
    int64_t value = 0;
    dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
        if constexpr (std::is_arithmetic_v<T>)
            value = static_cast<int64_t>(flat.values<T>()[row]);
        else if constexpr (std::is_same_v<T, Int128> || std::is_same_v<T, UInt128>)
            value = static_cast<int64_t>(flat.values<T>()[row]);
        else if constexpr (std::is_same_v<T, Int256>)
            value = static_cast<int64_t>(flat.values<T>()[row].bits.limbs[0]);
        else
            value = static_cast<int64_t>(flat.values<T>()[row].limbs[0]);
    });
    return value;
}

std::optional<std::string> constant_text(const Argument& argument) {
    if (!argument.constant || argument.constant->is_null(0) || argument.type->physical() != Physical::Str) return {};
    const Vector& flat = argument.constant->flat_base();
    return std::string(flat.values<StringRef>()[argument.constant->base_row(0)].view());
}

std::optional<int64_t> constant_int(const Argument& argument) {
    if (!argument.constant || argument.constant->is_null(0)) return {};
    const TypeId id = unwrap(argument.type)->id();
    if (!is_integer(id) && id != TypeId::Bool && id != TypeId::Interval) return {};
    return int_at(argument.constant->flat_base(), argument.constant->base_row(0));
}

std::optional<double> constant_float(const Argument& argument) {
    if (!argument.constant || argument.constant->is_null(0)) return {};
    const TypePtr type = unwrap(argument.type);
    const Vector& flat = argument.constant->flat_base();
    const size_t row = argument.constant->base_row(0);
    if (type->id() == TypeId::Float64) return flat.values<double>()[row];
    if (type->id() == TypeId::Float32) return static_cast<double>(flat.values<float>()[row]);
    if (type->id() == TypeId::UInt64) return static_cast<double>(flat.values<uint64_t>()[row]);
    if (const auto value = constant_int(argument)) return static_cast<double>(*value);
    if (type->id() == TypeId::Decimal && type->precision() <= 18)
        return static_cast<double>(int_at(flat, row)) / static_cast<double>(power_of_ten(type->scale()));
    return {};
}

void fail_argument(std::string_view function, const DataType& type, size_t position) {
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal type {} of argument {} of function {}", type.name(),
         position + 1, function);
}

std::string require_text(const Argument& argument, std::string_view function, size_t position) {
    if (argument.type->physical() != Physical::Str) fail_argument(function, *argument.type, position);
    const auto text = constant_text(argument);
    if (!text)
        fail(ErrorCode::ILLEGAL_COLUMN, "Argument {} of function {} must be a constant string", position + 1, function);
    return *text;
}

int64_t require_int(const Argument& argument, std::string_view function, size_t position) {
    const TypeId id = unwrap(argument.type)->id();
    if (!is_integer(id) && id != TypeId::Bool) fail_argument(function, *argument.type, position);
    const auto value = constant_int(argument);
    if (!value)
        fail(ErrorCode::ILLEGAL_COLUMN, "Argument {} of function {} must be a constant integer", position + 1,
             function);
    return *value;
}

}  // namespace firn::functions
