// Avro bytes made by hand, for tests of what no usual writer writes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::testing_avro {

class Bytes {
public:
    Bytes& number(int64_t value) {
        uint64_t raw = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
        while (raw >= 0x80) {
            out_ += static_cast<char>(raw | 0x80);
            raw >>= 7;
        }
        out_ += static_cast<char>(raw);
        return *this;
    }
    Bytes& text(std::string_view value) {
        number(static_cast<int64_t>(value.size()));
        out_ += value;
        return *this;
    }
    Bytes& raw(std::string_view value) {
        out_ += value;
        return *this;
    }
    Bytes& real(double value) {
        char bytes[8];
        std::memcpy(bytes, &value, 8);
        return raw({bytes, 8});
    }
    const std::string& str() const { return out_; }

private:
    std::string out_;
};

inline constexpr std::string_view kSync = "0123456789abcdef";

struct Block {
    int64_t objects;
    std::string bytes;  ///< as stored: compressed where there is a codec
};

inline std::string container(std::string_view schema, const std::vector<Block>& blocks, std::string_view codec = "null",
                             std::vector<std::pair<std::string, std::string>> metadata = {}) {
    metadata.emplace_back("avro.schema", schema);
    metadata.emplace_back("avro.codec", codec);
    Bytes out;
    out.raw(std::string_view("Obj\x01", 4)).number(static_cast<int64_t>(metadata.size()));
    for (const auto& [key, value] : metadata) out.text(key).text(value);
    out.number(0).raw(kSync);
    for (const Block& block : blocks) out.number(block.objects).text(block.bytes).raw(kSync);
    return out.str();
}

}  // namespace firn::testing_avro
