// Values as text: for metadata tables and messages, and back from the JSON of defaults (spec: Appendix D, JSON).
#include <array>
#include <charconv>

#include "firn/iceberg/json_fields.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/transform.h"
#include "firn/iceberg/values.h"

namespace firn::iceberg {

namespace dom = simdjson::dom;

namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr int32_t kMaxPrecision = 38;

std::string hex(std::string_view bytes) {
    std::string out;
    for (char byte : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return out;
}

std::string date_text(int64_t days) {
    CivilDate date = civil_from_days(days);
    std::string_view sign = date.year < 0 ? "-" : date.year > 9999 ? "+" : "";
    return fmt::format("{}{:04}-{:02}-{:02}", sign, date.year < 0 ? -date.year : date.year, date.month, date.day);
}

std::string clock_text(int64_t second_of_day, int64_t fraction, int digits) {
    return fmt::format("{:02}:{:02}:{:02}.{:0{}}", second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60,
                       fraction, digits);
}

std::string moment_text(int64_t ticks, int64_t per_second, int digits) {
    int64_t seconds = floor_div(ticks, per_second);
    int64_t days = floor_div(seconds, kSecondsPerDay);
    return date_text(days) + "T" + clock_text(seconds - days * kSecondsPerDay, ticks - seconds * per_second, digits);
}

std::string decimal_text(__int128 unscaled, int32_t scale) {
    bool negative = unscaled < 0;
    auto rest = negative ? -static_cast<unsigned __int128>(unscaled) : static_cast<unsigned __int128>(unscaled);
    std::string digits;
    while (rest != 0) {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
    }
    if (digits.size() <= static_cast<size_t>(scale))
        digits.insert(0, static_cast<size_t>(scale) + 1 - digits.size(), '0');
    if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), ".");
    return negative ? "-" + digits : digits;
}

std::string uuid_text(std::string_view bytes) {
    std::string text = hex(bytes);
    for (size_t at : {20, 16, 12, 8}) {
        if (text.size() >= at) text.insert(at, "-");
    }
    return text;
}

/// Reads from the front of a text; every step says whether it went well.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool done() const { return text_.empty(); }
    bool take(char c) {
        if (text_.empty() || text_[0] != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    /// A number of `least` to `most` digits.
    bool number(size_t least, size_t most, int64_t& value) {
        size_t digits = 0;
        value = 0;
        while (digits < text_.size() && digits < most && text_[digits] >= '0' && text_[digits] <= '9') {
            value = value * 10 + (text_[digits++] - '0');
        }
        text_.remove_prefix(digits);
        return digits >= least;
    }
    /// Digits after the point, as a number of `digits` digits; further ones must be zero.
    bool fraction(int digits, int64_t& value) {
        value = 0;
        int seen = 0;
        while (!text_.empty() && text_[0] >= '0' && text_[0] <= '9') {
            if (seen < digits) value = value * 10 + (text_[0] - '0');
            if (seen >= digits && text_[0] != '0') return false;
            text_.remove_prefix(1);
            ++seen;
        }
        for (int i = seen; i < digits; ++i) value *= 10;
        return seen > 0;
    }

private:
    std::string_view text_;
};

bool read_date(Reader& reader, int64_t& days) {
    bool negative = reader.take('-');
    if (!negative) reader.take('+');
    int64_t year, month, day;
    if (!reader.number(4, 9, year) || !reader.take('-') || !reader.number(2, 2, month) || !reader.take('-') ||
        !reader.number(2, 2, day)) {
        return false;
    }
    if (month < 1 || month > 12 || day < 1) return false;
    days = days_from_civil(negative ? -year : year, static_cast<int32_t>(month), static_cast<int32_t>(day));
    CivilDate back = civil_from_days(days);
    return back.day == day && back.month == month;
}

/// Seconds of the day and a fraction in units of 10^-digits seconds; seconds and fraction may be left out.
bool read_clock(Reader& reader, int digits, int64_t& seconds, int64_t& fraction) {
    int64_t hour, minute, second = 0;
    fraction = 0;
    if (!reader.number(2, 2, hour) || !reader.take(':') || !reader.number(2, 2, minute)) return false;
    if (reader.take(':')) {
        if (!reader.number(2, 2, second)) return false;
        if (reader.take('.') && !reader.fraction(digits, fraction)) return false;
    }
    if (hour > 23 || minute > 59 || second > 59) return false;
    seconds = hour * 3600 + minute * 60 + second;
    return true;
}

bool read_utc_offset(Reader& reader) {
    if (reader.take('Z')) return true;
    if (!reader.take('+') && !reader.take('-')) return false;
    int64_t hours, minutes;
    return reader.number(2, 2, hours) && reader.take(':') && reader.number(2, 2, minutes) && hours == 0 && minutes == 0;
}

std::optional<Datum> read_moment(std::string_view text, TypeKind kind) {
    bool nanos = kind == TypeKind::TimestampNs || kind == TypeKind::TimestampTzNs;
    bool zoned = kind == TypeKind::TimestampTz || kind == TypeKind::TimestampTzNs;
    Reader reader(text);
    int64_t days, seconds, fraction;
    if (!read_date(reader, days) || !(reader.take('T') || reader.take(' '))) return std::nullopt;
    if (!read_clock(reader, nanos ? 9 : 6, seconds, fraction)) return std::nullopt;
    if (zoned && !read_utc_offset(reader)) return std::nullopt;
    if (!reader.done()) return std::nullopt;
    __int128 ticks =
        (__int128{days} * kSecondsPerDay + seconds) * (nanos ? kNanosPerSecond : kMicrosPerSecond) + fraction;
    if (ticks < INT64_MIN || ticks > INT64_MAX) return std::nullopt;
    return Datum::integral(kind, static_cast<int64_t>(ticks));
}

std::optional<Datum> read_decimal(std::string_view text, int32_t precision, int32_t scale) {
    bool negative = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    int64_t exponent = 0;
    size_t mark = text.find_first_of("eE");
    if (mark != text.npos) {
        std::string_view power = text.substr(mark + 1);
        if (!power.empty() && power[0] == '+') power.remove_prefix(1);
        auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
        if (error != std::errc() || end != power.data() + power.size() || exponent < -100 || exponent > 100)
            return std::nullopt;
        text = text.substr(0, mark);
    }
    __int128 unscaled = 0;
    int64_t fraction = 0;
    int digits = 0;
    bool point = false;
    for (char c : text) {
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') return std::nullopt;
        if (unscaled != 0 || c != '0') ++digits;
        if (digits > kMaxPrecision) return std::nullopt;
        unscaled = unscaled * 10 + (c - '0');
        if (point) ++fraction;
    }
    if (text.empty() || text == ".") return std::nullopt;
    for (int64_t shift = scale - (fraction - exponent); shift != 0; shift += shift > 0 ? -1 : 1) {
        if (shift > 0) {
            if (unscaled != 0 && ++digits > kMaxPrecision) return std::nullopt;
            unscaled *= 10;
        } else {
            if (unscaled % 10 != 0) return std::nullopt;
            unscaled /= 10;
            --digits;
        }
    }
    if (digits > precision && unscaled != 0) return std::nullopt;
    return Datum::decimal(negative ? -unscaled : unscaled, scale);
}

std::optional<std::string> read_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string out;
    for (size_t i = 0; i < text.size(); i += 2) {
        uint8_t byte;
        auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
        if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
        out += static_cast<char>(byte);
    }
    return out;
}

