// SELECT and the set operations over it.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"

namespace firn::sql {
namespace {

constexpr size_t kQueryCost = 11;  // of nesting: a subquery takes as much stack as so many brackets

}  // namespace

// ---- lookahead

/// The distance of the token behind the bracket that closes the one at `ahead`; 0 when it is not closed.
size_t Parser::behind_bracket(size_t ahead) {
    const size_t opening = index_ + ahead;
    if (const auto known = closing_.find(opening); known != closing_.end()) return known->second - index_;
    size_t open = 0;
    for (size_t i = ahead;; ++i) {
        switch (peek(i).type) {
            case TokenType::OpenRound:
                ++open;
                break;
            case TokenType::CloseRound:
                if (--open == 0) {
                    closing_[opening] = index_ + i + 1;
                    return i + 1;
                }
                break;
            case TokenType::Semicolon:
            case TokenType::End:
            case TokenType::Error:
                return 0;
            default:
                break;
        }
    }
}

bool Parser::at_query_start(size_t ahead) {
    const TokenType next = peek(ahead + 1).type;
    if (at_keyword("SELECT", ahead) || at_keyword("WITH", ahead)) {
        return next != TokenType::Comma && next != TokenType::CloseRound && next != TokenType::Dot &&
               next != TokenType::End && next != TokenType::Equals;
    }
    return at_keyword("FROM", ahead) && (at_name(ahead + 1) || next == TokenType::OpenRound);
}

/// Whether a query begins here: SELECT, WITH, FROM, or such a one in brackets that nothing but a set operator follows.
bool Parser::at_query(size_t ahead) {
    size_t brackets = 0;
    while (at(TokenType::OpenRound, ahead + brackets)) ++brackets;
    if (!at_query_start(ahead + brackets)) return false;
    for (size_t i = 0; i < brackets; ++i) {
        const size_t behind = behind_bracket(ahead + i);
        if (behind == 0) return true;  // never closed: the error is better told by the query's parser
        const bool goes_on = at_keyword("UNION", behind) || at_keyword("EXCEPT", behind) ||
                             at_keyword("INTERSECT", behind) || at(TokenType::CloseRound, behind) ||
                             at(TokenType::End, behind) || at(TokenType::Semicolon, behind);
        if (!goes_on) return false;
    }
    return true;
}

// ---- set operations

QueryPtr Parser::parse_parenthesized_query() {
    expect(TokenType::OpenRound, "OpeningRoundBracket");
    QueryPtr query = parse_query();
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return query;
}

QueryPtr Parser::parse_query() {
    Nesting nesting(*this, kQueryCost);
    const uint32_t outer_depth = query_depth_;
    const size_t outer_elements = elements_;
    query_depth_ = 1;
    QueryPtr query = parse_intersect_chain();
    while (true) {
        const bool is_union = at_keyword("UNION");
        expected("UNION");
        expected("EXCEPT");
        if (!is_union && !at_keyword("EXCEPT")) break;
        ++index_;
        const std::string_view mode = accept_any({"ALL", "DISTINCT"});
        const auto base = static_cast<int>(is_union ? SetOperator::UnionDefault : SetOperator::ExceptDefault);
        const auto op = static_cast<SetOperator>(base + (mode == "ALL" ? 1 : mode == "DISTINCT" ? 2 : 0));
        query = combine(op, std::move(query), parse_intersect_chain());
    }
    query->nodes = static_cast<uint32_t>(elements_ - outer_elements) + 1;
    query_depth_ = std::max(outer_depth, query->depth + 1);
    return query;
}

QueryPtr Parser::parse_intersect_chain() {
    QueryPtr query = parse_set_operand();
    while (accept_keyword("INTERSECT")) {
        const std::string_view mode = accept_any({"ALL", "DISTINCT"});
        const auto op = mode == "ALL"        ? SetOperator::IntersectAll
                        : mode == "DISTINCT" ? SetOperator::IntersectDistinct
                                             : SetOperator::IntersectDefault;
        query = combine(op, std::move(query), parse_set_operand());
    }
    return query;
}

QueryPtr Parser::combine(SetOperator op, QueryPtr left, QueryPtr right) {
    if (left->op != op || left->parenthesized) {
        auto query = std::make_shared<Query>();
        query->op = op;
        query->pos = left->pos;
        query->depth = left->depth + 1;
        query->operands.push_back(std::move(left));
        left = std::move(query);
    }
    left->depth = std::max(left->depth, right->depth + 1);
    if (left->depth > max_depth_) fail(ErrorCode::TOO_DEEP_AST, "AST is too deep. Maximum: {}.", max_depth_);
    left->operands.push_back(std::move(right));
    return left;
}

QueryPtr Parser::parse_set_operand() {
    if (at(TokenType::OpenRound)) {
        ++index_;
        QueryPtr query = parse_query();
        expect(TokenType::CloseRound, "ClosingRoundBracket");
        query->parenthesized = true;
        return query;
    }
    auto query = std::make_shared<Query>();
    query->pos = pos();
    // Set operands stand side by side: the depth of one is not that of the next.
    const uint32_t before = query_depth_;
    query_depth_ = 1;
    query->select = parse_select();
    query->depth = query_depth_ + 2;
    query_depth_ = before;
    if (query->depth > max_depth_) fail(ErrorCode::TOO_DEEP_AST, "AST is too deep. Maximum: {}.", max_depth_);
    return query;
}

// ---- SELECT

SelectPtr Parser::parse_select() {
    auto select = std::make_shared<SelectQuery>();
    select->pos = pos();
    parse_with(*select);
    const bool from_first = at_keyword("FROM");
    if (from_first) parse_from(*select);
    expect_keyword("SELECT");
    std::vector<ExprPtr> distinct_on = parse_select_list(*select);
    if (!from_first) parse_from(*select);
    parse_select_tail(*select);
    lower_distinct_on(*select, std::move(distinct_on));
    return select;
}

/// DISTINCT ON (a, b) is LIMIT 1 BY a, b.
void Parser::lower_distinct_on(SelectQuery& select, std::vector<ExprPtr> columns) {
    if (columns.empty()) return;
    if (select.limit_by_length) fail(ErrorCode::SYNTAX_ERROR, "Can not use DISTINCT ON alongside LIMIT BY");
    if (select.limit_with_ties) {
        fail(ErrorCode::LIMIT_BY_WITH_TIES_IS_NOT_SUPPORTED, "Can not use WITH TIES alongside DISTINCT ON");
    }
    select.limit_by_length = finish(make_literal(Literal::from_uint64(1), select.pos));
    select.limit_by = std::move(columns);
}

/// Everything behind FROM.
void Parser::parse_select_tail(SelectQuery& select) {
    if (accept_keyword("PREWHERE")) select.prewhere = parse_expr(Alias::WithAs);
    if (accept_keyword("WHERE")) select.where = parse_expr(Alias::WithAs);
    parse_group_by(select);
    if (accept_keyword("HAVING")) select.having = parse_expr(Alias::WithAs);
    if (accept_keyword("WINDOW")) {
        do {
            std::string name = parse_name();
            expect_keyword("AS");
            expect(TokenType::OpenRound, "OpeningRoundBracket");
            select.windows.emplace_back(std::move(name), parse_window_spec());
            expect(TokenType::CloseRound, "ClosingRoundBracket");
            for (const ExprPtr& expr : select.windows.back().second->partition_by) count_elements(expr ? 1 : 0);
        } while (accept(TokenType::Comma, "Comma"));
    }
    if (accept_keyword("QUALIFY")) select.qualify = parse_expr(Alias::WithAs);
    parse_order_by(select);
    parse_limits(select);
    if (accept_keyword("SETTINGS")) select.settings = parse_settings_list();
}

void Parser::parse_with(SelectQuery& select) {
    if (!accept_keyword("WITH")) return;
    select.with_recursive = accept_keyword("RECURSIVE");
    do {
        select.with.push_back(parse_with_element());
    } while (accept(TokenType::Comma, "Comma"));
}

/// name [(columns)] AS [[NOT] MATERIALIZED] (query
bool Parser::at_cte() {
    if (!at_name()) return false;
    size_t ahead = 1;
    if (at(TokenType::OpenRound, ahead)) {
        ahead = behind_bracket(ahead);
        if (ahead == 0) return false;
    }
    if (!at_keyword("AS", ahead++)) return false;
    if (at_keyword("NOT MATERIALIZED", ahead)) ++ahead;
    if (at_keyword("MATERIALIZED", ahead)) ++ahead;
    return at(TokenType::OpenRound, ahead) && at_query(ahead + 1);
}

WithElement Parser::parse_with_element() {
    WithElement element;
    element.pos = pos();
    if (!at_cte()) {
        element.expr = parse_expr(Alias::WithAs);
        element.name = element.expr->alias;
        return element;
    }
    element.name = parse_name();
    if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
        do {
            element.column_names.push_back(parse_name());
        } while (accept(TokenType::Comma, "Comma"));
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    }
    expect_keyword("AS");
    if (!accept_keyword("NOT MATERIALIZED")) element.materialized = accept_keyword("MATERIALIZED");
    element.query = parse_parenthesized_query();
    return element;
}

