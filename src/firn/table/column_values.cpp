// Constants of SQL as values of Iceberg columns.
#include <cmath>
#include <limits>

#include "firn/base/error.h"
#include "firn/functions/function.h"
#include "firn/table/iceberg_types.h"
#include "firn/table/monotonic_range.h"

namespace firn::table {
namespace {

using iceberg::Datum;
using iceberg::Literal;
using iceberg::TypeKind;

/// Doubles tell apart all decimals of so many digits.
constexpr int kExactDoubleDigits = 15;
constexpr double kInt64Edge = 9223372036854775808.0;
constexpr int64_t kSecondsPerDay = 86400;

/// A constant on a grid of whole numbers: on it (exact), or between floor and floor + 1.
struct OnGrid {
    Int128 floor = 0;
    bool exact = true;
};

/// mantissa * 10^-scale in units of 10^-target.
std::optional<OnGrid> rescale(Int128 mantissa, int scale, int target) {
    if (target >= scale) {
        const int step = target - scale;
        if (step > 38) return std::nullopt;
        Int128 out;
        if (__builtin_mul_overflow(mantissa, power_of_ten(step), &out)) return std::nullopt;
        return OnGrid{out, true};
    }
    if (scale - target > 38) return std::nullopt;
    const Int128 divisor = power_of_ten(scale - target);
    Int128 quotient = mantissa / divisor;
    const Int128 rest = mantissa % divisor;
    if (rest < 0) --quotient;
    return OnGrid{quotient, rest == 0};
}

std::optional<OnGrid> from_double(double value, int target) {
    const double scaled = value * std::pow(10.0, target);
    if (!std::isfinite(scaled) || std::abs(scaled) >= 1e37) return std::nullopt;
    const double nearest = std::nearbyint(scaled);
    if (nearest / std::pow(10.0, target) == value) return OnGrid{static_cast<Int128>(nearest), true};
    return OnGrid{static_cast<Int128>(std::floor(scaled)), false};
}

/// A number of any SQL type in units of 10^-target.
std::optional<OnGrid> number_on_grid(const Vector& value, int target) {
    const Vector& flat = value.flat_base();
    const size_t row = value.base_row(0);
    const TypePtr type = unwrap(value.type());
    if (is_float(type->id())) {
        const double number = type->id() == TypeId::Float32 ? flat.values<float>()[row] : flat.values<double>()[row];
        return from_double(number, target);
    }
    const int scale = type->id() == TypeId::Decimal ? type->scale() : 0;
    switch (type->physical()) {
        case Physical::UInt8:
            return rescale(flat.values<uint8_t>()[row], scale, target);
        case Physical::UInt16:
            return rescale(flat.values<uint16_t>()[row], scale, target);
        case Physical::UInt32:
            return rescale(flat.values<uint32_t>()[row], scale, target);
        case Physical::UInt64:
            return rescale(static_cast<Int128>(flat.values<uint64_t>()[row]), scale, target);
        case Physical::Int8:
            return rescale(flat.values<int8_t>()[row], scale, target);
        case Physical::Int16:
            return rescale(flat.values<int16_t>()[row], scale, target);
        case Physical::Int32:
            return rescale(flat.values<int32_t>()[row], scale, target);
        case Physical::Int64:
            return rescale(flat.values<int64_t>()[row], scale, target);
        case Physical::Int128:
            return rescale(flat.values<Int128>()[row], scale, target);
        default:
            return std::nullopt;
    }
}

/// A date or time in ticks of 10^-target seconds (or days, for days).
std::optional<OnGrid> moment_on_grid(const Vector& value, int target) {
    const Vector& flat = value.flat_base();
    const size_t row = value.base_row(0);
    const TypePtr type = unwrap(value.type());
    switch (type->id()) {
        case TypeId::Date:
            return rescale(static_cast<Int128>(flat.values<uint16_t>()[row]) * kSecondsPerDay, 0, target);
        case TypeId::Date32:
            return rescale(static_cast<Int128>(flat.values<int32_t>()[row]) * kSecondsPerDay, 0, target);
        case TypeId::DateTime:
            return rescale(flat.values<uint32_t>()[row], 0, target);
        case TypeId::DateTime64:
            return rescale(flat.values<int64_t>()[row], type->scale(), target);
        default:
            return std::nullopt;
    }
}

ColumnValues integral_values(const iceberg::TypePtr& type, const OnGrid& at) {
    ColumnValues out;
    const auto literal = [&](Int128 value) -> std::optional<Literal> {
        if (value < std::numeric_limits<int64_t>::min() || value > std::numeric_limits<int64_t>::max())
            return std::nullopt;
        return Literal::of(type, Datum::integral(type->kind, static_cast<int64_t>(value)));
    };
    if (at.exact) out.exact = literal(at.floor);
    if (out.exact) return out;
    // Beyond the type on one side: everything lies on the other.
    if (at.floor > std::numeric_limits<int64_t>::max()) {
        out.below = literal(std::numeric_limits<int64_t>::max());
    } else if (at.floor < std::numeric_limits<int64_t>::min()) {
        out.above = literal(std::numeric_limits<int64_t>::min());
    } else {
        out.below = literal(at.floor);
        out.above = literal(at.floor + 1);
    }
    return out;
}

ColumnValues decimal_values(const iceberg::TypePtr& type, const OnGrid& at) {
    ColumnValues out;
    if (at.exact) {
        out.exact = Literal::of(type, Datum::decimal(at.floor, type->scale));
    } else {
        out.below = Literal::of(type, Datum::decimal(at.floor, type->scale));
        out.above = Literal::of(type, Datum::decimal(at.floor + 1, type->scale));
    }
    return out;
}

std::optional<ColumnValues> integer_column(const iceberg::NestedField& field, const Vector& value) {
    const TypeId id = unwrap(value.type())->id();
    if (!is_number(id)) return std::nullopt;
    if (is_float(id)) {
        const TypePtr type = unwrap(value.type());
        const Vector& flat = value.flat_base();
        const double number = type->id() == TypeId::Float32 ? flat.values<float>()[0] : flat.values<double>()[0];
        if (std::isnan(number)) return std::nullopt;
        if (number >= kInt64Edge) return integral_values(field.type, {Int128{1} << 64, true});
        if (number < -kInt64Edge) return integral_values(field.type, {-(Int128{1} << 64), true});
    }
    const auto at = number_on_grid(value, 0);
    if (!at) return std::nullopt;
    return integral_values(field.type, *at);
}

std::optional<ColumnValues> decimal_column(const iceberg::NestedField& field, const Vector& value) {
    const TypeId id = unwrap(value.type())->id();
    if (!is_number(id)) return std::nullopt;
    const auto at = number_on_grid(value, field.type->scale);
    if (!at) return std::nullopt;
    if (!is_float(id) || field.type->precision <= kExactDoubleDigits) return decimal_values(field.type, *at);
    // SQL compares as doubles, and several decimals round to one of them.
    const Int128 slack = (at->floor < 0 ? -at->floor : at->floor) / power_of_ten(kExactDoubleDigits) + 1;
    ColumnValues out;
    out.approximate = true;
    out.below = Literal::of(field.type, Datum::decimal(at->floor - slack, field.type->scale));
    out.above = Literal::of(field.type, Datum::decimal(at->floor + 1 + slack, field.type->scale));
    return out;
}

std::optional<ColumnValues> float_column(const iceberg::NestedField& field, const Vector& value) {
    const TypePtr type = unwrap(value.type());
    const Vector& flat = value.flat_base();
    double number = 0;
    if (type->id() == TypeId::Float32) {
        number = flat.values<float>()[value.base_row(0)];
    } else if (type->id() == TypeId::Float64) {
        number = flat.values<double>()[value.base_row(0)];
    } else if (is_integer(type->id()) || type->id() == TypeId::Bool) {
        const auto at = number_on_grid(value, 0);
        constexpr Int128 kExactDoubleInteger = Int128{1} << 53;
        if (!at || at->floor > kExactDoubleInteger || at->floor < -kExactDoubleInteger) return std::nullopt;
        number = static_cast<double>(at->floor);
    } else {
        return std::nullopt;
    }
    if (std::isnan(number)) return std::nullopt;
    ColumnValues out;
    out.exact = Literal::of(field.type, Datum::floating(field.type->kind, number));
    return out;
}

std::optional<ColumnValues> bytes_column(const iceberg::NestedField& field, const Vector& value) {
    const TypePtr type = unwrap(value.type());
    if (type->id() != TypeId::String) return std::nullopt;
    const std::string_view bytes = value.flat_base().values<StringRef>()[value.base_row(0)].view();
    // Zero bytes at the end do not count in SQL's comparison of a FixedString.
    if (field.type->kind == TypeKind::Fixed && bytes.size() != static_cast<size_t>(field.type->length))
        return std::nullopt;
    ColumnValues out;
    out.exact = Literal::of(field.type, Datum::bytes(field.type->kind, bytes));
    return out;
}

std::optional<ColumnValues> uuid_column(const iceberg::NestedField& field, const Vector& value) {
    VectorPtr uuid;
    if (unwrap(value.type())->id() == TypeId::UUID)
        uuid = slice(value.with_type(value.type()), 0, 1);
    else if (unwrap(value.type())->id() == TypeId::String)
        uuid = functions::cast_vector(value.with_type(value.type()), make_type(TypeId::UUID));
    if (!uuid) return std::nullopt;
    const UInt128 number = uuid->flat_base().values<UInt128>()[uuid->base_row(0)];
    std::string bytes(16, '\0');
    for (int i = 0; i < 16; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>(number >> (8 * (15 - i)));
    ColumnValues out;
    out.exact = Literal::of(field.type, Datum::bytes(TypeKind::Uuid, bytes));
    return out;
}

/// Texts become moments as the comparison itself makes them.
std::optional<ColumnValues> moment_column(const iceberg::NestedField& field, const Vector& value) {
    const TypePtr column = unwrap(sql_type(*field.type, true, {}));
    const bool date = field.type->kind == TypeKind::Date;
    if (unwrap(value.type())->id() == TypeId::String) {
        const VectorPtr parsed = functions::cast_vector(value.with_type(value.type()), column);
        const Vector& flat = parsed->flat_base();
        const int64_t number = date ? flat.values<int32_t>()[0] : flat.values<int64_t>()[0];
        return integral_values(field.type, {number, true});
    }
    const auto at = moment_on_grid(value, date ? 0 : column->scale());
    if (!at) return std::nullopt;
    if (!date) return integral_values(field.type, *at);
    const Int128 days =
        at->floor >= 0 ? at->floor / kSecondsPerDay : -((-at->floor + kSecondsPerDay - 1) / kSecondsPerDay);
    return integral_values(field.type, {days, at->exact && at->floor % kSecondsPerDay == 0});
}

}  // namespace

std::optional<ColumnValues> column_values(const iceberg::NestedField& field, const Vector& value) {
    try {
        switch (field.type->kind) {
            case TypeKind::Boolean:
            case TypeKind::Int:
            case TypeKind::Long:
            case TypeKind::Time:
                return integer_column(field, value);
            case TypeKind::Decimal:
                return decimal_column(field, value);
            case TypeKind::Float:
            case TypeKind::Double:
                return float_column(field, value);
            case TypeKind::String:
            case TypeKind::Binary:
            case TypeKind::Fixed:
                return bytes_column(field, value);
            case TypeKind::Uuid:
                return uuid_column(field, value);
            case TypeKind::Date:
            case TypeKind::Timestamp:
            case TypeKind::TimestampTz:
            case TypeKind::TimestampNs:
            case TypeKind::TimestampTzNs:
                return moment_column(field, value);
            default:
                return std::nullopt;
        }
    } catch (const Error&) {
        return std::nullopt;  // what cannot be converted fails, or not, where the filter itself is computed
    }
}

}  // namespace firn::table
