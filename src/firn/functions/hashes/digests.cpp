// MD5 (RFC 1321) and the SHA family (FIPS 180-4).
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "firn/functions/hashes/hash_values.h"

namespace firn::functions {

namespace {

template <typename W>
W big_endian(W value) {
    if constexpr (sizeof(W) == 4)
        return __builtin_bswap32(value);
    else
        return __builtin_bswap64(value);
}

/// The message with its padding: a one bit, zeros, and the length in bits at the end of the last block.
std::string padded(std::string_view data, size_t block, bool big) {
    std::string out(data);
    out.push_back(static_cast<char>(0x80));
    const size_t length_bytes = block / 8;
    while (out.size() % block != block - length_bytes) out.push_back(0);
    out.append(length_bytes - 8, '\0');
    uint64_t bits = static_cast<uint64_t>(data.size()) * 8;
    if (big) bits = big_endian(bits);
    out.append(reinterpret_cast<const char*>(&bits), 8);
    return out;
}

/// The first bits of the fractional part of a root of the n-th prime: constants of SHA-2. Exact, by integer search.
template <typename W>
W root_fraction(unsigned prime, bool cube) {
    // The largest r with r^2 (or r^3) <= prime * 2^(2 * bits) (or 3 * bits); its low bits are the fraction.
    constexpr int kBits = sizeof(W) * 8;
    const UInt256 target = UInt256(static_cast<UInt128>(prime)) << static_cast<unsigned>(kBits * (cube ? 3 : 2));
    UInt128 root = 0;
    for (int bit = kBits + 5; bit >= 0; --bit) {
        const UInt128 candidate = root | (static_cast<UInt128>(1) << bit);
        UInt256 power = UInt256(candidate) * UInt256(candidate);
        if (cube) power = power * UInt256(candidate);
        if (power <= target) root = candidate;
    }
    return static_cast<W>(root);
}

template <typename W, size_t N>
std::array<W, N> root_constants(bool cube, size_t skip = 0) {
    std::array<W, N> out{};
    size_t found = 0;
    for (unsigned n = 2; found < N + skip; ++n) {
        bool prime = true;
        for (unsigned d = 2; d * d <= n; ++d) prime &= n % d != 0;
        if (!prime) continue;
        if (found >= skip) out[found - skip] = root_fraction<W>(n, cube);
        ++found;
    }
    return out;
}

template <typename W>
struct Sha2 {
    static constexpr size_t kRounds = sizeof(W) == 4 ? 64 : 80, kBlock = sizeof(W) * 16;

    static W big_sigma0(W x) {
        return sizeof(W) == 4 ? std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22)
                              : std::rotr(x, 28) ^ std::rotr(x, 34) ^ std::rotr(x, 39);
    }
    static W big_sigma1(W x) {
        return sizeof(W) == 4 ? std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25)
                              : std::rotr(x, 14) ^ std::rotr(x, 18) ^ std::rotr(x, 41);
    }
    static W small_sigma0(W x) {
        return sizeof(W) == 4 ? std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3)
                              : std::rotr(x, 1) ^ std::rotr(x, 8) ^ (x >> 7);
    }
    static W small_sigma1(W x) {
        return sizeof(W) == 4 ? std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10)
                              : std::rotr(x, 19) ^ std::rotr(x, 61) ^ (x >> 6);
    }

    static std::string digest(std::string_view data, std::array<W, 8> state, size_t bytes) {
        static const auto kConstants = root_constants<W, kRounds>(true);
        const std::string message = padded(data, kBlock, true);
        for (size_t at = 0; at < message.size(); at += kBlock) {
            W w[kRounds];
            std::memcpy(w, message.data() + at, kBlock);
            for (size_t i = 0; i < 16; ++i) w[i] = big_endian(w[i]);
            for (size_t i = 16; i < kRounds; ++i)
                w[i] = small_sigma1(w[i - 2]) + w[i - 7] + small_sigma0(w[i - 15]) + w[i - 16];
            std::array<W, 8> v = state;
            for (size_t i = 0; i < kRounds; ++i) {
                const W first = v[7] + big_sigma1(v[4]) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + kConstants[i] + w[i];
                const W second = big_sigma0(v[0]) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
                for (size_t k = 7; k > 0; --k) v[k] = v[k - 1];
                v[4] += first;
                v[0] = first + second;
            }
            for (size_t k = 0; k < 8; ++k) state[k] += v[k];
        }
        for (auto& word : state) word = big_endian(word);
        return {reinterpret_cast<const char*>(state.data()), bytes};
    }
};

}  // namespace