std::vector<ExprPtr> Parser::parse_select_list(SelectQuery& select) {
    std::vector<ExprPtr> distinct_on;
    const auto follows_name = [&] {
        return at(TokenType::Comma, 1) || at(TokenType::End, 1) || at(TokenType::Semicolon, 1) || at(TokenType::Dot, 1);
    };
    if (at_keyword("ALL") && !follows_name()) ++index_;
    if (at_keyword("DISTINCT") && !follows_name()) {
        ++index_;
        if (at_keyword("ON") && at(TokenType::OpenRound, 1)) {
            index_ += 2;
            distinct_on = parse_expr_list(Alias::WithAs);
            expect(TokenType::CloseRound, "ClosingRoundBracket");
        } else {
            select.distinct = true;
        }
    }
    if (at_keyword("TOP") && (at(TokenType::Number, 1) || at(TokenType::OpenRound, 1))) {
        ++index_;
        select.limit = parse_postfix(parse_primary());
        if (accept_keyword("WITH TIES")) select.limit_with_ties = true;
    }
    select.select = parse_expr_list(Alias::Any, true);
    return distinct_on;
}

void Parser::parse_group_by(SelectQuery& select) {
    if (accept_keyword("GROUP BY")) {
        if (at_keyword("ALL") && !at(TokenType::Dot, 1) && !at(TokenType::OpenRound, 1)) {
            ++index_;
            select.group_by_all = true;
        } else if (accept_keyword("GROUPING SETS")) {
            select.group_by_modifier = GroupByModifier::GroupingSets;
            expect(TokenType::OpenRound, "OpeningRoundBracket");
            do {
                std::vector<ExprPtr> set;
                if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
                    if (!at(TokenType::CloseRound)) set = parse_expr_list(Alias::WithAs);
                    expect(TokenType::CloseRound, "ClosingRoundBracket");
                } else {
                    set.push_back(parse_expr(Alias::WithAs));
                }
                select.grouping_sets.push_back(std::move(set));
            } while (accept(TokenType::Comma, "Comma"));
            expect(TokenType::CloseRound, "ClosingRoundBracket");
        } else if ((at_keyword("ROLLUP") || at_keyword("CUBE")) && at(TokenType::OpenRound, 1)) {
            select.group_by_modifier = at_keyword("CUBE") ? GroupByModifier::Cube : GroupByModifier::Rollup;
            index_ += 2;
            select.group_by = parse_expr_list(Alias::WithAs);
            expect(TokenType::CloseRound, "ClosingRoundBracket");
        } else {
            select.group_by = parse_expr_list(Alias::WithAs);
        }
        if (accept_keyword("WITH ROLLUP")) select.group_by_modifier = GroupByModifier::Rollup;
        if (accept_keyword("WITH CUBE")) select.group_by_modifier = GroupByModifier::Cube;
    }
    if (accept_keyword("WITH TOTALS")) select.with_totals = true;
}

