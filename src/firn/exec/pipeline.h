// Pipelines: a source gives batches to one chain of consumers a worker.
//
// A Stage is an operator as all workers see it; a Consumer is one worker's instance of it. An operator that streams
// (filter, join probe) makes consumers that push on to consumers of the next stage. A breaker (aggregation, sort) collects
// in its stage and then runs a pipeline of its own from what it collected. One worker may be given consumers of a stage
// more than once, one after another (children of a union, unmatched rows of a join): finish() hands over what one
// consumer collected.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "firn/exec/execute.h"
#include "firn/exec/spill/file.h"
#include "firn/exec/spill/policy.h"

namespace firn::exec {

class Consumer {
public:
    virtual ~Consumer() = default;
    /// Never an empty batch.
    virtual void push(Batch&& batch) = 0;
    /// Some rows of a batch, ascending, which are most of it; the others are no rows of the input. Never empty.
    virtual void push_selected(Batch&& batch, const Selection& rows) { push(batch.select(rows)); }
    /// No more batches come to this consumer; not called after an error.
    virtual void finish() {}
};
using ConsumerPtr = std::unique_ptr<Consumer>;

class Stage {
public:
    virtual ~Stage() = default;
    virtual ConsumerPtr consumer(size_t worker) = 0;
    /// No more rows are wanted from any worker. Thread-safe and cheap: asked before every batch.
    virtual bool done() const { return false; }
    /// Whether push_selected serves its consumers better than picking the rows out does.
    virtual bool takes_selections() const { return false; }
};

/// Which of a node's output columns somebody above reads; the others may come as any vector of the right size.
using Columns = std::vector<bool>;

/// One execution of a plan: its options, and the fate shared by its workers.
class Run {
public:
    explicit Run(const ExecutionOptions& options);
    ~Run();

    const ExecutionOptions& options() const { return options_; }
    size_t threads() const { return threads_; }

    /// Runs a plan; its batches go to consumers of `next`, all finished on return. To be called outside of workers only.
    void node(const plan::Node& node, Stage& next, const Columns& needed);
    void node(const plan::Node& node, Stage& next);

    /// True after a worker has failed: the others end as soon as they see it.
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
    /// work(worker) on up to `most` workers at once; rethrows the first error.
    void workers(const std::function<void(size_t worker)>& work, size_t most = SIZE_MAX);
    /// work(i) for i < tasks on all workers.
    void parallel(size_t tasks, const std::function<void(size_t task)>& work);
    /// work(i, consumer) for i < tasks on all workers, each with a consumer of `next`.
    void emit(size_t tasks, Stage& next, const std::function<void(size_t task, Consumer& consumer)>& work);
    /// Batches to `next` in this order, from one worker.
    void emit_in_order(Stage& next, const std::function<void(Consumer& consumer)>& work);
    /// Cuts a batch to batch_rows and pushes the parts.
    void push_cut(Batch&& batch, Stage& stage, Consumer& consumer) const;

    /// The node being run stands right below a LIMIT: rows that come early serve better than all rows soon.
    bool limit_above() const { return limit_above_; }
    void set_limit_above() { next_limit_above_ = true; }

    /// Where operators spill to, and when one should whose threshold is this (one of the options' spill_…_bytes).
    SpillSpace& spill_space() { return spill_space_; }
    SpillPolicy spill_policy(int64_t threshold) const { return SpillPolicy(threshold, threads_); }

    /// What the scans of this run answered from metadata (Scan::metadata_partials).
    std::map<const plan::Node*, std::vector<Batch>> metadata_partials;
    /// Rows of common table expressions that have run.
    struct SharedRows {
        std::vector<Batch> batches;
    };
    std::map<const void*, SharedRows> shared_rows;

private:
    ExecutionOptions options_;
    size_t threads_;
    SpillSpace spill_space_;
    std::atomic<bool> stopped_{false};
    bool limit_above_ = false, next_limit_above_ = false;
};

/// A stage that keeps all batches, one list a worker.
class CollectStage : public Stage {
public:
    explicit CollectStage(size_t workers) : lists_(workers) {}
    ConsumerPtr consumer(size_t worker) override;
    /// All batches, worker by worker.
    std::vector<Batch> take();

private:
    std::vector<std::vector<Batch>> lists_;
};

/// The types of a node's output.
std::vector<TypePtr> output_types(const plan::Node& node);
/// A vector for a column that nobody reads.
VectorPtr placeholder(const TypePtr& type, size_t rows);
Columns all_columns(const plan::Node& node);
/// Marks what expressions read; null expressions are skipped.
void mark(const std::vector<plan::ExpressionPtr>& expressions, Columns& needed);

/// All rows of some batches as one batch: flat vectors, or one dictionary where the batches share it. Columns not needed
/// become placeholders. Columns are done in parallel.
Batch concat_batches(Run& run, const std::vector<Batch>& batches, const std::vector<TypePtr>& types,
                     const Columns& needed);

}  // namespace firn::exec
