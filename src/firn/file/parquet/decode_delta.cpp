// DELTA_BINARY_PACKED integers, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY strings.
#include <algorithm>
#include <cstring>
#include <vector>

#include "firn/base/error.h"
#include "firn/base/memory.h"
#include "firn/file/parquet/decoder.h"
#include "firn/file/parquet/delta.h"

namespace firn::file::pq {
namespace {

template <typename T>
class DeltaIntegers final : public ValueDecoder {
public:
    explicit DeltaIntegers(Bytes bytes) : ValueDecoder(sizeof(T)), reader_(bytes.begin, bytes.end) {}
    void read(size_t n, char* out) override { reader_.read(n, reinterpret_cast<T*>(out)); }
    void skip(size_t n) override { reader_.skip(n); }

private:
    DeltaReader reader_;
};

/// Lengths first, then all strings' bytes.
class LengthStrings {
public:
    explicit LengthStrings(Bytes bytes) : lengths_(bytes.begin, bytes.end), end_(bytes.end) {
        DeltaReader probe = lengths_;
        at_ = probe.finish();
    }
    size_t left() const { return lengths_.left(); }
    const uint8_t* end() { return end_; }
    StringRef next() {
        if (next_ == filled_) fill();
        const int32_t size = block_[next_++];
        if (size < 0 || size > end_ - at_)
            fail(ErrorCode::INCORRECT_DATA, "a string of {} bytes passes its page's end", size);
        const StringRef ref(reinterpret_cast<const char*>(at_), static_cast<size_t>(size));
        at_ += size;
        return ref;
    }

private:
    void fill() {
        filled_ = std::min<size_t>(lengths_.left(), std::size(block_));
        if (!filled_) fail(ErrorCode::INCORRECT_DATA, "a page has fewer values than its header says");
        lengths_.read(filled_, block_);
        next_ = 0;
    }
    DeltaReader lengths_;
    const uint8_t* at_;
    const uint8_t* end_;
    int32_t block_[128];
    size_t next_ = 0, filled_ = 0;
};

class DeltaLengthStrings final : public ValueDecoder {
public:
    explicit DeltaLengthStrings(Bytes bytes) : ValueDecoder(sizeof(StringRef)), strings_(bytes) {}
    void read(size_t n, char* out) override {
        auto* refs = reinterpret_cast<StringRef*>(out);
        for (size_t i = 0; i < n; ++i) refs[i] = strings_.next();
    }
    void skip(size_t n) override {
        for (size_t i = 0; i < n; ++i) strings_.next();
    }

private:
    LengthStrings strings_;
};

/// Each string shares a prefix with the one before it. Values are kept in an arena for as long as vectors need them.
class DeltaStrings final : public ValueDecoder {
public:
    DeltaStrings(const Leaf& leaf, Bytes bytes)
        : ValueDecoder(leaf.raw_width()),
          fixed_(leaf.physical == PhysicalType::FixedLenByteArray),
          prefixes_(bytes.begin, bytes.end),
          suffixes_(Bytes{DeltaReader(prefixes_).finish(), bytes.end}),
          arena_(std::make_shared<Arena>(1 << 16)) {}
    void read(size_t n, char* out) override {
        for (size_t i = 0; i < n; ++i) {
            const auto [prefix, suffix] = next();
            const size_t size = prefix + suffix.size;
            if (fixed_ && size != width_) fail(ErrorCode::INCORRECT_DATA, "a value has {} bytes, not {}", size, width_);
            char* place = fixed_ ? out + i * width_ : arena_->allocate(size, 1);
            std::memcpy(place, last_.data(), prefix);
            std::memcpy(place + prefix, suffix.data, suffix.size);
            last_ = {place, size};
            if (!fixed_) reinterpret_cast<StringRef*>(out)[i] = StringRef(place, size);
        }
        if (fixed_) keep_last();  // what it lies in is the caller's
    }
    void skip(size_t n) override {
        keep_last();
        for (size_t i = 0; i < n; ++i) {
            const auto [prefix, suffix] = next();
            kept_.resize(prefix);
            kept_.append(suffix.data, suffix.size);
            last_ = kept_;
        }
    }
    std::shared_ptr<const void> owner() const override { return arena_; }

private:
    std::pair<size_t, StringRef> next() {
        if (at_ == filled_) fill();
        const int32_t prefix = block_[at_++];
        const StringRef suffix = suffixes_.next();
        if (prefix < 0 || static_cast<size_t>(prefix) > last_.size())
            fail(ErrorCode::INCORRECT_DATA, "a string shares {} bytes with one of {}", prefix, last_.size());
        return {static_cast<size_t>(prefix), suffix};
    }
    void fill() {
        filled_ = std::min<size_t>(prefixes_.left(), std::size(block_));
        if (!filled_) fail(ErrorCode::INCORRECT_DATA, "a page has fewer values than its header says");
        prefixes_.read(filled_, block_);
        at_ = 0;
    }
    void keep_last() {
        if (last_.data() == kept_.data()) return;
        kept_.assign(last_);
        last_ = kept_;
    }
    bool fixed_;
    DeltaReader prefixes_;
    LengthStrings suffixes_;
    std::shared_ptr<Arena> arena_;
    std::string_view last_ = "";  // the value before the next
    std::string kept_;            // where it lies unless in the arena
    int32_t block_[128];
    size_t at_ = 0, filled_ = 0;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_delta_decoder(const Leaf& leaf, PageEncoding encoding, Bytes bytes) {
    if (encoding == PageEncoding::DeltaBinaryPacked) {
        if (leaf.physical == PhysicalType::Int32) return std::make_unique<DeltaIntegers<int32_t>>(bytes);
        if (leaf.physical == PhysicalType::Int64) return std::make_unique<DeltaIntegers<int64_t>>(bytes);
    } else if (leaf.physical == PhysicalType::ByteArray || leaf.physical == PhysicalType::FixedLenByteArray) {
        if (encoding == PageEncoding::DeltaByteArray) return std::make_unique<DeltaStrings>(leaf, bytes);
        if (leaf.physical == PhysicalType::ByteArray) return std::make_unique<DeltaLengthStrings>(bytes);
    }
    fail(ErrorCode::INCORRECT_DATA, "delta encoding {} does not go with the column's type", static_cast<int>(encoding));
}

}  // namespace firn::file::pq
