#include "firn/file/parquet/hybrid.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "firn/base/error.h"
#include "firn/file/parquet/bit_unpack.h"

namespace firn::file::pq {

int bits_for(uint32_t max) { return std::bit_width(max); }

HybridReader::HybridReader(const uint8_t* begin, const uint8_t* end, int width) : at_(begin), end_(end), width_(width) {
    if (width < 0 || width > 32) fail(ErrorCode::INCORRECT_DATA, "values of {} bits are out of range", width);
}

void HybridReader::next_run() {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
        if (at_ == end_) fail(ErrorCode::INCORRECT_DATA, "a page has fewer values than its header says");
        if (shift > 28) fail(ErrorCode::INCORRECT_DATA, "a run's length is too long");
        const uint8_t next = *at_++;
        header |= static_cast<uint64_t>(next & 0x7F) << shift;
        if (next < 0x80) break;
    }
    const auto available = static_cast<size_t>(end_ - at_);
    is_packed_ = header & 1;
    if (is_packed_) {
        const size_t groups = header >> 1;
        size_t bytes = groups * static_cast<size_t>(width_);
        left_ = groups * 8;
        if (bytes > available) {  // some writers leave out the padding of the last group
            bytes = available;
            left_ = available * 8 / static_cast<size_t>(width_);
        }
        packed_ = at_;
        packed_end_ = at_ + bytes;
        index_ = 0;
        at_ += bytes;
    } else {
        left_ = header >> 1;
        const auto bytes = static_cast<size_t>((width_ + 7) / 8);
        if (bytes > available) fail(ErrorCode::INCORRECT_DATA, "a run is cut off");
        value_ = 0;
        for (size_t i = 0; i < bytes; ++i) value_ |= static_cast<uint32_t>(at_[i]) << (8 * i);
        at_ += bytes;
        if (width_ < 32 && value_ >> width_)
            fail(ErrorCode::INCORRECT_DATA, "a run's value has more than {} bits", width_);
    }
}

size_t HybridReader::run(uint32_t& value) {
    while (left_ == 0) {
        if (at_ == end_) return 0;
        next_run();
    }
    value = value_;
    return is_packed_ ? 0 : left_;
}

/// Of a packed run. In blocks, so that the greatest value is looked for while they lie in the nearest cache.
uint32_t HybridReader::read_packed(size_t n, uint32_t* out) {
    constexpr size_t kBlock = 2048;
    uint32_t greatest = 0;
    for (size_t done = 0; done < n;) {
        const size_t part = std::min(n - done, kBlock);
        unpack_bits(packed_, packed_end_, index_ + done, part, width_, out + done);
        greatest = std::max(greatest, max_of(out + done, part));
        done += part;
    }
    return greatest;
}

uint32_t HybridReader::read(size_t n, uint32_t* out) {
    uint32_t greatest = 0;
    while (n) {
        if (left_ == 0) {
            const size_t done = unpack_short_runs(at_, end_, width_, n, out, greatest);
            out += done;
            n -= done;
            if (n) next_run();
            continue;
        }
        const size_t part = std::min(n, left_);
        if (is_packed_) {
            greatest = std::max(greatest, read_packed(part, out));
            index_ += part;
        } else {
            greatest = std::max(greatest, value_);
            std::fill_n(out, part, value_);
        }
        out += part;
        n -= part;
        left_ -= part;
    }
    return greatest;
}

void HybridReader::read_bytes(size_t n, uint8_t* out) {
    while (n) {
        if (left_ == 0) {
            next_run();
            continue;
        }
        const size_t part = std::min(n, left_);
        if (!is_packed_) {
            std::memset(out, static_cast<uint8_t>(std::min<uint32_t>(value_, 255)), part);
        } else if (width_ == 1) {
            unpack_bools(packed_, index_, part, out);
        } else {
            uint32_t block[256];
            for (size_t done = 0; done < part;) {
                const size_t some = std::min<size_t>(part - done, 256);
                unpack_bits(packed_, packed_end_, index_ + done, some, width_, block);
                for (size_t i = 0; i < some; ++i) out[done + i] = static_cast<uint8_t>(block[i]);
                done += some;
            }
        }
        index_ += part;
        out += part;
        n -= part;
        left_ -= part;
    }
}

