// Only columns that something reads are computed and scanned.
//
// prune() drops from a node's output what is not needed (not always all of it) and says where each column went.
#include <algorithm>

#include "firn/plan/rewrite.h"

namespace firn::plan::rewrite {

namespace {

using Needed = std::vector<bool>;
using Places = std::vector<size_t>;

class Pruner {
public:
    explicit Pruner(const OptimizerOptions& options_) : options(options_) {}

    void run(NodePtr& plan) {
        count_uses(*plan);
        exact(plan, Needed(plan->output.size(), true));
        while (!shared_.empty()) {
            const auto ready =
                std::find_if(shared_.begin(), shared_.end(), [](const Shared& s) { return s.seen == s.uses; });
            if (ready == shared_.end()) return;  // a use that is no part of the plan any more keeps all
            Shared done = *ready;
            shared_.erase(ready);
            finish_shared(done);
        }
    }

private:
    struct Shared {
        CteNode::Shared* plan;
        size_t uses = 0, seen = 0;
        Needed needed;
        std::vector<ProjectNode*> projects;  // over each use
    };

    Shared& shared_of(CteNode::Shared* plan) {
        for (Shared& known : shared_)
            if (known.plan == plan) return known;
        shared_.push_back({plan, 0, 0, Needed(plan->plan->output.size(), false), {}});
        return shared_.back();
    }

    void count_uses(const Node& node) {
        if (node.kind == NodeKind::Cte) {
            CteNode::Shared* plan = static_cast<const CteNode&>(node).shared.get();
            Shared& known = shared_of(plan);
            if (known.uses++ == 0) count_uses(*plan->plan);
        }
        for (const NodePtr& child : node.children) count_uses(*child);
    }

    void finish_shared(const Shared& done) {
        exact(done.plan->plan, done.needed);
        Places places(done.needed.size(), kNoPlace);
        size_t next = 0;
        for (size_t i = 0; i < done.needed.size(); ++i)
            if (done.needed[i]) places[i] = next++;
        for (ProjectNode* project : done.projects) {
            for (ExpressionPtr& expression : project->expressions) expression = remap_columns(expression, places);
            project->children[0]->output = done.plan->plan->output;
        }
    }

    static Places identity(size_t size) {
        Places places(size);
        for (size_t i = 0; i < size; ++i) places[i] = i;
        return places;
    }
    static void read(const std::vector<ExpressionPtr>& expressions, Needed& needed) {
        for (const ExpressionPtr& expression : expressions) mark_columns(*expression, needed);
    }
    static void remap(std::vector<ExpressionPtr>& expressions, const Places& places) {
        for (ExpressionPtr& expression : expressions) expression = remap_columns(expression, places);
    }

    /// Exactly the needed columns, in order.
    void exact(NodePtr& node, const Needed& needed) {
        std::vector<OutputColumn> names = node->output;
        const Places places = prune(node, needed);
        std::vector<ExpressionPtr> expressions;
        std::vector<std::string> wanted;
        bool same = true;
        for (size_t i = 0; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            same = same && places[i] == expressions.size();
            expressions.push_back(make_column(places[i], node->output[places[i]].type));
            wanted.push_back(names[i].name);
        }
        if (same && expressions.size() == node->output.size()) {
            for (size_t i = 0; i < wanted.size(); ++i) node->output[i].name = wanted[i];
            return;
        }
        const auto rows = node->estimated_rows;
        node = make_project(std::move(node), std::move(expressions), std::move(wanted));
        node->estimated_rows = rows;
    }

