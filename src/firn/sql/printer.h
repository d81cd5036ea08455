// Tree to text, in the manner of ClickHouse's formatQuery. parse(format(x)) is x again.
#pragma once

#include <string>
#include <string_view>

#include "firn/sql/statement.h"

namespace firn::sql {

struct PrintOptions {
    bool multi_line = false;  // clauses and list items on lines of their own, indented by 4
    bool hide_secrets =
        false;  // '[HIDDEN]' where keys and tokens stand (secrets.h); such text does not parse to the same
};

std::string format_expr(const Expr& expr, const PrintOptions& options = {});
std::string format_query(const Query& query, const PrintOptions& options = {});
std::string format_statement(const Statement& statement, const PrintOptions& options = {});
std::string format_type(const TypeExpr& type);
std::string format_literal(const Literal& literal);

/// `name`, back quoted when it is not a plain word (letters, digits, underscores) or is a reserved one.
std::string quote_identifier(std::string_view name);
/// 'text' with backslash escapes.
std::string quote_string(std::string_view bytes);

}  // namespace firn::sql
