// CityHash64 as its version 1.0.2 defined it.
#include <bit>
#include <cstring>
#include <utility>

#include "firn/functions/hashes/hash_values.h"

namespace firn::functions {

namespace {

constexpr uint64_t kZero = 0xc3a5c85c97cb3127, kOne = 0xb492b66fbe98f273, kTwo = 0x9ae16a3b2f90404f,
                   kThree = 0xc949d7c7509e6557;

uint64_t word(const char* at) {
    uint64_t value;
    std::memcpy(&value, at, 8);
    return value;
}
uint64_t half_word(const char* at) {
    uint32_t value;
    std::memcpy(&value, at, 4);
    return value;
}
uint64_t fold(uint64_t value) { return value ^ (value >> 47); }
uint64_t rotated(uint64_t value, int places) { return std::rotr(value, places); }

uint64_t short_text(const char* s, uint64_t size) {
    if (size > 8) {
        const uint64_t last = word(s + size - 8);
        return city_combine(word(s), rotated(last + size, static_cast<int>(size))) ^ last;
    }
    if (size >= 4) return city_combine(size + (half_word(s) << 3), half_word(s + size - 4));
    if (size == 0) return kTwo;
    const auto byte = [&](uint64_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(s[i])); };
    const uint32_t front = byte(0) + (byte(size >> 1) << 8), back = static_cast<uint32_t>(size) + (byte(size - 1) << 2);
    return fold(front * kTwo ^ back * kThree) * kTwo;
}

uint64_t middle_text(const char* s, uint64_t size) {
    const uint64_t a = word(s) * kOne, b = word(s + 8), c = word(s + size - 8) * kTwo, d = word(s + size - 16) * kZero;
    return city_combine(rotated(a - b, 43) + rotated(c, 30) + d, a + rotated(b ^ kThree, 20) - c + size);
}

using Pair = std::pair<uint64_t, uint64_t>;

Pair block(const char* s, uint64_t a, uint64_t b) {
    const uint64_t last = word(s + 24);
    a += word(s);
    b = rotated(b + a + last, 21);
    const uint64_t begun = a;
    a += word(s + 8) + word(s + 16);
    b += rotated(a, 44);
    return {a + last, b + begun};
}

/// Half of the mixing of 33 to 64 bytes; `s`: where the half's 32 bytes are.
Pair half_of_long(const char* s, uint64_t a, uint64_t last) {
    uint64_t b = rotated(a + last, 52), c = rotated(a, 37);
    a += word(s + 8);
    c += rotated(a, 7);
    a += word(s + 16);
    return {a + last, b + rotated(a, 31) + c};
}

uint64_t long_text(const char* s, uint64_t size) {
    const Pair front = half_of_long(s, word(s) + (size + word(s + size - 16)) * kZero, word(s + 24));
    const Pair back = half_of_long(s + size - 32, word(s + 16) + word(s + size - 32), word(s + size - 8));
    const uint64_t mixed = fold((front.first + back.second) * kTwo + (back.first + front.second) * kZero);
    return fold(mixed * kZero + front.second) * kTwo;
}

}  // namespace

uint64_t city_combine(uint64_t a, uint64_t b) {
    constexpr uint64_t kMultiplier = 0x9ddfea08eb382d69;
    const uint64_t first = fold((a ^ b) * kMultiplier);
    return fold((b ^ first) * kMultiplier) * kMultiplier;
}

uint64_t city_hash(const char* s, size_t size) {
    if (size <= 16) return short_text(s, size);
    if (size <= 32) return middle_text(s, size);
    if (size <= 64) return long_text(s, size);
    uint64_t x = word(s), y = word(s + size - 16) ^ kOne, z = word(s + size - 56) ^ kZero;
    Pair v = block(s + size - 64, size, y), w = block(s + size - 32, size * kOne, kZero);
    z += fold(v.second) * kOne;
    x = rotated(z + x, 39) * kOne;
    y = rotated(y, 33) * kOne;
    for (size_t left = (size - 1) & ~size_t{63}; left > 0; left -= 64, s += 64) {
        x = rotated(x + y + v.first + word(s + 16), 37) * kOne;
        y = rotated(y + v.second + word(s + 48), 42) * kOne;
        x ^= w.second;
        y ^= v.first;
        z = rotated(z ^ w.first, 33);
        v = block(s, v.second * kOne, x + w.first);
        w = block(s + 32, z + w.second, y);
        std::swap(z, x);
    }
    return city_combine(city_combine(v.first, w.first) + fold(y) * kOne + z, city_combine(v.second, w.second) + x);
}

}  // namespace firn::functions