    Places prune(NodePtr& node, const Needed& needed) {
        switch (node->kind) {
            case NodeKind::Scan:
                return prune_scan(static_cast<ScanNode&>(*node), needed);
            case NodeKind::Values:
                return prune_values(static_cast<ValuesNode&>(*node), needed);
            case NodeKind::Project:
                return prune_project(node, needed);
            case NodeKind::Aggregate:
                return prune_aggregate(static_cast<AggregateNode&>(*node), needed);
            case NodeKind::Join:
                return prune_join(static_cast<JoinNode&>(*node), needed);
            case NodeKind::Window:
                return prune_window(static_cast<WindowNode&>(*node), needed);
            case NodeKind::ArrayJoin:
                return prune_array_join(static_cast<ArrayJoinNode&>(*node), needed);
            case NodeKind::Cte:
                return prune_cte(node, needed);
            case NodeKind::Filter: {
                auto& filter = static_cast<FilterNode&>(*node);
                return prune_transparent(*node, needed, {&filter.conjuncts});
            }
            case NodeKind::Sort: {
                auto& sort = static_cast<SortNode&>(*node);
                std::vector<ExpressionPtr> keys;
                for (const SortKey& key : sort.keys) keys.push_back(key.expression);
                const Places places = prune_transparent(*node, needed, {&keys});
                for (size_t i = 0; i < keys.size(); ++i) sort.keys[i].expression = keys[i];
                return places;
            }
            case NodeKind::Limit:
                return prune_transparent(*node, needed, {});
            case NodeKind::LimitBy:
                return prune_transparent(*node, needed, {&static_cast<LimitByNode&>(*node).keys});
            case NodeKind::Distinct: {
                auto& distinct = static_cast<DistinctNode&>(*node);
                if (!distinct.keys.empty()) return prune_transparent(*node, needed, {&distinct.keys});
                exact(node->children[0], Needed(node->output.size(), true));
                return identity(node->output.size());
            }
            case NodeKind::Union: {
                const Needed some = at_least_one(needed);
                for (NodePtr& child : node->children) exact(child, some);
                return keep(*node, some);
            }
            default:
                for (NodePtr& child : node->children) exact(child, Needed(child->output.size(), true));
                return identity(node->output.size());
        }
    }

    static Needed at_least_one(Needed needed) {
        if (!needed.empty() && std::find(needed.begin(), needed.end(), true) == needed.end()) needed[0] = true;
        return needed;
    }

    static Places keep(Node& node, const Needed& kept) {
        Places places(kept.size(), kNoPlace);
        std::vector<OutputColumn> output;
        for (size_t i = 0; i < kept.size(); ++i) {
            if (!kept[i]) continue;
            places[i] = output.size();
            output.push_back(std::move(node.output[i]));
        }
        node.output = std::move(output);
        return places;
    }

    Places prune_transparent(Node& node, Needed needed, std::vector<std::vector<ExpressionPtr>*> expressions) {
        for (const auto* list : expressions) read(*list, needed);
        const Places places = prune(node.children[0], needed);
        for (auto* list : expressions) remap(*list, places);
        node.output = node.children[0]->output;
        return places;
    }

    Places prune_scan(ScanNode& scan, const Needed& needed) {
        Needed kept = needed;
        read(scan.request.filters, kept);
        std::vector<size_t> columns;
        scan.request.output.clear();
        bool all = true;
        for (size_t i = 0; i < kept.size(); ++i) {
            if (!kept[i]) continue;
            columns.push_back(scan.request.columns[i]);
            scan.request.output.push_back(needed[i]);
            all = all && needed[i];
        }
        if (all) scan.request.output.clear();
        scan.request.columns = std::move(columns);
        const Places places = keep(scan, kept);
        remap(scan.request.filters, places);
        return places;
    }

    Places prune_values(ValuesNode& values, const Needed& needed) {
        for (Batch& batch : values.batches) {
            std::vector<VectorPtr> columns;
            for (size_t i = 0; i < needed.size(); ++i)
                if (needed[i]) columns.push_back(batch.columns[i]);
            batch.columns = std::move(columns);
        }
        return keep(values, needed);
    }

    Places prune_project(NodePtr& node, const Needed& needed) {
        auto& project = static_cast<ProjectNode&>(*node);
        std::vector<ExpressionPtr> kept;
        for (size_t i = 0; i < needed.size(); ++i)
            if (needed[i]) kept.push_back(project.expressions[i]);
        project.expressions = std::move(kept);
        Places places = keep(project, needed);
        merge_projects(project);
        NodePtr& child = project.children[0];
        Needed below(child->output.size(), false);
        read(project.expressions, below);
        remap(project.expressions, prune(child, below));
        bool same = project.expressions.size() == child->output.size();
        for (size_t i = 0; i < project.expressions.size(); ++i)
            same =
                same && project.expressions[i]->kind == Expression::Kind::Column && project.expressions[i]->index == i;
        if (same) {
            for (size_t i = 0; i < project.output.size(); ++i) child->output[i].name = project.output[i].name;
            NodePtr only = std::move(child);
            node = std::move(only);
        }
        return places;
    }

    /// The projection below becomes part of this one where no expression would be computed twice.
    void merge_projects(ProjectNode& project) {
        while (project.children[0]->kind == NodeKind::Project) {
            auto& below = static_cast<ProjectNode&>(*project.children[0]);
            std::vector<size_t> uses(below.expressions.size(), 0);
            for (const ExpressionPtr& expression : project.expressions)
                for_each_column(*expression, [&](const Expression& column) { ++uses[column.index]; });
            for (size_t i = 0; i < uses.size(); ++i) {
                const bool simple = below.expressions[i]->kind == Expression::Kind::Column ||
                                    below.expressions[i]->kind == Expression::Kind::Constant;
                if (!simple && uses[i] > 1) return;
                if (uses[i] > 0 && !is_deterministic(*below.expressions[i])) return;
            }
            if (!substitute(project.expressions, below.expressions)) return;
            NodePtr child = std::move(below.children[0]);
            project.children[0] = std::move(child);
        }
    }

