// Inner joins (and the semi and anti joins above them) as a graph of relations and conditions, put in order of cost.
//
// The cheapest tree is found by dynamic programming over sets of relations up to kExactRelations, else greedily. Cost
// of a join: rows that probe, twice the rows that are built, and the rows that come out.
#include <algorithm>
#include <bit>

#include "firn/plan/rewrite.h"

namespace firn::plan::rewrite {

namespace {

constexpr size_t kExactRelations = 10;
constexpr size_t kMostRelations = 64;

using Mask = uint64_t;
using Filters = std::vector<ExpressionPtr>;

struct Edge {
    ExpressionPtr a, b;  // over global columns, the same type
    Mask a_mask, b_mask;
    double share;  // of the cross product that it keeps
};

/// A semi or anti join that stands above the inner joins: `keys` and `residual` over global columns, the right side's
/// columns numbered from `right_base`.
struct SemiJoin {
    std::unique_ptr<JoinNode> node;
    NodePtr right;
    Filters left_keys;
    Filters residual;
    size_t right_base;
    Mask left_mask;
};

struct Tree {
    double rows = 0, cost = 0;
    Mask left = 0, right = 0;  // 0: a single relation
    bool known = false;
};

class JoinGraph {
public:
    explicit JoinGraph(const OptimizerOptions& options_) : options(options_) {}

    NodePtr run(NodePtr root, Filters filters) {
        wanted_ = root->output;
        flatten(std::move(root), filters);
        if (relations_.size() > kMostRelations)
            fail(ErrorCode::NOT_IMPLEMENTED, "Joins of more than {} tables are not supported", kMostRelations);
        classify(factor_disjunctions(conditions_, options.functions));
        for (NodePtr& relation : relations_) {
            const size_t i = static_cast<size_t>(&relation - relations_.data());
            relation = push_filters(std::move(relation), std::move(own_[i]), options);
            estimate_rows(*relation);
        }
        push_semi_joins();
        weigh_edges();
        NodePtr plan = build(order());
        for (SemiJoin& semi : semis_)
            if (semi.node) plan = apply_semi(std::move(semi), std::move(plan), places_);
        Filters last;
        for (const ExpressionPtr& condition : remaining_) last.push_back(remap_columns(condition, places_));
        plan = filtered(std::move(plan), std::move(last));
        return restore(std::move(plan));
    }

private:
    /// Takes the tree apart; returns nothing: relations_ get global column numbers in the order of the root's columns.
    void flatten(NodePtr node, const Filters& filters) {
        const size_t base = total_columns_;
        const auto globally = [&](const ExpressionPtr& expression) {
            return base == 0 ? expression : shift(expression, base);
        };
        for (const ExpressionPtr& filter : filters) conditions_.push_back(globally(filter));
        if (node->kind == NodeKind::Filter) {
            const NodePtr& child = node->children[0];
            bool retyped = false;
            if (child->kind == NodeKind::Join && !static_cast<JoinNode&>(*child).use_nulls)
                weaken_outer_join(static_cast<JoinNode&>(*child), static_cast<FilterNode&>(*node).conjuncts, options,
                                  retyped);
            if (child->kind == NodeKind::Join && is_part(static_cast<JoinNode&>(*child))) {
                for (const ExpressionPtr& conjunct : static_cast<FilterNode&>(*node).conjuncts)
                    conditions_.push_back(globally(conjunct));
                flatten(std::move(node->children[0]), {});
                return;
            }
        }
        if (node->kind == NodeKind::Join && is_part(static_cast<JoinNode&>(*node))) {
            std::unique_ptr<JoinNode> join(static_cast<JoinNode*>(node.release()));
            const size_t left_width = join->children[0]->output.size();
            if (join->join == JoinKind::LeftSemi || join->join == JoinKind::LeftAnti) {
                SemiJoin semi;
                semi.right = std::move(join->children[1]);
                for (const ExpressionPtr& key : join->left_keys) semi.left_keys.push_back(globally(key));
                semi.right_base = kRightBase;
                for (const ExpressionPtr& conjunct : join->residual)
                    semi.residual.push_back(transform(
                        conjunct,
                        [&](const ExpressionPtr& part) -> ExpressionPtr {
                            if (part->kind != Expression::Kind::Column) return nullptr;
                            return make_column(
                                part->index < left_width ? base + part->index : kRightBase + part->index - left_width,
                                part->type);
                        },
                        options.functions));
                NodePtr left = std::move(join->children[0]);
                join->children.clear();
                semi.node = std::move(join);
                flatten(std::move(left), {});
                semis_.push_back(std::move(semi));
                return;
            }
            for (size_t i = 0; i < join->left_keys.size(); ++i) {
                const ExpressionPtr right = shift(join->right_keys[i], base + left_width);
                keys_.emplace_back(globally(join->left_keys[i]), right);
            }
            for (const ExpressionPtr& conjunct : join->residual) conditions_.push_back(globally(conjunct));
            NodePtr left = std::move(join->children[0]), right = std::move(join->children[1]);
            flatten(std::move(left), {});
            flatten(std::move(right), {});
            return;
        }
        first_column_.push_back(total_columns_);
        total_columns_ += node->output.size();
        for (size_t i = 0; i < node->output.size(); ++i) relation_of_.push_back(relations_.size());
        relations_.push_back(std::move(node));
    }

