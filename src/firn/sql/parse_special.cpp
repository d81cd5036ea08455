// Forms with words of their own inside the brackets: CASE, CAST, EXTRACT, INTERVAL, TRIM and the like.
#include "firn/base/error.h"
#include "firn/sql/number.h"
#include "firn/sql/parser_impl.h"
#include "firn/sql/printer.h"

namespace firn::sql {
namespace {

constexpr size_t kMostBacktracks = 1000;

struct Unit {
    std::string_view name;  // of toIntervalDay
    std::string_view spellings[6];
};
constexpr Unit kUnits[] = {
    {"Nanosecond", {"NANOSECOND", "NANOSECONDS", "SQL_TSI_NANOSECOND", "NS"}},
    {"Microsecond", {"MICROSECOND", "MICROSECONDS", "SQL_TSI_MICROSECOND", "US"}},
    {"Millisecond", {"MILLISECOND", "MILLISECONDS", "SQL_TSI_MILLISECOND", "MS"}},
    {"Second", {"SECOND", "SECONDS", "SQL_TSI_SECOND", "SS", "S"}},
    {"Minute", {"MINUTE", "MINUTES", "SQL_TSI_MINUTE", "MI", "N"}},
    {"Hour", {"HOUR", "HOURS", "SQL_TSI_HOUR", "HH", "H"}},
    {"Day", {"DAY", "DAYS", "SQL_TSI_DAY", "DD", "D"}},
    {"Week", {"WEEK", "WEEKS", "SQL_TSI_WEEK", "WW", "WK"}},
    {"Month", {"MONTH", "MONTHS", "SQL_TSI_MONTH", "MM", "M"}},
    {"Quarter", {"QUARTER", "QUARTERS", "SQL_TSI_QUARTER", "QQ", "Q"}},
    {"Year", {"YEAR", "YEARS", "SQL_TSI_YEAR", "YYYY", "YY"}},
};

std::string_view unit_of(std::string_view word) {
    for (const Unit& unit : kUnits) {
        for (std::string_view spelling : unit.spellings) {
            if (!spelling.empty() && equal_ignoring_case(word, spelling)) return unit.name;
        }
    }
    return "";
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) {
        if (equal_ignoring_case(word, name)) return true;
    }
    return false;
}

}  // namespace

ExprPtr Parser::try_special(std::string_view word) {
    Nesting nesting(*this, 3);
    const size_t begin = pos();
    // Nearly all words are none of these: the first letter sorts them out.
    switch (word[0] & ~0x20) {
        case 'C':
            if (equal_ignoring_case(word, "CASE")) return parse_case();
            if (equal_ignoring_case(word, "CAST") && at(TokenType::OpenRound, 1)) return parse_cast();
            return nullptr;
        case 'D':
            if (equal_ignoring_case(word, "DATE") && at(TokenType::String, 1)) {
                ++index_;
                const size_t string_pos = pos();
                return finish(make_function("toDate", {string_literal(parse_string(), string_pos)}, begin));
            }
            break;
        case 'E':
            if (!at(TokenType::OpenRound, 1)) return nullptr;
            if (equal_ignoring_case(word, "EXISTS")) return parse_exists();
            if (equal_ignoring_case(word, "EXTRACT")) return parse_extract();
            return nullptr;
        case 'I':
            return equal_ignoring_case(word, "INTERVAL") ? try_interval() : nullptr;
        case 'T':
            if (equal_ignoring_case(word, "TIMESTAMP") && at(TokenType::String, 1)) {
                ++index_;
                const size_t string_pos = pos();
                return finish(make_function("toDateTime", {string_literal(parse_string(), string_pos)}, begin));
            }
            break;
        case 'L':
        case 'O':
        case 'P':
        case 'R':
        case 'S':
            break;
        default:
            return nullptr;
    }
    if (!at(TokenType::OpenRound, 1)) return nullptr;
    if (equal_ignoring_case(word, "TRIM")) return parse_trim("trimBoth");
    if (equal_ignoring_case(word, "LTRIM")) return parse_trim("trimLeft");
    if (equal_ignoring_case(word, "RTRIM")) return parse_trim("trimRight");
    if (equal_ignoring_case(word, "SUBSTRING")) return parse_substring();
    if (equal_ignoring_case(word, "POSITION")) return parse_position();
    if (equal_ignoring_case(word, "OVERLAY")) return parse_overlay();
    if (is_one_of(word, {"DATE_ADD", "DATEADD", "TIMESTAMP_ADD", "TIMESTAMPADD"})) return parse_date_arithmetic("plus");
    if (is_one_of(word, {"DATE_SUB", "DATESUB", "TIMESTAMP_SUB", "TIMESTAMPSUB"}))
        return parse_date_arithmetic("minus");
    if (is_one_of(word, {"DATE_DIFF", "DATEDIFF", "TIMESTAMP_DIFF", "TIMESTAMPDIFF"})) return parse_date_diff();
    return nullptr;
}