    /// Replaces columns in `expressions`; false, and nothing done, where a constant below would change a type.
    bool substitute(std::vector<ExpressionPtr>& expressions, const std::vector<ExpressionPtr>& by) const {
        std::vector<ExpressionPtr> replaced;
        for (const ExpressionPtr& expression : expressions) {
            ExpressionPtr made = transform(
                expression,
                [&](const ExpressionPtr& part) -> ExpressionPtr {
                    return part->kind == Expression::Kind::Column ? by[part->index] : nullptr;
                },
                options.functions);
            if (!same_type(made->type, expression->type)) return false;
            if (analysis::tree_size(*made, kMostParts) >= kMostParts) return false;
            replaced.push_back(std::move(made));
        }
        expressions = std::move(replaced);
        return true;
    }

    Places prune_aggregate(AggregateNode& aggregate, const Needed& needed) {
        Needed kept = needed;
        const size_t keys = aggregate.keys.size() + (aggregate.grouping_sets.empty() ? 0 : 1);
        for (size_t i = 0; i < keys; ++i) kept[i] = true;
        const bool any = std::find(kept.begin(), kept.end(), true) != kept.end();
        if (!any && !kept.empty()) kept[0] = true;
        std::vector<AggregateCall> calls;
        for (size_t i = 0; i < aggregate.aggregates.size(); ++i)
            if (kept[keys + i]) calls.push_back(std::move(aggregate.aggregates[i]));
        aggregate.aggregates = std::move(calls);
        const Places places = keep(aggregate, kept);
        absorb_project(aggregate);
        Needed below(aggregate.children[0]->output.size(), false);
        read(aggregate.keys, below);
        for (AggregateCall& made : aggregate.aggregates) {
            read(made.arguments, below);
            if (made.filter) mark_columns(*made.filter, below);
        }
        const Places input = prune(aggregate.children[0], below);
        remap(aggregate.keys, input);
        for (AggregateCall& made : aggregate.aggregates) {
            remap(made.arguments, input);
            if (made.filter) made.filter = remap_columns(made.filter, input);
        }
        return places;
    }

    /// A projection below an aggregation is computed as part of its keys and arguments.
    void absorb_project(AggregateNode& aggregate) {
        while (aggregate.children[0]->kind == NodeKind::Project) {
            auto& below = static_cast<ProjectNode&>(*aggregate.children[0]);
            std::vector<ExpressionPtr> keys = aggregate.keys;
            std::vector<std::vector<ExpressionPtr>> arguments;
            Needed used(below.expressions.size(), false);
            read(keys, used);
            for (const AggregateCall& made : aggregate.aggregates) {
                if (made.filter) return;
                read(made.arguments, used);
                arguments.push_back(made.arguments);
            }
            for (size_t i = 0; i < used.size(); ++i)
                if (used[i] && !is_deterministic(*below.expressions[i])) return;
            if (!substitute(keys, below.expressions)) return;
            for (auto& list : arguments)
                if (!substitute(list, below.expressions)) return;
            aggregate.keys = std::move(keys);
            for (size_t i = 0; i < arguments.size(); ++i) aggregate.aggregates[i].arguments = std::move(arguments[i]);
            NodePtr child = std::move(below.children[0]);
            aggregate.children[0] = std::move(child);
        }
    }

