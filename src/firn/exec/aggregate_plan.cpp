#include "firn/exec/aggregate_plan.h"

#include <algorithm>

namespace firn::exec {
namespace {

using functions::AggregateFunction;

size_t state_alignment(const AggregateFunction& function) { return function.state_size() <= 8 ? 8 : 16; }

std::vector<TypePtr> types_of_keys(const plan::AggregateNode& node) {
    std::vector<TypePtr> types;
    for (const auto& key : node.keys) types.push_back(key->type);
    if (!node.grouping_sets.empty()) types.push_back(make_type(TypeId::UInt64));
    return types;
}

/// Whether evaluating it for a row costs little time and memory, whatever the row's values.
bool is_cheap(const plan::Expression& expression) {
    if (expression.kind == plan::Expression::Kind::Column || expression.kind == plan::Expression::Kind::Constant)
        return true;
    if (expression.kind != plan::Expression::Kind::Call) return false;
    const Physical physical = expression.type->physical();
    return physical != Physical::Str && physical != Physical::Array && physical != Physical::Tuple &&
           plan::is_deterministic(expression) &&
           std::all_of(expression.arguments.begin(), expression.arguments.end(),
                       [](const auto& argument) { return is_cheap(*argument); });
}

}  // namespace

AggregatePlan::AggregatePlan(const plan::AggregateNode& n, const Columns& wanted, size_t rows)
    : node(n), key_types(types_of_keys(n)), needed(wanted), layout(key_types), batch_rows(rows) {
    for (size_t i = 0; i < n.aggregates.size(); ++i)
        if (needed[key_types.size() + i]) active.push_back(i);
    lay_out_states();
    gather_expressions();
}

void AggregatePlan::lay_out_states() {
    offsets.assign(node.aggregates.size(), 0);
    size_t at = layout.key_bytes();
    std::vector<size_t> order = active;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return state_alignment(*node.aggregates[a].function) < state_alignment(*node.aggregates[b].function);
    });
    for (const size_t i : order) {
        const size_t alignment = state_alignment(*node.aggregates[i].function);
        at = (at + alignment - 1) & ~(alignment - 1);
        offsets[i] = at;
        at += node.aggregates[i].function->state_size();
    }
    payload.bytes = at - layout.key_bytes();
    // States that own nothing start as copies of one; the others are created row by row.
    auto image = Buffer::allocate_zeroed(at + 16);
    bool constructed = false;
    for (const size_t i : active) {
        if (node.aggregates[i].function->has_destructor())
            constructed = true;
        else
            node.aggregates[i].function->create(image->mutable_data() + offsets[i]);
    }
    payload.image.assign(image->data() + layout.key_bytes(), image->data() + at);
    if (constructed)
        payload.construct = [this](char* row) {
            for (const size_t i : active)
                if (node.aggregates[i].function->has_destructor())
                    node.aggregates[i].function->create(row + offsets[i]);
        };
}

void AggregatePlan::gather_expressions() {
    std::vector<plan::ExpressionPtr> expressions(node.keys);
    first_argument.assign(node.aggregates.size(), 0);
    filter.assign(node.aggregates.size(), SIZE_MAX);
    for (const size_t i : active) {
        const auto& call = node.aggregates[i];
        first_argument[i] = expressions.size();
        expressions.insert(expressions.end(), call.arguments.begin(), call.arguments.end());
        if (call.filter) {
            filter[i] = expressions.size();
            expressions.push_back(call.filter);
        }
    }
    evaluator = Evaluator(expressions);
    takes_selections = !active.empty() && node.grouping_sets.empty() &&
                       std::all_of(active.begin(), active.end(),
                                   [&](size_t i) { return node.aggregates[i].function->has_grouped_way(); }) &&
                       std::all_of(filter.begin(), filter.end(), [](size_t at) { return at == SIZE_MAX; }) &&
                       std::all_of(expressions.begin(), expressions.end(),
                                   [](const auto& expression) { return is_cheap(*expression); });
}

void AggregatePlan::destroy(char* row) const {
    for (const size_t i : active)
        if (node.aggregates[i].function->has_destructor()) node.aggregates[i].function->destroy(row + offsets[i]);
}

Batch AggregatePlan::results(std::vector<VectorPtr> keys, std::span<char* const> rows) const {
    Batch out;
    out.rows = rows.size();
    out.columns = std::move(keys);
    for (size_t i = 0; i < node.aggregates.size(); ++i) {
        const auto& function = *node.aggregates[i].function;
        out.columns.push_back(needed[key_types.size() + i] ? function.finish(rows.data(), rows.size(), offsets[i])
                                                           : placeholder(function.result_type(), rows.size()));
    }
    return out;
}

Groups::Groups(const AggregatePlan& p)
    : plan(p), memory(std::make_shared<MemoryTracker>(0, MemoryTracker::current())), map([&] {
          const MemoryTracker::Scope scope(memory);
          return GroupMap(p.layout, p.payload);
      }()) {
    if (plan.has_keys()) return;
    only = Buffer::allocate_zeroed(plan.layout.key_bytes() + plan.payload.bytes);
    char* row = only->mutable_data();
    std::copy(plan.payload.image.begin(), plan.payload.image.end(), row + plan.layout.key_bytes());
    if (plan.payload.construct) plan.payload.construct(row);
}

Groups::~Groups() {
    if (!plan.payload.construct) return;
    for (size_t i = 0; i < map.size(); ++i) plan.destroy(map.row(i));
    if (only) plan.destroy(only->mutable_data());
}

}  // namespace firn::exec
