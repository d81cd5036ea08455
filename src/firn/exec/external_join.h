// Joins whose right side memory does not hold: both sides divided by the hash of their keys into partitions on disk, which
// are joined one after another.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "firn/exec/join_build.h"
#include "firn/exec/spill/partitions.h"

namespace firn::exec {

/// A join with its right side on disk.
class PartitionedJoin {
public:
    /// Joins left rows, which the function it is given pushes, with a (part of the) right side.
    using Join = std::function<void(BuildSide& build, const std::function<void(Stage&)>& left_rows)>;

    /// columns: of the right side with its keys. build: of kSpillPartitions lists of such rows.
    PartitionedJoin(Run& run, const plan::JoinNode& node, const KeyedColumns& columns, std::unique_ptr<SpillFile> build,
                    WholeBuildSide whole);
    /// Runs the left child, of whose columns only `needed` are read, onto disk; then joins partition by partition.
    void join(const Columns& needed, const Stage& next, const Join& join);

private:
    /// Both sides at one level of dividing.
    struct Sides {
        std::unique_ptr<SpillFile> build, probe;
        unsigned level = 0;
    };
    void join_partitions(const Sides& sides, const Stage& next, const Join& join);
    Sides divide(const Sides& sides, size_t partition);
    bool fits(const SpillFile& build, size_t partition) const;
    void read(const SpillFile& file, size_t list, Stage& stage);
    std::vector<Batch> read_build(const SpillFile& file, size_t list);

    Run& run_;
    const plan::JoinNode& node_;
    const KeyedColumns& columns_;
    const SpillPolicy policy_;
    const WholeBuildSide whole_;
    Evaluator left_keys_;
    Sides sides_;
};

/// Collects a join's right side. Where it grows too large for a table in memory all workers divide what they have, and
/// what comes, onto disk.
class BuildStage : public Stage {
public:
    BuildStage(Run& run, const plan::JoinNode& node, const KeyedColumns& columns);
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, parts_[worker]); }
    /// After all rows have come: the join to go on with, or null where the rows are in memory and a table fits there too.
    std::unique_ptr<PartitionedJoin> spill_rest();
    /// All rows, where they are in memory.
    std::vector<Batch> take();

private:
    struct Part {
        std::vector<Batch> batches;
        size_t detached = 0;  // batches, from the first, that share no memory with others
        std::unique_ptr<PartitionWriter> writer;
    };
    struct Worker : Consumer {
        Worker(BuildStage& s, Part& p) : stage(s), part(p), evaluator(s.columns_.evaluator()) {}
        void push(Batch&& batch) override;
        BuildStage& stage;
        Part& part;
        Evaluator evaluator;
    };
    bool grows_too_large(Part& part);
    void spill(Part& part);

    Run& run_;
    const plan::JoinNode& node_;
    const KeyedColumns& columns_;
    const SpillPolicy policy_;
    const bool divisible_;  // has keys to divide by
    std::vector<Part> parts_;
    std::atomic<int64_t> bytes_{0}, rows_{0};  // of detached batches
    std::atomic<bool> spilling_{false}, has_null_key_{false};
    std::mutex mutex_;
    std::unique_ptr<SpillFile> file_;
};

}  // namespace firn::exec
