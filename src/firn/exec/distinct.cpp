// Operators that keep a table of the rows seen: DISTINCT, LIMIT BY, INTERSECT and EXCEPT.
#include <algorithm>
#include <mutex>

#include "firn/exec/evaluator.h"
#include "firn/exec/group_map.h"
#include "firn/exec/operators.h"

namespace firn::exec {
namespace {

/// Behind each key: a number.
const GroupPayload& counter_payload() {
    static const GroupPayload payload{sizeof(uint64_t), std::vector<char>(sizeof(uint64_t), 0), nullptr};
    return payload;
}

uint64_t& counter(const KeyLayout& layout, char* row) { return *reinterpret_cast<uint64_t*>(row + layout.key_bytes()); }

/// Rows whose key is met for the first time.
class FirstRows {
public:
    explicit FirstRows(const KeyLayout& layout) : layout_(layout), map_(layout, counter_payload()) {}
    Selection pick(std::span<const VectorPtr> keys, size_t rows) {
        found_.resize(rows);
        map_.find_or_insert(keys, rows, found_.data());
        Selection first;
        for (uint32_t i = 0; i < rows; ++i)
            if (counter(layout_, found_[i])++ == 0) first.push_back(i);
        return first;
    }
    GroupMap& map() { return map_; }

private:
    const KeyLayout& layout_;
    GroupMap map_;
    std::vector<char*> found_;
};

std::vector<VectorPtr> gather_all(std::span<const VectorPtr> vectors, const Selection& rows) {
    std::vector<VectorPtr> out;
    for (const auto& vector : vectors) out.push_back(gather(vector, rows));
    return out;
}

std::vector<TypePtr> types_of(const std::vector<plan::ExpressionPtr>& expressions) {
    std::vector<TypePtr> types;
    for (const auto& expression : expressions) types.push_back(expression->type);
    return types;
}

std::vector<plan::ExpressionPtr> columns_of(const plan::Node& node) {
    std::vector<plan::ExpressionPtr> columns;
    for (size_t i = 0; i < node.output.size(); ++i) columns.push_back(plan::make_column(i, node.output[i].type));
    return columns;
}

/// Gives each first row on at once: workers look in tables of their own, then in the one of all.
class StreamingDistinct : public Stage {
public:
    StreamingDistinct(const std::vector<plan::ExpressionPtr>& keys, size_t workers, Stage& next)
        : layout_(types_of(keys)),
          evaluator_(keys),
          all_(layout_),
          locals_(workers),
          alone_(workers == 1),
          next_(next) {}
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override {
        if (!locals_[worker]) locals_[worker] = std::make_unique<FirstRows>(layout_);
        return std::make_unique<Worker>(*this, *locals_[worker], next_.consumer(worker));
    }

private:
    struct Worker : Consumer {
        Worker(StreamingDistinct& s, FirstRows& l, ConsumerPtr n)
            : stage(s), local(l), evaluator(s.evaluator_), next(std::move(n)) {}
        void push(Batch&& batch) override {
            const auto keys = evaluator.evaluate(batch);
            Selection rows = local.pick(keys, batch.rows);
            if (!rows.empty() && !stage.alone_) {
                const auto fresh = gather_all(keys, rows);
                std::lock_guard lock(stage.mutex_);
                Selection of_fresh = stage.all_.pick(fresh, rows.size());
                for (uint32_t& row : of_fresh) row = rows[row];
                rows = std::move(of_fresh);
            }
            if (!rows.empty()) next->push(batch.select(rows));
        }
        void finish() override { next->finish(); }
        StreamingDistinct& stage;
        FirstRows& local;
        Evaluator evaluator;
        ConsumerPtr next;
    };

    const KeyLayout layout_;
    Evaluator evaluator_;
    std::mutex mutex_;
    FirstRows all_;
    std::vector<std::unique_ptr<FirstRows>> locals_;
    const bool alone_;
    Stage& next_;
};

class LimitByStage : public Stage {
public:
    LimitByStage(const plan::LimitByNode& node, Stage& next)
        : node_(node),
          layout_(types_of(node.keys)),
          evaluator_(node.keys),
          map_(layout_, counter_payload()),
          next_(next) {}
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(LimitByStage& s, ConsumerPtr n) : stage(s), evaluator(s.evaluator_), next(std::move(n)) {}
        void push(Batch&& batch) override {
            const auto keys = evaluator.evaluate(batch);
            found.resize(batch.rows);
            Selection rows;
            {
                std::lock_guard lock(stage.mutex_);
                stage.map_.find_or_insert(keys, batch.rows, found.data());
                for (uint32_t i = 0; i < batch.rows; ++i) {
                    const uint64_t at = counter(stage.layout_, found[i])++;
                    if (at >= stage.node_.offset && at - stage.node_.offset < stage.node_.limit) rows.push_back(i);
                }
            }
            if (!rows.empty()) next->push(batch.select(rows));
        }
        void finish() override { next->finish(); }
        LimitByStage& stage;
        Evaluator evaluator;
        ConsumerPtr next;
        std::vector<char*> found;
    };

