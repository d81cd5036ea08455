#include "firn/exec/filter.h"

#include <algorithm>
#include <chrono>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/exec/code_lookup.h"

namespace firn::exec {
namespace {

/// Batches between two looks at the order of conjuncts.
constexpr size_t kReorderEvery = 16;

uint64_t nanoseconds() { return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

std::vector<size_t> columns_read(const plan::Expression& expression, std::vector<size_t> found = {}) {
    if (expression.kind == plan::Expression::Kind::Column) found.push_back(expression.index);
    for (const auto& argument : expression.arguments) found = columns_read(*argument, std::move(found));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace

struct Filter::Conjunct {
    plan::ExpressionPtr expression;
    Evaluator evaluator;
    std::vector<size_t> columns;
    bool may_fail;
    bool cacheable;  // reads one column and always says the same of a value

    // Of the dictionary met last: which entries pass.
    VectorPtr base;
    EntrySet passes;
    size_t seen_rows = 0;
    bool base_known = false, base_failed = false;

    // What was measured, halved now and then so that it follows the data.
    double rows_in = 0, rows_out = 0, nanoseconds = 0;

    explicit Conjunct(const plan::ExpressionPtr& e)
        : expression(e),
          evaluator({e}),
          columns(columns_read(*e)),
          may_fail(exec::may_fail(*e)),
          cacheable(columns.size() == 1 && plan::is_deterministic(*e)) {}

    /// Cost of a row that it drops: the less, the earlier it should stand.
    double rank() const {
        if (rows_in == 0) return 0;
        return nanoseconds / (rows_in - rows_out + rows_in * 0.001);
    }

    Selection evaluate(const Batch& batch, const Selection* rows) {
        Batch part;
        part.rows = rows ? rows->size() : batch.rows;
        part.columns.resize(batch.columns.size());
        for (const size_t column : columns)
            part.columns[column] = rows ? gather(batch.columns[column], *rows) : batch.columns[column];
        return selected_rows(evaluator.evaluate_one(part));
    }

    /// Which entries of the base pass; false when it is not worth knowing, or an entry cannot be evaluated.
    bool know_entries(const VectorPtr& entries, size_t rows, size_t batch_columns) {
        if (base != entries) {
            base = entries;
            seen_rows = 0;
            base_known = base_failed = false;
        }
        seen_rows += rows;
        if (base_known) return true;
        if (base_failed || base->size() > 2 * seen_rows) return false;
        Batch all;
        all.rows = base->size();
        all.columns.resize(batch_columns);
        all.columns[columns[0]] = base;
        try {
            const Selection selected = evaluate(all, nullptr);
            passes = EntrySet(base->size());
            for (const uint32_t entry : selected) passes.add(entry);
            base_known = true;
            return true;
        } catch (const Error& error) {
            if (ends_query(error)) throw;
            base_failed = true;  // perhaps by an entry that no row uses: go row by row
            return false;
        }
    }

    /// Rows of `batch` (of those in rows, when given) that pass.
    Selection select(const Batch& batch, const Selection* rows) {
        if (cacheable) {
            const Vector& column = *batch.columns[columns[0]];
            if (column.encoding() == Encoding::Dictionary &&
                know_entries(column.base(), rows ? rows->size() : batch.rows, batch.columns.size())) {
                return rows ? passes.rows_in(column.codes(), *rows) : passes.rows_in(column.codes(), batch.rows);
            }
        }
        Selection picked = evaluate(batch, rows);
        if (rows)
            for (uint32_t& row : picked) row = (*rows)[row];
        return picked;
    }
};

Filter::Filter(const std::vector<plan::ExpressionPtr>& conjuncts) {
    for (const auto& conjunct : conjuncts) conjuncts_.push_back(std::make_unique<Conjunct>(conjunct));
}
Filter::Filter(const Filter& other) {
    for (const auto& conjunct : other.conjuncts_)
        conjuncts_.push_back(std::make_unique<Conjunct>(conjunct->expression));
}
Filter::~Filter() = default;

Selection Filter::select(const Batch& batch) {
    Selection rows;
    bool all = true;
    for (const auto& conjunct : conjuncts_) {
        const size_t before = all ? batch.rows : rows.size();
        if (before == 0) break;
        const uint64_t start = nanoseconds();
        Selection passed = conjunct->select(batch, all ? nullptr : &rows);
        conjunct->nanoseconds += static_cast<double>(nanoseconds() - start);
        conjunct->rows_in += static_cast<double>(before);
        conjunct->rows_out += static_cast<double>(passed.size());
        if (passed.size() == batch.rows) continue;
        rows = std::move(passed);
        all = false;
    }
    if (all) {
        rows.resize(batch.rows);
        for (uint32_t i = 0; i < batch.rows; ++i) rows[i] = i;
    }
    if (++batches_ % kReorderEvery == 0 && conjuncts_.size() > 1) reorder();
    return rows;
}

void Filter::reorder() {
    for (auto begin = conjuncts_.begin(); begin != conjuncts_.end();) {
        if ((*begin)->may_fail) {
            ++begin;
            continue;
        }
        const auto end = std::find_if(begin, conjuncts_.end(), [](const auto& conjunct) { return conjunct->may_fail; });
        std::stable_sort(begin, end, [](const auto& a, const auto& b) { return a->rank() < b->rank(); });
        begin = end;
    }
    for (const auto& conjunct : conjuncts_) {
        conjunct->rows_in /= 2;
        conjunct->rows_out /= 2;
        conjunct->nanoseconds /= 2;
    }
}

}  // namespace firn::exec
