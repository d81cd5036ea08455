// What sorting operators share: batches with their key columns, and sorting all rows of them.
#pragma once

#include <span>

#include "firn/exec/evaluator.h"
#include "firn/exec/pipeline.h"
#include "firn/exec/sort_keys.h"

namespace firn::exec {

/// Input columns and, behind them, those keys that are not columns themselves. Columns that nobody reads are placeholders.
class KeyedColumns {
public:
    KeyedColumns(Run& run, const std::vector<plan::ExpressionPtr>& keys, const std::vector<TypePtr>& types,
                 const Columns& needed);
    const Evaluator& evaluator() const { return evaluator_; }
    Batch add_keys(Batch&& batch, Evaluator& evaluator) const;
    std::vector<VectorPtr> keys_of(const Batch& batch) const;
    /// Of all columns, keys behind the inputs; and about how many bytes a row takes of those that are kept.
    const std::vector<TypePtr>& types() const { return types_; }
    size_t row_bytes() const;
    /// Puts placeholders in the place of columns that nobody reads.
    void drop_unread(Batch& batch) const;
    Batch select(const Batch& batch, std::span<const uint32_t> rows) const;
    /// On one worker, encodings kept; and on all, for many rows.
    Batch concat(const std::vector<Batch>& batches) const;
    Batch concat_parallel(const std::vector<Batch>& batches) const;
    Batch without_keys(Batch&& batch) const;

private:
    Run& run_;
    std::vector<TypePtr> types_;
    Columns kept_;
    size_t inputs_;
    std::vector<size_t> key_columns_;
    Evaluator evaluator_;
};

/// Collects batches together with their keys.
class KeyedCollectStage : public Stage {
public:
    KeyedCollectStage(const KeyedColumns& columns, size_t workers) : columns_(columns), collected_(workers) {}
    ConsumerPtr consumer(size_t worker) override;
    std::vector<Batch> take() { return collected_.take(); }

private:
    struct Worker : Consumer {
        Worker(const KeyedColumns& c, ConsumerPtr n) : columns(c), evaluator(c.evaluator()), next(std::move(n)) {}
        void push(Batch&& batch) override;
        const KeyedColumns& columns;
        Evaluator evaluator;
        ConsumerPtr next;
    };
    const KeyedColumns& columns_;
    CollectStage collected_;
};

/// Row numbers in order, sorted by all workers.
std::vector<uint32_t> sort_rows(Run& run, const SortKeys& keys);

/// Rows of a batch to `next` in this order, without the added keys.
void emit_rows(Run& run, const KeyedColumns& columns, const Batch& all, std::span<const uint32_t> rows, Stage& next);

}  // namespace firn::exec
