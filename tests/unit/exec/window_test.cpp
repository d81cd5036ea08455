#include <gtest/gtest.h>

#include "tests/unit/exec/plan_maker.h"

using namespace firn;
using namespace firn::exec;
using namespace firn::exec::test;

namespace {

using Bound = plan::WindowFrame::Bound;
using Unit = plan::WindowFrame::Unit;
using Rows = std::vector<std::string>;

/// One call over x = 1, 1, 1, 2, 3, 3, ordered by x.
Rows over_numbers(plan::WindowCall call, plan::WindowFrame frame = {}) {
    auto values = std::make_unique<plan::ValuesNode>();
    values->output = {{"x", int64_type()}};
    values->batches.push_back(Batch{{make_vector<int64_t>(int64_type(), {3, 1, 2, 1, 3, 1})}, 6});
    auto node = over<plan::WindowNode>(std::move(values));
    node->order = {{column(*node, 0), false, false, ""}};
    node->frame = frame;
    node->output.push_back({"w", call.type});
    node->calls.push_back(std::move(call));
    Rows results;
    for (const auto& options : all_options()) {
        Rows rows;
        for (const auto& row : run(*node, options)) rows.push_back(row.substr(row.find(',') + 1));
        EXPECT_TRUE(results.empty() || results == rows);
        results = rows;
    }
    return results;
}

plan::WindowCall rank_call(const std::string& name, TypeId type = TypeId::UInt64) {
    return {name, nullptr, {}, make_type(type)};
}

plan::WindowCall sum_call() {
    return {"sum", std::make_shared<SumFunction>(false), {plan::make_column(0, int64_type())}, int64_type()};
}

plan::WindowFrame frame_of(Unit unit, Bound start, int64_t before, Bound end, int64_t after) {
    return {unit, start, end, make_value<int64_t>(int64_type(), before), make_value<int64_t>(int64_type(), after)};
}

}  // namespace

TEST(Window, Ranks) {
    EXPECT_EQ(over_numbers(rank_call("row_number")), (Rows{"1", "2", "3", "4", "5", "6"}));
    EXPECT_EQ(over_numbers(rank_call("rank")), (Rows{"1", "1", "1", "4", "5", "5"}));
    EXPECT_EQ(over_numbers(rank_call("dense_rank")), (Rows{"1", "1", "1", "2", "3", "3"}));
    EXPECT_EQ(over_numbers(rank_call("percent_rank", TypeId::Float64))[3], "0.600000");
    auto tiles = rank_call("ntile");
    tiles.arguments = {plan::make_constant(make_value<int64_t>(int64_type(), 4))};
    EXPECT_EQ(over_numbers(tiles), (Rows{"1", "1", "2", "2", "3", "4"}));
}

TEST(Window, FramesOfAggregates) {
    EXPECT_EQ(over_numbers(sum_call()), (Rows{"3", "3", "3", "5", "11", "11"}));
    EXPECT_EQ(over_numbers(sum_call(), frame_of(Unit::Rows, Bound::Preceding, 1, Bound::Current, 0)),
              (Rows{"1", "2", "2", "3", "5", "6"}));
    EXPECT_EQ(over_numbers(sum_call(), frame_of(Unit::Rows, Bound::Following, 1, Bound::UnboundedFollowing, 0)),
              (Rows{"10", "9", "8", "6", "3", "0"}));
    EXPECT_EQ(over_numbers(sum_call(), frame_of(Unit::Range, Bound::Preceding, 1, Bound::Current, 0)),
              (Rows{"3", "3", "3", "5", "8", "8"}));
    EXPECT_EQ(over_numbers(sum_call(), frame_of(Unit::Groups, Bound::Current, 0, Bound::Following, 1)),
              (Rows{"5", "5", "5", "8", "6", "6"}));
    EXPECT_EQ(
        over_numbers(sum_call(), frame_of(Unit::Range, Bound::UnboundedPreceding, 0, Bound::UnboundedFollowing, 0)),
        Rows(6, "11"));
}

TEST(Window, OtherRows) {
    plan::WindowCall lag{
        "lag",
        nullptr,
        {plan::make_column(0, int64_type()), plan::make_constant(make_value<int64_t>(int64_type(), 2))},
        int64_type()};
    EXPECT_EQ(over_numbers(lag), (Rows{"0", "0", "1", "1", "1", "2"}));
    plan::WindowCall lead{
        "lead",
        nullptr,
        {plan::make_column(0, int64_type()), plan::make_constant(make_value<int64_t>(int64_type(), 1)),
         plan::make_constant(make_value<int64_t>(int64_type(), 9))},
        int64_type()};
    EXPECT_EQ(over_numbers(lead), (Rows{"1", "1", "2", "3", "3", "9"}));
    plan::WindowCall last{"last_value", nullptr, {plan::make_column(0, int64_type())}, int64_type()};
    EXPECT_EQ(over_numbers(last, frame_of(Unit::Rows, Bound::Current, 0, Bound::Following, 1)),
              (Rows{"1", "1", "2", "3", "3", "3"}));
    plan::WindowCall nth{
        "nth_value",
        nullptr,
        {plan::make_column(0, int64_type()), plan::make_constant(make_value<int64_t>(int64_type(), 2))},
        int64_type()};
    EXPECT_EQ(over_numbers(nth, frame_of(Unit::Rows, Bound::Preceding, 1, Bound::Following, 1)),
              (Rows{"1", "1", "1", "2", "3", "3"}));
}

TEST(Window, PartitionsAreApart) {
    auto node = over<plan::WindowNode>(scan(mixed_source(1000, 7, 13)));
    node->partition = {column(*node, 1)};
    node->order = {{column(*node, 0), true, false, ""}};
    node->calls = {rank_call("row_number")};
    node->output.push_back({"w", make_type(TypeId::UInt64)});
    for (const auto& options : all_options())
        for (const auto& row : run(*node, options)) {
            const int64_t id = std::stoll(row), expected = (999 - id) / 7 + 1;
            EXPECT_EQ(row.substr(row.rfind(',') + 1), std::to_string(expected));
        }
}
