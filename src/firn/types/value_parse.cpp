#include "firn/types/value_parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <arpa/inet.h>

#include "firn/types/calendar.h"
#include "firn/types/number.h"

namespace firn {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
    return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
               return std::tolower(static_cast<unsigned char>(a)) == b;
           });
}

/// Reads up to `most` digits from the front; how many there were.
size_t take_digits(std::string_view& text, size_t most, int64_t& value) {
    size_t n = 0;
    value = 0;
    while (n < most && n < text.size() && is_digit(text[n])) value = value * 10 + (text[n++] - '0');
    text.remove_prefix(n);
    return n;
}

/// A date at the front of text; false where there is none.
bool take_date(std::string_view& text, int64_t& days) {
    std::string_view rest = text;
    int64_t year = 0, month = 0, day = 0;
    bool negative = false, expanded = false;
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
        negative = rest[0] == '-';
        expanded = true;
        rest.remove_prefix(1);
    }
    const size_t year_digits = take_digits(rest, expanded ? 9 : 4, year);
    if (year_digits < 4) return false;
    if (rest.size() >= 4 && !expanded && std::all_of(rest.begin(), rest.begin() + 4, is_digit)) {
        take_digits(rest, 2, month);
        take_digits(rest, 2, day);
    } else {
        if (rest.empty() || is_digit(rest[0])) return false;
        rest.remove_prefix(1);
        if (!take_digits(rest, 2, month)) return false;
        if (rest.empty() || is_digit(rest[0])) return false;
        rest.remove_prefix(1);
        if (!take_digits(rest, 2, day)) return false;
    }
    if (negative) year = -year;
    // As ClickHouse: a month or day that cannot be is the epoch; a day past the month's end runs on into the next.
    days = month < 1 || month > 12 || day < 1 || day > 31 ? 0 : days_from_civil(year, static_cast<int>(month), day);
    text = rest;
    return true;
}

void take_fraction(std::string_view& text, int32_t& nanoseconds) {
    nanoseconds = 0;
    if (text.empty() || text[0] != '.') return;
    text.remove_prefix(1);
    int32_t unit = 100000000;
    while (!text.empty() && is_digit(text[0])) {
        nanoseconds += (text[0] - '0') * unit;
        unit /= 10;
        text.remove_prefix(1);
    }
}

/// hh:mm[:ss] at the front; false where it is not there.
bool take_clock(std::string_view& text, size_t hour_digits, int64_t& seconds) {
    std::string_view rest = text;
    int64_t hour = 0, minute = 0, second = 0;
    if (!take_digits(rest, hour_digits, hour) || rest.empty() || rest[0] != ':') return false;
    rest.remove_prefix(1);
    if (!take_digits(rest, 2, minute)) return false;
    if (!rest.empty() && rest[0] == ':') {
        rest.remove_prefix(1);
        if (!take_digits(rest, 2, second)) return false;
    }
    seconds = hour * 3600 + minute * 60 + second;
    text = rest;
    return true;
}

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

template <typename T>
void store(char* out, const T& value) {
    std::memcpy(out, &value, sizeof(T));
}

ErrorCode parse_enum(std::string_view text, const DataType& type, char* out) {
    const auto put = [&](int16_t value) {
        if (type.id() == TypeId::Enum8)
            store(out, static_cast<int8_t>(value));
        else
            store(out, value);
        return kParsed;
    };
    for (const auto& [name, value] : type.enum_values())
        if (name == text) return put(value);
    int64_t number = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size())
        for (const auto& [name, value] : type.enum_values())
            if (value == number) return put(value);
    return ErrorCode::UNKNOWN_ELEMENT_OF_ENUM;
}

