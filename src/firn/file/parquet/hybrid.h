// The hybrid of run lengths and bit packing in which Parquet keeps dictionary codes, levels and booleans (Encodings.md,
// RLE). Readers move forward through one page's stream; too few values, or too few bytes, throw INCORRECT_DATA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::file::pq {

class HybridReader {
public:
    HybridReader() = default;
    /// width 0..32 bits.
    HybridReader(const uint8_t* begin, const uint8_t* end, int width);

    /// Returns the greatest of them; 0 of none.
    uint32_t read(size_t n, uint32_t* out);
    /// Each value in a byte; for widths up to 8.
    void read_bytes(size_t n, uint8_t* out);
    void skip(size_t n);
    /// The values at rows[0 … m), ascending and below n, counted from here; then moves past n values.
    void read_selected(const uint32_t* rows, size_t m, size_t n, uint32_t* out);
    /// How many values from here on are surely the same one, in `value`; 0 where they are packed one by one.
    size_t run(uint32_t& value);

private:
    void next_run();
    uint32_t read_packed(size_t n, uint32_t* out);
    const uint8_t* at_ = nullptr;
    const uint8_t* end_ = nullptr;
    int width_ = 0;
    size_t left_ = 0;  // values of this run not yet read
    bool is_packed_ = false;
    uint32_t value_ = 0;               // of a repeated run
    const uint8_t* packed_ = nullptr;  // first byte of a packed run, which ends at packed_end_
    const uint8_t* packed_end_ = nullptr;
    size_t index_ = 0;  // values of a packed run already read
};

/// Definition or repetition levels of one page.
class LevelReader {
public:
    /// All levels are 0.
    LevelReader() = default;
    /// Hybrid encoding, of levels 0 … max.
    static LevelReader hybrid(const uint8_t* begin, const uint8_t* end, uint8_t max);
    /// The legacy BIT_PACKED encoding: most significant bit first.
    static LevelReader bit_packed(const uint8_t* begin, const uint8_t* end, uint8_t max);

    /// Throws INCORRECT_DATA for a level above max.
    void read(size_t n, uint8_t* out);
    void skip(size_t n);
    /// As HybridReader::run.
    size_t run(uint8_t& level);

private:
    void check(const uint8_t* levels, size_t n) const;
    enum class Kind : uint8_t { Zero, Hybrid, BitPacked };
    Kind kind_ = Kind::Zero;
    uint8_t max_ = 0;
    int width_ = 0;
    HybridReader hybrid_;
    const uint8_t* begin_ = nullptr;
    const uint8_t* end_ = nullptr;
    size_t index_ = 0;
};

/// Bits that levels or codes 0 … max take.
int bits_for(uint32_t max);

}  // namespace firn::file::pq
