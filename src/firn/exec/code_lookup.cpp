#include "firn/exec/code_lookup.h"

#include <algorithm>

#include <immintrin.h>

#include "firn/base/cpu_features.h"

namespace firn::exec {
namespace {

constexpr size_t kLanes = 16;       // codes that are looked at together
constexpr size_t kLeastWords = 16;  // what is loaded of an EntrySet at once
constexpr size_t kSlack = 64;       // bytes behind a table that may be read

/// Writes to `out` the rows whose bit is set, whole vectors at a time, moving it; returns how many rows it looked at.
template <bool Some>
__attribute__((target("avx512f"))) size_t select_avx512(const std::vector<uint32_t>& words, const uint32_t* codes,
                                                        const uint32_t* rows, size_t count, uint32_t*& out) {
    const __m512i first_words = _mm512_loadu_si512(words.data());
    const bool few = words.size() == kLeastWords;
    const __m512i one = _mm512_set1_epi32(1), low = _mm512_set1_epi32(31);
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        if constexpr (Some) at = _mm512_loadu_si512(rows + i);
        const __m512i code = Some ? _mm512_i32gather_epi32(at, codes, 4) : _mm512_loadu_si512(codes + i);
        const __m512i which = _mm512_srli_epi32(code, 5);
        const __m512i word =
            few ? _mm512_permutexvar_epi32(which, first_words) : _mm512_i32gather_epi32(which, words.data(), 4);
        const __mmask16 in = _mm512_test_epi32_mask(word, _mm512_sllv_epi32(one, _mm512_and_si512(code, low)));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(in, at));
        out += __builtin_popcount(in);
        if constexpr (!Some) at = _mm512_add_epi32(at, _mm512_set1_epi32(kLanes));
    }
    return i;
}

/// Combinations of at most 32 are looked up in two registers. Returns how many rows it did.
__attribute__((target("avx512f"))) size_t look_up_avx512(const uint8_t* table, size_t combinations, const uint32_t* low,
                                                         const uint32_t* high, uint32_t by, size_t rows, uint8_t* out) {
    const __m512i scale = _mm512_set1_epi32(static_cast<int>(by));
    const __m512i first = _mm512_maskz_cvtepu8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
    const __m512i second =
        _mm512_maskz_cvtepu8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(table + kLanes)));
    const bool few = combinations <= 2 * kLanes;
    size_t i = 0;
    for (; i + kLanes <= rows; i += kLanes) {
        __m512i at = _mm512_loadu_si512(low + i);
        if (high) at = _mm512_add_epi32(at, _mm512_mullo_epi32(_mm512_loadu_si512(high + i), scale));
        const __m512i found = few ? _mm512_permutex2var_epi32(first, at, second) : _mm512_i32gather_epi32(at, table, 1);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm512_cvtepi32_epi8(found));
    }
    return i;
}

}  // namespace

EntrySet::EntrySet(size_t entries) : words_(std::max(kLeastWords, entries / 32 + 1)) {}

template <bool Some>
Selection EntrySet::select(const uint32_t* codes, const uint32_t* rows, size_t count) const {
    Selection selected(count + kLanes);
    uint32_t* out = selected.data();
    size_t i = has_avx512() ? select_avx512<Some>(words_, codes, rows, count, out) : 0;
    for (; i < count; ++i) {
        const uint32_t row = Some ? rows[i] : static_cast<uint32_t>(i);
        *out = row;
        out += has(codes[row]);
    }
    selected.resize(static_cast<size_t>(out - selected.data()));
    return selected;
}

Selection EntrySet::rows_in(const uint32_t* codes, size_t rows) const { return select<false>(codes, nullptr, rows); }

Selection EntrySet::rows_in(const uint32_t* codes, std::span<const uint32_t> rows) const {
    return select<true>(codes, rows.data(), rows.size());
}

void CombinationTable::assign(size_t combinations, uint8_t byte) {
    combinations_ = combinations;
    bytes_.assign(combinations + kSlack, byte);
}

void CombinationTable::look_up(const uint32_t* low, const uint32_t* high, uint32_t by, size_t rows,
                               uint8_t* out) const {
    const uint8_t* const table = bytes_.data();
    size_t i = has_avx512() ? look_up_avx512(table, combinations_, low, high, by, rows, out) : 0;
    if (high)
        for (; i < rows; ++i) out[i] = table[low[i] + high[i] * by];
    else
        for (; i < rows; ++i) out[i] = table[low[i]];
}

}  // namespace firn::exec
