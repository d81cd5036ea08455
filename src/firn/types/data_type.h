// SQL data types, as ClickHouse names them. A type says what values are, never how a vector encodes them.
//
// DataType is immutable and shared. Nullable and LowCardinality are wrappers: Nullable(T) has one child, T, and is never
// around Array, Map, Tuple or itself; LowCardinality(T) has one child, T or Nullable(T), and is a type only (values are
// those of T). The C++ type of a value, as vectors store it, is given by `physical()`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/wide_int.h"

namespace firn {

class DataType;
using TypePtr = std::shared_ptr<const DataType>;

enum class TypeId : uint8_t {
    Nothing,  // type of NULL inside Nullable and of [] inside Array: has no values
    Bool,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
    UInt256,
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    Int256,
    Float32,
    Float64,
    Decimal,      // precision 1..76, scale 0..precision; stored in 32, 64, 128 or 256 bits by precision (9, 18, 38, 76)
    Date,         // days since 1970-01-01, 16 bits unsigned
    Date32,       // days since 1970-01-01, 32 bits signed, the whole range
    DateTime,     // seconds since the epoch, 32 bits unsigned; optional time zone
    DateTime64,   // ticks of 10^-scale s since the epoch, 64 bits signed; scale 0..9; optional time zone
    Time,         // seconds, 32 bits signed
    Time64,       // ticks of 10^-scale s, 64 bits signed
    Interval,     // a count of units (IntervalDay …), 64 bits signed
    String,       // bytes
    FixedString,  // exactly `length` bytes; stored as StringRef of that size
    UUID,         // 128 bits; the text's first digit is the most significant
    IPv4,         // 32 bits, numeric
    IPv6,         // 128 bits, the address's first byte is the most significant
    Enum8,
    Enum16,
    Array,              // one child
    Map,                // two children: key, value; stored as Array(Tuple(key, value))
    Tuple,              // any number of children, with or without names
    Nullable,           // one child
    LowCardinality,     // one child
    Function,           // type of a lambda argument; children: argument types, last the result
    AggregateFunction,  // a state; `text` names the function and its arguments
    Dynamic,
    JSON,
    Variant,  // names known, not yet supported
};

enum class IntervalKind : uint8_t {
    Nanosecond,
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year
};

/// How values lie in a flat vector. UInt8 serves Bool too; Str is StringRef; Nested has children; None has no values.
enum class Physical : uint8_t {
    None,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    UInt128,
    UInt256,
    Int8,
    Int16,
    Int32,
    Int64,
    Int128,
    Int256,
    Float32,
    Float64,
    Str,
    Array,
    Tuple,
};

class DataType {
public:
    TypeId id() const noexcept { return id_; }
    const std::vector<TypePtr>& children() const noexcept { return children_; }
    const TypePtr& child(size_t i = 0) const { return children_[i]; }

    /// Decimal: precision and scale; DateTime64 and Time64: scale.
    int precision() const noexcept { return precision_; }
    int scale() const noexcept { return scale_; }
    /// FixedString: bytes.
    size_t length() const noexcept { return length_; }
    /// DateTime, DateTime64: the time zone given in the type, empty = the session's.
    const std::string& time_zone() const noexcept { return text_; }
    /// AggregateFunction: its function's text.
    const std::string& text() const noexcept { return text_; }
    /// Tuple: element names, empty when unnamed.
    const std::vector<std::string>& names() const noexcept { return names_; }
    IntervalKind interval_kind() const noexcept { return interval_kind_; }
    /// Enum8, Enum16: (name, value), ordered by value.
    const std::vector<std::pair<std::string, int16_t>>& enum_values() const noexcept { return enum_values_; }

    /// Of Nullable and LowCardinality: that of what they wrap.
    Physical physical() const noexcept { return physical_; }
    /// Bytes of one value in a flat vector; 0 for Array, Tuple and None.
    size_t value_size() const noexcept;
    /// "DateTime64(6, 'UTC')": as ClickHouse prints it.
    const std::string& name() const noexcept { return name_; }

