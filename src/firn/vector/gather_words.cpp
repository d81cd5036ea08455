#include "firn/vector/gather_words.h"

#include <algorithm>
#include <array>

#include <immintrin.h>

#include "firn/base/cpu_features.h"

namespace firn {
namespace {

constexpr size_t kMost = 64;        // entries that are kept in registers, eight in each
constexpr size_t kWorthRows = 256;  // fewer are not worth loading them

/// Entries: 16, 32 or 64. Returns how many rows it did, in whole vectors.
template <size_t Entries>
__attribute__((target("avx512f"))) size_t gather_few(const uint64_t* from, std::span<const uint32_t> rows,
                                                     uint64_t* out) {
    constexpr size_t kLanes = 8;
    __m512i table[Entries / kLanes];
    for (size_t i = 0; i < Entries / kLanes; ++i) table[i] = _mm512_loadu_si512(from + i * kLanes);
    size_t i = 0;
    for (; i + kLanes <= rows.size(); i += kLanes) {
        const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows.data() + i));
        const __m512i at = _mm512_maskz_cvtepu32_epi64(0xFF, narrow);
        __m512i found = _mm512_permutex2var_epi64(table[0], at, table[1]);
        if constexpr (Entries >= 32) {
            const __mmask8 in_upper = _mm512_test_epi64_mask(at, _mm512_set1_epi64(16));
            found = _mm512_mask_blend_epi64(in_upper, found, _mm512_permutex2var_epi64(table[2], at, table[3]));
        }
        if constexpr (Entries >= 64) {
            const __mmask8 in_upper = _mm512_test_epi64_mask(at, _mm512_set1_epi64(16));
            const __m512i upper = _mm512_mask_blend_epi64(in_upper, _mm512_permutex2var_epi64(table[4], at, table[5]),
                                                          _mm512_permutex2var_epi64(table[6], at, table[7]));
            found = _mm512_mask_blend_epi64(_mm512_test_epi64_mask(at, _mm512_set1_epi64(32)), found, upper);
        }
        _mm512_storeu_si512(out + i, found);
    }
    return i;
}

}  // namespace

void gather_words(std::span<const uint64_t> from, std::span<const uint32_t> rows, uint64_t* out) {
    size_t i = 0;
    if (from.size() <= kMost && rows.size() >= kWorthRows && has_avx512()) {
        std::array<uint64_t, kMost> all{};
        std::copy(from.begin(), from.end(), all.begin());
        i = from.size() <= 16   ? gather_few<16>(all.data(), rows, out)
            : from.size() <= 32 ? gather_few<32>(all.data(), rows, out)
                                : gather_few<64>(all.data(), rows, out);
    }
    for (; i < rows.size(); ++i) out[i] = from[rows[i]];
}

}  // namespace firn
