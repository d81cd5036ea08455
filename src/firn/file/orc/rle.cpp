#include "firn/file/orc/rle.h"

#include <algorithm>
#include <cstring>

namespace firn::file::orc {

uint64_t Positions::next() {
    if (left_.empty()) stream_->fail_damaged("the row index has too few positions");
    const uint64_t value = left_.front();
    left_ = left_.subspan(1);
    return value;
}

void seek_bytes(ByteStream& stream, Positions& positions) {
    const uint64_t chunk = positions.next();
    stream.seek(chunk, stream.is_compressed() ? positions.next() : 0);
}

// Bytes

void ByteRle::next_run() {
    const uint8_t header = stream_->read_byte();
    repeats_ = header < 0x80;
    left_ = repeats_ ? header + size_t{3} : size_t{256} - header;
    if (repeats_) value_ = stream_->read_byte();
}

void ByteRle::read(uint8_t* out, size_t n) {
    while (n) {
        if (!left_) next_run();
        const size_t piece = std::min(n, left_);
        if (repeats_)
            std::memset(out, value_, piece);
        else
            stream_->read(out, piece);
        left_ -= piece;
        out += piece;
        n -= piece;
    }
}

void ByteRle::skip(size_t n) {
    while (n) {
        if (!left_) next_run();
        const size_t piece = std::min(n, left_);
        if (!repeats_) stream_->skip(piece);
        left_ -= piece;
        n -= piece;
    }
}

void ByteRle::seek(Positions& positions) {
    seek_bytes(*stream_, positions);
    left_ = 0;
    skip(positions.next());
}

// Booleans

void BooleanRle::read(uint8_t* out, size_t n) {
    while (n) {
        if (!bits_left_ && n >= 8) {
            uint8_t bytes[64];
            const size_t whole = std::min<size_t>(n / 8, sizeof bytes);
            bytes_.read(bytes, whole);
            for (size_t i = 0; i < whole; ++i)
                for (unsigned bit = 0; bit < 8; ++bit) *out++ = bytes[i] >> (7 - bit) & 1;
            n -= whole * 8;
            continue;
        }
        if (!bits_left_) {
            bytes_.read(&byte_, 1);
            bits_left_ = 8;
        }
        *out++ = byte_ >> --bits_left_ & 1;
        --n;
    }
}

void BooleanRle::skip(size_t n) {
    const size_t now = std::min<size_t>(n, bits_left_);
    bits_left_ -= static_cast<unsigned>(now);
    n -= now;
    bytes_.skip(n / 8);
    if (n % 8) {
        bytes_.read(&byte_, 1);
        bits_left_ = 8 - static_cast<unsigned>(n % 8);
    }
}

void BooleanRle::seek(Positions& positions) {
    bytes_.seek(positions);
    bits_left_ = 0;
    const uint64_t bits = positions.next();
    if (bits > 8) stream().fail_damaged("the row index points beyond a byte");
    skip(bits);
}

// Integers

namespace {

int64_t unzigzag(uint64_t raw) { return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1); }

/// The table "5 bit width encoding" of the specification.
unsigned decode_width(unsigned code) {
    if (code < 24) return code + 1;
    constexpr unsigned widths[] = {26, 28, 30, 32, 40, 48, 56, 64};
    return widths[code - 24];
}

/// The width in which a patch list's entries of `bits` bits are packed.
unsigned closest_width(unsigned bits) {
    if (bits == 0) return 1;
    if (bits <= 24) return bits;
    for (unsigned width : {26U, 28U, 30U, 32U, 40U, 48U, 56U})
        if (bits <= width) return width;
    return 64;
}

uint64_t load_big_endian(const uint8_t* from) {
    uint64_t value;
    std::memcpy(&value, from, sizeof value);
    return __builtin_bswap64(value);
}

}  // namespace

void IntRle::unpack(unsigned width, size_t n, uint64_t* out) {
    uint8_t bytes[kMaxRun * 8 + 16];
    const size_t size = (n * width + 7) / 8;
    stream_->read(bytes, size);
    std::memset(bytes + size, 0, 16);
    if (width == 8) {
        for (size_t i = 0; i < n; ++i) out[i] = bytes[i];
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        const size_t bit = i * width;
        const unsigned offset = bit & 7;
        const uint8_t* from = bytes + (bit >> 3);
        uint64_t value = load_big_endian(from) << offset;
        if (offset + width > 64) value |= from[8] >> (8 - offset);
        out[i] = value >> (64 - width);
    }
}

size_t IntRle::decode_run1(int64_t* out) {
    const uint8_t header = stream_->read_byte();
    if (header >= 0x80) {
        const size_t n = size_t{256} - header;
        for (size_t i = 0; i < n; ++i)
            out[i] = signed_ ? stream_->signed_varint() : static_cast<int64_t>(stream_->unsigned_varint());
        return n;
    }
    const size_t n = header + size_t{3};
    const auto delta = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(stream_->read_byte())));
    uint64_t value = signed_ ? static_cast<uint64_t>(stream_->signed_varint()) : stream_->unsigned_varint();
    for (size_t i = 0; i < n; ++i, value += delta) out[i] = static_cast<int64_t>(value);
    return n;
}

