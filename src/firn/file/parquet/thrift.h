// Reading Thrift's compact protocol, in which Parquet's footers, page headers and indexes are written.
//
// Every read is checked against the end of the bytes; a structure that is cut off, nested too deep or of the wrong type
// throws INCORRECT_DATA. Unknown fields are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "firn/base/error.h"

namespace firn::file::pq {

enum class ThriftType : uint8_t {
    Stop = 0,
    True = 1,
    False = 2,
    Byte = 3,
    I16 = 4,
    I32 = 5,
    I64 = 6,
    Double = 7,
    Binary = 8,
    List = 9,
    Set = 10,
    Map = 11,
    Struct = 12,
    Uuid = 13,
};

class ThriftReader {
public:
    explicit ThriftReader(std::span<const uint8_t> bytes)
        : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    /// Bytes read so far.
    size_t position() const { return static_cast<size_t>(at_ - begin_); }

    /// Calls on_field(id, type) for each field; it reads the value and returns true, or returns false to have it
    /// skipped.
    template <typename F>
    void structure(F&& on_field) {
        enter();
        int id = 0;
        for (;;) {
            const uint8_t header = byte();
            const auto type = static_cast<ThriftType>(header & 15);
            if (type == ThriftType::Stop) break;
            id = header >> 4 ? id + (header >> 4) : static_cast<int>(static_cast<int16_t>(zigzag()));
            if (!on_field(id, type)) skip(type);
        }
        --depth_;
    }
    /// Calls on_element(type) for each element, which has to read it.
    template <typename F>
    void list(ThriftType type, F&& on_element) {
        if (type != ThriftType::List && type != ThriftType::Set) wrong_type();
        enter();
        const uint8_t header = byte();
        uint64_t count = header >> 4;
        if (count == 15) count = varint();
        if (count > static_cast<uint64_t>(end_ - at_)) cut_off();
        for (uint64_t i = 0; i < count; ++i) on_element(static_cast<ThriftType>(header & 15));
        --depth_;
    }
    int64_t integer(ThriftType type) {
        if (type == ThriftType::Byte) return static_cast<int8_t>(byte());
        if (type < ThriftType::I16 || type > ThriftType::I64) wrong_type();
        return zigzag();
    }
    int32_t integer32(ThriftType type) {
        const int64_t value = integer(type);
        if (value != static_cast<int32_t>(value)) fail(ErrorCode::INCORRECT_DATA, "a 32-bit number is out of range");
        return static_cast<int32_t>(value);
    }
    /// Of a field, whose type holds the value.
    bool boolean(ThriftType type) {
        if (type != ThriftType::True && type != ThriftType::False) wrong_type();
        return type == ThriftType::True;
    }
    /// Of a list's element, which is a byte.
    bool boolean_element() { return byte() == 1; }
    std::string_view binary(ThriftType type) {
        if (type != ThriftType::Binary) wrong_type();
        const uint64_t size = varint();
        if (size > static_cast<uint64_t>(end_ - at_)) cut_off();
        const std::string_view bytes(reinterpret_cast<const char*>(at_), size);
        at_ += size;
        return bytes;
    }
    void require(bool is_type) const {
        if (!is_type) wrong_type();
    }
    void skip(ThriftType type) {
        switch (type) {
            case ThriftType::True:
            case ThriftType::False:
                return;
            case ThriftType::Byte:
                byte();
                return;
            case ThriftType::I16:
            case ThriftType::I32:
            case ThriftType::I64:
                varint();
                return;
            case ThriftType::Double:
                advance(8);
                return;
            case ThriftType::Uuid:
                advance(16);
                return;
            case ThriftType::Binary:
                binary(type);
                return;
            case ThriftType::List:
            case ThriftType::Set:
                list(type, [this](ThriftType element) { skip_element(element); });
                return;
            case ThriftType::Map:
                skip_map();
                return;
            case ThriftType::Struct:
                structure([](int, ThriftType) { return false; });
                return;
            default:
                wrong_type();
        }
    }

private:
    static constexpr int kMaxDepth = 64;

    [[noreturn]] static void cut_off() { fail(ErrorCode::INCORRECT_DATA, "a Thrift structure is cut off"); }
    [[noreturn]] static void wrong_type() { fail(ErrorCode::INCORRECT_DATA, "a Thrift field has the wrong type"); }
    void enter() {
        if (++depth_ > kMaxDepth) fail(ErrorCode::INCORRECT_DATA, "a Thrift structure is nested too deep");
    }
    uint8_t byte() {
        if (at_ == end_) cut_off();
        return *at_++;
    }
    void advance(size_t bytes) {
        if (bytes > static_cast<size_t>(end_ - at_)) cut_off();
        at_ += bytes;
    }
    uint64_t varint() {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const uint8_t next = byte();
            value |= static_cast<uint64_t>(next & 0x7F) << shift;
            if (next < 0x80) return value;
        }
        fail(ErrorCode::INCORRECT_DATA, "a Thrift number is too long");
    }
    int64_t zigzag() {
        const uint64_t value = varint();
        return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
    }
    void skip_element(ThriftType type) {
        if (type == ThriftType::True || type == ThriftType::False)
            advance(1);
        else
            skip(type);
    }
    void skip_map() {
        enter();
        const uint64_t count = varint();
        if (count) {
            const uint8_t types = byte();
            if (count > static_cast<uint64_t>(end_ - at_)) cut_off();
            for (uint64_t i = 0; i < count; ++i) {
                skip_element(static_cast<ThriftType>(types >> 4));
                skip_element(static_cast<ThriftType>(types & 15));
            }
        }
        --depth_;
    }

    const uint8_t* begin_;
    const uint8_t* at_;
    const uint8_t* end_;
    int depth_ = 0;
};

}  // namespace firn::file::pq