    bool is_nullable() const noexcept { return id_ == TypeId::Nullable; }
    bool is_low_cardinality() const noexcept { return id_ == TypeId::LowCardinality; }

private:
    friend struct TypeMaker;
    DataType() = default;
    TypeId id_ = TypeId::Nothing;
    Physical physical_ = Physical::None;
    IntervalKind interval_kind_ = IntervalKind::Second;
    int precision_ = 0;
    int scale_ = 0;
    size_t length_ = 0;
    std::string text_;
    std::string name_;
    std::vector<TypePtr> children_;
    std::vector<std::string> names_;
    std::vector<std::pair<std::string, int16_t>> enum_values_;
};

// Makers. Those with arguments check them: BAD_ARGUMENTS, ARGUMENT_OUT_OF_BOUND, ILLEGAL_TYPE_OF_ARGUMENT.
TypePtr make_type(TypeId id);  // a type without arguments (DateTime: of the session's time zone)
TypePtr make_decimal(int precision, int scale);
TypePtr make_datetime(std::string time_zone);
TypePtr make_datetime64(int scale, std::string time_zone = {});
TypePtr make_time64(int scale);
TypePtr make_fixed_string(size_t length);
TypePtr make_interval(IntervalKind kind);
TypePtr make_enum(bool wide, std::vector<std::pair<std::string, int16_t>> values);
TypePtr make_array(TypePtr element);
TypePtr make_map(TypePtr key, TypePtr value);
TypePtr make_tuple_type(std::vector<TypePtr> elements, std::vector<std::string> names = {});
/// Nullable(T). T itself where T is already Nullable, or is Array, Map or Tuple (which are never Nullable);
/// LowCardinality(Nullable(T)) of LowCardinality(T).
TypePtr make_nullable(TypePtr inner);
/// Nullable(T) in the literal sense; ILLEGAL_TYPE_OF_ARGUMENT where ClickHouse has none (Nullable(Array(…))).
TypePtr make_nullable_checked(TypePtr inner);
TypePtr make_low_cardinality(TypePtr inner);
TypePtr make_function(std::vector<TypePtr> arguments, TypePtr result);
TypePtr make_aggregate_state(std::string text, std::vector<TypePtr> arguments);

/// The name over several lines where tuples have named elements, as toTypeName and DESCRIBE print it.
std::string pretty_name(const DataType& type);

/// T of Nullable(T), of LowCardinality(T) and of LowCardinality(Nullable(T)); the type itself otherwise.
TypePtr unwrap(const TypePtr& type);
/// T of LowCardinality(T), top level only.
TypePtr strip_low_cardinality(const TypePtr& type);
/// T of Nullable(T); LowCardinality(T) of LowCardinality(Nullable(T)).
TypePtr strip_nullable(const TypePtr& type);
/// Nullable(T) or LowCardinality(Nullable(T)).
bool accepts_null(const DataType& type);
/// Same type in every respect (names of tuple elements, time zones and enum values too).
bool same_type(const DataType& a, const DataType& b);
inline bool same_type(const TypePtr& a, const TypePtr& b) { return a == b || same_type(*a, *b); }

bool is_integer(TypeId id);  // UInt8 … Int256, not Bool
bool is_signed_integer(TypeId id);
bool is_unsigned_integer(TypeId id);
bool is_float(TypeId id);
bool is_number(TypeId id);        // integers, Bool, floats, Decimal
bool is_date_or_time(TypeId id);  // Date, Date32, DateTime, DateTime64
bool is_string_like(TypeId id);   // String, FixedString
/// Bits of an integer type.
int integer_bits(TypeId id);
TypePtr integer_type(int bits, bool is_signed);
/// Name of an interval unit: "Day".
std::string_view interval_name(IntervalKind kind);

/// 10^n for 0 <= n <= 38.
Int128 power_of_ten(int n);
/// 10^n for 0 <= n <= 76.
const Int256& wide_power_of_ten(int n);

/// Calls f.operator()<T>() with the C++ type of a fixed-width physical type (not Str, Array, Tuple, None).
/// Returns false, and calls nothing, for those.
template <typename F>
bool dispatch_fixed(Physical physical, F&& f) {
    switch (physical) {
        case Physical::UInt8:
            f.template operator()<uint8_t>();
            return true;
        case Physical::UInt16:
            f.template operator()<uint16_t>();
            return true;
        case Physical::UInt32:
            f.template operator()<uint32_t>();
            return true;
        case Physical::UInt64:
            f.template operator()<uint64_t>();
            return true;
        case Physical::UInt128:
            f.template operator()<UInt128>();
            return true;
        case Physical::UInt256:
            f.template operator()<UInt256>();
            return true;
        case Physical::Int8:
            f.template operator()<int8_t>();
            return true;
        case Physical::Int16:
            f.template operator()<int16_t>();
            return true;
        case Physical::Int32:
            f.template operator()<int32_t>();
            return true;
        case Physical::Int64:
            f.template operator()<int64_t>();
            return true;
        case Physical::Int128:
            f.template operator()<Int128>();
            return true;
        case Physical::Int256:
            f.template operator()<Int256>();
            return true;
        case Physical::Float32:
            f.template operator()<float>();
            return true;
        case Physical::Float64:
            f.template operator()<double>();
            return true;
        default:
            return false;
    }
}

}  // namespace firn
