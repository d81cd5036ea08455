// A file of the cache on disk: bytes of one object from some offset on, behind a head that says which and proves them.
//
// Little-endian: magic "firnseg1"; u32 bytes of the head in all; u32 bytes a block (kSegmentBlock); u64 bytes of the
// object, offset, length; u32 bytes of the key, u32 bytes of the etag; key; etag; a u64 XXH3 of each block of the bytes;
// a u64 XXH3 of the head before it. The object's bytes follow, and nothing else. A file that is not so in any point is no segment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firn::storage {

constexpr uint32_t kSegmentBlock = 64 << 10;

struct SegmentHead {
    std::string key;                  ///< which object and which version of it
    std::string etag;                 ///< of the reply that the bytes are from; may be empty
    uint64_t object_size = 0;         ///< bytes
    uint64_t offset = 0;              ///< of the first byte in the object
    uint64_t length = 0;              ///< bytes held, at least one
    std::vector<uint64_t> checksums;  ///< one a block
};

/// Bytes of the head of a segment of so many bytes.
uint64_t segment_head_size(const SegmentHead& head, uint64_t bytes);
/// The head of a segment of these bytes; head.checksums is made here.
std::string encode_segment_head(SegmentHead head, std::span<const uint8_t> bytes);

/// Bytes of the head in all, out of its first ones (kSegmentPrefix at least); nothing where they begin no segment.
constexpr size_t kSegmentPrefix = 16;
std::optional<uint32_t> segment_head_bytes(std::span<const uint8_t> prefix);

/// The head of a file of `file_size` bytes; nothing where it is damaged or does not fit the file.
std::optional<SegmentHead> parse_segment_head(std::span<const uint8_t> head, uint64_t file_size);

/// Whether these are the bytes of that block.
bool is_block(const SegmentHead& head, size_t block, std::span<const uint8_t> bytes);

}  // namespace firn::storage
