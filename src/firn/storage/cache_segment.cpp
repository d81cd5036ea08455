#include "firn/storage/cache_segment.h"

#include <algorithm>
#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace firn::storage {
namespace {

constexpr std::string_view kMagic = "firnseg1";
constexpr uint32_t kFixedBytes = 8 + 4 + 4 + 3 * 8 + 4 + 4;
constexpr uint32_t kMostHeadBytes = 64 << 20;

template <typename T>
void put(std::string& out, T value) {
    static_assert(std::endian::native == std::endian::little);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
}

template <typename T>
T take(std::span<const uint8_t>& in) {
    T value;
    std::memcpy(&value, in.data(), sizeof(T));
    in = in.subspan(sizeof(T));
    return value;
}

std::string take_text(std::span<const uint8_t>& in, size_t bytes) {
    std::string text(reinterpret_cast<const char*>(in.data()), bytes);
    in = in.subspan(bytes);
    return text;
}

uint64_t block_count(uint64_t length) { return length / kSegmentBlock + (length % kSegmentBlock != 0); }

}  // namespace

uint64_t segment_head_size(const SegmentHead& head, uint64_t bytes) {
    return kFixedBytes + head.key.size() + head.etag.size() + (block_count(bytes) + 1) * sizeof(uint64_t);
}

std::string encode_segment_head(SegmentHead head, std::span<const uint8_t> bytes) {
    const uint64_t blocks = block_count(bytes.size());
    std::string out(kMagic);
    put<uint32_t>(out, static_cast<uint32_t>(segment_head_size(head, bytes.size())));
    put<uint32_t>(out, kSegmentBlock);
    put<uint64_t>(out, head.object_size);
    put<uint64_t>(out, head.offset);
    put<uint64_t>(out, bytes.size());
    put<uint32_t>(out, static_cast<uint32_t>(head.key.size()));
    put<uint32_t>(out, static_cast<uint32_t>(head.etag.size()));
    out += head.key;
    out += head.etag;
    for (uint64_t i = 0; i < blocks; ++i) {
        const auto block =
            bytes.subspan(i * kSegmentBlock, std::min<size_t>(kSegmentBlock, bytes.size() - i * kSegmentBlock));
        put<uint64_t>(out, XXH3_64bits(block.data(), block.size()));
    }
    put<uint64_t>(out, XXH3_64bits(out.data(), out.size()));
    return out;
}

std::optional<uint32_t> segment_head_bytes(std::span<const uint8_t> prefix) {
    if (prefix.size() < kSegmentPrefix || std::memcmp(prefix.data(), kMagic.data(), kMagic.size()) != 0)
        return std::nullopt;
    prefix = prefix.subspan(kMagic.size());
    const auto bytes = take<uint32_t>(prefix);
    const auto block = take<uint32_t>(prefix);
    if (bytes < kFixedBytes + 2 * 8 || bytes > kMostHeadBytes || block != kSegmentBlock) return std::nullopt;
    return bytes;
}

std::optional<SegmentHead> parse_segment_head(std::span<const uint8_t> in, uint64_t file_size) {
    const auto bytes = segment_head_bytes(in);
    if (!bytes || in.size() < *bytes || file_size < *bytes) return std::nullopt;
    in = in.first(*bytes);
    uint64_t sum;
    std::memcpy(&sum, in.data() + in.size() - 8, 8);
    if (XXH3_64bits(in.data(), in.size() - 8) != sum) return std::nullopt;
    in = in.subspan(kSegmentPrefix, in.size() - kSegmentPrefix - 8);
    SegmentHead head;
    head.object_size = take<uint64_t>(in);
    head.offset = take<uint64_t>(in);
    head.length = take<uint64_t>(in);
    const auto key_bytes = take<uint32_t>(in), etag_bytes = take<uint32_t>(in);
    if (head.length == 0 || head.length != file_size - *bytes) return std::nullopt;
    if (head.offset > head.object_size || head.length > head.object_size - head.offset) return std::nullopt;
    const uint64_t blocks = block_count(head.length);
    if (in.size() != uint64_t{key_bytes} + etag_bytes + blocks * 8) return std::nullopt;
    head.key = take_text(in, key_bytes);
    head.etag = take_text(in, etag_bytes);
    head.checksums.reserve(blocks);
    for (uint64_t i = 0; i < blocks; ++i) head.checksums.push_back(take<uint64_t>(in));
    return head;
}

bool is_block(const SegmentHead& head, size_t block, std::span<const uint8_t> bytes) {
    return block < head.checksums.size() && XXH3_64bits(bytes.data(), bytes.size()) == head.checksums[block];
}

}  // namespace firn::storage
