// A stream of a stripe as decompressed bytes, read forwards and sought by the row index's positions (ORC v1
// specification, "Compression"). INCORRECT_DATA, naming the file, beyond the stream's end and for chunks that are
// damaged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "firn/base/memory.h"
#include "firn/file/orc/tail.h"

namespace firn::file::orc {

/// The bytes [offset, offset + length) of a file: mapped where the store can, else read. `file` stays alive with them.
BufferPtr fetch(const std::shared_ptr<const storage::OpenFile>& file, uint64_t offset, uint64_t length);

/// Decompresses chunks. Not thread-safe.
class Decompressor {
public:
    /// NOT_IMPLEMENTED for LZO, once something is to be decompressed.
    Decompressor(Compression compression, uint64_t block_size, std::string file);
    ~Decompressor();
    Decompressor(const Decompressor&) = delete;
    Decompressor& operator=(const Decompressor&) = delete;

    bool is_none() const { return compression_ == Compression::None; }
    uint64_t block_size() const { return block_size_; }
    const std::string& file() const { return file_; }
    /// Decompresses one chunk into `chunk`, whose buffer is used again or replaced; the bytes made. Short chunks get
    /// short buffers: a wide table has many streams.
    size_t decompress(const uint8_t* in, size_t in_size, MutableBufferPtr& chunk);

private:
    struct Codec;
    size_t decompress_into(const uint8_t* in, size_t in_size, uint8_t* out);
    MutableBufferPtr scratch_;  // of block_size_ bytes
    Compression compression_;
    uint64_t block_size_;
    std::string file_;
    std::unique_ptr<Codec> codec_;
};

class ByteStream {
public:
    /// Nothing is read before the first byte is asked for.
    ByteStream(std::shared_ptr<const storage::OpenFile> file, std::shared_ptr<Decompressor> decompressor,
               uint64_t offset, uint64_t length);
    /// Over bytes in memory, which must outlive it.
    ByteStream(std::string_view bytes, std::shared_ptr<Decompressor> decompressor);
    /// An absent stream: has no bytes.
    explicit ByteStream(std::shared_ptr<Decompressor> decompressor);

    uint8_t read_byte() {
        if (at_ == end_) need();
        return *at_++;
    }
    void read(void* out, size_t bytes);
    void skip(size_t bytes);
    bool at_end() { return at_ == end_ && !refill(); }
    /// Bytes that are at hand without the next chunk.
    size_t available() const { return static_cast<size_t>(end_ - at_); }
    /// To a position of the row index: `chunk` is the byte in the stream where a chunk begins (without compression: the
    /// byte itself), `within` the bytes of the decompressed chunk to leave out.
    void seek(uint64_t chunk, uint64_t within);
    bool is_compressed() const { return !decompressor_->is_none(); }
    /// No more than this many bytes can still come.
    uint64_t most_left() const;
    uint64_t unsigned_varint();
    int64_t signed_varint() {
        const uint64_t raw = unsigned_varint();
        return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
    }
    [[noreturn]] void fail_damaged(std::string_view what) const;
    const std::string& file() const { return decompressor_->file(); }

private:
    void need();
    bool refill();
    void load();

    std::shared_ptr<const storage::OpenFile> file_;
    std::shared_ptr<Decompressor> decompressor_;
    uint64_t offset_ = 0;
    uint64_t length_ = 0;
    BufferPtr raw_;
    const uint8_t* raw_begin_ = nullptr;
    const uint8_t* raw_at_ = nullptr;
    const uint8_t* raw_end_ = nullptr;
    MutableBufferPtr chunk_;
    const uint8_t* at_ = nullptr;
    const uint8_t* end_ = nullptr;
    bool loaded_ = false;
};

/// All of a compressed section (footer, index); LIMIT_EXCEEDED beyond `limit` bytes.
std::string decompress_section(const storage::OpenFile& file, uint64_t offset, uint64_t length, Compression compression,
                               uint64_t block_size, size_t limit);

}  // namespace firn::file::orc
