#include "firn/types/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include <arpa/inet.h>

#include "firn/base/error.h"
#include "firn/types/calendar.h"

namespace firn {

namespace {

void append_two(std::string& out, int64_t value) {
    out.push_back(static_cast<char>('0' + value / 10));
    out.push_back(static_cast<char>('0' + value % 10));
}

/// At least `width` digits, zeros in front.
void append_padded(std::string& out, uint64_t value, int width) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    for (auto n = end - digits; n < width; ++n) out.push_back('0');
    out.append(digits, end);
}

template <typename T>
void append_shortest(std::string& out, T value) {
    if (std::isnan(value)) {
        out += "nan";
        return;
    }
    if (std::isinf(value)) {
        out += value < 0 ? "-inf" : "inf";
        return;
    }
    char text[48];
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr;
    const char* at = text;
    if (*at == '-') {
        out.push_back('-');
        ++at;
    }
    const char* const mark = std::find(at, static_cast<const char*>(end), 'e');
    int exponent = 0;
    std::from_chars(mark[1] == '+' ? mark + 2 : mark + 1, end, exponent);
    char digits[24];
    int count = 0;
    for (; at < mark; ++at)
        if (*at != '.') digits[count++] = *at;
    const int point = exponent + 1;  // digits before the point
    if (point > 21 || point < -5) {
        out.push_back(digits[0]);
        if (count > 1) {
            out.push_back('.');
            out.append(digits + 1, static_cast<size_t>(count - 1));
        }
        out.push_back('e');
        append_int(out, static_cast<int64_t>(exponent));
    } else if (point <= 0) {
        out += "0.";
        if (count == 1 && digits[0] == '0') out.resize(out.size() - 1);
        out.append(static_cast<size_t>(-point), '0');
        out.append(digits, static_cast<size_t>(count));
    } else if (count <= point) {
        out.append(digits, static_cast<size_t>(count));
        out.append(static_cast<size_t>(point - count), '0');
    } else {
        out.append(digits, static_cast<size_t>(point));
        out.push_back('.');
        out.append(digits + point, static_cast<size_t>(count - point));
    }
}

void append_scaled(std::string& out, std::string digits, int scale, bool trailing_zeros) {
    size_t start = 0;
    if (digits[0] == '-') {
        out.push_back('-');
        start = 1;
    }
    const auto width = static_cast<size_t>(scale);
    if (digits.size() - start <= width) digits.insert(start, width + 1 - (digits.size() - start), '0');
    const size_t point = digits.size() - width;
    out.append(digits, start, point - start);
    size_t end = digits.size();
    if (!trailing_zeros)
        while (end > point && digits[end - 1] == '0') --end;
    if (end == point) return;
    out.push_back('.');
    out.append(digits, point, end - point);
}

void append_clock(std::string& out, int64_t seconds) {
    if (seconds / 3600 < 100)
        append_two(out, seconds / 3600);
    else
        append_uint(out, static_cast<uint64_t>(seconds / 3600));
    out.push_back(':');
    append_two(out, seconds / 60 % 60);
    out.push_back(':');
    append_two(out, seconds % 60);
}

int64_t ticks_of_second(int scale) { return static_cast<int64_t>(power_of_ten(scale)); }

template <typename T>
T read(const char* data) {
    T value;
    std::memcpy(&value, data, sizeof(T));
    return value;
}

void append_enum(std::string& out, const DataType& type, int16_t value) {
    const auto& values = type.enum_values();
    const auto it =
        std::lower_bound(values.begin(), values.end(), value, [](const auto& a, int16_t b) { return a.second < b; });
    if (it == values.end() || it->second != value)
        fail(ErrorCode::INCORRECT_DATA, "{} is no value of {}", value, type.name());
    out += it->first;
}

}  // namespace

void append_int(std::string& out, int64_t value) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}
void append_uint(std::string& out, uint64_t value) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}
void append_wide(std::string& out, Int128 value) {
    if (value >= INT64_MIN && value <= INT64_MAX)
        append_int(out, static_cast<int64_t>(value));
    else
        out += to_string(value);
}
void append_wide(std::string& out, UInt128 value) {
    if (value <= UINT64_MAX)
        append_uint(out, static_cast<uint64_t>(value));
    else
        out += to_string(value);
}

void append_float(std::string& out, double value) { append_shortest(out, value); }
void append_float(std::string& out, float value) { append_shortest(out, value); }

void append_decimal(std::string& out, const Int256& value, int scale, bool trailing_zeros) {
    append_scaled(out, to_string(value), scale, trailing_zeros);
}

void append_decimal(std::string& out, Int128 value, int scale, bool trailing_zeros) {
    std::string digits;
    append_wide(digits, value);
    append_scaled(out, std::move(digits), scale, trailing_zeros);
}

void append_date(std::string& out, int64_t days) {
    const CivilDate date = civil_from_days(days);
    if (date.year < 0)
        out.push_back('-');
    else if (date.year > 9999)
        out.push_back('+');
    append_padded(out, static_cast<uint64_t>(date.year < 0 ? -date.year : date.year), 4);
    out.push_back('-');
    append_two(out, date.month);
    out.push_back('-');
    append_two(out, date.day);
}

void append_datetime(std::string& out, int64_t seconds, const TimeZone& zone) {
    const int64_t local = zone.to_local(seconds);
    const int64_t days = floor_divide(local, 86400);
    append_date(out, days);
    out.push_back(' ');
    append_clock(out, local - days * 86400);
}

