#include "firn/exec/spill/partitions.h"

#include "firn/exec/spill/batch_bytes.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

constexpr size_t kBlockBytes = 1 << 17;  // of a partition's rows, about, that are written at once
constexpr size_t kMostBlockRows = 8192;
constexpr size_t kMostBatches = 256;  // that wait for a block, so that each may be small
constexpr size_t kSmallBatch = 1024;  // rows below which a batch may pin far more than its own bytes

std::vector<uint64_t> hashes_of(std::span<const VectorPtr> keys, size_t rows) {
    std::vector<VectorPtr> small;
    for (const auto& key : keys)
        small.push_back(key->encoding() == Encoding::Dictionary && key->base()->size() > rows ? flatten(key) : key);
    std::vector<uint64_t> hashes(rows);
    hash_rows(small, rows, hashes.data());
    return hashes;
}

}  // namespace

std::vector<uint8_t> spill_partitions(std::span<const VectorPtr> keys, size_t rows, unsigned level) {
    const auto hashes = hashes_of(keys, rows);
    std::vector<uint8_t> out(rows);
    for (size_t i = 0; i < rows; ++i) out[i] = static_cast<uint8_t>(spill_partition(hashes[i], level));
    return out;
}

void PartitionWriter::add(const Batch& given, std::span<const VectorPtr> keys) {
    const Batch batch = given.rows < kSmallBatch ? detached(given) : given;
    const auto hashes = hashes_of(keys, batch.rows);
    std::vector<Selection> rows(kSpillPartitions);
    for (uint32_t i = 0; i < batch.rows; ++i) {
        const size_t partition = spill_partition(hashes[i], level_);
        rows[partition].push_back(i);
        Hashes& seen = hashes_[partition];
        if (!seen.any) seen = {true, false, hashes[i]};
        seen.several |= hashes[i] != seen.first;
    }
    added_bytes_ += bytes_of_rows(batch);
    added_rows_ += batch.rows;
    const size_t row_bytes = added_bytes_ / added_rows_ + 1;
    for (size_t p = 0; p < kSpillPartitions; ++p) {
        if (rows[p].empty()) continue;
        Waiting& waiting = waiting_[p];
        waiting.batches.push_back(batch.select(rows[p]));
        waiting.rows += rows[p].size();
        if (waiting.rows >= kMostBlockRows || waiting.rows * row_bytes >= kBlockBytes ||
            waiting.batches.size() >= kMostBatches)
            flush(p);
    }
}

void PartitionWriter::flush(size_t partition) {
    Waiting& waiting = waiting_[partition];
    if (waiting.rows == 0) return;
    Batch block;
    block.rows = waiting.rows;
    for (size_t i = 0; i < file_.types().size(); ++i) {
        std::vector<VectorPtr> parts;
        bool constant = true;
        for (const Batch& batch : waiting.batches) {
            parts.push_back(batch.columns[i]);
            constant = constant && parts.back()->is_constant() && equal_values(*parts.back(), 0, *parts[0], 0);
        }
        block.columns.push_back(constant ? Vector::constant(parts[0]->base(), block.rows)
                                         : concat(file_.types()[i], parts));
    }
    waiting = Waiting();
    file_.write(partition, block);
}

void PartitionWriter::finish() {
    for (size_t p = 0; p < kSpillPartitions; ++p) {
        flush(p);
        if (hashes_[p].any) file_.note_hash(p, hashes_[p].several ? std::nullopt : std::optional(hashes_[p].first));
    }
}

}  // namespace firn::exec
