// The scalars of a variant's JSON text.
#include <charconv>
#include <cmath>

#include "firn/file/parquet/variant.h"
#include "firn/types/value_text.h"

namespace firn::file::pq {
namespace {

/// As Java's toString: decimal from 10^-3 up to 10^7, else with an exponent; always with a digit behind the point.
template <typename T>
void append_java_float(std::string& out, T value) {
    if (!std::isfinite(value)) {
        out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
        return;
    }
    if (std::signbit(value)) out += '-';
    if (value == 0) {
        out += "0.0";
        return;
    }
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::scientific).ptr;
    const std::string_view all(text, static_cast<size_t>(end - text));
    const size_t e = all.find('e');
    int exponent = 0;
    std::from_chars(all.data() + e + (all[e + 1] == '+' ? 2 : 1), end, exponent);
    std::string digits(1, all[0]);
    if (e > 2) digits += all.substr(2, e - 2);
    if (exponent < -3 || exponent >= 7) {
        out += digits[0];
        out += '.';
        out += digits.size() > 1 ? std::string_view(digits).substr(1) : std::string_view("0");
        out += 'E';
        append_int(out, exponent);
    } else if (exponent < 0) {
        out += "0.";
        out.append(static_cast<size_t>(-exponent - 1), '0');
        out += digits;
    } else {
        const auto whole = static_cast<size_t>(exponent) + 1;
        if (digits.size() < whole) digits.append(whole - digits.size(), '0');
        out.append(digits, 0, whole);
        out += '.';
        out += digits.size() > whole ? std::string_view(digits).substr(whole) : std::string_view("0");
    }
}

/// Takes the zeros at the end of a fraction away, and the point with them.
void trim_fraction(std::string& out, size_t begin) {
    if (out.find('.', begin) == std::string::npos) return;
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
}

}  // namespace

void append_json_float(std::string& out, double value) { append_java_float(out, value); }
void append_json_float(std::string& out, float value) { append_java_float(out, value); }

void append_json_base64(std::string& out, std::string_view bytes) {
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out += '"';
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t n = std::min<size_t>(3, bytes.size() - i);
        uint32_t word = 0;
        for (size_t j = 0; j < 3; ++j) word = word << 8 | (j < n ? static_cast<uint8_t>(bytes[i + j]) : 0);
        for (size_t j = 0; j < 4; ++j) out += j <= n ? kDigits[word >> (18 - 6 * j) & 63] : '=';
    }
    out += '"';
}

void append_json_date(std::string& out, int64_t days) {
    out += '"';
    append_date(out, days);
    out += '"';
}

void append_json_time(std::string& out, int64_t ticks, int scale) {
    out += '"';
    const size_t begin = out.size();
    append_time64(out, ticks, scale);
    trim_fraction(out, begin);
    out += '"';
}

void append_json_timestamp(std::string& out, int64_t ticks, int scale, bool utc) {
    out += '"';
    const size_t begin = out.size();
    append_datetime64(out, ticks, scale, TimeZone::utc());
    trim_fraction(out, begin);
    if (utc) out += "+00:00";
    out += '"';
}

void append_json_uuid(std::string& out, UInt128 value) {
    out += '"';
    append_uuid(out, value);
    out += '"';
}

}  // namespace firn::file::pq
