#include "firn/file/avro/codec.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "firn/base/error.h"

namespace firn::file::avro {

namespace {

[[noreturn]] void fail_limit(uint64_t limit) {
    fail(ErrorCode::LIMIT_EXCEEDED, "decompresses to more than {} bytes", limit);
}

/// Grows `out` for more output; its size is then the room that there is.
void grow(std::string& out, size_t used, size_t more, uint64_t limit) {
    if (used >= limit) fail_limit(limit);
    out.resize(std::min<uint64_t>(limit, used + std::max<size_t>(more, used / 2)));
}

/// A stream that is kept by its thread: making one costs more than a small block.
z_stream& thread_inflater() {
    struct Inflater {
        z_stream stream{};
        Inflater() {
            if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail(ErrorCode::CANNOT_DECOMPRESS, "zlib cannot start");
        }
        ~Inflater() { inflateEnd(&stream); }
    };
    static thread_local Inflater inflater;
    inflateReset(&inflater.stream);
    return inflater.stream;
}

void inflate_raw(std::string_view compressed, std::string& out, uint64_t limit) {
    z_stream& stream = thread_inflater();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    if (compressed.size() > UINT32_MAX) fail_limit(UINT32_MAX);
    stream.avail_in = static_cast<uInt>(compressed.size());
    size_t used = out.size();
    grow(out, used, compressed.size() * 6 + 64, limit);
    for (;;) {
        uInt room = static_cast<uInt>(std::min<size_t>(out.size() - used, UINT32_MAX));
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
        stream.avail_out = room;
        int status = inflate(&stream, Z_NO_FLUSH);
        used += room - stream.avail_out;
        if (status == Z_STREAM_END) break;
        bool full = stream.avail_out == 0;
        if (status != Z_OK && !(status == Z_BUF_ERROR && full)) fail(ErrorCode::INCORRECT_DATA, "damaged deflate data");
        if (!full) fail(ErrorCode::INCORRECT_DATA, "deflate data end too early");
        grow(out, used, out.size(), limit);
    }
    out.resize(used);
}

void decompress_zstd(std::string_view compressed, std::string& out, uint64_t limit) {
    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    static thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
    if (!context) fail(ErrorCode::CANNOT_DECOMPRESS, "zstd cannot start");
    ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
    ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
    size_t used = out.size();
    unsigned long long told = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
    if (told == ZSTD_CONTENTSIZE_ERROR) fail(ErrorCode::INCORRECT_DATA, "damaged zstd data");
    // The size told is a claim: believed for the first room only up to what could be worth it.
    size_t first = compressed.size() * 6 + 64;
    if (told != ZSTD_CONTENTSIZE_UNKNOWN) first = std::min<unsigned long long>(told + 1, compressed.size() * 64 + 64);
    grow(out, used, first, limit);
    for (;;) {
        ZSTD_outBuffer room{out.data() + used, out.size() - used, 0};
        size_t left = ZSTD_decompressStream(context.get(), &room, &in);
        used += room.pos;
        if (ZSTD_isError(left)) fail(ErrorCode::INCORRECT_DATA, "damaged zstd data: {}", ZSTD_getErrorName(left));
        if (left == 0 && in.pos == in.size) break;
        if (room.pos < room.size && in.pos == in.size) fail(ErrorCode::INCORRECT_DATA, "zstd data end too early");
        if (room.pos == room.size) grow(out, used, out.size(), limit);
    }
    out.resize(used);
}

}  // namespace

void decompress_block(Codec codec, std::string_view compressed, std::string& out, uint64_t limit) {
    switch (codec) {
        case Codec::Null:
            if (compressed.size() > limit || out.size() > limit - compressed.size()) fail_limit(limit);
            out.append(compressed);
            return;
        case Codec::Deflate:
            inflate_raw(compressed, out, limit);
            return;
        case Codec::Snappy: {
            // The last four bytes are the CRC-32 of the decompressed ones, big-endian.
            if (compressed.size() < 4) fail(ErrorCode::INCORRECT_DATA, "snappy block without its checksum");
            size_t begin = out.size();
            decompress_snappy(compressed.substr(0, compressed.size() - 4), out, limit);
            uint32_t told = 0;
            for (char byte : compressed.substr(compressed.size() - 4)) told = told << 8 | static_cast<uint8_t>(byte);
            auto found = crc32_z(0, reinterpret_cast<const Bytef*>(out.data() + begin), out.size() - begin);
            if (told != static_cast<uint32_t>(found))
                fail(ErrorCode::INCORRECT_DATA, "snappy block fails its checksum");
            return;
        }
        case Codec::Zstandard:
            decompress_zstd(compressed, out, limit);
            return;
        case Codec::Bzip2:
            fail(ErrorCode::NOT_IMPLEMENTED, "the Avro codec bzip2 is not supported");
        case Codec::Xz:
            fail(ErrorCode::NOT_IMPLEMENTED, "the Avro codec xz is not supported");
    }
}

}  // namespace firn::file::avro
