// Operators that take a batch and pass it on: filter, project, limit, array join.
#include <algorithm>
#include <mutex>

#include "firn/base/error.h"
#include "firn/exec/evaluator.h"
#include "firn/exec/filter.h"
#include "firn/exec/operators.h"

namespace firn::exec {
namespace {

class FilterStage : public Stage {
public:
    FilterStage(const plan::FilterNode& node, Stage& next, const Columns& needed)
        : filter_(node.conjuncts), types_(output_types(node)), needed_(needed), next_(next) {}
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(FilterStage& s, ConsumerPtr n) : stage(s), filter(s.filter_), next(std::move(n)) {}
        void push(Batch&& batch) override {
            const Selection rows = filter.select(batch);
            if (rows.empty()) return;
            for (size_t i = 0; i < batch.columns.size(); ++i) {
                if (!stage.needed_[i])
                    batch.columns[i] = placeholder(stage.types_[i], rows.size());
                else if (rows.size() != batch.rows)
                    batch.columns[i] = gather(batch.columns[i], rows);
            }
            batch.rows = rows.size();
            next->push(std::move(batch));
        }
        void finish() override { next->finish(); }
        FilterStage& stage;
        Filter filter;
        ConsumerPtr next;
    };

    const Filter filter_;
    const std::vector<TypePtr> types_;
    const Columns needed_;
    Stage& next_;
};

class ProjectStage : public Stage {
public:
    ProjectStage(const plan::ProjectNode& node, Stage& next, const Columns& needed)
        : types_(output_types(node)), needed_(needed), next_(next) {
        std::vector<plan::ExpressionPtr> wanted;
        for (size_t i = 0; i < node.expressions.size(); ++i)
            if (needed[i]) wanted.push_back(node.expressions[i]);
        evaluator_ = Evaluator(wanted);
    }
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(ProjectStage& s, ConsumerPtr n) : stage(s), evaluator(s.evaluator_), next(std::move(n)) {}
        void push(Batch&& batch) override {
            auto values = evaluator.evaluate(batch);
            Batch out;
            out.rows = batch.rows;
            size_t at = 0;
            for (size_t i = 0; i < stage.needed_.size(); ++i)
                out.columns.push_back(stage.needed_[i] ? std::move(values[at++])
                                                       : placeholder(stage.types_[i], out.rows));
            next->push(std::move(out));
        }
        void finish() override { next->finish(); }
        ProjectStage& stage;
        Evaluator evaluator;
        ConsumerPtr next;
    };

    const std::vector<TypePtr> types_;
    const Columns needed_;
    Stage& next_;
    Evaluator evaluator_;
};

class LimitStage : public Stage {
public:
    LimitStage(uint64_t begin, uint64_t end, Stage& next) : begin_(begin), end_(end), next_(next) {}
    bool done() const override { return taken_.load(std::memory_order_relaxed) >= end_ || next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(LimitStage& s, ConsumerPtr n) : stage(s), next(std::move(n)) {}
        void push(Batch&& batch) override {
            const uint64_t at = stage.taken_.fetch_add(batch.rows);
            const uint64_t first = std::max(at, stage.begin_), last = std::min(at + batch.rows, stage.end_);
            if (first < last) next->push(batch.cut(first - at, last - first));
        }
        void finish() override { next->finish(); }
        LimitStage& stage;
        ConsumerPtr next;
    };

    const uint64_t begin_, end_;
    Stage& next_;
    std::atomic<uint64_t> taken_{0};
};

class ArrayJoinStage : public Stage {
public:
    ArrayJoinStage(const plan::ArrayJoinNode& node, Stage& next, const Columns& needed, size_t batch_rows)
        : node_(node), evaluator_(node.arrays), needed_(needed), next_(next), batch_rows_(batch_rows) {}
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(ArrayJoinStage& s, ConsumerPtr n) : stage(s), evaluator(s.evaluator_), next(std::move(n)) {}
        void push(Batch&& batch) override;
        void finish() override { next->finish(); }
        ArrayJoinStage& stage;
        Evaluator evaluator;
        ConsumerPtr next;
    };

    const plan::ArrayJoinNode& node_;
    Evaluator evaluator_;
    const Columns needed_;
    Stage& next_;
    const size_t batch_rows_;
};

