// A resolved SELECT built into plan nodes, clause by clause. See analyzer_impl.h for slots and places.
#include <algorithm>

#include "firn/plan/select_builder.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

ExpressionPtr SelectBuilder::current(const ExpressionPtr& expression) {
    if (!aggregated_) return expression;
    return transform(
        expression,
        [this](const ExpressionPtr& node) -> ExpressionPtr {
            if (node->kind == Expression::Kind::Constant) return nullptr;
            for (size_t i = 0; i < keys_.size(); ++i)
                if (same_expression(*keys_[i], *node)) return scope.column(key_slots_[i]);
            if (node->kind == Expression::Kind::Column && scope.slots[node->index].kind == Slot::Kind::Base)
                fail(ErrorCode::NOT_AN_AGGREGATE,
                     "Column '{}' is not under aggregate function and not in GROUP BY keys",
                     scope.slots[node->index].name);
            return nullptr;
        },
        scope.functions());
}

ExpressionPtr SelectBuilder::lower(const ExpressionPtr& expression) {
    ensure_placed(*expression);
    places_.resize(scope.slots.size(), kNoPlace);
    for_each_column(*expression, [&](const Expression& column) {
        if (places_[column.index] == kNoPlace)
            fail(ErrorCode::NOT_IMPLEMENTED, "Column {} of an outer query is used where it is not supported",
                 scope.slots[column.index].name);
    });
    return remap_columns(expression, places_);
}

void SelectBuilder::ensure_placed(const Expression& expression) {
    places_.resize(scope.slots.size(), kNoPlace);
    std::vector<size_t> wanted;
    for_each_column(expression, [&](const Expression& column) { wanted.push_back(column.index); });
    for (const size_t slot : wanted) {
        if (slot < places_.size() && places_[slot] != kNoPlace) continue;
        switch (scope.slots[slot].kind) {
            case Slot::Kind::ArrayJoin:
                place_array_join(slot);
                break;
            case Slot::Kind::InQuery:
                place_in(slot);
                break;
            case Slot::Kind::Exists:
                place_exists(slot);
                break;
            case Slot::Kind::Scalar:
                place_scalar(slot);
                break;
            default:
                break;
        }
    }
}

void SelectBuilder::place_array_join(size_t slot) {
    auto node = std::make_unique<ArrayJoinNode>();
    node->arrays.push_back(lower(current(scope.slots[slot].arguments[0])));
    node->output = plan_->output;
    node->output.push_back({"arrayJoin", scope.slots[slot].type});
    places_[slot] = plan_->output.size();
    node->children.push_back(std::move(plan_));
    plan_ = std::move(node);
}

NodePtr SelectBuilder::build(NodePtr* totals) {
    plan_ = std::move(scope.from);
    places_ = scope.from_places;
    places_.resize(scope.slots.size(), kNoPlace);
    std::vector<ExpressionPtr> conjuncts;
    if (select.where) split_conjuncts(select.where, conjuncts);
    filter_conjuncts(std::move(conjuncts));
    return finish(totals);
}

NodePtr SelectBuilder::finish(NodePtr* totals) {
    if (select.aggregated) {
        if (totals && scope.select->with_totals) prepare_totals();
        aggregate();
    }
    if (select.having) {
        std::vector<ExpressionPtr> conjuncts;
        split_conjuncts(select.having, conjuncts);
        filter_conjuncts(std::move(conjuncts));
    }
    if (totals && totals_input_) *totals = build_totals();
    windows();
    if (select.qualify) {
        std::vector<ExpressionPtr> conjuncts;
        split_conjuncts(select.qualify, conjuncts);
        filter_conjuncts(std::move(conjuncts));
    }
    project();
    return std::move(plan_);
}

