// PLAIN values, run-length booleans and split byte streams.
#include <algorithm>
#include <cstring>

#include "firn/base/error.h"
#include "firn/file/parquet/bit_unpack.h"
#include "firn/file/parquet/decoder.h"
#include "firn/file/parquet/hybrid.h"

namespace firn::file::pq {
namespace {

[[noreturn]] void too_few() { fail(ErrorCode::INCORRECT_DATA, "a page has fewer values than its header says"); }

class PlainFixed final : public ValueDecoder {
public:
    PlainFixed(size_t width, Bytes bytes) : ValueDecoder(width), at_(bytes.begin), left_(bytes.size() / width) {}
    void read(size_t n, char* out) override {
        if (n > left_) too_few();
        if (n != 0) std::memcpy(out, at_, n * width_);  // at_ is null for a page of no bytes
        advance(n);
    }
    void skip(size_t n) override {
        if (n > left_) too_few();
        advance(n);
    }
    const char* view(size_t n) const override { return n <= left_ ? reinterpret_cast<const char*>(at_) : nullptr; }
    void read_selected(const uint32_t* rows, size_t m, size_t n, char* out) override {
        if (n > left_) too_few();
        if (width_ == 8)
            pick_values8(at_, n, rows, m, reinterpret_cast<uint8_t*>(out));
        else if (width_ == 4)
            pick_values4(at_, n, rows, m, reinterpret_cast<uint8_t*>(out));
        else
            for (size_t i = 0; i < m; ++i) std::memcpy(out + i * width_, at_ + rows[i] * width_, width_);
        advance(n);
    }

private:
    void advance(size_t n) {
        at_ += n * width_;
        left_ -= n;
    }
    const uint8_t* at_;
    size_t left_;
};

class PlainBoolean final : public ValueDecoder {
public:
    explicit PlainBoolean(Bytes bytes) : ValueDecoder(1), begin_(bytes.begin), total_(bytes.size() * 8) {}
    void read(size_t n, char* out) override {
        if (n > total_ - index_) too_few();
        unpack_bools(begin_, index_, n, reinterpret_cast<uint8_t*>(out));
        index_ += n;
    }
    void skip(size_t n) override {
        if (n > total_ - index_) too_few();
        index_ += n;
    }
    void read_selected(const uint32_t* rows, size_t m, size_t n, char* out) override {
        if (n > total_ - index_) too_few();
        for (size_t i = 0; i < m; ++i) {
            const size_t bit = index_ + rows[i];
            out[i] = static_cast<char>(begin_[bit / 8] >> (bit % 8) & 1);
        }
        index_ += n;
    }

private:
    const uint8_t* begin_;
    size_t total_;
    size_t index_ = 0;
};

class PlainStrings final : public ValueDecoder {
public:
    explicit PlainStrings(Bytes bytes) : ValueDecoder(sizeof(StringRef)), at_(bytes.begin), end_(bytes.end) {}
    void read(size_t n, char* out) override {
        auto* refs = reinterpret_cast<StringRef*>(out);
        const uint8_t* at = at_;
        for (size_t i = 0; i < n; ++i) {
            const uint32_t size = next(at);
            refs[i] = StringRef(reinterpret_cast<const char*>(at), size);
            at += size;
        }
        at_ = at;
    }
    void skip(size_t n) override {
        const uint8_t* at = at_;
        for (size_t i = 0; i < n; ++i) {
            const uint32_t size = next(at);
            at += size;
        }
        at_ = at;
    }

