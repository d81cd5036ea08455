// Avro object container files: header, schema, codec, blocks. Over bytes in memory (read or mapped whole).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/file/avro/schema.h"

namespace firn::file::avro {

enum class Codec : uint8_t { Null, Deflate, Snappy, Zstandard, Bzip2, Xz };

/// A block as it stands in the file.
struct RawBlock {
    int64_t objects = 0;          ///< how many values it holds
    std::string_view compressed;  ///< a view into the file's bytes
    uint64_t offset = 0;          ///< of the block in the file
};

/// The header and schema of a container. Holds views into `bytes`, which must outlive it. Errors are INCORRECT_DATA and
/// name `file`; NOT_IMPLEMENTED for the codecs bzip2 and xz once a block is decompressed.
class Container {
public:
    Container(std::string_view bytes, std::string_view file);

    const std::string& file() const { return file_; }
    const Schema& schema() const { return *schema_; }
    const std::shared_ptr<const Schema>& shared_schema() const { return schema_; }
    Codec codec() const { return codec_; }
    const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }
    /// A metadata value, or nothing.
    std::optional<std::string_view> metadata(std::string_view key) const;

    /// The blocks of the file. Checks each block's frame (sizes and sync marker) but decompresses nothing.
    std::vector<RawBlock> blocks() const;

    /// Appends the decompressed bytes of a block to `out`; LIMIT_EXCEEDED where `out` would pass `limit` bytes.
    void decompress(const RawBlock& block, std::string& out, uint64_t limit = kMaxBlockBytes) const;

    static constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 31;

private:
    std::string_view bytes_;
    std::string file_;
    std::shared_ptr<const Schema> schema_;
    Codec codec_ = Codec::Null;
    std::map<std::string, std::string, std::less<>> metadata_;
    std::string_view sync_;
    size_t blocks_begin_ = 0;
};

}  // namespace firn::file::avro
