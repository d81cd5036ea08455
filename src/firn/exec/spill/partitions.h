// Rows divided by the hash of their keys, so that equal keys meet in one partition. A partition that is still too large
// is divided again, by further bits of the hash.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "firn/exec/spill/file.h"

namespace firn::exec {

constexpr unsigned kPartitionBitsOfLevel = 5;
constexpr size_t kSpillPartitions = size_t{1} << kPartitionBitsOfLevel;
/// Levels of dividing; what is too large after the last consists of few, equal keys. Rows of one hash are not divided on.
constexpr unsigned kSpillLevels = 4;

inline size_t spill_partition(uint64_t hash, unsigned level) {
    return hash >> (64 - kPartitionBitsOfLevel * (level + 1)) & (kSpillPartitions - 1);
}
/// The partition of each row by its keys: equal by equal_values, whatever encoding, means the same partition.
std::vector<uint8_t> spill_partitions(std::span<const VectorPtr> keys, size_t rows, unsigned level);

/// Divides batches among the lists of a file; gathers enough rows of a partition before it writes a block. One a worker.
class PartitionWriter {
public:
    /// file: of kSpillPartitions lists.
    PartitionWriter(SpillFile& file, unsigned level) : file_(file), level_(level), waiting_(kSpillPartitions) {}
    void add(const Batch& batch, std::span<const VectorPtr> keys);
    /// Writes what is left, and notes in the file what hash each partition's keys have.
    void finish();

private:
    struct Waiting {
        std::vector<Batch> batches;
        size_t rows = 0;
    };
    /// Of the keys of all rows of a partition.
    struct Hashes {
        bool any = false, several = false;
        uint64_t first = 0;
    };
    void flush(size_t partition);
    SpillFile& file_;
    const unsigned level_;
    std::vector<Waiting> waiting_;
    std::array<Hashes, kSpillPartitions> hashes_;
    size_t added_bytes_ = 0, added_rows_ = 0;
};

}  // namespace firn::exec