std::optional<std::string> read_uuid(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    std::string digits;
    for (size_t i = 0; i < text.size(); ++i) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash != (text[i] == '-')) return std::nullopt;
        if (!dash) digits += text[i];
    }
    return read_hex(digits);
}

std::optional<double> read_special(std::string_view text) {
    if (text == "NaN") return __builtin_nan("");
    if (text == "Infinity") return __builtin_inf();
    if (text == "-Infinity") return -__builtin_inf();
    return std::nullopt;
}

/// The primitive value of a JSON text; nothing where the text is no such value.
std::optional<Literal> literal_of_text(const TypePtr& type, std::string_view text) {
    auto wrap = [&](std::optional<Datum> value) -> std::optional<Literal> {
        if (!value) return std::nullopt;
        return Literal::of(type, *value);
    };
    auto wrap_bytes = [&](const std::optional<std::string>& bytes) -> std::optional<Literal> {
        if (!bytes) return std::nullopt;
        return Literal::of(type, Datum::bytes(type->kind, *bytes));
    };
    switch (type->kind) {
        case TypeKind::String:
            return wrap(Datum::bytes(type->kind, text));
        case TypeKind::Uuid:
            return wrap_bytes(read_uuid(text));
        case TypeKind::Binary:
            return wrap_bytes(read_hex(text));
        case TypeKind::Fixed: {
            auto bytes = read_hex(text);
            if (bytes && bytes->size() != static_cast<size_t>(type->length)) return std::nullopt;
            return wrap_bytes(bytes);
        }
        case TypeKind::Decimal:
            return wrap(read_decimal(text, type->precision, type->scale));
        case TypeKind::Date: {
            Reader reader(text);
            int64_t days;
            if (!read_date(reader, days) || !reader.done() || days < INT32_MIN || days > INT32_MAX) return std::nullopt;
            return wrap(Datum::integral(type->kind, days));
        }
        case TypeKind::Time: {
            Reader reader(text);
            int64_t seconds, fraction;
            if (!read_clock(reader, 6, seconds, fraction) || !reader.done()) return std::nullopt;
            return wrap(Datum::integral(type->kind, seconds * kMicrosPerSecond + fraction));
        }
        case TypeKind::Timestamp:
        case TypeKind::TimestampTz:
        case TypeKind::TimestampNs:
        case TypeKind::TimestampTzNs:
            return wrap(read_moment(text, type->kind));
        case TypeKind::Float:
        case TypeKind::Double: {
            auto value = read_special(text);
            if (!value) return std::nullopt;
            return wrap(Datum::floating(type->kind, *value));
        }
        default:
            return std::nullopt;
    }
}

