// Every line of the .tsv files here: an expression, and what ClickHouse answers. Each is run on constants and, where the function
// takes columns, on flat, dictionary and run-length columns, which must agree.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/unit/functions/expression.h"

namespace firn::functions::test {
namespace {

struct Line {
    std::string expression, expected;
};

std::vector<Line> read_lines() {
    std::vector<Line> lines;
    for (const char* name : {"expressions.tsv", "text_expressions.tsv", "json_expressions.tsv",
                             "collection_expressions.tsv", "time_expressions.tsv", "code_expressions.tsv"}) {
        std::ifstream file(std::string(FIRN_SOURCE_DIR) + "/tests/unit/functions/" + name);
        EXPECT_TRUE(file.good()) << name;
        std::string line;
        while (std::getline(file, line)) {
            const size_t tab = line.find('\t');
            if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
            lines.push_back({line.substr(0, tab), line.substr(tab + 1)});
        }
    }
    EXPECT_GT(lines.size(), 100U);
    return lines;
}

TEST(Expressions, AnswerAsClickHouseDoes) {
    size_t wrong = 0;
    for (const auto& [expression, expected] : read_lines()) {
        std::string got;
        try {
            got = describe(expression);
        } catch (const std::exception& error) {
            got = error.what();
        }
        if (got == expected) continue;
        ++wrong;
        ADD_FAILURE() << expression << "\n  gives    " << got << "\n  expected " << expected;
    }
    EXPECT_EQ(wrong, 0U);
}

TEST(Expressions, EncodingsAgree) {
    for (const auto& [expression, expected] : read_lines()) {
        if (expected.starts_with("Code")) continue;
        const size_t count = argument_count(expression);
        for (unsigned columns = 1; columns < (1U << std::min<size_t>(count, 3)); ++columns) {
            std::string flat;
            try {
                flat = describe(expression, Form::Flat, columns);
                if (flat.starts_with("Code")) continue;  // wants a constant there
                EXPECT_EQ(describe(expression, Form::Dictionary, columns), flat)
                    << expression << " columns " << columns;
                EXPECT_EQ(describe(expression, Form::RunLength, columns), flat) << expression << " columns " << columns;
            } catch (const std::exception& error) {
                ADD_FAILURE() << expression << " columns " << columns << ": " << error.what();
            }
        }
    }
}

}  // namespace
}  // namespace firn::functions::test
