#include "firn/sql/parser.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"
#include "firn/sql/secrets.h"

namespace firn::sql {
namespace {

constexpr size_t kMostNesting = 1000;  // what the stack of an ordinary thread bears, sanitizers included
constexpr uint32_t kMostDepth = 2000;
constexpr size_t kMostElements = 50'000'000;
constexpr size_t kShownBytes = 160;  // of the text after the error

}  // namespace

Nesting::Nesting(Parser& parser, size_t cost) : parser_(parser), cost_(cost) {
    if (parser.nesting_ + cost > parser.max_nesting_) {
        fail(ErrorCode::TOO_DEEP_RECURSION,
             "Maximum parse depth ({}) exceeded. Consider raising the max_parser_depth setting.", parser.max_nesting_);
    }
    parser.nesting_ += cost;
}

Parser::Parser(std::string_view text, size_t begin, const ParseOptions& options)
    : text_(text), begin_(begin), options_(options), lexer_(text, begin, options.max_query_size) {
    max_nesting_ = options.max_parser_depth == 0 ? kMostNesting : std::min(options.max_parser_depth, kMostNesting);
    max_depth_ = options.max_ast_depth == 0
                     ? kMostDepth
                     : static_cast<uint32_t>(std::min<size_t>(options.max_ast_depth, kMostDepth));
    max_elements_ = options.max_ast_elements == 0 ? kMostElements : std::min(options.max_ast_elements, kMostElements);
}

const Token& Parser::peek(size_t ahead) {
    while (tokens_.size() <= index_ + ahead) {
        // Behind the semicolon another statement begins, or an INSERT's data: not ours to read.
        if (!tokens_.empty() &&
            (tokens_.back().type == TokenType::Semicolon || tokens_.back().type == TokenType::End)) {
            return tokens_.back();
        }
        tokens_.push_back(lexer_.next());
    }
    return tokens_[index_ + ahead];
}

std::string_view Parser::token_text(size_t ahead) {
    const Token& token = peek(ahead);
    return text_.substr(token.begin, token.end - token.begin);
}

void Parser::expected(std::string_view what) {
    if (index_ < furthest_) return;
    if (index_ > furthest_) {
        furthest_ = index_;
        expected_.clear();
    }
    expected_.push_back(what);
}

bool Parser::accept(TokenType type, std::string_view name) {
    if (peek().type == type) {
        ++index_;
        return true;
    }
    expected(name);
    return false;
}

void Parser::expect(TokenType type, std::string_view name) {
    if (!accept(type, name)) syntax_error();
}

bool Parser::at_keyword(std::string_view keyword, size_t ahead) {
    while (true) {
        const size_t blank = keyword.find(' ');
        if (peek(ahead).type != TokenType::BareWord) return false;
        if (!equal_ignoring_case(token_text(ahead), keyword.substr(0, blank))) return false;
        if (blank == std::string_view::npos) return true;
        keyword.remove_prefix(blank + 1);
        ++ahead;
    }
}

bool Parser::accept_keyword(std::string_view keyword) {
    if (!at_keyword(keyword)) {
        expected(keyword);
        return false;
    }
    index_ += 1 + static_cast<size_t>(std::count(keyword.begin(), keyword.end(), ' '));
    return true;
}

void Parser::expect_keyword(std::string_view keyword) {
    if (!accept_keyword(keyword)) syntax_error();
}

std::string_view Parser::accept_any(std::initializer_list<std::string_view> keywords) {
    for (std::string_view keyword : keywords) {
        if (accept_keyword(keyword)) return keyword;
    }
    return "";
}

size_t Parser::skip_statement() {
    while (true) {
        const Token& token = peek();
        if (token.type == TokenType::Semicolon) return token.end;
        if (token.type == TokenType::End || token.type == TokenType::Error) return text_.size();
        ++index_;
        // Nothing already read is needed any more.
        if (index_ == tokens_.size()) {
            tokens_.clear();
            index_ = 0;
        }
    }
}

// ---- errors

namespace {

std::string unmatched_bracket(std::string_view text, size_t begin, const std::vector<Token>& tokens) {
    std::vector<const Token*> open;
    for (const Token& token : tokens) {
        const bool opens = token.type == TokenType::OpenRound || token.type == TokenType::OpenSquare ||
                           token.type == TokenType::OpenCurly;
        const bool closes = token.type == TokenType::CloseRound || token.type == TokenType::CloseSquare ||
                            token.type == TokenType::CloseCurly;
        if (opens) open.push_back(&token);
        if (!closes) continue;
        // CloseX stands right after OpenX in the enumeration.
        if (open.empty() || static_cast<int>(token.type) != static_cast<int>(open.back()->type) + 1) {
            return fmt::format("Unmatched parentheses: '{}' at position {} has no opening one",
                               text.substr(token.begin, 1), token.begin - begin + 1);
        }
        open.pop_back();
    }
    if (open.empty()) return "";
    return fmt::format("Unmatched parentheses: '{}' at position {} is never closed", text.substr(open.back()->begin, 1),
                       open.back()->begin - begin + 1);
}

std::string place(std::string_view text, size_t statement_begin, size_t begin, size_t end) {
    const std::string_view before = text.substr(0, begin);
    std::string out = fmt::format(
        "Syntax error: failed at position {} ({})", begin - statement_begin + 1,
        begin >= text.size() ? "end of query"
                             : shown_source(text, statement_begin, begin, begin + std::min(end - begin, kShownBytes)));
    if (text.substr(statement_begin).find('\n') != std::string_view::npos) {
        const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
        const size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
        out += fmt::format(" (line {}, col {})", line, begin - line_begin + 1);
    }
    std::string_view rest = text.substr(begin);
    const bool cut = rest.size() > kShownBytes;
    if (cut) {
        size_t size = kShownBytes;  // not inside a UTF-8 sequence
        while (size > 0 && (static_cast<unsigned char>(rest[size]) & 0xC0) == 0x80) --size;
        rest = rest.substr(0, size);
    }
    out += ": ";
    out += shown_source(text, statement_begin, begin, begin + rest.size());
    if (cut) out += "...";
    return out;
}

}  // namespace

void Parser::syntax_error() {
    index_ = std::max(index_, furthest_);
    const Token token = peek();
    if (token.type == TokenType::Error) {
        throw Error(ErrorCode::SYNTAX_ERROR,
                    fmt::format("{}: {}", token_error_text(token.error), place(text_, begin_, token.begin, token.end)));
    }
    std::string message = place(text_, begin_, token.begin, token.end);
    // Brackets are looked at up to the statement's end: one that is never closed is the likelier cause.
    const size_t failed_at = index_;
    while (!at_end() && !at(TokenType::Error) && index_ < failed_at + 10000) ++index_;
    std::string bracket = unmatched_bracket(text_, begin_, tokens_);
    if (!bracket.empty()) {
        message += ". " + bracket;
    } else if (furthest_ == failed_at && !expected_.empty()) {
        std::vector<std::string_view> once;
        for (std::string_view what : expected_) {
            if (std::find(once.begin(), once.end(), what) == once.end()) once.push_back(what);
        }
        message += fmt::format(". Expected {}{}", once.size() > 1 ? "one of: " : "", fmt::join(once, ", "));
    }
    throw Error(ErrorCode::SYNTAX_ERROR, std::move(message));
}

void Parser::syntax_error(std::string_view message) {
    const Token token = peek();
    throw Error(ErrorCode::SYNTAX_ERROR, fmt::format("{}: {}", message, place(text_, begin_, token.begin, token.end)));
}

void Parser::count_elements(size_t count) {
    elements_ += count;
    if (elements_ > max_elements_) fail(ErrorCode::TOO_BIG_AST, "AST is too big. Maximum: {}.", max_elements_);
}

void Parser::check_size(uint32_t depth, uint64_t nodes) {
    if (depth > max_depth_) fail(ErrorCode::TOO_DEEP_AST, "AST is too deep. Maximum: {}.", max_depth_);
    if (nodes > max_elements_) fail(ErrorCode::TOO_BIG_AST, "AST is too big. Maximum: {}.", max_elements_);
}

ExprPtr Parser::finish(ExprPtr expr) {
    uint32_t depth = 1;
    uint64_t nodes = 1;
    auto deepen = [&](const ExprPtr& child, uint32_t by) {
        if (!child) return;
        depth = std::max(depth, child->depth + by);
        nodes += child->nodes;
    };
    for (const ExprPtr& arg : expr->args) deepen(arg, 2);
    for (const ExprPtr& parameter : expr->parameters) deepen(parameter, 2);
    for (const ColumnsTransformer& transformer : expr->transformers) {
        for (const auto& [name, replacement] : transformer.replacements) deepen(replacement, 2);
        for (const ExprPtr& parameter : transformer.parameters) deepen(parameter, 2);
        deepen(transformer.lambda, 2);
    }
    if (expr->window) {
        for (const ExprPtr& part : expr->window->partition_by) deepen(part, 3);
        for (const OrderByElement& element : expr->window->order_by) deepen(element.expr, 3);
        deepen(expr->window->begin.offset, 3);
        deepen(expr->window->end.offset, 3);
    }
    if (expr->query) {
        depth = std::max(depth, expr->query->depth + 1);
        nodes += expr->query->nodes;
    }
    count_elements(1);
    check_size(depth, nodes);
    expr->depth = depth;
    expr->nodes = static_cast<uint32_t>(nodes);
    query_depth_ = std::max(query_depth_, depth);
    return expr;
}

// ---- the interface

namespace {

void expect_end(Parser& parser) {
    if (parser.accept(TokenType::Semicolon, "end of query")) return;
    parser.expect(TokenType::End, "end of query");
}

}  // namespace

StatementReader::StatementReader(std::string_view text, ParseOptions options) : text_(text), options_(options) {}

StatementPtr StatementReader::next() {
    while (true) {
        Parser parser(text_, pos_, options_);
        if (parser.at(TokenType::End)) {
            pos_ = text_.size();
            return nullptr;
        }
        if (parser.at(TokenType::Semicolon)) {
            pos_ = parser.peek().end;
            continue;
        }
        const size_t begin = parser.pos();
        Parser statement_parser(text_, begin, options_);
        try {
            StatementPtr statement = statement_parser.parse_statement();
            statement->pos = begin;
            if (statement->kind == StatementKind::Insert && static_cast<InsertStatement&>(*statement).has_data) {
                pos_ = statement->end;
                return statement;
            }
            statement->end = statement_parser.last_end();
            if (!statement_parser.at(TokenType::Semicolon)) statement_parser.expect(TokenType::End, "end of query");
            pos_ = statement_parser.peek().end;
            return statement;
        } catch (...) {
            pos_ = Parser(text_, begin, ParseOptions{.max_query_size = 0}).skip_statement();
            throw;
        }
    }
}

std::vector<StatementPtr> parse_statements(std::string_view text, const ParseOptions& options) {
    std::vector<StatementPtr> statements;
    StatementReader reader(text, options);
    while (StatementPtr statement = reader.next()) statements.push_back(std::move(statement));
    return statements;
}

StatementPtr parse_statement(std::string_view text, const ParseOptions& options) {
    StatementReader reader(text, options);
    StatementPtr statement = reader.next();
    if (!statement) fail(ErrorCode::SYNTAX_ERROR, "Syntax error: empty query");
    if (StatementPtr second = reader.next()) {
        fail(ErrorCode::SYNTAX_ERROR,
             "Syntax error (Multi-statements are not allowed): failed at position {} (end of query)",
             statement->end + 1);
    }
    return statement;
}

QueryPtr parse_query(std::string_view text, const ParseOptions& options) {
    Parser parser(text, 0, options);
    QueryPtr query = parser.parse_query();
    expect_end(parser);
    return query;
}

ExprPtr parse_expr(std::string_view text, const ParseOptions& options) {
    Parser parser(text, 0, options);
    ExprPtr expr = parser.parse_expr(Parser::Alias::Any);
    expect_end(parser);
    return expr;
}

TypeExprPtr parse_type(std::string_view text, const ParseOptions& options) {
    Parser parser(text, 0, options);
    TypeExprPtr type = parser.parse_type();
    expect_end(parser);
    return type;
}

}  // namespace firn::sql
