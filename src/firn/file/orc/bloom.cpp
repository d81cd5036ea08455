#include "firn/file/orc/bloom.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace firn::file::orc {
namespace {

/// Thomas Wang's hash of 64-bit integers, with Java's arithmetic shifts.
uint64_t hash_long(int64_t value) {
    const auto shifted = [](uint64_t key, int bits) {
        return static_cast<uint64_t>(static_cast<int64_t>(key) >> bits);
    };
    auto key = static_cast<uint64_t>(value);
    key = ~key + (key << 21);
    key ^= shifted(key, 24);
    key = key + (key << 3) + (key << 8);
    key ^= shifted(key, 14);
    key = key + (key << 2) + (key << 4);
    key ^= shifted(key, 28);
    return key + (key << 31);
}

/// Murmur3 as Hive folds it into 64 bits.
uint64_t hash_string(std::string_view bytes) {
    constexpr uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f;
    constexpr uint64_t kSeed = 104729, kAdd = 1390208809;
    const auto mixed = [](uint64_t word) { return std::rotl(word * kFirst, 31) * kSecond; };
    uint64_t hash = kSeed;
    size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        uint64_t word;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        hash = std::rotl(hash ^ mixed(word), 27) * 5 + kAdd;
    }
    if (at < bytes.size()) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, bytes.size() - at);
        hash ^= mixed(word);
    }
    hash ^= bytes.size();
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
    return hash ^ hash >> 33;
}

std::optional<uint64_t> hash_real(double value) {
    if (value == 0 || std::isnan(value)) return std::nullopt;
    return hash_long(std::bit_cast<int64_t>(value));
}

std::string uuid_bytes(UInt128 value) {
    std::string bytes(sizeof value, '\0');
    for (size_t i = sizeof value; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value);
    return bytes;
}

}  // namespace

std::optional<uint64_t> bloom_hash(const Type& type, const Vector& value) {
    const TypeId id = unwrap(value.type())->id();
    switch (type.kind) {
        case Kind::Byte:
            if (id == TypeId::Int8) return hash_long(value.values<int8_t>()[0]);
            break;
        case Kind::Short:
            if (id == TypeId::Int16) return hash_long(value.values<int16_t>()[0]);
            break;
        case Kind::Int:
            if (id == TypeId::Int32) return hash_long(value.values<int32_t>()[0]);
            break;
        case Kind::Date:
            if (id == TypeId::Date32) return hash_long(value.values<int32_t>()[0]);
            break;
        case Kind::Long:
            if (id == TypeId::Int64) return hash_long(value.values<int64_t>()[0]);
            break;
        case Kind::Float:
            if (id == TypeId::Float32) return hash_real(value.values<float>()[0]);
            break;
        case Kind::Double:
            if (id == TypeId::Float64) return hash_real(value.values<double>()[0]);
            break;
        case Kind::String:
        case Kind::Varchar:
        case Kind::Binary:
            if (id == TypeId::UUID) return hash_string(uuid_bytes(value.values<UInt128>()[0]));
            if (is_string_like(id)) return hash_string(value.values<StringRef>()[0].view());
            break;
        default:
            break;
    }
    return std::nullopt;
}

bool bloom_may_contain(const BloomFilter& filter, uint64_t hash) {
    constexpr uint32_t kMostFunctions = 64;
    const uint64_t size = filter.bits.size() * 8;
    if (size == 0 || size > INT32_MAX || filter.functions == 0 || filter.functions > kMostFunctions) return true;
    const auto low = static_cast<uint32_t>(hash), high = static_cast<uint32_t>(hash >> 32);
    for (uint32_t i = 1; i <= filter.functions; ++i) {
        auto combined = static_cast<int32_t>(low + i * high);
        if (combined < 0) combined = ~combined;
        const uint64_t bit = static_cast<uint64_t>(combined) % size;
        if (!(static_cast<uint8_t>(filter.bits[bit / 8]) >> (bit % 8) & 1)) return false;
    }
    return true;
}

}  // namespace firn::file::orc
