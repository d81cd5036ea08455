#include "firn/sql/number.h"

#include <charconv>
#include <cmath>

namespace firn::sql {
namespace {

bool all_digits(std::string_view text) {
    for (char c : text) {
        if (c < '0' || c > '9') return false;
    }
    return !text.empty();
}

/// 0x1.8p1, or an integer too wide for 64 bits.
bool parse_hex_float(std::string_view digits, double& value) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::hex);
    return error == std::errc() && end == digits.data() + digits.size();
}

void set_integer(uint64_t value, bool negative, Literal& out) {
    if (!negative || value == 0) {
        out.kind = Literal::Kind::UInt64;
        out.uint64 = value;
    } else if (value <= uint64_t{1} << 63) {
        out.kind = Literal::Kind::Int64;
        out.int64 = static_cast<int64_t>(~value + 1);
    } else {
        out.kind = Literal::Kind::Float64;
        out.float64 = -static_cast<double>(value);
    }
}

}  // namespace

bool read_number(std::string_view token, bool negative, Literal& out) {
    std::string digits;
    for (char c : token) {
        if (c != '_') digits += c;
    }
    out.text = (negative ? "-" : "") + digits;
    const bool prefixed = digits.size() > 2 && digits[0] == '0';
    uint64_t integer = 0;
    int base = 10;
    std::string_view body = digits;
    if (prefixed && (digits[1] | 0x20) == 'x') base = 16;
    if (prefixed && (digits[1] | 0x20) == 'b') base = 2;
    if (base != 10) body.remove_prefix(2);
    if (base != 10 || all_digits(body)) {
        const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), integer, base);
        if (error == std::errc() && end == body.data() + body.size()) {
            set_integer(integer, negative, out);
            return true;
        }
        if (base == 2) return false;
    }
    double value = 0;
    if (base == 16) {
        if (!parse_hex_float(body, value)) return false;
    } else {
        const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
        if (end != body.data() + body.size()) return false;
        if (error == std::errc::result_out_of_range) {
            // Too small is zero; too large is no number.
            const size_t exponent = body.find_first_of("eE");
            if (exponent == std::string_view::npos || body.substr(exponent + 1, 1) != "-") return false;
            value = 0;
        } else if (error != std::errc()) {
            return false;
        }
    }
    if (!std::isfinite(value)) return false;
    out.kind = Literal::Kind::Float64;
    out.float64 = negative ? -value : value;
    return true;
}

std::string format_float(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char buffer[64];
    const auto scientific = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
    const std::string_view shortest(buffer, static_cast<size_t>(scientific.ptr - buffer));
    const size_t mark = shortest.find('e');
    int exponent = 0;
    const char* exponent_begin = shortest.data() + mark + 1 + (shortest[mark + 1] == '+' ? 1 : 0);
    std::from_chars(exponent_begin, shortest.data() + shortest.size(), exponent);
    if (value == 0 || (exponent >= -6 && exponent < 21)) {
        char plain[64];
        const auto fixed = std::to_chars(plain, plain + sizeof(plain), value, std::chars_format::fixed);
        std::string out(plain, fixed.ptr);
        if (out.find('.') != std::string::npos) return out;
        // to_chars prints all digits of a large integer exactly; the shortest ones followed by zeros are wanted.
        std::string digits;
        for (char c : shortest.substr(0, mark)) {
            if (c >= '0' && c <= '9') digits += c;
        }
        if (value != 0) digits.resize(static_cast<size_t>(exponent) + 1, '0');
        return (std::signbit(value) ? "-" : "") + digits + ".";
    }
    return std::string(shortest.substr(0, mark)) + "e" + std::to_string(exponent);
}

}  // namespace firn::sql