    static bool is_part(const JoinNode& join) {
        if (join.nulls_equal || join.null_aware || join.strictness != JoinStrictness::All) return false;
        return join.join == JoinKind::Inner || join.join == JoinKind::Cross || join.join == JoinKind::LeftSemi ||
               join.join == JoinKind::LeftAnti;
    }

    ExpressionPtr shift(const ExpressionPtr& expression, size_t by) const {
        return transform(
            expression,
            [&](const ExpressionPtr& part) -> ExpressionPtr {
                return part->kind == Expression::Kind::Column ? make_column(part->index + by, part->type) : nullptr;
            },
            options.functions);
    }

    Mask mask_of(const Expression& expression) const {
        Mask mask = 0;
        for_each_column(expression, [&](const Expression& column) {
            if (column.index < relation_of_.size()) mask |= Mask{1} << relation_of_[column.index];
        });
        return mask;
    }

    ExpressionPtr cast(const ExpressionPtr& expression, const TypePtr& type) const {
        if (same_type(expression->type, type)) return expression;
        return call("CAST", {expression, make_constant(literal_value(sql::Literal::from_string(type->name())))},
                    options.functions);
    }

    bool add_edge(ExpressionPtr a, ExpressionPtr b) {
        const Mask a_mask = mask_of(*a), b_mask = mask_of(*b);
        if (a_mask == 0 || b_mask == 0 || (a_mask & b_mask) != 0) return false;
        a = cast(a, strip_low_cardinality(a->type));
        b = cast(b, strip_low_cardinality(b->type));
        if (!same_type(a->type, b->type)) {
            try {
                const TypePtr type = functions::common_type(std::vector<TypePtr>{a->type, b->type});
                a = cast(a, type);
                b = cast(b, type);
            } catch (const Error&) {
                return false;
            }
        }
        edges_.push_back({std::move(a), std::move(b), a_mask, b_mask, 1});
        return true;
    }

    void classify(const Filters& conditions) {
        own_.resize(relations_.size());
        for (auto& [a, b] : keys_)
            if (!add_edge(a, b)) remaining_.push_back(call("equals", {a, b}, options.functions));
        for (const ExpressionPtr& condition : conditions) {
            const Mask mask = mask_of(*condition);
            if (!is_deterministic(*condition) || mask == 0) {
                remaining_.push_back(condition);
                continue;
            }
            if (std::has_single_bit(mask)) {
                const size_t relation = static_cast<size_t>(std::countr_zero(mask));
                own_[relation].push_back(localized(condition, relation));
                continue;
            }
            const TypePtr plain = condition->arguments.size() == 2 ? unwrap(condition->arguments[0]->type) : nullptr;
            if (is_call(*condition, "equals") && !is_float(plain->id()) &&
                !is_float(unwrap(condition->arguments[1]->type)->id()) &&
                add_edge(condition->arguments[0], condition->arguments[1]))
                continue;
            for (size_t relation = 0; relation < relations_.size(); ++relation) {
                if (!(mask >> relation & 1)) continue;
                const ExpressionPtr derived = derive_condition(
                    condition, [&](const Expression& part) { return mask_of(part) == Mask{1} << relation; },
                    options.functions);
                if (derived) own_[relation].push_back(localized(derived, relation));
            }
            residual_.emplace_back(condition, mask);
        }
        for (SemiJoin& semi : semis_) {
            semi.left_mask = 0;
            for (const ExpressionPtr& key : semi.left_keys) semi.left_mask |= mask_of(*key);
            for (const ExpressionPtr& conjunct : semi.residual) semi.left_mask |= mask_of(*conjunct);
        }
    }

