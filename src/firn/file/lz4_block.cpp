#include "firn/file/lz4_block.h"

#include <memory>

#include <arrow/util/compression.h>

#include "firn/base/error.h"

namespace firn::file {
namespace {

arrow::util::Codec& codec() {
    static thread_local std::unique_ptr<arrow::util::Codec> codec;
    if (!codec) {
        auto made = arrow::util::Codec::Create(arrow::Compression::LZ4);
        if (!made.ok()) fail(ErrorCode::NOT_IMPLEMENTED, "The codec LZ4 is missing: {}", made.status().message());
        codec = std::move(*made);
    }
    return *codec;
}

}  // namespace

size_t lz4_bound(size_t bytes) {
    return static_cast<size_t>(codec().MaxCompressedLen(static_cast<int64_t>(bytes), nullptr));
}

size_t lz4_compress(std::span<const uint8_t> in, std::span<uint8_t> out) {
    const auto done =
        codec().Compress(static_cast<int64_t>(in.size()), in.data(), static_cast<int64_t>(out.size()), out.data());
    if (!done.ok())
        fail(ErrorCode::LIMIT_EXCEEDED, "LZ4 cannot compress {} bytes: {}", in.size(), done.status().message());
    return static_cast<size_t>(*done);
}

bool lz4_decompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
    const auto done =
        codec().Decompress(static_cast<int64_t>(in.size()), in.data(), static_cast<int64_t>(out.size()), out.data());
    return done.ok() && static_cast<size_t>(*done) == out.size();
}

}  // namespace firn::file