ErrorCode parse_days(std::string_view text, const DataType& type, ParseMode mode, char* out) {
    int64_t days = 0;
    std::string_view rest = text;
    if (!take_date(rest, days)) return ErrorCode::CANNOT_PARSE_DATE;
    if (!rest.empty()) {
        // toDate('2020-01-01 10:20:30') takes the date; a literal beside a Date column must be one.
        int64_t clock = 0;
        int32_t fraction = 0;
        if (mode == ParseMode::Strict || (rest[0] != ' ' && rest[0] != 'T')) return ErrorCode::CANNOT_PARSE_TEXT;
        rest.remove_prefix(1);
        if (!take_clock(rest, 2, clock)) return ErrorCode::CANNOT_PARSE_TEXT;
        take_fraction(rest, fraction);
        if (!rest.empty() && rest != "Z") return ErrorCode::CANNOT_PARSE_TEXT;
    }
    if (type.id() == TypeId::Date) {
        store(out, static_cast<uint16_t>(std::clamp<int64_t>(days, 0, 65535)));
    } else {
        store(out, static_cast<int32_t>(std::clamp<int64_t>(days, INT32_MIN, INT32_MAX)));
    }
    return kParsed;
}

ErrorCode parse_moment(std::string_view text, const DataType& type, const TimeZone& session_zone, char* out) {
    const TimeZone& zone = type.time_zone().empty() ? session_zone : TimeZone::find(type.time_zone());
    int64_t seconds = 0;
    int32_t nanoseconds = 0;
    if (const ErrorCode code = parse_datetime(text, zone, seconds, nanoseconds); code != kParsed) return code;
    if (type.id() == TypeId::DateTime) {
        store(out, static_cast<uint32_t>(std::clamp<int64_t>(seconds, 0, UINT32_MAX)));
        return kParsed;
    }
    const auto unit = static_cast<int64_t>(power_of_ten(type.scale()));
    const Int128 ticks =
        static_cast<Int128>(seconds) * unit + nanoseconds / static_cast<int64_t>(power_of_ten(9 - type.scale()));
    if (ticks < INT64_MIN || ticks > INT64_MAX) return ErrorCode::DECIMAL_OVERFLOW;
    store(out, static_cast<int64_t>(ticks));
    return kParsed;
}

ErrorCode parse_clock_value(std::string_view text, const DataType& type, char* out) {
    int64_t seconds = 0;
    int32_t nanoseconds = 0;
    if (const ErrorCode code = parse_time(text, seconds, nanoseconds); code != kParsed) return code;
    if (type.id() == TypeId::Time)
        store(out, static_cast<int32_t>(seconds));
    else
        store(out, seconds * static_cast<int64_t>(power_of_ten(type.scale())) +
                       nanoseconds / static_cast<int64_t>(power_of_ten(9 - type.scale())));
    return kParsed;
}

ErrorCode parse_number(std::string_view text, const DataType& type, ParseMode mode, char* out) {
    if (type.id() == TypeId::Decimal) {
        Int256 value;
        if (const ErrorCode code = parse_decimal(text, type.precision(), type.scale(), value); code != kParsed)
            return code;
        dispatch_fixed(type.physical(), [&]<typename T>() { store(out, number_cast<T>(value)); });
        return kParsed;
    }
    if (is_float(type.id())) {
        double value = 0;
        if (const ErrorCode code = parse_float(text, value); code != kParsed) return code;
        if (type.id() == TypeId::Float64)
            store(out, value);
        else
            store(out, std::strtof(std::string(text).c_str(), nullptr));
        return kParsed;
    }
    Int256 value;
    bool overflow = false;
    const ErrorCode code = parse_integer(text, is_signed_integer(type.id()), integer_bits(type.id()), value, overflow);
    if (code != kParsed) return code;
    if (overflow && mode == ParseMode::Strict) return ErrorCode::ARGUMENT_OUT_OF_BOUND;
    dispatch_fixed(type.physical(), [&]<typename T>() { store(out, number_cast<T>(value)); });
    return kParsed;
}

}  // namespace

