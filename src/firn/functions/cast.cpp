#include "firn/functions/cast.h"

#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/vector/builder.h"

namespace firn::functions {

void Failures::mark(size_t row) {
    if (!flags_) flags_ = Buffer::allocate_zeroed(rows_);
    flags_->mutable_as<uint8_t>()[row] = 1;
}

Converter make_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule) {
    if (same_type(from, to)) return [](const VectorPtr& flat, const uint8_t*) { return Converted{flat, nullptr}; };
    if (from->id() == TypeId::Nothing)
        return [to](const VectorPtr& flat, const uint8_t*) {
            return Converted{flatten(Vector::defaults(to, flat->size())), nullptr};
        };
    if (Converter text = make_text_converter(from, to, context, rule)) return text;
    if (Converter nested = make_nested_converter(from, to, context, rule)) return nested;
    if (Converter time = make_time_converter(from, to, context, rule)) return time;
    if (Converter decimal = make_decimal_converter(from, to, rule)) return decimal;
    if (Converter number = make_number_converter(from, to, rule)) return number;
    if (to->id() == TypeId::UUID)
        fail(ErrorCode::NOT_IMPLEMENTED, "Conversion from {} to UUID is not supported", from->name());
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "There is no conversion from {} to {}", from->name(), to->name());
}

namespace {

bool any_set(const uint8_t* flags, size_t rows) { return flags && std::memchr(flags, 1, rows) != nullptr; }

BufferPtr merged(const BufferPtr& a, const BufferPtr& b, size_t rows) {
    if (!a || !b) return a ? a : b;
    auto out = Buffer::allocate(rows);
    for (size_t i = 0; i < rows; ++i) out->mutable_as<uint8_t>()[i] = a->as<uint8_t>()[i] | b->as<uint8_t>()[i];
    return out;
}

VectorPtr cast_flat(const VectorPtr& flat, const Converter& converter, const TypePtr& inner, const TypePtr& to) {
    const size_t rows = flat->size();
    const bool nullable = accepts_null(*to);
    const uint8_t* nulls = flat->nulls();
    if (!nullable && any_set(nulls, rows))
        fail(ErrorCode::CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, "Cannot convert NULL value to non-Nullable type {}",
             to->name());
    const VectorPtr plain =
        accepts_null(*flat->type()) ? flat->with_nulls(strip_nullable(flat->type()), nullptr) : flat;
    Converted converted = converter(plain, nulls);
    if (!nullable) return retype(converted.vector, to);
    const BufferPtr flags = merged(flat->nulls_buffer(), converted.failed, rows);
    if (inner->physical() == Physical::Array || inner->physical() == Physical::Tuple)
        return retype(converted.vector, to);
    return converted.vector->with_nulls(to, flags);
}

}  // namespace

std::function<VectorPtr(const VectorPtr&)> make_cast(const TypePtr& from, const TypePtr& to,
                                                     const FunctionContext& context, CastRule rule) {
    const TypePtr inner_from = unwrap(from), inner_to = unwrap(to);
    if (inner_from->id() == TypeId::Nothing) {
        if (!accepts_null(*to) && accepts_null(*from))
            return [to](const VectorPtr& vector) -> VectorPtr {
                if (vector->size() == 0) return concat(to, {});
                fail(ErrorCode::CANNOT_CONVERT_TYPE, "Cannot convert NULL to a non-nullable type {}", to->name());
            };
        return [to](const VectorPtr& vector) { return Vector::defaults(to, vector->size()); };
    }
    if (accepts_null(*to) && inner_from->physical() == Physical::Str && inner_to->physical() != Physical::Str)
        rule.errors = CastErrors::Null;
    Converter converter = make_converter(inner_from, inner_to, context, rule);
    return [converter = std::move(converter), inner_to, to](const VectorPtr& vector) -> VectorPtr {
        if (vector->size() == 0) return concat(to, {});
        const auto convert = [&](const VectorPtr& flat) {
            return cast_flat(retype(flat, strip_low_cardinality(flat->type())), converter, inner_to, to);
        };
        if (vector->is_flat()) return convert(vector);
        if (vector->is_constant()) return Vector::constant(convert(vector->base()), vector->size());
        if (vector->base()->size() <= vector->size()) {
            try {
                VectorPtr base = convert(vector->base());
                return vector->encoding() == Encoding::Dictionary
                           ? Vector::dictionary(base, vector->size(), vector->values_buffer())
                           : Vector::run_length(base, vector->size(), vector->values_buffer());
            } catch (const Error&) {
                // An entry that no row uses may be what failed.
            }
        }
        return convert(flatten(vector));
    };
}

VectorPtr cast_vector(const VectorPtr& vector, const TypePtr& type, const FunctionContext& context) {
    if (same_type(vector->type(), type)) return retype(vector, type);
    return make_cast(vector->type(), type, context)(vector);
}

}  // namespace firn::functions