std::string md5(std::string_view data) {
    static const auto kSines = [] {
        std::array<uint32_t, 64> made{};
        for (size_t i = 0; i < 64; ++i)
            made[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
        return made;
    }();
    constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const std::string message = padded(data, 64, false);
    for (size_t at = 0; at < message.size(); at += 64) {
        uint32_t w[16];
        std::memcpy(w, message.data() + at, 64);
        auto [a, b, c, d] = state;
        for (size_t i = 0; i < 64; ++i) {
            uint32_t f = 0;
            size_t place = 0;
            switch (i / 16) {
                case 0:
                    f = (b & c) | (~b & d), place = i;
                    break;
                case 1:
                    f = (d & b) | (~d & c), place = (5 * i + 1) % 16;
                    break;
                case 2:
                    f = b ^ c ^ d, place = (3 * i + 5) % 16;
                    break;
                default:
                    f = c ^ (b | ~d), place = 7 * i % 16;
                    break;
            }
            const uint32_t turned = b + std::rotl(a + f + kSines[i] + w[place], kTurns[i / 16][i % 4]);
            a = d;
            d = c;
            c = b;
            b = turned;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
    }
    return {reinterpret_cast<const char*>(state.data()), 16};
}

std::string sha1(std::string_view data) {
    std::array<uint32_t, 5> state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    const std::string message = padded(data, 64, true);
    for (size_t at = 0; at < message.size(); at += 64) {
        uint32_t w[80];
        std::memcpy(w, message.data() + at, 64);
        for (size_t i = 0; i < 16; ++i) w[i] = big_endian(w[i]);
        for (size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        auto [a, b, c, d, e] = state;
        for (size_t i = 0; i < 80; ++i) {
            uint32_t f = 0, k = 0;
            if (i < 20)
                f = (b & c) | (~b & d), k = 0x5A827999;
            else if (i < 40)
                f = b ^ c ^ d, k = 0x6ED9EBA1;
            else if (i < 60)
                f = (b & c) | (b & d) | (c & d), k = 0x8F1BBCDC;
            else
                f = b ^ c ^ d, k = 0xCA62C1D6;
            const uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
            e = d;
            d = c;
            c = std::rotl(b, 30);
            b = a;
            a = next;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
    }
    for (auto& word : state) word = big_endian(word);
    return {reinterpret_cast<const char*>(state.data()), 20};
}

std::string sha256(std::string_view data) {
    static const auto kStart = root_constants<uint32_t, 8>(false);
    return Sha2<uint32_t>::digest(data, kStart, 32);
}
std::string sha512(std::string_view data) {
    static const auto kStart = root_constants<uint64_t, 8>(false);
    return Sha2<uint64_t>::digest(data, kStart, 64);
}
std::string sha384(std::string_view data) {
    static const auto kStart = root_constants<uint64_t, 8>(false, 8);
    return Sha2<uint64_t>::digest(data, kStart, 48);
}
std::string sha224(std::string_view data) {
    // The second halves of SHA-384's.
    static const auto kStart = [] {
        const auto wide = root_constants<uint64_t, 8>(false, 8);
        std::array<uint32_t, 8> made{};
        for (size_t i = 0; i < 8; ++i) made[i] = static_cast<uint32_t>(wide[i]);
        return made;
    }();
    return Sha2<uint32_t>::digest(data, kStart, 28);
}

}  // namespace firn::functions
