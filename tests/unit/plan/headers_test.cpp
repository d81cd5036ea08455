// Names and types of result columns, and codes of errors, as the conformance corpus has them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/unit/plan/fake_tables.h"

namespace firn::plan::test {
namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    size_t begin = 0;
    while (true) {
        const size_t end = text.find(by, begin);
        parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
        if (end == std::string::npos) return parts;
        begin = end + by.size();
    }
}

/// "name\tname\nType\tType" of TSVWithNamesAndTypes, or "Code: N (NAME)", in the form of Planner::header.
std::string expected_header(const std::string& answer) {
    if (answer.starts_with("Code: ")) {
        const size_t open = answer.find('(');
        return answer.substr(6, open - 7) + " " + answer.substr(open + 1, answer.find(')') - open - 1);
    }
    const auto lines = split(answer, "\n");
    if (lines.size() < 2) return "?";
    const auto names = split(lines[0], "\t"), types = split(lines[1], "\t");
    std::string out;
    for (size_t i = 0; i < names.size() && i < types.size(); ++i) {
        std::string name = names[i], type = types[i];
        for (std::string* text : {&name, &type})
            for (size_t at; (at = text->find("\\'")) != std::string::npos;) text->erase(at, 1);
        out += name + " " + type + "\n";
    }
    return out;
}

struct Count {
    size_t passed = 0, failed = 0;
};

Count check_area(const std::string& area, bool verbose) {
    Count count;
    const std::filesystem::path root = std::filesystem::path(FIRN_SOURCE_DIR) / "tests/conformance/cases" / area;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        if (entry.path().extension() != ".sql") continue;
        const auto answers =
            split(read_file(std::filesystem::path(entry.path()).replace_extension(".expected")), "\n---\n");
        size_t number = 0;
        Planner planner;
        for (std::string text : split(read_file(entry.path()), ";\n")) {
            while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.erase(0, 1);
            if (text.starts_with("--") && text.find('\n') != std::string::npos) text = text.substr(text.find('\n') + 1);
            if (text.empty()) continue;
            if (text.starts_with("SET param_")) {
                const size_t equals = text.find('=');
                std::string value = text.substr(equals + 2);
                if (value.front() == '\'') value = sql::parse_expr(value)->literal.text;
                planner.parameters[text.substr(10, equals - 11)] = value;
                continue;
            }
            if (number >= answers.size()) break;
            const std::string answer = answers[number++];
            if (text.find("TSVWithNamesAndTypes") == std::string::npos && !answer.starts_with("Code")) continue;
            std::string got;
            try {
                got = planner.header(text);
            } catch (const std::exception& error) {
                got = std::string("exception ") + error.what();
            }
            const std::string wanted = expected_header(answer);
            if (got == wanted) {
                ++count.passed;
                continue;
            }
            ++count.failed;
            if (verbose)
                std::cout << area << "/" << entry.path().stem().string() << ": " << text << "\n  got: " << got
                          << "\n  wanted: " << wanted << "\n";
        }
    }
    return count;
}

class Headers : public testing::TestWithParam<std::pair<const char*, size_t>> {};

/// Failures allowed: statements that fail only when they run, and what is not built yet.
TEST_P(Headers, MatchCorpus) {
    const Count count = check_area(GetParam().first, std::getenv("FIRN_SHOW") != nullptr);
    std::cout << GetParam().first << ": " << count.passed << " as recorded, " << count.failed << " not\n";
    EXPECT_LE(count.failed, GetParam().second);
    EXPECT_GT(count.passed, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Areas, Headers,
    testing::Values(std::pair<const char*, size_t>{"select", 11}, std::pair<const char*, size_t>{"joins", 0},
                    std::pair<const char*, size_t>{"groupby", 0}, std::pair<const char*, size_t>{"orderlimit", 15},
                    std::pair<const char*, size_t>{"errors", 16}, std::pair<const char*, size_t>{"windows", 2}));

}  // namespace
}  // namespace firn::plan::test
