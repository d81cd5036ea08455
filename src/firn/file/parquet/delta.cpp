#include "firn/file/parquet/delta.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/file/parquet/bit_unpack.h"

namespace firn::file::pq {

DeltaReader::DeltaReader(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {
    const uint64_t block = varint();
    miniblocks_ = varint();
    total_ = left_ = varint();
    last_ = static_cast<uint64_t>(zigzag());
    if (block == 0 || block > (1u << 24) || miniblocks_ == 0 || miniblocks_ > block || block % miniblocks_ ||
        total_ > INT32_MAX)
        fail(ErrorCode::INCORRECT_DATA, "a delta-encoded page has an impossible header");
    miniblock_values_ = block / miniblocks_;
    if (miniblock_values_ % 8) fail(ErrorCode::INCORRECT_DATA, "a delta-encoded page has an impossible header");
    miniblock_ = miniblocks_;
    index_ = miniblock_values_;
}

uint64_t DeltaReader::varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (at_ == end_) fail(ErrorCode::INCORRECT_DATA, "a delta-encoded page is cut off");
        const uint8_t next = *at_++;
        value |= static_cast<uint64_t>(next & 0x7F) << shift;
        if (next < 0x80) return value;
    }
    fail(ErrorCode::INCORRECT_DATA, "a number of a delta-encoded page is too long");
}

int64_t DeltaReader::zigzag() {
    const uint64_t value = varint();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

void DeltaReader::next_miniblock() {
    if (miniblock_ == miniblocks_) {
        min_delta_ = static_cast<uint64_t>(zigzag());
        if (static_cast<size_t>(end_ - at_) < miniblocks_)
            fail(ErrorCode::INCORRECT_DATA, "a delta-encoded page is cut off");
        widths_ = at_;
        at_ += miniblocks_;
        miniblock_ = 0;
    }
    width_ = widths_[miniblock_++];
    if (width_ > 64) fail(ErrorCode::INCORRECT_DATA, "differences of {} bits are out of range", width_);
    // The last miniblock may come without its padding.
    const size_t needed = (std::min(miniblock_values_, left_) * static_cast<size_t>(width_) + 7) / 8;
    const auto available = static_cast<size_t>(end_ - at_);
    if (needed > available) fail(ErrorCode::INCORRECT_DATA, "a delta-encoded page is cut off");
    packed_ = at_;
    at_ += std::min(available, miniblock_values_ * static_cast<size_t>(width_) / 8);
    packed_end_ = at_;
    index_ = 0;
}

template <typename T>
void DeltaReader::read_as(size_t n, T* out) {
    if (n > left_) fail(ErrorCode::INCORRECT_DATA, "a page has fewer values than its header says");
    if (n && first_) {
        first_ = false;
        *out++ = static_cast<T>(last_);
        --n;
        --left_;
    }
    while (n) {
        if (index_ == miniblock_values_) next_miniblock();
        const size_t part = std::min({n, miniblock_values_ - index_, size_t{128}});
        uint64_t value = last_;
        if (width_ <= 32) {
            uint32_t deltas[128];
            unpack_bits(packed_, packed_end_, index_, part, width_, deltas);
            for (size_t i = 0; i < part; ++i) out[i] = static_cast<T>(value += min_delta_ + deltas[i]);
        } else {
            for (size_t i = 0; i < part; ++i)
                out[i] = static_cast<T>(value += min_delta_ + extract_bits64(packed_, packed_end_, index_ + i, width_));
        }
        last_ = value;
        index_ += part;
        out += part;
        n -= part;
        left_ -= part;
    }
}

void DeltaReader::read(size_t n, int64_t* out) { read_as(n, out); }
void DeltaReader::read(size_t n, int32_t* out) { read_as(n, out); }

void DeltaReader::skip(size_t n) {
    int64_t block[256];
    while (n) {
        const size_t part = std::min<size_t>(n, 256);
        read(part, block);
        n -= part;
    }
}

const uint8_t* DeltaReader::finish() {
    skip(left_);
    return at_;
}

}  // namespace firn::file::pq
