// Puffin files: blobs of statistics and deletion vectors (the Puffin spec). Bytes in, values out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace firn::storage {
class OpenFile;
}

namespace firn::file::puffin {

struct BlobMetadata {
    std::string type;             ///< "deletion-vector-v1", "apache-datasketches-theta-v1"
    std::vector<int32_t> fields;  ///< field ids
    int64_t snapshot_id = -1;
    int64_t sequence_number = -1;
    uint64_t offset = 0;            ///< bytes from the file's begin
    uint64_t length = 0;            ///< bytes stored
    std::string compression_codec;  ///< empty: none; "lz4", "zstd"
    std::map<std::string, std::string> properties;
};

struct FileMetadata {
    std::vector<BlobMetadata> blobs;
    std::map<std::string, std::string> properties;
};

/// The footer of a whole file's bytes. INCORRECT_DATA, naming `file`, for anything but a Puffin file: every blob lies
/// between the magic bytes and the footer.
FileMetadata parse_footer(std::string_view bytes, std::string_view file);

/// The footer of an open file: reads its end only.
FileMetadata read_footer(const storage::OpenFile& file);

/// The decompressed contents of a blob.
std::string read_blob(const storage::OpenFile& file, const BlobMetadata& blob);
std::string decompress_blob(std::string_view stored, std::string_view codec, std::string_view file);

inline constexpr uint64_t kMaxFooterBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMaxBlobBytes = uint64_t{1} << 31;

}  // namespace firn::file::puffin
