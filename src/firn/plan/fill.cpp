// ORDER BY … WITH FILL and INTERPOLATE.
#include <algorithm>

#include "firn/plan/select_builder.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::plan::analysis {

void SelectBuilder::fill(const std::vector<size_t>& order) {
    auto node = std::make_unique<FillNode>();
    for (size_t i = 0; i < order.size(); ++i) {
        const sql::OrderByElement& element = *select.order[i].element;
        if (!element.with_fill) continue;
        const TypePtr type = plan_->output[order[i]].type;
        const TypeId id = unwrap(type)->id();
        if (!is_number(id) && !is_date_or_time(id))
            fail(ErrorCode::INVALID_WITH_FILL_EXPRESSION,
                 "WITH FILL expression must have a number or a date type, not {}", type->name());
        if (element.fill_staleness) fail(ErrorCode::NOT_IMPLEMENTED, "WITH FILL STALENESS is not supported");
        FillNode::Column column;
        column.column = order[i];
        column.descending = select.order[i].descending;
        const auto bound = [&](const sql::ExprPtr& expr) -> VectorPtr {
            if (!expr) return nullptr;
            const VectorPtr value = scope.resolve_constant(expr, Clause::OrderBy, "A bound of WITH FILL");
            return flatten(functions::cast_vector(value, strip_nullable(type), scope.functions()));
        };
        column.from = bound(element.fill_from);
        column.to = bound(element.fill_to);
        if (element.fill_step) {
            column.step = scope.resolve_constant(element.fill_step, Clause::OrderBy, "The step of WITH FILL");
            const TypeId step = column.step->type()->id();
            if (!is_number(step) && step != TypeId::Interval)
                fail(ErrorCode::INVALID_WITH_FILL_EXPRESSION, "The step of WITH FILL has type {}",
                     column.step->type()->name());
            const VectorPtr zero = Vector::defaults(column.step->type(), 1);
            const int sign = compare_values(*column.step, 0, *zero, 0);
            if (sign == 0) fail(ErrorCode::INVALID_WITH_FILL_EXPRESSION, "The step of WITH FILL cannot be zero");
            if ((sign < 0) != column.descending)
                fail(ErrorCode::INVALID_WITH_FILL_EXPRESSION, "The step of WITH FILL must be {} here",
                     column.descending ? "negative" : "positive");
        }
        if (column.from && column.to) {
            const int direction = compare_values(*column.from, 0, *column.to, 0);
            if (column.descending ? direction < 0 : direction > 0)
                fail(ErrorCode::INVALID_WITH_FILL_EXPRESSION, "WITH FILL goes from a bound that lies behind the other");
        }
        node->columns.push_back(std::move(column));
    }
    const auto is_ordered = [&](size_t column) { return std::find(order.begin(), order.end(), column) != order.end(); };
    if (scope.select->has_interpolate && scope.select->interpolate.empty()) {
        for (size_t i = 0; i < select.items.size(); ++i)
            if (!is_ordered(i)) node->interpolate.emplace_back(i, make_column(i, plan_->output[i].type));
    }
    for (const sql::InterpolateElement& element : scope.select->interpolate) {
        size_t column = 0;
        while (column < select.items.size() && plan_->output[column].name != element.column) ++column;
        if (column == select.items.size())
            fail(ErrorCode::UNKNOWN_IDENTIFIER, "INTERPOLATE column {} is not in the SELECT list", element.column);
        if (is_ordered(column))
            fail(ErrorCode::INVALID_WITH_FILL_EXPRESSION, "Column {} is filled and interpolated at once",
                 element.column);
        ExpressionPtr value = resolve_over_columns(*element.expr, plan_->output, scope.session.context);
        node->interpolate.emplace_back(column, scope.cast(value, plan_->output[column].type));
    }
    node->output = plan_->output;
    node->children.push_back(std::move(plan_));
    plan_ = std::move(node);
}

}  // namespace firn::plan::analysis
