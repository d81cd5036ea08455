// Subqueries inside of expressions: scalar, EXISTS, IN. Those that use no outer column are run at once where a value is
// wanted; the others become slots that are joined in when the plan is built.
#include <algorithm>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

namespace {

ExpressionPtr boolean(bool value) {
    return make_constant(make_value<uint8_t>(make_type(TypeId::UInt8), value ? 1 : 0));
}

std::vector<Batch> run(Session& session, NodePtr plan) {
    if (!session.context.run_subquery)
        fail(ErrorCode::NOT_IMPLEMENTED, "A subquery's value is needed where no query can be run");
    return session.context.run_subquery(std::move(plan));
}

/// The only column of a query's rows as a constant array.
ExpressionPtr set_of_values(Session& session, NodePtr plan) {
    const TypePtr type = plan->output[0].type;
    VectorBuilder builder(make_array(type));
    for (const Batch& batch : run(session, std::move(plan))) {
        const VectorPtr values = flatten(batch.columns[0]);
        for (size_t i = 0; i < batch.rows; ++i) builder.element().append_from(*values, i);
    }
    builder.end_array();
    return make_constant(builder.finish());
}

}  // namespace

/// (SELECT max(*) FROM (…)), as the parser makes it of `> ALL (…)`: the query inside takes a number too.
static bool compares_with_all(const sql::Query& query) {
    if (!query.select || query.select->select.size() != 1 || query.select->from.size() != 1) return false;
    const sql::Expr& item = *query.select->select[0];
    return item.is(sql::ExprKind::Function) && item.args.size() == 1 && item.args[0]->is(sql::ExprKind::Asterisk) &&
           (item.name == "max" || item.name == "min" || item.name == "singleValueOrNull") &&
           query.select->from[0].table.kind == sql::TableExpr::Kind::Subquery;
}

ExpressionPtr Scope::resolve_scalar_subquery(const sql::Expr& expr) {
    session.subquery_names[&expr] = fmt::format("_subquery_{}", ++session.subquery_count);
    if (compares_with_all(*expr.query)) ++session.subquery_count;
    auto query = std::make_shared<ResolvedQuery>(resolve_query(session, *expr.query, this, false));
    if (query->correlated()) {
        if (!lambdas.empty())
            fail(ErrorCode::NOT_IMPLEMENTED, "A correlated subquery inside of a lambda is not supported");
        if (query->output.size() != 1)
            fail(ErrorCode::NOT_IMPLEMENTED, "A correlated subquery of {} columns in an expression is not supported",
                 query->output.size());
        Slot slot;
        slot.kind = Slot::Kind::Scalar;
        slot.type = make_nullable(query->output[0].type);
        slot.name = query->output[0].name;
        slot.query = std::move(query);
        return column(add_slot(std::move(slot)));
    }
    const std::vector<OutputColumn> output = query->output;
    size_t rows = 0;
    std::vector<VectorPtr> values;
    for (const Batch& batch : run(session, std::move(query->plan))) {
        rows += batch.rows;
        if (rows > 1)
            fail(ErrorCode::INCORRECT_RESULT_OF_SCALAR_SUBQUERY, "Scalar subquery returned more than one row");
        if (batch.rows == 1)
            for (const VectorPtr& value : batch.columns) values.push_back(copy_owned(flatten(value)));
    }
    if (output.size() == 1) {
        const TypePtr type = make_nullable(output[0].type);
        if (rows == 0) {
            if (!accepts_null(*type))
                fail(ErrorCode::INCORRECT_RESULT_OF_SCALAR_SUBQUERY,
                     "Scalar subquery returned no row of type {}, which cannot be NULL", type->name());
            return make_constant(make_null_value(type));
        }
        return make_constant(flatten(functions::cast_vector(values[0], type, functions())));
    }
    std::vector<TypePtr> types;
    std::vector<std::string> names;
    for (const OutputColumn& out : output) {
        types.push_back(out.type);
        names.push_back(out.name);
    }
    if (rows == 0) return make_constant(make_null_value(make_nullable(make_type(TypeId::Nothing))));
    TypePtr tuple_type;
    try {
        tuple_type = make_tuple_type(types, names);
    } catch (const Error&) {  // names that a tuple cannot have, such as one twice
        tuple_type = make_tuple_type(types);
    }
    return make_constant(Vector::tuple(tuple_type, 1, std::move(values)));
}

ExpressionPtr Scope::resolve_exists(const sql::Expr& expr) {
    const sql::Expr& subquery = *expr.args[0];
    session.subquery_names[&subquery] = fmt::format("_subquery_{}", ++session.subquery_count);
    auto query = std::make_shared<ResolvedQuery>(resolve_query(session, *subquery.query, this, false));
    if (query->correlated()) {
        if (!lambdas.empty())
            fail(ErrorCode::NOT_IMPLEMENTED, "A correlated subquery inside of a lambda is not supported");
        Slot slot;
        slot.kind = Slot::Kind::Exists;
        slot.type = make_type(TypeId::UInt8);
        slot.name = "exists";
        slot.query = std::move(query);
        return column(add_slot(std::move(slot)));
    }
    ++session.subquery_count;
    auto limit = std::make_unique<LimitNode>();
    limit->limit = 1;
    limit->output = query->plan->output;
    limit->children.push_back(std::move(query->plan));
    size_t rows = 0;
    for (const Batch& batch : run(session, std::move(limit))) rows += batch.rows;
    session.subquery_names[&expr] = rows > 0 ? "1" : "0";
    return boolean(rows > 0);
}

