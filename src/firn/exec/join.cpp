// Joins: the right child is collected into a table, the left child's batches are looked up in it as they come.
#include <algorithm>
#include <atomic>
#include <functional>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/external_join.h"
#include "firn/exec/join_build.h"
#include "firn/exec/operators.h"

namespace firn::exec {
namespace {

using plan::JoinKind;
using plan::JoinNode;
using plan::JoinStrictness;

bool gives_left(JoinKind kind) { return kind != JoinKind::RightSemi && kind != JoinKind::RightAnti; }
bool gives_pairs(JoinKind kind) {
    return kind == JoinKind::Inner || kind == JoinKind::Left || kind == JoinKind::Right || kind == JoinKind::Full ||
           kind == JoinKind::Cross;
}

class ProbeStage : public Stage {
public:
    ProbeStage(const JoinNode& node, BuildSide& build, Stage& next, const Columns& needed, size_t batch_rows)
        : node_(node),
          build_(build),
          next_(next),
          needed_(needed),
          types_(output_types(node)),
          left_keys_(equality_keys(node)),
          evaluator_(node.left_keys),
          residual_(node.residual),
          residual_columns_(build.left_columns + build.right_columns, false),
          batch_rows_(batch_rows),
          uses_matched_(any() || !(node.join == JoinKind::Inner || node.join == JoinKind::Cross)) {
        mark(node.residual, residual_columns_);
    }
    bool done() const override { return next_.done(); }
    ConsumerPtr consumer(size_t worker) override { return std::make_unique<Worker>(*this, next_.consumer(worker)); }

private:
    struct Worker : Consumer {
        Worker(ProbeStage& s, ConsumerPtr n)
            : stage(s), evaluator(s.evaluator_), residual(s.residual_), probe(s.build_.table), next(std::move(n)) {}
        void push(Batch&& batch) override;
        void finish() override { next->finish(); }

        void pair_all(const Batch& batch);
        void pair_unique(size_t rows);
        void pair_asof(const Batch& batch, const VectorPtr& left);
        void mark_chains();
        void flush(const Batch& batch);
        void apply_residual(const Batch& batch);
        void keep_one_of_each();
        void emit(const Batch& batch);
        void emit_left(const Batch& batch);
        void push_mark(Batch&& batch);

        ProbeStage& stage;
        Evaluator evaluator;
        Filter residual;
        JoinTable::Probe probe;
        ConsumerPtr next;
        // Of the batch at hand.
        std::vector<uint32_t> first;  // first row with the key
        std::vector<uint8_t> null_key;
        std::vector<uint8_t> matched;                 // left rows with a match
        std::vector<uint32_t> left_rows, right_rows;  // pairs not yet given on
    };

    bool any() const { return node_.strictness == JoinStrictness::Any; }
    bool keeps_unmatched_left() const { return node_.join == JoinKind::Left || node_.join == JoinKind::Full; }

