// One SELECT resolved: WITH, FROM, aliases, then every clause, in the order in which their names become known.
#include <algorithm>
#include <cmath>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

bool ResolvedSelect::correlated() const {
    for (const Slot& slot : scope->slots)
        if (slot.kind == Slot::Kind::Outer) return true;
    return false;
}

namespace {

bool names_table(const sql::Query& query, const std::string& name) {
    if (query.select)
        for (const sql::FromElement& element : query.select->from) {
            if (element.table.kind == sql::TableExpr::Kind::Table && element.table.parts.size() == 1 &&
                element.table.parts[0] == name)
                return true;
            if (element.table.query && names_table(*element.table.query, name)) return true;
        }
    for (const sql::QueryPtr& operand : query.operands)
        if (names_table(*operand, name)) return true;
    return false;
}

/// Resolves one SELECT's clauses into `out`.
class SelectResolver {
public:
    SelectResolver(ResolvedSelect& out_, const sql::SelectQuery& select_)
        : out(out_), scope(*out_.scope), select(select_) {}

    void run() {
        declare_with();
        declare_aliases();
        scope.resolve_from();
        for (auto& [name, alias] : scope.aliases) alias.resolved = nullptr;  // JOIN may have changed types
        flatten_select_list();
        resolve_group_by();
        resolve_where();
        resolve_items();
        if (select.group_by_all) group_by_all();
        if (select.having) out.having = filter(select.having, Clause::Having);
        if (select.qualify) out.qualify = filter(select.qualify, Clause::Qualify);
        resolve_order_by();
        resolve_limits();
        out.has_group_by =
            !select.group_by.empty() || select.group_by_all || select.group_by_modifier != sql::GroupByModifier::None;
        out.aggregated = out.has_group_by || !scope.aggregates.empty() || select.with_totals;
    }

private:
    void declare_with() {
        for (const sql::WithElement& element : select.with) {
            if (!element.query) {
                auto [entry, fresh] =
                    scope.aliases.try_emplace(element.expr->alias.empty() ? element.name : element.expr->alias);
                if (fresh) entry->second.expr = element.expr;
                for (const sql::ExprPtr& argument : element.expr->args) scope.collect_aliases(argument);
                continue;
            }
            Cte cte;
            cte.element = &element;
            cte.scope = &scope;
            cte.recursive = select.with_recursive && names_table(*element.query, element.name);
            scope.ctes.insert_or_assign(element.name, std::move(cte));
        }
    }

    void declare_aliases() {
        for (const sql::ExprPtr& expr : select.select) scope.collect_aliases(expr);
        for (const sql::ExprPtr& expr : {select.prewhere, select.where, select.having, select.qualify})
            scope.collect_aliases(expr);
        for (const sql::ExprPtr& expr : select.group_by) scope.collect_aliases(expr);
        for (const auto& set : select.grouping_sets)
            for (const sql::ExprPtr& expr : set) scope.collect_aliases(expr);
        for (const sql::OrderByElement& element : select.order_by) scope.collect_aliases(element.expr);
        for (const auto& [name, window] : select.windows) scope.named_windows[name] = window;
    }

    struct Flat {
        sql::ExprPtr expr;  // or
        std::optional<SelectItem> item;
    };

    void flatten_select_list() {
        for (const sql::ExprPtr& expr : select.select) {
            const bool matcher =
                expr->is(sql::ExprKind::Asterisk) || expr->is(sql::ExprKind::Columns) || expr->is_function("untuple");
            if (!matcher) {
                list.push_back({expr, std::nullopt});
                continue;
            }
            auto items = scope.expand_matcher(expr);
            for (SelectItem& item : items) list.push_back({nullptr, std::move(item)});
        }
        if (list.empty()) fail(ErrorCode::EMPTY_LIST_OF_COLUMNS_QUERIED, "The list of columns to select is empty");
    }

    ExpressionPtr item_expression(size_t index, Clause clause) {
        if (list[index].item) return list[index].item->expression;
        return scope.resolve(list[index].expr, clause);
    }

    /// The expression, or the select list's n-th when it is a number.
    ExpressionPtr positional(const sql::ExprPtr& expr, Clause clause) {
        const bool number =
            expr->is(sql::ExprKind::Literal) && expr->literal.kind == sql::Literal::Kind::UInt64 && expr->alias.empty();
        if (!number || !scope.flag("enable_positional_arguments", true)) return scope.resolve(expr, clause);
        const uint64_t position = expr->literal.uint64;
        if (position == 0 || position > list.size())
            fail(ErrorCode::BAD_ARGUMENTS, "Positional argument out of bounds: {} (expected in range [1, {}])",
                 position, list.size());
        ExpressionPtr found = item_expression(position - 1, clause);
        if (clause == Clause::GroupBy && (mentions(*found, scope.slots, Slot::Kind::Aggregate)))
            fail(ErrorCode::ILLEGAL_AGGREGATION, "Positional argument {} of GROUP BY names an aggregate function",
                 position);
        return found;
    }

