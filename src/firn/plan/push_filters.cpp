// Conditions as far down as they go. See rewrite.h.
#include <algorithm>

#include "firn/plan/rewrite.h"
#include "firn/vector/builder.h"

namespace firn::plan::rewrite {

namespace {

using Filters = std::vector<ExpressionPtr>;

enum class Side : uint8_t { Neither, Left, Right, Both };
Side side_of(const Expression& expression, size_t left_width) {
    bool left = false, right = false;
    for_each_column(expression, [&](const Expression& column) { (column.index < left_width ? left : right) = true; });
    return left && right ? Side::Both : left ? Side::Left : right ? Side::Right : Side::Neither;
}

/// Whether a filter drops every row whose right (or left) side is missing, that is, holds defaults or NULLs.
bool rejects_missing(const Filters& filters, const JoinNode& join, bool right_side,
                     const functions::FunctionContext& context) {
    const size_t width = join.children[0]->output.size();
    return std::any_of(filters.begin(), filters.end(), [&](const ExpressionPtr& filter) {
        const Side side = side_of(*filter, width);
        if (side == Side::Neither || side == (right_side ? Side::Left : Side::Right)) return false;
        ExpressionPtr replaced;
        try {
            replaced = transform(
                filter,
                [&](const ExpressionPtr& part) -> ExpressionPtr {
                    if (part->kind != Expression::Kind::Column || (part->index >= width) != right_side) return nullptr;
                    return make_constant(Vector::defaults(part->type, 1));
                },
                context);
        } catch (const Error&) {
            return false;
        }
        return is_never_true(*replaced);
    });
}

class Pusher {
public:
    explicit Pusher(const OptimizerOptions& options_) : options(options_) {}

    NodePtr push(NodePtr node, Filters filters) {
        Filters conditions;
        for (const ExpressionPtr& filter : filters) split_conjuncts(filter, conditions);
        std::erase_if(conditions, [](const ExpressionPtr& filter) { return is_true(*filter); });
        if (std::any_of(conditions.begin(), conditions.end(),
                        [](const ExpressionPtr& filter) { return is_never_true(*filter); })) {
            return analysis::make_values(node->output, {});
        }
        switch (node->kind) {
            case NodeKind::Scan:
                return push_scan(std::move(node), std::move(conditions));
            case NodeKind::Filter:
                return push_filter(std::move(node), std::move(conditions));
            case NodeKind::Project:
                return push_project(std::move(node), std::move(conditions));
            case NodeKind::Aggregate:
                return push_aggregate(std::move(node), std::move(conditions));
            case NodeKind::Join:
                return push_join(std::move(node), std::move(conditions));
            case NodeKind::Distinct:
                return push_distinct(std::move(node), std::move(conditions));
            case NodeKind::Union:
            case NodeKind::Intersect:
            case NodeKind::Except:
                return push_set(std::move(node), std::move(conditions));
            case NodeKind::ArrayJoin:
                return push_array_join(std::move(node), std::move(conditions));
            case NodeKind::Sort:
                if (!static_cast<SortNode&>(*node).limit) return push_through(std::move(node), std::move(conditions));
                return stop(std::move(node), std::move(conditions));
            default:
                return stop(std::move(node), std::move(conditions));
        }
    }

private:
    /// The conditions stay above; below begins anew.
    NodePtr stop(NodePtr node, Filters filters) {
        for (NodePtr& child : node->children) child = push(std::move(child), {});
        return filtered(std::move(node), std::move(filters));
    }

    NodePtr push_through(NodePtr node, Filters filters) {
        Filters stay, down;
        for (ExpressionPtr& filter : filters) (is_deterministic(*filter) ? down : stay).push_back(std::move(filter));
        node->children[0] = push(std::move(node->children[0]), std::move(down));
        return filtered(std::move(node), std::move(stay));
    }

    NodePtr push_scan(NodePtr node, Filters filters) {
        auto& request = static_cast<ScanNode&>(*node).request;
        Filters stay;
        for (ExpressionPtr& filter : filters)
            (is_deterministic(*filter) ? request.filters : stay).push_back(std::move(filter));
        std::stable_sort(
            request.filters.begin(), request.filters.end(), [&](const ExpressionPtr& a, const ExpressionPtr& b) {
                const bool a_fails = may_fail(*a), b_fails = may_fail(*b);  // as written: x != 0 AND intDiv(1, x) > 0
                if (a_fails || b_fails) return !a_fails && b_fails;
                return condition_cost(*a) / std::max(0.01, 1 - selectivity(*a, *node)) <
                       condition_cost(*b) / std::max(0.01, 1 - selectivity(*b, *node));
            });
        return filtered(std::move(node), std::move(stay));
    }

