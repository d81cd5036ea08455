// Subqueries as joins. IN and EXISTS become semi and anti joins where they are conditions of their own, mark joins
// elsewhere. A subquery that reads columns of the outer query is freed of them in one of three ways:
//   1. EXISTS over plain rows: its conditions on outer columns become the join's keys and residual.
//   2. Outer columns that are only compared for equality (inner = outer): the inner side is one more group key, and the
//   join
//      is on it.
//   3. Everything else: the distinct values of the outer columns are cross joined into the subquery's FROM, are group
//   keys
//      too, and the result is joined back on them.
#include <algorithm>

#include "firn/plan/select_builder.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

namespace {

bool slot_mentions_outer(const std::vector<Slot>& slots, size_t number);

bool expression_mentions_outer(const Expression& expression, const std::vector<Slot>& slots) {
    bool found = false;
    for_each_column(expression,
                    [&](const Expression& column) { found = found || slot_mentions_outer(slots, column.index); });
    return found;
}

bool slot_mentions_outer(const std::vector<Slot>& slots, size_t number) {
    const Slot& slot = slots[number];
    if (slot.kind == Slot::Kind::Outer) return true;
    if (slot.kind == Slot::Kind::ArrayJoin || slot.kind == Slot::Kind::InQuery)
        for (const ExpressionPtr& argument : slot.arguments)
            if (expression_mentions_outer(*argument, slots)) return true;
    // A nested subquery's own outer columns are expressions over these slots.
    if (slot.query && slot.query->select)
        for (const Slot& inner : slot.query->select->scope->slots)
            if (inner.kind == Slot::Kind::Outer && expression_mentions_outer(*inner.arguments[0], slots)) return true;
    return false;
}

std::vector<OutputColumn> joined(const Node& left, const Node& right) {
    std::vector<OutputColumn> output = left.output;
    output.insert(output.end(), right.output.begin(), right.output.end());
    return output;
}

}  // namespace

bool SelectBuilder::mentions_outer(const Expression& expression) const {
    return expression_mentions_outer(expression, scope.slots);
}

bool SelectBuilder::only_outer(const Expression& expression) const {
    bool any = false, all = true;
    for_each_column(expression, [&](const Expression& column) {
        any = true;
        all = all && scope.slots[column.index].kind == Slot::Kind::Outer;
    });
    return any && all;
}

ExpressionPtr SelectBuilder::to_outer(const ExpressionPtr& expression) const {
    return transform(
        expression,
        [this](const ExpressionPtr& node) -> ExpressionPtr {
            if (node->kind != Expression::Kind::Column) return nullptr;
            return scope.slots[node->index].arguments[0];
        },
        scope.functions());
}

/// Every expression of the select but WHERE, and those inside of its slots.
void SelectBuilder::for_each_clause(const std::function<void(ExpressionPtr&)>& f) {
    for (SelectItem& item : select.items) f(item.expression);
    for (ExpressionPtr& key : select.keys) f(key);
    if (select.having) f(select.having);
    if (select.qualify) f(select.qualify);
    for (OrderItem& item : select.order) f(item.expression);
    for (ExpressionPtr& key : select.limit_by) f(key);
    for (AggregateEntry& entry : scope.aggregates)
        for (ExpressionPtr& argument : entry.call.arguments) f(argument);
    for (WindowEntry& entry : scope.windows) {
        for (ExpressionPtr& argument : entry.call.arguments) f(argument);
        for (ExpressionPtr& key : entry.partition) f(key);
        for (SortKey& key : entry.order) f(key.expression);
    }
    for (Slot& slot : scope.slots) {
        if (slot.kind == Slot::Kind::ArrayJoin || slot.kind == Slot::Kind::InQuery)
            for (ExpressionPtr& argument : slot.arguments) f(argument);
        if (slot.query && slot.query->select)
            for (Slot& inner : slot.query->select->scope->slots)
                if (inner.kind == Slot::Kind::Outer) f(inner.arguments[0]);
    }
}