    ExpressionPtr localized(const ExpressionPtr& expression, size_t relation) const {
        return transform(
            expression,
            [&](const ExpressionPtr& part) -> ExpressionPtr {
                return part->kind == Expression::Kind::Column
                           ? make_column(part->index - first_column_[relation], part->type)
                           : nullptr;
            },
            options.functions);
    }

    void push_semi_joins() {
        for (SemiJoin& semi : semis_) {
            // Conditions on the right side alone are filters of it.
            Filters right, residual;
            for (ExpressionPtr& conjunct : semi.residual) {
                if (mask_of(*conjunct) == 0 && is_deterministic(*conjunct)) {
                    right.push_back(transform(
                        conjunct,
                        [&](const ExpressionPtr& part) -> ExpressionPtr {
                            return part->kind == Expression::Kind::Column
                                       ? make_column(part->index - kRightBase, part->type)
                                       : nullptr;
                        },
                        options.functions));
                } else {
                    residual.push_back(std::move(conjunct));
                }
            }
            semi.residual = std::move(residual);
            semi.right = push_filters(std::move(semi.right), std::move(right), options);
            const double right_rows = estimate_rows(*semi.right);
            if (!std::has_single_bit(semi.left_mask) || relations_.size() == 1) continue;
            const size_t relation = static_cast<size_t>(std::countr_zero(semi.left_mask));
            double keys = base_rows(relation);
            if (!semi.left_keys.empty())
                keys = known_distinct(*localized(semi.left_keys[0], relation), *relations_[relation]).value_or(keys);
            const bool anti = semi.node->join == JoinKind::LeftAnti;
            const double share = std::min(1.0, right_rows / std::max(1.0, keys));
            if (anti ? share > 0.5 || !semi.residual.empty() : share > 0.5) continue;
            std::vector<size_t> places(total_columns_, kNoPlace);
            for (size_t i = 0; i < relations_[relation]->output.size(); ++i) places[first_column_[relation] + i] = i;
            relations_[relation] = apply_semi(std::move(semi), std::move(relations_[relation]), places);
            semi.node = nullptr;
            estimate_rows(*relations_[relation]);
        }
    }

    NodePtr apply_semi(SemiJoin semi, NodePtr left, const std::vector<size_t>& places) const {
        semi.node->left_keys.clear();
        semi.node->residual.clear();
        for (const ExpressionPtr& key : semi.left_keys) semi.node->left_keys.push_back(remap_columns(key, places));
        const size_t width = left->output.size();
        for (const ExpressionPtr& conjunct : semi.residual)
            semi.node->residual.push_back(transform(
                conjunct,
                [&](const ExpressionPtr& part) -> ExpressionPtr {
                    if (part->kind != Expression::Kind::Column) return nullptr;
                    return make_column(
                        part->index >= kRightBase ? width + part->index - kRightBase : places[part->index], part->type);
                },
                options.functions));
        semi.node->output = left->output;
        semi.node->children.push_back(std::move(left));
        semi.node->children.push_back(std::move(semi.right));
        return std::move(semi.node);
    }

    double rows_before_filters(Mask mask) const {
        double rows = 1;
        for (size_t i = 0; i < relations_.size(); ++i)
            if (mask >> i & 1) rows *= base_rows(i);
        return rows;
    }

    static const Expression& without_cast(const Expression& expression) {
        return is_call(expression, "CAST") ? without_cast(*expression.arguments[0]) : expression;
    }