void HybridReader::skip(size_t n) {
    while (n) {
        if (left_ == 0) {
            next_run();
            continue;
        }
        const size_t part = std::min(n, left_);
        index_ += part;
        n -= part;
        left_ -= part;
    }
}

void HybridReader::read_selected(const uint32_t* rows, size_t m, size_t n, uint32_t* out) {
    size_t base = 0;  // row at which the stream stands
    size_t done = 0;
    while (done < m) {
        if (left_ == 0) {
            next_run();
            continue;
        }
        const size_t part = std::min(n - base, left_);
        const size_t stop = base + part;
        if (is_packed_) {
            for (; done < m && rows[done] < stop; ++done)
                out[done] = extract_bits(packed_, packed_end_, index_ + (rows[done] - base), width_);
            index_ += part;
        } else {
            for (; done < m && rows[done] < stop; ++done) out[done] = value_;
        }
        left_ -= part;
        base = stop;
    }
    skip(n - base);
}

LevelReader LevelReader::hybrid(const uint8_t* begin, const uint8_t* end, uint8_t max) {
    LevelReader out;
    out.kind_ = Kind::Hybrid;
    out.max_ = max;
    out.width_ = bits_for(max);
    out.hybrid_ = HybridReader(begin, end, out.width_);
    return out;
}

LevelReader LevelReader::bit_packed(const uint8_t* begin, const uint8_t* end, uint8_t max) {
    LevelReader out;
    out.kind_ = Kind::BitPacked;
    out.max_ = max;
    out.width_ = bits_for(max);
    out.begin_ = begin;
    out.end_ = end;
    return out;
}

void LevelReader::check(const uint8_t* levels, size_t n) const {
    if (max_ == (1u << width_) - 1) return;  // there is none above it
    uint8_t most = 0;
    for (size_t i = 0; i < n; ++i) most = std::max(most, levels[i]);
    if (most > max_) fail(ErrorCode::INCORRECT_DATA, "level {} is above the column's maximum, {}", most, max_);
}

void LevelReader::read(size_t n, uint8_t* out) {
    switch (kind_) {
        case Kind::Zero:
            std::memset(out, 0, n);
            return;
        case Kind::Hybrid:
            hybrid_.read_bytes(n, out);
            break;
        case Kind::BitPacked:
            if ((index_ + n) * static_cast<size_t>(width_) > static_cast<size_t>(end_ - begin_) * 8)
                fail(ErrorCode::INCORRECT_DATA, "a page has fewer levels than its header says");
            for (size_t i = 0; i < n; ++i, ++index_) {
                uint32_t level = 0;
                for (size_t bit = index_ * static_cast<size_t>(width_), stop = bit + static_cast<size_t>(width_);
                     bit < stop; ++bit)
                    level = level << 1 | (begin_[bit / 8] >> (7 - bit % 8) & 1u);
                out[i] = static_cast<uint8_t>(level);
            }
            break;
    }
    check(out, n);
}

void LevelReader::skip(size_t n) {
    if (kind_ == Kind::Hybrid) hybrid_.skip(n);
    index_ += n;
}

size_t LevelReader::run(uint8_t& level) {
    if (kind_ == Kind::Zero) {
        level = 0;
        return std::numeric_limits<size_t>::max();
    }
    if (kind_ == Kind::BitPacked) return 0;
    uint32_t value = 0;
    const size_t length = hybrid_.run(value);
    if (length && value > max_)
        fail(ErrorCode::INCORRECT_DATA, "level {} is above the column's maximum, {}", value, max_);
    level = static_cast<uint8_t>(value);
    return length;
}

}  // namespace firn::file::pq
