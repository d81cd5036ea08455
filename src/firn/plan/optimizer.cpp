#include "firn/plan/optimizer.h"

#include <unordered_map>
#include <unordered_set>

#include "firn/plan/rewrite.h"

namespace firn::plan {

namespace rewrite {

namespace {

void count_uses(const Node& node, std::unordered_map<const CteNode::Shared*, size_t>& uses) {
    if (node.kind == NodeKind::Cte) {
        const auto* shared = static_cast<const CteNode&>(node).shared.get();
        if (uses[shared]++ == 0) count_uses(*shared->plan, uses);
    }
    for (const NodePtr& child : node.children) count_uses(*child, uses);
}

void inline_single(NodePtr& node, const std::unordered_map<const CteNode::Shared*, size_t>& uses,
                   std::unordered_set<const CteNode::Shared*>& visited) {
    if (node->kind == NodeKind::Cte) {
        const std::shared_ptr<CteNode::Shared> shared = static_cast<CteNode&>(*node).shared;
        if (visited.insert(shared.get()).second) inline_single(shared->plan, uses, visited);
        if (uses.at(shared.get()) == 1) {
            NodePtr plan = std::move(shared->plan);
            for (size_t i = 0; i < node->output.size(); ++i) plan->output[i].name = node->output[i].name;
            node = std::move(plan);
        }
        return;
    }
    for (NodePtr& child : node->children) inline_single(child, uses, visited);
}

/// The plans that are shared, each once, those that others use first.
void collect_shared(const Node& node, std::vector<std::shared_ptr<CteNode::Shared>>& out) {
    if (node.kind == NodeKind::Cte) {
        const auto& shared = static_cast<const CteNode&>(node).shared;
        for (const auto& known : out)
            if (known == shared) return;
        collect_shared(*shared->plan, out);
        out.push_back(shared);
    }
    for (const NodePtr& child : node.children) collect_shared(*child, out);
}

}  // namespace

void inline_single_ctes(NodePtr& plan) {
    std::unordered_map<const CteNode::Shared*, size_t> uses;
    std::unordered_set<const CteNode::Shared*> visited;
    count_uses(*plan, uses);
    inline_single(plan, uses, visited);
}

}  // namespace rewrite

void optimize(NodePtr& plan, const OptimizerOptions& options) {
    const std::vector<OutputColumn> wanted = plan->output;
    rewrite::inline_single_ctes(plan);
    std::vector<std::shared_ptr<CteNode::Shared>> shared;
    rewrite::collect_shared(*plan, shared);
    if (options.push_filters) {
        for (const auto& part : shared) {
            part->plan = rewrite::push_filters(std::move(part->plan), {}, options);
            rewrite::estimate_rows(*part->plan);
        }
        plan = rewrite::push_filters(std::move(plan), {}, options);
    }
    for (const auto& part : shared) rewrite::choose_join_sides(part->plan);
    rewrite::choose_join_sides(plan);
    rewrite::prune_columns(plan, options);
    const auto finish = [&](Node& root) {
        rewrite::estimate_rows(root);
        rewrite::push_limits(root);
        if (options.metadata_aggregates) rewrite::use_metadata_aggregates(root);
        if (options.top_n) rewrite::add_top_n_thresholds(root);
        if (options.runtime_filters) rewrite::add_runtime_filters(root);
    };
    for (const auto& part : shared) finish(*part->plan);
    finish(*plan);
    for (size_t i = 0; i < wanted.size(); ++i) plan->output[i].name = wanted[i].name;
}

}  // namespace firn::plan