void SelectBuilder::filter_conjuncts(std::vector<ExpressionPtr> conjuncts) {
    // Conditions on rows first; then those that are joins.
    std::vector<ExpressionPtr> joins, plain;
    for (ExpressionPtr& conjunct : conjuncts) {
        const bool negated = conjunct->kind == Expression::Kind::Call && conjunct->function->name() == "not";
        const ExpressionPtr& inner = negated ? conjunct->arguments[0] : conjunct;
        const bool join =
            inner->kind == Expression::Kind::Column && (scope.slots[inner->index].kind == Slot::Kind::InQuery ||
                                                        scope.slots[inner->index].kind == Slot::Kind::Exists);
        (join ? joins : plain).push_back(std::move(conjunct));
    }
    std::vector<ExpressionPtr> lowered;
    for (const ExpressionPtr& conjunct : plain) {
        const ExpressionPtr now = current(conjunct);
        ensure_placed(*now);
    }
    for (const ExpressionPtr& conjunct : plain) lowered.push_back(lower(current(conjunct)));
    if (!lowered.empty()) {
        auto node = std::make_unique<FilterNode>();
        node->output = plan_->output;
        for (const ExpressionPtr& conjunct : lowered) split_conjuncts(conjunct, node->conjuncts);
        node->children.push_back(std::move(plan_));
        plan_ = std::move(node);
    }
    for (const ExpressionPtr& conjunct : joins) {
        const bool negated = conjunct->kind == Expression::Kind::Call;
        const size_t slot = negated ? conjunct->arguments[0]->index : conjunct->index;
        if (scope.slots[slot].kind == Slot::Kind::InQuery)
            join_in(slot, negated);
        else
            join_exists(slot, negated);
    }
}

void SelectBuilder::aggregate() {
    auto node = std::make_unique<AggregateNode>();
    keys_ = select.keys;
    for (const ExpressionPtr& key : extra_keys_) {
        bool known = false;
        for (const ExpressionPtr& other : keys_) known = known || same_expression(*other, *key);
        if (!known) keys_.push_back(key);
    }
    if (!extra_keys_.empty() && !select.grouping_sets.empty())
        fail(ErrorCode::NOT_IMPLEMENTED, "Grouping sets in a correlated subquery are not supported");
    for (const ExpressionPtr& key : keys_) ensure_placed(*key);
    for (const AggregateEntry& entry : scope.aggregates)
        for (const ExpressionPtr& argument : entry.call.arguments) ensure_placed(*argument);
    const bool nulls = !select.grouping_sets.empty() && scope.flag("group_by_use_nulls", false);
    key_slots_.clear();
    for (const ExpressionPtr& key : keys_) {
        const TypePtr type = nulls ? make_nullable(key->type) : key->type;
        node->keys.push_back(scope.cast(lower(key), type));
        Slot slot;
        slot.kind = Slot::Kind::Key;
        slot.type = type;
        slot.name =
            key->kind == Expression::Kind::Column ? scope.slots[key->index].name : to_string(*node->keys.back());
        node->output.push_back({slot.name, type});
        key_slots_.push_back(scope.add_slot(std::move(slot)));
    }
    node->grouping_sets = select.grouping_sets;
    const bool has_sets = !select.grouping_sets.empty();
    if (has_sets) node->output.push_back({"grouping_set", make_type(TypeId::UInt64)});
    for (const AggregateEntry& entry : scope.aggregates) {
        AggregateCall made;
        made.function = entry.call.function;
        made.name = entry.call.name;
        made.key = entry.call.key;
        for (const ExpressionPtr& argument : entry.call.arguments) made.arguments.push_back(lower(argument));
        node->output.push_back({entry.call.name, made.function->result_type()});
        node->aggregates.push_back(std::move(made));
    }
    node->children.push_back(std::move(plan_));
    plan_ = std::move(node);
    aggregated_ = true;
    places_.assign(scope.slots.size(), kNoPlace);
    for (size_t i = 0; i < keys_.size(); ++i) places_[key_slots_[i]] = i;
    size_t place = keys_.size();
    if (has_sets) {
        for (size_t i = 0; i < scope.slots.size(); ++i)
            if (scope.slots[i].kind == Slot::Kind::GroupingSet) places_[i] = place;
        ++place;
    }
    for (const AggregateEntry& entry : scope.aggregates) places_[entry.slot] = place++;
}

