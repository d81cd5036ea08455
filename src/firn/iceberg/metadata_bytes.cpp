#include "firn/iceberg/metadata_bytes.h"

#include <zlib.h>

#include "firn/base/error.h"
#include "firn/file/avro/codec.h"
#include "firn/iceberg/metadata.h"

namespace firn::iceberg {

namespace {

constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);
constexpr std::string_view kByteOrderMark("\xef\xbb\xbf", 3);

/// Inflates gzip members, one or several, to the end.
void gunzip(std::string_view bytes, std::string_view file, std::string& out) {
    struct Stream {
        z_stream stream{};
        ~Stream() { inflateEnd(&stream); }
    } holder;
    z_stream& stream = holder.stream;
    if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK)
        fail(ErrorCode::CANNOT_DECOMPRESS, "{}: zlib cannot start", file);
    if (bytes.size() > kMaxMetadataBytes)
        fail(ErrorCode::LIMIT_EXCEEDED, "{}: more than {} bytes", file, kMaxMetadataBytes);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    size_t used = 0;
    for (;;) {
        if (used == out.size()) {
            if (used >= kMaxMetadataBytes) {
                fail(ErrorCode::LIMIT_EXCEEDED, "{}: decompresses to more than {} bytes", file, kMaxMetadataBytes);
            }
            out.resize(std::min<uint64_t>(kMaxMetadataBytes, used * 2 + bytes.size() * 4 + 64));
        }
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
        stream.avail_out = static_cast<uInt>(out.size() - used);
        int status = inflate(&stream, Z_NO_FLUSH);
        used = out.size() - stream.avail_out;
        if (status == Z_STREAM_END) {
            if (stream.avail_in == 0) break;
            inflateReset(&stream);
        } else if (status != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) {
            fail(ErrorCode::INCORRECT_DATA, "{}: damaged gzip data", file);
        }
    }
    out.resize(used);
}

}  // namespace

std::string_view metadata_text(std::string_view bytes, std::string_view file, std::string& storage) {
    if (bytes.size() > kMaxMetadataBytes)
        fail(ErrorCode::LIMIT_EXCEEDED, "{}: more than {} bytes", file, kMaxMetadataBytes);
    if (bytes.substr(0, 2) == kGzipMagic) {
        gunzip(bytes, file, storage);
        bytes = storage;
    } else if (bytes.substr(0, 4) == kZstdMagic) {
        try {
            decompress_block(file::avro::Codec::Zstandard, bytes, storage, kMaxMetadataBytes);
        } catch (Error& error) {
            error.add_context(fmt::format("{}: ", file));
            throw;
        }
        bytes = storage;
    }
    if (bytes.substr(0, 3) == kByteOrderMark) bytes.remove_prefix(3);
    return bytes;
}

}  // namespace firn::iceberg