ExpressionPtr Scope::resolve_in_query(ExpressionPtr left, const sql::Expr& left_expr,
                                      std::shared_ptr<ResolvedQuery> query) {
    if (query->correlated())
        fail(ErrorCode::NOT_IMPLEMENTED, "Correlated subqueries are not supported as IN function arguments yet");
    const size_t width = query->output.size();
    if (!lambdas.empty()) {
        if (width != 1)
            fail(ErrorCode::NOT_IMPLEMENTED, "A subquery of {} columns inside of a lambda is not supported", width);
        return call("in", {std::move(left), set_of_values(session, std::move(query->plan))});
    }
    Slot slot;
    slot.kind = Slot::Kind::InQuery;
    slot.type = make_type(TypeId::UInt8);
    slot.name = "in";
    const TypePtr plain = unwrap(left->type);
    if (width == 1) {
        if (plain->id() == TypeId::Nothing && left->kind == Expression::Kind::Constant) return left;
        if (accepts_null(*left->type)) slot.type = make_nullable(slot.type);
        slot.arguments = {std::move(left)};
    } else if (left_expr.is_function("tuple") && left_expr.args.size() == width) {
        slot.arguments = resolve_list(left_expr.args);
    } else if (plain->id() == TypeId::Tuple && plain->children().size() == width) {
        for (size_t i = 0; i < width; ++i) slot.arguments.push_back(*subcolumn(left, std::to_string(i + 1)));
    }
    if (slot.arguments.size() != width)
        fail(ErrorCode::NUMBER_OF_COLUMNS_DOESNT_MATCH,
             "Number of columns in section IN doesn't match: {} at the left, {} at the right",
             plain->id() == TypeId::Tuple ? plain->children().size() : 1, width);
    slot.query = std::move(query);
    // The rows may be wanted by more than one join.
    auto shared = std::make_unique<CteNode>();
    shared->output = slot.query->plan->output;
    shared->shared = std::make_shared<CteNode::Shared>();
    shared->shared->plan = std::move(slot.query->plan);
    slot.query->plan = std::move(shared);
    return column(add_slot(std::move(slot)));
}

ExpressionPtr Scope::resolve_in(const sql::Expr& expr, bool negated) {
    if (expr.args.size() != 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes two arguments, {} were given", expr.name,
             expr.args.size());
    const sql::Expr& right = *expr.args[1];
    const auto negate_if = [&](ExpressionPtr found) { return negated ? call("not", {std::move(found)}) : found; };
    ExpressionPtr left = resolve_unaliased(*expr.args[0]);
    if (right.is(sql::ExprKind::Subquery)) {
        session.subquery_names[&right] = fmt::format("_subquery_{}", ++session.subquery_count);
        return negate_if(
            resolve_in_query(std::move(left), *expr.args[0],
                             std::make_shared<ResolvedQuery>(resolve_query(session, *right.query, this, false))));
    }
    ExpressionPtr set;
    if (right.is(sql::ExprKind::Identifier)) {
        const bool cte = right.parts.size() == 1 && find_cte(right.parts[0]) != nullptr;
        if (!cte)
            if (auto found = find_identifier(right.parts)) set = *found;
        if (!set) {
            sql::TableExpr table;
            table.parts = right.parts;
            auto query = std::make_shared<ResolvedQuery>();
            TableRows rows;
            try {
                rows = resolve_named_table(table);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::UNKNOWN_TABLE) throw;
                fail_unknown_identifier(right.joined_name());
            }
            if (rows.plan->kind == NodeKind::Scan) {  // without its virtual columns
                std::vector<ExpressionPtr> shown;
                std::vector<std::string> names;
                for (size_t i = 0; i < rows.plan->output.size(); ++i)
                    if (!rows.hidden[i]) {
                        shown.push_back(make_column(i, rows.plan->output[i].type));
                        names.push_back(rows.plan->output[i].name);
                    }
                rows.plan = make_project(std::move(rows.plan), std::move(shown), std::move(names));
            }
            query->output = rows.plan->output;
            query->plan = std::move(rows.plan);
            return negate_if(resolve_in_query(std::move(left), *expr.args[0], std::move(query)));
        }
    } else {
        set = resolve_unaliased(right);
    }
    if (set->kind == Expression::Kind::Constant)
        return call(negated ? "notIn" : "in", {std::move(left), std::move(set)});
    if (right.is_function("tuple") || right.is_function("array")) {
        ExpressionPtr any;
        for (const ExpressionPtr& element : resolve_list(right.args)) {
            ExpressionPtr equal = call("equals", {left, element});
            any = any ? call("or", {any, equal}) : equal;
        }
        if (any) return negate_if(std::move(any));
    }
    if (unwrap(set->type)->id() == TypeId::Array) return negate_if(call("has", {std::move(set), std::move(left)}));
    return negate_if(call("equals", {std::move(left), std::move(set)}));
}

}  // namespace firn::plan::analysis