    const plan::LimitByNode& node_;
    const KeyLayout layout_;
    Evaluator evaluator_;
    std::mutex mutex_;
    GroupMap map_;
    Stage& next_;
};

/// Collects one side's rows into a table that counts them; later rows of the other side are looked up in it.
class CountStage : public Stage {
public:
    explicit CountStage(const KeyLayout& layout) : layout_(layout), map_(layout, counter_payload()) {}
    ConsumerPtr consumer(size_t) override { return std::make_unique<Worker>(*this); }
    GroupMap& map() { return map_; }

private:
    struct Worker : Consumer {
        explicit Worker(CountStage& s) : stage(s) {}
        void push(Batch&& batch) override {
            found.resize(batch.rows);
            std::lock_guard lock(stage.mutex_);
            stage.map_.find_or_insert(batch.columns, batch.rows, found.data());
            for (char* row : found) ++counter(stage.layout_, row);
        }
        CountStage& stage;
        std::vector<char*> found;
    };
    const KeyLayout& layout_;
    std::mutex mutex_;
    GroupMap map_;
};

/// Rows of the first child that the second has (intersect) or has not (except). all: as often as both say; else once each.
class SetOperationStage : public Stage {
public:
    SetOperationStage(bool intersect, bool all, const KeyLayout& layout, GroupMap& other, Stage& next)
        : intersect_(intersect), all_(all), layout_(layout), other_(other), seen_(layout), next_(next) {}
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(SetOperationStage& s, ConsumerPtr n) : stage(s), next(std::move(n)) {}
        void push(Batch&& batch) override {
            Selection rows;
            {
                std::lock_guard lock(stage.mutex_);
                rows = stage.pick(batch, found);
            }
            if (!rows.empty()) next->push(batch.select(rows));
        }
        void finish() override { next->finish(); }
        SetOperationStage& stage;
        ConsumerPtr next;
        std::vector<char*> found;
    };

    Selection pick(const Batch& batch, std::vector<char*>& found) {
        found.resize(batch.rows);
        other_.find_or_insert(batch.columns, batch.rows, found.data());
        Selection rows;
        for (uint32_t i = 0; i < batch.rows; ++i) {
            uint64_t& left = counter(layout_, found[i]);
            if ((left > 0) == intersect_) rows.push_back(i);
            if (all_ && left > 0) --left;
        }
        if (all_ || rows.empty()) return rows;
        Selection first = seen_.pick(gather_all(batch.columns, rows), rows.size());
        for (uint32_t& row : first) row = rows[row];
        return first;
    }

    const bool intersect_, all_;
    const KeyLayout& layout_;
    GroupMap& other_;
    FirstRows seen_;
    std::mutex mutex_;
    Stage& next_;
};

bool comes_in_order(const plan::Node& node) {
    switch (node.kind) {
        case plan::NodeKind::Sort:
        case plan::NodeKind::Window:
            return true;
        case plan::NodeKind::Project:
        case plan::NodeKind::Filter:
        case plan::NodeKind::Limit:
        case plan::NodeKind::LimitBy:
        case plan::NodeKind::Distinct:
            return comes_in_order(*node.children[0]);
        default:
            return false;
    }
}

}  // namespace

void run_distinct(Run& run, const plan::DistinctNode& node, Stage& next, const Columns& needed) {
    const auto keys = node.keys.empty() ? columns_of(node) : node.keys;
    if (!node.keys.empty() || run.limit_above() || comes_in_order(*node.children[0])) {
        StreamingDistinct stage(keys, run.threads(), next);
        Columns below = needed;
        mark(keys, below);
        return run.node(*node.children[0], stage, below);
    }
    plan::AggregateNode groups;
    groups.keys = keys;
    groups.output = node.output;
    run_groups(run, groups, *node.children[0], run.options().spill_distinct_bytes, next, needed);
}

void run_limit_by(Run& run, const plan::LimitByNode& node, Stage& next, const Columns& needed) {
    LimitByStage stage(node, next);
    Columns below = needed;
    mark(node.keys, below);
    run.node(*node.children[0], stage, below);
}

void run_set_operation(Run& run, const plan::SetNode& node, Stage& next) {
    const bool intersect = node.kind == plan::NodeKind::Intersect;
    const KeyLayout layout(output_types(node));
    // a op b op c = (a op b) op c: the right sides are collected first, then the first child runs through all of them.
    std::vector<std::unique_ptr<CountStage>> others;
    for (size_t i = 1; i < node.children.size(); ++i) {
        others.push_back(std::make_unique<CountStage>(layout));
        run.node(*node.children[i], *others.back());
    }
    std::vector<std::unique_ptr<SetOperationStage>> chain;
    Stage* after = &next;
    for (size_t i = others.size(); i-- > 0;) {
        chain.push_back(std::make_unique<SetOperationStage>(intersect, node.all, layout, others[i]->map(), *after));
        after = chain.back().get();
    }
    run.node(*node.children[0], *after);
}

}  // namespace firn::exec
