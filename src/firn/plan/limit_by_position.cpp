// LIMIT and OFFSET that count from the end, or are a share of all rows: rows are numbered and counted first.
#include "firn/plan/select_builder.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

namespace {

NodePtr with_window(NodePtr child, std::vector<SortKey> order, WindowCall call) {
    auto node = std::make_unique<WindowNode>();
    node->order = std::move(order);
    node->output = child->output;
    node->output.push_back({call.name, call.type});
    node->calls.push_back(std::move(call));
    node->children.push_back(std::move(child));
    return node;
}

}  // namespace

void SelectBuilder::limit_by_position(const std::vector<size_t>& order) {
    std::vector<SortKey> keys;
    for (size_t i = 0; i < order.size(); ++i)
        keys.push_back({make_column(order[i], plan_->output[order[i]].type), select.order[i].descending,
                        select.order[i].nulls_first, select.order[i].collation});
    const size_t number_place = plan_->output.size(), count_place = number_place + 1;
    WindowCall number, count;
    number.name = "row_number";
    number.type = make_type(TypeId::UInt64);
    count.name = "count";
    count.function = functions::AggregateRegistry::instance().bind("count", {}, {});
    count.type = count.function->result_type();
    plan_ = with_window(std::move(plan_), std::move(keys), std::move(number));
    plan_ = with_window(std::move(plan_), {}, std::move(count));

    const TypePtr type = make_type(TypeId::Int64);
    const auto value = [&](int64_t n) { return make_constant(make_value<int64_t>(type, n)); };
    const auto as_int = [&](const ExpressionPtr& expression) { return scope.cast(expression, type); };
    const ExpressionPtr all = as_int(make_column(count_place, make_type(TypeId::UInt64)));
    const ExpressionPtr at =
        as_int(scope.call("minus", {as_int(make_column(number_place, make_type(TypeId::UInt64))), value(1)}));
    const auto rows_of = [&](const RowBound& bound) {
        if (!bound.share) return value(static_cast<int64_t>(std::min<uint64_t>(bound.rows, INT64_MAX / 4)));
        const ExpressionPtr share = make_constant(make_value<double>(make_type(TypeId::Float64), *bound.share));
        return as_int(scope.call("ceil", {scope.call("multiply", {all, share})}));
    };
    const auto combine = [&](std::string_view function, const ExpressionPtr& a, const ExpressionPtr& b) {
        return as_int(scope.call(function, {a, b}));
    };
    // Rows from `first` up to, not including, `end`.
    ExpressionPtr first = value(0), end = all;
    const RowBound& offset = *select.offset_bound;
    if (offset.from_end)
        end = combine("minus", end, rows_of(offset));
    else
        first = rows_of(offset);
    if (select.limit_bound) {
        const RowBound& limit = *select.limit_bound;
        if (limit.from_end)
            first = combine("greatest", first, combine("minus", end, rows_of(limit)));
        else
            end = combine("least", end, combine("plus", first, rows_of(limit)));
    }
    plan_ = make_filter(std::move(plan_),
                        scope.call("and", {scope.call("greaterOrEquals", {at, first}), scope.call("less", {at, end})}));
    auto sort = std::make_unique<SortNode>();
    sort->output = plan_->output;
    sort->keys.push_back({make_column(number_place, make_type(TypeId::UInt64)), false, false, ""});
    sort->children.push_back(std::move(plan_));
    plan_ = std::move(sort);
}

}  // namespace firn::plan::analysis
