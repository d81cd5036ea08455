#include "firn/file/parquet/bit_unpack.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <immintrin.h>

#include "firn/base/cpu_features.h"

namespace firn::file::pq {
namespace {

using Unpack8 = void (*)(const uint8_t* in, uint32_t* out);

/// Eight values of Width bits; reads up to 8 bytes behind their last.
template <int Width>
void unpack8(const uint8_t* in, uint32_t* out) {
    constexpr uint64_t mask = Width == 32 ? 0xFFFFFFFFu : (uint64_t{1} << Width) - 1;
    for (int i = 0; i < 8; ++i) {
        uint64_t word;
        std::memcpy(&word, in + i * Width / 8, 8);
        out[i] = static_cast<uint32_t>((word >> (i * Width % 8)) & mask);
    }
}

template <int... Widths>
constexpr std::array<Unpack8, sizeof...(Widths)> unpackers(std::integer_sequence<int, Widths...>) {
    return {unpack8<Widths>...};
}
constexpr auto kUnpack8 = unpackers(std::make_integer_sequence<int, 33>());

/// Widths up to this have every value of a group inside of four bytes, as the vector kernel needs.
constexpr int kMaxVectorWidth = 25;

struct ShuffleTable {
    alignas(32) uint8_t bytes[32];
    alignas(32) uint32_t shifts[8];
};

constexpr ShuffleTable shuffle_table(int width) {
    ShuffleTable table{};
    for (int i = 0; i < 8; ++i) {
        // The upper half is loaded from byte 4*width/8 on.
        const int base = i < 4 ? 0 : 4 * width / 8 * 8;
        const int bit = i * width - base;
        table.shifts[i] = static_cast<uint32_t>(bit % 8);
        for (int byte = 0; byte < 4; ++byte) table.bytes[i * 4 + byte] = static_cast<uint8_t>(bit / 8 + byte);
    }
    return table;
}

constexpr auto kShuffles = [] {
    std::array<ShuffleTable, kMaxVectorWidth + 1> tables{};
    for (int width = 0; width <= kMaxVectorWidth; ++width) tables[static_cast<size_t>(width)] = shuffle_table(width);
    return tables;
}();

/// Unpacks groups of eight for as long as 16 bytes can be read at once; returns how many groups that were.
__attribute__((target("avx2"))) size_t unpack_groups_avx2(const uint8_t* in, const uint8_t* end, size_t groups,
                                                          int width, uint32_t* out) {
    const ShuffleTable& table = kShuffles[static_cast<size_t>(width)];
    const __m256i shuffle = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.bytes));
    const __m256i shifts = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.shifts));
    const __m256i mask = _mm256_set1_epi32(static_cast<int>((1u << width) - 1));
    const size_t half = static_cast<size_t>(4 * width / 8);
    const auto bytes = static_cast<size_t>(end - in);
    const size_t stride = static_cast<size_t>(width);
    if (bytes < half + 16) return 0;
    const size_t readable = stride ? (bytes - half - 16) / stride + 1 : groups;
    const size_t count = std::min(groups, readable);
    for (size_t group = 0; group < count; ++group, in += stride, out += 8) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + half));
        __m256i words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), shuffle);
        words = _mm256_and_si256(_mm256_srlv_epi32(words, shifts), mask);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), words);
    }
    return count;
}

/// Runs of headers of one byte: up to 63 repeated values, or 63 groups of eight packed ones.
__attribute__((target("avx2"))) size_t short_runs_avx2(const uint8_t*& in, const uint8_t* end, int width, size_t n,
                                                       uint32_t* out, uint32_t& greatest) {
    const ShuffleTable& table = kShuffles[static_cast<size_t>(width)];
    const __m256i shuffle = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.bytes));
    const __m256i shifts = _mm256_load_si256(reinterpret_cast<const __m256i*>(table.shifts));
    const __m256i mask = _mm256_set1_epi32(static_cast<int>((1u << width) - 1));
    __m256i most = _mm256_set1_epi32(static_cast<int>(greatest));
    const auto stride = static_cast<size_t>(width);
    const size_t half = 4 * stride / 8, value_bytes = (stride + 7) / 8;
    constexpr size_t kSlack = 32;  // what the loads below may read beyond a run
    const uint32_t spare_bits = value_bytes == 4 ? 0 : ((1u << (8 * value_bytes)) - 1) & ~((1u << width) - 1);
    const uint8_t* at = in;
    size_t done = 0;
    while (static_cast<size_t>(end - at) > kSlack && *at < 0x80) {
        const size_t length = *at >> 1;
        if (*at & 1) {
            if (length * 8 > n - done || static_cast<size_t>(end - at) < 1 + length * stride + kSlack) break;
            ++at;
            for (size_t group = 0; group < length; ++group, at += stride, done += 8) {
                const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
                const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + half));
                __m256i words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), shuffle);
                words = _mm256_and_si256(_mm256_srlv_epi32(words, shifts), mask);
                most = _mm256_max_epu32(most, words);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + done), words);
            }
        } else {
            if (length + 8 > n - done) break;  // whole vectors are written
            uint32_t value;
            std::memcpy(&value, at + 1, 4);
            if (value & spare_bits) break;  // wider than it may be: the slower reader refuses it
            const __m256i words = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(value)), mask);
            if (length) most = _mm256_max_epu32(most, words);
            for (size_t i = 0; i < length; i += 8)
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + done + i), words);
            at += 1 + value_bytes;
            done += length;
        }
    }
    in = at;
    uint32_t lanes[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), most);
    greatest = *std::max_element(std::begin(lanes), std::end(lanes));
    return done;
}

