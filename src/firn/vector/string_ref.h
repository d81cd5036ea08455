// A string in a vector: a view of bytes that the vector's owners keep alive, with its first four bytes beside the length
// so that most comparisons need no look at the bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace firn {

struct StringRef {
    const char* data = nullptr;
    uint32_t size = 0;
    uint32_t prefix = 0;  // the first four bytes as they lie in memory, zero-padded

    StringRef() = default;
    StringRef(const char* bytes, size_t length) : data(bytes), size(static_cast<uint32_t>(length)) {
        if (length >= 4)
            std::memcpy(&prefix, bytes, 4);
        else
            for (size_t i = 0; i < length; ++i)
                prefix |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
    }
    explicit StringRef(std::string_view text) : StringRef(text.data(), text.size()) {}

    std::string_view view() const { return {data, size}; }

    friend bool operator==(const StringRef& a, const StringRef& b) {
        return a.size == b.size && a.prefix == b.prefix &&
               (a.size <= 4 || a.data == b.data || std::memcmp(a.data + 4, b.data + 4, a.size - 4) == 0);
    }
    /// By unsigned bytes, as ClickHouse and Iceberg order strings.
    friend std::strong_ordering operator<=>(const StringRef& a, const StringRef& b) {
        if (a.prefix != b.prefix) return __builtin_bswap32(a.prefix) <=> __builtin_bswap32(b.prefix);
        const uint32_t common = a.size < b.size ? a.size : b.size;
        if (common > 4) {
            const int order = std::memcmp(a.data + 4, b.data + 4, common - 4);
            if (order != 0) return order <=> 0;
        }
        return a.size <=> b.size;
    }
};
static_assert(sizeof(StringRef) == 16);

}  // namespace firn
