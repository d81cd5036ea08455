#include "firn/file/avro/container.h"

#include "firn/base/error.h"
#include "firn/file/avro/codec.h"
#include "firn/file/avro/cursor.h"

namespace firn::file::avro {

namespace {

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr size_t kSyncBytes = 16;

Codec codec_of(std::string_view name, std::string_view file) {
    if (name.empty() || name == "null") return Codec::Null;
    if (name == "deflate") return Codec::Deflate;
    if (name == "snappy") return Codec::Snappy;
    if (name == "zstandard") return Codec::Zstandard;
    if (name == "bzip2") return Codec::Bzip2;
    if (name == "xz") return Codec::Xz;
    fail(ErrorCode::INCORRECT_DATA, "{}: unknown Avro codec \"{}\"", file, name);
}

}  // namespace

Container::Container(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {
    if (bytes.substr(0, kMagic.size()) != kMagic) fail(ErrorCode::INCORRECT_DATA, "{} is not an Avro file", file);
    Cursor cursor(bytes.substr(kMagic.size()));
    try {
        for (;;) {
            int64_t block_bytes;
            int64_t count = cursor.read_block_count(block_bytes);
            if (count == 0) break;
            for (int64_t i = 0; i < count; ++i) {
                std::string_view key = cursor.read_bytes();
                metadata_[std::string(key)] = cursor.read_bytes();
            }
        }
        sync_ = cursor.read_fixed(kSyncBytes);
    } catch (Error& error) {
        error.add_context(fmt::format("{}: damaged Avro header: ", file));
        throw;
    }
    blocks_begin_ = static_cast<size_t>(cursor.at() - bytes.data());
    codec_ = codec_of(metadata("avro.codec").value_or(""), file);
    auto json = metadata("avro.schema");
    if (!json) fail(ErrorCode::INCORRECT_DATA, "{}: the Avro header has no \"avro.schema\"", file);
    schema_ = Schema::parse_shared(*json, file);
}

std::optional<std::string_view> Container::metadata(std::string_view key) const {
    auto found = metadata_.find(key);
    if (found == metadata_.end()) return std::nullopt;
    return found->second;
}

std::vector<RawBlock> Container::blocks() const {
    std::vector<RawBlock> blocks;
    Cursor cursor(bytes_.substr(blocks_begin_));
    while (cursor.left() > 0) {
        RawBlock block;
        block.offset = static_cast<uint64_t>(cursor.at() - bytes_.data());
        try {
            block.objects = cursor.read_long();
            block.compressed = cursor.read_bytes();
            if (cursor.read_fixed(kSyncBytes) != sync_) fail(ErrorCode::INCORRECT_DATA, "sync marker missing");
        } catch (Error& error) {
            error.add_context(fmt::format("{}: damaged Avro block at byte {}: ", file_, block.offset));
            throw;
        }
        if (block.objects < 0) {
            fail(ErrorCode::INCORRECT_DATA, "{}: Avro block at byte {} claims {} values", file_, block.offset,
                 block.objects);
        }
        if (block.objects > 0) blocks.push_back(block);
    }
    return blocks;
}

void Container::decompress(const RawBlock& block, std::string& out, uint64_t limit) const {
    try {
        decompress_block(codec_, block.compressed, out, limit);
    } catch (Error& error) {
        error.add_context(fmt::format("{}: Avro block at byte {}: ", file_, block.offset));
        throw;
    }
}

}  // namespace firn::file::avro
