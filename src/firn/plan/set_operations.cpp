// Queries as wholes: UNION, INTERSECT, EXCEPT; recursive CTEs; the analyzer's entry points.
#include <algorithm>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

namespace {

struct SetShape {
    NodeKind kind = NodeKind::Union;
    bool all = true;
};

SetShape shape_of(sql::SetOperator op, const std::function<std::optional<std::string>(std::string_view)>& setting) {
    using Op = sql::SetOperator;
    const auto all_by_mode = [&](std::string_view name, std::string_view otherwise) {
        const std::string mode = setting(name).value_or(std::string(otherwise));
        if (mode != "ALL" && mode != "DISTINCT")
            fail(ErrorCode::EXPECTED_ALL_OR_DISTINCT,
                 "Expected ALL or DISTINCT in a query with set operators; setting {} is empty", name);
        return mode == "ALL";
    };
    switch (op) {
        case Op::UnionAll:
            return {NodeKind::Union, true};
        case Op::UnionDistinct:
            return {NodeKind::Union, false};
        case Op::UnionDefault:
            return {NodeKind::Union, all_by_mode("union_default_mode", "")};
        case Op::IntersectAll:
            return {NodeKind::Intersect, true};
        case Op::IntersectDistinct:
            return {NodeKind::Intersect, false};
        case Op::IntersectDefault:
            return {NodeKind::Intersect, all_by_mode("intersect_default_mode", "ALL")};
        case Op::ExceptAll:
            return {NodeKind::Except, true};
        case Op::ExceptDistinct:
            return {NodeKind::Except, false};
        case Op::ExceptDefault:
            return {NodeKind::Except, all_by_mode("except_default_mode", "ALL")};
        case Op::None:
            break;
    }
    fail(ErrorCode::LOGICAL_ERROR, "Not a set operator");
}

bool has_settings(const sql::Query& query, std::string_view name, std::string& value) {
    if (query.select) {
        for (const sql::SettingChange& change : query.select->settings)
            if (change.name == name) {
                value = change.value.text;
                return true;
            }
        return false;
    }
    return !query.operands.empty() && has_settings(*query.operands.back(), name, value);
}

/// All children with the same types and the first one's names; the common type of each column.
void unify_columns(std::vector<NodePtr>& children, const functions::FunctionContext& context) {
    const size_t width = children[0]->output.size();
    std::vector<TypePtr> types;
    for (const NodePtr& child : children)
        if (child->output.size() != width)
            fail(ErrorCode::UNION_ALL_RESULT_STRUCTURES_MISMATCH, "Queries of a set operator have {} and {} columns",
                 width, child->output.size());
    for (size_t i = 0; i < width; ++i) {
        std::vector<TypePtr> candidates;
        bool same = true;
        for (const NodePtr& child : children) {
            candidates.push_back(child->output[i].type);
            same = same && same_type(candidates.back(), candidates.front());
        }
        types.push_back(same ? candidates.front() : functions::common_type(candidates));
    }
    for (NodePtr& child : children) child = cast_columns(std::move(child), types, context);
}

}  // namespace

ResolvedQuery resolve_query(Session& session, const sql::Query& query, Scope* parent, bool from_subquery) {
    if (query.op != sql::SetOperator::None) return resolve_set_operation(session, query, parent, from_subquery);
    ResolvedQuery resolved;
    auto select = resolve_select(session, *query.select, parent, from_subquery);
    if (select->correlated()) {
        for (const SelectItem& item : select->items) resolved.output.push_back({item.name, item.expression->type});
        resolved.select = std::move(select);
        return resolved;
    }
    resolved.plan = build_select(*select, &resolved.totals);
    resolved.output = resolved.plan->output;
    return resolved;
}

ResolvedQuery resolve_set_operation(Session& session, const sql::Query& query, Scope* parent, bool from_subquery) {
    const auto setting = [&](std::string_view name) -> std::optional<std::string> {
        std::string value;
        if (has_settings(query, name, value)) return value;
        if (parent) return parent->setting(name);
        const auto found = session.context.settings.find(name);
        if (found != session.context.settings.end()) return found->second;
        return std::nullopt;
    };
    const SetShape shape = shape_of(query.op, setting);
    std::vector<NodePtr> children;
    for (const sql::QueryPtr& operand : query.operands) {
        ResolvedQuery resolved = resolve_query(session, *operand, parent, from_subquery);
        if (resolved.correlated())
            fail(ErrorCode::NOT_IMPLEMENTED,
                 "Columns of an outer query inside of UNION, INTERSECT or EXCEPT are not supported");
        children.push_back(std::move(resolved.plan));
    }
    unify_columns(children, session.context.functions);
    ResolvedQuery resolved;
    resolved.output = children[0]->output;
    auto node = std::make_unique<SetNode>(shape.kind);
    node->output = resolved.output;
    node->children = std::move(children);
    node->all = shape.all;
    resolved.plan = std::move(node);
    if (shape.kind == NodeKind::Union && !shape.all) {
        static_cast<SetNode&>(*resolved.plan).all = true;
        auto distinct = std::make_unique<DistinctNode>();
        distinct->output = resolved.output;
        distinct->children.push_back(std::move(resolved.plan));
        resolved.plan = std::move(distinct);
    }
    return resolved;
}