    /// How many values the sides of each edge can share: sides that are equated, by whatever chain, have no more than
    /// the fewest of any of them, and a side of which nothing is known no more than its table has rows. So c_nationkey
    /// = s_nationkey is known to be a poor condition where either also equals nation's key.
    std::vector<double> edge_domains() const {
        std::vector<const Expression*> members;
        std::vector<size_t> leader;
        std::vector<double> values;
        const auto member_of = [&](const Expression& side, Mask mask) {
            const Expression& plain = without_cast(side);
            for (size_t i = 0; i < members.size(); ++i)
                if (same_expression(*members[i], plain)) return i;
            members.push_back(&plain);
            leader.push_back(leader.size());
            double value = rows_before_filters(mask);
            if (std::has_single_bit(mask)) {
                const size_t relation = static_cast<size_t>(std::countr_zero(mask));
                const auto known =
                    known_distinct(*localized(std::make_shared<Expression>(plain), relation), *relations_[relation]);
                if (known) value = *known;
            }
            values.push_back(value);
            return members.size() - 1;
        };
        const auto find = [&](size_t i) {
            while (leader[i] != i) i = leader[i];
            return i;
        };
        std::vector<size_t> sides;
        for (const Edge& edge : edges_) {
            const size_t a = member_of(*edge.a, edge.a_mask), b = member_of(*edge.b, edge.b_mask);
            sides.push_back(a);
            const size_t from = find(a), to = find(b);
            leader[from] = to;
            values[to] = std::min(values[to], values[from]);
        }
        std::vector<double> domains;
        for (const size_t side : sides) domains.push_back(values[find(side)]);
        return domains;
    }

    void weigh_edges() {
        const std::vector<double> domains = edge_domains();
        for (size_t i = 0; i < edges_.size(); ++i) {
            Edge& edge = edges_[i];
            edge.share = 1 / std::max(1.0, domains[i]);
            if (!std::has_single_bit(edge.a_mask) || !std::has_single_bit(edge.b_mask)) continue;
            const size_t a = static_cast<size_t>(std::countr_zero(edge.a_mask)),
                         b = static_cast<size_t>(std::countr_zero(edge.b_mask));
            const auto known_a = known_distinct(*localized(edge.a, a), *relations_[a]),
                       known_b = known_distinct(*localized(edge.b, b), *relations_[b]);
            if (known_a && known_b) edge.share = 1 / std::max({1.0, *known_a, *known_b});
        }
    }

    /// Share of the cross product of the relations of `set` that the conditions keep.
    double rows_of(Mask set) const {
        double rows = 1;
        for (size_t i = 0; i < relations_.size(); ++i)
            if (set >> i & 1) rows *= std::max(1.0, relations_[i]->estimated_rows.value_or(1));
        // Several equalities between the same relations are no more selective than a key of the larger one.
        std::vector<std::pair<Mask, double>> pairs;
        for (const Edge& edge : edges_) {
            const Mask both = edge.a_mask | edge.b_mask;
            if ((both & set) != both) continue;
            const auto known =
                std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == both; });
            if (known == pairs.end())
                pairs.emplace_back(both, edge.share);
            else
                known->second *= edge.share;
        }
        for (const auto& [both, share] : pairs) {
            double largest = 1;
            for (size_t i = 0; i < relations_.size(); ++i)
                if (both >> i & 1) largest = std::max(largest, base_rows(i));
            rows *= std::max(share, 1 / largest);
        }
        for (const auto& [condition, mask] : residual_)
            if ((mask & set) == mask) rows *= 0.4;
        return std::max(rows, 1.0);
    }

    double base_rows(size_t relation) const {
        const Node* node = relations_[relation].get();
        while (node->kind == NodeKind::Filter || node->kind == NodeKind::Project) node = node->children[0].get();
        if (node->kind == NodeKind::Scan) {
            const auto rows = static_cast<const ScanNode*>(node)->source->row_count_estimate();
            if (rows) return static_cast<double>(*rows);
        }
        return std::max(1.0, node->estimated_rows.value_or(1));
    }

    bool connected(Mask a, Mask b) const {
        return std::any_of(edges_.begin(), edges_.end(), [&](const Edge& edge) {
            return ((edge.a_mask & ~a) == 0 && (edge.b_mask & ~b) == 0) ||
                   ((edge.a_mask & ~b) == 0 && (edge.b_mask & ~a) == 0);
        });
    }

    static double join_cost(const Tree& probe, const Tree& build, double rows, bool crossed) {
        return probe.cost + build.cost + probe.rows + 2 * build.rows + rows + (crossed ? probe.rows * build.rows : 0);
    }