std::optional<Literal> primitive_of_json(const TypePtr& type, dom::element element) {
    std::string_view text;
    if (element.get_string().get(text) == simdjson::SUCCESS) return literal_of_text(type, text);
    bool flag;
    if (type->kind == TypeKind::Boolean && element.get_bool().get(flag) == simdjson::SUCCESS) {
        return Literal::of(type, Datum::boolean(flag));
    }
    int64_t whole;
    if ((type->kind == TypeKind::Int || type->kind == TypeKind::Long) &&
        element.get_int64().get(whole) == simdjson::SUCCESS) {
        if (type->kind == TypeKind::Int && (whole < INT32_MIN || whole > INT32_MAX)) return std::nullopt;
        return Literal::of(type, Datum::integral(type->kind, whole));
    }
    double real;
    if ((type->kind == TypeKind::Float || type->kind == TypeKind::Double) &&
        element.get_double().get(real) == simdjson::SUCCESS) {
        if (type->kind == TypeKind::Float) real = static_cast<float>(real);
        return Literal::of(type, Datum::floating(type->kind, real));
    }
    return std::nullopt;
}

void fill_struct(Literal& literal, const JsonFields& json, const std::string& where, int depth) {
    for (const NestedField& field : literal.type->fields) {
        auto given = json.find(std::to_string(field.id));
        literal.item_given.push_back(given.has_value());
        Literal item;
        if (given) {
            item = literal_of_json(field.type, *given, where, depth + 1);
        } else if (field.initial_default) {
            item = *field.initial_default;
        } else {
            item.type = field.type;
            item.is_null = true;
        }
        literal.items.push_back(std::move(item));
    }
}

/// Elements of an array field, appended to `items` two apart: a map's keys and values come in two arrays.
std::vector<Literal> list_of_json(const TypePtr& type, dom::array array, const std::string& where, int depth) {
    std::vector<Literal> items;
    for (dom::element item : array) items.push_back(literal_of_json(type, item, where, depth + 1));
    return items;
}

}  // namespace

std::string Datum::to_string() const {
    if (is_null()) return "null";
    switch (kind()) {
        case TypeKind::Boolean:
            return integer() != 0 ? "true" : "false";
        case TypeKind::Float:
            return fmt::format("{}", static_cast<float>(real()));
        case TypeKind::Double:
            return fmt::format("{}", real());
        case TypeKind::Decimal:
            return decimal_text(unscaled(), scale());
        case TypeKind::Date:
            return date_text(integer());
        case TypeKind::Time: {
            int64_t seconds = floor_div(integer(), kMicrosPerSecond);
            return clock_text(seconds, integer() - seconds * kMicrosPerSecond, 6);
        }
        case TypeKind::Timestamp:
            return moment_text(integer(), kMicrosPerSecond, 6);
        case TypeKind::TimestampTz:
            return moment_text(integer(), kMicrosPerSecond, 6) + "+00:00";
        case TypeKind::TimestampNs:
            return moment_text(integer(), kNanosPerSecond, 9);
        case TypeKind::TimestampTzNs:
            return moment_text(integer(), kNanosPerSecond, 9) + "+00:00";
        case TypeKind::String:
            return std::string(view());
        case TypeKind::Uuid:
            return uuid_text(view());
        case TypeKind::Fixed:
        case TypeKind::Binary:
            return hex(view());
        default:
            return std::to_string(integer());
    }
}

Literal literal_of_json(const TypePtr& type, dom::element element, const std::string& where, int depth) {
    if (depth > kMaxTypeDepth)
        fail(ErrorCode::TOO_DEEP_RECURSION, "{}: values nested over {} levels", where, kMaxTypeDepth);
    Literal literal;
    literal.type = type;
    if (element.is_null()) {
        literal.is_null = true;
        return literal;
    }
    if (type->is_primitive()) {
        if (auto value = primitive_of_json(type, element)) return *std::move(value);
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: {} is no value of type {}", where,
             simdjson::minify(element), type->to_string());
    }
    if (type->kind == TypeKind::List) {
        dom::array array;
        if (element.get_array().get(array) != simdjson::SUCCESS) {
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: the value of a list is no array", where);
        }
        literal.items = list_of_json(type->element().type, array, where, depth);
        return literal;
    }
    JsonFields json(element, where);
    if (type->kind == TypeKind::Struct) {
        fill_struct(literal, json, where, depth);
        return literal;
    }
    auto keys = list_of_json(type->key().type, json.required_array("keys"), where, depth);
    auto values = list_of_json(type->value().type, json.required_array("values"), where, depth);
    if (keys.size() != values.size()) json.bad("values", "has not as many items as \"keys\"");
    for (size_t i = 0; i < keys.size(); ++i) {
        literal.items.push_back(std::move(keys[i]));
        literal.items.push_back(std::move(values[i]));
    }
    return literal;
}

Literal parse_json_value(const TypePtr& type, std::string_view json, std::string_view where) {
    JsonDocument document(json, where);
    return literal_of_json(type, document.root(), std::string(where));
}

}  // namespace firn::iceberg
