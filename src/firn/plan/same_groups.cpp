#include "firn/plan/same_groups.h"

#include <algorithm>

namespace firn::plan {
namespace {

bool same(const std::vector<ExpressionPtr>& a, const std::vector<ExpressionPtr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same_expression(*x, *y); });
}

bool same(const ExpressionPtr& a, const ExpressionPtr& b) { return a && b ? same_expression(*a, *b) : a == b; }

bool same(const AggregateCall& a, const AggregateCall& b) {
    return a.key == b.key && same_type(a.function->result_type(), b.function->result_type()) &&
           same(a.arguments, b.arguments) && same(a.filter, b.filter);
}

bool same_scan(const ScanNode& a, const ScanNode& b) {
    return a.source->same_rows(*b.source) && a.request.columns == b.request.columns &&
           same(a.request.filters, b.request.filters);
}

bool same_input(const Node& a, const Node& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case NodeKind::Scan:
            return same_scan(static_cast<const ScanNode&>(a), static_cast<const ScanNode&>(b));
        case NodeKind::Filter:
            if (!same(static_cast<const FilterNode&>(a).conjuncts, static_cast<const FilterNode&>(b).conjuncts))
                return false;
            break;
        case NodeKind::Project:
            if (!same(static_cast<const ProjectNode&>(a).expressions, static_cast<const ProjectNode&>(b).expressions))
                return false;
            break;
        default:
            return false;
    }
    return same_input(*a.children[0], *b.children[0]);
}

bool all_deterministic(const std::vector<ExpressionPtr>& expressions) {
    return std::all_of(expressions.begin(), expressions.end(), [](const auto& e) { return is_deterministic(*e); });
}

/// Filters and projections of a scan that gives all its rows, whatever else the query does.
bool is_plain_input(const Node& node) {
    switch (node.kind) {
        case NodeKind::Scan: {
            const ScanRequest& request = static_cast<const ScanNode&>(node).request;
            return !request.limit && request.runtime_filters.empty() && request.aggregates.empty() &&
                   all_deterministic(request.filters);
        }
        case NodeKind::Filter:
            return all_deterministic(static_cast<const FilterNode&>(node).conjuncts) &&
                   is_plain_input(*node.children[0]);
        case NodeKind::Project:
            return all_deterministic(static_cast<const ProjectNode&>(node).expressions) &&
                   is_plain_input(*node.children[0]);
        default:
            return false;
    }
}

}  // namespace

bool can_be_same_groups(const AggregateNode& node) {
    if (node.keys.empty() || node.with_totals || node.merge_metadata_partials || !all_deterministic(node.keys))
        return false;
    for (const auto& call : node.aggregates)
        if (call.key.empty() || !all_deterministic(call.arguments) || (call.filter && !is_deterministic(*call.filter)))
            return false;
    return is_plain_input(*node.children[0]);
}

bool same_groups(const AggregateNode& a, const AggregateNode& b) {
    return can_be_same_groups(a) && can_be_same_groups(b) && same(a.keys, b.keys) &&
           a.grouping_sets == b.grouping_sets &&
           std::equal(a.aggregates.begin(), a.aggregates.end(), b.aggregates.begin(), b.aggregates.end(),
                      [](const auto& x, const auto& y) { return same(x, y); }) &&
           same_input(*a.children[0], *b.children[0]);
}

}  // namespace firn::plan
