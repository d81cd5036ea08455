// The benchmark's queries: each is analyzed and optimized, and its plan has the shape that makes it fast.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/unit/plan/fake_tables.h"

namespace firn::plan::test {
namespace {

std::string query(int number) {
    std::ifstream file(fmt::format("{}/bench/queries/tpch/q{:02}.sql", FIRN_SOURCE_DIR, number));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

class Tpch : public testing::TestWithParam<int> {};

TEST_P(Tpch, PlansWithoutCrossJoin) {
    Planner planner;
    const NodePtr plan = planner.plan(query(GetParam()));
    if (std::getenv("FIRN_SHOW"))
        for (const std::string& line : explain(*plan, false)) std::cout << line << "\n";
    for (const Node* node : nodes_of(*plan, NodeKind::Join)) {
        const auto& join = static_cast<const JoinNode&>(*node);
        EXPECT_NE(join.join, JoinKind::Cross);
        EXPECT_FALSE(join.left_keys.empty());
    }
    // Comments are read by the queries that name them alone.
    static constexpr int kWithComment[] = {2, 10, 13, 16};
    if (std::find(std::begin(kWithComment), std::end(kWithComment), GetParam()) != std::end(kWithComment)) return;
    for (const Node* node : nodes_of(*plan, NodeKind::Scan))
        for (const OutputColumn& column : node->output)
            EXPECT_EQ(column.name.find("_comment"), std::string::npos) << column.name;
}

INSTANTIATE_TEST_SUITE_P(Queries, Tpch, testing::Range(1, 23));

}  // namespace
}  // namespace firn::plan::test
