// Unpacking of integers of a fixed number of bits, least significant bit first, as Parquet packs codes, levels and
// deltas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace firn::file::pq {

/// Value `index` of width 0..32 bits; in .. end must hold it whole.
inline uint32_t extract_bits(const uint8_t* in, const uint8_t* end, size_t index, int width) {
    const size_t bit = index * static_cast<size_t>(width);
    const uint8_t* at = in + bit / 8;
    uint64_t word = 0;
    const auto left = static_cast<size_t>(end - at);
    if (left >= 8)
        std::memcpy(&word, at, 8);
    else if (left > 0)
        std::memcpy(&word, at, left);
    return static_cast<uint32_t>((word >> (bit % 8)) & ((uint64_t{1} << width) - 1));
}

/// As extract_bits for width 0..64.
inline uint64_t extract_bits64(const uint8_t* in, const uint8_t* end, size_t index, int width) {
    const size_t bit = index * static_cast<size_t>(width);
    const uint8_t* at = in + bit / 8;
    unsigned __int128 word = 0;
    const auto left = static_cast<size_t>(end - at);
    if (left > 0) std::memcpy(&word, at, left >= 16 ? 16 : left);
    word >>= bit % 8;
    return width == 64 ? static_cast<uint64_t>(word) : static_cast<uint64_t>(word) & ((uint64_t{1} << width) - 1);
}

/// Values first … first + n - 1, of width 0..32 bits; in .. end must hold them whole.
void unpack_bits(const uint8_t* in, const uint8_t* end, size_t first, size_t n, int width, uint32_t* out);
/// The same without instructions beyond the baseline; what tests compare with.
void unpack_bits_portable(const uint8_t* in, const uint8_t* end, size_t first, size_t n, int width, uint32_t* out);

/// Reads whole runs of the hybrid encoding (see hybrid.h) for as long as they are short, fit into n values and lie well
/// before end; moves `at` behind them and returns how many values they were: 0 where the next run is none of those.
/// greatest becomes that of them and itself.
size_t unpack_short_runs(const uint8_t*& at, const uint8_t* end, int width, size_t n, uint32_t* out,
                         uint32_t& greatest);

/// Bits first … first + n - 1 as bytes 0 and 1.
void unpack_bools(const uint8_t* in, size_t first, size_t n, uint8_t* out);

/// The largest of n values; 0 of none.
uint32_t max_of(const uint32_t* values, size_t n);
/// How many of n bytes are `value`.
size_t count_equal(const uint8_t* bytes, size_t n, uint8_t value);
/// out[i] = valid[i] ^ 1, valid being 0 or 1.
void invert_flags(const uint8_t* valid, size_t n, uint8_t* out);
/// Values of 4 or 8 bytes, one for each 1 of valid, to the places of those 1s; the other places become `fill`. 32 bytes
/// behind the values have to be readable.
void spread_values(const uint32_t* values, const uint8_t* valid, size_t n, uint32_t fill, uint32_t* out);
void spread_values(const uint64_t* values, const uint8_t* valid, size_t n, uint64_t fill, uint64_t* out);
/// The values of 4 or 8 bytes at rows[0 … m), ascending and each below n.
void pick_values4(const uint8_t* from, size_t n, const uint32_t* rows, size_t m, uint8_t* out);
void pick_values8(const uint8_t* from, size_t n, const uint32_t* rows, size_t m, uint8_t* out);
/// n values of Width (4 or 8) bytes from Width streams of their bytes.
void join_streams(const uint8_t* const* streams, size_t width, size_t n, char* out);

/// How many of n bytes are 1; each is 0 or 1.
size_t count_ones(const uint8_t* bytes, size_t n);

}  // namespace firn::file::pq
