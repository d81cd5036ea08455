// The analyzer's own structures. A SELECT is resolved first (ResolvedSelect: every expression over the select's slots),
// and then built into plan nodes.
//
// Slots: within one SELECT an expression's column numbers are slots, not places in any node's output: the columns of
// FROM, then whatever else a value can come from (an aggregate, a window call, arrayJoin(), a subquery, a column of an
// outer query). Building a plan gives slots places step by step; lower() turns slots into places.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/base/error.h"
#include "firn/plan/analyzer.h"

namespace firn::plan::analysis {

constexpr size_t kNoPlace = SIZE_MAX;

struct ResolvedSelect;
class Scope;

/// A query that is resolved, and built too where it depends on no outer column.
struct ResolvedQuery {
    std::unique_ptr<ResolvedSelect> select;  // a correlated SELECT, not built yet
    NodePtr plan;                            // otherwise
    NodePtr totals;
    std::vector<OutputColumn> output;
    bool correlated() const { return select != nullptr; }
};

struct Slot {
    enum class Kind : uint8_t {
        Base,         // column of FROM
        Outer,        // expression over the outer query's slots
        Aggregate,    // `aggregate`
        Key,          // a group key, behind the aggregation
        Window,       // call of a window
        ArrayJoin,    // arrayJoin(argument)
        Scalar,       // correlated scalar subquery
        Exists,       // correlated EXISTS: UInt8
        InQuery,      // `arguments` IN (subquery): UInt8, or Nullable(UInt8)
        GroupingSet,  // number of the grouping set
    };
    Kind kind = Kind::Base;
    TypePtr type;
    std::string name;  // for EXPLAIN
    std::vector<ExpressionPtr>
        arguments;  // over slots. ArrayJoin: the array; InQuery: the left side; Outer: over the outer's slots
    std::shared_ptr<ResolvedQuery> query;  // Scalar, Exists, InQuery
};

struct AggregateEntry {
    AggregateCall call;  // arguments over slots
    size_t slot = 0;
};

struct WindowEntry {
    WindowCall call;
    std::vector<ExpressionPtr> partition;
    std::vector<SortKey> order;
    WindowFrame frame;
    size_t slot = 0;
};

/// A column that FROM offers. `table`: index into Scope::tables; kNoPlace for what USING merged and for ARRAY JOIN's
/// aliases.
struct ScopeColumn {
    std::string name;
    ExpressionPtr expression;  // over slots
    size_t table = 0;
    bool hidden = false;  // virtual: not in *
    bool merged = false;  // one column by JOIN USING with another: found by its qualified name only
};

struct ScopeTable {
    std::string alias, database, name;
    bool is_subquery = false;
};

struct LambdaFrame {
    std::vector<std::string> names;
    std::vector<TypePtr> types;
};

struct Alias {
    sql::ExprPtr expr;
    ExpressionPtr resolved;
    bool resolving = false;
    std::optional<std::string> conflict;  // text of another expression of the same alias
};

struct Cte {
    const sql::WithElement* element = nullptr;
    Scope* scope = nullptr;  // where it is declared
    bool resolving = false;
    bool recursive = false;
    // WITH RECURSIVE, while it is computed: the rows of the last step.
    std::vector<OutputColumn> recursive_columns;
    std::vector<Batch> recursive_rows;
    bool recursive_ready = false;
};

/// State of one analyze() call.
struct Session {
    explicit Session(const AnalyzerContext& context_) : context(context_) {}
    const AnalyzerContext& context;
    size_t subquery_count = 0;
    /// What a result column's name shows for a subquery: "_subquery_1"; "1" or "0" for EXISTS that was run.
    std::unordered_map<const sql::Expr*, std::string> subquery_names;
    size_t depth = 0;
    size_t tables = 0;  // references to tables, those of CTEs and views counted at each use
};

struct SelectItem {
    ExpressionPtr expression;  // over slots
    std::string name;
    sql::ExprPtr expr;  // null for what * gave
};

/// Where an expression stands: what may be called there.
enum class Clause : uint8_t {
    Select,
    Where,
    Prewhere,
    GroupBy,
    Having,
    OrderBy,
    JoinOn,
    ArrayJoin,
    Qualify,
    Window,
    Limit
};

class Scope {
public:
    Scope(Session& session, Scope* parent, const sql::SelectQuery* select);
    ~Scope();

    // Resolving expressions: resolve_*.cpp.
    ExpressionPtr resolve(const sql::ExprPtr& expr, Clause clause);
    std::optional<ExpressionPtr> find_identifier(const std::vector<std::string>& parts, bool from_inner = false);
    /// The columns that * or COLUMNS give, transformers applied.
    std::vector<SelectItem> expand_matcher(const sql::ExprPtr& expr);
    /// The expressions of an argument list, with matchers and untuple() expanded.
    std::vector<ExpressionPtr> resolve_list(const std::vector<sql::ExprPtr>& list);
    VectorPtr resolve_constant(const sql::ExprPtr& expr, Clause clause, std::string_view what);
    std::string projection_name(const sql::ExprPtr& expr);