ErrorCode parse_integer(std::string_view text, bool is_signed, int bits, Int256& out, bool& overflow) {
    overflow = false;
    if (text.empty()) return ErrorCode::ATTEMPT_TO_READ_AFTER_EOF;
    bool negative = false;
    size_t at = 0;
    if (text[0] == '-' || text[0] == '+') {
        negative = text[0] == '-';
        if (negative && !is_signed) return ErrorCode::CANNOT_PARSE_NUMBER;
        at = 1;
        if (text.size() == 1) return ErrorCode::CANNOT_PARSE_NUMBER;
    }
    const std::string_view digits = text.substr(at);
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return ErrorCode::CANNOT_PARSE_TEXT;
    if (digits.size() <= 18) {
        int64_t value = 0;
        for (const char c : digits) value = value * 10 + (c - '0');
        if (negative) value = -value;
        if (bits < 64) overflow = is_signed ? value != (value << (64 - bits)) >> (64 - bits) : value >> bits != 0;
        out = Int256(Int128{value});
        return kParsed;
    }
    const UInt256 ten(static_cast<UInt128>(10));
    const UInt256 limit = bits == 256 && !is_signed ? ~UInt256()
                                                    : (UInt256(static_cast<UInt128>(1))
                                                       << static_cast<unsigned>(is_signed ? bits - 1 : bits)) -
                                                          UInt256(static_cast<UInt128>(1));
    UInt256 rest, value;
    const UInt256 before_last = (~UInt256()).divide(ten, rest);
    for (const char c : digits) {
        if (value > before_last) overflow = true;
        const UInt256 next = value * ten + UInt256(static_cast<UInt128>(c - '0'));
        if (next < value) overflow = true;
        value = next;
    }
    const UInt256 most = negative ? limit + UInt256(static_cast<UInt128>(1)) : limit;
    if (value > most) overflow = true;
    out = negative ? -Int256(value) : Int256(value);
    return kParsed;
}

ErrorCode parse_float(std::string_view text, double& out) {
    std::string_view rest = text;
    bool negative = false;
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
        negative = rest[0] == '-';
        rest.remove_prefix(1);
    }
    if (rest.empty()) return ErrorCode::CANNOT_PARSE_NUMBER;
    if (!is_digit(rest[0]) && rest[0] != '.') {
        if (equals_ignoring_case(rest, "inf") || equals_ignoring_case(rest, "infinity"))
            out = std::numeric_limits<double>::infinity();
        else if (equals_ignoring_case(rest, "nan"))
            out = std::numeric_limits<double>::quiet_NaN();
        else
            return ErrorCode::CANNOT_PARSE_NUMBER;
        if (negative) out = -out;
        return kParsed;
    }
    double value = 0;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (result.ec == std::errc::invalid_argument) return ErrorCode::CANNOT_PARSE_NUMBER;
    if (result.ec == std::errc::result_out_of_range) value = std::strtod(std::string(rest).c_str(), nullptr);
    if (result.ptr != rest.data() + rest.size()) return ErrorCode::CANNOT_PARSE_TEXT;
    out = negative ? -value : value;
    return kParsed;
}

ErrorCode parse_decimal(std::string_view text, int precision, int scale, Int256& out) {
    if (text.empty()) return ErrorCode::ATTEMPT_TO_READ_AFTER_EOF;
    size_t at = 0;
    const bool negative = text[0] == '-';
    if (text[0] == '-' || text[0] == '+') at = 1;
    UInt128 low = 0;  // digits before `wide` is needed
    UInt256 wide;
    int significant = 0, fraction = 0;
    bool any = false, point = false, is_wide = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c)) break;
        any = true;
        if (point && fraction >= scale && significant > 0 && fraction > 80) continue;  // cannot matter any more
        if (significant == 0 && c == '0') {
            fraction += point;
            continue;
        }
        if (significant >= 77) {
            if (!point) return ErrorCode::ARGUMENT_OUT_OF_BOUND;
            continue;
        }
        if (++significant > 38 && !is_wide) {
            is_wide = true;
            wide = UInt256(low);
        }
        if (is_wide)
            wide = wide * UInt256(static_cast<UInt128>(10)) + UInt256(static_cast<UInt128>(c - '0'));
        else
            low = low * 10 + static_cast<unsigned>(c - '0');
        fraction += point;
    }
    if (!any) return ErrorCode::CANNOT_PARSE_TEXT;
    int64_t exponent = 0;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        const size_t digits = at + 1 + (at + 1 < text.size() && text[at + 1] == '+');
        const auto result = std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
        if (result.ec != std::errc()) return ErrorCode::CANNOT_PARSE_NUMBER;
        at = static_cast<size_t>(result.ptr - text.data());
    }
    if (at != text.size()) return ErrorCode::CANNOT_PARSE_TEXT;
    if (!is_wide) wide = UInt256(low);
    const int64_t shift = std::clamp<int64_t>(exponent, -1000, 1000) - fraction + scale;
    if (significant == 0) {
        wide = UInt256();
    } else if (shift >= 0) {
        if (significant + shift > precision) return ErrorCode::ARGUMENT_OUT_OF_BOUND;
        wide = wide * wide_power_of_ten(static_cast<int>(shift)).bits;
    } else {
        if (significant + shift > precision) return ErrorCode::ARGUMENT_OUT_OF_BOUND;
        UInt256 rest;
        wide = -shift > 76 ? UInt256() : wide.divide(wide_power_of_ten(static_cast<int>(-shift)).bits, rest);
    }
    out = negative ? -Int256(wide) : Int256(wide);
    return kParsed;
}

