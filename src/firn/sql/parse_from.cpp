// FROM: tables, functions, subqueries, and how they are joined.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"

namespace firn::sql {

void Parser::parse_from(SelectQuery& select) {
    if (accept_keyword("FROM")) {
        select.from = parse_from_elements();
        return;
    }
    FromElement element;  // SELECT ... ARRAY JOIN, without FROM
    while (parse_array_join(element)) {
        select.from.push_back(std::move(element));
        element = FromElement();
    }
}

std::vector<FromElement> Parser::parse_from_elements() {
    std::vector<FromElement> from;
    FromElement first;
    first.pos = pos();
    first.table = parse_table_expr();
    from.push_back(std::move(first));
    while (true) {
        FromElement element;
        element.pos = pos();
        if (!parse_array_join(element) && !parse_join(element)) break;
        from.push_back(std::move(element));
        count_elements(1);
    }
    return from;
}

bool Parser::parse_array_join(FromElement& element) {
    expected("ARRAY JOIN");
    const bool left = at_keyword("LEFT ARRAY JOIN");
    if (!left && !at_keyword("ARRAY JOIN") && !at_keyword("INNER ARRAY JOIN")) return false;
    element.kind = FromElement::Kind::ArrayJoin;
    element.pos = pos();
    element.left_array_join = left;
    index_ += at_keyword("ARRAY JOIN") ? 2 : 3;
    element.array_join = parse_expr_list(Alias::WithAs);
    return true;
}

namespace {

JoinStrictness strictness_of(std::string_view word) {
    if (word == "ANY") return JoinStrictness::Any;
    if (word == "ALL") return JoinStrictness::All;
    if (word == "ASOF") return JoinStrictness::Asof;
    if (word == "SEMI") return JoinStrictness::Semi;
    if (word == "ANTI" || word == "ONLY") return JoinStrictness::Anti;
    return JoinStrictness::Unspecified;
}

}  // namespace

bool Parser::parse_join(FromElement& element) {
    element.kind = FromElement::Kind::Join;
    if (accept(TokenType::Comma, "Comma")) {
        element.join_kind = JoinKind::Comma;
        element.table = parse_table_expr();
        return true;
    }
    const size_t start = index_;
    if (accept_keyword("GLOBAL")) {
        element.global = true;
    } else {
        accept_keyword("LOCAL");
    }
    if (at_keyword("NATURAL"))
        fail(ErrorCode::NOT_IMPLEMENTED, "NATURAL JOIN is not supported, name the columns by USING");
    std::string_view strictness = accept_any({"ANY", "ALL", "ASOF", "SEMI", "ANTI", "ONLY"});
    const std::string_view kind = accept_any({"INNER", "LEFT", "RIGHT", "FULL", "CROSS", "PASTE"});
    if (kind == "LEFT" || kind == "RIGHT" || kind == "FULL") accept_keyword("OUTER");
    if (strictness.empty() && !kind.empty()) strictness = accept_any({"ANY", "ALL", "ASOF", "SEMI", "ANTI", "ONLY"});
    if (!accept_keyword("JOIN")) {
        if (index_ != start) syntax_error();
        return false;
    }
    element.strictness = strictness_of(strictness);
    element.join_kind = kind == "LEFT"    ? JoinKind::Left
                        : kind == "RIGHT" ? JoinKind::Right
                        : kind == "FULL"  ? JoinKind::Full
                        : kind == "CROSS" ? JoinKind::Cross
                        : kind == "PASTE" ? JoinKind::Paste
                                          : JoinKind::Inner;
    const bool half = element.strictness == JoinStrictness::Semi || element.strictness == JoinStrictness::Anti;
    if (half && kind.empty()) element.join_kind = JoinKind::Left;
    if (half && element.join_kind != JoinKind::Left && element.join_kind != JoinKind::Right) {
        fail(ErrorCode::SYNTAX_ERROR, "SEMI|ANTI JOIN should be LEFT or RIGHT.");
    }
    if (element.join_kind == JoinKind::Full && element.strictness == JoinStrictness::Any) {
        fail(ErrorCode::NOT_IMPLEMENTED, "ANY FULL JOINs are not implemented");
    }
    element.table = parse_table_expr();
    parse_join_condition(element);
    return true;
}

void Parser::parse_join_condition(FromElement& element) {
    if (element.join_kind == JoinKind::Cross || element.join_kind == JoinKind::Paste) return;
    if (accept_keyword("ON")) {
        element.on = parse_expr(Alias::WithAs);
        return;
    }
    expect_keyword("USING");
    element.has_using = true;
    if (at(TokenType::Asterisk)) {
        ++index_;
        element.using_all = true;
    } else if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
        if (!at(TokenType::CloseRound)) element.using_columns = parse_expr_list(Alias::WithAs);
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    } else {
        element.using_columns = parse_expr_list(Alias::WithAs);
    }
}

