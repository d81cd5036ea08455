#include "firn/file/orc/byte_stream.h"

#include <algorithm>

#include <arrow/util/compression.h>
#include <zstd.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::file::orc {

BufferPtr fetch(const std::shared_ptr<const storage::OpenFile>& file, uint64_t offset, uint64_t length) {
    if (length == 0) return Buffer::allocate(0);
    count_event(ProfileEvent::ReadBytesFromStorage, length);
    const auto mapped = file->map();
    if (mapped.size() >= offset && mapped.size() - offset >= length)
        return Buffer::wrap(mapped.data() + offset, length, file);
    count_event(ProfileEvent::StorageReadRequests);
    return file->read_buffer(offset, length);
}

struct Decompressor::Codec {
    std::unique_ptr<arrow::util::Codec> codec;
    // Arrow's zstd wants the exact size of the result, which an ORC chunk does not tell.
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd{nullptr, &ZSTD_freeDCtx};
};

Decompressor::Decompressor(Compression compression, uint64_t block_size, std::string file)
    : compression_(compression), block_size_(block_size), file_(std::move(file)) {}

Decompressor::~Decompressor() = default;

namespace {

std::unique_ptr<arrow::util::Codec> make_codec(Compression compression, const std::string& file) {
    arrow::Result<std::unique_ptr<arrow::util::Codec>> codec = arrow::Status::NotImplemented("unknown");
    switch (compression) {
        case Compression::Zlib: {
            arrow::util::GZipCodecOptions options;
            options.gzip_format = arrow::util::GZipFormat::DEFLATE;
            codec = arrow::util::Codec::Create(arrow::Compression::GZIP, options);
            break;
        }
        case Compression::Snappy:
            codec = arrow::util::Codec::Create(arrow::Compression::SNAPPY);
            break;
        case Compression::Lz4:
            codec = arrow::util::Codec::Create(arrow::Compression::LZ4);
            break;
        case Compression::Brotli:
            codec = arrow::util::Codec::Create(arrow::Compression::BROTLI);
            break;
        default:
            break;
    }
    if (!codec.ok())
        fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: compression kind {} is not supported", file,
             static_cast<int>(compression));
    return std::move(*codec);
}

}  // namespace

size_t Decompressor::decompress(const uint8_t* in, size_t in_size, MutableBufferPtr& chunk) {
    if (!scratch_) scratch_ = Buffer::allocate(block_size_);
    const size_t made = decompress_into(in, in_size, scratch_->mutable_as<uint8_t>());
    if (made < block_size_ / 2) {
        if (!chunk || chunk->size() < made) chunk = Buffer::allocate(made);
        std::memcpy(chunk->mutable_data(), scratch_->data(), made);
    } else {
        std::swap(chunk, scratch_);
        if (scratch_ && scratch_->size() != block_size_) scratch_.reset();
    }
    return made;
}

size_t Decompressor::decompress_into(const uint8_t* in, size_t in_size, uint8_t* out) {
    if (!codec_) {
        codec_ = std::make_unique<Codec>();
        if (compression_ == Compression::Zstd)
            codec_->zstd.reset(ZSTD_createDCtx());
        else
            codec_->codec = make_codec(compression_, file_);
    }
    if (codec_->zstd) {
        const size_t made = ZSTD_decompressDCtx(codec_->zstd.get(), out, block_size_, in, in_size);
        if (ZSTD_isError(made))
            fail(ErrorCode::INCORRECT_DATA, "ORC file {}: a compressed chunk of {} bytes cannot be decompressed: {}",
                 file_, in_size, ZSTD_getErrorName(made));
        return made;
    }
    const auto made =
        codec_->codec->Decompress(static_cast<int64_t>(in_size), in, static_cast<int64_t>(block_size_), out);
    if (!made.ok() || *made < 0 || static_cast<uint64_t>(*made) > block_size_)
        fail(ErrorCode::INCORRECT_DATA, "ORC file {}: a compressed chunk of {} bytes cannot be decompressed{}", file_,
             in_size, made.ok() ? "" : ": " + made.status().message());
    return static_cast<size_t>(*made);
}

ByteStream::ByteStream(std::shared_ptr<const storage::OpenFile> file, std::shared_ptr<Decompressor> decompressor,
                       uint64_t offset, uint64_t length)
    : file_(std::move(file)), decompressor_(std::move(decompressor)), offset_(offset), length_(length) {}

ByteStream::ByteStream(std::string_view bytes, std::shared_ptr<Decompressor> decompressor)
    : decompressor_(std::move(decompressor)), length_(bytes.size()) {
    raw_begin_ = raw_at_ = reinterpret_cast<const uint8_t*>(bytes.data());
    raw_end_ = raw_begin_ + bytes.size();
    loaded_ = true;
}

