// The optimizer's rules and what they share.
#pragma once

#include <vector>

#include "firn/plan/analyzer_impl.h"
#include "firn/plan/optimizer.h"

namespace firn::plan::rewrite {

using analysis::for_each_column;
using analysis::kNoPlace;
using analysis::make_project;
using analysis::transform;

// Rules, in the order in which they run.

/// A Cte that is used once is put in its place; the others stay.
void inline_single_ctes(NodePtr& plan);
/// Conditions as far down as they go; outer joins that need not be so become inner; inner joins in order of cost.
NodePtr push_filters(NodePtr node, std::vector<ExpressionPtr> filters, const OptimizerOptions& options);
/// The smaller side of semi, anti and outer joins becomes the one that is built.
void choose_join_sides(NodePtr& node);
/// Only columns that something reads are computed and scanned; chains of projections become one.
void prune_columns(NodePtr& plan, const OptimizerOptions& options);
void push_limits(Node& node);
void add_top_n_thresholds(Node& node);
void use_metadata_aggregates(Node& node);
void add_runtime_filters(Node& node);

// Shared.

/// Expressions that a substitution would make larger than this stay where they are.
constexpr size_t kMostParts = 20000;

/// Inner and cross joins below `node` (one of them) as a graph, put into the cheapest order found, with `filters`.
NodePtr order_joins(NodePtr node, std::vector<ExpressionPtr> filters, const OptimizerOptions& options);
/// Conjuncts equivalent to these: what all branches of an OR have in common stands alone.
std::vector<ExpressionPtr> factor_disjunctions(const std::vector<ExpressionPtr>& conjuncts,
                                               const functions::FunctionContext& context);
/// For a disjunction: the weaker condition on only the columns that `own` accepts; null when a branch has none.
ExpressionPtr derive_condition(const ExpressionPtr& disjunction, const std::function<bool(const Expression&)>& own,
                               const functions::FunctionContext& context);
ExpressionPtr conjunction(std::vector<ExpressionPtr> conjuncts, const functions::FunctionContext& context);
NodePtr filtered(NodePtr child, std::vector<ExpressionPtr> conjuncts);

/// Estimated rows; sets Node::estimated_rows of the whole subtree.
double estimate_rows(Node& node);
/// Share of the input's rows that pass, 0..1.
double selectivity(const Expression& condition, const Node& input);
/// Estimated distinct values of an expression over the node's output, before its filters.
double distinct_values(const Expression& expression, const Node& node);
/// Distinct values as far as sources know them; nothing where they do not.
std::optional<double> known_distinct(const Expression& expression, const Node& node);
/// Share of the cross product that a = b keeps; rows: of the sides, before filters where that is known.
double equality_join_share(const Expression& a, const Node& left, double left_rows, const Expression& b,
                           const Node& right, double right_rows);
/// Relative cost of computing the condition for one row.
double condition_cost(const Expression& condition);

/// Whether some value of its columns makes it an error.
bool may_fail(const Expression& expression);
/// LEFT, RIGHT or FULL becomes less of an outer join where the filters above drop the rows that make it one. With
/// join_use_nulls only to INNER, when that is `retyped` (the sides' own types are no longer Nullable).
void weaken_outer_join(JoinNode& join, const std::vector<ExpressionPtr>& filters, const OptimizerOptions& options,
                       bool& retyped);

bool is_true(const Expression& expression);
/// False or NULL whatever the columns.
bool is_never_true(const Expression& expression);

inline bool is_call(const Expression& expression, std::string_view name) {
    return expression.kind == Expression::Kind::Call && expression.function->name() == name;
}

}  // namespace firn::plan::rewrite