    // FROM: from.cpp, join.cpp.
    void resolve_from();

    ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> arguments);
    ExpressionPtr cast(const ExpressionPtr& expression, const TypePtr& type);
    ExpressionPtr column(size_t slot) const { return make_column(slot, slots[slot].type); }
    size_t add_slot(Slot slot);
    std::optional<std::string> setting(std::string_view name) const;
    bool flag(std::string_view name, bool otherwise) const;
    const functions::FunctionContext& functions() const { return session.context.functions; }

    Session& session;
    Scope* parent;
    const sql::SelectQuery* select;
    bool from_subquery = false;  // the parent's own tables are not visible, only what is around it

    std::vector<Slot> slots;
    std::vector<ScopeTable> tables;
    std::vector<ScopeColumn> columns;
    NodePtr from;
    std::vector<size_t> from_places;  // slot -> column of `from`; kNoPlace for slots that are none

    std::unordered_map<std::string, Alias> aliases;
    std::unordered_map<std::string, Cte> ctes;
    std::vector<AggregateEntry> aggregates;
    std::vector<WindowEntry> windows;
    std::vector<LambdaFrame> lambdas;
    std::unordered_map<std::string, sql::WindowSpecPtr> named_windows;
    bool grouping_function_used = false;
    std::vector<ExpressionPtr> grouping_keys;  // group keys over slots, known before SELECT is resolved
    std::vector<std::vector<size_t>> grouping_sets;
    bool group_by_given = false;

    void collect_aliases(const sql::ExprPtr& expr);

private:
    friend struct JoinBuilder;
    ExpressionPtr resolve_unaliased(const sql::Expr& expr);
    /// The lambda that WITH … AS name gives in this scope or around it; null when there is none.
    sql::ExprPtr named_lambda(const std::string& name) const;
    /// The lambda's body with the call's arguments in the places of its parameters.
    ExpressionPtr call_lambda(const sql::Expr& lambda, const sql::Expr& call);
    ExpressionPtr resolve_alias(const std::string& name, Alias& alias);
    ExpressionPtr resolve_identifier(const sql::Expr& expr);
    std::optional<ExpressionPtr> find_column(const std::vector<std::string>& parts);
    std::optional<ExpressionPtr> find_qualified(const std::vector<std::string>& parts);
    std::optional<ExpressionPtr> find_in_outer(const std::vector<std::string>& parts);
    std::optional<ExpressionPtr> find_alias(const std::vector<std::string>& parts);
    std::optional<ExpressionPtr> access_elements(ExpressionPtr base, const std::vector<std::string>& parts,
                                                 size_t from_part);
    std::optional<ExpressionPtr> subcolumn(const ExpressionPtr& base, const std::string& name);
    [[noreturn]] void fail_unknown_identifier(const std::string& name);
    ExpressionPtr outer_reference(ExpressionPtr outer, const std::string& name);

    ExpressionPtr resolve_function(const sql::Expr& expr);
    ExpressionPtr resolve_plain_call(const sql::Expr& expr);
    ExpressionPtr resolve_higher_order(const sql::Expr& expr, const functions::Definition& definition);
    ExpressionPtr resolve_lambda(const sql::Expr& lambda, std::vector<TypePtr> types);
    ExpressionPtr resolve_parameter(const sql::Expr& expr);
    ExpressionPtr resolve_aggregate(const sql::Expr& expr);
    ExpressionPtr sum_of_shifted(const AggregateEntry& entry);
    ExpressionPtr add_aggregate(AggregateEntry entry);
    ExpressionPtr resolve_window(const sql::Expr& expr);
    ExpressionPtr resolve_array_join(const sql::Expr& expr);
    ExpressionPtr resolve_grouping(const sql::Expr& expr);
    ExpressionPtr resolve_in(const sql::Expr& expr, bool negated);
    ExpressionPtr resolve_in_query(ExpressionPtr left, const sql::Expr& left_expr,
                                   std::shared_ptr<ResolvedQuery> query);
    ExpressionPtr resolve_exists(const sql::Expr& expr);
    ExpressionPtr resolve_scalar_subquery(const sql::Expr& expr);
    std::vector<VectorPtr> resolve_aggregate_parameters(const sql::Expr& expr);

    std::vector<SelectItem> matcher_columns(const sql::Expr& expr);
    void apply_transformers(const sql::Expr& expr, std::vector<SelectItem>& items);
    std::string short_name(const ScopeColumn& column);

