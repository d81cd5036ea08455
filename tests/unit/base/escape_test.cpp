#include "firn/base/escape.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

std::string escaped(std::string_view text, char quote) {
    std::string out;
    append_escaped(out, text, quote);
    return out;
}

std::string json(std::string_view text, JsonSlash slash = JsonSlash::Bare) {
    std::string out;
    append_json_string(out, text, slash);
    return out;
}

TEST(Escape, BackslashesForSql) {
    EXPECT_EQ(escaped(std::string_view("a\b\f\n\r\t\\\0'`", 10), '\''), R"(a\b\f\n\r\t\\\0\'`)");
    EXPECT_EQ(escaped("'`", '`'), R"('\`)");
    EXPECT_EQ(escaped("'`", 0), "'`");
}

TEST(Escape, JsonStrings) {
    EXPECT_EQ(json("a\b\f\n\r\t\\\"/"), R"("a\b\f\n\r\t\\\"/")");
    EXPECT_EQ(json("a/b", JsonSlash::Escaped), R"("a\/b")");
    EXPECT_EQ(json(std::string_view("\0\x1f", 2)), R"("\u0000\u001F")");
    EXPECT_EQ(json("\xc3\xa9\xff"), "\"\xc3\xa9\xff\"");
}

}  // namespace
}  // namespace firn
