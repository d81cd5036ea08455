// Statements one by one, inline data, errors and limits.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/sql/tables.h"

namespace firn::sql {
namespace {

std::string message_of(std::string_view text) {
    try {
        parse_statement(text);
    } catch (const Error& error) {
        return error.message();
    }
    return "";
}

TEST(Reader, StatementsBeforeAnErrorAreGiven) {
    StatementReader reader("select 1; ;selec 2; select 3 -- end");
    EXPECT_EQ(format_statement(*reader.next()), "SELECT 1");
    EXPECT_THROW(reader.next(), Error);
    const StatementPtr third = reader.next();
    EXPECT_EQ(format_statement(*third), "SELECT 3");
    EXPECT_EQ(third->pos, 20u);
    EXPECT_EQ(third->end, 28u);
    EXPECT_EQ(reader.next(), nullptr);
}

TEST(Reader, OneStatementIsOne) {
    EXPECT_THROW(parse_statement("select 1; select 2"), Error);
    EXPECT_THROW(parse_statement(" ; "), Error);
    EXPECT_EQ(parse_statements("").size(), 0u);
    EXPECT_EQ(parse_statements("select 1;;select 2;").size(), 2u);
}

TEST(Reader, ValuesEndAtTheSemicolon) {
    StatementReader reader("insert into t (a) values (1, 'x;y'), (2, 'z'); select 1");
    const StatementPtr statement = reader.next();
    const auto& insert = static_cast<const InsertStatement&>(*statement);
    EXPECT_EQ(insert.format, "Values");
    EXPECT_TRUE(insert.has_data);
    EXPECT_EQ(insert.data, " (1, 'x;y'), (2, 'z')");
    EXPECT_EQ(format_statement(*reader.next()), "SELECT 1");
}

TEST(Reader, DataOfOtherFormatsGoToTheEnd) {
    StatementReader reader("insert into t format CSV\n1,'a;b\n2;\n");
    const StatementPtr statement = reader.next();
    const auto& insert = static_cast<const InsertStatement&>(*statement);
    EXPECT_EQ(insert.format, "CSV");
    EXPECT_EQ(insert.data, "1,'a;b\n2;\n");
    EXPECT_EQ(insert.data_pos, 25u);
    EXPECT_EQ(reader.next(), nullptr);
}

TEST(Reader, AnEmptyLineEndsTheData) {
    StatementReader reader("insert into t format CSV 1\n2\n\nselect 1");
    const StatementPtr statement = reader.next();
    EXPECT_EQ(static_cast<const InsertStatement&>(*statement).data, "1\n2\n");
    EXPECT_EQ(format_statement(*reader.next()), "SELECT 1");
    StatementReader dos("insert into t format CSV 1\r\n\r\nselect 1");
    EXPECT_EQ(static_cast<const InsertStatement&>(*dos.next()).data, "1\r\n");
    EXPECT_EQ(format_statement(*dos.next()), "SELECT 1");
}

TEST(Reader, InsertWithoutInlineData) {
    StatementReader reader("insert into t format CSV; select 1");
    const StatementPtr statement = reader.next();
    EXPECT_TRUE(static_cast<const InsertStatement&>(*statement).has_data);
    EXPECT_EQ(static_cast<const InsertStatement&>(*statement).data, "");
    EXPECT_EQ(format_statement(*reader.next()), "SELECT 1");
}

TEST(Errors, SayWhereAndWhat) {
    EXPECT_EQ(message_of("select 1 from t where"),
              "Syntax error: failed at position 22 (end of query): . Expected expression");
    EXPECT_EQ(message_of("select (1 + 2"),
              "Syntax error: failed at position 14 (end of query): . Unmatched parentheses: '(' at position 8 is never "
              "closed");
    EXPECT_EQ(message_of("select 1)"),
              "Syntax error: failed at position 9 ()): ). Unmatched parentheses: ')' at position 9 has no opening one");
    EXPECT_EQ(message_of("select 'abc"),
              "Single quoted string is not closed: Syntax error: failed at position 8 ('abc): 'abc");
    EXPECT_EQ(message_of("select 1\nfrom t\nwhere a b"),
              "Syntax error: failed at position 25 (b) (line 3, col 9): b. Expected one of: operator, AS, GROUP BY, "
              "WITH TOTALS, "
              "HAVING, WINDOW, QUALIFY, ORDER BY, LIMIT, OFFSET, FETCH, SETTINGS, INTERSECT, UNION, EXCEPT, INTO "
              "OUTFILE, FORMAT, "
              "end of query");
}

TEST(Errors, Codes) {
    const Row rows[] = {
        {"selec 1", "62 SYNTAX_ERROR"},
        {"select 1 as", "62 SYNTAX_ERROR"},
        {"select a b c from t", "62 SYNTAX_ERROR"},
        {"select [1, 2", "62 SYNTAX_ERROR"},
        {"select case when 1 then 2", "62 SYNTAX_ERROR"},
        {"select 1 /* x", "62 SYNTAX_ERROR"},
        {"select top 1 a from t limit 2", "406 TOP_AND_LIMIT_TOGETHER"},
        {"select a from t limit 1 with ties", "476 WITH_TIES_WITHOUT_ORDER_BY"},
        {"select a from t order by a limit 1 with ties by a", "498 LIMIT_BY_WITH_TIES_IS_NOT_SUPPORTED"},
        {"select a from t offset 1 row fetch first 2 rows only", "628 OFFSET_FETCH_WITHOUT_ORDER_BY"},
        {"select distinct on (a) b from t limit 1 by c", "62 SYNTAX_ERROR"},
    };
    for (const Row& row : rows) EXPECT_EQ(printed(row.text), row.wanted) << row.text;
}

std::string repeated(std::string_view part, size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += part;
    return out;
}

TEST(Limits, Nesting) {
    const auto nested = [](std::string_view open, std::string_view inner, std::string_view close, size_t count) {
        return printed("select " + repeated(open, count) + std::string(inner) + repeated(close, count)).substr(0, 6);
    };
    EXPECT_EQ(nested("f(", "1", ")", 200), "SELECT");
    EXPECT_EQ(nested("[", "1", "]", 900), "SELECT");
    EXPECT_EQ(nested("(", "1", ")", 100), "SELECT");
    EXPECT_EQ(nested("(select ", "1", ")", 40), "SELECT");
    EXPECT_EQ(nested("(", "1", ")", 100000), "306 TO");
    EXPECT_EQ(nested("[", "1", "]", 100000), "306 TO");
    EXPECT_EQ(nested("[", "a", "]", 100000), "306 TO");
    EXPECT_EQ(nested("(select ", "1", ")", 10000), "306 TO");
    EXPECT_EQ(nested("- ", "a", "", 100000), "306 TO");
    EXPECT_EQ(nested("not ", "a", "", 100000), "306 TO");
    EXPECT_EQ(nested("case when ", "a", " then 1 end", 100000), "306 TO");
    EXPECT_EQ(nested("interval ", "1", " day", 100000), "306 TO");
    EXPECT_EQ(nested("f(", "1", ")", 600), "167 TO");
    EXPECT_EQ(nested("f(", "1", ")", 100000), "167 TO");
    EXPECT_EQ(printed("select x::" + repeated("Array(", 100000)), "306 TOO_DEEP_RECURSION");
    EXPECT_EQ(printed("select 1 from " + repeated("(select 1 from ", 10000)), "306 TOO_DEEP_RECURSION");
    EXPECT_EQ(printed("select 1 from " + repeated("(", 10000)), "306 TOO_DEEP_RECURSION");
    EXPECT_EQ(printed(repeated("(", 10000) + "select 1"), "306 TOO_DEEP_RECURSION");
    EXPECT_EQ(printed(repeated("explain ", 10000) + "select 1"), "306 TOO_DEEP_RECURSION");
}

TEST(Limits, DepthAndSizeOfTheTree) {
    EXPECT_EQ(printed("select 1" + repeated("+1", 400)).substr(0, 6), "SELECT");
    EXPECT_EQ(printed("select 1" + repeated("+1", 1100)), "167 TOO_DEEP_AST");
    EXPECT_EQ(printed("select 1" + repeated(" or 1", 20000)).substr(0, 6), "SELECT")
        << "OR takes any number of operands";
    EXPECT_EQ(printed("select a" + repeated("[1]", 1100)), "167 TOO_DEEP_AST");
    EXPECT_EQ(printed("select 1" + repeated(" union all select 1 union distinct select 1", 1100)), "167 TOO_DEEP_AST");
    EXPECT_EQ(printed("select a" + repeated(",a", 60000)), "168 TOO_BIG_AST");
    EXPECT_EQ(printed("select a" + repeated(" between 1 and 2", 40)), "168 TOO_BIG_AST")
        << "each doubles what stands before";
    EXPECT_EQ(printed("select a" + repeated(",a", 60000), false, {.max_ast_elements = 0}).substr(0, 6), "SELECT");
    EXPECT_EQ(printed("select (1" + repeated(",1", 100000) + ")").substr(0, 6), "SELECT")
        << "elements of a literal are not counted";
}

TEST(Limits, SizeOfTheText) {
    EXPECT_EQ(printed("select 1, 2, 3", false, {.max_query_size = 10}), "62 SYNTAX_ERROR");
    EXPECT_EQ(printed("insert into t values (1, 2, 3)", false, {.max_query_size = 25}), "INSERT INTO t FORMAT Values")
        << "inline data are not the query";
}

TEST(Corpus, PrintedTextReadsBack) {
    const std::filesystem::path root = std::filesystem::path(FIRN_SOURCE_DIR) / "tests";
    size_t statements = 0, files = 0;
    for (const char* folder : {"conformance", "cases", "sql"}) {
        if (!std::filesystem::exists(root / folder)) continue;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            if (entry.path().extension() != ".sql") continue;
            ++files;
            std::stringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            const std::string sql = text.str();
            StatementReader reader(sql, {.implicit_select = true});
            while (true) {
                try {
                    const StatementPtr statement = reader.next();
                    if (!statement) break;
                    ++statements;
                    const bool data = statement->kind == StatementKind::Insert &&
                                      static_cast<const InsertStatement&>(*statement).has_data;
                    if (data) continue;
                    for (bool multi_line : {false, true}) {
                        const std::string once = format_statement(*statement, {multi_line});
                        EXPECT_EQ(printed(once, multi_line), once) << entry.path();
                    }
                } catch (const Error& error) {
                    // Those of the corpus that are meant to fail; the corpus' own answers tell which.
                    EXPECT_NE(error.code(), ErrorCode::LOGICAL_ERROR) << entry.path();
                }
            }
        }
    }
    if (files == 0) GTEST_SKIP() << "no corpus here";
    EXPECT_GT(statements, files);
}

}  // namespace
}  // namespace firn::sql