void SelectBuilder::windows() {
    struct Group {
        std::vector<ExpressionPtr> partition;
        std::vector<SortKey> order;
        const WindowEntry* first;
        std::vector<const WindowEntry*> members;
    };
    const auto same_window = [](const Group& group, const std::vector<ExpressionPtr>& partition,
                                const std::vector<SortKey>& order, const WindowFrame& frame) {
        if (group.partition.size() != partition.size() || group.order.size() != order.size()) return false;
        for (size_t i = 0; i < partition.size(); ++i)
            if (!same_expression(*group.partition[i], *partition[i])) return false;
        for (size_t i = 0; i < order.size(); ++i)
            if (!same_expression(*group.order[i].expression, *order[i].expression) ||
                group.order[i].descending != order[i].descending ||
                group.order[i].nulls_first != order[i].nulls_first || group.order[i].collation != order[i].collation)
                return false;
        const WindowFrame& other = group.first->frame;
        return other.unit == frame.unit && other.start == frame.start && other.end == frame.end &&
               !other.start_offset && !frame.start_offset && !other.end_offset && !frame.end_offset;
    };
    std::vector<Group> groups;
    for (const WindowEntry& entry : scope.windows) {
        std::vector<ExpressionPtr> partition;
        for (const ExpressionPtr& key : entry.partition) partition.push_back(current(key));
        std::vector<SortKey> order = entry.order;
        for (SortKey& key : order) key.expression = current(key.expression);
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const Group& g) { return same_window(g, partition, order, entry.frame); });
        if (group == groups.end()) {
            groups.push_back({std::move(partition), std::move(order), &entry, {}});
            group = groups.end() - 1;
        }
        group->members.push_back(&entry);
        for (const ExpressionPtr& argument : entry.call.arguments) ensure_placed(*current(argument));
    }
    for (Group& group : groups) {
        auto node = std::make_unique<WindowNode>();
        for (const ExpressionPtr& key : group.partition) node->partition.push_back(lower(key));
        for (SortKey& key : group.order) {
            key.expression = lower(key.expression);
            node->order.push_back(key);
        }
        node->frame = group.first->frame;
        std::vector<WindowCall> calls;
        for (const WindowEntry* member : group.members) {
            WindowCall made;
            made.name = member->call.name;
            made.function = member->call.function;
            made.type = member->call.type;
            for (const ExpressionPtr& argument : member->call.arguments)
                made.arguments.push_back(lower(current(argument)));
            calls.push_back(std::move(made));
        }
        node->output = plan_->output;
        for (size_t i = 0; i < calls.size(); ++i) {
            places_.resize(scope.slots.size(), kNoPlace);
            places_[group.members[i]->slot] = node->output.size();
            node->output.push_back({calls[i].name, calls[i].type});
        }
        node->calls = std::move(calls);
        node->children.push_back(std::move(plan_));
        plan_ = std::move(node);
    }
}

/// The number of the projected column that holds the expression; added where none does.
size_t SelectBuilder::projected(const ExpressionPtr& expression, const std::string& name) {
    for (size_t i = 0; i < projection_.size(); ++i)
        if (same_expression(*projection_[i], *expression)) return i;
    projection_.push_back(expression);
    names_.push_back(name);
    return projection_.size() - 1;
}

