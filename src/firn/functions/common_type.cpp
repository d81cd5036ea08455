#include <algorithm>

#include "firn/base/error.h"
#include "firn/functions/function.h"

namespace firn::functions {

namespace {

std::string list(std::span<const TypePtr> types) {
    std::string out;
    for (const auto& type : types) out += (out.empty() ? "" : ", ") + type->name();
    return out;
}

[[noreturn]] void fail_none(std::span<const TypePtr> types, const char* why) {
    fail(ErrorCode::NO_COMMON_TYPE, "There is no common type for types {}: {}", list(types), why);
}

template <typename F>
bool all_of(std::span<const TypePtr> types, F&& f) {
    return std::all_of(types.begin(), types.end(), [&](const auto& type) { return f(*type); });
}
template <typename F>
bool any_of(std::span<const TypePtr> types, F&& f) {
    return std::any_of(types.begin(), types.end(), [&](const auto& type) { return f(*type); });
}

std::vector<TypePtr> nth_children(std::span<const TypePtr> types, size_t n) {
    std::vector<TypePtr> out;
    for (const auto& type : types) out.push_back(type->child(n));
    return out;
}

TypePtr common_tuple(std::span<const TypePtr> types) {
    const size_t size = types[0]->children().size();
    bool same_names = true;
    for (const auto& type : types) {
        if (type->children().size() != size) fail_none(types, "tuples have different sizes");
        same_names &= type->names() == types[0]->names();
    }
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < size; ++i) elements.push_back(common_type(nth_children(types, i)));
    return make_tuple_type(std::move(elements), same_names ? types[0]->names() : std::vector<std::string>{});
}

TypePtr common_time(std::span<const TypePtr> types) {
    bool date32 = false, datetime = false;
    const DataType* best = nullptr;  // the finest DateTime64
    std::string zone;
    for (const auto& type : types) {
        if (type->id() == TypeId::Date32) date32 = true;
        if (type->id() == TypeId::DateTime) {
            if (!datetime) zone = type->time_zone();
            datetime = true;
        }
        if (type->id() == TypeId::DateTime64 && (!best || type->scale() > best->scale())) best = type.get();
    }
    if (best) return make_datetime64(best->scale(), best->time_zone());
    if (datetime) return date32 ? make_datetime64(0, zone) : make_datetime(zone);
    return make_type(TypeId::Date32);
}

/// Decimal digits of an integer type's values, as decimals are widened for them.
int integer_digits(int bits) {
    return bits <= 8 ? 3 : bits <= 16 ? 5 : bits <= 32 ? 10 : bits <= 64 ? 20 : bits <= 128 ? 39 : 77;
}

TypePtr common_decimal(std::span<const TypePtr> types) {
    int scale = 0, width = 9;
    for (const auto& type : types) {
        if (type->id() == TypeId::Decimal) {
            scale = std::max(scale, type->scale());
            width = std::max(width, type->precision() <= 9    ? 9
                                    : type->precision() <= 18 ? 18
                                    : type->precision() <= 38 ? 38
                                                              : 76);
        } else if (!is_integer(type->id()) && type->id() != TypeId::Bool) {
            fail_none(types, "some are Decimal and some are not");
        }
    }
    int needed = width;
    for (const auto& type : types)
        if (type->id() != TypeId::Decimal)
            needed =
                std::max(needed, scale + integer_digits(type->id() == TypeId::Bool ? 8 : integer_bits(type->id())));
    if (needed > 76) fail_none(types, "no Decimal has digits enough");
    return make_decimal(needed <= 9 ? 9 : needed <= 18 ? 18 : needed <= 38 ? 38 : 76, scale);
}

TypePtr common_number(std::span<const TypePtr> types) {
    if (all_of(types, [](const DataType& t) { return t.id() == TypeId::Bool || t.id() == TypeId::UInt8; }))
        return types[0];
    int signed_bits = 0, unsigned_bits = 0, mantissa = 0;
    for (const auto& type : types) {
        if (type->id() == TypeId::Float32)
            mantissa = std::max(mantissa, 24);
        else if (type->id() == TypeId::Float64)
            mantissa = std::max(mantissa, 53);
        else if (type->id() == TypeId::Bool)
            unsigned_bits = std::max(unsigned_bits, 8);
        else if (type->id() == TypeId::Enum8)
            signed_bits = std::max(signed_bits, 8);
        else if (type->id() == TypeId::Enum16)
            signed_bits = std::max(signed_bits, 16);
        else if (is_signed_integer(type->id()))
            signed_bits = std::max(signed_bits, integer_bits(type->id()));
        else if (is_unsigned_integer(type->id()))
            unsigned_bits = std::max(unsigned_bits, integer_bits(type->id()));
        else
            fail_none(types, "some are numbers and some are not");
    }
    int integer = std::max(signed_bits, unsigned_bits);
    if (mantissa) {
        if (integer > 32) fail_none(types, "no floating point type holds all values exactly");
        return make_type(std::max(mantissa, integer) <= 24 ? TypeId::Float32 : TypeId::Float64);
    }
    if (signed_bits && unsigned_bits >= signed_bits) integer = unsigned_bits * 2;
    if (integer > 256) fail_none(types, "no signed integer type holds all values");
    return integer_type(integer, signed_bits != 0);
}

TypePtr common_plain(std::span<const TypePtr> types) {
    if (std::all_of(types.begin() + 1, types.end(), [&](const auto& type) { return same_type(type, types[0]); }))
        return types[0];
    const auto is = [](TypeId id) { return [id](const DataType& type) { return type.id() == id; }; };
    if (any_of(types, is(TypeId::Array))) {
        if (!all_of(types, is(TypeId::Array))) fail_none(types, "some are Array and some are not");
        return make_array(common_type(nth_children(types, 0)));
    }
    if (any_of(types, is(TypeId::Tuple))) {
        if (!all_of(types, is(TypeId::Tuple))) fail_none(types, "some are Tuple and some are not");
        return common_tuple(types);
    }
    if (any_of(types, is(TypeId::Map))) {
        if (!all_of(types, is(TypeId::Map))) fail_none(types, "some are Map and some are not");
        return make_map(common_type(nth_children(types, 0)), common_type(nth_children(types, 1)));
    }
    const auto is_enum = [](const DataType& type) { return type.id() == TypeId::Enum8 || type.id() == TypeId::Enum16; };
    if (any_of(types, [](const DataType& type) { return is_string_like(type.id()); })) {
        if (!all_of(types, [&](const DataType& type) { return is_string_like(type.id()) || is_enum(type); }))
            fail_none(types, "some are String or FixedString and some are not");
        return make_type(TypeId::String);
    }
    if (any_of(types, [](const DataType& type) { return is_date_or_time(type.id()); })) {
        if (!all_of(types, [](const DataType& type) { return is_date_or_time(type.id()); }))
            fail_none(types, "some are dates or times and some are not");
        return common_time(types);
    }
    if (any_of(types, is(TypeId::Interval))) {
        TypePtr finest;
        for (const auto& type : types) {
            if (type->id() != TypeId::Interval) {
                if (!is_integer(type->id())) fail_none(types, "some are intervals and some are not");
                continue;
            }
            if (!finest || type->interval_kind() < finest->interval_kind()) finest = type;
        }
        return finest;
    }
    if (any_of(types, is(TypeId::Decimal))) return common_decimal(types);
    return common_number(types);
}

}  // namespace

TypePtr common_type(std::span<const TypePtr> types) {
    if (types.empty()) return make_type(TypeId::Nothing);
    if (std::all_of(types.begin() + 1, types.end(), [&](const auto& type) { return same_type(type, types[0]); }))
        return types[0];
    const bool all_low = all_of(types, [](const DataType& type) { return type.is_low_cardinality(); });
    bool nullable = false;
    std::vector<TypePtr> plain;
    for (const auto& type : types) {
        const TypePtr inner = strip_low_cardinality(type);
        nullable |= inner->is_nullable();
        const TypePtr bare = inner->is_nullable() ? inner->child() : inner;
        if (bare->id() != TypeId::Nothing) plain.push_back(bare);
    }
    TypePtr result = plain.empty() ? make_type(TypeId::Nothing) : common_plain(plain);
    if (nullable) {
        if (result->id() == TypeId::Array || result->id() == TypeId::Map)
            fail_none(types, "an Array or Map cannot be NULL");
        result = make_nullable(result);
    }
    return all_low ? make_low_cardinality(result) : result;
}

}  // namespace firn::functions