    NodePtr push_filter(NodePtr node, Filters filters) {
        auto& conjuncts = static_cast<FilterNode&>(*node).conjuncts;
        Filters all = std::move(conjuncts);
        all.insert(all.end(), filters.begin(), filters.end());
        return push(std::move(node->children[0]), factor_disjunctions(all, options.functions));
    }

    NodePtr push_project(NodePtr node, Filters filters) {
        const auto& expressions = static_cast<ProjectNode&>(*node).expressions;
        Filters stay, down;
        for (ExpressionPtr& filter : filters) {
            bool movable = is_deterministic(*filter);
            for_each_column(*filter, [&](const Expression& column) {
                movable = movable && is_deterministic(*expressions[column.index]);
            });
            if (!movable) {
                stay.push_back(std::move(filter));
                continue;
            }
            ExpressionPtr below = transform(
                filter,
                [&](const ExpressionPtr& part) -> ExpressionPtr {
                    return part->kind == Expression::Kind::Column ? expressions[part->index] : nullptr;
                },
                options.functions);
            // Through many subqueries that use a column twice a condition doubles each time.
            const bool grown = analysis::tree_size(*below, kMostParts) >= kMostParts;
            (grown ? stay : down).push_back(grown ? std::move(filter) : std::move(below));
        }
        node->children[0] = push(std::move(node->children[0]), std::move(down));
        return filtered(std::move(node), std::move(stay));
    }

    NodePtr push_aggregate(NodePtr node, Filters filters) {
        const auto& aggregate = static_cast<AggregateNode&>(*node);
        Filters stay, down;
        for (ExpressionPtr& filter : filters) {
            bool on_keys = !aggregate.keys.empty() && aggregate.grouping_sets.empty() && is_deterministic(*filter);
            bool reads = false;
            for_each_column(*filter, [&](const Expression& column) {
                reads = true;
                on_keys = on_keys && column.index < aggregate.keys.size();
            });
            if (!on_keys || !reads)
                stay.push_back(std::move(filter));
            else
                down.push_back(transform(
                    filter,
                    [&](const ExpressionPtr& part) -> ExpressionPtr {
                        return part->kind == Expression::Kind::Column ? aggregate.keys[part->index] : nullptr;
                    },
                    options.functions));
        }
        node->children[0] = push(std::move(node->children[0]), std::move(down));
        return filtered(std::move(node), std::move(stay));
    }

    NodePtr push_distinct(NodePtr node, Filters filters) {
        const auto& keys = static_cast<DistinctNode&>(*node).keys;
        if (keys.empty()) return push_through(std::move(node), std::move(filters));
        Filters stay, down;
        for (ExpressionPtr& filter : filters) {
            bool on_keys = is_deterministic(*filter);
            for_each_column(*filter, [&](const Expression& column) {
                on_keys = on_keys && std::any_of(keys.begin(), keys.end(), [&](const ExpressionPtr& key) {
                              return key->kind == Expression::Kind::Column && key->index == column.index;
                          });
            });
            (on_keys ? down : stay).push_back(std::move(filter));
        }
        node->children[0] = push(std::move(node->children[0]), std::move(down));
        return filtered(std::move(node), std::move(stay));
    }

    NodePtr push_set(NodePtr node, Filters filters) {
        Filters stay, down;
        for (ExpressionPtr& filter : filters) (is_deterministic(*filter) ? down : stay).push_back(std::move(filter));
        for (NodePtr& child : node->children) child = push(std::move(child), down);
        return filtered(std::move(node), std::move(stay));
    }

    NodePtr push_array_join(NodePtr node, Filters filters) {
        const size_t width = node->children[0]->output.size();
        Filters stay, down;
        for (ExpressionPtr& filter : filters) {
            bool below = is_deterministic(*filter);
            for_each_column(*filter, [&](const Expression& column) { below = below && column.index < width; });
            (below ? down : stay).push_back(std::move(filter));
        }
        node->children[0] = push(std::move(node->children[0]), std::move(down));
        return filtered(std::move(node), std::move(stay));
    }

    // Joins.

    static ExpressionPtr shifted(const ExpressionPtr& expression, size_t by,
                                 const functions::FunctionContext& context) {
        return transform(
            expression,
            [&](const ExpressionPtr& part) -> ExpressionPtr {
                return part->kind == Expression::Kind::Column ? make_column(part->index - by, part->type) : nullptr;
            },
            context);
    }

