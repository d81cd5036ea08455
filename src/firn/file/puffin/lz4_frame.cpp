#include "firn/file/puffin/lz4_frame.h"

#include <cstring>

#include <arrow/util/compression.h>

#include "firn/base/error.h"

namespace firn::file::puffin {

void decompress_lz4_frame(std::string_view frame, std::string& out, uint64_t limit, std::string_view file) {
    auto bad = [&](std::string_view what) { fail(ErrorCode::INCORRECT_DATA, "{}: damaged LZ4 frame: {}", file, what); };
    // Magic, one byte of flags (bit 3: content size present), one of block sizes, then the size.
    constexpr std::string_view kMagic("\x04\x22\x4d\x18", 4);
    constexpr size_t kSizeAt = 6;
    if (frame.size() < kSizeAt + 8 || frame.substr(0, 4) != kMagic) bad("it does not begin as one");
    if ((frame[4] & 0x08) == 0) bad("it does not say its content's size");
    uint64_t size;
    std::memcpy(&size, frame.data() + kSizeAt, sizeof size);
    if (size > limit) fail(ErrorCode::LIMIT_EXCEEDED, "{}: decompresses to {} bytes, more than {}", file, size, limit);
    // LZ4 makes at most 255 bytes of one.
    if (size > frame.size() * 255) bad("its content's size cannot be true");
    auto codec = arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME);
    if (!codec.ok()) fail(ErrorCode::NOT_IMPLEMENTED, "the codec LZ4 is missing: {}", codec.status().message());
    out.resize(size);
    auto done = (*codec)->Decompress(static_cast<int64_t>(frame.size()), reinterpret_cast<const uint8_t*>(frame.data()),
                                     static_cast<int64_t>(size), reinterpret_cast<uint8_t*>(out.data()));
    if (!done.ok() || static_cast<uint64_t>(*done) != size) bad("its content is not as long as it says");
}

}  // namespace firn::file::puffin
