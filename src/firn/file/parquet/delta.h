// DELTA_BINARY_PACKED (Encodings.md): integers as differences, packed in blocks. Arithmetic wraps around, as the format
// has it. INCORRECT_DATA for a stream that is cut off or whose header makes no sense.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::file::pq {

class DeltaReader {
public:
    DeltaReader(const uint8_t* begin, const uint8_t* end);

    /// Values in the stream.
    size_t total() const { return total_; }
    size_t left() const { return left_; }
    void read(size_t n, int64_t* out);
    void read(size_t n, int32_t* out);
    void skip(size_t n);
    /// The byte behind the stream; reads what is left of it.
    const uint8_t* finish();

private:
    template <typename T>
    void read_as(size_t n, T* out);
    uint64_t varint();
    int64_t zigzag();
    void next_miniblock();

    const uint8_t* at_;
    const uint8_t* end_;
    size_t total_ = 0;
    size_t left_ = 0;
    bool first_ = true;
    uint64_t last_ = 0;
    uint64_t min_delta_ = 0;
    size_t miniblocks_ = 0;  // in a block
    size_t miniblock_values_ = 0;
    size_t miniblock_ = 0;  // next one in this block
    const uint8_t* widths_ = nullptr;
    // The current miniblock.
    const uint8_t* packed_ = nullptr;
    const uint8_t* packed_end_ = nullptr;
    int width_ = 0;
    size_t index_ = 0;
};

}  // namespace firn::file::pq