void SelectBuilder::project() {
    std::vector<ExpressionPtr> items;
    for (const SelectItem& item : select.items) items.push_back(current(item.expression));
    for (const ExpressionPtr& item : items) ensure_placed(*item);
    for (const OrderItem& item : select.order) ensure_placed(*current(item.expression));
    for (size_t i = 0; i < items.size(); ++i) {
        projection_.push_back(lower(items[i]));
        names_.push_back(select.items[i].name);
    }
    const size_t shown = projection_.size();
    const auto add = [&](const ExpressionPtr& expression) {
        const bool plain = expression->kind == Expression::Kind::Column;
        return projected(lower(current(expression)),
                         plain ? scope.slots[expression->index].name : to_string(*expression));
    };
    std::vector<size_t> order, limit_by;
    extra_places_.clear();
    for (const ExpressionPtr& key : extra_keys_) {
        projection_.push_back(lower(current(key)));
        names_.push_back("key");
        extra_places_.push_back(projection_.size() - 1);
    }
    const size_t kept = projection_.size();
    for (const OrderItem& item : select.order) order.push_back(add(item.expression));
    for (const ExpressionPtr& key : select.limit_by) limit_by.push_back(add(key));
    const bool extended = projection_.size() > kept;
    const std::vector<std::string> names = names_;
    plan_ = make_project(std::move(plan_), projection_, names_);
    const auto column = [&](size_t i) { return make_column(i, plan_->output[i].type); };
    if (scope.select->distinct) {
        auto node = std::make_unique<DistinctNode>();
        node->output = plan_->output;
        if (extended)
            for (size_t i = 0; i < kept; ++i) node->keys.push_back(column(i));
        node->children.push_back(std::move(plan_));
        plan_ = std::move(node);
    }
    sort_and_limit(order, limit_by);
    if (plan_->output.size() > kept) {
        std::vector<ExpressionPtr> final_columns;
        std::vector<std::string> final_names;
        for (size_t i = 0; i < kept; ++i) {
            final_columns.push_back(column(i));
            final_names.push_back(names[i]);
        }
        plan_ = make_project(std::move(plan_), std::move(final_columns), std::move(final_names));
    }
    result_columns_ = shown;
}

void SelectBuilder::sort_and_limit(const std::vector<size_t>& order, std::vector<size_t> limit_by) {
    const auto column = [&](size_t i) { return make_column(i, plan_->output[i].type); };
    const bool per_key = !extra_places_.empty();  // a correlated subquery: each outer row has a LIMIT of its own
    bool fills = false;
    for (const OrderItem& item : select.order) fills = fills || item.element->with_fill;
    const bool ties = scope.select->limit_with_ties;
    if (!order.empty()) {
        auto node = std::make_unique<SortNode>();
        for (size_t i = 0; i < order.size(); ++i)
            node->keys.push_back(
                {column(order[i]), select.order[i].descending, select.order[i].nulls_first, select.order[i].collation});
        if (select.limit && limit_by.empty() && !fills && !per_key && *select.limit <= UINT64_MAX - select.offset) {
            node->limit = *select.limit + select.offset;
            node->with_ties = ties;
        }
        node->output = plan_->output;
        node->children.push_back(std::move(plan_));
        plan_ = std::move(node);
    }
    if (fills) fill(order);
    const auto add_limit_by = [&](const std::vector<size_t>& keys, uint64_t limit, uint64_t offset) {
        auto node = std::make_unique<LimitByNode>();
        for (const size_t key : keys) node->keys.push_back(column(key));
        node->limit = limit;
        node->offset = offset;
        node->output = plan_->output;
        node->children.push_back(std::move(plan_));
        plan_ = std::move(node);
    };
    if (select.limit_by_length) {
        limit_by.insert(limit_by.end(), extra_places_.begin(), extra_places_.end());
        add_limit_by(limit_by, *select.limit_by_length, select.limit_by_offset);
    }
    if (select.offset_bound) {
        if (per_key || ties) fail(ErrorCode::NOT_IMPLEMENTED, "Negative and fractional LIMIT are not supported here");
        limit_by_position(order);
        return;
    }
    if (!select.limit && select.offset == 0) return;
    if (per_key) {
        if (ties) fail(ErrorCode::NOT_IMPLEMENTED, "LIMIT WITH TIES in a correlated subquery is not supported");
        add_limit_by(extra_places_, select.limit.value_or(UINT64_MAX), select.offset);
        return;
    }
    const bool sorted_with_ties = ties && plan_->kind == NodeKind::Sort && static_cast<SortNode&>(*plan_).limit;
    if (ties && !sorted_with_ties)
        fail(ErrorCode::NOT_IMPLEMENTED, "LIMIT WITH TIES together with LIMIT BY or WITH FILL is not supported");
    auto node = std::make_unique<LimitNode>();
    if (!sorted_with_ties) node->limit = select.limit;
    node->offset = select.offset;
    node->output = plan_->output;
    node->children.push_back(std::move(plan_));
    plan_ = std::move(node);
}

NodePtr build_select(ResolvedSelect& select, NodePtr* totals) {
    SelectBuilder builder(select);
    return builder.build(totals);
}

}  // namespace firn::plan::analysis
