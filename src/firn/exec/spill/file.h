// Batches on disk: written by any thread, in one or more lists, and read back list by list.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/exec/spill/codec.h"
#include "firn/exec/spill/directory.h"
#include "firn/vector/vector.h"

namespace firn::exec {

/// The disk space of one query's spill files.
class SpillSpace {
public:
    /// parent: as for SpillDirectory. most_bytes: of files at one time, 0 = no limit.
    SpillSpace(std::string parent, uint64_t most_bytes, SpillCodec codec = SpillCodec::Lz4)
        : parent_(std::move(parent)), most_bytes_(most_bytes), codec_(codec) {}
    /// The directory is made when the first file is. Thread-safe.
    std::shared_ptr<SpillDirectory> directory();
    /// TOO_MANY_ROWS_OR_BYTES beyond the limit.
    void take(uint64_t bytes);
    void give_back(uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
    SpillCodec codec() const { return codec_; }

private:
    const std::string parent_;
    const uint64_t most_bytes_;
    const SpillCodec codec_;
    std::mutex mutex_;
    std::shared_ptr<SpillDirectory> directory_;
    std::atomic<uint64_t> used_{0};
};

/// A file of compressed, checksummed blocks, each a batch (or a part of one) of one list. It is gone when destroyed.
class SpillFile {
public:
    SpillFile(SpillSpace& space, std::vector<TypePtr> types, size_t lists = 0);
    ~SpillFile();
    SpillFile(const SpillFile&) = delete;
    SpillFile& operator=(const SpillFile&) = delete;

    /// Thread-safe. Blocks of a list keep the order in which they were written.
    void write(size_t list, const Batch& batch);
    /// Thread-safe, but not while others write: the number of a new list.
    size_t add_list();

    size_t lists() const { return lists_.size(); }
    uint64_t rows(size_t list) const { return lists_[list].rows; }
    /// Before compression: of the list, and of its largest block.
    uint64_t bytes(size_t list) const { return lists_[list].bytes; }
    uint64_t largest_block(size_t list) const { return lists_[list].largest_block; }
    /// Notes the hash of all keys of rows that a list was given, nothing where they have several.
    void note_hash(size_t list, std::optional<uint64_t> hash);
    /// Whether the keys of all rows of the list have one hash: dividing them by it would be in vain.
    bool has_one_hash(size_t list) const { return lists_[list].hash.has_value() && !lists_[list].several_hashes; }
    const std::vector<TypePtr>& types() const { return types_; }

    /// Reads a list that is written whole. Thread-safe: each block goes to one caller.
    class Reader {
    public:
        Reader(const SpillFile& file, size_t list) : file_(file), list_(list) {}
        /// False at the end. CANNOT_READ_ALL_DATA, INCORRECT_DATA where the file was damaged.
        bool next(Batch& out);

    private:
        const SpillFile& file_;
        const size_t list_;
        std::atomic<size_t> next_{0};
    };

private:
    struct Block {
        uint64_t offset;
        uint32_t stored, bytes;
        uint64_t checksum;  // of the stored bytes
    };
    struct List {
        std::vector<Block> blocks;
        uint64_t rows = 0, bytes = 0, largest_block = 0;
        std::optional<uint64_t> hash;
        bool several_hashes = false;
    };
    void write_block(size_t list, const Batch& batch, size_t about_bytes);
    void write_bytes(std::string_view bytes, uint64_t offset);
    void read_bytes(std::span<char> bytes, uint64_t offset) const;
    Batch read_block(const Block& block) const;

    SpillSpace& space_;
    const std::vector<TypePtr> types_;
    const std::shared_ptr<SpillDirectory> directory_;
    int file_ = -1;
    std::atomic<uint64_t> end_{0};
    std::mutex mutex_;
    std::vector<List> lists_;
};

}  // namespace firn::exec
