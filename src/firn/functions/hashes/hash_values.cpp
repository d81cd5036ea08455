// SipHash, MurmurHash 2 and 3, and hashes of integers.
#include "firn/functions/hashes/hash_values.h"

#include <bit>
#include <cstring>

namespace firn::functions {

namespace {

template <typename T>
T load(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

class Sip {
public:
    Sip(uint64_t key0, uint64_t key1)
        : v0_(0x736f6d6570736575 ^ key0),
          v1_(0x646f72616e646f6d ^ key1),
          v2_(0x6c7967656e657261 ^ key0),
          v3_(0x7465646279746573 ^ key1) {}

    void run(const char* data, size_t size) {
        size_t at = 0;
        for (; at + 8 <= size; at += 8) take(load<uint64_t>(data + at));
        uint64_t last = static_cast<uint64_t>(size) << 56;
        for (int shift = 0; at < size; ++at, shift += 8)
            last |= static_cast<uint64_t>(static_cast<uint8_t>(data[at])) << shift;
        take(last);
        v2_ ^= 0xFF;
        for (int i = 0; i < 4; ++i) round();
    }
    uint64_t low() const { return v0_ ^ v1_; }
    uint64_t high() const { return v2_ ^ v3_; }

private:
    void take(uint64_t word) {
        v3_ ^= word;
        round();
        round();
        v0_ ^= word;
    }
    void round() {
        v0_ += v1_;
        v1_ = std::rotl(v1_, 13) ^ v0_;
        v0_ = std::rotl(v0_, 32);
        v2_ += v3_;
        v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ += v3_;
        v3_ = std::rotl(v3_, 21) ^ v0_;
        v2_ += v1_;
        v1_ = std::rotl(v1_, 17) ^ v2_;
        v2_ = std::rotl(v2_, 32);
    }
    uint64_t v0_, v1_, v2_, v3_;
};

uint64_t murmur3_finish(uint64_t k) {
    k = (k ^ (k >> 33)) * 0xff51afd7ed558ccd;
    k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53;
    return k ^ (k >> 33);
}

}  // namespace

uint64_t sip_hash_64(const char* data, size_t size, uint64_t key0, uint64_t key1) {
    Sip sip(key0, key1);
    sip.run(data, size);
    return sip.low() ^ sip.high();
}

UInt128 sip_hash_128(const char* data, size_t size, uint64_t key0, uint64_t key1) {
    Sip sip(key0, key1);
    sip.run(data, size);
    return (static_cast<UInt128>(sip.high()) << 64) | sip.low();
}

uint32_t murmur_hash2_32(const char* data, size_t size, uint32_t seed) {
    constexpr uint32_t kM = 0x5bd1e995;
    uint32_t h = seed ^ static_cast<uint32_t>(size);
    for (; size >= 4; data += 4, size -= 4) {
        uint32_t k = load<uint32_t>(data) * kM;
        k = (k ^ (k >> 24)) * kM;
        h = (h * kM) ^ k;
    }
    if (size > 0) {
        for (size_t i = 0; i < size; ++i) h ^= static_cast<uint32_t>(static_cast<uint8_t>(data[i])) << (8 * i);
        h *= kM;
    }
    h = (h ^ (h >> 13)) * kM;
    return h ^ (h >> 15);
}

uint64_t murmur_hash2_64(const char* data, size_t size, uint64_t seed) {
    constexpr uint64_t kM = 0xc6a4a7935bd1e995;
    uint64_t h = seed ^ (static_cast<uint64_t>(size) * kM);
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t k = load<uint64_t>(data) * kM;
        k = (k ^ (k >> 47)) * kM;
        h = (h ^ k) * kM;
    }
    if (size > 0) {
        for (size_t i = 0; i < size; ++i) h ^= static_cast<uint64_t>(static_cast<uint8_t>(data[i])) << (8 * i);
        h *= kM;
    }
    h = (h ^ (h >> 47)) * kM;
    return h ^ (h >> 47);
}

uint32_t murmur_hash3_32(const char* data, size_t size, uint32_t seed) {
    constexpr uint32_t kFirst = 0xcc9e2d51, kSecond = 0x1b873593;
    const auto mixed = [](uint32_t k) { return std::rotl(k * kFirst, 15) * kSecond; };
    uint32_t h = seed;
    size_t at = 0;
    for (; at + 4 <= size; at += 4) h = std::rotl(h ^ mixed(load<uint32_t>(data + at)), 13) * 5 + 0xe6546b64;
    uint32_t rest = 0;
    for (size_t i = 0; at + i < size; ++i) rest |= static_cast<uint32_t>(static_cast<uint8_t>(data[at + i])) << (8 * i);
    if (at < size) h ^= mixed(rest);
    h ^= static_cast<uint32_t>(size);
    h = (h ^ (h >> 16)) * 0x85ebca6b;
    h = (h ^ (h >> 13)) * 0xc2b2ae35;
    return h ^ (h >> 16);
}

UInt128 murmur_hash3_128(const char* data, size_t size, uint32_t seed) {
    constexpr uint64_t kFirst = 0x87c37b91114253d5, kSecond = 0x4cf5ad432745937f;
    const auto mixed1 = [](uint64_t k) { return std::rotl(k * kFirst, 31) * kSecond; };
    const auto mixed2 = [](uint64_t k) { return std::rotl(k * kSecond, 33) * kFirst; };
    uint64_t h1 = seed, h2 = seed;
    size_t at = 0;
    for (; at + 16 <= size; at += 16) {
        h1 = (std::rotl(h1 ^ mixed1(load<uint64_t>(data + at)), 27) + h2) * 5 + 0x52dce729;
        h2 = (std::rotl(h2 ^ mixed2(load<uint64_t>(data + at + 8)), 31) + h1) * 5 + 0x38495ab5;
    }
    uint64_t rest[2] = {0, 0};
    for (size_t i = 0; at + i < size; ++i)
        rest[i / 8] |= static_cast<uint64_t>(static_cast<uint8_t>(data[at + i])) << (8 * (i % 8));
    if (size - at > 8) h2 ^= mixed2(rest[1]);
    if (size > at) h1 ^= mixed1(rest[0]);
    h1 ^= size;
    h2 ^= size;
    h1 += h2;
    h2 += h1;
    h1 = murmur3_finish(h1);
    h2 = murmur3_finish(h2);
    h1 += h2;
    h2 += h1;
    return (static_cast<UInt128>(h2) << 64) | h1;
}

uint64_t int_hash_64(uint64_t value) { return murmur3_finish(value ^ 0x4CF2D2BAAE6DA887); }

uint32_t int_hash_32(uint64_t key) {
    key ^= 0x75D9543DE018BF45;
    key = ~key + (key << 18);
    key ^= std::rotr(key, 31);
    key *= 21;
    key ^= std::rotr(key, 11);
    key += key << 6;
    key ^= std::rotr(key, 22);
    return static_cast<uint32_t>(key);
}

}  // namespace firn::functions