    struct TableRows {
        NodePtr plan;
        std::vector<bool> hidden;  // empty = none
        ScopeTable named;
    };
    TableRows resolve_table(const sql::TableExpr& table);
    TableRows resolve_named_table(const sql::TableExpr& table);
    TableRows resolve_table_function(const sql::TableExpr& table);
    TableRows scan_of(std::shared_ptr<const Source> source) const;
    NodePtr values_function(const sql::Expr& call);
    NodePtr cte_plan(Cte& cte);
    NodePtr recursive_cte_plan(Cte& cte);
    NodePtr query_plan(const sql::Query& query, Scope* around);
    void resolve_join(const sql::FromElement& element);
    void resolve_array_join_element(const sql::FromElement& element);
    Cte* find_cte(const std::string& name);
    size_t add_base_slot(const OutputColumn& column, size_t place);
    ExpressionPtr lower_from(const ExpressionPtr& expression) const;

    Clause clause_ = Clause::Select;
    bool in_aggregate_ = false;
    bool in_window_ = false;
    size_t suspended_lambdas_ = 0;
};

struct OrderItem {
    ExpressionPtr expression;
    bool descending = false;
    bool nulls_first = false;
    std::string collation;
    const sql::OrderByElement* element = nullptr;
};

/// LIMIT or OFFSET: a number of rows, counted from the end where negative; or a share of all rows, rounded up.
struct RowBound {
    uint64_t rows = 0;
    bool from_end = false;
    std::optional<double> share;
    bool plain() const { return !from_end && !share; }
};

struct ResolvedSelect {
    std::unique_ptr<Scope> scope;
    std::vector<SelectItem> items;
    ExpressionPtr where;
    std::vector<ExpressionPtr> keys;
    std::vector<std::vector<size_t>> grouping_sets;
    bool aggregated = false;
    bool has_group_by = false;
    ExpressionPtr having, qualify;
    std::vector<OrderItem> order;
    std::vector<ExpressionPtr> limit_by;
    std::optional<uint64_t> limit_by_length;
    uint64_t limit_by_offset = 0;
    std::optional<uint64_t> limit;
    uint64_t offset = 0;
    /// Set instead of the two above where one of them is not a plain number of rows.
    std::optional<RowBound> limit_bound, offset_bound;
    bool correlated() const;
};

/// What a correlated subquery is joined by: inner column `inner` (of the built plan) equals `outer` (over the outer
/// slots).
struct CorrelationKey {
    ExpressionPtr outer;
    size_t inner = 0;
};

struct BuiltSubquery {
    NodePtr plan;
    size_t result_columns = 0;  // first in the plan's output
    std::vector<CorrelationKey> keys;
    bool nulls_equal = false;
    /// Over outer slots (numbers below `inner_base`) and inner columns (inner_base + i).
    std::vector<ExpressionPtr> residual;
    static constexpr size_t kInnerBase = size_t{1} << 32;
};

/// Gives a subquery the distinct values of some expressions over the outer query's slots, as a plan.
using DomainProvider = std::function<NodePtr(const std::vector<ExpressionPtr>&)>;

std::unique_ptr<ResolvedSelect> resolve_select(Session& session, const sql::SelectQuery& select, Scope* parent,
                                               bool from_subquery);
ResolvedQuery resolve_query(Session& session, const sql::Query& query, Scope* parent, bool from_subquery);
ResolvedQuery resolve_set_operation(Session& session, const sql::Query& query, Scope* parent, bool from_subquery);

/// Builds a select without outer columns.
NodePtr build_select(ResolvedSelect& select, NodePtr* totals = nullptr);
/// `existence_only`: the rows' values do not matter, only which there are.
BuiltSubquery build_correlated(ResolvedSelect& select, bool existence_only, const DomainProvider& domain);

/// Casts a plan's columns to these types, in order; the plan itself when they are so already.
NodePtr cast_columns(NodePtr plan, const std::vector<TypePtr>& types, const functions::FunctionContext& context);
NodePtr make_project(NodePtr child, std::vector<ExpressionPtr> expressions, std::vector<std::string> names);
NodePtr make_filter(NodePtr child, const ExpressionPtr& condition);
NodePtr make_values(std::vector<OutputColumn> columns, std::vector<Batch> batches);
NodePtr one_row();

/// Whether a slot of the kind stands anywhere in the expression.
bool mentions(const Expression& expression, const std::vector<Slot>& slots, Slot::Kind kind);
/// Nodes of the expression as a tree, parts that are shared counted each time; stops counting at `cap`.
size_t tree_size(const Expression& expression, size_t cap);
/// Calls f for every column of the expression.
template <typename F>
void for_each_column(const Expression& expression, F&& f) {
    if (expression.kind == Expression::Kind::Column) f(expression);
    for (const ExpressionPtr& argument : expression.arguments) for_each_column(*argument, f);
}
/// A copy in which f(node) replaces a node where it gives non-null; calls whose arguments change type are bound anew.
ExpressionPtr transform(const ExpressionPtr& expression, const std::function<ExpressionPtr(const ExpressionPtr&)>& f,
                        const functions::FunctionContext& context);

}  // namespace firn::plan::analysis
