#include "firn/iceberg/values.h"

#include <cmath>
#include <cstring>

#include "firn/base/error.h"
#include "firn/iceberg/transform.h"

namespace firn::iceberg {

namespace {

constexpr int64_t kMicrosPerDay = int64_t{86'400} * 1'000'000;

bool is_text(TypeKind kind) {
    return kind == TypeKind::String || kind == TypeKind::Binary || kind == TypeKind::Fixed || kind == TypeKind::Uuid;
}

__int128 power_of_ten(int32_t exponent) {
    __int128 power = 1;
    for (int32_t i = 0; i < exponent; ++i) power *= 10;
    return power;
}

/// One of: whole numbers, numbers with a fraction, points of time (with zone or without), …
enum class Family : uint8_t { None, Boolean, Whole, Real, Decimal, Moment, Zoned, Time, Text, Uuid, Bytes };

Family family_of(TypeKind kind) {
    switch (kind) {
        case TypeKind::Boolean:
            return Family::Boolean;
        case TypeKind::Int:
        case TypeKind::Long:
            return Family::Whole;
        case TypeKind::Float:
        case TypeKind::Double:
            return Family::Real;
        case TypeKind::Decimal:
            return Family::Decimal;
        case TypeKind::Date:
        case TypeKind::Timestamp:
        case TypeKind::TimestampNs:
            return Family::Moment;
        case TypeKind::TimestampTz:
        case TypeKind::TimestampTzNs:
            return Family::Zoned;
        case TypeKind::Time:
            return Family::Time;
        case TypeKind::String:
            return Family::Text;
        case TypeKind::Uuid:
            return Family::Uuid;
        case TypeKind::Fixed:
        case TypeKind::Binary:
            return Family::Bytes;
        default:
            return Family::None;
    }
}

/// Nanoseconds since 1970: 128 bits, since dates reach further than 64 hold.
__int128 moment_nanos(const Datum& value) {
    __int128 raw = value.integer();
    switch (value.kind()) {
        case TypeKind::Date:
            return raw * kMicrosPerDay * 1000;
        case TypeKind::Timestamp:
        case TypeKind::TimestampTz:
            return raw * 1000;
        default:
            return raw;
    }
}

/// A key that orders doubles as Iceberg does: -0.0 before +0.0, every NaN last.
int64_t order_key(double value) {
    if (value != value) return INT64_MAX;
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >= 0 ? bits : bits ^ INT64_MAX;
}

std::strong_ordering compare_decimals(const Datum& left, const Datum& right) {
    if (left.scale() == right.scale()) return left.unscaled() <=> right.unscaled();
    // The whole parts first, so that bringing the fractions to one scale cannot overflow.
    __int128 left_unit = power_of_ten(left.scale());
    __int128 right_unit = power_of_ten(right.scale());
    __int128 left_whole = left.unscaled() / left_unit;
    __int128 right_whole = right.unscaled() / right_unit;
    if (left_whole != right_whole) return left_whole <=> right_whole;
    __int128 left_rest = left.unscaled() % left_unit;
    __int128 right_rest = right.unscaled() % right_unit;
    if (left.scale() < right.scale()) {
        left_rest *= power_of_ten(right.scale() - left.scale());
    } else {
        right_rest *= power_of_ten(left.scale() - right.scale());
    }
    return left_rest <=> right_rest;
}

std::strong_ordering compare_bytes(std::string_view left, std::string_view right) {
    int order = std::memcmp(left.data(), right.data(), std::min(left.size(), right.size()));
    if (order != 0) return order <=> 0;
    return left.size() <=> right.size();
}

template <typename Int>
Int little_endian(std::string_view bytes) {
    std::make_unsigned_t<Int> value = 0;
    for (size_t i = sizeof(Int); i > 0; --i) {
        value = static_cast<std::make_unsigned_t<Int>>(value << 8 | static_cast<uint8_t>(bytes[i - 1]));
    }
    return static_cast<Int>(value);
}

double real_of(std::string_view bytes) {
    if (bytes.size() == 4) {
        auto bits = little_endian<int32_t>(bytes);
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    auto bits = little_endian<int64_t>(bytes);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::optional<Datum> decode_decimal(std::string_view bytes, int32_t scale) {
    // Padding of sign bytes is tolerated; what then passes 128 bits is no decimal of 38 digits.
    if (bytes.empty()) return std::nullopt;
    char sign = static_cast<int8_t>(bytes[0]) < 0 ? '\xff' : '\0';
    while (bytes.size() > 16 && bytes[0] == sign) bytes.remove_prefix(1);
    if (bytes.size() > 16) return std::nullopt;
    if (bytes.size() == 16 && (static_cast<int8_t>(bytes[0]) < 0) != (sign != 0)) return std::nullopt;
    auto value = static_cast<unsigned __int128>(sign == 0 ? __int128{0} : __int128{-1});
    for (char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
    return Datum::decimal(static_cast<__int128>(value), scale);
}

/// Days as a timestamp of the type; nothing where they do not fit.
std::optional<Datum> days_to_moment(int64_t days, TypeKind kind) {
    int64_t unit = kind == TypeKind::TimestampNs ? kMicrosPerDay * 1000 : kMicrosPerDay;
    int64_t value;
    if (__builtin_mul_overflow(days, unit, &value)) return std::nullopt;
    return Datum::integral(kind, value);
}

void append_little_endian(std::string& out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
        out += static_cast<char>(value & 0xff);
        value >>= 8;
    }
}

}  // namespace

bool Datum::is_integral() const {
    return kind_ == TypeKind::Boolean || kind_ == TypeKind::Int || kind_ == TypeKind::Long ||
           (kind_ >= TypeKind::Date && kind_ <= TypeKind::TimestampTzNs);
}

bool Datum::is_bytes() const { return is_text(kind_); }

std::partial_ordering compare(const Datum& left, const Datum& right) {
    Family family = family_of(left.kind());
    if (left.is_null() || right.is_null() || family != family_of(right.kind())) return std::partial_ordering::unordered;
    switch (family) {
        case Family::Boolean:
        case Family::Whole:
        case Family::Time:
            return left.integer() <=> right.integer();
        case Family::Real:
            return order_key(left.real()) <=> order_key(right.real());
        case Family::Decimal:
            return compare_decimals(left, right);
        case Family::Moment:
        case Family::Zoned:
            if (left.kind() == right.kind()) return left.integer() <=> right.integer();
            return moment_nanos(left) <=> moment_nanos(right);
        case Family::Text:
        case Family::Uuid:
        case Family::Bytes:
            return compare_bytes(left.view(), right.view());
        case Family::None:
            break;
    }
    return std::partial_ordering::unordered;
}

bool same_value(const Datum& left, const Datum& right) {
    if (left.is_null() || right.is_null()) return left.is_null() && right.is_null();
    return compare(left, right) == std::partial_ordering::equivalent;
}

size_t hash_value(const Datum& value) {
    auto mix = [](uint64_t bits) {
        bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15;
        return static_cast<size_t>(bits ^ bits >> 29);
    };
    if (value.is_null()) return 0;
    switch (family_of(value.kind())) {
        case Family::Boolean:
        case Family::Whole:
        case Family::Time:
            return mix(static_cast<uint64_t>(value.integer()));
        case Family::Real:
            return mix(static_cast<uint64_t>(order_key(value.real())));
        case Family::Moment:
        case Family::Zoned: {
            auto nanos = static_cast<unsigned __int128>(moment_nanos(value));
            return mix(static_cast<uint64_t>(nanos) ^ static_cast<uint64_t>(nanos >> 64));
        }
        case Family::Decimal: {
            // Equal values of two scales must hash alike: drop zeros at the end.
            __int128 unscaled = value.unscaled();
            for (int32_t scale = value.scale(); scale > 0 && unscaled % 10 == 0; --scale) unscaled /= 10;
            auto bits = static_cast<unsigned __int128>(unscaled);
            return mix(static_cast<uint64_t>(bits) ^ static_cast<uint64_t>(bits >> 64) * 31);
        }
        default:
            return std::hash<std::string_view>()(value.view());
    }
}

std::optional<Datum> promote(const Datum& value, const Type& to) {
    if (value.is_null()) return value;
    if (value.kind() == to.kind) {
        if (to.kind == TypeKind::Decimal && to.scale != value.scale()) return std::nullopt;
        return value;
    }
    if (value.kind() == TypeKind::Int && to.kind == TypeKind::Long) return Datum::integral(to.kind, value.integer());
    if (value.kind() == TypeKind::Float && to.kind == TypeKind::Double) return Datum::floating(to.kind, value.real());
    if (value.kind() == TypeKind::Date && (to.kind == TypeKind::Timestamp || to.kind == TypeKind::TimestampNs)) {
        return days_to_moment(value.integer(), to.kind);
    }
    return std::nullopt;
}

std::optional<Datum> reinterpret(const Datum& value, const Type& to) {
    if (auto promoted = promote(value, to)) return promoted;
    bool narrow = value.kind() == TypeKind::Int || value.kind() == TypeKind::Date;
    bool to_narrow = to.kind == TypeKind::Int || to.kind == TypeKind::Date;
    Datum like = Datum::integral(to.kind, value.is_integral() ? value.integer() : 0);
    if (value.is_integral() && like.is_integral()) {
        // 32-bit forms stand for 32-bit kinds, 64-bit ones for 64-bit kinds; booleans only for themselves.
        if (value.kind() == TypeKind::Boolean || to.kind == TypeKind::Boolean || narrow != to_narrow)
            return std::nullopt;
        return like;
    }
    if (value.is_bytes() && is_text(to.kind)) {
        if (to.kind == TypeKind::Uuid && value.view().size() != 16) return std::nullopt;
        return Datum::bytes(to.kind, value.view());
    }
    return std::nullopt;
}

std::optional<Datum> decode_value(const Type& type, std::string_view bytes) {
    switch (type.kind) {
        case TypeKind::Boolean:
            if (bytes.size() != 1) return std::nullopt;
            return Datum::boolean(bytes[0] != 0);
        case TypeKind::Int:
        case TypeKind::Date:
            if (bytes.size() != 4) return std::nullopt;
            return Datum::integral(type.kind, little_endian<int32_t>(bytes));
        case TypeKind::Long:
            if (bytes.size() == 4) return Datum::integral(type.kind, little_endian<int32_t>(bytes));
            [[fallthrough]];
        case TypeKind::Time:
        case TypeKind::TimestampTz:
        case TypeKind::TimestampTzNs:
            if (bytes.size() != 8) return std::nullopt;
            return Datum::integral(type.kind, little_endian<int64_t>(bytes));
        case TypeKind::Timestamp:
        case TypeKind::TimestampNs:
            if (bytes.size() == 4) return days_to_moment(little_endian<int32_t>(bytes), type.kind);
            if (bytes.size() != 8) return std::nullopt;
            return Datum::integral(type.kind, little_endian<int64_t>(bytes));
        case TypeKind::Float:
            if (bytes.size() != 4) return std::nullopt;
            return Datum::floating(type.kind, real_of(bytes));
        case TypeKind::Double:
            if (bytes.size() != 4 && bytes.size() != 8) return std::nullopt;
            return Datum::floating(type.kind, real_of(bytes));
        case TypeKind::Decimal:
            return decode_decimal(bytes, type.scale);
        case TypeKind::Uuid:
            if (bytes.size() != 16) return std::nullopt;
            return Datum::bytes(type.kind, bytes);
        case TypeKind::String:
        case TypeKind::Binary:
        case TypeKind::Fixed:
            return Datum::bytes(type.kind, bytes);
        default:
            return std::nullopt;
    }
}

std::string encode_value(const Datum& value) {
    std::string out;
    switch (value.kind()) {
        case TypeKind::Boolean:
            out += value.integer() != 0 ? '\1' : '\0';
            break;
        case TypeKind::Int:
        case TypeKind::Date:
            append_little_endian(out, static_cast<uint64_t>(value.integer()), 4);
            break;
        case TypeKind::Float: {
            auto real = static_cast<float>(value.real());
            uint32_t bits;
            std::memcpy(&bits, &real, sizeof bits);
            append_little_endian(out, bits, 4);
            break;
        }
        case TypeKind::Double: {
            double real = value.real();
            uint64_t bits;
            std::memcpy(&bits, &real, sizeof bits);
            append_little_endian(out, bits, 8);
            break;
        }
        case TypeKind::Decimal: {
            auto bits = static_cast<unsigned __int128>(value.unscaled());
            for (int shift = 120; shift >= 0; shift -= 8) out += static_cast<char>(bits >> shift & 0xff);
            size_t begin = 0;
            while (begin < 15 && (static_cast<int8_t>(out[begin]) == 0 || static_cast<int8_t>(out[begin]) == -1) &&
                   (out[begin] < 0) == (out[begin + 1] < 0)) {
                ++begin;
            }
            out.erase(0, begin);
            break;
        }
        default:
            if (value.is_bytes()) {
                out = value.view();
            } else if (value.is_integral()) {
                append_little_endian(out, static_cast<uint64_t>(value.integer()), 8);
            } else {
                fail(ErrorCode::LOGICAL_ERROR, "a value that has no binary form");
            }
    }
    return out;
}

namespace {

std::optional<Bound> decode_bound(const Type& type, std::optional<std::string_view> bytes, bool exact_numbers) {
    if (!bytes) return std::nullopt;
    auto value = decode_value(type, *bytes);
    if (!value || value->is_nan()) return std::nullopt;
    bool text = type.kind == TypeKind::String || type.kind == TypeKind::Binary || type.kind == TypeKind::Fixed;
    bool exact = !text && (exact_numbers || !value->is_integral());
    return Bound{*value, exact ? BoundTrust::Exact : BoundTrust::Truncated};
}

}  // namespace

Bounds decode_bounds(const Type& type, std::optional<std::string_view> lower, std::optional<std::string_view> upper,
                     bool exact_numbers) {
    Bounds bounds{decode_bound(type, lower, exact_numbers), decode_bound(type, upper, exact_numbers)};
    if (bounds.lower && bounds.upper && !(compare(bounds.lower->value, bounds.upper->value) <= 0)) {
        bounds = {};
        return bounds;
    }
    // Writers differ on the sign of a zero bound, and one of the wrong sign would cut off the other zero.
    for (auto* bound : {&bounds.lower, &bounds.upper}) {
        if (*bound && (*bound)->value.is_floating() && (*bound)->value.real() == 0) {
            **bound = {Datum::floating(type.kind, bound == &bounds.lower ? -0.0 : 0.0), BoundTrust::Truncated};
        }
    }
    return bounds;
}

Literal::Literal(const Literal& other)
    : type(other.type),
      is_null(other.is_null),
      datum(other.datum),
      storage(other.storage),
      items(other.items),
      item_given(other.item_given) {
    if (datum.is_bytes()) datum = Datum::bytes(datum.kind(), storage);
}

Literal::Literal(Literal&& other) noexcept
    : type(std::move(other.type)),
      is_null(other.is_null),
      datum(other.datum),
      storage(std::move(other.storage)),
      items(std::move(other.items)),
      item_given(std::move(other.item_given)) {
    // Short text lives inside the string itself, so its place changed.
    if (datum.is_bytes()) datum = Datum::bytes(datum.kind(), storage);
}

Literal& Literal::operator=(Literal other) noexcept {
    type = std::move(other.type);
    is_null = other.is_null;
    datum = other.datum;
    storage = std::move(other.storage);
    items = std::move(other.items);
    item_given = std::move(other.item_given);
    if (datum.is_bytes()) datum = Datum::bytes(datum.kind(), storage);
    return *this;
}

Literal Literal::of(TypePtr type, const Datum& value) {
    Literal literal;
    literal.type = std::move(type);
    literal.is_null = value.is_null();
    literal.datum = value;
    if (value.is_bytes()) {
        literal.storage = value.view();
        literal.datum = Datum::bytes(value.kind(), literal.storage);
    }
    return literal;
}

}  // namespace firn::iceberg