BuiltSubquery SelectBuilder::build_correlated(bool existence_only, const DomainProvider& domain) {
    BuiltSubquery built;
    plan_ = std::move(scope.from);
    places_ = scope.from_places;
    places_.resize(scope.slots.size(), kNoPlace);

    std::vector<ExpressionPtr> conjuncts, plain, residual;
    if (select.where) split_conjuncts(select.where, conjuncts);
    struct Equality {
        ExpressionPtr inner, outer;
    };
    std::vector<Equality> equalities;
    for (const ExpressionPtr& conjunct : conjuncts) {
        if (!mentions_outer(*conjunct)) {
            plain.push_back(conjunct);
            continue;
        }
        if (conjunct->kind == Expression::Kind::Call && conjunct->function->name() == "equals") {
            const ExpressionPtr &a = conjunct->arguments[0], &b = conjunct->arguments[1];
            if (!mentions_outer(*a) && a->kind != Expression::Kind::Constant && only_outer(*b)) {
                equalities.push_back({a, b});
                continue;
            }
            if (!mentions_outer(*b) && b->kind != Expression::Kind::Constant && only_outer(*a)) {
                equalities.push_back({b, a});
                continue;
            }
        }
        residual.push_back(conjunct);
    }

    const bool plain_rows = !select.aggregated && scope.windows.empty() && !select.limit_by_length &&
                            select.offset == 0 && (!select.limit || *select.limit > 0) && !select.having &&
                            !select.qualify;
    bool residual_is_simple = true;
    for (const ExpressionPtr& conjunct : residual)
        for_each_column(*conjunct, [&](const Expression& column) {
            const Slot::Kind kind = scope.slots[column.index].kind;
            residual_is_simple =
                residual_is_simple && (kind == Slot::Kind::Outer || !slot_mentions_outer(scope.slots, column.index));
        });
    if (existence_only && plain_rows && residual_is_simple) {
        filter_conjuncts(std::move(plain));
        for (const ExpressionPtr& conjunct : residual)
            for_each_column(*conjunct, [&](const Expression& column) {
                if (scope.slots[column.index].kind != Slot::Kind::Outer) ensure_placed(column);
            });
        std::vector<ExpressionPtr> expressions;
        std::vector<std::string> names;
        for (const Equality& equality : equalities) {
            expressions.push_back(lower(equality.inner));
            names.push_back(equality.inner->kind == Expression::Kind::Column ? scope.slots[equality.inner->index].name
                                                                             : "key");
            built.keys.push_back({to_outer(equality.outer), expressions.size() - 1});
        }
        std::vector<ExpressionPtr> replacements(scope.slots.size());
        for (const ExpressionPtr& conjunct : residual) {
            for_each_column(*conjunct, [&](const Expression& column) {
                ExpressionPtr& replacement = replacements[column.index];
                if (replacement) return;
                if (scope.slots[column.index].kind == Slot::Kind::Outer) {
                    replacement = scope.slots[column.index].arguments[0];
                    return;
                }
                expressions.push_back(lower(scope.column(column.index)));
                names.push_back(scope.slots[column.index].name);
                replacement = make_column(BuiltSubquery::kInnerBase + expressions.size() - 1, column.type);
            });
            built.residual.push_back(substitute_columns(conjunct, replacements));
        }
        built.plan = make_project(std::move(plan_), std::move(expressions), std::move(names));
        return built;
    }

    // Outer columns that stand anywhere but in an equality.
    std::vector<bool> used(scope.slots.size(), false);
    const auto note = [&](const ExpressionPtr& expression) {
        for_each_column(*expression, [&](const Expression& column) {
            if (scope.slots[column.index].kind == Slot::Kind::Outer) used[column.index] = true;
        });
    };
    for (const ExpressionPtr& conjunct : residual) note(conjunct);
    for_each_clause([&](ExpressionPtr& expression) { note(expression); });
    std::vector<ExpressionPtr> substitutes(scope.slots.size());
    bool determined = true;
    for (size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) continue;
        const auto equality = std::find_if(equalities.begin(), equalities.end(), [&](const Equality& e) {
            return e.outer->kind == Expression::Kind::Column && e.outer->index == i &&
                   same_type(e.inner->type, e.outer->type);
        });
        if (equality == equalities.end())
            determined = false;
        else
            substitutes[i] = equality->inner;
    }
    if (determined) {
        const auto substitute = [&](ExpressionPtr& expression) {
            expression = transform(
                expression,
                [&](const ExpressionPtr& node) -> ExpressionPtr {
                    if (node->kind != Expression::Kind::Column || node->index >= substitutes.size()) return nullptr;
                    return substitutes[node->index];
                },
                scope.functions());
        };
        for (ExpressionPtr& conjunct : residual) substitute(conjunct);
        for_each_clause(substitute);
        for (const Equality& equality : equalities) {
            extra_keys_.push_back(equality.inner);
            built.keys.push_back({to_outer(equality.outer), 0});
        }
        plain.insert(plain.end(), residual.begin(), residual.end());
        filter_conjuncts(std::move(plain));
    } else {
        std::vector<ExpressionPtr> outer;
        std::vector<size_t> outer_slots;
        for (size_t i = 0; i < scope.slots.size(); ++i) {
            if (scope.slots[i].kind != Slot::Kind::Outer) continue;
            outer.push_back(scope.slots[i].arguments[0]);
            outer_slots.push_back(i);
        }
        NodePtr values = domain(outer);
        auto cross = std::make_unique<JoinNode>();
        cross->join = JoinKind::Cross;
        cross->output = joined(*plan_, *values);
        const size_t width = plan_->output.size();
        cross->children.push_back(std::move(plan_));
        cross->children.push_back(std::move(values));
        plan_ = std::move(cross);
        for (size_t i = 0; i < outer_slots.size(); ++i) {
            places_[outer_slots[i]] = width + i;
            extra_keys_.push_back(scope.column(outer_slots[i]));
            built.keys.push_back({outer[i], 0});
        }
        built.nulls_equal = true;
        filter_conjuncts(std::move(conjuncts));
    }
    finish(nullptr).swap(plan_);
    built.result_columns = result_columns_;
    for (size_t i = 0; i < built.keys.size(); ++i) built.keys[i].inner = extra_places_[i];
    built.plan = std::move(plan_);
    return built;
}

