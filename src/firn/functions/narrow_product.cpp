#include "firn/functions/narrow_product.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "firn/base/cpu_features.h"

namespace firn::functions {

#ifdef __x86_64__
namespace {

constexpr int64_t kBias = int64_t{1} << 31;  // makes what fits into 32 bits a number of [0, 2^32)
/// Factors are looked at after so many rows, so that a column of large ones costs little.
constexpr size_t kBlock = 512;

__attribute__((target("avx2"))) bool multiply_avx2(const int64_t* a, const int64_t* b, size_t rows, int64_t* out) {
    const __m256i bias = _mm256_set1_epi64x(kBias), high = _mm256_set1_epi64x(~int64_t{0xFFFFFFFF});
    size_t i = 0;
    while (i + 4 <= rows) {
        __m256i seen = _mm256_setzero_si256();
        for (const size_t stop = i + kBlock < rows ? i + kBlock : rows; i + 4 <= stop; i += 4) {
            const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
            const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i));
            seen = _mm256_or_si256(seen, _mm256_or_si256(_mm256_add_epi64(x, bias), _mm256_add_epi64(y, bias)));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_mul_epi32(x, y));
        }
        if (!_mm256_testz_si256(seen, high)) return false;
    }
    for (; i < rows; ++i) {
        const auto x = static_cast<int32_t>(a[i]), y = static_cast<int32_t>(b[i]);
        if (x != a[i] || y != b[i]) return false;
        out[i] = int64_t{x} * y;
    }
    return true;
}

}  // namespace

bool multiply_narrow(const int64_t* a, const int64_t* b, size_t rows, int64_t* out) {
    return has_avx2() && multiply_avx2(a, b, rows, out);
}

#else

bool multiply_narrow(const int64_t*, const int64_t*, size_t, int64_t*) { return false; }

#endif

}  // namespace firn::functions
