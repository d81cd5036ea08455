// What this processor can do beyond the baseline that everything is compiled for.
#pragma once

namespace firn {

#ifdef __x86_64__

/// AVX2, which all 256-bit kernels need.
inline bool has_avx2() {
    static const bool has = __builtin_cpu_supports("avx2");
    return has;
}

/// The parts of AVX-512 that kernels use: foundation, bytes and words, doublewords and quadwords.
inline bool has_avx512() {
    static const bool has =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return has;
}

#else

inline bool has_avx2() { return false; }
inline bool has_avx512() { return false; }

#endif

}  // namespace firn
