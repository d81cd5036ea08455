#include "firn/exec/evaluator.h"

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/exec/filter.h"
#include "tests/unit/exec/plan_maker.h"

using namespace firn;
using namespace firn::exec;
using namespace firn::exec::test;

namespace {

ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> arguments) {
    return plan::call(name, std::move(arguments), {});
}
ExpressionPtr number(int64_t value) { return plan::make_constant(make_value<int64_t>(int64_type(), value)); }
ExpressionPtr text(const std::string& value) { return plan::make_constant(make_string_value(string_type(), value)); }
ExpressionPtr integer_column(size_t i) { return plan::make_column(i, int64_type()); }

VectorPtr coded(VectorPtr base, const std::vector<uint32_t>& codes) {
    auto buffer = Buffer::allocate(codes.size() * sizeof(uint32_t));
    std::copy(codes.begin(), codes.end(), buffer->mutable_as<uint32_t>());
    return Vector::dictionary(std::move(base), codes.size(), std::move(buffer));
}

std::vector<std::string> values_of(const VectorPtr& vector) { return rows_of({Batch{{vector}, vector->size()}}); }

using Values = std::vector<std::string>;

}  // namespace

TEST(Evaluator, BranchesAreComputedOnTheirRowsOnly) {
    const Batch batch{{make_vector<int64_t>(int64_type(), {1, 0, 2, 0})}, 4};
    const auto x = integer_column(0);
    const auto divide = call("intDiv", {number(10), x});
    EXPECT_THROW(Evaluator({divide}).evaluate_one(batch), Error);
    EXPECT_EQ(
        values_of(Evaluator({call("if", {call("equals", {x, number(0)}), number(-1), divide})}).evaluate_one(batch)),
        (Values{"10", "-1", "5", "-1"}));
    EXPECT_EQ(values_of(Evaluator({call("multiIf", {call("equals", {x, number(0)}), number(-1),
                                                    call("equals", {divide, number(10)}), number(7), divide})})
                            .evaluate_one(batch)),
              (Values{"7", "-1", "5", "-1"}));
    EXPECT_EQ(
        values_of(Evaluator({call("and", {call("notEquals", {x, number(0)}), call("equals", {divide, number(5)})})})
                      .evaluate_one(batch)),
        (Values{"0", "0", "1", "0"}));
    EXPECT_EQ(values_of(Evaluator({call("or", {call("equals", {x, number(0)}), call("equals", {divide, number(5)})})})
                            .evaluate_one(batch)),
              (Values{"0", "1", "1", "1"}));
}

TEST(Evaluator, FunctionsOfDictionariesKeepThem) {
    const auto base = make_vector<int64_t>(int64_type(), {1, 0, 5});
    Evaluator evaluator({call("plus", {integer_column(0), number(1)})});
    const auto result = evaluator.evaluate_one(Batch{{coded(base, {2, 0, 2, 2})}, 4});
    EXPECT_EQ(result->encoding(), Encoding::Dictionary);
    EXPECT_EQ(values_of(result), (Values{"6", "2", "6", "6"}));
    const auto again = evaluator.evaluate_one(Batch{{coded(base, {0})}, 1});
    EXPECT_EQ(again->base(), result->base());
    // An entry that no row uses does not make the expression fail.
    Evaluator divides({call("intDiv", {number(10), integer_column(0)})});
    EXPECT_EQ(values_of(divides.evaluate_one(Batch{{coded(base, {2, 0, 2, 2})}, 4})), (Values{"2", "10", "2", "2"}));
    EXPECT_THROW(divides.evaluate_one(Batch{{coded(base, {1})}, 1}), Error);
}

TEST(Filter, AgreesWithFlatInEveryEncoding) {
    const std::vector<ExpressionPtr> conjuncts{call("greater", {integer_column(0), number(2)}),
                                               call("notEquals", {plan::make_column(1, string_type()), text("b")}),
                                               call("less", {integer_column(0), number(9)})};
    Filter filter(conjuncts);
    EXPECT_TRUE(Filter({}).empty());
    const auto numbers = make_vector<int64_t>(int64_type(), {1, 3, 5, 7, 9});
    const auto words = make_string_vector(string_type(), {"a", "b", "c"});
    for (int round = 0; round < 40; ++round) {  // long enough for conjuncts to change places
        const Batch batch{{coded(numbers, {0, 1, 2, 3, 4, 3}), coded(words, {0, 0, 1, 2, 0, 1})}, 6};
        EXPECT_EQ(filter.select(batch), (Selection{1, 3}));
        EXPECT_EQ(filter.select(Batch{{flatten(batch.columns[0]), batch.columns[1]}, 6}), (Selection{1, 3}));
        EXPECT_EQ(filter.select(Batch{{Vector::constant(slice(numbers, 1, 1), 6), batch.columns[1]}, 6}),
                  (Selection{0, 1, 3, 4}));
    }
}

TEST(Filter, AConjunctThatMayFailStaysBehindItsGuard) {
    const auto x = integer_column(0);
    Filter filter({call("notEquals", {x, number(0)}), call("greater", {call("intDiv", {number(10), x}), number(3)})});
    for (int round = 0; round < 40; ++round)
        EXPECT_EQ(filter.select(Batch{{make_vector<int64_t>(int64_type(), {0, 1, 2, 5, 0})}, 5}), (Selection{1, 2}));
}

TEST(Fill, FillsGapsUpToTheEnd) {
    auto values = std::make_unique<plan::ValuesNode>();
    values->output = {{"x", int64_type()}, {"y", int64_type()}};
    values->batches.push_back(
        Batch{{make_vector<int64_t>(int64_type(), {1, 4, 5}), make_vector<int64_t>(int64_type(), {10, 40, 50})}, 3});
    auto node = over<plan::FillNode>(std::move(values));
    node->columns.push_back({0, false, nullptr, make_value<int64_t>(int64_type(), 8), nullptr});
    EXPECT_EQ(run(*node), (Values{"1,10", "2,0", "3,0", "4,40", "5,50", "6,0", "7,0"}));
    node->columns[0].from = make_value<int64_t>(int64_type(), 0);
    node->columns[0].step = make_value<int64_t>(int64_type(), 2);
    node->interpolate = {{1, call("plus", {integer_column(1), number(1)})}};
    EXPECT_EQ(run(*node), (Values{"0,0", "1,10", "2,11", "4,40", "5,50", "6,51"}));
}
