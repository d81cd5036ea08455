// Values picked out of others of which most are wanted.
#include <immintrin.h>

#include "firn/base/cpu_features.h"
#include "firn/file/parquet/bit_unpack.h"

namespace firn::file::pq {
namespace {

template <size_t Width>
void pick_portable(const uint8_t* from, const uint32_t* rows, size_t m, uint8_t* out) {
    for (size_t i = 0; i < m; ++i) std::memcpy(out + i * Width, from + rows[i] * Width, Width);
}

/// Sixteen values that lie among the next thirty-two of `from` are shuffled out of them at once.
__attribute__((target("avx512f"))) void pick4_avx512(const uint8_t* from, size_t n, const uint32_t* rows, size_t m,
                                                     uint8_t* out) {
    size_t i = 0;
    for (; i + 16 <= m && rows[i] + size_t{32} <= n; i += 16) {
        const uint32_t first = rows[i];
        if (rows[i + 15] - first >= 32) {
            pick_portable<4>(from, rows + i, 16, out + i * 4);
            continue;
        }
        const __m512i places =
            _mm512_sub_epi32(_mm512_loadu_si512(rows + i), _mm512_set1_epi32(static_cast<int>(first)));
        const uint8_t* const at = from + first * size_t{4};
        _mm512_storeu_si512(out + i * 4,
                            _mm512_permutex2var_epi32(_mm512_loadu_si512(at), places, _mm512_loadu_si512(at + 64)));
    }
    pick_portable<4>(from, rows + i, m - i, out + i * 4);
}

/// The same for eight values among sixteen.
__attribute__((target("avx512f"))) void pick8_avx512(const uint8_t* from, size_t n, const uint32_t* rows, size_t m,
                                                     uint8_t* out) {
    size_t i = 0;
    for (; i + 8 <= m && rows[i] + size_t{16} <= n; i += 8) {
        const uint32_t first = rows[i];
        if (rows[i + 7] - first >= 16) {
            pick_portable<8>(from, rows + i, 8, out + i * 8);
            continue;
        }
        const __m512i wide = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows + i)));
        const __m512i places = _mm512_sub_epi64(wide, _mm512_set1_epi64(first));
        const uint8_t* const at = from + first * size_t{8};
        _mm512_storeu_si512(out + i * 8,
                            _mm512_permutex2var_epi64(_mm512_loadu_si512(at), places, _mm512_loadu_si512(at + 64)));
    }
    pick_portable<8>(from, rows + i, m - i, out + i * 8);
}

}  // namespace

void pick_values4(const uint8_t* from, size_t n, const uint32_t* rows, size_t m, uint8_t* out) {
    has_avx512() && m > n / 2 ? pick4_avx512(from, n, rows, m, out) : pick_portable<4>(from, rows, m, out);
}

void pick_values8(const uint8_t* from, size_t n, const uint32_t* rows, size_t m, uint8_t* out) {
    has_avx512() && m > n / 2 ? pick8_avx512(from, n, rows, m, out) : pick_portable<8>(from, rows, m, out);
}

}  // namespace firn::file::pq