BuiltSubquery build_correlated(ResolvedSelect& select, bool existence_only, const DomainProvider& domain) {
    SelectBuilder builder(select);
    return builder.build_correlated(existence_only, domain);
}

NodePtr SelectBuilder::domain_of(const std::vector<ExpressionPtr>& expressions) {
    std::vector<ExpressionPtr> lowered;
    std::vector<std::string> names;
    for (const ExpressionPtr& expression : expressions) ensure_placed(*current(expression));
    for (const ExpressionPtr& expression : expressions) {
        lowered.push_back(lower(current(expression)));
        names.push_back("outer");
    }
    auto shared = std::make_shared<CteNode::Shared>();
    const std::vector<OutputColumn> output = plan_->output;
    shared->plan = std::move(plan_);
    auto use = [&] {
        auto node = std::make_unique<CteNode>();
        node->output = output;
        node->shared = shared;
        return node;
    };
    plan_ = use();
    auto distinct = std::make_unique<DistinctNode>();
    NodePtr values = make_project(use(), std::move(lowered), std::move(names));
    distinct->output = values->output;
    distinct->children.push_back(std::move(values));
    return distinct;
}

void SelectBuilder::add_correlation(JoinNode& join, BuiltSubquery& subquery) {
    join.nulls_equal = subquery.nulls_equal;
    std::vector<ExpressionPtr> outer;
    for (const CorrelationKey& key : subquery.keys) outer.push_back(current(key.outer));
    for (const ExpressionPtr& expression : outer) ensure_placed(*expression);
    for (ExpressionPtr& conjunct : subquery.residual) {
        conjunct = transform(
            conjunct,
            [&](const ExpressionPtr& node) -> ExpressionPtr {
                if (node->kind != Expression::Kind::Column || node->index >= BuiltSubquery::kInnerBase) return nullptr;
                const ExpressionPtr now = current(node);
                ensure_placed(*now);
                return now;
            },
            scope.functions());
    }
    const size_t width = plan_->output.size();
    places_.resize(scope.slots.size(), kNoPlace);
    for (size_t i = 0; i < outer.size(); ++i) {
        const size_t inner = subquery.keys[i].inner;
        ExpressionPtr left = lower(outer[i]), right = make_column(inner, subquery.plan->output[inner].type);
        left = scope.cast(left, strip_low_cardinality(left->type));
        right = scope.cast(right, strip_low_cardinality(right->type));
        if (!same_type(left->type, right->type)) {
            const TypePtr type = functions::common_type(std::vector<TypePtr>{left->type, right->type});
            left = scope.cast(left, type);
            right = scope.cast(right, type);
        }
        join.left_keys.push_back(std::move(left));
        join.right_keys.push_back(std::move(right));
    }
    for (const ExpressionPtr& conjunct : subquery.residual)
        join.residual.push_back(transform(
            conjunct,
            [&](const ExpressionPtr& node) -> ExpressionPtr {
                if (node->kind != Expression::Kind::Column) return nullptr;
                if (node->index >= BuiltSubquery::kInnerBase)
                    return make_column(width + node->index - BuiltSubquery::kInnerBase, node->type);
                return make_column(places_[node->index], node->type);
            },
            scope.functions()));
}

