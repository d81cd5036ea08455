// Decompression of pages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "firn/file/parquet/metadata.h"

namespace firn::file::pq {

/// Decompresses one page after another; keeps what the codec needs between pages. For one thread.
class Decompressor {
public:
    /// NOT_IMPLEMENTED for a codec that firn has not (LZO).
    explicit Decompressor(Compression compression);
    ~Decompressor();
    Decompressor(Decompressor&&) noexcept;

    /// Throws INCORRECT_DATA where `in` surely does not decompress to `size` bytes; called before they are allocated.
    void check_size(std::span<const uint8_t> in, size_t size) const;
    /// Fills `out` exactly, or INCORRECT_DATA.
    void decompress(std::span<const uint8_t> in, std::span<uint8_t> out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace firn::file::pq