    void consider(Tree& tree, const Tree& a, const Tree& b, Mask a_set, Mask b_set, bool crossed) const {
        const bool a_probes = a.rows >= b.rows;
        const double cost = a_probes ? join_cost(a, b, tree.rows, crossed) : join_cost(b, a, tree.rows, crossed);
        if (tree.known && tree.cost <= cost) return;
        tree.known = true;
        tree.cost = cost;
        tree.left = a_probes ? a_set : b_set;
        tree.right = a_probes ? b_set : a_set;
    }

    Mask order() {
        const size_t count = relations_.size();
        for (size_t i = 0; i < count; ++i) {
            Tree& tree = trees_[Mask{1} << i];
            tree.rows = std::max(1.0, relations_[i]->estimated_rows.value_or(1));
            tree.known = true;
        }
        const Mask all = count == 64 ? ~Mask{0} : (Mask{1} << count) - 1;
        if (!options.reorder_joins || count > kExactRelations) return order_greedily(all);
        for (Mask set = 1; set <= all; ++set) {
            if (std::has_single_bit(set)) continue;
            Tree tree;
            tree.rows = rows_of(set);
            for (Mask a = (set - 1) & set; a != 0; a = (a - 1) & set) {
                const Mask b = set ^ a;
                if (a < b) continue;
                const auto first = trees_.find(a), second = trees_.find(b);
                if (first == trees_.end() || second == trees_.end() || !connected(a, b)) continue;
                consider(tree, first->second, second->second, a, b, false);
            }
            if (tree.known) trees_[set] = tree;
        }
        if (!trees_.contains(all)) cross_components(all);
        return all;
    }

    /// Parts of the graph that no equality connects are joined last, the smaller ones first.
    void cross_components(Mask all) {
        std::vector<Mask> parts;
        for (Mask rest = all; rest != 0;) {
            Mask best = 0;
            for (const auto& [set, tree] : trees_)
                if ((set & ~rest) == 0 && std::popcount(set) > std::popcount(best)) best = set;
            parts.push_back(best);
            rest &= ~best;
        }
        std::sort(parts.begin(), parts.end(), [&](Mask a, Mask b) { return trees_[a].rows < trees_[b].rows; });
        Mask joined = parts[0];
        for (size_t i = 1; i < parts.size(); ++i) {
            Tree tree;
            tree.rows = rows_of(joined | parts[i]);
            consider(tree, trees_[joined], trees_[parts[i]], joined, parts[i], true);
            joined |= parts[i];
            trees_[joined] = tree;
        }
    }

