// What the standard's traits and casts do not do for 128 and 256 bits.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "firn/base/wide_int.h"

namespace firn {

template <typename T>
inline constexpr bool kIs256 = std::is_same_v<T, Int256> || std::is_same_v<T, UInt256>;
template <typename T>
inline constexpr bool kIs128 = std::is_same_v<T, Int128> || std::is_same_v<T, UInt128>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsSigned = std::is_signed_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Int256>;

/// Float to integer of up to 64 bits as x86 does it (and so ClickHouse): out of range gives the type's least value after
/// the conversion through 64 bits. Never undefined behaviour.
template <typename To, typename From>
To float_to_integer(From value) {
    constexpr double kTwo63 = 9223372036854775808.0;
    const auto wide = static_cast<double>(value);
    if constexpr (std::is_same_v<To, uint64_t>) {
        if (wide >= kTwo63 && wide < 2 * kTwo63) return static_cast<uint64_t>(wide);
    }
    if constexpr (sizeof(To) <= 8) {
        if (!(wide >= -kTwo63 && wide < kTwo63)) {
            if constexpr (sizeof(To) == 4 && std::is_signed_v<To>) return std::numeric_limits<To>::min();
            return static_cast<To>(static_cast<uint64_t>(1) << 63);
        }
        if constexpr (sizeof(To) == 4 && std::is_signed_v<To>)
            if (wide >= 2147483648.0 || wide <= -2147483649.0) return std::numeric_limits<To>::min();
        return static_cast<To>(static_cast<int64_t>(wide));
    } else {
        constexpr double kTwo127 = kTwo63 * kTwo63 * 2;
        if constexpr (std::is_same_v<To, UInt128>) {
            if (wide >= kTwo127 && wide < 2 * kTwo127) return static_cast<UInt128>(wide);
        }
        if (!(wide >= -kTwo127 && wide < kTwo127)) return static_cast<To>(static_cast<UInt128>(1) << 127);
        return static_cast<To>(static_cast<Int128>(wide));
    }
}

inline UInt256 float_to_256(double value) {
    const bool negative = value < 0;
    double rest = std::floor(std::fabs(value));
    UInt256 out;
    if (!(rest < 1.15792089237316195e77)) return UInt256(static_cast<UInt128>(1)) << 255;
    for (int limb = 3; limb >= 0; --limb) {
        const double unit = std::ldexp(1.0, 64 * limb);
        const double part = std::floor(rest / unit);
        out.limbs[limb] = part >= 18446744073709551616.0 ? ~uint64_t{0} : static_cast<uint64_t>(part);
        rest -= static_cast<double>(out.limbs[limb]) * unit;
    }
    return negative ? (-Int256(out)).bits : out;
}

/// static_cast between any two of the value types: integers wrap around, floats round.
template <typename To, typename From>
constexpr To number_cast(const From& value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else if constexpr (kIs256<From>) {
        if constexpr (std::is_same_v<To, Int256>)
            return Int256(value);
        else if constexpr (std::is_same_v<To, UInt256>)
            return value.bits;
        else if constexpr (kIsFloat<To>)
            return static_cast<To>(value.to_double());
        else {
            const UInt256* bits;
            if constexpr (std::is_same_v<From, Int256>)
                bits = &value.bits;
            else
                bits = &value;
            return static_cast<To>((static_cast<UInt128>(bits->limbs[1]) << 64) | bits->limbs[0]);
        }
    } else if constexpr (kIs256<To>) {
        if constexpr (kIsFloat<From>)
            return number_cast<To>(float_to_256(static_cast<double>(value)));
        else if constexpr (kIsSigned<From>)
            return number_cast<To>(Int256(static_cast<Int128>(value)));
        else
            return number_cast<To>(UInt256(static_cast<UInt128>(value)));
    } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
        return float_to_integer<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

/// a < b with NaN behind all other numbers: an order that may sort, where `<` alone may not.
inline bool less_nan_last(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

template <typename T>
T number_min() {
    if constexpr (std::is_same_v<T, Int128>)
        return static_cast<Int128>(static_cast<UInt128>(1) << 127);
    else if constexpr (std::is_same_v<T, Int256>)
        return Int256(UInt256(static_cast<UInt128>(1)) << 255);
    else if constexpr (std::is_same_v<T, UInt128> || std::is_same_v<T, UInt256>)
        return T();
    else
        return std::numeric_limits<T>::lowest();
}
template <typename T>
T number_max() {
    if constexpr (std::is_same_v<T, Int128>)
        return static_cast<Int128>(~(static_cast<UInt128>(1) << 127));
    else if constexpr (std::is_same_v<T, UInt128>)
        return ~static_cast<UInt128>(0);
    else if constexpr (std::is_same_v<T, Int256>)
        return Int256(~(UInt256(static_cast<UInt128>(1)) << 255));
    else if constexpr (std::is_same_v<T, UInt256>)
        return ~UInt256();
    else
        return std::numeric_limits<T>::max();
}

/// Whether an integer or float keeps its exact value in the other type; NaN and infinities only in floats.
template <typename To, typename From>
bool number_fits(const From& value) {
    if constexpr (std::is_same_v<To, From>) {
        return true;
    } else if constexpr (kIsFloat<From>) {
        if (std::isnan(value) || std::isinf(value)) return kIsFloat<To>;
        const To there = number_cast<To>(value);
        if constexpr (!kIsFloat<To> && !kIsSigned<To>)
            if (value < 0) return false;
        return number_cast<double>(there) == static_cast<double>(value);
    } else if constexpr (kIsFloat<To>) {
        const To there = number_cast<To>(value);
        const auto limit = std::ldexp(1.0, static_cast<int>(sizeof(From)) * 8 - (kIsSigned<From> ? 1 : 0));
        if (static_cast<double>(there) >= limit) return false;
        return number_cast<From>(there) == value;
    } else {
        const To there = number_cast<To>(value);
        const bool was_negative = kIsSigned<From> && value < From();
        const bool is_negative = kIsSigned<To> && there < To();
        return was_negative == is_negative && number_cast<From>(there) == value;
    }
}

}  // namespace firn