ErrorCode parse_date(std::string_view text, int64_t& days) {
    if (!take_date(text, days)) return ErrorCode::CANNOT_PARSE_DATE;
    return text.empty() ? kParsed : ErrorCode::CANNOT_PARSE_TEXT;
}

ErrorCode parse_datetime(std::string_view text, const TimeZone& zone, int64_t& seconds, int32_t& nanoseconds) {
    nanoseconds = 0;
    int64_t days = 0, clock = 0;
    std::string_view rest = text;
    const bool unix_time = !text.empty() && text.find_first_not_of("0123456789.-") == std::string_view::npos &&
                           text.find('-', 1) == std::string_view::npos && text.size() > 4;
    if (unix_time && !(text.size() == 8 && text.find('.') == std::string_view::npos)) {
        const bool negative = text[0] == '-';
        if (negative) rest.remove_prefix(1);
        if (!take_digits(rest, 18, seconds)) return ErrorCode::CANNOT_PARSE_DATETIME;
        take_fraction(rest, nanoseconds);
        if (!rest.empty()) return ErrorCode::CANNOT_PARSE_TEXT;
        if (negative) {
            seconds = -seconds;
            if (nanoseconds) {
                seconds -= 1;
                nanoseconds = 1000000000 - nanoseconds;
            }
        }
        return kParsed;
    }
    if (!take_date(rest, days)) return ErrorCode::CANNOT_PARSE_DATETIME;
    bool utc = false;
    if (!rest.empty() && (rest[0] == ' ' || rest[0] == 'T')) {
        rest.remove_prefix(1);
        if (!take_clock(rest, 2, clock)) return ErrorCode::CANNOT_PARSE_DATETIME;
        take_fraction(rest, nanoseconds);
        if (rest == "Z") {
            utc = true;
            rest = {};
        }
    }
    if (!rest.empty()) return ErrorCode::CANNOT_PARSE_TEXT;
    const int64_t local = days * 86400 + clock;
    seconds = utc ? local : zone.from_local(local);
    return kParsed;
}

ErrorCode parse_time(std::string_view text, int64_t& seconds, int32_t& nanoseconds) {
    nanoseconds = 0;
    const bool negative = !text.empty() && text[0] == '-';
    if (negative) text.remove_prefix(1);
    if (!take_clock(text, 3, seconds)) {
        if (!take_digits(text, 9, seconds)) return ErrorCode::CANNOT_PARSE_DATETIME;
    }
    take_fraction(text, nanoseconds);
    if (!text.empty()) return ErrorCode::CANNOT_PARSE_TEXT;
    if (negative) {
        seconds = -seconds;
        nanoseconds = -nanoseconds;
    }
    return kParsed;
}

