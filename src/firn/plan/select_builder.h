// Builds a resolved SELECT into plan nodes.
#pragma once

#include <string>
#include <vector>

#include "firn/plan/analyzer_impl.h"

namespace firn::plan::analysis {

class SelectBuilder {
public:
    explicit SelectBuilder(ResolvedSelect& resolved) : select(resolved), scope(*resolved.scope) {}

    NodePtr build(NodePtr* totals);
    BuiltSubquery build_correlated(bool existence_only, const DomainProvider& domain);

private:
    /// The expression as of now: behind an aggregation over keys and aggregates instead of columns.
    ExpressionPtr current(const ExpressionPtr& expression);
    /// Over the columns of plan_, which gets what is missing joined in.
    ExpressionPtr lower(const ExpressionPtr& expression);
    void ensure_placed(const Expression& expression);
    void place_array_join(size_t slot);

    // Clauses: build_select.cpp.
    NodePtr finish(NodePtr* totals);
    void filter_conjuncts(std::vector<ExpressionPtr> conjuncts);
    void aggregate();
    void windows();
    void project();
    void sort_and_limit(const std::vector<size_t>& order, std::vector<size_t> limit_by);
    void limit_by_position(const std::vector<size_t>& order);
    size_t projected(const ExpressionPtr& expression, const std::string& name);

    // WITH FILL: fill.cpp. WITH TOTALS: totals.cpp.
    void fill(const std::vector<size_t>& order);
    void prepare_totals();
    NodePtr build_totals();

    // Subqueries as joins: decorrelate.cpp.
    void place_in(size_t slot);
    void place_exists(size_t slot);
    void place_scalar(size_t slot);
    void join_in(size_t slot, bool negated);
    void join_exists(size_t slot, bool negated);
    NodePtr domain_of(const std::vector<ExpressionPtr>& expressions);
    /// Keys and residual of a join of plan_ (left) with the subquery (right).
    void add_correlation(JoinNode& join, BuiltSubquery& subquery);
    std::pair<std::vector<ExpressionPtr>, NodePtr> in_keys(size_t slot, JoinNode& join);
    bool mentions_outer(const Expression& expression) const;
    bool only_outer(const Expression& expression) const;
    ExpressionPtr to_outer(const ExpressionPtr& expression) const;
    void for_each_clause(const std::function<void(ExpressionPtr&)>& f);

    ResolvedSelect& select;
    Scope& scope;
    NodePtr plan_;
    std::vector<size_t> places_;
    bool aggregated_ = false;
    std::vector<ExpressionPtr> keys_;  // over slots
    std::vector<size_t> key_slots_;
    std::vector<ExpressionPtr> projection_;
    std::vector<std::string> names_;
    size_t result_columns_ = 0;
    /// A correlated subquery's keys, over slots, that are grouped by and given out behind the result.
    std::vector<ExpressionPtr> extra_keys_;
    std::vector<size_t> extra_places_;
    NodePtr totals_input_;
    std::vector<size_t> totals_places_;
};

}  // namespace firn::plan::analysis