void append_datetime64(std::string& out, int64_t ticks, int scale, const TimeZone& zone) {
    const int64_t unit = ticks_of_second(scale);
    const int64_t seconds = floor_divide(ticks, unit);
    append_datetime(out, seconds, zone);
    if (scale == 0) return;
    out.push_back('.');
    append_padded(out, static_cast<uint64_t>(floor_modulo(ticks, unit)), scale);
}

void append_time(std::string& out, int64_t seconds) {
    if (seconds < 0) out.push_back('-');
    append_clock(out, seconds < 0 ? -seconds : seconds);
}

void append_time64(std::string& out, int64_t ticks, int scale) {
    const int64_t unit = ticks_of_second(scale);
    if (ticks < 0) out.push_back('-');
    const uint64_t magnitude = ticks < 0 ? uint64_t{0} - static_cast<uint64_t>(ticks) : static_cast<uint64_t>(ticks);
    append_clock(out, static_cast<int64_t>(magnitude / static_cast<uint64_t>(unit)));
    if (scale == 0) return;
    out.push_back('.');
    append_padded(out, magnitude % static_cast<uint64_t>(unit), scale);
}

void append_uuid(std::string& out, UInt128 value) {
    constexpr char kHex[] = "0123456789abcdef";
    for (int digit = 0; digit < 32; ++digit) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20) out.push_back('-');
        out.push_back(kHex[static_cast<size_t>(value >> (124 - 4 * digit)) & 15]);
    }
}

void append_ipv4(std::string& out, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        append_uint(out, (value >> shift) & 255);
        if (shift) out.push_back('.');
    }
}

void append_ipv6(std::string& out, UInt128 value) {
    unsigned char bytes[16];
    for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(value >> (120 - 8 * i));
    char text[INET6_ADDRSTRLEN];
    out += inet_ntop(AF_INET6, bytes, text, sizeof(text));
}

void append_value(std::string& out, const DataType& type, const char* data, const TimeZone& zone,
                  bool decimal_trailing_zeros) {
    const auto zone_of = [&]() -> const TimeZone& {
        return type.time_zone().empty() ? zone : TimeZone::find(type.time_zone());
    };
    switch (type.id()) {
        case TypeId::Nullable:
        case TypeId::LowCardinality:
            return append_value(out, *type.child(), data, zone, decimal_trailing_zeros);
        case TypeId::Bool:
            out += *data ? "true" : "false";
            return;
        case TypeId::UInt8:
            return append_uint(out, uint64_t{read<uint8_t>(data)});
        case TypeId::UInt16:
            return append_uint(out, uint64_t{read<uint16_t>(data)});
        case TypeId::UInt32:
            return append_uint(out, uint64_t{read<uint32_t>(data)});
        case TypeId::UInt64:
            return append_uint(out, read<uint64_t>(data));
        case TypeId::UInt128:
            return append_wide(out, read<UInt128>(data));
        case TypeId::UInt256:
            out += to_string(read<UInt256>(data));
            return;
        case TypeId::Int8:
            return append_int(out, int64_t{read<int8_t>(data)});
        case TypeId::Int16:
            return append_int(out, int64_t{read<int16_t>(data)});
        case TypeId::Int32:
            return append_int(out, int64_t{read<int32_t>(data)});
        case TypeId::Interval:
        case TypeId::Int64:
            return append_int(out, read<int64_t>(data));
        case TypeId::Int128:
            return append_wide(out, read<Int128>(data));
        case TypeId::Int256:
            out += to_string(read<Int256>(data));
            return;
        case TypeId::Float32:
            return append_float(out, read<float>(data));
        case TypeId::Float64:
            return append_float(out, read<double>(data));
        case TypeId::Date:
            return append_date(out, read<uint16_t>(data));
        case TypeId::Date32:
            return append_date(out, read<int32_t>(data));
        case TypeId::DateTime:
            return append_datetime(out, read<uint32_t>(data), zone_of());
        case TypeId::DateTime64:
            return append_datetime64(out, read<int64_t>(data), type.scale(), zone_of());
        case TypeId::Time:
            return append_time(out, read<int32_t>(data));
        case TypeId::Time64:
            return append_time64(out, read<int64_t>(data), type.scale());
        case TypeId::UUID:
            return append_uuid(out, read<UInt128>(data));
        case TypeId::IPv4:
            return append_ipv4(out, read<uint32_t>(data));
        case TypeId::IPv6:
            return append_ipv6(out, read<UInt128>(data));
        case TypeId::Enum8:
            return append_enum(out, type, read<int8_t>(data));
        case TypeId::Enum16:
            return append_enum(out, type, read<int16_t>(data));
        case TypeId::Decimal:
            switch (type.physical()) {
                case Physical::Int32:
                    return append_decimal(out, Int128{read<int32_t>(data)}, type.scale(), decimal_trailing_zeros);
                case Physical::Int64:
                    return append_decimal(out, Int128{read<int64_t>(data)}, type.scale(), decimal_trailing_zeros);
                case Physical::Int128:
                    return append_decimal(out, read<Int128>(data), type.scale(), decimal_trailing_zeros);
                default:
                    return append_decimal(out, read<Int256>(data), type.scale(), decimal_trailing_zeros);
            }
        default:
            fail(ErrorCode::LOGICAL_ERROR, "append_value of {}", type.name());
    }
}

}  // namespace firn