void SelectBuilder::place_scalar(size_t slot) {
    if (!scope.slots[slot].query->select->scope->from)
        fail(ErrorCode::NOT_IMPLEMENTED, "A correlated subquery used both before and after GROUP BY is not supported");
    auto subquery = analysis::build_correlated(
        *scope.slots[slot].query->select, false,
        [this](const std::vector<ExpressionPtr>& expressions) { return domain_of(expressions); });
    const bool one_row_a_key =
        scope.slots[slot].query->select->aggregated && !scope.slots[slot].query->select->has_group_by;
    // Nullable, so that an outer row without a match gets NULL.
    std::vector<TypePtr> types;
    for (const OutputColumn& out : subquery.plan->output) types.push_back(out.type);
    types[0] = scope.slots[slot].type;
    subquery.plan = cast_columns(std::move(subquery.plan), types, scope.functions());
    auto join = std::make_unique<JoinNode>();
    join->join = JoinKind::Left;
    join->strictness = one_row_a_key ? JoinStrictness::All : JoinStrictness::Any;
    add_correlation(*join, subquery);
    join->output = joined(*plan_, *subquery.plan);
    const size_t place = plan_->output.size();
    join->children.push_back(std::move(plan_));
    join->children.push_back(std::move(subquery.plan));
    plan_ = std::move(join);
    places_.resize(scope.slots.size(), kNoPlace);
    places_[slot] = place;
}

void SelectBuilder::join_exists(size_t slot, bool negated) {
    ResolvedSelect& inner = *scope.slots[slot].query->select;
    if (!inner.scope->from)
        fail(ErrorCode::NOT_IMPLEMENTED, "A correlated EXISTS used both before and after GROUP BY is not supported");
    if (inner.aggregated && !inner.has_group_by)
        fail(ErrorCode::NOT_IMPLEMENTED, "A correlated EXISTS over an aggregation without GROUP BY is not supported");
    auto subquery = analysis::build_correlated(
        inner, true, [this](const std::vector<ExpressionPtr>& expressions) { return domain_of(expressions); });
    auto join = std::make_unique<JoinNode>();
    join->join = negated ? JoinKind::LeftAnti : JoinKind::LeftSemi;
    add_correlation(*join, subquery);
    join->output = plan_->output;
    join->children.push_back(std::move(plan_));
    join->children.push_back(std::move(subquery.plan));
    plan_ = std::move(join);
}

