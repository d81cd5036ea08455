#include "firn/base/wide_int.h"

#include <algorithm>

namespace firn {

UInt256 UInt256::operator+(const UInt256& other) const {
    UInt256 sum;
    UInt128 carry = 0;
    for (int i = 0; i < 4; ++i) {
        carry += UInt128{limbs[i]} + other.limbs[i];
        sum.limbs[i] = static_cast<uint64_t>(carry);
        carry >>= 64;
    }
    return sum;
}

UInt256 UInt256::operator~() const {
    UInt256 out;
    for (int i = 0; i < 4; ++i) out.limbs[i] = ~limbs[i];
    return out;
}

UInt256 UInt256::operator-(const UInt256& other) const { return *this + ~other + UInt256(1); }

UInt256 UInt256::operator*(const UInt256& other) const {
    UInt256 product;
    for (int i = 0; i < 4; ++i) {
        uint64_t carry = 0;
        for (int j = 0; i + j < 4; ++j) {
            const UInt128 term = UInt128{limbs[i]} * other.limbs[j] + product.limbs[i + j] + carry;
            product.limbs[i + j] = static_cast<uint64_t>(term);
            carry = static_cast<uint64_t>(term >> 64);
        }
    }
    return product;
}

UInt256 UInt256::operator<<(unsigned bits) const {
    UInt256 out;
    if (bits >= 256) return out;
    const int whole = static_cast<int>(bits / 64);
    const unsigned part = bits % 64;
    for (int i = 3; i >= whole; --i) {
        out.limbs[i] = limbs[i - whole] << part;
        if (part && i - whole > 0) out.limbs[i] |= limbs[i - whole - 1] >> (64 - part);
    }
    return out;
}

UInt256 UInt256::operator>>(unsigned bits) const {
    UInt256 out;
    if (bits >= 256) return out;
    const int whole = static_cast<int>(bits / 64);
    const unsigned part = bits % 64;
    for (int i = 0; i + whole < 4; ++i) {
        out.limbs[i] = limbs[i + whole] >> part;
        if (part && i + whole < 3) out.limbs[i] |= limbs[i + whole + 1] << (64 - part);
    }
    return out;
}

UInt256 UInt256::divide(const UInt256& divisor, UInt256& remainder) const {
    UInt256 quotient;
    remainder = UInt256();
    if ((divisor.limbs[1] | divisor.limbs[2] | divisor.limbs[3]) == 0) {
        // Divisors of 64 bits, as printing has them: one division a limb.
        UInt128 rest = 0;
        for (int i = 3; i >= 0; --i) {
            rest = rest << 64 | limbs[i];
            quotient.limbs[i] = static_cast<uint64_t>(rest / divisor.limbs[0]);
            rest %= divisor.limbs[0];
        }
        remainder.limbs[0] = static_cast<uint64_t>(rest);
        return quotient;
    }
    for (int bit = 255; bit >= 0; --bit) {
        remainder = remainder << 1;
        remainder.limbs[0] |= (limbs[bit / 64] >> (bit % 64)) & 1;
        if (remainder >= divisor) {
            remainder = remainder - divisor;
            quotient.limbs[bit / 64] |= uint64_t{1} << (bit % 64);
        }
    }
    return quotient;
}

double UInt256::to_double() const {
    double value = 0;
    for (int i = 3; i >= 0; --i) value = value * 18446744073709551616.0 + static_cast<double>(limbs[i]);
    return value;
}

Int256 Int256::operator/(const Int256& divisor) const {
    UInt256 rest;
    const Int256 quotient(magnitude().divide(divisor.magnitude(), rest));
    return negative() != divisor.negative() ? -quotient : quotient;
}

Int256 Int256::operator%(const Int256& divisor) const {
    UInt256 rest;
    magnitude().divide(divisor.magnitude(), rest);
    return negative() ? -Int256(rest) : Int256(rest);
}

double Int256::to_double() const { return negative() ? -magnitude().to_double() : bits.to_double(); }

std::string to_string(UInt128 value) {
    char text[40];
    char* place = text + sizeof(text);
    do *--place = static_cast<char>('0' + static_cast<int>(value % 10));
    while (value /= 10);
    return {place, text + sizeof(text)};
}

std::string to_string(Int128 value) {
    return value < 0 ? "-" + to_string(~static_cast<UInt128>(value) + 1) : to_string(static_cast<UInt128>(value));
}

std::string to_string(const UInt256& value) {
    std::string text;
    UInt256 rest = value;
    constexpr int kDigitsAtOnce = 19;
    const UInt256 power(UInt128{10'000'000'000'000'000'000u});
    do {
        UInt256 digits;
        rest = rest.divide(power, digits);
        const bool is_last = rest == UInt256();
        uint64_t part = digits.limbs[0];
        for (int i = 0; is_last ? part || text.empty() : i < kDigitsAtOnce; ++i, part /= 10)
            text.push_back(static_cast<char>('0' + part % 10));
    } while (rest != UInt256());
    std::reverse(text.begin(), text.end());
    return text;
}

std::string to_string(const Int256& value) {
    return value.negative() ? "-" + to_string(value.magnitude()) : to_string(value.bits);
}

bool parse_int(std::string_view text, UInt256& out) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    if (text.empty()) return false;
    UInt256 value;
    const UInt256 limit = ~UInt256();
    UInt256 rest;
    const UInt256 tenth = limit.divide(UInt256(10), rest);
    for (char c : text) {
        if (c < '0' || c > '9' || value > tenth) return false;
        const UInt256 next = value * UInt256(10) + UInt256(static_cast<UInt128>(c - '0'));
        if (next < value) return false;
        value = next;
    }
    out = value;
    return true;
}

bool parse_int(std::string_view text, Int256& out) {
    const bool minus = !text.empty() && text.front() == '-';
    if (minus) text.remove_prefix(1);
    if (minus && !text.empty() && text.front() == '+') return false;
    UInt256 magnitude;
    if (!parse_int(text, magnitude)) return false;
    const UInt256 edge = UInt256(1) << 255;
    if (minus ? magnitude > edge : magnitude >= edge) return false;
    out = minus ? -Int256(magnitude) : Int256(magnitude);
    return true;
}

}  // namespace firn
