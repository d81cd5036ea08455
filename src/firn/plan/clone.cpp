// Copies of plans. Expressions and sources are shared: they are immutable.
#include "firn/plan/logical.h"

namespace firn::plan {

namespace {

template <typename T>
const T& as(const Node& node) {
    return static_cast<const T&>(node);
}

NodePtr clone_fields(const Node& node) {
    switch (node.kind) {
        case NodeKind::Scan: {
            auto copy = std::make_unique<ScanNode>();
            copy->source = as<ScanNode>(node).source;
            copy->request = as<ScanNode>(node).request;
            copy->alias = as<ScanNode>(node).alias;
            return copy;
        }
        case NodeKind::Values: {
            auto copy = std::make_unique<ValuesNode>();
            copy->batches = as<ValuesNode>(node).batches;
            return copy;
        }
        case NodeKind::Project: {
            auto copy = std::make_unique<ProjectNode>();
            copy->expressions = as<ProjectNode>(node).expressions;
            return copy;
        }
        case NodeKind::Filter: {
            auto copy = std::make_unique<FilterNode>();
            copy->conjuncts = as<FilterNode>(node).conjuncts;
            return copy;
        }
        case NodeKind::Aggregate: {
            const auto& from = as<AggregateNode>(node);
            auto copy = std::make_unique<AggregateNode>();
            copy->keys = from.keys;
            copy->aggregates = from.aggregates;
            copy->grouping_sets = from.grouping_sets;
            copy->with_totals = from.with_totals;
            copy->expected_groups = from.expected_groups;
            copy->merge_metadata_partials = from.merge_metadata_partials;
            return copy;
        }
        case NodeKind::Join: {
            const auto& from = as<JoinNode>(node);
            auto copy = std::make_unique<JoinNode>();
            copy->join = from.join;
            copy->strictness = from.strictness;
            copy->left_keys = from.left_keys;
            copy->right_keys = from.right_keys;
            copy->nulls_equal = from.nulls_equal;
            copy->null_aware = from.null_aware;
            copy->residual = from.residual;
            copy->asof = from.asof;
            copy->use_nulls = from.use_nulls;
            copy->wanted = from.wanted;
            copy->expected_build_rows = from.expected_build_rows;
            return copy;  // runtime filters are added to finished plans only
        }
        case NodeKind::Sort: {
            const auto& from = as<SortNode>(node);
            auto copy = std::make_unique<SortNode>();
            copy->keys = from.keys;
            copy->limit = from.limit;
            copy->with_ties = from.with_ties;
            return copy;
        }
        case NodeKind::Limit: {
            auto copy = std::make_unique<LimitNode>();
            copy->limit = as<LimitNode>(node).limit;
            copy->offset = as<LimitNode>(node).offset;
            return copy;
        }
        case NodeKind::LimitBy: {
            const auto& from = as<LimitByNode>(node);
            auto copy = std::make_unique<LimitByNode>();
            copy->keys = from.keys;
            copy->limit = from.limit;
            copy->offset = from.offset;
            return copy;
        }
        case NodeKind::Distinct: {
            auto copy = std::make_unique<DistinctNode>();
            copy->keys = as<DistinctNode>(node).keys;
            return copy;
        }
        case NodeKind::Union:
        case NodeKind::Intersect:
        case NodeKind::Except: {
            auto copy = std::make_unique<SetNode>(node.kind);
            copy->all = as<SetNode>(node).all;
            return copy;
        }
        case NodeKind::ArrayJoin: {
            auto copy = std::make_unique<ArrayJoinNode>();
            copy->arrays = as<ArrayJoinNode>(node).arrays;
            copy->left = as<ArrayJoinNode>(node).left;
            return copy;
        }
        case NodeKind::Window: {
            const auto& from = as<WindowNode>(node);
            auto copy = std::make_unique<WindowNode>();
            copy->partition = from.partition;
            copy->order = from.order;
            copy->frame = from.frame;
            copy->calls = from.calls;
            return copy;
        }
        case NodeKind::Fill: {
            auto copy = std::make_unique<FillNode>();
            copy->columns = as<FillNode>(node).columns;
            copy->interpolate = as<FillNode>(node).interpolate;
            return copy;
        }
        case NodeKind::Cte: {
            auto copy = std::make_unique<CteNode>();
            copy->shared = std::make_shared<CteNode::Shared>();
            copy->shared->plan = clone(*as<CteNode>(node).shared->plan);
            return copy;
        }
    }
    return nullptr;
}

}  // namespace

NodePtr clone(const Node& node) {
    NodePtr copy = clone_fields(node);
    copy->output = node.output;
    copy->estimated_rows = node.estimated_rows;
    for (const NodePtr& child : node.children) copy->children.push_back(clone(*child));
    return copy;
}

}  // namespace firn::plan
