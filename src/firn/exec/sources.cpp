// Where pipelines begin: scans, rows of the plan itself, shared subplans; and unions, which run one after another.
#include <algorithm>
#include <optional>

#include "firn/base/query_context.h"
#include "firn/exec/operators.h"

namespace firn::exec {
namespace {

/// Fewer rows than this are read by one worker: it keeps the order of small tables, and threads would not pay.
constexpr uint64_t kOneWorkerRows = 2000;

void flatten_batch(Batch& batch) {
    for (auto& column : batch.columns) column = flatten(column);
}

/// All rows of a task; where the stage takes that, most of a batch come with those that are not wanted.
void push_task(Run& run, plan::ScanTask& task, Stage& next, Consumer& consumer) {
    std::optional<Selection> rows;
    const auto read = [&](Batch& batch) {
        if (next.takes_selections()) return task.next_unpicked(batch, rows);
        rows.reset();
        return task.next(batch);
    };
    for (Batch batch; !run.stopped() && !next.done() && read(batch); batch = Batch()) {
        check_cancelled();
        if (run.options().force_flat) flatten_batch(batch);
        if (rows && batch.rows <= run.options().batch_rows)
            consumer.push_selected(std::move(batch), *rows);
        else
            run.push_cut(rows ? batch.select(*rows) : std::move(batch), next, consumer);
    }
}

}  // namespace

void emit_batches(Run& run, const std::vector<Batch>& batches, Stage& next) {
    uint64_t rows = 0;
    for (const auto& batch : batches) rows += batch.rows;
    const auto push = [&](size_t i, Consumer& consumer) {
        Batch batch = batches[i];
        if (run.options().force_flat) flatten_batch(batch);
        run.push_cut(std::move(batch), next, consumer);
    };
    if (rows > kOneWorkerRows) return run.emit(batches.size(), next, push);
    run.emit_in_order(next, [&](Consumer& consumer) {
        for (size_t i = 0; i < batches.size() && !next.done(); ++i) push(i, consumer);
    });
}

void run_scan(Run& run, const plan::ScanNode& node, Stage& next, const Columns&) {
    const auto scan = node.source->scan(node.request);
    if (!node.request.aggregates.empty()) run.metadata_partials[&node] = scan->metadata_partials();
    const auto rows = scan->row_estimate();
    const bool small = rows && *rows < kOneWorkerRows;
    run.workers(
        [&](size_t worker) {
            const auto consumer = next.consumer(worker);
            while (!run.stopped() && !next.done()) {
                check_cancelled();
                const auto task = scan->next_task();
                if (!task) break;
                push_task(run, *task, next, *consumer);
            }
            if (!run.stopped()) consumer->finish();
        },
        small ? 1 : SIZE_MAX);
}

void run_values(Run& run, const plan::ValuesNode& node, Stage& next) { emit_batches(run, node.batches, next); }

void run_cte(Run& run, const plan::CteNode& node, Stage& next) {
    const auto found = run.shared_rows.find(node.shared.get());
    if (found != run.shared_rows.end()) return emit_batches(run, found->second.batches, next);
    CollectStage all(run.threads());
    run.node(*node.shared->plan, all);
    auto& shared = run.shared_rows[node.shared.get()];
    shared.batches = all.take();
    emit_batches(run, shared.batches, next);
}

void run_union(Run& run, const plan::SetNode& node, Stage& next, const Columns& needed) {
    for (const auto& child : node.children) {
        if (next.done()) return;
        run.node(*child, next, needed);
    }
}

}  // namespace firn::exec