NodePtr Scope::recursive_cte_plan(Cte& cte) {
    constexpr size_t kMaxSteps = 1000;
    const sql::Query& query = *cte.element->query;
    if (query.operands.size() != 2 ||
        (query.op != sql::SetOperator::UnionAll && query.op != sql::SetOperator::UnionDefault))
        fail(ErrorCode::UNSUPPORTED_METHOD, "Recursive CTE {} must be UNION ALL of a start and a step",
             cte.element->name);
    if (!session.context.run_subquery)
        fail(ErrorCode::NOT_IMPLEMENTED, "A recursive CTE is computed where no query can be run");
    NodePtr start = query_plan(*query.operands[0], cte.scope);
    std::vector<OutputColumn> columns_of = start->output;
    for (size_t i = 0; i < cte.element->column_names.size() && i < columns_of.size(); ++i)
        columns_of[i].name = cte.element->column_names[i];
    std::vector<TypePtr> types;
    for (const OutputColumn& out : columns_of) types.push_back(out.type);
    const auto plan_step = [&](std::vector<Batch> rows) {
        for (size_t i = 0; i < types.size(); ++i) columns_of[i].type = types[i];
        cte.recursive_columns = columns_of;
        cte.recursive_rows = std::move(rows);
        cte.recursive_ready = true;
        NodePtr next;
        try {
            next = query_plan(*query.operands[1], cte.scope);
        } catch (...) {
            cte.recursive_ready = false;
            throw;
        }
        cte.recursive_ready = false;
        if (next->output.size() != types.size())
            fail(ErrorCode::UNION_ALL_RESULT_STRUCTURES_MISMATCH,
                 "Start and step of recursive CTE {} have {} and {} columns", cte.element->name, types.size(),
                 next->output.size());
        return next;
    };
    // Types that hold what every step gives: n + 1 is wider than n until it is UInt64.
    constexpr size_t kMaxWidenings = 10;
    for (size_t i = 0; i < kMaxWidenings; ++i) {
        const NodePtr next = plan_step({});
        bool wider = false;
        for (size_t j = 0; j < types.size(); ++j) {
            const TypePtr common = functions::common_type(std::vector<TypePtr>{types[j], next->output[j].type});
            wider = wider || !same_type(common, types[j]);
            types[j] = common;
        }
        if (!wider) break;
    }
    std::vector<Batch> all, last = session.context.run_subquery(cast_columns(std::move(start), types, functions()));
    for (size_t step = 0;; ++step) {
        size_t rows = 0;
        for (const Batch& batch : last) rows += batch.rows;
        all.insert(all.end(), last.begin(), last.end());
        if (rows == 0) break;
        if (step == kMaxSteps)
            fail(ErrorCode::TOO_DEEP_RECURSION,
                 "Maximum recursive CTE evaluation depth ({}) exceeded, during evaluation of {}", kMaxSteps,
                 cte.element->name);
        last = session.context.run_subquery(cast_columns(plan_step(std::move(last)), types, functions()));
    }
    return make_values(std::move(columns_of), std::move(all));
}

}  // namespace firn::plan::analysis

namespace firn::plan {

using analysis::ResolvedQuery;
using analysis::Scope;
using analysis::Session;

AnalyzedQuery analyze(const sql::Query& query, const AnalyzerContext& context) {
    Session session(context);
    ResolvedQuery resolved = analysis::resolve_query(session, query, nullptr, false);
    if (resolved.correlated())
        fail(ErrorCode::LOGICAL_ERROR, "A query depends on columns of a query around it, of which there is none");
    AnalyzedQuery analyzed;
    analyzed.columns = resolved.output;
    analyzed.plan = std::move(resolved.plan);
    analyzed.totals = std::move(resolved.totals);
    // `limit` and `offset` as settings cut the whole result.
    const auto number = [&](const char* name) -> uint64_t {
        std::string text;
        if (query.select)
            for (const sql::SettingChange& change : query.select->settings)
                if (change.name == name) text = change.value.text;
        if (text.empty())
            if (const auto found = context.settings.find(std::string_view(name)); found != context.settings.end())
                text = found->second;
        if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 19) return 0;
        return std::stoull(text);
    };
    const uint64_t limit = number("limit"), offset = number("offset");
    if (limit != 0 || offset != 0) {
        auto node = std::make_unique<LimitNode>();
        node->output = analyzed.columns;
        if (limit != 0) node->limit = limit;
        node->offset = offset;
        node->children.push_back(std::move(analyzed.plan));
        analyzed.plan = std::move(node);
    }
    return analyzed;
}

VectorPtr evaluate_constant(const sql::Expr& expr, const AnalyzerContext& context) {
    Session session(context);
    Scope scope(session, nullptr, nullptr);
    return scope.resolve_constant(std::make_shared<sql::Expr>(expr), analysis::Clause::Select, "The value");
}

ExpressionPtr resolve_over_columns(const sql::Expr& expr, const std::vector<OutputColumn>& columns,
                                   const AnalyzerContext& context) {
    Session session(context);
    Scope scope(session, nullptr, nullptr);
    scope.tables.push_back({});
    for (const OutputColumn& column : columns) {
        analysis::Slot slot;
        slot.type = column.type;
        slot.name = column.name;
        const size_t number = scope.add_slot(std::move(slot));
        scope.columns.push_back({column.name, scope.column(number), 0, false, false});
    }
    ExpressionPtr resolved = scope.resolve(std::make_shared<sql::Expr>(expr), analysis::Clause::Where);
    analysis::for_each_column(*resolved, [&](const Expression& column) {
        if (column.index >= columns.size())
            fail(ErrorCode::NOT_IMPLEMENTED, "Subqueries and arrayJoin are not supported here: {}",
                 sql::column_name(expr));
    });
    return resolved;
}

}  // namespace firn::plan
