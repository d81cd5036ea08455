// Reads Avro's binary encoding from memory. Every read is checked against the end: INCORRECT_DATA beyond it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "firn/file/avro/schema.h"

namespace firn::file::avro {

[[noreturn]] void fail_truncated();
[[noreturn]] void fail_varint();
[[noreturn]] void fail_length(int64_t length);

class Cursor {
public:
    Cursor(const char* begin, const char* end) : at_(begin), end_(end) {}
    explicit Cursor(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    const char* at() const { return at_; }
    const char* end() const { return end_; }
    size_t left() const { return static_cast<size_t>(end_ - at_); }
    void seek(const char* to) { at_ = to; }

    /// An int or a long, which are written alike.
    int64_t read_long() {
        if (at_ != end_) {
            auto first = static_cast<uint8_t>(*at_);
            if (first < 0x80) {
                ++at_;
                return unzigzag(first);
            }
        }
        return read_long_slow();
    }

    bool read_boolean() { return *take(1) != 0; }

    float read_float() {
        float value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }

    double read_double() {
        double value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }

    /// Bytes or a string: a view into the memory that is read.
    std::string_view read_bytes() {
        int64_t length = read_long();
        if (length < 0 || static_cast<uint64_t>(length) > left()) fail_length(length);
        const char* begin = at_;
        at_ += length;
        return {begin, static_cast<size_t>(length)};
    }

    std::string_view read_fixed(size_t length) { return {take(length), length}; }

    /// The number of items in the next block of an array or map, 0 at its end. A block may carry its size in bytes; it
    /// is then put into `block_bytes`, else -1.
    int64_t read_block_count(int64_t& block_bytes) {
        int64_t count = read_long();
        block_bytes = -1;
        return count >= 0 ? count : read_sized_block(count, block_bytes);
    }

    /// Passes over `count` ints or longs.
    void skip_longs(uint64_t count);

private:
    static int64_t unzigzag(uint64_t raw) { return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1); }

    const char* take(size_t length) {
        if (length > left()) fail_truncated();
        const char* begin = at_;
        at_ += length;
        return begin;
    }

    int64_t read_long_slow();
    int64_t read_sized_block(int64_t count, int64_t& block_bytes);

    const char* at_;
    const char* end_;
};

/// Passes over one value of the node's type. INCORRECT_DATA for bytes that are no such value, TOO_DEEP_RECURSION for
/// values nested over kMaxDepth.
void skip_value(const Schema& schema, NodeId id, Cursor& cursor, int depth = 0);

}  // namespace firn::file::avro
