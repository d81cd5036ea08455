// Operands: literals, brackets, names, function calls, asterisks.
#include <algorithm>
#include <limits>

#include "firn/base/error.h"
#include "firn/sql/number.h"
#include "firn/sql/parser_impl.h"
#include "firn/sql/printer.h"

namespace firn::sql {

// ---- literals

bool Parser::try_literal(Literal& out) {
    const size_t start = index_;
    bool good = false;
    switch (peek().type) {
        case TokenType::Number:
            good = read_number(token_text(), false, out);
            ++index_;
            break;
        case TokenType::Minus:
        case TokenType::Plus:
            if (at(TokenType::Number, 1)) {
                good = read_number(token_text(1), at(TokenType::Minus), out);
                index_ += 2;
            } else if (at(TokenType::Minus) && (at_keyword("INF", 1) || at_keyword("INFINITY", 1))) {
                out = Literal::from_float64(-std::numeric_limits<double>::infinity());
                good = true;
                index_ += 2;
            }
            break;
        case TokenType::String:
            out.kind = Literal::Kind::String;
            good = decode_string(token_text(), out.text);
            ++index_;
            break;
        case TokenType::OpenSquare:
        case TokenType::OpenRound:
            good = try_literal_list(out);
            break;
        case TokenType::BareWord:
            good = true;
            if (at_keyword("NULL")) {
                out = Literal::null();
            } else if (at_keyword("TRUE") || at_keyword("FALSE")) {
                out = Literal::from_bool(at_keyword("TRUE"));
            } else if (at_keyword("INF") || at_keyword("INFINITY")) {
                out = Literal::from_float64(std::numeric_limits<double>::infinity());
            } else if (at_keyword("NAN")) {
                out = Literal::from_float64(std::numeric_limits<double>::quiet_NaN());
            } else {
                good = false;
            }
            if (good) ++index_;
            break;
        default:
            break;
    }
    if (!good) index_ = start;
    return good;
}

/// [1, 'a', [2]] or (1, 2) whose elements are all literals. A tuple has two elements or more: (1) is 1.
bool Parser::try_literal_list(Literal& out) {
    Nesting nesting(*this);
    const size_t start = index_;
    if (not_literals_.contains(start)) return false;
    // A list inside of one that is not all literals is tried again on its own: what fails is remembered.
    const auto not_a_literal = [&] {
        not_literals_.insert(start);
        return false;
    };
    const bool array = at(TokenType::OpenSquare);
    const TokenType close = array ? TokenType::CloseSquare : TokenType::CloseRound;
    ++index_;
    out.kind = array ? Literal::Kind::Array : Literal::Kind::Tuple;
    out.text.clear();
    out.elements.clear();
    if (array && at(close)) {
        ++index_;
        return true;
    }
    while (true) {
        Literal element;
        if (!try_literal(element)) return not_a_literal();
        out.elements.push_back(std::move(element));
        if (at(close)) break;
        if (!at(TokenType::Comma)) return not_a_literal();
        ++index_;
    }
    ++index_;
    return array || out.elements.size() > 1 || not_a_literal();
}

ExprPtr Parser::parse_number(bool negative) {
    const size_t begin = negative ? tokens_[index_ - 1].begin : pos();
    Literal literal;
    if (!read_number(token_text(), negative, literal)) {
        expected("number");
        syntax_error();
    }
    ++index_;
    return finish(make_literal(std::move(literal), begin));
}

/// How many tokens make up a literal whose text `::` may take as it stands: -1, 'a', [1, (2, 'b')]; 0 when none.
size_t Parser::cast_literal_tokens() {
    if (at(TokenType::Number) || at(TokenType::String)) return 1;
    if (at(TokenType::Minus)) return at(TokenType::Number, 1) ? 2 : 0;
    if (not_cast_literals_.contains(index_)) return 0;
    std::vector<size_t> open;  // tokens of the brackets
    TokenType last = TokenType::Comma;
    for (size_t ahead = 0;; ++ahead) {
        const TokenType type = peek(ahead).type;
        const bool starts = last == TokenType::Comma || last == TokenType::OpenRound || last == TokenType::OpenSquare;
        bool good = false;
        switch (type) {
            case TokenType::OpenRound:
            case TokenType::OpenSquare:
                good = starts;
                open.push_back(index_ + ahead);
                break;
            case TokenType::CloseRound:
            case TokenType::CloseSquare: {
                const TokenType wanted = type == TokenType::CloseRound ? TokenType::OpenRound : TokenType::OpenSquare;
                good = tokens_[open.back()].type == wanted && last != TokenType::Comma && last != TokenType::Minus;
                if (good) open.pop_back();
                break;
            }
            case TokenType::Comma:
                good = !starts && last != TokenType::Minus;
                break;
            case TokenType::Number:
                good = starts || last == TokenType::Minus;
                break;
            case TokenType::String:
            case TokenType::Minus:
                good = starts;
                break;
            default:
                break;
        }
        if (!good) {
            // Nor is any of those still open.
            not_cast_literals_.insert(open.begin(), open.end());
            return 0;
        }
        last = type;
        if (open.empty()) return ahead + 1;
    }
}

ExprPtr Parser::try_cast_of_literal() {
    const size_t count = cast_literal_tokens();
    if (count == 0 || !at(TokenType::DoubleColon, count)) return nullptr;
    const size_t begin = pos();
    std::string value;
    if (at(TokenType::String)) {
        if (!decode_string(token_text(), value)) return nullptr;
    } else {
        value = text_.substr(begin, peek(count - 1).end - begin);
    }
    index_ += count + 1;
    const size_t type_pos = pos();
    std::string type = format_type(*parse_type());
    return finish(make_function(
        "CAST", {string_literal(std::move(value), begin), string_literal(std::move(type), type_pos)}, begin));
}

// ---- operands

ExprPtr Parser::parse_primary() {
    const size_t begin = pos();
    switch (peek().type) {
        case TokenType::Number:
            if (ExprPtr cast = try_cast_of_literal()) return cast;
            return parse_number(false);
        case TokenType::String: {
            if (ExprPtr cast = try_cast_of_literal()) return cast;
            return string_literal(parse_string(), begin);
        }
        case TokenType::OpenRound:
            if (ExprPtr cast = try_cast_of_literal()) return cast;
            return parse_round();
        case TokenType::OpenSquare:
            if (ExprPtr cast = try_cast_of_literal()) return cast;
            return parse_square();
        case TokenType::OpenCurly:
            return parse_parameter();
        case TokenType::Asterisk:
            ++index_;
            return parse_asterisk({}, begin);
        case TokenType::DoubleAt:
            return parse_global_variable();
        case TokenType::BareWord:
            return parse_word();
        case TokenType::QuotedName:
            return parse_identifier();
        default:
            expected("expression");
            syntax_error();
    }
}

ExprPtr Parser::subquery_expr(QueryPtr query, size_t pos) {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Subquery;
    expr->pos = pos;
    expr->query = std::move(query);
    return finish(std::move(expr));
}

ExprPtr Parser::parse_round() {
    Nesting nesting(*this, 4);
    const size_t begin = pos();
    if (at_query(1)) return subquery_expr(parse_parenthesized_query(), begin);
    const size_t start = index_;
    Literal literal;
    if (try_literal(literal)) return finish(make_literal(std::move(literal), begin));
    index_ = start + 1;
    std::vector<ExprPtr> elements;
    bool comma = false;
    while (!at(TokenType::CloseRound)) {
        elements.push_back(parse_expr(Alias::WithAs));
        comma = accept(TokenType::Comma, "Comma");
        if (!comma) break;
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    if (elements.size() == 1 && !comma) {
        elements[0]->parenthesized = true;
        return elements[0];
    }
    return operator_call("tuple", std::move(elements), begin);
}

ExprPtr Parser::parse_square() {
    const size_t begin = pos();
    const size_t start = index_;
    Literal literal;
    if (try_literal(literal)) return finish(make_literal(std::move(literal), begin));
    index_ = start + 1;
    Nesting nesting(*this);
    std::vector<ExprPtr> elements;
    while (!at(TokenType::CloseSquare)) {
        elements.push_back(parse_expr(Alias::WithAs));
        if (!accept(TokenType::Comma, "Comma")) break;
    }
    expect(TokenType::CloseSquare, "ClosingSquareBracket");
    return operator_call("array", std::move(elements), begin);
}

ExprPtr Parser::parse_parameter() {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Parameter;
    expr->pos = pos();
    ++index_;
    expr->name = parse_name("substitution name (identifier)");
    expect(TokenType::Colon, "Colon");
    expr->type_text = format_type(*parse_type());
    expect(TokenType::CloseCurly, "ClosingCurlyBrace");
    return finish(std::move(expr));
}

ExprPtr Parser::parse_global_variable() {
    const size_t begin = pos();
    ++index_;
    std::string name = parse_name();
    while (accept(TokenType::Dot, "Dot")) name = parse_name();  // @@session.x
    ExprPtr expr = make_function("globalVariable", {string_literal(name, begin)}, begin);
    expr->alias = "@@" + name;
    return finish(std::move(expr));
}

ExprPtr Parser::parse_word() {
    const size_t begin = pos();
    Literal literal;
    if (try_literal(literal)) return finish(make_literal(std::move(literal), begin));
    if (ExprPtr special = try_special(token_text())) return special;
    return parse_identifier();
}

ExprPtr Parser::parse_identifier() {
    const size_t begin = pos();
    bool quoted = false;  // the last part
    std::vector<std::string> parts;
    while (true) {
        quoted = at(TokenType::QuotedName);
        parts.push_back(parse_name());
        if (!at(TokenType::Dot)) break;
        if (at(TokenType::Asterisk, 1)) {
            index_ += 2;
            return parse_asterisk(std::move(parts), begin);
        }
        // Subcolumns of JSON: a.^b (an object), a.:Int64 (a type).
        while (at(TokenType::Dot) && (at(TokenType::Caret, 1) || at(TokenType::Colon, 1)) && at_name(2)) {
            const char sign = at(TokenType::Caret, 1) ? '^' : ':';
            index_ += 2;
            parts.push_back(sign + ("`" + parse_name() + "`"));
        }
        if (!at(TokenType::Dot) || !at_name(1)) break;
        ++index_;
    }
    if (at(TokenType::OpenRound)) {
        if (!quoted && equal_ignoring_case(parts.back(), "COLUMNS")) {
            std::vector<std::string> qualifier(parts.begin(), parts.end() - 1);
            if (ExprPtr columns = parse_columns(std::move(qualifier), begin)) return columns;
        }
        ExprPtr name = make_identifier(std::move(parts));
        return parse_call(name->joined_name(), begin);
    }
    if (parts.size() > 1 && at(TokenType::OpenSquare) && at(TokenType::CloseSquare, 1)) {  // a.b[]: arrays of JSON
        index_ += 2;
        parts.push_back(":`Array(JSON)`");
    }
    return finish(make_identifier(std::move(parts), begin));
}

// ---- calls

ExprPtr Parser::parse_call(std::string name, size_t pos) {
    // So many calls inside each other will be too deep a tree: said before the stack is used.
    constexpr size_t most_calls = 485;
    if (++open_calls_ > std::min<size_t>(most_calls, max_depth_ / 2))
        fail(ErrorCode::TOO_DEEP_AST, "AST is too deep. Maximum: {}.", max_depth_);
    Nesting nesting(*this);
    ExprPtr call = make_function(std::move(name), {}, pos);
    parse_arguments(*call);
    if (at(TokenType::OpenRound)) {
        call->parameters = std::move(call->args);
        call->args.clear();
        call->has_parameters = true;
        parse_arguments(*call);
    }
    parse_call_suffix(*call);
    --open_calls_;
    return finish(std::move(call));
}

void Parser::parse_arguments(Expr& call) {
    expect(TokenType::OpenRound, "OpeningRoundBracket");
    const bool single = at(TokenType::Comma, 1) || at(TokenType::CloseRound, 1);
    if (at_keyword("DISTINCT") && !single) {
        ++index_;
        call.name += "Distinct";
    } else if (at_keyword("ALL") && !single) {
        ++index_;
    }
    if (at_query() && (equal_ignoring_case(call.name, "view") || equal_ignoring_case(call.name, "viewExplain"))) {
        const size_t begin = pos();
        call.args.push_back(subquery_expr(parse_query(), begin));
        expect(TokenType::CloseRound, "ClosingRoundBracket");
        return;
    }
    if (at_bare_lambda()) {
        call.args.push_back(parse_bare_lambda());
        if (!accept(TokenType::Comma, "Comma") && !at(TokenType::CloseRound)) syntax_error();
    }
    while (!at(TokenType::CloseRound)) {
        if (at_keyword("SETTINGS") && at_name(1) && at(TokenType::Equals, 2)) {
            ++index_;
            for (SettingChange& change : parse_settings_list()) {
                call.settings.emplace_back(std::move(change.name), std::move(change.value));
            }
            break;
        }
        call.args.push_back(parse_expr(Alias::WithAs));
        if (!accept(TokenType::Comma, "Comma")) {
            if (at_keyword("SETTINGS")) continue;
            break;
        }
        if (at(TokenType::CloseRound)) syntax_error();
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
}

void Parser::parse_call_suffix(Expr& call) {
    auto nulls = [&] {
        if (accept_keyword("RESPECT NULLS")) call.nulls_action = NullsAction::Respect;
        if (accept_keyword("IGNORE NULLS")) call.nulls_action = NullsAction::Ignore;
    };
    nulls();
    if (at_keyword("FILTER") && at(TokenType::OpenRound, 1) && at_keyword("WHERE", 2)) {
        index_ += 3;
        call.name += "If";
        call.args.push_back(parse_expr());
        expect(TokenType::CloseRound, "ClosingRoundBracket");
        nulls();
    }
    if (!at_keyword("OVER") || !(at(TokenType::OpenRound, 1) || at_name(1))) return;
    ++index_;
    call.is_window = true;
    if (at(TokenType::OpenRound)) {
        ++index_;
        call.window = parse_window_spec();
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    } else {
        call.window_name = parse_name();
    }
}

ExprPtr Parser::parse_function_call() {
    const size_t begin = pos();
    std::string name = parse_name();
    return parse_call(std::move(name), begin);
}

WindowSpecPtr Parser::parse_window_spec() {
    auto spec = std::make_shared<WindowSpec>();
    const bool clause = at_keyword("PARTITION BY") || at_keyword("ORDER BY") || at_keyword("ROWS") ||
                        at_keyword("RANGE") || at_keyword("GROUPS");
    if (at_name() && !clause) spec->parent = parse_name();
    if (accept_keyword("PARTITION BY")) spec->partition_by = parse_expr_list(Alias::WithAs);
    if (accept_keyword("ORDER BY")) spec->order_by = parse_order_by_list();
    parse_frame(*spec);
    return spec;
}

void Parser::parse_frame(WindowSpec& spec) {
    const std::string_view word = accept_any({"ROWS", "RANGE", "GROUPS"});
    if (word.empty()) return;
    spec.has_frame = true;
    spec.frame_type = word == "ROWS"    ? WindowSpec::FrameType::Rows
                      : word == "RANGE" ? WindowSpec::FrameType::Range
                                        : WindowSpec::FrameType::Groups;
    if (accept_keyword("BETWEEN")) {
        spec.begin = parse_frame_bound();
        expect_keyword("AND");
        spec.end = parse_frame_bound();
    } else {
        spec.begin = parse_frame_bound();
        spec.end = FrameBound{FrameBound::Kind::CurrentRow, false, nullptr};
    }
}

FrameBound Parser::parse_frame_bound() {
    FrameBound bound;
    if (accept_keyword("CURRENT ROW")) {
        bound.kind = FrameBound::Kind::CurrentRow;
        bound.preceding = false;
        return bound;
    }
    if (!accept_keyword("UNBOUNDED")) {
        bound.kind = FrameBound::Kind::Offset;
        constexpr int above_and = 5;
        bound.offset = parse_operators(above_and);
    }
    const std::string_view direction = accept_any({"PRECEDING", "FOLLOWING"});
    if (direction.empty()) syntax_error();
    bound.preceding = direction == "PRECEDING";
    return bound;
}

// ---- asterisks

ExprPtr Parser::parse_asterisk(std::vector<std::string> qualifier, size_t pos) {
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Asterisk;
    expr->pos = pos;
    expr->parts = std::move(qualifier);
    parse_transformers(*expr);
    return finish(std::move(expr));
}

/// COLUMNS('regexp') or COLUMNS(a, b); null when the arguments are something else, which makes it a function's name.
ExprPtr Parser::parse_columns(std::vector<std::string> qualifier, size_t pos) {
    const size_t start = index_;
    auto expr = std::make_shared<Expr>();
    expr->kind = ExprKind::Columns;
    expr->pos = pos;
    expr->parts = std::move(qualifier);
    ++index_;
    if (at(TokenType::String)) {
        expr->pattern = parse_string();
    } else {
        while (at_name()) {
            const size_t name_pos = this->pos();
            expr->args.push_back(finish(make_identifier(parse_compound_name(), name_pos)));
            if (!at(TokenType::Comma)) break;
            ++index_;
        }
    }
    if (!at(TokenType::CloseRound) || (!expr->pattern && expr->args.empty())) {
        index_ = start;
        return nullptr;
    }
    ++index_;
    parse_transformers(*expr);
    return finish(std::move(expr));
}

void Parser::parse_transformers(Expr& expr) {
    while (parse_transformer(expr)) {
    }
}

bool Parser::parse_transformer(Expr& expr) {
    ColumnsTransformer transformer;
    auto in_brackets = [&](auto&& parse_one) {
        const bool brackets = accept(TokenType::OpenRound, "OpeningRoundBracket");
        do {
            parse_one();
        } while (brackets && accept(TokenType::Comma, "Comma"));
        if (brackets) expect(TokenType::CloseRound, "ClosingRoundBracket");
    };
    if (at_keyword("EXCEPT") && !at_query(1) && !at_keyword("ALL", 1) && !at_keyword("DISTINCT", 1) &&
        !(at(TokenType::OpenRound, 1) && at_query(2))) {
        ++index_;
        transformer.kind = ColumnsTransformer::Kind::Except;
        transformer.strict =
            at_keyword("STRICT") && (at_name(1) || at(TokenType::OpenRound, 1)) && accept_keyword("STRICT");
        if (at(TokenType::String) || (at(TokenType::OpenRound) && at(TokenType::String, 1))) {
            const bool brackets = accept(TokenType::OpenRound, "OpeningRoundBracket");
            transformer.except_pattern = parse_string();
            if (brackets) expect(TokenType::CloseRound, "ClosingRoundBracket");
        } else {
            in_brackets([&] { transformer.except_names.push_back(parse_name()); });
        }
    } else if (accept_keyword("REPLACE")) {
        transformer.kind = ColumnsTransformer::Kind::Replace;
        transformer.strict = at_keyword("STRICT") && !at_keyword("AS", 1) && accept_keyword("STRICT");
        in_brackets([&] {
            ExprPtr value = parse_expr();
            expect_keyword("AS");
            transformer.replacements.emplace_back(parse_name(), std::move(value));
        });
    } else if (accept_keyword("APPLY")) {
        transformer.kind = ColumnsTransformer::Kind::Apply;
        const bool brackets = !at_lambda() && accept(TokenType::OpenRound, "OpeningRoundBracket");
        if (at_lambda()) {
            transformer.lambda = parse_lambda();
        } else {
            transformer.function = parse_name();
            if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
                if (!at(TokenType::CloseRound)) transformer.parameters = parse_expr_list(Alias::None);
                expect(TokenType::CloseRound, "ClosingRoundBracket");
            }
        }
        if (brackets && accept(TokenType::Comma, "Comma")) transformer.column_name_prefix = parse_string();
        if (brackets) expect(TokenType::CloseRound, "ClosingRoundBracket");
    } else {
        return false;
    }
    expr.transformers.push_back(std::move(transformer));
    return true;
}

}  // namespace firn::sql
