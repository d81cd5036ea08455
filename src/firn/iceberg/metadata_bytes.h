// Metadata files as they lie in storage: plain, gzip or zstd.
#pragma once

#include <string>
#include <string_view>

namespace firn::iceberg {

/// The text of a metadata file; decompressed into `storage` where the first bytes say that it is compressed.
/// INCORRECT_DATA when damaged, LIMIT_EXCEEDED beyond kMaxMetadataBytes.
std::string_view metadata_text(std::string_view bytes, std::string_view file, std::string& storage);

}  // namespace firn::iceberg
