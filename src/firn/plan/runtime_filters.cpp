// Joins tell scans on their probe side which key values they have built.
#include <algorithm>

#include "firn/plan/rewrite.h"

namespace firn::plan::rewrite {

namespace {

struct ScanColumn {
    ScanNode* scan = nullptr;
    size_t column = 0;
};

/// The scan that a column comes from unchanged, where rows dropped there are just rows not given here.
ScanColumn column_below(Node& node, size_t column) {
    switch (node.kind) {
        case NodeKind::Scan:
            return {&static_cast<ScanNode&>(node), column};
        case NodeKind::Filter:
            return column_below(*node.children[0], column);
        case NodeKind::Sort:
            if (static_cast<SortNode&>(node).limit) return {};
            return column_below(*node.children[0], column);
        case NodeKind::Distinct:
            if (!static_cast<DistinctNode&>(node).keys.empty()) return {};
            return column_below(*node.children[0], column);
        case NodeKind::Project: {
            const Expression& expression = *static_cast<ProjectNode&>(node).expressions[column];
            if (expression.kind != Expression::Kind::Column) return {};
            return column_below(*node.children[0], expression.index);
        }
        case NodeKind::Aggregate: {
            const auto& aggregate = static_cast<AggregateNode&>(node);
            if (!aggregate.grouping_sets.empty() || aggregate.with_totals || column >= aggregate.keys.size()) return {};
            if (aggregate.keys[column]->kind != Expression::Kind::Column) return {};
            return column_below(*node.children[0], aggregate.keys[column]->index);
        }
        case NodeKind::ArrayJoin:
            if (column >= node.children[0]->output.size()) return {};
            return column_below(*node.children[0], column);
        case NodeKind::Join: {
            const auto& join = static_cast<JoinNode&>(node);
            const size_t width = node.children[0]->output.size();
            switch (join.join) {
                case JoinKind::Inner:
                case JoinKind::Cross:
                    if (column < width) return column_below(*node.children[0], column);
                    return join.strictness == JoinStrictness::All ? column_below(*node.children[1], column - width)
                                                                  : ScanColumn{};
                case JoinKind::Left:
                case JoinKind::LeftSemi:
                case JoinKind::LeftAnti:
                case JoinKind::Mark:
                    return column < width ? column_below(*node.children[0], column) : ScanColumn{};
                case JoinKind::Right:
                    if (column < width || join.strictness != JoinStrictness::All) return {};
                    return column_below(*node.children[1], column - width);
                case JoinKind::RightSemi:
                case JoinKind::RightAnti:
                    return column_below(*node.children[1], column);
                case JoinKind::Full:
                    return {};
            }
            return {};
        }
        default:
            return {};
    }
}

}  // namespace

void add_runtime_filters(Node& node) {
    for (const NodePtr& child : node.children) add_runtime_filters(*child);
    if (node.kind != NodeKind::Join) return;
    auto& join = static_cast<JoinNode&>(node);
    const bool drops_probe_rows = join.join == JoinKind::Inner || join.join == JoinKind::LeftSemi ||
                                  join.join == JoinKind::RightSemi || join.join == JoinKind::RightAnti ||
                                  join.join == JoinKind::Right;
    if (!drops_probe_rows || join.nulls_equal) return;
    const size_t keys = join.strictness == JoinStrictness::Asof && !join.left_keys.empty() ? join.left_keys.size() - 1
                                                                                           : join.left_keys.size();
    for (size_t i = 0; i < keys; ++i) {
        const Expression& key = *join.left_keys[i];
        if (key.kind != Expression::Kind::Column) continue;
        const ScanColumn found = column_below(*join.children[0], key.index);
        if (!found.scan || !found.scan->request.aggregates.empty()) continue;
        const double built = join.children[1]->estimated_rows.value_or(0),
                     probed = found.scan->estimated_rows.value_or(0);
        if (built > probed * 0.7) continue;
        const TypePtr type = unwrap(key.type);
        if (!same_type(type, unwrap(found.scan->output[found.column].type))) continue;
        auto filter = std::make_shared<RuntimeFilter>();
        filter->column = found.column;
        found.scan->request.runtime_filters.push_back(filter);
        join.runtime_filters.emplace_back(i, std::move(filter));
    }
}

}  // namespace firn::plan::rewrite