ErrorCode parse_uuid(std::string_view text, UInt128& out) {
    if (text.size() != 36 && text.size() != 32) return ErrorCode::CANNOT_PARSE_UUID;
    UInt128 value = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text.size() == 36 && (i == 8 || i == 13 || i == 18 || i == 23)) {
            if (text[i] != '-') return ErrorCode::CANNOT_PARSE_UUID;
            continue;
        }
        const int digit = hex_value(text[i]);
        if (digit < 0) return ErrorCode::CANNOT_PARSE_UUID;
        value = (value << 4) | static_cast<unsigned>(digit);
    }
    out = value;
    return kParsed;
}

ErrorCode parse_ipv4(std::string_view text, uint32_t& out) {
    uint32_t value = 0;
    for (int part = 0; part < 4; ++part) {
        int64_t number = 0;
        if (part) {
            if (text.empty() || text[0] != '.') return ErrorCode::CANNOT_PARSE_IPV4;
            text.remove_prefix(1);
        }
        if (!take_digits(text, 3, number) || number > 255) return ErrorCode::CANNOT_PARSE_IPV4;
        value = (value << 8) | static_cast<uint32_t>(number);
    }
    if (!text.empty()) return ErrorCode::CANNOT_PARSE_IPV4;
    out = value;
    return kParsed;
}

ErrorCode parse_ipv6(std::string_view text, UInt128& out) {
    uint32_t v4 = 0;
    if (parse_ipv4(text, v4) == kParsed) {
        out = (UInt128{0xffff} << 32) | v4;
        return kParsed;
    }
    unsigned char bytes[16];
    if (text.size() > 64 || inet_pton(AF_INET6, std::string(text).c_str(), bytes) != 1)
        return ErrorCode::CANNOT_PARSE_IPV6;
    UInt128 value = 0;
    for (const unsigned char byte : bytes) value = (value << 8) | byte;
    out = value;
    return kParsed;
}

ErrorCode parse_bool(std::string_view text, bool& out) {
    for (const std::string_view word : {"1", "true", "t", "yes", "y", "on", "enable", "enabled"})
        if (equals_ignoring_case(text, word)) {
            out = true;
            return kParsed;
        }
    for (const std::string_view word : {"0", "false", "f", "no", "n", "off", "disable", "disabled"})
        if (equals_ignoring_case(text, word)) {
            out = false;
            return kParsed;
        }
    return ErrorCode::CANNOT_PARSE_BOOL;
}

ErrorCode parse_value(std::string_view text, const DataType& type, const TimeZone& zone, ParseMode mode, char* out) {
    const auto stored = [&](ErrorCode code, const auto& value) {
        if (code == kParsed) store(out, value);
        return code;
    };
    switch (type.id()) {
        case TypeId::Nullable:
        case TypeId::LowCardinality:
            return parse_value(text, *type.child(), zone, mode, out);
        case TypeId::Bool: {
            bool value = false;
            const ErrorCode code = parse_bool(text, value);
            return stored(code, static_cast<uint8_t>(value));
        }
        case TypeId::Date:
        case TypeId::Date32:
            return parse_days(text, type, mode, out);
        case TypeId::DateTime:
        case TypeId::DateTime64:
            return parse_moment(text, type, zone, out);
        case TypeId::Time:
        case TypeId::Time64:
            return parse_clock_value(text, type, out);
        case TypeId::Enum8:
        case TypeId::Enum16:
            return parse_enum(text, type, out);
        case TypeId::UUID: {
            UInt128 value = 0;
            const ErrorCode code = parse_uuid(text, value);
            return stored(code, value);
        }
        case TypeId::IPv4: {
            uint32_t value = 0;
            const ErrorCode code = parse_ipv4(text, value);
            return stored(code, value);
        }
        case TypeId::IPv6: {
            UInt128 value = 0;
            const ErrorCode code = parse_ipv6(text, value);
            return stored(code, value);
        }
        case TypeId::Interval: {
            Int256 value;
            bool overflow = false;
            const ErrorCode code = parse_integer(text, true, 64, value, overflow);
            return stored(code, number_cast<int64_t>(value));
        }
        default:
            if (is_number(type.id())) return parse_number(text, type, mode, out);
            fail(ErrorCode::LOGICAL_ERROR, "parse_value of {}", type.name());
    }
}

}  // namespace firn