void unpack_groups_portable(const uint8_t* in, const uint8_t* end, size_t groups, int width, uint32_t* out) {
    const Unpack8 unpack = kUnpack8[static_cast<size_t>(width)];
    for (; groups && static_cast<size_t>(end - in) >= static_cast<size_t>(width) + 8; --groups, in += width, out += 8)
        unpack(in, out);
    for (; groups; --groups, in += width, out += 8) {
        uint8_t padded[48] = {};
        if (width) std::memcpy(padded, in, static_cast<size_t>(width));  // values of no bits may have no bytes at all
        unpack(padded, out);
    }
}

template <bool Vector>
void unpack(const uint8_t* in, const uint8_t* end, size_t first, size_t n, int width, uint32_t* out) {
    while (n && first % 8) {
        *out++ = extract_bits(in, end, first++, width);
        --n;
    }
    const uint8_t* at = in + first / 8 * static_cast<size_t>(width);
    size_t groups = n / 8;
    n -= groups * 8;
    first += groups * 8;
    if (Vector && width <= kMaxVectorWidth) {
        const size_t done = unpack_groups_avx2(at, end, groups, width, out);
        at += done * static_cast<size_t>(width);
        out += done * 8;
        groups -= done;
    }
    unpack_groups_portable(at, end, groups, width, out);
    out += groups * 8;
    for (; n; --n) *out++ = extract_bits(in, end, first++, width);
}

/// Each byte's bits as eight bytes.
constexpr auto kBitBytes = [] {
    std::array<uint64_t, 256> table{};
    for (size_t byte = 0; byte < 256; ++byte)
        for (size_t bit = 0; bit < 8; ++bit)
            if (byte >> bit & 1) table[byte] |= uint64_t{1} << (8 * bit);
    return table;
}();

}  // namespace

void unpack_bits(const uint8_t* in, const uint8_t* end, size_t first, size_t n, int width, uint32_t* out) {
    if (has_avx2())
        unpack<true>(in, end, first, n, width, out);
    else
        unpack<false>(in, end, first, n, width, out);
}

void unpack_bits_portable(const uint8_t* in, const uint8_t* end, size_t first, size_t n, int width, uint32_t* out) {
    unpack<false>(in, end, first, n, width, out);
}

size_t unpack_short_runs(const uint8_t*& at, const uint8_t* end, int width, size_t n, uint32_t* out,
                         uint32_t& greatest) {
    static_assert(kMaxVectorWidth <= 25);  // so that values of runs have a byte's bits to spare
    if (width == 0 || width > kMaxVectorWidth || !has_avx2()) return 0;
    return short_runs_avx2(at, end, width, n, out, greatest);
}

void unpack_bools(const uint8_t* in, size_t first, size_t n, uint8_t* out) {
    for (; n && first % 8; --n, ++first) *out++ = in[first / 8] >> (first % 8) & 1;
    const uint8_t* at = in + first / 8;
    for (; n >= 8; n -= 8, out += 8) std::memcpy(out, &kBitBytes[*at++], 8);
    for (size_t bit = 0; bit < n; ++bit) out[bit] = *at >> bit & 1;
}

uint32_t max_of(const uint32_t* values, size_t n) {
    __m128i best[4] = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t lane = 0; lane < 4; ++lane)
            best[lane] =
                _mm_max_epu32(best[lane], _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i + 4 * lane)));
    uint32_t lanes[4];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(lanes),
                     _mm_max_epu32(_mm_max_epu32(best[0], best[1]), _mm_max_epu32(best[2], best[3])));
    uint32_t most = std::max(std::max(lanes[0], lanes[1]), std::max(lanes[2], lanes[3]));
    for (; i < n; ++i) most = std::max(most, values[i]);
    return most;
}

size_t count_ones(const uint8_t* bytes, size_t n) {
    size_t count = 0;
    size_t i = 0;
    __m128i sums = _mm_setzero_si128();
    for (; i + 16 <= n; i += 16)
        sums = _mm_add_epi64(
            sums, _mm_sad_epu8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i)), _mm_setzero_si128()));
    count = static_cast<size_t>(_mm_cvtsi128_si64(sums)) + static_cast<size_t>(_mm_extract_epi64(sums, 1));
    for (; i < n; ++i) count += bytes[i];
    return count;
}

size_t count_equal(const uint8_t* bytes, size_t n, uint8_t value) {
    size_t count = 0, i = 0;
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
    for (; i + 16 <= n; i += 16)
        count += static_cast<size_t>(__builtin_popcount(static_cast<unsigned>(
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i)), wanted)))));
    for (; i < n; ++i) count += bytes[i] == value;
    return count;
}

void invert_flags(const uint8_t* valid, size_t n, uint8_t* out) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(valid + i)), _mm_set1_epi8(1)));
    for (; i < n; ++i) out[i] = valid[i] ^ 1;
}

}  // namespace firn::file::pq
