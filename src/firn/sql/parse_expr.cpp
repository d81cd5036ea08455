// Operators, by precedence climbing. The levels are ClickHouse's: -> 1, ?: 2, OR 3, AND 4, NOT 5, IS 6, BETWEEN 7,
// comparisons, LIKE and IN 9, || 10, + - 11, * / % 12, unary minus 13, then . [] :: and AT TIME ZONE.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"
#include "firn/sql/printer.h"

namespace firn::sql {
namespace {

constexpr int kLambda = 1, kTernary = 2, kOr = 3, kAnd = 4, kNot = 5, kIs = 6, kBetween = 7, kComparison = 9,
              kConcat = 10, kPlus = 11, kTimes = 12;

// Words that cannot be an alias without AS, since they go on with the query.
constexpr std::string_view kNoAlias[] = {
    "ALL",    "ANTI",      "ANY",    "ARRAY",    "AS",       "ASOF",   "BETWEEN",  "CROSS",   "ELSE",
    "EXCEPT", "FINAL",     "FORMAT", "FROM",     "FULL",     "GLOBAL", "GROUP",    "HAVING",  "ILIKE",
    "INNER",  "INTERSECT", "INTO",   "JOIN",     "LEFT",     "LIKE",   "LIMIT",    "NATURAL", "NOT",
    "OFFSET", "ON",        "ONLY",   "ORDER",    "PARALLEL", "PASTE",  "PREWHERE", "QUALIFY", "RIGHT",
    "SAMPLE", "SELECT",    "SEMI",   "SETTINGS", "UNION",    "USING",  "WHERE",    "WINDOW",  "WITH",
};

}  // namespace

ExprPtr Parser::operator_call(std::string_view function, std::vector<ExprPtr> args, size_t pos) {
    ExprPtr expr = make_function(std::string(function), std::move(args), pos);
    expr->is_operator = true;
    return finish(std::move(expr));
}

void Parser::parse_alias(Alias alias, std::string& out) {
    if (alias == Alias::None) return;
    if (accept_keyword("AS")) {
        out = parse_name();
        return;
    }
    if (alias != Alias::Any) return;
    if (at(TokenType::QuotedName)) {
        out = parse_name();
        return;
    }
    expected("alias");
    if (!at(TokenType::BareWord)) return;
    for (std::string_view word : kNoAlias) {
        if (equal_ignoring_case(token_text(), word)) return;
    }
    out = parse_name();
}

ExprPtr Parser::parse_expr(Alias alias) {
    ExprPtr expr = parse_operators(0);
    std::string name;
    parse_alias(alias, name);
    if (!name.empty()) expr->alias = std::move(name);
    return expr;
}

std::vector<ExprPtr> Parser::parse_expr_list(Alias alias, bool trailing_comma) {
    std::vector<ExprPtr> list;
    do {
        if (trailing_comma && !list.empty() && (at_keyword("FROM") || at_end())) break;
        list.push_back(parse_expr(alias));
    } while (accept(TokenType::Comma, "Comma"));
    return list;
}

/// What finish() would make of the longer list, without going over all of it again: chains may have many thousands.
void Parser::append_operand(Expr& chain, ExprPtr operand) {
    chain.depth = std::max(chain.depth, operand->depth + 2);
    check_size(chain.depth, uint64_t{chain.nodes} + operand->nodes);
    chain.nodes += operand->nodes;
    query_depth_ = std::max(query_depth_, chain.depth);
    chain.args.push_back(std::move(operand));
}

ExprPtr Parser::parse_operators(int min_precedence) {
    Nesting nesting(*this);
    if (min_precedence <= kLambda && at_lambda()) return parse_lambda();
    ExprPtr left = parse_unary();
    bool mergeable = false;  // `left` was made here, by an operator that may take a further operand
    while (true) {
        const BinaryOperator op = peek_operator();
        if (op.precedence == 0 || op.precedence < min_precedence) return left;
        const size_t operator_pos = pos();
        if (op.kind == BinaryOperator::Kind::Ternary) return parse_ternary(std::move(left));
        index_ += static_cast<size_t>(op.tokens);
        if (op.kind == BinaryOperator::Kind::Between) {
            left = parse_between(std::move(left), op.negated);
            mergeable = false;
            continue;
        }
        if (op.kind == BinaryOperator::Kind::Postfix) {  // IS ...
            std::vector<ExprPtr> args{left};
            if (op.function == "isNotDistinctFrom" || op.function == "isDistinctFrom") {
                args.push_back(finish(make_literal(Literal::from_bool(op.negated), operator_pos)));
            }
            left = operator_call(op.function, std::move(args), left->pos);
            mergeable = false;
            continue;
        }
        if (op.kind == BinaryOperator::Kind::Comparison &&
            (at_keyword("ANY") || at_keyword("ALL") || at_keyword("SOME")) && at(TokenType::OpenRound, 1) &&
            at_query(2)) {
            left = compare_with_subquery(op.function, std::move(left));
            mergeable = false;
            continue;
        }
        ExprPtr right = parse_operators(op.precedence + 1);
        if (op.kind == BinaryOperator::Kind::Mergeable && mergeable && left->name == op.function) {
            append_operand(*left, std::move(right));
        } else {
            const size_t begin = left->pos;
            std::vector<ExprPtr> args;
            args.reserve(2);
            args.push_back(std::move(left));
            args.push_back(std::move(right));
            left = operator_call(op.function, std::move(args), begin);
        }
        mergeable = op.kind == BinaryOperator::Kind::Mergeable;
    }
}

Parser::BinaryOperator Parser::peek_operator() {
    using Kind = BinaryOperator::Kind;
    switch (peek().type) {
        case TokenType::Plus:
            return {"plus", kPlus, 1};
        case TokenType::Minus:
            return {"minus", kPlus, 1};
        case TokenType::Asterisk:
            return {"multiply", kTimes, 1};
        case TokenType::Slash:
            return {"divide", kTimes, 1};
        case TokenType::Percent:
            return {"modulo", kTimes, 1};
        case TokenType::Concat:
            return {"concat", kConcat, 1, Kind::Mergeable};
        case TokenType::Equals:
            return {"equals", kComparison, 1, Kind::Comparison};
        case TokenType::NotEquals:
            return {"notEquals", kComparison, 1, Kind::Comparison};
        case TokenType::Less:
            return {"less", kComparison, 1, Kind::Comparison};
        case TokenType::Greater:
            return {"greater", kComparison, 1, Kind::Comparison};
        case TokenType::LessOrEquals:
            return {"lessOrEquals", kComparison, 1, Kind::Comparison};
        case TokenType::GreaterOrEquals:
            return {"greaterOrEquals", kComparison, 1, Kind::Comparison};
        case TokenType::Spaceship:
            return {"isNotDistinctFrom", kComparison, 1, Kind::Comparison};
        case TokenType::Question:
            return {"if", kTernary, 1, Kind::Ternary};
        case TokenType::BareWord:
            return peek_word_operator();
        default:
            expected("operator");
            return {};
    }
}

Parser::BinaryOperator Parser::peek_word_operator() {
    using Kind = BinaryOperator::Kind;
    struct Word {
        std::string_view keyword;
        BinaryOperator op;
    };
    // The longer of two that begin alike comes first.
    static constexpr Word words[] = {
        {"OR", {"or", kOr, 1, Kind::Mergeable}},
        {"AND", {"and", kAnd, 1, Kind::Mergeable}},
        {"IS NOT NULL", {"isNotNull", kIs, 3, Kind::Postfix}},
        {"IS NULL", {"isNull", kIs, 2, Kind::Postfix}},
        {"IS NOT UNKNOWN", {"isNotNull", kIs, 3, Kind::Postfix}},
        {"IS UNKNOWN", {"isNull", kIs, 2, Kind::Postfix}},
        {"IS NOT TRUE", {"isDistinctFrom", kIs, 3, Kind::Postfix, true}},
        {"IS TRUE", {"isNotDistinctFrom", kIs, 2, Kind::Postfix, true}},
        {"IS NOT FALSE", {"isDistinctFrom", kIs, 3, Kind::Postfix, false}},
        {"IS FALSE", {"isNotDistinctFrom", kIs, 2, Kind::Postfix, false}},
        {"IS NOT DISTINCT FROM", {"isNotDistinctFrom", kIs, 4}},
        {"IS DISTINCT FROM", {"isDistinctFrom", kIs, 3}},
        {"BETWEEN", {"and", kBetween, 1, Kind::Between}},
        {"NOT BETWEEN", {"or", kBetween, 2, Kind::Between, true}},
        {"LIKE", {"like", kComparison, 1}},
        {"NOT LIKE", {"notLike", kComparison, 2}},
        {"ILIKE", {"ilike", kComparison, 1}},
        {"NOT ILIKE", {"notILike", kComparison, 2}},
        {"REGEXP", {"match", kComparison, 1}},
        {"IN", {"in", kComparison, 1}},
        {"NOT IN", {"notIn", kComparison, 2}},
        {"GLOBAL IN", {"globalIn", kComparison, 2}},
        {"GLOBAL NOT IN", {"globalNotIn", kComparison, 3}},
        {"DIV", {"intDiv", kTimes, 1}},
        {"MOD", {"modulo", kTimes, 1}},
    };
    // Most words after an operand are none of these: look at the first letter before comparing.
    const char first = static_cast<char>(token_text()[0] & ~0x20);
    for (const Word& word : words) {
        if (word.keyword[0] == first && at_keyword(word.keyword)) return word.op;
    }
    expected("operator");
    return {};
}

ExprPtr Parser::parse_between(ExprPtr left, bool negated) {
    const size_t begin = left->pos;
    ExprPtr low = parse_operators(kBetween + 1);
    expect_keyword("AND");
    ExprPtr high = parse_operators(kBetween + 1);
    // The operand stands in both comparisons: one node, shared, but to be counted twice.
    count_elements(left->nodes);
    ExprPtr from = operator_call(negated ? "less" : "greaterOrEquals", {left, std::move(low)}, begin);
    ExprPtr to = operator_call(negated ? "greater" : "lessOrEquals", {left, std::move(high)}, begin);
    return operator_call(negated ? "or" : "and", {std::move(from), std::move(to)}, begin);
}

ExprPtr Parser::parse_ternary(ExprPtr condition) {
    const size_t begin = condition->pos;
    expect(TokenType::Question, "Question");
    ExprPtr then = parse_operators(kOr);
    expect(TokenType::Colon, "Colon");
    ExprPtr otherwise = parse_operators(kAnd);
    return finish(make_function("if", {std::move(condition), std::move(then), std::move(otherwise)}, begin));
}

ExprPtr Parser::compare_with_subquery(std::string_view function, ExprPtr left) {
    const bool all = at_keyword("ALL");
    ++index_;
    const size_t subquery_pos = pos();
    QueryPtr query = parse_parenthesized_query();
    const size_t begin = left->pos;
    std::string_view aggregate;  // over the subquery's rows
    if (function == "equals") {
        if (all) aggregate = "singleValueOrNull";
        function = "in";
    } else if (function == "notEquals") {
        if (!all) aggregate = "singleValueOrNull";
        function = "notIn";
    } else if (function == "isNotDistinctFrom") {
        syntax_error("<=> with ANY or ALL is not supported");
    } else {
        const bool less = function == "less" || function == "lessOrEquals";
        aggregate = less == all ? "min" : "max";
    }
    if (!aggregate.empty()) {
        auto asterisk = std::make_shared<Expr>();
        asterisk->kind = ExprKind::Asterisk;
        asterisk->pos = subquery_pos;
        auto select = std::make_shared<SelectQuery>();
        select->pos = subquery_pos;
        select->select.push_back(
            finish(make_function(std::string(aggregate), {finish(std::move(asterisk))}, subquery_pos)));
        FromElement from;
        from.table.kind = TableExpr::Kind::Subquery;
        from.table.pos = subquery_pos;
        from.table.query = query;
        select->from.push_back(std::move(from));
        auto outer = std::make_shared<Query>();
        outer->select = std::move(select);
        outer->pos = subquery_pos;
        outer->depth = query->depth + 3;
        query = std::move(outer);
    }
    return operator_call(function, {std::move(left), subquery_expr(std::move(query), subquery_pos)}, begin);
}

ExprPtr Parser::parse_unary() {
    const size_t begin = pos();
    if (at(TokenType::Plus)) {
        Nesting nesting(*this);
        ++index_;
        return parse_unary();
    }
    if (at(TokenType::Minus)) {
        if (at(TokenType::Number, 1)) {
            if (ExprPtr cast = try_cast_of_literal()) return parse_postfix(std::move(cast));
            ++index_;
            return parse_postfix(parse_number(true));
        }
        Nesting nesting(*this);
        ++index_;
        const bool infinite = (at_keyword("INF") || at_keyword("INFINITY") || at_keyword("NAN")) &&
                              !at(TokenType::OpenRound, 1) && !at(TokenType::Dot, 1);
        ExprPtr operand = parse_unary();
        if (infinite && operand->is(ExprKind::Literal)) {
            Literal negative = Literal::from_float64(-operand->literal.float64);
            return finish(make_literal(std::move(negative), begin));
        }
        return operator_call("negate", {std::move(operand)}, begin);
    }
    if (at_keyword("NOT")) {
        ++index_;
        return operator_call("not", {parse_operators(kNot + 1)}, begin);
    }
    return parse_postfix(parse_primary());
}

ExprPtr Parser::parse_postfix(ExprPtr left) {
    while (true) {
        const size_t begin = left->pos;
        if (at(TokenType::Dot)) {
            ++index_;
            ExprPtr element;
            if (at(TokenType::Number)) {
                element = parse_number(false);
            } else if (at(TokenType::Minus) && at(TokenType::Number, 1)) {
                ++index_;
                element = parse_number(true);
            } else if (at(TokenType::Asterisk)) {
                fail(ErrorCode::NOT_IMPLEMENTED, "Expansion of an expression by .* is not supported");
            } else {
                const size_t name_pos = pos();
                element = string_literal(parse_name(), name_pos);
            }
            left = operator_call("tupleElement", {std::move(left), std::move(element)}, begin);
        } else if (at(TokenType::OpenSquare)) {
            ++index_;
            ExprPtr index = parse_expr(Alias::WithAs);
            expect(TokenType::CloseSquare, "ClosingSquareBracket");
            left = operator_call("arrayElement", {std::move(left), std::move(index)}, begin);
        } else if (at(TokenType::DoubleColon)) {
            ++index_;
            const size_t type_pos = pos();
            std::string type = format_type(*parse_type());
            left = finish(make_function("CAST", {std::move(left), string_literal(std::move(type), type_pos)}, begin));
        } else if (at_keyword("AT TIME ZONE")) {
            index_ += 3;
            ExprPtr zone = parse_primary();
            left = finish(make_function("toTimeZone", {std::move(left), std::move(zone)}, begin));
        } else {
            return left;
        }
    }
}

ExprPtr Parser::string_literal(std::string bytes, size_t pos) {
    return finish(make_literal(Literal::from_string(std::move(bytes)), pos));
}

bool Parser::at_lambda() {
    if (at_name()) return at(TokenType::Arrow, 1);
    if (!at(TokenType::OpenRound)) return false;
    // ( [name {, name}] ) ->
    size_t ahead = 1;
    if (!at(TokenType::CloseRound, ahead)) {
        while (true) {
            if (!at_name(ahead)) return false;
            ++ahead;
            if (at(TokenType::CloseRound, ahead)) break;
            if (!at(TokenType::Comma, ahead)) return false;
            ++ahead;
        }
    }
    return at(TokenType::Arrow, ahead + 1);
}

/// arrayMap(x, y -> x + y, a, b): two names or more before the arrow, all of them arguments of the lambda.
bool Parser::at_bare_lambda() {
    size_t ahead = 0;
    while (at_name(ahead) && at(TokenType::Comma, ahead + 1)) ahead += 2;
    return ahead > 0 && at_name(ahead) && at(TokenType::Arrow, ahead + 1);
}

ExprPtr Parser::parse_bare_lambda() {
    Nesting nesting(*this);
    auto lambda = std::make_shared<Expr>();
    lambda->kind = ExprKind::Lambda;
    lambda->pos = pos();
    do {
        lambda->lambda_args.push_back(parse_name());
    } while (accept(TokenType::Comma, "Comma"));
    expect(TokenType::Arrow, "Arrow");
    lambda->args.push_back(parse_operators(kLambda + 1));
    return finish(std::move(lambda));
}

ExprPtr Parser::parse_lambda() {
    auto lambda = std::make_shared<Expr>();
    lambda->kind = ExprKind::Lambda;
    lambda->pos = pos();
    if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
        while (!accept(TokenType::CloseRound, "ClosingRoundBracket")) {
            if (!lambda->lambda_args.empty()) expect(TokenType::Comma, "Comma");
            lambda->lambda_args.push_back(parse_name());
        }
    } else {
        lambda->lambda_args.push_back(parse_name());
    }
    expect(TokenType::Arrow, "Arrow");
    lambda->args.push_back(parse_operators(kLambda + 1));
    return finish(std::move(lambda));
}

}  // namespace firn::sql