ExprPtr Parser::parse_case() {
    // `case` is a name where no operand and no WHEN can follow.
    const TokenType next = peek(1).type;
    const bool operand = next == TokenType::BareWord || next == TokenType::QuotedName || next == TokenType::Number ||
                         next == TokenType::String || next == TokenType::OpenRound || next == TokenType::OpenSquare ||
                         next == TokenType::OpenCurly || next == TokenType::Minus;
    if (!operand || at_keyword("FROM", 1) || at_keyword("AS", 1)) return nullptr;
    const size_t begin = pos();
    ++index_;
    std::vector<ExprPtr> args;
    const bool with_operand = !at_keyword("WHEN");
    if (with_operand) args.push_back(parse_expr(Alias::WithAs));
    expected("WHEN");
    if (!at_keyword("WHEN")) syntax_error();
    while (accept_keyword("WHEN")) {
        args.push_back(parse_expr(Alias::WithAs));
        expect_keyword("THEN");
        args.push_back(parse_expr(Alias::WithAs));
    }
    if (accept_keyword("ELSE")) {
        args.push_back(parse_expr(Alias::WithAs));
    } else {
        args.push_back(finish(make_literal(Literal::null(), pos())));
    }
    expect_keyword("END");
    return finish(make_function(with_operand ? "caseWithExpression" : "multiIf", std::move(args), begin));
}