// ---- ORDER BY, LIMIT

OrderByElement Parser::parse_order_by_element() {
    OrderByElement element;
    element.expr = parse_expr(Alias::WithAs);
    const std::string_view direction = accept_any({"DESC", "DESCENDING", "ASC", "ASCENDING"});
    element.descending = direction.starts_with("DESC");
    if (accept_keyword("NULLS")) {
        const std::string_view where = accept_any({"FIRST", "LAST"});
        if (where.empty()) syntax_error();
        element.nulls_first = where == "FIRST";
    }
    if (accept_keyword("COLLATE")) element.collation = parse_string();
    if (accept_keyword("WITH FILL")) {
        element.with_fill = true;
        if (accept_keyword("FROM")) element.fill_from = parse_expr();
        if (accept_keyword("TO")) element.fill_to = parse_expr();
        if (accept_keyword("STEP")) element.fill_step = parse_expr();
        if (accept_keyword("STALENESS")) element.fill_staleness = parse_expr();
    }
    return element;
}

std::vector<OrderByElement> Parser::parse_order_by_list() {
    std::vector<OrderByElement> list;
    do {
        list.push_back(parse_order_by_element());
    } while (accept(TokenType::Comma, "Comma"));
    return list;
}

void Parser::parse_order_by(SelectQuery& select) {
    if (!accept_keyword("ORDER BY")) return;
    if (at_keyword("ALL") && !at(TokenType::Dot, 1) && !at(TokenType::OpenRound, 1) && !at(TokenType::Comma, 1)) {
        ++index_;
        select.order_by_all = true;
        OrderByElement element;
        element.descending = accept_any({"DESC", "DESCENDING", "ASC", "ASCENDING"}).starts_with("DESC");
        if (accept_keyword("NULLS FIRST")) element.nulls_first = true;
        if (accept_keyword("NULLS LAST")) element.nulls_first = false;
        select.order_by.push_back(std::move(element));
    } else {
        select.order_by = parse_order_by_list();
    }
    if (!accept_keyword("INTERPOLATE")) return;
    select.has_interpolate = true;
    if (!accept(TokenType::OpenRound, "OpeningRoundBracket")) return;
    while (!at(TokenType::CloseRound)) {
        InterpolateElement element;
        const size_t begin = pos();
        element.column = parse_name();
        element.expr = accept_keyword("AS") ? parse_expr() : finish(make_identifier({element.column}, begin));
        select.interpolate.push_back(std::move(element));
        if (!accept(TokenType::Comma, "Comma")) break;
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
}

void Parser::parse_limits(SelectQuery& select) {
    const bool has_top = select.limit != nullptr;
    while (accept_keyword("LIMIT")) {
        if (select.limit && (!has_top || !select.limit_by.empty())) break;
        parse_limit_clause(select, has_top);
        if (select.limit) break;
    }
    if (accept_keyword("OFFSET")) {
        if (select.offset) syntax_error();
        select.offset = parse_expr();
        if (!accept_any({"ROWS", "ROW"}).empty()) parse_fetch(select);
    } else {
        parse_fetch(select);
    }
    if (select.limit_with_ties && select.order_by.empty()) {
        fail(ErrorCode::WITH_TIES_WITHOUT_ORDER_BY, "Can not use WITH TIES without ORDER BY");
    }
}

void Parser::parse_limit_clause(SelectQuery& select, bool has_top) {
    ExprPtr length = parse_expr();
    ExprPtr offset;
    if (accept(TokenType::Comma, "Comma")) {
        offset = std::move(length);
        length = parse_expr();
    } else if (accept_keyword("OFFSET")) {
        offset = parse_expr();
    }
    const bool ties = accept_keyword("WITH TIES");
    if (accept_keyword("BY")) {
        if (ties) fail(ErrorCode::LIMIT_BY_WITH_TIES_IS_NOT_SUPPORTED, "Can not use WITH TIES alongside LIMIT BY");
        if (select.limit_by_length) syntax_error();
        select.limit_by_length = std::move(length);
        select.limit_by_offset = std::move(offset);
        if (at_keyword("ALL") && !at(TokenType::Dot, 1) && !at(TokenType::OpenRound, 1)) {
            ++index_;
            select.limit_by_all = true;
        } else {
            select.limit_by = parse_expr_list(Alias::WithAs);
        }
        return;
    }
    if (has_top) fail(ErrorCode::TOP_AND_LIMIT_TOGETHER, "Can not use TOP and LIMIT together");
    select.limit = std::move(length);
    select.offset = std::move(offset);
    select.limit_with_ties = ties;
}

void Parser::parse_fetch(SelectQuery& select) {
    if (!accept_keyword("FETCH")) return;
    if (select.order_by.empty()) {
        fail(ErrorCode::OFFSET_FETCH_WITHOUT_ORDER_BY, "Can not use OFFSET FETCH clause without ORDER BY");
    }
    if (accept_any({"FIRST", "NEXT"}).empty()) syntax_error();
    if (select.limit) syntax_error("LIMIT and FETCH cannot be used together");
    const bool one = at_keyword("ROW") || at_keyword("ROWS");
    select.limit = one ? finish(make_literal(Literal::from_uint64(1), pos())) : parse_expr();
    if (accept_any({"ROWS", "ROW"}).empty()) syntax_error();
    if (accept_keyword("WITH TIES")) {
        select.limit_with_ties = true;
    } else {
        expect_keyword("ONLY");
    }
}

}  // namespace firn::sql
