#include "firn/file/parquet/codec.h"

#include <arrow/util/compression.h>
#include <zlib.h>
#include <zstd.h>

#include "firn/base/error.h"

namespace firn::file::pq {

struct Decompressor::State {
    Compression compression;
    std::unique_ptr<arrow::util::Codec> codec;  // of what is not decompressed directly
};

namespace {

/// The thread's own: making one takes as long as decompressing a small page.
ZSTD_DCtx* zstd_context() {
    static thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                                         ZSTD_freeDCtx);
    return context.get();
}

std::unique_ptr<arrow::util::Codec> arrow_codec(arrow::Compression::type type) {
    auto codec = arrow::util::Codec::Create(type);
    if (!codec.ok()) fail(ErrorCode::NOT_IMPLEMENTED, "no codec: {}", codec.status().message());
    return std::move(codec).ValueOrDie();
}

[[noreturn]] void wrong_size(size_t got, size_t expected) {
    fail(ErrorCode::INCORRECT_DATA, "a page decompresses to {} bytes, and not to the {} that its header says", got,
         expected);
}

/// All members of a gzip (or zlib) stream, one after another.
void inflate_all(std::span<const uint8_t> in, std::span<uint8_t> out) {
    z_stream stream{};
    if (inflateInit2(&stream, 15 + 32) != Z_OK) fail(ErrorCode::CANNOT_DECOMPRESS, "zlib does not start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    stream.next_in = const_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    while (stream.avail_in) {
        const int result = inflate(&stream, Z_FINISH);
        if (result != Z_STREAM_END)
            fail(ErrorCode::INCORRECT_DATA, "a page is not valid gzip data: {}",
                 stream.msg ? stream.msg : "wrong size");
        if (stream.avail_out == 0) return;
        if (stream.avail_in && inflateReset(&stream) != Z_OK) break;
    }
    if (stream.avail_out) wrong_size(out.size() - stream.avail_out, out.size());
}

/// How many bytes one compressed byte can stand for at most; 0: no bound worth checking.
uint64_t most_per_byte(Compression compression) {
    switch (compression) {
        case Compression::Snappy:
            return 64;
        case Compression::Gzip:
            return 1100;
        case Compression::Lz4:
        case Compression::Lz4Raw:
            return 256;
        case Compression::Zstd:
            return 1 << 16;
        default:
            return 0;
    }
}

}  // namespace

Decompressor::Decompressor(Compression compression) : state_(std::make_unique<State>()) {
    state_->compression = compression;
    switch (compression) {
        case Compression::Zstd:
        case Compression::Uncompressed:
        case Compression::Gzip:
            break;
        case Compression::Snappy:
            state_->codec = arrow_codec(arrow::Compression::SNAPPY);
            break;
        case Compression::Brotli:
            state_->codec = arrow_codec(arrow::Compression::BROTLI);
            break;
        case Compression::Lz4:
            state_->codec = arrow_codec(arrow::Compression::LZ4_HADOOP);
            break;
        case Compression::Lz4Raw:
            state_->codec = arrow_codec(arrow::Compression::LZ4);
            break;
        case Compression::Lzo:
            fail(ErrorCode::NOT_IMPLEMENTED, "LZO compression is not supported");
    }
}

Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;

void Decompressor::check_size(std::span<const uint8_t> in, size_t size) const {
    const uint64_t most = most_per_byte(state_->compression);
    if (most && size > (in.size() + 1) * most)
        fail(ErrorCode::INCORRECT_DATA, "a page of {} bytes cannot decompress to the {} that its header says",
             in.size(), size);
}

void Decompressor::decompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
    if (out.empty()) return;
    if (state_->compression == Compression::Gzip) return inflate_all(in, out);
    if (state_->compression == Compression::Zstd) {
        const size_t got = ZSTD_decompressDCtx(zstd_context(), out.data(), out.size(), in.data(), in.size());
        if (ZSTD_isError(got))
            fail(ErrorCode::INCORRECT_DATA, "a page is not valid zstd data: {}", ZSTD_getErrorName(got));
        if (got != out.size()) wrong_size(got, out.size());
        return;
    }
    const auto got = state_->codec->Decompress(static_cast<int64_t>(in.size()), in.data(),
                                               static_cast<int64_t>(out.size()), out.data());
    if (!got.ok()) fail(ErrorCode::INCORRECT_DATA, "a page does not decompress: {}", got.status().message());
    if (static_cast<size_t>(*got) != out.size()) wrong_size(static_cast<size_t>(*got), out.size());
}

}  // namespace firn::file::pq
