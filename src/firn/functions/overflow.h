// Arithmetic of signed integers that says whether the result overflows; 256 bits, which compilers know nothing of, too.
#pragma once

#include <type_traits>

#include "firn/types/number.h"

namespace firn::functions {

template <typename T>
bool add_overflows(T a, T b, T& out) {
    return __builtin_add_overflow(a, b, &out);
}
template <typename T>
bool subtract_overflows(T a, T b, T& out) {
    return __builtin_sub_overflow(a, b, &out);
}
template <typename T>
bool multiply_overflows(T a, T b, T& out) {
    return __builtin_mul_overflow(a, b, &out);
}

template <>
inline bool add_overflows(Int256 a, Int256 b, Int256& out) {
    out = a + b;
    return a.negative() == b.negative() && out.negative() != a.negative();
}
template <>
inline bool subtract_overflows(Int256 a, Int256 b, Int256& out) {
    out = a - b;
    return a.negative() != b.negative() && out.negative() != a.negative();
}
template <>
inline bool multiply_overflows(Int256 a, Int256 b, Int256& out) {
    out = a * b;
    if (a == Int256() || b == Int256()) return false;
    return out.negative() != (a.negative() != b.negative()) || !(out / b == a);
}

/// The sum and the difference of two numbers; those of integers wrap around. Compilers make vector code of them.
template <typename T>
T add_wrapping(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 8)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else if constexpr (std::is_same_v<T, Int128>)
        return static_cast<Int128>(static_cast<UInt128>(a) + static_cast<UInt128>(b));
    else
        return a + b;
}
template <typename T>
T subtract_wrapping(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 8)
        return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    else if constexpr (std::is_same_v<T, Int128>)
        return static_cast<Int128>(static_cast<UInt128>(a) - static_cast<UInt128>(b));
    else
        return a - b;
}

}  // namespace firn::functions