    const JoinNode& node_;
    BuildSide& build_;
    Stage& next_;
    const Columns needed_;
    const std::vector<TypePtr> types_;
    const size_t left_keys_;
    Evaluator evaluator_;
    Filter residual_;
    Columns residual_columns_;
    const size_t batch_rows_;
    const bool uses_matched_;  // whether anything depends on which left rows had a match
};

void ProbeStage::Worker::push(Batch&& batch) {
    const JoinNode& node = stage.node_;
    const auto keys = evaluator.evaluate(batch);
    first.resize(batch.rows);
    null_key.resize(batch.rows);
    probe.find(std::span(keys.data(), stage.left_keys_), batch.rows, first.data(), null_key.data());
    if (stage.uses_matched_) matched.assign(batch.rows, 0);
    left_rows.clear();
    right_rows.clear();
    if (stage.build_.is_asof()) {
        pair_asof(batch, keys.back());
    } else if (!gives_pairs(node.join) && residual.empty()) {
        if (gives_left(node.join))
            for (size_t i = 0; i < batch.rows; ++i) matched[i] = first[i] != kNoRow;
        else
            mark_chains();
    } else {
        pair_all(batch);
    }
    if (!left_rows.empty()) flush(batch);
    if (gives_left(node.join)) emit_left(batch);
}

/// Pairs where no key is twice in the table: at most one for each left row.
void ProbeStage::Worker::pair_unique(size_t rows) {
    left_rows.resize(rows);
    right_rows.resize(rows);
    uint32_t* const left = left_rows.data();
    uint32_t* const right = right_rows.data();
    size_t pairs = 0;
    for (uint32_t row = 0; row < rows; ++row) {
        left[pairs] = row;
        right[pairs] = first[row];
        pairs += first[row] != kNoRow;
    }
    left_rows.resize(pairs);
    right_rows.resize(pairs);
}

/// All pairs of equal keys, given on in portions.
void ProbeStage::Worker::pair_all(const Batch& batch) {
    if (stage.build_.table.is_unique() && !stage.keeps_unmatched_left()) return pair_unique(batch.rows);
    const bool only_first =
        stage.any() && residual.empty() && (stage.node_.join == JoinKind::Left || stage.node_.join == JoinKind::Inner);
    const bool fill_left = stage.keeps_unmatched_left() && residual.empty() && !stage.any();
    const size_t portion = std::max<size_t>(stage.batch_rows_, 1);
    for (uint32_t row = 0; row < batch.rows; ++row) {
        uint32_t at = first[row];
        if (at == kNoRow && fill_left) {  // in place, so that the left side's order stays
            left_rows.push_back(row);
            right_rows.push_back(kNoRow);
            matched[row] = 1;
        }
        while (at != kNoRow) {
            left_rows.push_back(row);
            right_rows.push_back(at);
            if (left_rows.size() >= portion && left_rows.size() >= batch.rows) {
                flush(batch);
                check_cancelled();
                if (stage.done()) return;
            }
            if (only_first) break;
            at = stage.build_.table.next(at);
        }
    }
}

void ProbeStage::Worker::pair_asof(const Batch& batch, const VectorPtr& left) {
    const auto rows = stage.build_.asof_matches(stage.node_.asof, first, *left);
    for (uint32_t row = 0; row < batch.rows; ++row) {
        if (rows[row] == kNoRow) continue;
        left_rows.push_back(row);
        right_rows.push_back(rows[row]);
    }
}

/// Marks all right rows whose key occurs. A chain is marked whole, so a marked first row says that somebody has done it.
void ProbeStage::Worker::mark_chains() {
    for (const uint32_t head : first) {
        if (head == kNoRow || stage.build_.is_matched(head)) continue;
        for (uint32_t at = head; at != kNoRow; at = stage.build_.table.next(at)) stage.build_.match(at);
    }
}

void ProbeStage::Worker::apply_residual(const Batch& batch) {
    if (residual.empty()) return;
    Batch pairs;
    pairs.rows = left_rows.size();
    const size_t lefts = stage.build_.left_columns, rights = stage.build_.right_columns;
    pairs.columns.resize(lefts + rights);
    for (size_t i = 0; i < lefts + rights; ++i) {
        if (!stage.residual_columns_[i]) continue;
        pairs.columns[i] = i < lefts ? gather(batch.columns[i], left_rows)
                                     : gather(stage.build_.residual_column(i - lefts), right_rows);
    }
    const Selection passed = residual.select(pairs);
    for (size_t i = 0; i < passed.size(); ++i) {
        left_rows[i] = left_rows[passed[i]];
        right_rows[i] = right_rows[passed[i]];
    }
    left_rows.resize(passed.size());
    right_rows.resize(passed.size());
}

/// ANY: one match for each left row (Left, Full), each right row (Right), or each key of both (Inner).
void ProbeStage::Worker::keep_one_of_each() {
    const JoinKind kind = stage.node_.join;
    size_t kept = 0;
    for (size_t i = 0; i < left_rows.size(); ++i) {
        const uint32_t left = left_rows[i], right = right_rows[i];
        if (kind != JoinKind::Right && matched[left]) continue;
        if (kind == JoinKind::Right && !stage.build_.match_first(right)) continue;
        if (kind == JoinKind::Inner && !stage.build_.match_first(first[left])) continue;
        matched[left] = 1;
        left_rows[kept] = left;
        right_rows[kept++] = right;
    }
    left_rows.resize(kept);
    right_rows.resize(kept);
}

void ProbeStage::Worker::flush(const Batch& batch) {
    apply_residual(batch);
    if (stage.any() && gives_pairs(stage.node_.join)) keep_one_of_each();
    if (stage.uses_matched_)
        for (const uint32_t row : left_rows) matched[row] = 1;
    if (stage.build_.tracks_matches() && !(stage.any() && stage.node_.join == JoinKind::Inner))
        for (const uint32_t row : right_rows)
            if (row != kNoRow) stage.build_.match(row);
    if (gives_pairs(stage.node_.join) && !left_rows.empty()) emit(batch);
    left_rows.clear();
    right_rows.clear();
}

/// The pairs as a batch.
void ProbeStage::Worker::emit(const Batch& batch) {
    const size_t lefts = stage.build_.left_columns;
    bool each_once = left_rows.size() == batch.rows;
    for (size_t i = 0; each_once && i < left_rows.size(); ++i) each_once = left_rows[i] == i;
    Batch out;
    out.rows = left_rows.size();
    for (uint32_t& row : right_rows)
        if (row == kNoRow) row = static_cast<uint32_t>(stage.build_.table.rows());  // the row of defaults
    for (size_t i = 0; i < stage.types_.size(); ++i) {
        if (!stage.needed_[i]) {
            out.columns.push_back(placeholder(stage.types_[i], out.rows));
        } else if (i < lefts) {
            const auto column = each_once ? batch.columns[i] : gather(batch.columns[i], left_rows);
            out.columns.push_back(same_type(column->type(), stage.types_[i]) ? column
                                                                             : column->with_type(stage.types_[i]));
        } else {
            out.columns.push_back(gather(stage.build_.rows.columns[i - lefts], right_rows));
        }
    }
    next->push(std::move(out));
}

/// What the left rows of a batch give by themselves once all their matches are known.
void ProbeStage::Worker::emit_left(const Batch& batch) {
    const JoinNode& node = stage.node_;
    if (node.join == JoinKind::Mark) return push_mark(Batch(batch));
    const bool unmatched = stage.keeps_unmatched_left() || node.join == JoinKind::LeftAnti;
    if (!unmatched && node.join != JoinKind::LeftSemi) return;
    Selection rows;
    for (uint32_t i = 0; i < batch.rows; ++i) {
        if ((matched[i] != 0) == unmatched) continue;
        // NOT IN: a NULL on either side makes the answer NULL, unless there is nothing to compare with.
        if (node.join == JoinKind::LeftAnti && node.null_aware && stage.build_.whole().has_rows &&
            (null_key[i] || stage.build_.whole().has_null_key))
            continue;
        rows.push_back(i);
    }
    if (rows.empty()) return;
    Batch out;
    out.rows = rows.size();
    for (size_t i = 0; i < stage.types_.size(); ++i) {
        if (!stage.needed_[i] || i >= stage.build_.left_columns) {
            out.columns.push_back(placeholder(stage.types_[i], out.rows));
            continue;
        }
        const auto column = rows.size() == batch.rows ? batch.columns[i] : gather(batch.columns[i], rows);
        out.columns.push_back(same_type(column->type(), stage.types_[i]) ? column : column->with_type(stage.types_[i]));
    }
    next->push(std::move(out));
}

void ProbeStage::Worker::push_mark(Batch&& batch) {
    const TypePtr& type = stage.types_.back();
    auto values = Buffer::allocate(batch.rows);
    MutableBufferPtr nulls;
    if (accepts_null(*type) && stage.node_.null_aware && stage.build_.whole().has_rows)
        nulls = Buffer::allocate_zeroed(batch.rows);
    for (size_t i = 0; i < batch.rows; ++i) {
        values->mutable_data()[i] = static_cast<char>(matched[i]);
        if (nulls && !matched[i] && (null_key[i] || stage.build_.whole().has_null_key)) nulls->mutable_data()[i] = 1;
    }
    batch.columns.push_back(Vector::flat(type, batch.rows, std::move(values), std::move(nulls)));
    next->push(std::move(batch));
}

/// Right rows by whether they were matched, after all left rows have come.
void emit_right(Run& run, const JoinNode& node, BuildSide& build, bool matched, Stage& next, const Columns& needed) {
    const auto types = output_types(node);
    const size_t portion = run.options().batch_rows;
    const size_t first_right = node.join == JoinKind::Right || node.join == JoinKind::Full ? build.left_columns : 0;
    const size_t rows = build.table.rows();
    run.emit((rows + portion - 1) / portion, next, [&](size_t task, Consumer& consumer) {
        Selection picked;
        for (size_t i = task * portion; i < std::min(rows, (task + 1) * portion); ++i)
            if (build.is_matched(static_cast<uint32_t>(i)) == matched) picked.push_back(static_cast<uint32_t>(i));
        if (picked.empty()) return;
        Batch out;
        out.rows = picked.size();
        for (size_t i = 0; i < types.size(); ++i)
            out.columns.push_back(i < first_right || !needed[i] ? placeholder(types[i], out.rows)
                                                                : gather(build.rows.columns[i - first_right], picked));
        consumer.push(std::move(out));
    });
}

bool nothing_without_right_rows(JoinKind kind) {
    switch (kind) {
        case JoinKind::Inner:
        case JoinKind::Cross:
        case JoinKind::Right:
        case JoinKind::LeftSemi:
        case JoinKind::RightSemi:
        case JoinKind::RightAnti:
            return true;
        default:
            return false;
    }
}

/// Which columns of a child the join needs: those needed above, its keys and residual conditions.
Columns needed_of_side(const JoinNode& node, const Columns& needed, bool left) {
    const size_t lefts = node.children[0]->output.size(), rights = node.children[1]->output.size();
    Columns both(lefts + rights, false);
    const bool only_right = !gives_left(node.join);
    for (size_t i = 0; i < needed.size() && i + (only_right ? lefts : 0) < both.size(); ++i)
        if (needed[i]) both[i + (only_right ? lefts : 0)] = true;
    if (node.join == JoinKind::Mark || node.join == JoinKind::LeftSemi || node.join == JoinKind::LeftAnti)
        std::fill(both.begin() + static_cast<std::ptrdiff_t>(lefts), both.end(), false);
    mark(node.residual, both);
    Columns side(both.begin() + static_cast<std::ptrdiff_t>(left ? 0 : lefts),
                 left ? both.begin() + static_cast<std::ptrdiff_t>(lefts) : both.end());
    mark(left ? node.left_keys : node.right_keys, side);
    return side;
}

}  // namespace

void run_join(Run& run, const JoinNode& node, Stage& next, const Columns& needed) {
    if (next.done()) return;
    const Columns right = needed_of_side(node, needed, false), left = needed_of_side(node, needed, true);
    const KeyedColumns columns(run, node.right_keys, output_types(*node.children[1]), right);
    BuildStage collected(run, node, columns);
    run.node(*node.children[1], collected, right);
    const auto join = [&](BuildSide& build, const std::function<void(Stage&)>& left_rows) {
        if (build.table.rows() == 0 && nothing_without_right_rows(node.join)) return next.consumer(0)->finish();
        ProbeStage stage(node, build, next, needed, run.options().batch_rows);
        left_rows(stage);
        if (next.done()) return;
        if (node.join == JoinKind::Right || node.join == JoinKind::Full || node.join == JoinKind::RightAnti)
            emit_right(run, node, build, false, next, needed);
        else if (node.join == JoinKind::RightSemi)
            emit_right(run, node, build, true, next, needed);
    };
    if (auto spilled = collected.spill_rest()) return spilled->join(left, next, join);
    BuildSide build(run, node, columns, collected.take());
    join(build, [&](Stage& stage) { run.node(*node.children[0], stage, left); });
}

}  // namespace firn::exec
