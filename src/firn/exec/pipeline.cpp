#include "firn/exec/pipeline.h"

#include <algorithm>
#include <mutex>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/base/thread_pool.h"
#include "firn/exec/operators.h"

namespace firn::exec {
namespace {

class CollectConsumer : public Consumer {
public:
    explicit CollectConsumer(std::vector<Batch>& list) : list_(list) {}
    void push(Batch&& batch) override { list_.push_back(std::move(batch)); }

private:
    std::vector<Batch>& list_;
};

/// The end of the plan: hands batches to the caller's function, one at a time.
class OutputStage : public Stage {
public:
    explicit OutputStage(const std::function<bool(Batch&&)>& sink) : sink_(sink) {}
    ConsumerPtr consumer(size_t) override { return std::make_unique<Output>(*this); }
    bool done() const override { return done_.load(std::memory_order_relaxed); }

private:
    class Output : public Consumer {
    public:
        explicit Output(OutputStage& stage) : stage_(stage) {}
        void push(Batch&& batch) override {
            std::lock_guard lock(stage_.mutex_);
            if (!stage_.done() && !stage_.sink_(std::move(batch))) stage_.done_.store(true);
        }

    private:
        OutputStage& stage_;
    };

    const std::function<bool(Batch&&)>& sink_;
    std::mutex mutex_;
    std::atomic<bool> done_{false};
};

}  // namespace

Run::Run(const ExecutionOptions& options)
    : options_(options),
      threads_(std::max<size_t>(1, options.threads)),
      spill_space_(options.temporary_directory, options.most_spilled_bytes, options.spill_codec) {
    options_.batch_rows = std::max<size_t>(1, options.batch_rows);
}
Run::~Run() = default;

void Run::workers(const std::function<void(size_t)>& work, size_t most) {
    run_workers(std::min(threads_, std::max<size_t>(1, most)), [&](size_t worker) {
        try {
            work(worker);
        } catch (...) {
            stopped_.store(true);
            throw;
        }
    });
}

void Run::parallel(size_t tasks, const std::function<void(size_t)>& work) {
    std::atomic<size_t> next{0};
    workers(
        [&](size_t) {
            for (size_t task; !stopped() && (task = next.fetch_add(1)) < tasks;) {
                check_cancelled();
                work(task);
            }
        },
        tasks);
}

void Run::emit(size_t tasks, Stage& next, const std::function<void(size_t, Consumer&)>& work) {
    std::atomic<size_t> next_task{0};
    workers(
        [&](size_t worker) {
            const auto consumer = next.consumer(worker);
            for (size_t task; !stopped() && !next.done() && (task = next_task.fetch_add(1)) < tasks;) {
                check_cancelled();
                work(task, *consumer);
            }
            if (!stopped()) consumer->finish();
        },
        tasks);
}

void Run::emit_in_order(Stage& next, const std::function<void(Consumer&)>& work) {
    const auto consumer = next.consumer(0);
    work(*consumer);
    consumer->finish();
}

void Run::push_cut(Batch&& batch, Stage& stage, Consumer& consumer) const {
    if (batch.rows <= options_.batch_rows) {
        if (batch.rows) consumer.push(std::move(batch));
        return;
    }
    for (size_t at = 0; at < batch.rows && !stage.done() && !stopped(); at += options_.batch_rows) {
        check_cancelled();
        consumer.push(batch.cut(at, std::min(options_.batch_rows, batch.rows - at)));
    }
}

void Run::node(const plan::Node& node, Stage& next) { this->node(node, next, all_columns(node)); }

void Run::node(const plan::Node& node, Stage& next, const Columns& needed) {
    using plan::NodeKind;
    limit_above_ = next_limit_above_;
    next_limit_above_ = node.kind == NodeKind::Project && limit_above_;
    switch (node.kind) {
        case NodeKind::Scan:
            return run_scan(*this, static_cast<const plan::ScanNode&>(node), next, needed);
        case NodeKind::Values:
            return run_values(*this, static_cast<const plan::ValuesNode&>(node), next);
        case NodeKind::Project:
            return run_project(*this, static_cast<const plan::ProjectNode&>(node), next, needed);
        case NodeKind::Filter:
            return run_filter(*this, static_cast<const plan::FilterNode&>(node), next, needed);
        case NodeKind::Aggregate:
            return run_aggregate(*this, static_cast<const plan::AggregateNode&>(node), next, needed);
        case NodeKind::Join:
            return run_join(*this, static_cast<const plan::JoinNode&>(node), next, needed);
        case NodeKind::Sort: {
            const auto& sort = static_cast<const plan::SortNode&>(node);
            return sort.limit ? run_top_n(*this, sort, next, needed) : run_sort(*this, sort, next, needed);
        }
        case NodeKind::Limit:
            return run_limit(*this, static_cast<const plan::LimitNode&>(node), next, needed);
        case NodeKind::LimitBy:
            return run_limit_by(*this, static_cast<const plan::LimitByNode&>(node), next, needed);
        case NodeKind::Distinct:
            return run_distinct(*this, static_cast<const plan::DistinctNode&>(node), next, needed);
        case NodeKind::Union:
            return run_union(*this, static_cast<const plan::SetNode&>(node), next, needed);
        case NodeKind::Intersect:
        case NodeKind::Except:
            return run_set_operation(*this, static_cast<const plan::SetNode&>(node), next);
        case NodeKind::ArrayJoin:
            return run_array_join(*this, static_cast<const plan::ArrayJoinNode&>(node), next, needed);
        case NodeKind::Window:
            return run_window(*this, static_cast<const plan::WindowNode&>(node), next, needed);
        case NodeKind::Fill:
            return run_fill(*this, static_cast<const plan::FillNode&>(node), next);
        case NodeKind::Cte:
            return run_cte(*this, static_cast<const plan::CteNode&>(node), next);
    }
    fail(ErrorCode::LOGICAL_ERROR, "No operator for plan node {}", static_cast<int>(node.kind));
}

ConsumerPtr CollectStage::consumer(size_t worker) { return std::make_unique<CollectConsumer>(lists_[worker]); }

std::vector<Batch> CollectStage::take() {
    std::vector<Batch> all;
    for (auto& list : lists_)
        for (auto& batch : list) all.push_back(std::move(batch));
    lists_.assign(lists_.size(), {});
    return all;
}

std::vector<TypePtr> output_types(const plan::Node& node) {
    std::vector<TypePtr> types;
    types.reserve(node.output.size());
    for (const auto& column : node.output) types.push_back(column.type);
    return types;
}

VectorPtr placeholder(const TypePtr& type, size_t rows) { return Vector::defaults(type, rows); }

Columns all_columns(const plan::Node& node) { return Columns(node.output.size(), true); }

void mark(const std::vector<plan::ExpressionPtr>& expressions, Columns& needed) {
    for (const auto& expression : expressions)
        if (expression) plan::mark_columns(*expression, needed);
}

Batch concat_batches(Run& run, const std::vector<Batch>& batches, const std::vector<TypePtr>& types,
                     const Columns& needed) {
    Batch out;
    for (const auto& batch : batches) out.rows += batch.rows;
    if (out.rows >= kNoRow)
        fail(ErrorCode::LIMIT_EXCEEDED, "An operator that keeps all its input has {} rows; at most {} are supported",
             out.rows, kNoRow - 1);
    out.columns.resize(types.size());
    run.parallel(types.size(), [&](size_t i) {
        if (!needed[i]) {
            out.columns[i] = placeholder(types[i], out.rows);
            return;
        }
        std::vector<VectorPtr> parts;
        parts.reserve(batches.size());
        for (const auto& batch : batches) parts.push_back(batch.columns[i]);
        // A dictionary may stay; other encodings are made flat once for the many gathers to come.
        const auto whole = concat(types[i], parts);
        out.columns[i] = whole->encoding() == Encoding::Dictionary ? whole : flatten(whole);
    });
    return out;
}

void execute(const plan::Node& plan, const ExecutionOptions& options, const std::function<bool(Batch&&)>& sink) {
    Run run(options);
    OutputStage output(sink);
    run.node(plan, output);
}

std::vector<Batch> collect(const plan::Node& plan, const ExecutionOptions& options) {
    Run run(options);
    CollectStage all(run.threads());
    run.node(plan, all);
    return all.take();
}

}  // namespace firn::exec