ByteStream::ByteStream(std::shared_ptr<Decompressor> decompressor) : decompressor_(std::move(decompressor)) {
    loaded_ = true;
}

void ByteStream::load() {
    raw_ = fetch(file_, offset_, length_);
    raw_begin_ = raw_at_ = raw_->as<uint8_t>();
    raw_end_ = raw_begin_ + length_;
    loaded_ = true;
}

void ByteStream::fail_damaged(std::string_view what) const {
    fail(ErrorCode::INCORRECT_DATA, "ORC file {}: a damaged stream (at byte {}): {}", decompressor_->file(), offset_,
         what);
}

void ByteStream::need() {
    if (!refill()) fail_damaged("it ends too early");
}

/// Makes the next bytes available; false at the end.
bool ByteStream::refill() {
    if (!loaded_) load();
    while (raw_at_ != raw_end_) {
        check_cancelled();
        if (decompressor_->is_none()) {
            at_ = raw_at_;
            end_ = raw_at_ = raw_end_;
            return true;
        }
        if (raw_end_ - raw_at_ < 3) fail_damaged("a chunk's header is cut off");
        const uint32_t header = raw_at_[0] | raw_at_[1] << 8 | raw_at_[2] << 16;
        raw_at_ += 3;
        const size_t size = header >> 1;
        if (size > static_cast<size_t>(raw_end_ - raw_at_)) fail_damaged("a chunk is cut off");
        const uint8_t* chunk = raw_at_;
        at_ = end_ = nullptr;  // the chunk's buffer may be replaced
        raw_at_ += size;
        if (header & 1) {  // stored as it is
            at_ = chunk;
            end_ = chunk + size;
        } else {
            const size_t made = decompressor_->decompress(chunk, size, chunk_);
            at_ = chunk_->as<uint8_t>();
            end_ = at_ + made;
        }
        if (at_ != end_) return true;
    }
    return false;
}

void ByteStream::read(void* out, size_t bytes) {
    auto* to = static_cast<uint8_t*>(out);
    while (bytes) {
        if (at_ == end_) need();
        const size_t piece = std::min<size_t>(bytes, static_cast<size_t>(end_ - at_));
        std::memcpy(to, at_, piece);
        at_ += piece;
        to += piece;
        bytes -= piece;
    }
}

void ByteStream::skip(size_t bytes) {
    while (bytes) {
        if (at_ == end_) need();
        const size_t piece = std::min<size_t>(bytes, static_cast<size_t>(end_ - at_));
        at_ += piece;
        bytes -= piece;
    }
}

void ByteStream::seek(uint64_t chunk, uint64_t within) {
    if (!loaded_) load();
    if (chunk > length_) fail_damaged("the row index points beyond its end");
    raw_at_ = raw_begin_ + chunk;
    at_ = end_ = nullptr;
    skip(within);
}

uint64_t ByteStream::most_left() const {
    const uint64_t raw = loaded_ ? static_cast<uint64_t>(raw_end_ - raw_at_) : length_;
    const auto now = static_cast<uint64_t>(end_ - at_);
    return decompressor_->is_none() ? now + raw : now + (raw / 4 + 1) * decompressor_->block_size();
}

uint64_t ByteStream::unsigned_varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = read_byte();
        value |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    fail_damaged("a varint is too long");
}

std::string decompress_section(const storage::OpenFile& file, uint64_t offset, uint64_t length, Compression compression,
                               uint64_t block_size, size_t limit) {
    if (length > limit)
        fail(ErrorCode::LIMIT_EXCEEDED, "ORC file {}: a section of {} bytes is larger than {}", file.info().path,
             length, limit);
    std::string raw(length, '\0');
    if (length) file.read_at(offset, {reinterpret_cast<uint8_t*>(raw.data()), raw.size()});
    count_event(ProfileEvent::ReadBytesFromStorage, length);
    count_event(ProfileEvent::StorageReadRequests);
    if (compression == Compression::None) return raw;
    ByteStream stream(raw, std::make_shared<Decompressor>(compression, block_size, file.info().path));
    std::string out;
    constexpr size_t kPiece = 1 << 16;
    while (!stream.at_end()) {
        const size_t at = out.size();
        const size_t piece = std::min<size_t>(kPiece, stream.available());
        if (at + piece > limit)
            fail(ErrorCode::LIMIT_EXCEEDED, "ORC file {}: a section is larger than {} bytes", file.info().path, limit);
        out.resize(at + piece);
        stream.read(out.data() + at, piece);
    }
    return out;
}

}  // namespace firn::file::orc
