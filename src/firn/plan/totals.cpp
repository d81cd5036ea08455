// WITH TOTALS: a second plan that aggregates the same rows without keys.
#include "firn/plan/select_builder.h"

namespace firn::plan::analysis {

void SelectBuilder::prepare_totals() {
    for (const ExpressionPtr& key : select.keys) ensure_placed(*key);
    for (const AggregateEntry& entry : scope.aggregates)
        for (const ExpressionPtr& argument : entry.call.arguments) ensure_placed(*argument);
    totals_input_ = clone(*plan_);
    totals_places_ = places_;
}

NodePtr SelectBuilder::build_totals() {
    NodePtr input = std::move(totals_input_);
    totals_places_.resize(scope.slots.size(), kNoPlace);
    const bool after_having = scope.setting("totals_mode").value_or("after_having_exclusive") != "before_having";
    if (select.having && after_having && !keys_.empty()) {
        // Only rows of the groups that HAVING lets through.
        auto join = std::make_unique<JoinNode>();
        join->join = JoinKind::LeftSemi;
        join->nulls_equal = true;
        for (size_t i = 0; i < keys_.size(); ++i) {
            join->left_keys.push_back(remap_columns(keys_[i], totals_places_));
            join->right_keys.push_back(make_column(i, plan_->output[i].type));
        }
        join->output = input->output;
        join->children.push_back(std::move(input));
        join->children.push_back(clone(*plan_));
        input = std::move(join);
    }
    auto node = std::make_unique<AggregateNode>();
    std::vector<ExpressionPtr> replacements(scope.slots.size());
    for (const AggregateEntry& entry : scope.aggregates) {
        AggregateCall made;
        made.function = entry.call.function;
        made.name = entry.call.name;
        for (const ExpressionPtr& argument : entry.call.arguments)
            made.arguments.push_back(remap_columns(argument, totals_places_));
        replacements[entry.slot] = make_column(node->output.size(), made.function->result_type());
        node->output.push_back({entry.call.name, made.function->result_type()});
        node->aggregates.push_back(std::move(made));
    }
    node->children.push_back(std::move(input));
    std::vector<ExpressionPtr> expressions;
    std::vector<std::string> names;
    for (const SelectItem& item : select.items) {
        const ExpressionPtr now = current(item.expression);
        replacements.resize(scope.slots.size());
        for_each_column(*now, [&](const Expression& column) {
            if (!replacements[column.index])
                replacements[column.index] = make_constant(Vector::defaults(column.type, 1));
        });
        expressions.push_back(transform(
            now,
            [&](const ExpressionPtr& part) -> ExpressionPtr {
                return part->kind == Expression::Kind::Column ? replacements[part->index] : nullptr;
            },
            scope.functions()));
        names.push_back(item.name);
    }
    return make_project(std::move(node), std::move(expressions), std::move(names));
}

}  // namespace firn::plan::analysis
