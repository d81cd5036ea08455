#include "firn/sql/lexer.h"

#include <gtest/gtest.h>

#include <vector>

namespace firn::sql {
namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    Lexer lexer(text, 0, 0);
    for (Token token = lexer.next(); token.type != TokenType::End; token = lexer.next()) {
        out.emplace_back(token.type == TokenType::Error ? "!" : text.substr(token.begin, token.end - token.begin));
        if (token.type == TokenType::Error && token.end == text.size()) break;
    }
    return out;
}

using Words = std::vector<std::string>;

TEST(Lexer, SkipsBlanksAndComments) {
    EXPECT_EQ(words(" a -- b\n c /* d */ e # f\n g #! h\n\t\xC2\xA0i"), (Words{"a", "c", "e", "g", "i"}));
    EXPECT_EQ(words("a-- b"), (Words{"a"}));
    EXPECT_EQ(words("a /* b"), (Words{"a", "!"}));
}

TEST(Lexer, Numbers) {
    EXPECT_EQ(words("1 1.5 1. 1e3 1e-3 0x1F 0b11 1_000 0x1.8p1"),
              (Words{"1", "1.5", "1.", "1e3", "1e-3", "0x1F", "0b11", "1_000", "0x1.8p1"}));
    EXPECT_EQ(words("x.1.2"), (Words{"x", ".", "1", ".", "2"}));
    EXPECT_EQ(words(", .5"), (Words{",", ".5"}));
    EXPECT_EQ(words("1a 1_"), (Words{"1a", "1_"})) << "a name may begin with digits";
    EXPECT_EQ(words("1.5x"), (Words{"!"}));
}

TEST(Lexer, OperatorsTakeTheLongest) {
    EXPECT_EQ(words("a<=>b<=c<>d!=e==f||g->h::i"),
              (Words{"a", "<=>", "b", "<=", "c", "<>", "d", "!=", "e", "==", "f", "||", "g", "->", "h", "::", "i"}));
    EXPECT_EQ(words("a & b"), (Words{"a", "!", "b"}));
}

TEST(Lexer, QuotesEndWhereTheyEnd) {
    EXPECT_EQ(words(R"('a''b' 'c\'d' "e""f" `g``h`)"), (Words{"'a''b'", R"('c\'d')", "\"e\"\"f\"", "`g``h`"}));
    EXPECT_EQ(words("$x$ a $y$ $x$ b"), (Words{"$x$ a $y$ $x$", "b"}));
    EXPECT_EQ(words("'a"), (Words{"!"}));
    EXPECT_EQ(words("x'4G'"), (Words{"!"}));
}

TEST(Lexer, LimitOfSize) {
    Lexer lexer("abc def", 0, 5);
    EXPECT_EQ(lexer.next().type, TokenType::BareWord);
    const Token token = lexer.next();
    EXPECT_EQ(token.type, TokenType::Error);
    EXPECT_EQ(token.error, TokenError::QueryTooBig);
}

TEST(Lexer, Strings) {
    const auto decoded = [](std::string_view token) {
        std::string out;
        return decode_string(token, out) ? out : "malformed";
    };
    EXPECT_EQ(decoded("'a''b'"), "a'b");
    EXPECT_EQ(decoded(R"('\n\t\\\'\x41')"), "\n\t\\'A");
    EXPECT_EQ(decoded(R"('\d\%')"), "\\d\\%") << "an unknown escape keeps its backslash";
    EXPECT_EQ(decoded(R"('\x4')"), "malformed");
    EXPECT_EQ(decoded("x'4142'"), "AB");
    EXPECT_EQ(decoded("X'1'"), "\x01");
    EXPECT_EQ(decoded("b'0100000101000010'"), "AB");
    EXPECT_EQ(decoded("$t$a'b\\n$t$"), "a'b\\n");
    EXPECT_EQ(decoded("\xE2\x80\x98x\xE2\x80\x99"), "x");
    std::string name;
    EXPECT_TRUE(decode_name("`a``b`", name));
    EXPECT_EQ(name, "a`b");
    EXPECT_FALSE(decode_name("``", name));
}

}  // namespace
}  // namespace firn::sql