ExprPtr Parser::parse_cast() {
    const size_t begin = pos();
    index_ += 2;
    ExprPtr value = parse_operators(0);
    ExprPtr type;
    if (accept_keyword("AS")) {
        // CAST(x AS alias AS type) and CAST(x AS alias, 'type') too.
        if (at_name() && (at_keyword("AS", 1) || at(TokenType::Comma, 1))) {
            value->alias = parse_name();
            if (!accept_keyword("AS")) {
                ++index_;
                type = parse_expr(Alias::WithAs);
            }
        }
        if (!type) {
            const size_t type_pos = pos();
            type = string_literal(format_type(*parse_type()), type_pos);
        }
    } else {
        expect(TokenType::Comma, "Comma");
        type = parse_expr(Alias::WithAs);
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return finish(make_function("CAST", {std::move(value), std::move(type)}, begin));
}

/// After the opening bracket: the other arguments of an ordinary call, and the closing one.
std::vector<ExprPtr> Parser::parse_rest_of_arguments() {
    std::vector<ExprPtr> args;
    if (!at(TokenType::CloseRound)) args = parse_expr_list(Alias::WithAs);
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return args;
}

ExprPtr Parser::parse_extract() {
    const size_t begin = pos();
    index_ += 2;
    if (!at(TokenType::BareWord) || !at_keyword("FROM", 1)) {
        return finish(make_function("extract", parse_rest_of_arguments(), begin));
    }
    const std::string_view word = token_text();
    const std::string_view unit = unit_of(word);
    auto call = [&](std::string_view function, std::vector<ExprPtr> args) {
        return finish(make_function(std::string(function), std::move(args), begin));
    };
    auto number = [&](uint64_t value) { return finish(make_literal(Literal::from_uint64(value), begin)); };
    static constexpr std::string_view other[] = {"EPOCH",   "DOW",     "DOY",    "ISODOW",
                                                 "ISOYEAR", "CENTURY", "DECADE", "MILLENNIUM"};
    size_t which = 0;
    while (which < std::size(other) && !equal_ignoring_case(word, other[which])) ++which;
    if (unit.empty() && which == std::size(other)) {
        expected("date part");
        syntax_error();
    }
    index_ += 2;
    ExprPtr value = parse_expr();
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    if (unit == "Day") return call("toDayOfMonth", {value});
    if (unit == "Week") return call("toISOWeek", {value});
    if (!unit.empty()) return call("to" + std::string(unit), {value});
    switch (which) {
        case 0:
            return call("toUnixTimestamp", {value});
        case 1:
            return call("toDayOfWeek", {value, number(2)});
        case 2:
            return call("toDayOfYear", {value});
        case 3:
            return call("toDayOfWeek", {value});
        case 4:
            return call("toISOYear", {value});
        case 6:
            return call("intDiv", {call("toYear", {value}), number(10)});
        default:
            break;
    }
    const uint64_t years = which == 5 ? 100 : 1000;
    ExprPtr before = call("minus", {call("toYear", {value}), number(1)});
    return call("plus", {call("intDiv", {before, number(years)}), number(1)});
}

ExprPtr Parser::parse_trim(std::string_view function) {
    const size_t begin = pos();
    index_ += 2;
    const bool word = at_keyword("BOTH") || at_keyword("LEADING") || at_keyword("TRAILING");
    const bool name = at(TokenType::CloseRound, 1) || at(TokenType::Comma, 1) || at(TokenType::Dot, 1);
    if (function != "trimBoth" || !word || name) {
        return finish(make_function(std::string(function), parse_rest_of_arguments(), begin));
    }
    if (at_keyword("LEADING")) function = "trimLeft";
    if (at_keyword("TRAILING")) function = "trimRight";
    ++index_;
    ExprPtr characters = parse_expr();
    expect_keyword("FROM");
    ExprPtr value = parse_expr();
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return finish(make_function(std::string(function), {std::move(value), std::move(characters)}, begin));
}

ExprPtr Parser::parse_substring() {
    const size_t begin = pos();
    index_ += 2;
    std::vector<ExprPtr> args{parse_expr(Alias::WithAs)};
    if (accept_keyword("FROM")) {
        args.push_back(parse_expr());
        if (accept_keyword("FOR")) args.push_back(parse_expr());
    } else {
        while (accept(TokenType::Comma, "Comma")) args.push_back(parse_expr(Alias::WithAs));
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return finish(make_function("substring", std::move(args), begin));
}

ExprPtr Parser::parse_position() {
    const size_t begin = pos();
    index_ += 2;
    constexpr int above_in = 10;
    const size_t start = index_;
    ExprPtr needle = parse_operators(above_in);
    if (at_keyword("IN")) {
        ++index_;
        ExprPtr haystack = parse_expr();
        expect(TokenType::CloseRound, "ClosingRoundBracket");
        return finish(make_function("position", {std::move(haystack), std::move(needle)}, begin));
    }
    if (at(TokenType::Comma) || at(TokenType::CloseRound)) {  // position(haystack, needle)
        std::vector<ExprPtr> args{std::move(needle)};
        while (accept(TokenType::Comma, "Comma")) args.push_back(parse_expr(Alias::WithAs));
        expect(TokenType::CloseRound, "ClosingRoundBracket");
        return finish(make_function("position", std::move(args), begin));
    }
    index_ = start;  // a looser operator: position(a = b, c)
    if (++backtracks_ > kMostBacktracks) syntax_error("Too many alternatives");
    return finish(make_function("position", parse_rest_of_arguments(), begin));
}

ExprPtr Parser::parse_overlay() {
    const size_t begin = pos();
    index_ += 2;
    std::vector<ExprPtr> args{parse_expr(Alias::WithAs)};
    if (accept_keyword("PLACING")) {
        args.push_back(parse_expr());
        expect_keyword("FROM");
        args.push_back(parse_expr());
        if (accept_keyword("FOR")) args.push_back(parse_expr());
    } else {
        while (accept(TokenType::Comma, "Comma")) args.push_back(parse_expr(Alias::WithAs));
    }
    expect(TokenType::CloseRound, "ClosingRoundBracket");
    return finish(make_function("overlay", std::move(args), begin));
}

ExprPtr Parser::parse_exists() {
    const size_t begin = pos();
    ++index_;
    const size_t query_pos = pos();
    if (!at_query(1)) {
        ++index_;
        expected("SELECT query");
        syntax_error();
    }
    return finish(make_function("exists", {subquery_expr(parse_parenthesized_query(), query_pos)}, begin));
}

// ---- intervals

std::string_view Parser::peek_interval_unit() {
    expected("interval unit");
    return at(TokenType::BareWord) ? unit_of(token_text()) : std::string_view();
}

ExprPtr Parser::try_interval() {
    const size_t begin = pos();
    const TokenType next = peek(1).type;
    const bool operand = next == TokenType::BareWord || next == TokenType::QuotedName || next == TokenType::Number ||
                         next == TokenType::String || next == TokenType::OpenRound || next == TokenType::Minus ||
                         next == TokenType::OpenCurly || next == TokenType::Plus;
    if (!operand || at_keyword("FROM", 1) || at_keyword("AS", 1)) return nullptr;
    if (next == TokenType::String && (!at(TokenType::BareWord, 2) || unit_of(token_text(2)).empty())) {
        if (ExprPtr interval = interval_of_string(begin)) return interval;
    }
    // Whether this is an interval shows only behind the expression: `interval + 1` is a column and a number.
    const size_t start = index_;
    const size_t elements = elements_, open_calls = open_calls_;
    ++index_;
    try {
        ExprPtr value = parse_operators(0);
        const std::string_view unit = peek_interval_unit();
        if (!unit.empty()) {
            ++index_;
            return finish(make_function("toInterval" + std::string(unit), {std::move(value)}, begin));
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::SYNTAX_ERROR) throw;
    }
    if (++backtracks_ > kMostBacktracks) syntax_error("Too many alternatives");
    index_ = start;
    elements_ = elements;
    open_calls_ = open_calls;
    return nullptr;
}

/// INTERVAL '1 day' is toIntervalDay(1), INTERVAL '1 day 2 hour' a tuple of the two. Null when the string is not so.
ExprPtr Parser::interval_of_string(size_t pos) {
    std::string text;
    if (!decode_string(token_text(1), text)) return nullptr;
    Lexer lexer(text, 0, 0);
    std::vector<ExprPtr> parts;
    Token token = lexer.next();
    while (token.type != TokenType::End) {
        const bool negative = token.type == TokenType::Minus;
        if (negative || token.type == TokenType::Plus) token = lexer.next();
        Literal number;
        if (token.type != TokenType::Number ||
            !read_number(std::string_view(text).substr(token.begin, token.end - token.begin), negative, number)) {
            return nullptr;
        }
        token = lexer.next();
        if (token.type != TokenType::BareWord) return nullptr;
        const std::string_view unit = unit_of(std::string_view(text).substr(token.begin, token.end - token.begin));
        if (unit.empty()) return nullptr;
        parts.push_back(finish(
            make_function("toInterval" + std::string(unit), {finish(make_literal(std::move(number), pos))}, pos)));
        token = lexer.next();
    }
    if (parts.empty()) return nullptr;
    index_ += 2;
    if (parts.size() == 1) return parts[0];
    return operator_call("tuple", std::move(parts), pos);
}

ExprPtr Parser::parse_date_arithmetic(std::string_view function) {
    const size_t begin = pos();
    index_ += 2;
    const std::string_view unit = at(TokenType::Comma, 1) ? peek_interval_unit() : std::string_view();
    std::vector<ExprPtr> args;
    if (unit.empty()) {
        args = parse_rest_of_arguments();
    } else {
        index_ += 2;
        ExprPtr count = parse_expr(Alias::WithAs);
        ExprPtr interval = finish(make_function("toInterval" + std::string(unit), {std::move(count)}, begin));
        expect(TokenType::Comma, "Comma");
        args.push_back(parse_expr(Alias::WithAs));
        args.push_back(std::move(interval));
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    }
    return finish(make_function(std::string(function), std::move(args), begin));
}

ExprPtr Parser::parse_date_diff() {
    const size_t begin = pos();
    index_ += 2;
    const std::string_view unit = at(TokenType::Comma, 1) ? peek_interval_unit() : std::string_view();
    std::vector<ExprPtr> args;
    if (unit.empty()) {
        args = parse_rest_of_arguments();
    } else {
        std::string name(unit);
        name[0] = static_cast<char>(name[0] | 0x20);
        args.push_back(string_literal(std::move(name), begin));
        index_ += 2;
        for (ExprPtr& arg : parse_rest_of_arguments()) args.push_back(std::move(arg));
    }
    return finish(make_function("dateDiff", std::move(args), begin));
}

}  // namespace firn::sql
