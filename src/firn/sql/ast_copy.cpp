// Deep copies and comparison of trees.
#include "firn/sql/ast.h"
#include "firn/sql/printer.h"

namespace firn::sql {
namespace {

ExprPtr copy(const ExprPtr& expr) { return expr ? clone(*expr) : nullptr; }

void copy_in_place(ExprPtr& expr) { expr = copy(expr); }

void copy_in_place(std::vector<ExprPtr>& exprs) {
    for (ExprPtr& expr : exprs) copy_in_place(expr);
}

void copy_in_place(OrderByElement& element) {
    copy_in_place(element.expr);
    copy_in_place(element.fill_from);
    copy_in_place(element.fill_to);
    copy_in_place(element.fill_step);
    copy_in_place(element.fill_staleness);
}

void copy_in_place(WindowSpecPtr& spec) {
    if (!spec) return;
    spec = std::make_shared<WindowSpec>(*spec);
    copy_in_place(spec->partition_by);
    for (OrderByElement& element : spec->order_by) copy_in_place(element);
    copy_in_place(spec->begin.offset);
    copy_in_place(spec->end.offset);
}

void copy_in_place(QueryPtr& query) {
    if (query) query = clone(*query);
}

void copy_in_place(TableExpr& table) {
    copy_in_place(table.function);
    copy_in_place(table.query);
    copy_in_place(table.sample);
    copy_in_place(table.sample_offset);
}

void copy_in_place(FromElement& element) {
    copy_in_place(element.table);
    copy_in_place(element.on);
    copy_in_place(element.using_columns);
    copy_in_place(element.array_join);
}

SelectPtr copy(const SelectQuery& from) {
    auto select = std::make_shared<SelectQuery>(from);
    for (WithElement& element : select->with) {
        copy_in_place(element.query);
        copy_in_place(element.expr);
    }
    copy_in_place(select->select);
    for (FromElement& element : select->from) copy_in_place(element);
    copy_in_place(select->prewhere);
    copy_in_place(select->where);
    copy_in_place(select->group_by);
    for (std::vector<ExprPtr>& set : select->grouping_sets) copy_in_place(set);
    copy_in_place(select->having);
    for (auto& window : select->windows) copy_in_place(window.second);
    copy_in_place(select->qualify);
    for (OrderByElement& element : select->order_by) copy_in_place(element);
    for (InterpolateElement& element : select->interpolate) copy_in_place(element.expr);
    copy_in_place(select->limit_by_length);
    copy_in_place(select->limit_by_offset);
    copy_in_place(select->limit_by);
    copy_in_place(select->limit);
    copy_in_place(select->offset);
    return select;
}

bool equal(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
        if (!firn::sql::equal(*a[i], *b[i])) return false;
    }
    return true;
}

/// What windows and transformers are made of is compared by its text.
std::string rest_of(const Expr& expr) {
    Expr shell;
    shell.kind = expr.is(ExprKind::Function) ? ExprKind::Function : ExprKind::Asterisk;
    shell.name = "f";
    shell.is_window = expr.is_window;
    shell.window = expr.window;
    shell.window_name = expr.window_name;
    shell.transformers = expr.transformers;
    shell.settings = expr.settings;
    return format_expr(shell);
}

}  // namespace

ExprPtr clone(const Expr& from) {
    auto expr = std::make_shared<Expr>(from);
    copy_in_place(expr->args);
    copy_in_place(expr->parameters);
    copy_in_place(expr->window);
    for (ColumnsTransformer& transformer : expr->transformers) {
        for (auto& replacement : transformer.replacements) copy_in_place(replacement.second);
        copy_in_place(transformer.parameters);
        copy_in_place(transformer.lambda);
    }
    copy_in_place(expr->query);
    return expr;
}

QueryPtr clone(const Query& from) {
    auto query = std::make_shared<Query>(from);
    if (query->select) query->select = copy(*query->select);
    for (QueryPtr& operand : query->operands) copy_in_place(operand);
    return query;
}

bool equal(const Expr& a, const Expr& b) {
    if (&a == &b) return true;
    const bool same = a.kind == b.kind && a.alias == b.alias && a.parts == b.parts && a.name == b.name &&
                      a.has_parameters == b.has_parameters && a.nulls_action == b.nulls_action &&
                      a.is_window == b.is_window && a.lambda_args == b.lambda_args && a.pattern == b.pattern &&
                      a.type_text == b.type_text;
    if (!same) return false;
    if (a.is(ExprKind::Literal) &&
        (a.literal.kind != b.literal.kind || format_literal(a.literal) != format_literal(b.literal))) {
        return false;
    }
    if (!equal(a.args, b.args) || !equal(a.parameters, b.parameters)) return false;
    if (static_cast<bool>(a.query) != static_cast<bool>(b.query)) return false;
    if (a.query && format_query(*a.query) != format_query(*b.query)) return false;
    const bool more =
        a.is_window || !a.transformers.empty() || !b.transformers.empty() || !a.settings.empty() || !b.settings.empty();
    return !more || rest_of(a) == rest_of(b);
}

}  // namespace firn::sql
