// Decoders of one page's values (nulls are not among them), one class an encoding. They give raw values: as the
// physical type lies in memory (Leaf::raw_width bytes each; a StringRef for BYTE_ARRAY), before any conversion to a SQL
// type. They move forward; INCORRECT_DATA where the page has fewer values, or bytes, than asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "firn/file/parquet/schema.h"

namespace firn::file::pq {

/// A page's value bytes; padding is not promised.
struct Bytes {
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
    size_t size() const { return static_cast<size_t>(end - begin); }
};

class ValueDecoder {
public:
    virtual ~ValueDecoder() = default;
    virtual void read(size_t n, char* out) = 0;
    virtual void skip(size_t n) = 0;
    /// The values at rows[0 … m), ascending and below n, counted from here; then moves past n values.
    virtual void read_selected(const uint32_t* rows, size_t m, size_t n, char* out);
    /// The next n values where they lie in the page, one after another; null where they do not. Does not move.
    virtual const char* view(size_t n) const { return nullptr; }
    /// What keeps strings alive that are not views of the page; may be null.
    virtual std::shared_ptr<const void> owner() const { return nullptr; }

protected:
    explicit ValueDecoder(size_t width) : width_(width) {}
    size_t width_;  // raw width
};

/// `values`: how many the page holds at most. Throws for an encoding that does not go with the physical type.
std::unique_ptr<ValueDecoder> make_decoder(const Leaf& leaf, PageEncoding encoding, Bytes bytes, size_t values);

std::unique_ptr<ValueDecoder> make_plain_decoder(const Leaf& leaf, Bytes bytes);
std::unique_ptr<ValueDecoder> make_delta_decoder(const Leaf& leaf, PageEncoding encoding, Bytes bytes);
std::unique_ptr<ValueDecoder> make_rle_boolean_decoder(const Leaf& leaf, Bytes bytes);
std::unique_ptr<ValueDecoder> make_byte_stream_split_decoder(const Leaf& leaf, Bytes bytes, size_t values);

}  // namespace firn::file::pq
