// LZ4 frames with the content size present, as Puffin has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firn::file::puffin {

/// INCORRECT_DATA for damaged frames and frames without a content size, LIMIT_EXCEEDED beyond `limit` bytes.
void decompress_lz4_frame(std::string_view frame, std::string& out, uint64_t limit, std::string_view file);

}  // namespace firn::file::puffin