    Mask order_greedily(Mask all) {
        std::vector<Mask> parts;
        for (size_t i = 0; i < relations_.size(); ++i) parts.push_back(Mask{1} << i);
        while (parts.size() > 1) {
            double best = -1;
            size_t best_a = 0, best_b = 1;
            bool best_connected = false;
            for (size_t a = 0; a < parts.size(); ++a)
                for (size_t b = a + 1; b < parts.size(); ++b) {
                    if (!options.reorder_joins && (a != 0 || b != 1)) continue;
                    const bool linked = connected(parts[a], parts[b]);
                    if (best_connected && !linked) continue;
                    const double rows = rows_of(parts[a] | parts[b]);
                    if (best < 0 || (linked && !best_connected) || rows < best) {
                        best = rows;
                        best_a = a;
                        best_b = b;
                        best_connected = linked;
                    }
                }
            const Mask a = parts[best_a], b = parts[best_b];
            Tree tree;
            tree.rows = best;
            consider(tree, trees_[a], trees_[b], a, b, !best_connected);
            trees_[a | b] = tree;
            parts[best_a] = a | b;
            parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best_b));
        }
        return all;
    }

    /// Builds the tree of a set; `columns` gets the global numbers of its output columns.
    NodePtr build_set(Mask set, std::vector<size_t>& columns) {
        const Tree& tree = trees_.at(set);
        if (tree.left == 0) {
            const size_t relation = static_cast<size_t>(std::countr_zero(set));
            for (size_t i = 0; i < relations_[relation]->output.size(); ++i)
                columns.push_back(first_column_[relation] + i);
            return std::move(relations_[relation]);
        }
        std::vector<size_t> left_columns, right_columns;
        auto join = std::make_unique<JoinNode>();
        NodePtr left = build_set(tree.left, left_columns), right = build_set(tree.right, right_columns);
        const auto places_in = [&](const std::vector<size_t>& list, size_t offset, std::vector<size_t>& places) {
            for (size_t i = 0; i < list.size(); ++i) places[list[i]] = offset + i;
        };
        std::vector<size_t> left_places(total_columns_, kNoPlace), right_places(total_columns_, kNoPlace);
        places_in(left_columns, 0, left_places);
        places_in(right_columns, 0, right_places);
        for (const Edge& edge : edges_) {
            const bool forward = (edge.a_mask & ~tree.left) == 0 && (edge.b_mask & ~tree.right) == 0;
            const bool backward = (edge.b_mask & ~tree.left) == 0 && (edge.a_mask & ~tree.right) == 0;
            if (!forward && !backward) continue;
            join->left_keys.push_back(remap_columns(forward ? edge.a : edge.b, left_places));
            join->right_keys.push_back(remap_columns(forward ? edge.b : edge.a, right_places));
        }
        std::vector<size_t> places = left_places;
        places_in(right_columns, left_columns.size(), places);
        const auto across = [&](Mask mask) {
            return (mask & ~set) == 0 && (mask & ~tree.left) != 0 && (mask & ~tree.right) != 0;
        };
        for (const auto& [condition, mask] : residual_)
            if (across(mask)) join->residual.push_back(remap_columns(condition, places));
        for (const Edge& edge : edges_) {
            // An equality whose one side reads relations of both children is a condition, not a key.
            const Mask both = edge.a_mask | edge.b_mask;
            const bool key = ((edge.a_mask & ~tree.left) == 0 && (edge.b_mask & ~tree.right) == 0) ||
                             ((edge.b_mask & ~tree.left) == 0 && (edge.a_mask & ~tree.right) == 0);
            if (!key && across(both))
                join->residual.push_back(remap_columns(call("equals", {edge.a, edge.b}, options.functions), places));
        }
        join->join = join->left_keys.empty() && join->residual.empty() ? JoinKind::Cross : JoinKind::Inner;
        join->output = left->output;
        join->output.insert(join->output.end(), right->output.begin(), right->output.end());
        join->estimated_rows = tree.rows;
        join->expected_build_rows = static_cast<uint64_t>(std::min(1e12, trees_.at(tree.right).rows));
        join->children.push_back(std::move(left));
        join->children.push_back(std::move(right));
        columns = std::move(left_columns);
        columns.insert(columns.end(), right_columns.begin(), right_columns.end());
        return join;
    }

    NodePtr build(Mask all) {
        std::vector<size_t> columns;
        NodePtr plan = build_set(all, columns);
        places_.assign(total_columns_, kNoPlace);
        for (size_t i = 0; i < columns.size(); ++i) places_[columns[i]] = i;
        return plan;
    }

    /// The root's own order of columns.
    NodePtr restore(NodePtr plan) const {
        bool same = plan->output.size() == wanted_.size();
        for (size_t i = 0; i < wanted_.size(); ++i) same = same && places_[i] == i;
        if (same) return plan;
        std::vector<ExpressionPtr> expressions;
        std::vector<std::string> names;
        for (size_t i = 0; i < wanted_.size(); ++i) {
            expressions.push_back(make_column(places_[i], wanted_[i].type));
            names.push_back(wanted_[i].name);
        }
        return make_project(std::move(plan), std::move(expressions), std::move(names));
    }

    static constexpr size_t kRightBase = size_t{1} << 40;

    const OptimizerOptions& options;
    std::vector<OutputColumn> wanted_;
    std::vector<NodePtr> relations_;
    std::vector<size_t> first_column_;
    std::vector<size_t> relation_of_;  // by global column
    size_t total_columns_ = 0;
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> keys_;
    Filters conditions_;
    std::vector<Filters> own_;
    std::vector<Edge> edges_;
    std::vector<std::pair<ExpressionPtr, Mask>> residual_;
    Filters remaining_;
    std::vector<SemiJoin> semis_;
    std::unordered_map<Mask, Tree> trees_;
    std::vector<size_t> places_;
};

}  // namespace

NodePtr order_joins(NodePtr node, std::vector<ExpressionPtr> filters, const OptimizerOptions& options) {
    return JoinGraph(options).run(std::move(node), std::move(filters));
}

}  // namespace firn::plan::rewrite
