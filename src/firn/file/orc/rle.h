// Run-length encodings of ORC: bytes, booleans, and integers in versions 1 and 2 (ORC v1 specification, "Run Length
// Encoding"). Each reads forwards from a ByteStream, skips, and seeks by the row index's positions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "firn/file/orc/byte_stream.h"

namespace firn::file::orc {

/// Takes a column's positions in a row index one after another. INCORRECT_DATA where there are too few.
class Positions {
public:
    Positions(std::span<const uint64_t> positions, const ByteStream* stream) : left_(positions), stream_(stream) {}
    bool has(size_t n) const { return left_.size() >= n; }
    uint64_t next();

private:
    std::span<const uint64_t> left_;
    const ByteStream* stream_;  // for the error's name
};

/// Sets a stream to its next position: one number without compression, two with.
void seek_bytes(ByteStream& stream, Positions& positions);

class ByteRle {
public:
    explicit ByteRle(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}
    void read(uint8_t* out, size_t n);
    void skip(size_t n);
    void seek(Positions& positions);
    const ByteStream& stream() const { return *stream_; }

private:
    void next_run();
    std::unique_ptr<ByteStream> stream_;
    size_t left_ = 0;  // of the run
    bool repeats_ = false;
    uint8_t value_ = 0;
};

class BooleanRle {
public:
    explicit BooleanRle(std::unique_ptr<ByteStream> stream) : bytes_(std::move(stream)) {}
    /// One byte a value, 0 or 1.
    void read(uint8_t* out, size_t n);
    void skip(size_t n);
    void seek(Positions& positions);
    const ByteStream& stream() const { return bytes_.stream(); }

private:
    ByteRle bytes_;
    uint8_t byte_ = 0;
    unsigned bits_left_ = 0;
};

class IntRle {
public:
    /// Values of unsigned streams come as the int64 of the same bits.
    IntRle(std::unique_ptr<ByteStream> stream, bool version2, bool is_signed)
        : stream_(std::move(stream)), version2_(version2), signed_(is_signed) {}
    void read(int64_t* out, size_t n);
    void skip(size_t n);
    void seek(Positions& positions);
    const ByteStream& stream() const { return *stream_; }

    static constexpr size_t kMaxRun = 512;

private:
    size_t decode_run(int64_t* out);
    size_t decode_run1(int64_t* out);
    size_t decode_short_repeat(uint8_t header, int64_t* out);
    size_t decode_direct(uint8_t header, int64_t* out);
    size_t decode_patched(uint8_t header, int64_t* out);
    size_t decode_delta(uint8_t header, int64_t* out);
    /// Reads n values of `width` bits each, most significant bit first, padded to whole bytes.
    void unpack(unsigned width, size_t n, uint64_t* out);

    std::unique_ptr<ByteStream> stream_;
    bool version2_;
    bool signed_;
    int64_t run_[kMaxRun];
    size_t run_at_ = 0;
    size_t run_size_ = 0;
};

}  // namespace firn::file::orc
