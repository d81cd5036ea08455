// Sorting more rows than memory holds: sorted runs on disk, merged.
#pragma once

#include <memory>
#include <vector>

#include "firn/exec/sorting.h"
#include "firn/exec/spill/file.h"
#include "firn/exec/spill/policy.h"

namespace firn::exec {

/// Collects rows with their sort keys. What a worker has collected becomes a sorted run on disk when memory runs short.
class SortStage : public Stage {
public:
    SortStage(Run& run, const plan::SortNode& node, const KeyedColumns& columns);
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, parts_[worker]); }

    /// After all rows have come. False when they are all in memory and can be sorted there; otherwise the rest is spilled
    /// as well.
    bool spill_rest();
    /// All rows, where none were spilled.
    std::vector<Batch> take();
    /// The rows of all runs in order, without the keys, to `next`.
    void merge(Stage& next);

private:
    /// What one worker has collected and spilled; a run is a list of its file.
    struct Part {
        std::vector<Batch> batches;
        size_t detached = 0;  // batches, from the first, that share no memory with others
        int64_t bytes = 0;    // of those
        std::unique_ptr<SpillFile> file;
    };
    struct Worker : Consumer {
        Worker(SortStage& s, Part& p) : stage(s), part(p), evaluator(s.columns_.evaluator()) {}
        void push(Batch&& batch) override;
        SortStage& stage;
        Part& part;
        Evaluator evaluator;
    };
    struct SortedRun {
        std::shared_ptr<SpillFile> file;
        size_t list;
    };

    void detach(Part& part) const;
    static void count_detached(Part& part);
    void spill(Part& part);
    void spill_run(Part& part);
    std::vector<SortedRun> runs();
    SortedRun merge_some(const std::vector<SortedRun>& runs);
    size_t runs_at_once(const std::vector<SortedRun>& runs) const;
    size_t rows_of_block(uint64_t bytes, uint64_t rows) const;

    Run& run_;
    const plan::SortNode& node_;
    const KeyedColumns& columns_;
    const SpillPolicy policy_;
    std::vector<Part> parts_;
};

}  // namespace firn::exec
