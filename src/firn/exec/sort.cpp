// ORDER BY: all rows collected, row numbers sorted in parallel and merged; and top-N, which keeps only the best.
#include <algorithm>
#include <mutex>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/evaluator.h"
#include "firn/exec/external_sort.h"
#include "firn/exec/operators.h"
#include "firn/exec/sort_keys.h"
#include "firn/exec/sorting.h"

namespace firn::exec {
namespace {

constexpr size_t kParallelFrom = 1 << 14;   // rows from which sorting is split among workers
constexpr uint64_t kMostTopRows = 1 << 20;  // above, a whole sort is as good
constexpr size_t kRowsToCompact = 1024;

void forbid_collation(const std::vector<plan::SortKey>& keys) {
    for (const auto& key : keys)
        if (!key.collation.empty())
            fail(ErrorCode::NOT_IMPLEMENTED, "ORDER BY … COLLATE '{}' is not supported yet", key.collation);
}

/// The rows that come first so far, of one worker.
struct TopRows {
    std::vector<Batch> batches;
    size_t rows = 0;
};

class TopStage : public Stage {
public:
    TopStage(const plan::SortNode& node, const KeyedColumns& columns, size_t workers)
        : node_(node), columns_(columns), limit_(*node.limit), tops_(workers) {}
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, tops_[worker]); }
    std::vector<Batch> take() {
        std::vector<Batch> all;
        for (auto& top : tops_)
            for (auto& batch : top.batches) all.push_back(std::move(batch));
        return all;
    }
    /// Rows of `batch`, in order, that stay in the first limit.
    std::vector<uint32_t> best(const SortKeys& keys) const {
        auto rows = keys.sorted();
        size_t end = std::min<size_t>(limit_, rows.size());
        if (node_.with_ties && end > 0)
            while (end < rows.size() && keys.compare(rows[end - 1], rows[end]) == 0) ++end;
        rows.resize(end);
        return rows;
    }

    /// Drops rows that their first key alone puts behind the bound, before the other keys (often strings) are looked at;
    /// false where none is left. A prefix of all keys has that of the first in its highest bits.
    bool drop_by_first_key(Batch& keyed, UInt128 bound) const {
        const auto columns = columns_.keys_of(keyed);
        if (columns.size() < 2 || columns[0]->type()->physical() == Physical::Str) return true;
        const SortKeys first({directions_of(node_.keys)[0]}, {columns[0]}, keyed.rows);
        Selection rows(keyed.rows);
        size_t n = 0;
        for (uint32_t i = 0; i < keyed.rows; ++i) {
            rows[n] = i;
            n += first.prefixes()[i] <= bound;
        }
        if (n == keyed.rows) return true;
        rows.resize(n);
        if (n > 0) keyed = columns_.select(keyed, rows);
        return n > 0;
    }

private:
    struct Worker : Consumer {
        Worker(TopStage& s, TopRows& t) : stage(s), top(t), evaluator(s.columns_.evaluator()) {}
        void push(Batch&& batch) override;
        void compact();
        TopStage& stage;
        TopRows& top;
        Evaluator evaluator;
    };

    void tighten(UInt128 prefix, const VectorPtr& first_key, size_t row);

    const plan::SortNode& node_;
    const KeyedColumns& columns_;
    const size_t limit_;
    std::vector<TopRows> tops_;
    std::mutex mutex_;
    bool has_bound_ = false;
    UInt128 bound_ = 0;  // prefix of the worst row that still counts
};

void TopStage::Worker::push(Batch&& batch) {
    if (stage.limit_ == 0) return;
    Batch keyed = stage.columns_.add_keys(std::move(batch), evaluator);
    bool has_bound;
    UInt128 bound;
    {
        std::lock_guard lock(stage.mutex_);
        has_bound = stage.has_bound_;
        bound = stage.bound_;
    }
    if (has_bound && !stage.drop_by_first_key(keyed, bound)) return;
    if (has_bound) {
        const SortKeys keys(directions_of(stage.node_.keys), stage.columns_.keys_of(keyed), keyed.rows);
        const bool drop_equal = keys.prefix_is_whole() && !stage.node_.with_ties;
        Selection rows;
        for (uint32_t i = 0; i < keyed.rows; ++i)
            if (keys.prefixes()[i] < bound || (!drop_equal && keys.prefixes()[i] == bound)) rows.push_back(i);
        if (rows.empty()) return;
        keyed = stage.columns_.select(keyed, rows);
    }
    top.rows += keyed.rows;
    top.batches.push_back(std::move(keyed));
    if (top.rows >= 2 * stage.limit_ + kRowsToCompact || (!has_bound && top.rows >= stage.limit_)) compact();
}