    std::vector<ExpressionPtr> key_expressions(const sql::ExprPtr& expr) {
        if (expr->is(sql::ExprKind::Asterisk) || expr->is(sql::ExprKind::Columns) || expr->is_function("untuple"))
            return scope.resolve_list({expr});
        return {positional(expr, Clause::GroupBy)};
    }

    size_t add_key(const ExpressionPtr& key) {
        for (size_t i = 0; i < out.keys.size(); ++i)
            if (same_expression(*out.keys[i], *key)) return i;
        out.keys.push_back(key);
        return out.keys.size() - 1;
    }

    void resolve_group_by() {
        using Modifier = sql::GroupByModifier;
        scope.group_by_given = !select.group_by.empty() || select.group_by_modifier == Modifier::GroupingSets;
        std::vector<size_t> all;
        for (const sql::ExprPtr& expr : select.group_by)
            for (const ExpressionPtr& key : key_expressions(expr)) all.push_back(add_key(key));
        switch (select.group_by_modifier) {
            case Modifier::None:
                break;
            case Modifier::Rollup:
                for (size_t length = all.size() + 1; length-- > 0;)
                    out.grouping_sets.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
                break;
            case Modifier::Cube:
                if (all.size() > 12) fail(ErrorCode::BAD_ARGUMENTS, "CUBE of {} keys has too many sets", all.size());
                for (size_t mask = size_t{1} << all.size(); mask-- > 0;) {
                    std::vector<size_t> set;
                    for (size_t i = 0; i < all.size(); ++i)
                        if (mask >> (all.size() - 1 - i) & 1) set.push_back(all[i]);
                    out.grouping_sets.push_back(std::move(set));
                }
                break;
            case Modifier::GroupingSets:
                for (const auto& exprs : select.grouping_sets) {
                    std::vector<size_t> set;
                    for (const sql::ExprPtr& expr : exprs)
                        for (const ExpressionPtr& key : key_expressions(expr)) set.push_back(add_key(key));
                    out.grouping_sets.push_back(std::move(set));
                }
                break;
        }
        scope.grouping_keys = out.keys;
        scope.grouping_sets = out.grouping_sets;
    }

    /// The largest parts of the expression without aggregates that read a column.
    void collect_keys(const ExpressionPtr& expression) {
        if (!mentions(*expression, scope.slots, Slot::Kind::Aggregate)) {
            bool reads = false;
            for_each_column(*expression, [&](const Expression&) { reads = true; });
            if (reads) add_key(expression);
            return;
        }
        for (const ExpressionPtr& argument : expression->arguments) collect_keys(argument);
    }

    void group_by_all() {
        for (const SelectItem& item : out.items) collect_keys(item.expression);
        scope.grouping_keys = out.keys;
    }

    ExpressionPtr filter(const sql::ExprPtr& expr, Clause clause) {
        ExpressionPtr condition = scope.resolve(expr, clause);
        const TypeId id = unwrap(condition->type)->id();
        if (!is_number(id) && id != TypeId::Nothing)
            fail(ErrorCode::ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER, "Invalid type for filter: {} has type {}",
                 sql::column_name(*expr), condition->type->name());
        return condition;
    }

    void resolve_where() {
        if (select.prewhere) out.where = filter(select.prewhere, Clause::Prewhere);
        if (!select.where) return;
        ExpressionPtr condition = filter(select.where, Clause::Where);
        out.where = out.where ? scope.call("and", {out.where, condition}) : condition;
    }

    void resolve_items() {
        for (size_t i = 0; i < list.size(); ++i) {
            if (list[i].item) {
                out.items.push_back(*list[i].item);
                continue;
            }
            const sql::ExprPtr& expr = list[i].expr;
            if (!expr->alias.empty()) {
                const auto alias = scope.aliases.find(expr->alias);
                if (alias != scope.aliases.end() && alias->second.conflict)
                    fail(ErrorCode::MULTIPLE_EXPRESSIONS_FOR_ALIAS, "Multiple expressions {} and {} for alias {}",
                         sql::column_name(*alias->second.expr), *alias->second.conflict, expr->alias);
            }
            SelectItem item;
            item.expr = expr;
            item.expression = scope.resolve(expr, Clause::Select);
            item.name = expr->alias.empty() ? scope.projection_name(expr) : expr->alias;
            out.items.push_back(std::move(item));
        }
    }

