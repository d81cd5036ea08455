// Single rules, seen in the plans they make.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/plan/fake_tables.h"

namespace firn::plan::test {
namespace {

template <typename T>
const T& only(const Node& plan, NodeKind kind) {
    const auto found = nodes_of(plan, kind);
    EXPECT_EQ(found.size(), 1U);
    return static_cast<const T&>(*found.at(0));
}

TEST(Optimizer, ConditionsReachTheScanThroughSubqueriesAndKeys) {
    Planner planner;
    const NodePtr plan =
        planner.plan("select k, n from (select grp as k, count() as n from tiny group by grp) where k = 'a' and n > 1");
    const auto& scan = only<ScanNode>(*plan, NodeKind::Scan);
    ASSERT_EQ(scan.request.filters.size(), 1U);
    EXPECT_EQ(scan.output.size(), 1U);
    EXPECT_EQ(nodes_of(*plan, NodeKind::Filter).size(), 1U);  // n > 1 stays above the aggregation
}

TEST(Optimizer, ColumnsOfFiltersAloneAreNotGivenOut) {
    Planner planner;
    const NodePtr plan = planner.plan("select sum(l_quantity) from lineitem where l_tax > 1");
    const auto& scan = only<ScanNode>(*plan, NodeKind::Scan);
    ASSERT_EQ(scan.output.size(), 2U);
    EXPECT_EQ(scan.output[0].name, "l_quantity");
    EXPECT_EQ(scan.request.output, (std::vector<bool>{true, false}));
}

TEST(Optimizer, OuterJoinStaysWhereDefaultsPass) {
    Planner planner;
    // Missing rows have 0: `= 0` lets them pass, `> 0` does not.
    const NodePtr kept =
        planner.plan("select c_custkey from customer left join orders on c_custkey = o_custkey where o_orderkey = 0");
    const NodePtr weakened =
        planner.plan("select c_custkey from customer left join orders on c_custkey = o_custkey where o_orderkey > 0");
    const auto kind_of = [](const Node& plan) {
        return static_cast<const JoinNode&>(*nodes_of(plan, NodeKind::Join).at(0)).join;
    };
    EXPECT_TRUE(kind_of(*kept) == JoinKind::Left || kind_of(*kept) == JoinKind::Right);
    EXPECT_EQ(kind_of(*weakened), JoinKind::Inner);
}

TEST(Optimizer, OuterJoinWithNullsBecomesInnerWhereNullFails) {
    Planner planner;
    planner.settings["join_use_nulls"] = "1";
    const NodePtr plan =
        planner.plan("select o_orderkey from customer left join orders on c_custkey = o_custkey where o_orderkey = 0");
    EXPECT_EQ(only<JoinNode>(*plan, NodeKind::Join).join, JoinKind::Inner);
    EXPECT_EQ(plan->output[0].type->name(), "Nullable(Int64)");
}

TEST(Optimizer, TheSmallerSideIsBuiltAndTellsTheOther) {
    Planner planner;
    const NodePtr plan =
        planner.plan("select count() from nation, supplier where s_nationkey = n_nationkey and n_name = 'PERU'");
    const auto& join = only<JoinNode>(*plan, NodeKind::Join);
    EXPECT_EQ(static_cast<const ScanNode&>(*nodes_of(*join.children[1], NodeKind::Scan).at(0)).source->description(),
              "nation");
    ASSERT_EQ(join.runtime_filters.size(), 1U);
    const auto& probed = static_cast<const ScanNode&>(*nodes_of(*join.children[0], NodeKind::Scan).at(0));
    ASSERT_EQ(probed.request.runtime_filters.size(), 1U);
    EXPECT_EQ(probed.output[probed.request.runtime_filters[0]->column].name, "s_nationkey");
}

TEST(Optimizer, TopNTellsTheScan) {
    Planner planner;
    const NodePtr plan = planner.plan("select o_comment from orders order by o_totalprice desc limit 5");
    const auto& scan = only<ScanNode>(*plan, NodeKind::Scan);
    ASSERT_TRUE(scan.request.order_column.has_value());
    EXPECT_EQ(scan.output[*scan.request.order_column].name, "o_totalprice");
    EXPECT_TRUE(scan.request.order_descending);
    EXPECT_EQ(scan.request.runtime_filters.size(), 1U);
    EXPECT_EQ(only<SortNode>(*plan, NodeKind::Sort).limit, 5U);
}

TEST(Optimizer, LimitReachesTheScanOnlyWithoutAnOrder) {
    Planner planner;
    EXPECT_EQ(only<ScanNode>(*planner.plan("select o_orderkey + 1 from orders limit 5 offset 2"), NodeKind::Scan)
                  .request.limit,
              7U);
    EXPECT_FALSE(only<ScanNode>(*planner.plan("select o_orderkey from orders order by 1 limit 5"), NodeKind::Scan)
                     .request.limit.has_value());
    EXPECT_FALSE(
        only<ScanNode>(*planner.plan("select count() from orders limit 5"), NodeKind::Scan).request.limit.has_value());
}

TEST(Optimizer, CountsAndExtremesAreAskedOfMetadata) {
    Planner planner;
    const NodePtr plan = planner.plan("select count(), min(l_shipdate), max(l_quantity) from lineitem where l_tax > 1");
    const auto& scan = only<ScanNode>(*plan, NodeKind::Scan);
    ASSERT_EQ(scan.request.aggregates.size(), 3U);
    EXPECT_TRUE(only<AggregateNode>(*plan, NodeKind::Aggregate).merge_metadata_partials);
    const NodePtr other = planner.plan("select count(), sum(l_quantity) from lineitem");
    EXPECT_TRUE(only<ScanNode>(*other, NodeKind::Scan).request.aggregates.empty());
}

TEST(Optimizer, AConditionThatCannotHoldReadsNothing) {
    Planner planner;
    EXPECT_TRUE(nodes_of(*planner.plan("select l_tax from lineitem where 1 = 0"), NodeKind::Scan).empty());
    EXPECT_TRUE(nodes_of(*planner.plan("select l_tax from lineitem where null"), NodeKind::Scan).empty());
}

TEST(Optimizer, JoinsOfManyToManyColumnsComeLast) {
    // c_nationkey = s_nationkey alone would pair every customer with every supplier of a nation.
    Planner planner;
    const NodePtr plan = planner.plan(
        "select count() from customer, orders, supplier, lineitem where c_custkey = o_custkey and l_orderkey = "
        "o_orderkey and "
        "l_suppkey = s_suppkey and c_nationkey = s_nationkey");
    for (const Node* node : nodes_of(*plan, NodeKind::Join)) {
        const auto& join = static_cast<const JoinNode&>(*node);
        EXPECT_FALSE(join.left_keys.size() == 1 &&
                     join.children[0]->output[join.left_keys[0]->index].name == "c_nationkey");
    }
}

TEST(Optimizer, ExplainNamesColumns) {
    Planner planner;
    const auto lines =
        explain(*planner.plan("select l_tax from lineitem where l_quantity > 5 order by l_tax limit 3"), false);
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find("greater(l_quantity, 5)") != std::string::npos;
    }));
}

}  // namespace
}  // namespace firn::plan::test