void TopStage::Worker::compact() {
    Batch all = stage.columns_.concat(top.batches);
    const SortKeys keys(directions_of(stage.node_.keys), stage.columns_.keys_of(all), all.rows);
    const auto rows = stage.best(keys);
    Batch kept = stage.columns_.select(all, rows);
    for (auto& column : kept.columns)
        if (!column->is_constant()) column = copy_owned(column);  // pins no pages of dropped rows
    if (rows.size() >= stage.limit_)
        stage.tighten(keys.prefixes()[rows[stage.limit_ - 1]], keys.columns()[0], rows[stage.limit_ - 1]);
    top.rows = kept.rows;
    top.batches.clear();
    top.batches.push_back(std::move(kept));
}

void TopStage::tighten(UInt128 prefix, const VectorPtr& first_key, size_t row) {
    std::lock_guard lock(mutex_);
    if (has_bound_ && prefix >= bound_) return;
    has_bound_ = true;
    bound_ = prefix;
    if (!node_.threshold) return;
    const auto& key = node_.keys[0];
    const VectorPtr value = copy_owned(slice(first_key, row, 1));
    const Physical physical = value->type()->physical();
    const bool nan = (physical == Physical::Float64 && value->values<double>()[0] != value->values<double>()[0]) ||
                     (physical == Physical::Float32 && value->values<float>()[0] != value->values<float>()[0]);
    if (value->is_null(0) || nan || value->children().size() > 0) return;
    auto content = std::make_shared<plan::RuntimeFilter::Content>();
    content->keep_nulls = key.nulls_first;
    (key.descending ? content->min : content->max) = value->with_type(unwrap(value->type()));
    node_.threshold->set(std::move(content));
}

}  // namespace

KeyedColumns::KeyedColumns(Run& run, const std::vector<plan::ExpressionPtr>& keys, const std::vector<TypePtr>& types,
                           const Columns& needed)
    : run_(run), types_(types), kept_(needed), inputs_(types.size()) {
    std::vector<plan::ExpressionPtr> computed;
    for (const auto& key : keys) {
        if (key->kind == plan::Expression::Kind::Column) {
            key_columns_.push_back(key->index);
            kept_[key->index] = true;
        } else {
            key_columns_.push_back(types_.size());
            types_.push_back(key->type);
            kept_.push_back(true);
            computed.push_back(key);
        }
    }
    evaluator_ = Evaluator(computed);
}

Batch KeyedColumns::add_keys(Batch&& batch, Evaluator& evaluator) const {
    auto computed = evaluator.evaluate(batch);
    for (auto& column : computed) batch.columns.push_back(std::move(column));
    return std::move(batch);
}

std::vector<VectorPtr> KeyedColumns::keys_of(const Batch& batch) const {
    std::vector<VectorPtr> keys;
    for (const size_t column : key_columns_) keys.push_back(batch.columns[column]);
    return keys;
}

void KeyedColumns::drop_unread(Batch& batch) const {
    for (size_t i = 0; i < types_.size(); ++i)
        if (!kept_[i]) batch.columns[i] = placeholder(types_[i], batch.rows);
}

Batch KeyedColumns::select(const Batch& batch, std::span<const uint32_t> rows) const {
    Batch out;
    out.rows = rows.size();
    for (size_t i = 0; i < types_.size(); ++i)
        out.columns.push_back(kept_[i] ? gather(batch.columns[i], rows) : placeholder(types_[i], rows.size()));
    return out;
}

Batch KeyedColumns::concat(const std::vector<Batch>& batches) const {
    Batch out;
    for (const auto& batch : batches) out.rows += batch.rows;
    for (size_t i = 0; i < types_.size(); ++i) {
        std::vector<VectorPtr> parts;
        if (kept_[i])
            for (const auto& batch : batches) parts.push_back(batch.columns[i]);
        out.columns.push_back(kept_[i] ? firn::concat(types_[i], parts) : placeholder(types_[i], out.rows));
    }
    return out;
}

size_t KeyedColumns::row_bytes() const {
    size_t bytes = 0;
    for (size_t i = 0; i < types_.size(); ++i)
        if (kept_[i]) bytes += types_[i]->value_size() + (accepts_null(*types_[i]) ? 1 : 0);
    return bytes;
}

Batch KeyedColumns::concat_parallel(const std::vector<Batch>& batches) const {
    return concat_batches(run_, batches, types_, kept_);
}

Batch KeyedColumns::without_keys(Batch&& batch) const {
    batch.columns.resize(inputs_);
    return std::move(batch);
}

