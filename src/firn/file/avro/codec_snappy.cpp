#include <arrow/util/compression.h>

#include "firn/base/error.h"
#include "firn/file/avro/codec.h"

namespace firn::file::avro {

void decompress_snappy(std::string_view compressed, std::string& out, uint64_t limit) {
    // The length comes first, as a varint of at most 32 bits. Snappy makes at most about 64 bytes of three.
    uint64_t length = 0;
    size_t at = 0;
    for (int shift = 0;; shift += 7) {
        if (at == compressed.size() || shift > 28) fail(ErrorCode::INCORRECT_DATA, "damaged snappy data");
        auto byte = static_cast<uint8_t>(compressed[at++]);
        length |= uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) break;
    }
    if (length > compressed.size() * 64 + 64) fail(ErrorCode::INCORRECT_DATA, "damaged snappy data");
    size_t begin = out.size();
    if (length > limit || begin > limit - length) {
        fail(ErrorCode::LIMIT_EXCEEDED, "decompresses to more than {} bytes", limit);
    }
    auto codec = arrow::util::Codec::Create(arrow::Compression::SNAPPY);
    if (!codec.ok()) fail(ErrorCode::NOT_IMPLEMENTED, "the codec snappy is missing: {}", codec.status().message());
    out.resize(begin + length);
    auto done = (*codec)->Decompress(static_cast<int64_t>(compressed.size()),
                                     reinterpret_cast<const uint8_t*>(compressed.data()), static_cast<int64_t>(length),
                                     reinterpret_cast<uint8_t*>(out.data()) + begin);
    if (!done.ok() || static_cast<uint64_t>(*done) != length) fail(ErrorCode::INCORRECT_DATA, "damaged snappy data");
}

}  // namespace firn::file::avro