/// Rows of the batch, as often as their arrays have elements; and for each array the elements' places in its child.
struct Unfolded {
    std::vector<uint32_t> rows;
    std::vector<std::vector<uint32_t>> elements;  // kNoRow: a default, for LEFT ARRAY JOIN
};

void unfold_row(const std::vector<VectorPtr>& arrays, size_t row, bool left, Unfolded& out) {
    const auto size_of = [&](const VectorPtr& array) { return array->offsets()[row + 1] - array->offsets()[row]; };
    const int64_t size = size_of(arrays[0]);
    for (const auto& array : arrays)
        if (size_of(array) != size)
            fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH, "Sizes of ARRAY-JOIN-ed arrays do not match: {} and {}", size,
                 size_of(array));
    for (int64_t i = 0; i < size; ++i) {
        out.rows.push_back(static_cast<uint32_t>(row));
        for (size_t a = 0; a < arrays.size(); ++a)
            out.elements[a].push_back(static_cast<uint32_t>(arrays[a]->offsets()[row] + i));
    }
    if (size == 0 && left) {
        out.rows.push_back(static_cast<uint32_t>(row));
        for (auto& elements : out.elements) elements.push_back(kNoRow);
    }
}

void ArrayJoinStage::Worker::push(Batch&& batch) {
    auto arrays = evaluator.evaluate(batch);
    for (auto& array : arrays) {
        array = flatten(array);
        if (array->type()->physical() != Physical::Array)
            fail(ErrorCode::TYPE_MISMATCH, "ARRAY JOIN requires array or map argument, got {}", array->type()->name());
    }
    const size_t inputs = batch.columns.size();
    for (size_t row = 0; row < batch.rows && !stage.done();) {
        Unfolded out;
        out.elements.resize(arrays.size());
        while (row < batch.rows && out.rows.size() < stage.batch_rows_)
            unfold_row(arrays, row++, stage.node_.left, out);
        if (out.rows.empty()) continue;
        Batch result;
        result.rows = out.rows.size();
        for (size_t i = 0; i < inputs; ++i)
            result.columns.push_back(stage.needed_[i] ? gather(batch.columns[i], out.rows)
                                                      : placeholder(stage.node_.output[i].type, result.rows));
        for (size_t a = 0; a < arrays.size(); ++a)
            result.columns.push_back(gather_or_default(arrays[a]->child(), out.elements[a]));
        next->push(std::move(result));
    }
}

}  // namespace

void run_filter(Run& run, const plan::FilterNode& node, Stage& next, const Columns& needed) {
    FilterStage stage(node, next, needed);
    Columns below = needed;
    mark(node.conjuncts, below);
    run.node(*node.children[0], stage, below);
}

void run_project(Run& run, const plan::ProjectNode& node, Stage& next, const Columns& needed) {
    ProjectStage stage(node, next, needed);
    Columns below(node.children[0]->output.size(), false);
    for (size_t i = 0; i < node.expressions.size(); ++i)
        if (needed[i]) plan::mark_columns(*node.expressions[i], below);
    run.node(*node.children[0], stage, below);
}

void run_limit(Run& run, const plan::LimitNode& node, Stage& next, const Columns& needed) {
    uint64_t end = UINT64_MAX / 2;
    if (node.limit && *node.limit < end - std::min(end, node.offset)) end = node.offset + *node.limit;
    LimitStage stage(node.offset, end, next);
    if (node.limit) run.set_limit_above();
    if (end > node.offset)
        run.node(*node.children[0], stage, needed);
    else
        next.consumer(0)->finish();
}

void run_array_join(Run& run, const plan::ArrayJoinNode& node, Stage& next, const Columns& needed) {
    ArrayJoinStage stage(node, next, needed, run.options().batch_rows);
    Columns below(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(node.children[0]->output.size()));
    mark(node.arrays, below);
    run.node(*node.children[0], stage, below);
}

}  // namespace firn::exec