ConsumerPtr KeyedCollectStage::consumer(size_t worker) {
    return std::make_unique<Worker>(columns_, collected_.consumer(worker));
}

void KeyedCollectStage::Worker::push(Batch&& batch) { next->push(columns.add_keys(std::move(batch), evaluator)); }

std::vector<uint32_t> sort_rows(Run& run, const SortKeys& keys) {
    if (run.threads() == 1 || keys.rows() < kParallelFrom) return keys.sorted();
    const size_t parts = run.threads();
    std::vector<std::vector<uint32_t>> sorted(parts);
    const auto bound = [&](size_t part) { return keys.rows() * part / parts; };
    run.parallel(parts, [&](size_t part) { sorted[part] = keys.sorted(bound(part), bound(part + 1)); });
    const auto before = [&](uint32_t a, uint32_t b) { return keys.before(a, b); };
    while (sorted.size() > 1) {
        std::vector<std::vector<uint32_t>> merged((sorted.size() + 1) / 2);
        run.parallel(merged.size(), [&](size_t i) {
            auto& left = sorted[2 * i];
            if (2 * i + 1 == sorted.size()) {
                merged[i] = std::move(left);
                return;
            }
            auto& right = sorted[2 * i + 1];
            merged[i].resize(left.size() + right.size());
            std::merge(left.begin(), left.end(), right.begin(), right.end(), merged[i].begin(), before);
        });
        sorted = std::move(merged);
    }
    return std::move(sorted[0]);
}

void emit_rows(Run& run, const KeyedColumns& columns, const Batch& all, std::span<const uint32_t> rows, Stage& next) {
    run.emit_in_order(next, [&](Consumer& consumer) {
        for (size_t at = 0; at < rows.size() && !next.done(); at += run.options().batch_rows) {
            check_cancelled();
            consumer.push(columns.without_keys(
                columns.select(all, rows.subspan(at, std::min(run.options().batch_rows, rows.size() - at)))));
        }
    });
}

namespace {

std::vector<plan::ExpressionPtr> expressions_of(const std::vector<plan::SortKey>& keys) {
    std::vector<plan::ExpressionPtr> expressions;
    for (const auto& key : keys) expressions.push_back(key.expression);
    return expressions;
}

Columns columns_below(const std::vector<plan::ExpressionPtr>& keys, const Columns& needed) {
    Columns below = needed;
    mark(keys, below);
    return below;
}

/// Whether so many rows, of every worker twice before it drops the worse half, leave memory to others.
bool fits_in_memory(const Run& run, const KeyedColumns& columns, uint64_t rows) {
    constexpr size_t kBeyondValues = 48;  // a row: bytes of its strings, prefix, row number
    const uint64_t bytes = 3 * run.threads() * rows * (columns.row_bytes() + kBeyondValues);
    return run.spill_policy(run.options().spill_sort_bytes).fits(static_cast<int64_t>(bytes));
}

}  // namespace

void run_sort(Run& run, const plan::SortNode& node, Stage& next, const Columns& needed) {
    forbid_collation(node.keys);
    const auto expressions = expressions_of(node.keys);
    const KeyedColumns columns(run, expressions, output_types(node), needed);
    SortStage stage(run, node, columns);
    run.node(*node.children[0], stage, columns_below(expressions, needed));
    if (stage.spill_rest()) return stage.merge(next);
    const Batch all = columns.concat_parallel(stage.take());
    std::vector<uint32_t> rows;
    {
        const SortKeys keys(directions_of(node.keys), columns.keys_of(all), all.rows);
        rows = sort_rows(run, keys);
    }
    if (node.limit && !node.with_ties && rows.size() > *node.limit) rows.resize(*node.limit);
    emit_rows(run, columns, all, rows, next);
}

void run_top_n(Run& run, const plan::SortNode& node, Stage& next, const Columns& needed) {
    if (*node.limit > kMostTopRows && !node.with_ties) return run_sort(run, node, next, needed);
    forbid_collation(node.keys);
    const auto expressions = expressions_of(node.keys);
    const KeyedColumns columns(run, expressions, output_types(node), needed);
    if (!node.with_ties && !fits_in_memory(run, columns, *node.limit)) return run_sort(run, node, next, needed);
    TopStage stage(node, columns, run.threads());
    run.node(*node.children[0], stage, columns_below(expressions, needed));
    const Batch all = columns.concat(stage.take());
    const SortKeys keys(directions_of(node.keys), columns.keys_of(all), all.rows);
    emit_rows(run, columns, all, stage.best(keys), next);
}

}  // namespace firn::exec
