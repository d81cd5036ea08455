// Files of the cache on disk: any bytes as one, and the input as the bytes of a segment that is then hurt in one place.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "firn/storage/cache_segment.h"

namespace {

using namespace firn::storage;

/// Reads the file as the cache does; whether all of it is believed.
bool believed(std::span<const uint8_t> file) {
    if (file.size() < kSegmentPrefix || !segment_head_bytes(file.first(kSegmentPrefix))) return false;
    const uint32_t head_bytes = *segment_head_bytes(file);
    const auto head = parse_segment_head(file, file.size());
    if (!head) return false;
    if (head->length != file.size() - head_bytes || head->offset + head->length > head->object_size) std::abort();
    for (uint64_t at = 0, block = 0; at < head->length; at += kSegmentBlock, ++block) {
        const uint64_t size = std::min<uint64_t>(kSegmentBlock, head->length - at);
        if (!is_block(*head, block, file.subspan(head_bytes + at, size))) return false;
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    believed({data, size});
    if (size < 8) return 0;
    uint32_t place;
    std::memcpy(&place, data, sizeof place);
    SegmentHead head;
    head.key.assign(reinterpret_cast<const char*>(data), size % 97);
    head.etag = "e";
    head.offset = data[4];
    head.object_size = head.offset + size + data[5];
    head.length = size;
    std::string file = encode_segment_head(head, {data, size});
    file.append(reinterpret_cast<const char*>(data), size);
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(file.data()), file.size());
    if (!believed(bytes)) std::abort();
    bytes[place % bytes.size()] ^= static_cast<uint8_t>(data[6] | 1);
    if (believed(bytes)) std::abort();
    return 0;
}