    void resolve_order_by() {
        if (select.order_by_all) {
            const sql::OrderByElement& element = select.order_by.front();
            for (const SelectItem& item : out.items)
                out.order.push_back({item.expression, element.descending, element.nulls_first.value_or(false),
                                     element.collation, &element});
            return;
        }
        for (const sql::OrderByElement& element : select.order_by) {
            std::vector<ExpressionPtr> expressions;
            if (element.expr->is(sql::ExprKind::Asterisk) || element.expr->is(sql::ExprKind::Columns))
                for (SelectItem& item : scope.expand_matcher(element.expr)) expressions.push_back(item.expression);
            else
                expressions.push_back(positional(element.expr, Clause::OrderBy));
            for (ExpressionPtr& expression : expressions)
                out.order.push_back({std::move(expression), element.descending, element.nulls_first.value_or(false),
                                     element.collation, &element});
        }
    }

    RowBound row_bound(const sql::ExprPtr& expr, std::string_view what) {
        const VectorPtr value = scope.resolve_constant(expr, Clause::Limit, what);
        const TypeId id = unwrap(value->type())->id();
        if (!is_number(id) || value->is_null(0))
            fail(ErrorCode::INVALID_LIMIT_EXPRESSION, "{} must be a number of rows, not of type {}", what,
                 value->type()->name());
        const auto as = [&](TypeId type) {
            return flatten(functions::cast_vector(value, make_type(type), scope.functions()));
        };
        const double number = as(TypeId::Float64)->values<double>()[0];
        RowBound bound;
        if (number == std::floor(number) && std::abs(number) < 1.8e19) {
            bound.from_end = number < 0;
            bound.rows = bound.from_end ? static_cast<uint64_t>(-number) : as(TypeId::UInt64)->values<uint64_t>()[0];
            return bound;
        }
        if (!(number > 0 && number < 1))
            fail(ErrorCode::INVALID_LIMIT_EXPRESSION,
                 "The value {} of {} is neither a number of rows nor a share between 0 and 1", number, what);
        bound.share = number;
        return bound;
    }

    uint64_t row_count(const sql::ExprPtr& expr, std::string_view what) {
        const RowBound bound = row_bound(expr, what);
        if (!bound.plain()) fail(ErrorCode::NOT_IMPLEMENTED, "Negative and fractional {} is not supported", what);
        return bound.rows;
    }

    void resolve_limits() {
        for (const sql::ExprPtr& expr : select.limit_by) {
            if (expr->is(sql::ExprKind::Asterisk) || expr->is(sql::ExprKind::Columns))
                for (SelectItem& item : scope.expand_matcher(expr)) out.limit_by.push_back(item.expression);
            else
                out.limit_by.push_back(positional(expr, Clause::OrderBy));
        }
        if (select.limit_by_all)
            for (const SelectItem& item : out.items) out.limit_by.push_back(item.expression);
        if (select.limit_by_length) out.limit_by_length = row_count(select.limit_by_length, "LIMIT BY");
        if (select.limit_by_offset) out.limit_by_offset = row_count(select.limit_by_offset, "OFFSET");
        const RowBound limit = select.limit ? row_bound(select.limit, "LIMIT") : RowBound{};
        const RowBound offset = select.offset ? row_bound(select.offset, "OFFSET") : RowBound{};
        if (limit.plain() && offset.plain()) {
            if (select.limit) out.limit = limit.rows;
            out.offset = offset.rows;
        } else {
            if (select.limit) out.limit_bound = limit;
            out.offset_bound = offset;
            if (limit.share && offset.from_end)
                fail(ErrorCode::NOT_IMPLEMENTED, "Fractional LIMIT is not supported with negative OFFSET");
        }
        if (select.limit_with_ties && select.order_by.empty())
            fail(ErrorCode::WITH_TIES_WITHOUT_ORDER_BY, "LIMIT WITH TIES needs ORDER BY");
    }

    ResolvedSelect& out;
    Scope& scope;
    const sql::SelectQuery& select;
    std::vector<Flat> list;
};

}  // namespace

std::unique_ptr<ResolvedSelect> resolve_select(Session& session, const sql::SelectQuery& select, Scope* parent,
                                               bool from_subquery) {
    auto resolved = std::make_unique<ResolvedSelect>();
    resolved->scope = std::make_unique<Scope>(session, parent, &select);
    resolved->scope->from_subquery = from_subquery;
    SelectResolver(*resolved, select).run();
    return resolved;
}

}  // namespace firn::plan::analysis
