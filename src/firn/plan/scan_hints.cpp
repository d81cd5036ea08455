// What a scan may know of the operators above it: how many rows are enough, the order they are wanted in, and that only
// counts and extremes are asked for.
#include <algorithm>

#include "firn/plan/rewrite.h"

namespace firn::plan::rewrite {

namespace {

struct ScanColumn {
    ScanNode* scan = nullptr;
    size_t column = 0;
};

/// The scan whose column this is, with only row-wise operators between that drop no row that matters to a top-N.
ScanColumn column_below(Node& node, size_t column) {
    switch (node.kind) {
        case NodeKind::Scan:
            return {&static_cast<ScanNode&>(node), column};
        case NodeKind::Filter:
            return column_below(*node.children[0], column);
        case NodeKind::Project: {
            const Expression& expression = *static_cast<ProjectNode&>(node).expressions[column];
            if (expression.kind != Expression::Kind::Column) return {};
            return column_below(*node.children[0], expression.index);
        }
        default:
            return {};
    }
}

bool has_bounds(const TypePtr& type) {
    const TypeId id = unwrap(type)->id();
    return is_integer(id) || is_float(id) || is_date_or_time(id) || is_string_like(id) || id == TypeId::Decimal ||
           id == TypeId::Bool;
}

}  // namespace

void push_limits(Node& node) {
    if (node.kind == NodeKind::Limit) {
        const auto& limit = static_cast<LimitNode&>(node);
        if (limit.limit && *limit.limit <= UINT64_MAX - limit.offset) {
            Node* below = node.children[0].get();
            while (below->kind == NodeKind::Project) below = below->children[0].get();
            if (below->kind == NodeKind::Scan)
                static_cast<ScanNode&>(*below).request.limit = *limit.limit + limit.offset;
        }
    }
    for (const NodePtr& child : node.children) push_limits(*child);
}

void add_top_n_thresholds(Node& node) {
    for (const NodePtr& child : node.children) add_top_n_thresholds(*child);
    if (node.kind != NodeKind::Sort) return;
    auto& sort = static_cast<SortNode&>(node);
    if (!sort.limit || sort.keys.empty() || *sort.limit == 0) return;
    const SortKey& first = sort.keys[0];
    if (first.expression->kind != Expression::Kind::Column || !first.collation.empty() ||
        !has_bounds(first.expression->type))
        return;
    const ScanColumn found = column_below(*sort.children[0], first.expression->index);
    if (!found.scan || !found.scan->request.aggregates.empty()) return;
    sort.threshold = std::make_shared<RuntimeFilter>();
    sort.threshold->column = found.column;
    found.scan->request.runtime_filters.push_back(sort.threshold);
    found.scan->request.order_column = found.column;
    found.scan->request.order_descending = first.descending;
}

void use_metadata_aggregates(Node& node) {
    for (const NodePtr& child : node.children) use_metadata_aggregates(*child);
    if (node.kind != NodeKind::Aggregate || node.children[0]->kind != NodeKind::Scan) return;
    auto& aggregate = static_cast<AggregateNode&>(node);
    auto& scan = static_cast<ScanNode&>(*node.children[0]);
    if (!aggregate.keys.empty() || !aggregate.grouping_sets.empty() || aggregate.with_totals ||
        aggregate.aggregates.empty())
        return;
    std::vector<MetadataAggregate> wanted;
    for (const AggregateCall& made : aggregate.aggregates) {
        const std::string_view name = made.function->name();
        if (made.filter || made.arguments.size() > 1) return;
        MetadataAggregate one;
        if (name == "count" && made.arguments.empty()) {
            wanted.push_back(one);
            continue;
        }
        if (made.arguments.empty()) return;
        const Expression& argument = *made.arguments[0];
        if (name == "count" && argument.kind == Expression::Kind::Constant && !argument.constant->is_null(0)) {
            wanted.push_back(one);
            continue;
        }
        if (argument.kind != Expression::Kind::Column || argument.type->is_low_cardinality()) return;
        one.column = argument.index;
        one.count_rows = false;
        if (name == "count")
            one.kind = MetadataAggregate::Kind::Count;
        else if (name == "min")
            one.kind = MetadataAggregate::Kind::Min;
        else if (name == "max")
            one.kind = MetadataAggregate::Kind::Max;
        else
            return;
        if (one.kind != MetadataAggregate::Kind::Count && !has_bounds(argument.type)) return;
        if (one.kind == MetadataAggregate::Kind::Count && !accepts_null(*argument.type)) one.count_rows = true;
        wanted.push_back(one);
    }
    scan.request.aggregates = std::move(wanted);
    aggregate.merge_metadata_partials = true;
}

}  // namespace firn::plan::rewrite
