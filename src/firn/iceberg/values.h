// Single values of Iceberg's types: partition values, column bounds, defaults (spec: Appendix D), and their order.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/iceberg/schema.h"

namespace firn::iceberg {

/// A primitive value or null. Trivially copyable; text and bytes are a view, whose owner (a manifest, a Literal) must
/// outlive it.
class Datum {
public:
    Datum() = default;  ///< null

    static Datum null() { return {}; }
    static Datum boolean(bool value) { return integral(TypeKind::Boolean, value); }
    /// Any kind that is an integer inside: Boolean, Int, Long, Date, Time and the timestamps.
    static Datum integral(TypeKind kind, int64_t value) {
        Datum datum;
        datum.kind_ = kind;
        datum.null_ = false;
        datum.payload_.integer = value;
        return datum;
    }
    static Datum floating(TypeKind kind, double value) {
        Datum datum;
        datum.kind_ = kind;
        datum.null_ = false;
        datum.payload_.real = value;
        return datum;
    }
    static Datum decimal(__int128 unscaled, int32_t scale) {
        Datum datum;
        datum.kind_ = TypeKind::Decimal;
        datum.null_ = false;
        datum.scale_ = static_cast<int8_t>(scale);
        datum.payload_.decimal = unscaled;
        return datum;
    }
    /// String, Binary, Fixed, Uuid (16 bytes, big-endian).
    static Datum bytes(TypeKind kind, std::string_view value) {
        Datum datum;
        datum.kind_ = kind;
        datum.null_ = false;
        datum.payload_.view = {value.data(), value.size()};
        return datum;
    }

    bool is_null() const { return null_; }
    /// Unknown for null.
    TypeKind kind() const { return kind_; }
    bool is_integral() const;
    bool is_floating() const { return kind_ == TypeKind::Float || kind_ == TypeKind::Double; }
    bool is_bytes() const;
    bool is_nan() const { return is_floating() && payload_.real != payload_.real; }

    // Each only for the kinds that have it.
    int64_t integer() const { return payload_.integer; }
    double real() const { return payload_.real; }  ///< a Float's value is exact in it
    __int128 unscaled() const { return payload_.decimal; }
    int32_t scale() const { return scale_; }
    std::string_view view() const { return {payload_.view.data, payload_.view.size}; }

    /// As Iceberg's metadata tables and messages show it: "2017-11-16", "14.20", lower-case hexadecimal for bytes.
    std::string to_string() const;

private:
    struct View {
        const char* data;
        size_t size;
    };
    union Payload {
        int64_t integer;
        double real;
        __int128 decimal;
        View view;
    };
    Payload payload_ = {.decimal = 0};
    TypeKind kind_ = TypeKind::Unknown;
    bool null_ = true;
    int8_t scale_ = 0;
};

/// Iceberg's order of two values that are not null: numbers by value, -0.0 before +0.0, NaN after all other numbers;
/// text and bytes as unsigned bytes; false before true. Kinds that promotion relates compare by value (int with long,
/// float with double, decimals of two scales, date with the timestamps, microseconds with nanoseconds); kinds that
/// nothing relates are `unordered`, and so prove nothing.
std::partial_ordering compare(const Datum& left, const Datum& right);

/// Equal as partition values are: nulls are equal, all NaNs are equal, -0.0 and +0.0 are not.
bool same_value(const Datum& left, const Datum& right);
size_t hash_value(const Datum& value);

/// `value` as the type that its kind promotes to, or as itself; null datum stays null. Nothing where the type cannot
/// hold it (a date beyond timestamp_ns) or promotion does not relate them.
std::optional<Datum> promote(const Datum& value, const Type& to);

/// A partition value as its file's Avro schema shows it, as a value of the type that its field really has: promotion,
/// and besides that the kinds that share a physical form (the day that a writer marked a date is an int; a long without
/// a logical type is the timestamp that it stands for; bytes are the uuid or text). Nothing where the forms differ.
std::optional<Datum> reinterpret(const Datum& value, const Type& to);

/// A primitive value of its binary form (Appendix D), the shorter widths of the types promoted to `type` included.
/// Nothing where the bytes are not of such a value. Views into `bytes`.
std::optional<Datum> decode_value(const Type& type, std::string_view bytes);

/// The binary form of a value that is not null, of its own kind.
std::string encode_value(const Datum& value);

/// How far a bound can be believed.
enum class BoundTrust : uint8_t {
    Exact,      ///< some row holds it
    Truncated,  ///< no row lies beyond it, but none need hold it
};

/// A bound that holds: no non-null, non-NaN value of the column lies beyond it. What cannot be believed is not a Bound.
struct Bound {
    Datum value;
    BoundTrust trust = BoundTrust::Truncated;
};

/// The lower and upper bound of one column in one file. Absent: nothing is known on that side.
struct Bounds {
    std::optional<Bound> lower;
    std::optional<Bound> upper;
};

/// Reads a pair of bounds of binary form, null views for absent ones. Untrustworthy ones are left out: bytes of a wrong
/// width, NaN, a pair with lower above upper, types whose bounds are not single values (variant, geometry, …).
/// `exact_numbers`: whether the writer's numeric bounds are values of rows; false for ORC timestamps, which are kept in
/// milliseconds.
Bounds decode_bounds(const Type& type, std::optional<std::string_view> lower, std::optional<std::string_view> upper,
                     bool exact_numbers = true);

/// A value of any type, which owns its bytes: a field's default.
struct Literal {
    TypePtr type;
    bool is_null = false;
    Datum datum;                   ///< primitive types; views `storage`
    std::string storage;           ///< bytes of `datum`
    std::vector<Literal> items;    ///< List: elements. Map: key, value, key, value, … Struct: one for each field
    std::vector<bool> item_given;  ///< Struct: whether the field's value was written; else its own default holds

    Literal() = default;
    Literal(const Literal& other);
    Literal(Literal&& other) noexcept;
    Literal& operator=(Literal other) noexcept;
    ~Literal() = default;

    /// A literal of a primitive, owning a copy of its bytes.
    static Literal of(TypePtr type, const Datum& value);
};

/// A value of its JSON form (Appendix D): numbers, ISO dates and times, hexadecimal bytes, decimals of text.
/// ICEBERG_SPECIFICATION_VIOLATION, naming `where`, when the JSON is not a value of the type.
Literal parse_json_value(const TypePtr& type, std::string_view json, std::string_view where);

}  // namespace firn::iceberg
