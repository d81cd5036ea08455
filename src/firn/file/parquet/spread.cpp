// Dense values to their places among nulls, and byte streams to values: the shuffles of bit_unpack.h.
#include <array>
#include <bit>

#include <immintrin.h>

#include "firn/base/cpu_features.h"
#include "firn/file/parquet/bit_unpack.h"

namespace firn::file::pq {
namespace {

/// For each mask of eight places: which of the next eight values goes where; the top bit marks places without one.
constexpr auto kPlaces8 = [] {
    std::array<std::array<uint8_t, 8>, 256> table{};
    for (size_t mask = 0; mask < 256; ++mask) {
        uint8_t next = 0;
        for (size_t place = 0; place < 8; ++place) table[mask][place] = mask >> place & 1 ? next++ : uint8_t{0x80};
    }
    return table;
}();

unsigned mask_of(const uint8_t* valid) {
    uint64_t word;
    std::memcpy(&word, valid, 8);
    return static_cast<unsigned>((word * 0x0102040810204080u) >> 56);
}

template <typename T>
void spread_portable(const T* values, const uint8_t* valid, size_t n, T fill, T* out) {
    for (size_t i = 0; i < n; ++i) {
        out[i] = valid[i] ? *values : fill;
        values += valid[i];
    }
}

__attribute__((target("avx2"))) void spread_avx2(const uint32_t* values, const uint8_t* valid, size_t n, uint32_t fill,
                                                 uint32_t* out) {
    const __m256i fills = _mm256_set1_epi32(static_cast<int>(fill));
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const unsigned mask = mask_of(valid + i);
        const __m256i places =
            _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPlaces8[mask].data())));
        const __m256i moved =
            _mm256_permutevar8x32_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)), places);
        const __m256i chosen = _mm256_castps_si256(
            _mm256_blendv_ps(_mm256_castsi256_ps(moved), _mm256_castsi256_ps(fills), _mm256_castsi256_ps(places)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), chosen);
        values += __builtin_popcount(mask);
    }
    spread_portable(values, valid + i, n - i, fill, out + i);
}

/// The same for pairs of 32-bit halves.
constexpr auto kPlaces4 = [] {
    std::array<std::array<int8_t, 8>, 16> table{};
    for (size_t mask = 0; mask < 16; ++mask) {
        int8_t next = 0;
        for (size_t place = 0; place < 4; ++place) {
            const bool there = mask >> place & 1;
            table[mask][2 * place] = there ? static_cast<int8_t>(2 * next) : int8_t{-128};
            table[mask][2 * place + 1] = there ? static_cast<int8_t>(2 * next + 1) : int8_t{-128};
            next = static_cast<int8_t>(next + there);
        }
    }
    return table;
}();

__attribute__((target("avx2"))) void spread_avx2(const uint64_t* values, const uint8_t* valid, size_t n, uint64_t fill,
                                                 uint64_t* out) {
    const __m256i fills = _mm256_set1_epi64x(static_cast<int64_t>(fill));
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const unsigned both = mask_of(valid + i);
        for (size_t half = 0; half < 2; ++half) {
            const unsigned mask = both >> (4 * half) & 15;
            const __m256i places =
                _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPlaces4[mask].data())));
            const __m256i moved =
                _mm256_permutevar8x32_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)), places);
            const __m256i chosen = _mm256_castps_si256(
                _mm256_blendv_ps(_mm256_castsi256_ps(moved), _mm256_castsi256_ps(fills), _mm256_castsi256_ps(places)));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 4 * half), chosen);
            values += __builtin_popcount(mask);
        }
    }
    spread_portable(values, valid + i, n - i, fill, out + i);
}

template <size_t Width>
void join_scalar(const uint8_t* const* streams, size_t from, size_t n, char* out) {
    for (size_t i = from; i < n; ++i) {
        uint64_t value = 0;
        for (size_t byte = 0; byte < Width; ++byte) value |= static_cast<uint64_t>(streams[byte][i]) << (8 * byte);
        std::memcpy(out + i * Width, &value, Width);
    }
}

/// Sixteen values at a time: interleaving stream k with stream k + Width/2, over and over, brings the bytes in order.
template <size_t Width>
void join(const uint8_t* const* streams, size_t n, char* out) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i now[Width], next[Width];
        for (size_t k = 0; k < Width; ++k) now[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(streams[k] + i));
        for (size_t round = 1; round < Width; round *= 2) {
            for (size_t k = 0; k < Width / 2; ++k) {
                next[2 * k] = _mm_unpacklo_epi8(now[k], now[k + Width / 2]);
                next[2 * k + 1] = _mm_unpackhi_epi8(now[k], now[k + Width / 2]);
            }
            for (size_t k = 0; k < Width; ++k) now[k] = next[k];
        }
        for (size_t k = 0; k < Width; ++k)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * Width + 16 * k), now[k]);
    }
    join_scalar<Width>(streams, i, n, out);
}

}  // namespace

void spread_values(const uint32_t* values, const uint8_t* valid, size_t n, uint32_t fill, uint32_t* out) {
    has_avx2() ? spread_avx2(values, valid, n, fill, out) : spread_portable(values, valid, n, fill, out);
}

void spread_values(const uint64_t* values, const uint8_t* valid, size_t n, uint64_t fill, uint64_t* out) {
    has_avx2() ? spread_avx2(values, valid, n, fill, out) : spread_portable(values, valid, n, fill, out);
}

void join_streams(const uint8_t* const* streams, size_t width, size_t n, char* out) {
    width == 4 ? join<4>(streams, n, out) : join<8>(streams, n, out);
}

}  // namespace firn::file::pq
