#include "firn/functions/substring_search.h"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "firn/base/cpu_features.h"

namespace firn::functions {
namespace {

/// Whether size >= 2 bytes are the needle's, the first and the last of which are known to be.
inline bool same_inside(const char* place, const char* needle, size_t size) {
    if (size <= 4) return size <= 2 || std::memcmp(place + 1, needle + 1, size - 2) == 0;
    if (size <= 8) {  // two words that overlap
        uint32_t a, b, c, d;
        std::memcpy(&a, place, 4);
        std::memcpy(&b, needle, 4);
        std::memcpy(&c, place + size - 4, 4);
        std::memcpy(&d, needle + size - 4, 4);
        return ((a ^ b) | (c ^ d)) == 0;
    }
    return std::memcmp(place + 1, needle + 1, size - 2) == 0;
}

#ifdef __x86_64__

/// Sixty-four places at a time: only those where the needle's first and last byte both are get compared. Loads are
/// masked, so that short texts and the ends of long ones need no way of their own.
__attribute__((target("avx512f,avx512bw"))) void mark_avx512(const StringRef* texts, size_t rows,
                                                             std::string_view needle, uint8_t* out) {
    const size_t size = needle.size();
    const __m512i first = _mm512_set1_epi8(needle.front()), last = _mm512_set1_epi8(needle.back());
    for (size_t row = 0; row < rows; ++row) {
        const char* data = texts[row].data;
        const size_t places = texts[row].size >= size ? texts[row].size - size + 1 : 0;
        uint8_t found = 0;
        for (size_t at = 0; at < places && !found; at += 64) {
            const size_t count = std::min<size_t>(places - at, 64);
            const __mmask64 there = ~uint64_t{0} >> (64 - count);
            const __mmask64 begins =
                _mm512_mask_cmpeq_epi8_mask(there, first, _mm512_maskz_loadu_epi8(there, data + at));
            uint64_t mask =
                _mm512_mask_cmpeq_epi8_mask(begins, last, _mm512_maskz_loadu_epi8(there, data + at + size - 1));
            for (; mask; mask &= mask - 1) {
                if (!same_inside(data + at + __builtin_ctzll(mask), needle.data(), size)) continue;
                found = 1;
                break;
            }
        }
        out[row] = found;
    }
}

#endif

}  // namespace

size_t find_substring(std::string_view haystack, std::string_view needle, size_t from) {
    const size_t size = needle.size();
    if (from > haystack.size() || haystack.size() - from < size) return std::string_view::npos;
    if (size == 0) return from;
    if (size == 1) return haystack.find(needle[0], from);
#ifdef __SSE2__
    // Sixteen places at a time: only those where the needle's first and last byte both are get compared.
    const __m128i first = _mm_set1_epi8(needle.front()), last = _mm_set1_epi8(needle.back());
    const char* data = haystack.data();
    const size_t places = haystack.size() - size + 1;
    if (places - from < 16) return haystack.find(needle, from);
    for (size_t at = from;; at = std::min(at + 16, places - 16)) {  // the last step looks at some places again
        const __m128i block_first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at));
        const __m128i block_last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at + size - 1));
        auto mask = static_cast<unsigned>(
            _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(first, block_first), _mm_cmpeq_epi8(last, block_last))));
        for (; mask; mask &= mask - 1) {
            const auto bit = static_cast<size_t>(__builtin_ctz(mask));
            if (same_inside(data + at + bit, needle.data(), size)) return at + bit;
        }
        if (at + 16 == places) return std::string_view::npos;
    }
#else
    return haystack.find(needle, from);
#endif
}

void mark_containing_portable(const StringRef* texts, size_t rows, std::string_view needle, uint8_t* out) {
    for (size_t i = 0; i < rows; ++i) out[i] = find_substring(texts[i].view(), needle) != std::string_view::npos;
}

void mark_containing(const StringRef* texts, size_t rows, std::string_view needle, uint8_t* out) {
#ifdef __x86_64__
    if (needle.size() >= 2 && has_avx512()) return mark_avx512(texts, rows, needle, out);
#endif
    mark_containing_portable(texts, rows, needle, out);
}

}  // namespace firn::functions
