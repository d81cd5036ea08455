// Integers wider than the machine's. 128 bits are the compiler's; 256 bits are here, two's complement, little-endian.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace firn {

using Int128 = __int128;
using UInt128 = unsigned __int128;

/// 256 bits, unsigned. Arithmetic wraps around.
struct UInt256 {
    uint64_t limbs[4] = {0, 0, 0, 0};  // least significant first

    constexpr UInt256() = default;
    constexpr UInt256(UInt128 value) : limbs{static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64), 0, 0} {}

    friend constexpr bool operator==(const UInt256&, const UInt256&) = default;
    friend constexpr std::strong_ordering operator<=>(const UInt256& a, const UInt256& b) {
        for (int i = 3; i >= 0; --i)
            if (a.limbs[i] != b.limbs[i]) return a.limbs[i] <=> b.limbs[i];
        return std::strong_ordering::equal;
    }
    UInt256 operator+(const UInt256& other) const;
    UInt256 operator-(const UInt256& other) const;
    UInt256 operator*(const UInt256& other) const;
    UInt256 operator~() const;
    UInt256 operator<<(unsigned bits) const;
    UInt256 operator>>(unsigned bits) const;
    /// Quotient and remainder; the divisor must not be zero.
    UInt256 divide(const UInt256& divisor, UInt256& remainder) const;
    double to_double() const;
};

/// 256 bits, signed two's complement. Arithmetic wraps around.
struct Int256 {
    UInt256 bits;

    constexpr Int256() = default;
    constexpr Int256(Int128 value) : bits(static_cast<UInt128>(value)) {
        if (value < 0) bits.limbs[2] = bits.limbs[3] = ~uint64_t{0};
    }
    explicit constexpr Int256(const UInt256& value) : bits(value) {}

    bool negative() const { return static_cast<int64_t>(bits.limbs[3]) < 0; }
    Int256 operator-() const { return Int256(~bits + UInt256(1)); }
    UInt256 magnitude() const { return negative() ? (-*this).bits : bits; }
    friend constexpr bool operator==(const Int256&, const Int256&) = default;
    friend constexpr std::strong_ordering operator<=>(const Int256& a, const Int256& b) {
        const auto high_a = static_cast<int64_t>(a.bits.limbs[3]), high_b = static_cast<int64_t>(b.bits.limbs[3]);
        if (high_a != high_b) return high_a <=> high_b;
        return a.bits <=> b.bits;
    }
    Int256 operator+(const Int256& other) const { return Int256(bits + other.bits); }
    Int256 operator-(const Int256& other) const { return Int256(bits - other.bits); }
    Int256 operator*(const Int256& other) const { return Int256(bits * other.bits); }
    /// Truncates toward zero; the divisor must not be zero.
    Int256 operator/(const Int256& divisor) const;
    Int256 operator%(const Int256& divisor) const;
    double to_double() const;
};

std::string to_string(Int128 value);
std::string to_string(UInt128 value);
std::string to_string(const Int256& value);
std::string to_string(const UInt256& value);
/// Decimal digits with an optional sign, all of the text. False where it is no number or does not fit.
bool parse_int(std::string_view text, UInt256& out);
bool parse_int(std::string_view text, Int256& out);

}  // namespace firn
