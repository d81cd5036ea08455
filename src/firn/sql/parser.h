// Text to tree. See ast.h for what the tree is, statement.h for the statements.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "firn/sql/statement.h"

namespace firn::sql {

struct ParseOptions {
    bool implicit_select = false;    // `1 + 1` alone is SELECT 1 + 1
    size_t max_parser_depth = 1000;  // nested constructs; more is TOO_DEEP_RECURSION (306). 0 = the most there is
    size_t max_ast_depth = 1000;     // levels of the tree; more is TOO_DEEP_AST (167). Never above 2000
    size_t max_ast_elements =
        50000;  // expressions of a statement (inside literals not counted); TOO_BIG_AST (168). 0 = no limit
    size_t max_query_size = 262144;  // bytes of a statement without inline data; SYNTAX_ERROR. 0 = no limit
};

/// One statement at a time, so that those before a syntax error can run, and so that inline data of INSERT are found.
/// The text must outlive the reader.
class StatementReader {
public:
    explicit StatementReader(std::string_view text, ParseOptions options = {});

    /// The next statement; null when only blanks, comments and semicolons are left. Throws Error (SYNTAX_ERROR,
    /// TOO_DEEP_RECURSION, ...); after an error the reader stands behind the failed statement's semicolon (or at the
    /// end of the text when there is none).
    StatementPtr next();

    /// For a change by SET between statements (max_query_size, implicit_select ...).
    void set_options(const ParseOptions& options) { options_ = options; }
    /// Byte offset up to which the text has been read.
    size_t position() const { return pos_; }

private:
    std::string_view text_;
    ParseOptions options_;
    size_t pos_ = 0;
};

/// All statements of a text.
std::vector<StatementPtr> parse_statements(std::string_view text, const ParseOptions& options = {});
/// Exactly one statement, SYNTAX_ERROR when there is none or more than one.
StatementPtr parse_statement(std::string_view text, const ParseOptions& options = {});
/// A query without FORMAT and the like: the text of a view.
QueryPtr parse_query(std::string_view text, const ParseOptions& options = {});
/// An expression, with or without alias.
ExprPtr parse_expr(std::string_view text, const ParseOptions& options = {});
/// A data type, as of a column definition or of CAST's second argument.
TypeExprPtr parse_type(std::string_view text, const ParseOptions& options = {});

}  // namespace firn::sql
