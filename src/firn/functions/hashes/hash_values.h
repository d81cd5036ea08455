// Hashes of bytes, as ClickHouse's hash functions compute them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/wide_int.h"

namespace firn::functions {

uint64_t city_hash(const char* data, size_t size);
uint64_t city_combine(uint64_t a, uint64_t b);

/// SipHash-2-4 with the given key; 64 bits, or 128 in the way that ClickHouse ends it (the low half first).
uint64_t sip_hash_64(const char* data, size_t size, uint64_t key0 = 0, uint64_t key1 = 0);
UInt128 sip_hash_128(const char* data, size_t size, uint64_t key0 = 0, uint64_t key1 = 0);

uint32_t murmur_hash2_32(const char* data, size_t size, uint32_t seed = 0);
uint64_t murmur_hash2_64(const char* data, size_t size, uint64_t seed = 0);
uint32_t murmur_hash3_32(const char* data, size_t size, uint32_t seed = 0);
UInt128 murmur_hash3_128(const char* data, size_t size, uint32_t seed = 0);

/// ClickHouse's hash of a 64-bit integer.
uint64_t int_hash_64(uint64_t value);
uint32_t int_hash_32(uint64_t value);

/// Digests as bytes.
std::string md5(std::string_view data);
std::string sha1(std::string_view data);
std::string sha256(std::string_view data);
std::string sha224(std::string_view data);
std::string sha512(std::string_view data);
std::string sha384(std::string_view data);

}  // namespace firn::functions