void SelectBuilder::place_exists(size_t slot) {
    join_exists(slot, false);
    auto& join = static_cast<JoinNode&>(*plan_);
    join.join = JoinKind::Mark;
    places_.resize(scope.slots.size(), kNoPlace);
    places_[slot] = join.output.size();
    join.output.push_back({"exists", make_type(TypeId::UInt8)});
}

std::pair<std::vector<ExpressionPtr>, NodePtr> SelectBuilder::in_keys(size_t slot, JoinNode& join) {
    auto rows = std::make_unique<CteNode>();
    const auto& known = static_cast<const CteNode&>(*scope.slots[slot].query->plan);
    rows->output = known.output;
    rows->shared = known.shared;
    std::vector<ExpressionPtr> left;
    const std::vector<ExpressionPtr> arguments = scope.slots[slot].arguments;
    for (const ExpressionPtr& argument : arguments) ensure_placed(*current(argument));
    for (const ExpressionPtr& argument : arguments) left.push_back(lower(current(argument)));
    for (size_t i = 0; i < left.size(); ++i) {
        ExpressionPtr a = scope.cast(left[i], strip_low_cardinality(left[i]->type));
        ExpressionPtr b = make_column(i, rows->output[i].type);
        b = scope.cast(b, strip_low_cardinality(b->type));
        if (!same_type(a->type, b->type)) {
            const TypePtr type = functions::common_type(std::vector<TypePtr>{a->type, b->type});
            a = scope.cast(a, type);
            b = scope.cast(b, type);
        }
        join.left_keys.push_back(std::move(a));
        join.right_keys.push_back(std::move(b));
    }
    return {std::move(left), std::move(rows)};
}

void SelectBuilder::join_in(size_t slot, bool negated) {
    auto join = std::make_unique<JoinNode>();
    join->join = negated ? JoinKind::LeftAnti : JoinKind::LeftSemi;
    auto [left, rows] = in_keys(slot, *join);
    // NULL NOT IN (…) is NULL: such rows go, whatever the right side holds.
    if (negated && left.size() == 1 && accepts_null(*left[0]->type))
        plan_ = make_filter(std::move(plan_), scope.call("isNotNull", {left[0]}));
    join->output = plan_->output;
    join->children.push_back(std::move(plan_));
    join->children.push_back(std::move(rows));
    plan_ = std::move(join);
}

void SelectBuilder::place_in(size_t slot) {
    auto join = std::make_unique<JoinNode>();
    join->join = JoinKind::Mark;
    auto [left, rows] = in_keys(slot, *join);
    const size_t place = plan_->output.size();
    join->output = plan_->output;
    join->output.push_back({"in", make_type(TypeId::UInt8)});
    join->children.push_back(std::move(plan_));
    join->children.push_back(std::move(rows));
    plan_ = std::move(join);
    places_.resize(scope.slots.size(), kNoPlace);
    places_[slot] = place;
    if (!accepts_null(*scope.slots[slot].type)) return;
    std::vector<ExpressionPtr> expressions;
    std::vector<std::string> names;
    for (size_t i = 0; i < place; ++i) {
        expressions.push_back(make_column(i, plan_->output[i].type));
        names.push_back(plan_->output[i].name);
    }
    const ExpressionPtr mark = scope.cast(make_column(place, make_type(TypeId::UInt8)), scope.slots[slot].type);
    const ExpressionPtr null = make_constant(make_null_value(scope.slots[slot].type));
    expressions.push_back(
        scope.cast(scope.call("if", {scope.call("isNull", {left[0]}), null, mark}), scope.slots[slot].type));
    names.push_back("in");
    plan_ = make_project(std::move(plan_), std::move(expressions), std::move(names));
}

}  // namespace firn::plan::analysis
