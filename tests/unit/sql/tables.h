// What the tables of these tests share.
#pragma once

#include <string>
#include <string_view>

#include "firn/base/error.h"
#include "firn/sql/parser.h"
#include "firn/sql/printer.h"

namespace firn::sql {

/// The statement as printed; "62 SYNTAX_ERROR" and the like when it does not parse.
inline std::string printed(std::string_view text, bool multi_line = false, ParseOptions options = {}) {
    try {
        return format_statement(*parse_statement(text, options), PrintOptions{multi_line});
    } catch (const Error& error) {
        return std::to_string(static_cast<int>(error.code())) + " " + std::string(error_name(error.code()));
    }
}

/// "name(args)" of an expression, so that what an operator became shows.
inline std::string lowered(std::string_view text) {
    try {
        return column_name(*parse_expr(text));
    } catch (const Error& error) {
        return std::to_string(static_cast<int>(error.code())) + " " + std::string(error_name(error.code()));
    }
}

struct Row {
    std::string_view text, wanted;
};

}  // namespace firn::sql