size_t IntRle::decode_short_repeat(uint8_t header, int64_t* out) {
    const unsigned width = (header >> 3 & 7) + 1;
    const size_t n = (header & 7) + size_t{3};
    uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i) value = value << 8 | stream_->read_byte();
    std::fill_n(out, n, signed_ ? unzigzag(value) : static_cast<int64_t>(value));
    return n;
}

size_t IntRle::decode_direct(uint8_t header, int64_t* out) {
    const size_t n = (static_cast<size_t>(header & 1) << 8 | stream_->read_byte()) + 1;
    auto* raw = reinterpret_cast<uint64_t*>(out);
    unpack(decode_width(header >> 1 & 31), n, raw);
    if (signed_)
        for (size_t i = 0; i < n; ++i) out[i] = unzigzag(raw[i]);
    return n;
}

size_t IntRle::decode_patched(uint8_t header, int64_t* out) {
    const unsigned width = decode_width(header >> 1 & 31);
    const size_t n = (static_cast<size_t>(header & 1) << 8 | stream_->read_byte()) + 1;
    const uint8_t third = stream_->read_byte();
    const uint8_t fourth = stream_->read_byte();
    const unsigned base_bytes = (third >> 5) + 1;
    const unsigned patch_width = decode_width(third & 31);
    const unsigned gap_width = (fourth >> 5) + 1;
    const size_t patches = fourth & 31;
    if (patch_width + gap_width > 64) stream_->fail_damaged("a patch is wider than 64 bits");
    uint64_t base = 0;
    for (unsigned i = 0; i < base_bytes; ++i) base = base << 8 | stream_->read_byte();
    const uint64_t sign = uint64_t{1} << (base_bytes * 8 - 1);
    if (base & sign) base = ~(base & ~sign) + 1;  // sign and magnitude
    auto* raw = reinterpret_cast<uint64_t*>(out);
    unpack(width, n, raw);
    uint64_t list[32];
    unpack(closest_width(patch_width + gap_width), patches, list);
    size_t at = 0;
    for (size_t i = 0; i < patches; ++i) {
        const uint64_t patch = patch_width == 64 ? list[i] : list[i] & ((uint64_t{1} << patch_width) - 1);
        at += patch_width == 64 ? 0 : list[i] >> patch_width;
        if (patch == 0) continue;  // only a longer gap
        if (at >= n || width >= 64) stream_->fail_damaged("a patch lies beyond its run");
        raw[at] |= patch << width;
    }
    for (size_t i = 0; i < n; ++i) raw[i] += base;
    return n;
}

size_t IntRle::decode_delta(uint8_t header, int64_t* out) {
    const unsigned code = header >> 1 & 31;
    const size_t n = (static_cast<size_t>(header & 1) << 8 | stream_->read_byte()) + 1;
    auto value =
        static_cast<uint64_t>(signed_ ? stream_->signed_varint() : static_cast<int64_t>(stream_->unsigned_varint()));
    const int64_t first_delta = stream_->signed_varint();
    out[0] = static_cast<int64_t>(value);
    if (code == 0) {
        for (size_t i = 1; i < n; ++i) out[i] = static_cast<int64_t>(value += static_cast<uint64_t>(first_delta));
        return n;
    }
    if (n < 2) return n;
    out[1] = static_cast<int64_t>(value += static_cast<uint64_t>(first_delta));
    uint64_t deltas[kMaxRun];
    unpack(decode_width(code), n - 2, deltas);
    for (size_t i = 2; i < n; ++i)
        out[i] = static_cast<int64_t>(first_delta < 0 ? value -= deltas[i - 2] : value += deltas[i - 2]);
    return n;
}

/// The next run into `out`, which has room for kMaxRun values; how many it has.
size_t IntRle::decode_run(int64_t* out) {
    if (!version2_) return decode_run1(out);
    const uint8_t header = stream_->read_byte();
    switch (header >> 6) {
        case 0:
            return decode_short_repeat(header, out);
        case 1:
            return decode_direct(header, out);
        case 2:
            return decode_patched(header, out);
        default:
            return decode_delta(header, out);
    }
}

void IntRle::read(int64_t* out, size_t n) {
    while (n) {
        if (run_at_ == run_size_) {
            if (n >= kMaxRun) {
                const size_t made = decode_run(out);
                out += made;
                n -= made;
                continue;
            }
            run_at_ = 0;
            run_size_ = 0;
            run_size_ = decode_run(run_);
        }
        const size_t piece = std::min(n, run_size_ - run_at_);
        std::copy_n(run_ + run_at_, piece, out);
        run_at_ += piece;
        out += piece;
        n -= piece;
    }
}

void IntRle::skip(size_t n) {
    while (n) {
        if (run_at_ == run_size_) {
            run_at_ = 0;
            run_size_ = 0;
            run_size_ = decode_run(run_);
        }
        const size_t piece = std::min(n, run_size_ - run_at_);
        run_at_ += piece;
        n -= piece;
    }
}

void IntRle::seek(Positions& positions) {
    seek_bytes(*stream_, positions);
    run_at_ = run_size_ = 0;
    skip(positions.next());
}

}  // namespace firn::file::orc
