// Avro's block codecs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/file/avro/container.h"

namespace firn::file::avro {

/// Appends the decompressed bytes to `out`. INCORRECT_DATA for damaged bytes, LIMIT_EXCEEDED when `out` would pass
/// `limit` bytes, NOT_IMPLEMENTED for bzip2 and xz.
void decompress_block(Codec codec, std::string_view compressed, std::string& out, uint64_t limit);

/// Snappy's raw format; apart since it goes through Arrow's codecs.
void decompress_snappy(std::string_view compressed, std::string& out, uint64_t limit);

}  // namespace firn::file::avro
