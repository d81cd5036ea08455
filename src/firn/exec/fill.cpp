// ORDER BY … WITH FILL: rows for values that are missing between the rows of a sorted input.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/evaluator.h"
#include "firn/exec/operators.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

using plan::FillNode;

/// The value `step` further on, of the column's type.
class Stepper {
public:
    Stepper(const FillNode::Column& column, const TypePtr& type) : type_(strip_nullable(type)), step_(column.step) {
        if (!step_) step_ = make_value<int8_t>(make_type(TypeId::Int8), column.descending ? -1 : 1);
        step_ = flatten(step_);
        plus_ = functions::FunctionRegistry::instance().bind("plus", {{type_, nullptr}, {step_->type(), step_}}, {});
    }
    VectorPtr next(const VectorPtr& value) const {
        const std::vector<VectorPtr> arguments{value, step_};
        return flatten(functions::cast_vector(plus_->execute(arguments, 1), type_));
    }
    const TypePtr& type() const { return type_; }

private:
    TypePtr type_;
    VectorPtr step_;
    std::shared_ptr<const functions::BoundFunction> plus_;
};

class Filler {
public:
    Filler(Run& run, const FillNode& node, const Batch& rows, Stage& next, Consumer& consumer)
        : run_(run), node_(node), rows_(rows), next_(next), consumer_(consumer), current_(node.columns.size()) {
        for (const auto& column : node.columns) steppers_.emplace_back(column, node.output[column.column].type);
        for (const auto& column : node.output) builders_.emplace_back(column.type);
        std::vector<plan::ExpressionPtr> expressions;
        for (const auto& [column, expression] : node.interpolate) expressions.push_back(expression);
        interpolation_ = Evaluator(expressions);
    }

    void fill_all() {
        fill(0, 0, rows_.rows);
        flush();
    }

private:
    bool before(size_t level, const Vector& a, size_t row_a, const Vector& b) const {
        const int order = compare_values(a, row_a, b, 0);
        return node_.columns[level].descending ? order > 0 : order < 0;
    }

    /// Rows [begin, end), which agree in the columns of the levels above, with what is missing among them.
    void fill(size_t level, size_t begin, size_t end) {
        const auto& column = node_.columns[level];
        const Vector& values = *rows_.columns[column.column];
        const VectorPtr from = column.from ? flatten(column.from) : nullptr,
                        to = column.to ? flatten(column.to) : nullptr;
        VectorPtr expected = from;
        for (size_t row = begin; row < end && !next_.done();) {
            size_t group = row + 1;
            while (group < end && equal_values(values, row, values, group)) ++group;
            if (!values.is_null(row)) {
                if (!expected) expected = plain_value(column.column, row, level);
                while (compare(level, *expected, values, row) < 0 && (!to || before(level, *expected, 0, *to)) &&
                       !next_.done()) {
                    missing(level, expected);
                    expected = steppers_[level].next(expected);
                }
                if (compare(level, *expected, values, row) == 0) expected = steppers_[level].next(expected);
                current_[level] = plain_value(column.column, row, level);
            }
            if (level + 1 < node_.columns.size() && !values.is_null(row))
                fill(level + 1, row, group);
            else
                for (size_t i = row; i < group; ++i) append_row(i);
            row = group;
        }
        if (!expected || !to) return;
        for (; before(level, *expected, 0, *to) && !next_.done(); expected = steppers_[level].next(expected))
            missing(level, expected);
    }

    int compare(size_t level, const Vector& value, const Vector& rows, size_t row) const {
        const int order = compare_values(value, 0, rows, row);
        return node_.columns[level].descending ? -order : order;
    }

    VectorPtr plain_value(size_t column, size_t row, size_t level) const {
        return flatten(slice(rows_.columns[column], row, 1))->with_type(steppers_[level].type());
    }

    /// A value of this level has no row: the levels below go from their first to their last value, or are defaults.
    void missing(size_t level, const VectorPtr& value) {
        current_[level] = value;
        for (size_t below = level + 1; below < node_.columns.size(); ++below) {
            const auto& fill = node_.columns[below];
            if (fill.from && fill.to) return this->fill(below, 0, 0);
            current_[below] = fill.from ? flatten(fill.from) : flatten(Vector::defaults(steppers_[below].type(), 1));
        }
        append_filled();
    }

    void append_row(size_t row) {
        for (size_t i = 0; i < builders_.size(); ++i) builders_[i].append_from(*rows_.columns[i], row);
        if (!node_.interpolate.empty()) previous_ = rows_.cut(row, 1);
        added();
    }

    void append_filled() {
        Batch row;
        row.rows = 1;
        for (const auto& column : node_.output) row.columns.push_back(Vector::defaults(column.type, 1));
        if (previous_.rows) {
            const auto values = interpolation_.evaluate(previous_);
            for (size_t i = 0; i < values.size(); ++i) row.columns[node_.interpolate[i].first] = values[i];
        }
        for (size_t level = 0; level < current_.size(); ++level) {
            const size_t column = node_.columns[level].column;
            row.columns[column] = current_[level]->with_type(node_.output[column].type);
        }
        for (size_t i = 0; i < builders_.size(); ++i) builders_[i].append_from(*row.columns[i], 0);
        if (!node_.interpolate.empty()) previous_ = std::move(row);
        added();
    }

    void added() {
        if (++pending_ >= run_.options().batch_rows) flush();
    }
    void flush() {
        if (pending_ == 0) return;
        check_cancelled();
        Batch out;
        out.rows = pending_;
        for (auto& builder : builders_) out.columns.push_back(builder.finish());
        pending_ = 0;
        consumer_.push(std::move(out));
    }

    Run& run_;
    const FillNode& node_;
    const Batch& rows_;
    Stage& next_;
    Consumer& consumer_;
    std::vector<Stepper> steppers_;
    std::vector<VectorPtr> current_;  // the value of each level
    std::vector<VectorBuilder> builders_;
    Evaluator interpolation_;
    Batch previous_;
    size_t pending_ = 0;
};

}  // namespace

void run_fill(Run& run, const FillNode& node, Stage& next) {
    CollectStage all(run.threads());
    run.node(*node.children[0], all);
    const auto types = output_types(node);
    const Batch rows = concat_batches(run, all.take(), types, Columns(types.size(), true));
    run.emit_in_order(next, [&](Consumer& consumer) { Filler(run, node, rows, next, consumer).fill_all(); });
}

}  // namespace firn::exec
