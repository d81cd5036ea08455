// Statements: parse, print, parse again: the text must not change any more. Only firn::Error may be thrown.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "firn/base/error.h"
#include "firn/sql/parser.h"
#include "firn/sql/printer.h"

namespace {

bool has_inline_data(const firn::sql::Statement& statement) {
    return statement.kind == firn::sql::StatementKind::Insert &&
           static_cast<const firn::sql::InsertStatement&>(statement).has_data;
}

void check(const firn::sql::Statement& statement, bool multi_line) {
    const firn::sql::PrintOptions options{multi_line};
    const std::string printed = firn::sql::format_statement(statement, options);
    if (has_inline_data(statement)) return;
    try {
        firn::sql::ParseOptions parse_options;
        parse_options.max_query_size = 0;  // printed text may be longer than what was read
        const std::string again =
            firn::sql::format_statement(*firn::sql::parse_statement(printed, parse_options), options);
        if (again != printed) std::abort();
    } catch (const firn::Error& error) {
        // Brackets the printer adds may exceed the nesting the text stayed within.
        if (error.code() != firn::ErrorCode::TOO_DEEP_RECURSION && error.code() != firn::ErrorCode::TOO_DEEP_AST) {
            std::abort();
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    firn::sql::ParseOptions options;
    options.implicit_select = size % 2 == 0;
    firn::sql::StatementReader reader(text, options);
    while (true) {
        const size_t before = reader.position();
        try {
            const firn::sql::StatementPtr statement = reader.next();
            if (!statement) break;
            check(*statement, false);
            check(*statement, true);
        } catch (const firn::Error&) {
            if (reader.position() <= before) std::abort();
        }
    }
    return 0;
}
