// The reading side of Thrift's binary protocol, for bytes that are not trusted: Thrift's own makes an enumeration's value of
// whatever byte stands for a type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace firn::catalog {

enum class ThriftType : uint8_t {
    Stop = 0,  ///< the end of a struct's fields
    Bool = 2,
    Byte = 3,
    Double = 4,
    I16 = 6,
    I32 = 8,
    I64 = 10,
    String = 11,
    Struct = 12,
    Map = 13,
    Set = 14,
    List = 15,
};

enum class ThriftMessage : uint8_t { Call = 1, Reply = 2, Exception = 3, OneWay = 4 };

/// Reads one message, in the order of its bytes. Errors: INCORRECT_DATA for bytes that are no message, also one of more than
/// 1 GiB or with texts of more than 64 MiB; what `read` throws.
class ThriftReader {
public:
    /// Fills exactly so many bytes, or throws.
    using Read = std::function<void(uint8_t* to, uint32_t size)>;

    struct Field {
        ThriftType type = ThriftType::Stop;
        int16_t id = 0;
    };
    /// Of a list or a set; of a map besides the keys.
    struct Items {
        ThriftType type = ThriftType::Stop;
        uint32_t size = 0;
        ThriftType key = ThriftType::Stop;
    };

    explicit ThriftReader(Read read) : read_(std::move(read)) {}

    /// The begin of a message, with its name and number.
    ThriftMessage message();
    Field field();
    Items list();
    Items map();
    std::string text();
    void skip(ThriftType type) { skip(type, 0); }

private:
    void take(uint8_t* to, uint32_t size);
    uint64_t number(uint32_t bytes);
    ThriftType type();
    uint32_t size();
    void skip(ThriftType type, int depth);
    void skip_bytes(uint32_t size);

    Read read_;
    uint64_t taken_ = 0;
};

}  // namespace firn::catalog
