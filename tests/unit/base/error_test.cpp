#include "firn/base/error.h"

#include <gtest/gtest.h>

using namespace firn;

TEST(Error, DisplaysCodeAndNameLast) {
    Error error(ErrorCode::BAD_ARGUMENTS, "no such thing.\n");
    EXPECT_EQ(error.display(), "Code: 36. DB::Exception: no such thing. (BAD_ARGUMENTS)");
    error.add_context("In table t: ");
    EXPECT_EQ(error.message(), "In table t: no such thing.\n");
}

TEST(Error, FailFormats) {
    try {
        fail(ErrorCode::UNKNOWN_IDENTIFIER, "column {} of {}", "a", "t");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::UNKNOWN_IDENTIFIER);
        EXPECT_STREQ(error.what(), "column a of t");
    }
}
