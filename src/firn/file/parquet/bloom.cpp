#include "firn/file/parquet/bloom.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace firn::file::pq {
namespace {

template <typename T>
std::string bytes_of(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A decimal's unscaled value as big-endian bytes of the stored length.
std::string big_endian(const char* little, size_t size, size_t length) {
    std::string out(length, little[size - 1] < 0 ? '\xFF' : '\0');
    for (size_t i = 0; i < std::min(size, length); ++i) out[length - 1 - i] = little[i];
    return out;
}

}  // namespace

std::string plain_bytes(const Leaf& leaf, const Vector& value, bool& known) {
    known = true;
    const char* at = value.values_buffer() ? value.values_buffer()->data() : nullptr;
    const size_t size = value.type()->value_size();
    switch (leaf.conversion) {
        case Conversion::None:
            if (leaf.physical == PhysicalType::ByteArray) return std::string(value.values<StringRef>()[0].view());
            // The filter compares bits: which zero, or which NaN, was written is not known.
            if (leaf.type->id() == TypeId::Float32 && !(value.values<float>()[0] < 0 || value.values<float>()[0] > 0))
                break;
            if (leaf.type->id() == TypeId::Float64 && !(value.values<double>()[0] < 0 || value.values<double>()[0] > 0))
                break;
            if (leaf.physical == PhysicalType::Boolean) break;
            return {at, size};
        case Conversion::FixedBytes:
            return std::string(value.values<StringRef>()[0].view());
        case Conversion::Narrow8:
            return bytes_of<int32_t>(leaf.is_unsigned ? value.values<uint8_t>()[0] : value.values<int8_t>()[0]);
        case Conversion::Narrow16:
            return bytes_of<int32_t>(leaf.is_unsigned ? value.values<uint16_t>()[0] : value.values<int16_t>()[0]);
        case Conversion::Uuid:
            return big_endian(at, 16, 16);
        case Conversion::DecimalBytes:
            if (leaf.physical == PhysicalType::FixedLenByteArray)
                return big_endian(at, size, static_cast<size_t>(leaf.length));
            break;
        case Conversion::Decimal:
        case Conversion::Int96:
        case Conversion::Float16:
            break;
    }
    known = false;
    return {};
}

bool bloom_may_contain(std::span<const uint8_t> bitset, std::string_view plain) {
    static constexpr uint32_t kSalts[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                           0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    const uint64_t hash = XXH64(plain.data(), plain.size(), 0);
    const uint64_t blocks = bitset.size() / 32;
    const uint64_t block = ((hash >> 32) * blocks) >> 32;
    const auto key = static_cast<uint32_t>(hash);
    for (size_t i = 0; i < 8; ++i) {
        uint32_t word;
        std::memcpy(&word, bitset.data() + block * 32 + i * 4, 4);
        if (!(word >> ((key * kSalts[i]) >> 27) & 1)) return false;
    }
    return true;
}

}  // namespace firn::file::pq
