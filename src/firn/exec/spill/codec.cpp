#include "firn/exec/spill/codec.h"

#include <zstd.h>

#include <cstring>
#include <memory>

#include "firn/base/error.h"
#include "firn/file/lz4_block.h"

namespace firn::exec {
namespace {

static_assert(kMostSpilledBlock == file::kMostLz4Bytes);
constexpr int kLevel = -1;  // of zstd: half the time of level 1 for a tenth more space

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* compressor() {
    static thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context;
    if (!context) {
        context.reset(ZSTD_createCCtx());
        if (!context) fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "zstd cannot start: the system has no more memory");
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
    }
    return context.get();
}

ZSTD_DCtx* decompressor() {
    static thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context;
    if (!context) {
        context.reset(ZSTD_createDCtx());
        if (!context) fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "zstd cannot start: the system has no more memory");
    }
    return context.get();
}

std::span<const uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

std::string_view compress(SpillCodec codec, std::string_view bytes, MutableBufferPtr& room) {
    if (codec == SpillCodec::None) return bytes;
    const bool lz4 = codec == SpillCodec::Lz4;
    room = Buffer::allocate(lz4 ? file::lz4_bound(bytes.size()) : ZSTD_compressBound(bytes.size()));
    if (lz4) return {room->data(), file::lz4_compress(as_bytes(bytes), {room->mutable_as<uint8_t>(), room->size()})};
    const size_t size = ZSTD_compress2(compressor(), room->mutable_data(), room->size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size))
        fail(ErrorCode::LOGICAL_ERROR, "zstd cannot compress {} spilled bytes: {}", bytes.size(),
             ZSTD_getErrorName(size));
    return {room->data(), size};
}

bool decompress(SpillCodec codec, std::string_view stored, std::span<char> out) {
    switch (codec) {
        case SpillCodec::None:
            if (stored.size() != out.size()) return false;
            if (!stored.empty()) std::memcpy(out.data(), stored.data(), stored.size());
            return true;
        case SpillCodec::Lz4:
            return file::lz4_decompress(as_bytes(stored), {reinterpret_cast<uint8_t*>(out.data()), out.size()});
        case SpillCodec::Zstd:
            return ZSTD_decompressDCtx(decompressor(), out.data(), out.size(), stored.data(), stored.size()) ==
                   out.size();
    }
    return false;
}

}  // namespace firn::exec
