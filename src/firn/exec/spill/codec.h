// How spilled blocks are compressed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "firn/base/memory.h"

namespace firn::exec {

enum class SpillCodec : uint8_t { None, Lz4, Zstd };

/// Bytes that one block holds at most, before compression.
constexpr size_t kMostSpilledBlock = 0x7E000000;

/// `bytes`, at most kMostSpilledBlock, compressed: within `room`, which is made for them, or where they were. Thread-safe.
std::string_view compress(SpillCodec codec, std::string_view bytes, MutableBufferPtr& room);
/// False where `stored` is not what compress() makes of out.size() bytes. Thread-safe.
bool decompress(SpillCodec codec, std::string_view stored, std::span<char> out);

}  // namespace firn::exec