    void read_selected(const uint32_t* rows, size_t m, size_t n, char* out) override {
        if (m < n / 2) return ValueDecoder::read_selected(rows, m, n, out);
        // Most are wanted: each is written and passed by the next where it is not.
        auto* refs = reinterpret_cast<StringRef*>(out);
        const uint8_t* at = at_;
        size_t i = 0, done = 0;
        for (; done < m; ++i) {
            const uint32_t size = next(at);
            refs[done] = StringRef(reinterpret_cast<const char*>(at), size);
            done += rows[done] == i;
            at += size;
        }
        at_ = at;
        skip(n - i);
    }

private:
    /// Moves behind the length of the next string, all of which is there.
    uint32_t next(const uint8_t*& at) const {
        uint32_t size;
        if (end_ - at < 4) too_few();
        std::memcpy(&size, at, 4);
        at += 4;
        if (size > static_cast<size_t>(end_ - at))
            fail(ErrorCode::INCORRECT_DATA, "a string of {} bytes passes its page's end", size);
        return size;
    }
    const uint8_t* at_;
    const uint8_t* end_;
};

class RleBoolean final : public ValueDecoder {
public:
    explicit RleBoolean(HybridReader reader) : ValueDecoder(1), reader_(reader) {}
    void read(size_t n, char* out) override {
        reader_.read_bytes(n, reinterpret_cast<uint8_t*>(out));
        for (size_t i = 0; i < n; ++i) out[i] &= 1;
    }
    void skip(size_t n) override { reader_.skip(n); }

private:
    HybridReader reader_;
};

class ByteStreamSplit final : public ValueDecoder {
public:
    ByteStreamSplit(size_t width, Bytes bytes)
        : ValueDecoder(width), begin_(bytes.begin), total_(bytes.size() / width) {}
    void read(size_t n, char* out) override {
        if (n > total_ - index_) too_few();
        if (width_ == 4 || width_ == 8) {
            const uint8_t* streams[8];
            for (size_t byte = 0; byte < width_; ++byte) streams[byte] = begin_ + byte * total_ + index_;
            join_streams(streams, width_, n, out);
        } else {
            for (size_t byte = 0; byte < width_; ++byte) {
                const uint8_t* stream = begin_ + byte * total_ + index_;
                for (size_t i = 0; i < n; ++i) out[i * width_ + byte] = static_cast<char>(stream[i]);
            }
        }
        index_ += n;
    }
    void skip(size_t n) override {
        if (n > total_ - index_) too_few();
        index_ += n;
    }
    void read_selected(const uint32_t* rows, size_t m, size_t n, char* out) override {
        if (n > total_ - index_) too_few();
        for (size_t byte = 0; byte < width_; ++byte) {
            const uint8_t* stream = begin_ + byte * total_ + index_;
            for (size_t i = 0; i < m; ++i) out[i * width_ + byte] = static_cast<char>(stream[rows[i]]);
        }
        index_ += n;
    }

private:
    const uint8_t* begin_;
    size_t total_;
    size_t index_ = 0;
};

}  // namespace

void ValueDecoder::read_selected(const uint32_t* rows, size_t m, size_t n, char* out) {
    size_t at = 0;
    for (size_t i = 0; i < m;) {
        if (rows[i] > at) skip(rows[i] - at);
        size_t stop = i + 1;
        while (stop < m && rows[stop] == rows[stop - 1] + 1) ++stop;
        read(stop - i, out + i * width_);
        at = rows[stop - 1] + size_t{1};
        i = stop;
    }
    skip(n - at);
}

std::unique_ptr<ValueDecoder> make_plain_decoder(const Leaf& leaf, Bytes bytes) {
    switch (leaf.physical) {
        case PhysicalType::Boolean:
            return std::make_unique<PlainBoolean>(bytes);
        case PhysicalType::ByteArray:
            return std::make_unique<PlainStrings>(bytes);
        default:
            return std::make_unique<PlainFixed>(leaf.raw_width(), bytes);
    }
}

std::unique_ptr<ValueDecoder> make_rle_boolean_decoder(const Leaf& leaf, Bytes bytes) {
    if (leaf.physical != PhysicalType::Boolean)
        fail(ErrorCode::INCORRECT_DATA, "run-length encoding of values that are no booleans");
    uint32_t size = 0;
    if (bytes.size() < 4) too_few();
    std::memcpy(&size, bytes.begin, 4);
    if (size > bytes.size() - 4) fail(ErrorCode::INCORRECT_DATA, "run-length encoded booleans pass their page's end");
    return std::make_unique<RleBoolean>(HybridReader(bytes.begin + 4, bytes.begin + 4 + size, 1));
}

std::unique_ptr<ValueDecoder> make_byte_stream_split_decoder(const Leaf& leaf, Bytes bytes, size_t values) {
    if (leaf.physical == PhysicalType::Boolean || leaf.physical == PhysicalType::ByteArray ||
        leaf.physical == PhysicalType::Int96)
        fail(ErrorCode::INCORRECT_DATA, "split byte streams do not go with this type");
    const size_t width = leaf.raw_width();
    if (bytes.size() % width || bytes.size() / width > values)
        fail(ErrorCode::INCORRECT_DATA, "split byte streams of {} bytes do not hold {} values of {} bytes",
             bytes.size(), values, width);
    return std::make_unique<ByteStreamSplit>(width, bytes);
}

std::unique_ptr<ValueDecoder> make_decoder(const Leaf& leaf, PageEncoding encoding, Bytes bytes, size_t values) {
    switch (encoding) {
        case PageEncoding::Plain:
            return make_plain_decoder(leaf, bytes);
        case PageEncoding::Rle:
            return make_rle_boolean_decoder(leaf, bytes);
        case PageEncoding::DeltaBinaryPacked:
        case PageEncoding::DeltaLengthByteArray:
        case PageEncoding::DeltaByteArray:
            return make_delta_decoder(leaf, encoding, bytes);
        case PageEncoding::ByteStreamSplit:
            return make_byte_stream_split_decoder(leaf, bytes, values);
        default:
            fail(ErrorCode::INCORRECT_DATA, "encoding {} is not one of values", static_cast<int>(encoding));
    }
}

}  // namespace firn::file::pq