    NodePtr push_join(NodePtr node, Filters filters) {
        auto& join = static_cast<JoinNode&>(*node);
        weaken_outer_join(join, filters, options, retyped_);
        const bool plain_inner = join.strictness == JoinStrictness::All && !join.nulls_equal &&
                                 (join.join == JoinKind::Inner || join.join == JoinKind::Cross);
        const bool semi = join.join == JoinKind::LeftSemi || join.join == JoinKind::LeftAnti;
        if (retyped_) {
            // The outer join's Nullable sides are plain now: casts above bring the types back.
            retyped_ = false;
            const std::vector<OutputColumn> wanted = join.output;
            std::vector<TypePtr> types;
            for (const OutputColumn& column : wanted) types.push_back(column.type);
            join.use_nulls = false;
            size_t i = 0;
            for (const NodePtr& child : join.children)
                for (const OutputColumn& column : child->output) join.output[i++].type = column.type;
            NodePtr casted = analysis::cast_columns(std::move(node), types, options.functions);
            return push(std::move(casted), std::move(filters));
        }
        if (plain_inner || (semi && !join.null_aware && !join.nulls_equal && join.strictness == JoinStrictness::All))
            return order_joins(std::move(node), std::move(filters), options);
        return push_one_join(std::move(node), std::move(filters));
    }

    NodePtr push_one_join(NodePtr node, Filters filters) {
        auto& join = static_cast<JoinNode&>(*node);
        const size_t width = join.children[0]->output.size();
        Filters stay, left, right;
        const bool left_is_kept = join.join == JoinKind::Left || join.join == JoinKind::LeftSemi ||
                                  join.join == JoinKind::LeftAnti || join.join == JoinKind::Mark ||
                                  join.join == JoinKind::Inner || join.join == JoinKind::Cross;
        const bool right_is_kept =
            join.strictness == JoinStrictness::All &&
            (join.join == JoinKind::Right || join.join == JoinKind::Inner || join.join == JoinKind::Cross);
        for (ExpressionPtr& filter : filters) {
            const Side side = side_of(*filter, width);
            const bool movable = is_deterministic(*filter);
            if (movable && side == Side::Left && left_is_kept)
                left.push_back(std::move(filter));
            else if (movable && side == Side::Right && right_is_kept)
                right.push_back(shifted(filter, width, options.functions));
            else
                stay.push_back(std::move(filter));
        }
        // Conditions of the join itself: what only decides which rows of the other side match can be a filter of that
        // side.
        Filters residual;
        const bool right_optional = join.join == JoinKind::Left || join.join == JoinKind::LeftSemi ||
                                    join.join == JoinKind::LeftAnti || join.join == JoinKind::Mark ||
                                    join.join == JoinKind::Inner;
        const bool left_optional =
            join.join == JoinKind::Right || join.join == JoinKind::LeftSemi || join.join == JoinKind::Inner;
        for (ExpressionPtr& conjunct : join.residual) {
            const Side side = side_of(*conjunct, width);
            const bool movable = is_deterministic(*conjunct) && !join.null_aware;
            if (movable && side == Side::Right && right_optional)
                right.push_back(shifted(conjunct, width, options.functions));
            else if (movable && side == Side::Left && left_optional)
                left.push_back(std::move(conjunct));
            else
                residual.push_back(std::move(conjunct));
        }
        join.residual = std::move(residual);
        join.children[0] = push(std::move(join.children[0]), std::move(left));
        join.children[1] = push(std::move(join.children[1]), std::move(right));
        return filtered(std::move(node), std::move(stay));
    }

    const OptimizerOptions& options;
    bool retyped_ = false;
};

}  // namespace

void weaken_outer_join(JoinNode& join, const std::vector<ExpressionPtr>& filters, const OptimizerOptions& options,
                       bool& retyped) {
    if (join.join != JoinKind::Left && join.join != JoinKind::Right && join.join != JoinKind::Full) return;
    if (join.strictness != JoinStrictness::All && join.strictness != JoinStrictness::Asof)
        return;  // ANY INNER is another join
    const JoinKind before = join.join;
    if (before != JoinKind::Right && rejects_missing(filters, join, true, options.functions))
        join.join = before == JoinKind::Full ? JoinKind::Right : JoinKind::Inner;
    if (before != JoinKind::Left && rejects_missing(filters, join, false, options.functions)) {
        if (before == JoinKind::Full)
            join.join = join.join == JoinKind::Right ? JoinKind::Inner : JoinKind::Left;
        else
            join.join = JoinKind::Inner;
    }
    if (join.join == before || !join.use_nulls) return;
    if (join.join != JoinKind::Inner)
        join.join = before;  // types of one side only would change: not worth it
    else
        retyped = true;
}

NodePtr filtered(NodePtr child, std::vector<ExpressionPtr> conjuncts) {
    if (conjuncts.empty()) return child;
    auto node = std::make_unique<FilterNode>();
    node->output = child->output;
    node->conjuncts = std::move(conjuncts);
    node->children.push_back(std::move(child));
    return node;
}

NodePtr push_filters(NodePtr node, std::vector<ExpressionPtr> filters, const OptimizerOptions& options) {
    return Pusher(options).push(std::move(node), std::move(filters));
}

}  // namespace firn::plan::rewrite