    Places prune_join(JoinNode& join, const Needed& needed) {
        const size_t left = join.children[0]->output.size(), right = join.children[1]->output.size();
        const bool left_only =
            join.join == JoinKind::LeftSemi || join.join == JoinKind::LeftAnti || join.join == JoinKind::Mark;
        const bool right_only = join.join == JoinKind::RightSemi || join.join == JoinKind::RightAnti;
        Needed below(left + right, false), left_needed(left, false), right_needed(right, false);
        for (size_t i = 0; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            if (right_only)
                below[left + i] = true;
            else if (!left_only || i < left)
                below[i] = true;
        }
        read(join.residual, below);
        for (size_t i = 0; i < left; ++i) left_needed[i] = below[i];
        for (size_t i = 0; i < right; ++i) right_needed[i] = below[left + i];
        read(join.left_keys, left_needed);
        read(join.right_keys, right_needed);
        const Places left_places = prune(join.children[0], left_needed),
                     right_places = prune(join.children[1], right_needed);
        remap(join.left_keys, left_places);
        remap(join.right_keys, right_places);
        const size_t new_left = join.children[0]->output.size(), new_right = join.children[1]->output.size();
        Places both(left + right, kNoPlace);
        for (size_t i = 0; i < left; ++i) both[i] = left_places[i];
        for (size_t i = 0; i < right; ++i)
            if (right_places[i] != kNoPlace) both[left + i] = new_left + right_places[i];
        remap(join.residual, both);
        // The output follows the children; types (Nullable by join_use_nulls) are the old ones.
        const size_t width = right_only  ? new_right
                             : left_only ? new_left + (join.join == JoinKind::Mark ? 1 : 0)
                                         : new_left + new_right;
        std::vector<OutputColumn> output(width);
        for (size_t i = 0; i < width; ++i) {
            if (right_only)
                output[i] = join.children[1]->output[i];
            else if (i < new_left)
                output[i] = join.children[0]->output[i];
            else if (!left_only)
                output[i] = join.children[1]->output[i - new_left];
        }
        Places places(needed.size(), kNoPlace);
        join.wanted.assign(width, false);
        for (size_t i = 0; i < needed.size(); ++i) {
            size_t place = right_only ? right_places[i] : i < left ? left_places[i] : left_only ? new_left : both[i];
            if (place == kNoPlace) continue;
            places[i] = place;
            output[place] = join.output[i];
            if (needed[i]) join.wanted[place] = true;
        }
        join.output = std::move(output);
        if (std::find(join.wanted.begin(), join.wanted.end(), false) == join.wanted.end()) join.wanted.clear();
        return places;
    }

    Places prune_window(WindowNode& window, const Needed& needed) {
        const size_t width = window.children[0]->output.size();
        Needed below(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(width));
        Needed kept = needed;
        std::vector<WindowCall> calls;
        for (size_t i = 0; i < window.calls.size(); ++i)
            if (needed[width + i]) calls.push_back(std::move(window.calls[i]));
        window.calls = std::move(calls);
        read(window.partition, below);
        for (const SortKey& key : window.order) mark_columns(*key.expression, below);
        for (const WindowCall& made : window.calls) read(made.arguments, below);
        const Places input = prune(window.children[0], below);
        remap(window.partition, input);
        for (SortKey& key : window.order) key.expression = remap_columns(key.expression, input);
        for (WindowCall& made : window.calls) remap(made.arguments, input);
        std::vector<OutputColumn> output = window.children[0]->output;
        Places places(needed.size(), kNoPlace);
        for (size_t i = 0; i < width; ++i) places[i] = input[i];
        for (size_t i = width; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            places[i] = output.size();
            output.push_back(window.output[i]);
        }
        window.output = std::move(output);
        return places;
    }

    Places prune_array_join(ArrayJoinNode& join, const Needed& needed) {
        const size_t width = join.children[0]->output.size();
        Needed below(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(width));
        read(join.arrays, below);
        const Places input = prune(join.children[0], below);
        remap(join.arrays, input);
        std::vector<OutputColumn> output = join.children[0]->output;
        Places places(needed.size(), kNoPlace);
        for (size_t i = 0; i < width; ++i) places[i] = input[i];
        for (size_t i = width; i < needed.size(); ++i) {
            places[i] = output.size();
            output.push_back(join.output[i]);
        }
        join.output = std::move(output);
        return places;
    }

    Places prune_cte(NodePtr& node, const Needed& needed) {
        Shared& known = shared_of(static_cast<CteNode&>(*node).shared.get());
        ++known.seen;
        std::vector<ExpressionPtr> expressions;
        std::vector<std::string> names;
        Places places(needed.size(), kNoPlace);
        for (size_t i = 0; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            known.needed[i] = true;
            places[i] = expressions.size();
            expressions.push_back(make_column(i, node->output[i].type));
            names.push_back(node->output[i].name);
        }
        const auto rows = node->estimated_rows;
        node = make_project(std::move(node), std::move(expressions), std::move(names));
        node->estimated_rows = rows;
        known.projects.push_back(static_cast<ProjectNode*>(node.get()));
        return places;
    }

    const OptimizerOptions& options;
    std::vector<Shared> shared_;
};

}  // namespace

void prune_columns(NodePtr& plan, const OptimizerOptions& options) { Pruner(options).run(plan); }

}  // namespace firn::plan::rewrite
