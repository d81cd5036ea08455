// LZ4 blocks: compressed bytes alone, without frame or sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace firn::file {

/// Bytes that one block holds at most, before compression.
constexpr size_t kMostLz4Bytes = 0x7E000000;

/// The most bytes that so many, at most kMostLz4Bytes, may become.
size_t lz4_bound(size_t bytes);
/// Compresses into `out`, which has lz4_bound(in.size()) bytes; returns how many were written. Thread-safe.
size_t lz4_compress(std::span<const uint8_t> in, std::span<uint8_t> out);
/// False where `in` is no block of exactly out.size() bytes. Thread-safe.
bool lz4_decompress(std::span<const uint8_t> in, std::span<uint8_t> out);

}  // namespace firn::file
