#include "firn/sql/parser.h"

#include <gtest/gtest.h>

#include "firn/sql/printer.h"

namespace firn::sql {
namespace {

TEST(Parser, Smoke) {
    EXPECT_EQ(format_statement(*parse_statement("select 1+2 as x from t where a = 1")), "SELECT 1 + 2 AS x FROM t WHERE a = 1");
}

}  // namespace
}  // namespace firn::sql
