#include "firn/functions/substring_search.h"

#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace firn::functions {

size_t find_substring(std::string_view haystack, std::string_view needle, size_t from) {
    const size_t size = needle.size();
    if (from > haystack.size() || haystack.size() - from < size) return std::string_view::npos;
    if (size == 0) return from;
    if (size == 1) return haystack.find(needle[0], from);
    size_t at = from;
#ifdef __SSE2__
    // Sixteen places at a time: only those where the needle's first and last byte both are get compared.
    const __m128i first = _mm_set1_epi8(needle.front()), last = _mm_set1_epi8(needle.back());
    const char* data = haystack.data();
    for (; at + size + 15 <= haystack.size(); at += 16) {
        const __m128i block_first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at));
        const __m128i block_last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at + size - 1));
        auto mask = static_cast<unsigned>(
            _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(first, block_first), _mm_cmpeq_epi8(last, block_last))));
        while (mask) {
            const auto bit = static_cast<size_t>(__builtin_ctz(mask));
            if (size <= 2 || std::memcmp(data + at + bit + 1, needle.data() + 1, size - 2) == 0) return at + bit;
            mask &= mask - 1;
        }
    }
#endif
    return haystack.find(needle, at);
}

}  // namespace firn::functions