/// SELECT * FROM ..., which joins in brackets and VALUES are short for.
QueryPtr Parser::select_all_from(std::vector<FromElement> from, size_t pos) {
    auto asterisk = std::make_shared<Expr>();
    asterisk->kind = ExprKind::Asterisk;
    asterisk->pos = pos;
    auto query = std::make_shared<Query>();
    query->pos = pos;
    query->select = std::make_shared<SelectQuery>();
    query->select->pos = pos;
    query->select->select.push_back(finish(std::move(asterisk)));
    query->select->from = std::move(from);
    return query;
}

TableExpr Parser::parse_table_expr() {
    Nesting nesting(*this, 4);
    TableExpr table;
    table.pos = pos();
    if (at(TokenType::OpenRound)) {
        table.kind = TableExpr::Kind::Subquery;
        if (at_query(1)) {
            table.query = parse_parenthesized_query();
        } else {
            if (at_keyword("EXPLAIN", 1) && at_name(2)) {
                fail(ErrorCode::NOT_IMPLEMENTED, "EXPLAIN as a subquery is not supported");
            }
            ++index_;
            const uint32_t outer_depth = query_depth_;
            const size_t outer_elements = elements_;
            query_depth_ = 1;
            std::vector<FromElement> from;
            if (at_keyword("VALUES") && at(TokenType::OpenRound, 1)) {
                FromElement values;
                values.table.kind = TableExpr::Kind::Function;
                values.table.pos = pos();
                ++index_;
                values.table.function =
                    finish(make_function("SQLStandardValues", parse_expr_list(Alias::None), values.table.pos));
                from.push_back(std::move(values));
            } else {
                from = parse_from_elements();
            }
            table.query = select_all_from(std::move(from), table.pos);
            table.query->depth = query_depth_ + 2;
            table.query->nodes = static_cast<uint32_t>(elements_ - outer_elements) + 1;
            query_depth_ = std::max(outer_depth, query_depth_ + 3);
            if (query_depth_ > max_depth_) fail(ErrorCode::TOO_DEEP_AST, "AST is too deep. Maximum: {}.", max_depth_);
            expect(TokenType::CloseRound, "ClosingRoundBracket");
        }
    } else if (at(TokenType::OpenCurly)) {
        table.kind = TableExpr::Kind::Parameter;
        table.function = parse_parameter();
    } else {
        expected("table");
        if (at(TokenType::String)) {  // FROM 'name'
            const size_t start = index_;
            table.parts = {parse_string()};
            if (table.parts[0].empty()) {
                index_ = start;
                syntax_error();
            }
        } else {
            table.parts = parse_compound_name();
        }
        if (at(TokenType::OpenRound)) {
            table.kind = TableExpr::Kind::Function;
            const std::string name = make_identifier(std::move(table.parts))->joined_name();
            table.parts.clear();
            table.function = finish_table_function(name, table.pos);
        }
    }
    if (accept_keyword("FINAL")) table.final = true;
    parse_alias(Alias::Any, table.alias);
    if (!table.alias.empty() && accept(TokenType::OpenRound, "OpeningRoundBracket")) {
        do {
            table.column_aliases.push_back(parse_name());
        } while (accept(TokenType::Comma, "Comma"));
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    }
    if (accept_keyword("FINAL")) table.final = true;
    if (accept_keyword("SAMPLE")) {
        constexpr int ratio = 10;
        table.sample = parse_operators(ratio);
        if (accept_keyword("OFFSET")) table.sample_offset = parse_operators(ratio);
    }
    return table;
}

ExprPtr Parser::finish_table_function(std::string_view name, size_t pos) {
    ExprPtr call = make_function(std::string(name), {}, pos);
    parse_arguments(*call);
    return finish(std::move(call));
}

}  // namespace firn::sql
