#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/functions/aggregate.h"
#include "tests/unit/exec/plan_maker.h"

using namespace firn;
using namespace firn::exec;
using namespace firn::exec::test;

namespace {

std::unique_ptr<plan::AggregateNode> aggregate(NodePtr child, const std::vector<size_t>& keys) {
    auto node = std::make_unique<plan::AggregateNode>();
    for (const size_t key : keys) {
        node->keys.push_back(column(*child, key));
        node->output.push_back(child->output[key]);
    }
    node->aggregates.push_back({std::make_shared<SumFunction>(true), {}, nullptr, "count"});
    node->aggregates.push_back({std::make_shared<SumFunction>(false), {column(*child, 0)}, nullptr, "sum"});
    node->output.push_back({"count", make_type(TypeId::UInt64)});
    node->output.push_back({"sum", int64_type()});
    node->children.push_back(std::move(child));
    return node;
}

std::unique_ptr<plan::JoinNode> join(plan::JoinKind kind, NodePtr left, NodePtr right,
                                     const std::vector<size_t>& keys) {
    auto node = std::make_unique<plan::JoinNode>();
    node->join = kind;
    for (const size_t key : keys) {
        node->left_keys.push_back(column(*left, key));
        node->right_keys.push_back(column(*right, key));
    }
    const bool only_right = kind == plan::JoinKind::RightSemi || kind == plan::JoinKind::RightAnti;
    const bool only_left =
        kind == plan::JoinKind::LeftSemi || kind == plan::JoinKind::LeftAnti || kind == plan::JoinKind::Mark;
    if (!only_right) node->output = left->output;
    if (!only_left) node->output.insert(node->output.end(), right->output.begin(), right->output.end());
    if (kind == plan::JoinKind::Mark) node->output.push_back({"mark", make_type(TypeId::UInt8)});
    node->children.push_back(std::move(left));
    node->children.push_back(std::move(right));
    return node;
}

/// The value of one row of a source made by mixed_source.
struct Row {
    int64_t id, group;
    std::string name, value;
    std::string text() const { return std::to_string(id) + ',' + std::to_string(group) + ',' + name + ',' + value; }
};

std::vector<Row> mixed_rows(size_t rows, size_t groups, size_t names) {
    std::vector<Row> out;
    for (size_t i = 0; i < rows; ++i)
        out.push_back({static_cast<int64_t>(i), static_cast<int64_t>(i % groups), "name " + std::to_string(i % names),
                       i % 5 == 0 ? "NULL" : std::to_string(i % 11)});
    return out;
}

void expect_rows(const Node& plan, std::vector<std::string> expected) {
    expected = sorted(expected);
    for (const auto& options : all_options())
        EXPECT_EQ(sorted(run(plan, options)), expected)
            << options.threads << " threads, " << options.batch_rows << " rows, flat " << options.force_flat;
}

}  // namespace

TEST(Aggregate, GroupsOfFewAndOfManyWorkersAreMerged) {
    // So many groups that several parts of a map are merged; the source divides its batches among the workers.
    const auto source = mixed_source(60000, 20011, 30011, 500);
    for (const auto& keys : std::vector<std::vector<size_t>>{{1}, {2}, {1, 2}, {1, 3}, {2, 3}}) {
        const auto plan = aggregate(scan(source), keys);
        ExecutionOptions options;
        options.threads = 1;
        const auto expected = sorted(run(*plan, options));
        for (const size_t threads : {2, 3, 4, 7}) {
            options.threads = threads;
            EXPECT_EQ(sorted(run(*plan, options)), expected) << threads << " threads, " << keys.size() << " keys";
        }
    }
}

TEST(Aggregate, EveryFormOfKeyInEveryEncoding) {
    const std::vector<std::vector<size_t>> key_sets{{1},    {2},    {3},          {1, 2},
                                                    {1, 3}, {2, 3}, {0, 1, 2, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 2}};
    const auto source = mixed_source(1000, 7, 13);
    for (const auto& keys : key_sets) {
        std::map<std::string, std::pair<uint64_t, int64_t>> groups;
        for (const auto& row : mixed_rows(1000, 7, 13)) {
            std::string key;
            for (const size_t k : keys)
                key += (k == 0   ? std::to_string(row.id)
                        : k == 1 ? std::to_string(row.group)
                        : k == 2 ? row.name
                                 : row.value) +
                       ',';
            ++groups[key].first;
            groups[key].second += row.id;
        }
        std::vector<std::string> expected;
        for (const auto& [key, sums] : groups)
            expected.push_back(key + std::to_string(sums.first) + ',' + std::to_string(sums.second));
        expect_rows(*aggregate(scan(source), keys), expected);
    }
}

/// Large batches of few groups are added group by group, small ones row by row.
TEST(Aggregate, FewGroupsInLargeBatches) {
    const auto plan = [](const std::shared_ptr<TestSource>& source, const std::vector<size_t>& keys, bool filtered) {
        auto node = aggregate(scan(source), keys);
        const Node& child = *node->children[0];
        const auto call = [&](const char* name, std::vector<ExpressionPtr> arguments, ExpressionPtr filter = nullptr) {
            std::vector<TypePtr> types;
            for (const auto& argument : arguments) types.push_back(argument->type);
            const auto function = functions::AggregateRegistry::instance().bind(name, types, {});
            node->aggregates.push_back({function, std::move(arguments), std::move(filter), name});
            node->output.push_back({name, function->result_type()});
        };
        call("count", {});
        for (const char* name : {"sum", "avg", "min", "count"})
            for (const size_t argument : {0, 3}) call(name, {column(child, argument)});
        if (filtered) call("sum", {column(child, 0)}, column(child, 1));
        return node;
    };
    for (const std::vector<size_t>& keys : {std::vector<size_t>{1}, {2}, {3}, {1, 2}, {1, 2, 3}})
        for (const size_t groups : {1, 2, 5, 16, 17}) {
            const auto large = plan(mixed_source(6003, groups, 3, 1200), keys, groups == 5);
            const auto small = plan(mixed_source(6003, groups, 3, 100), keys, groups == 5);
            EXPECT_EQ(sorted(run(*large)), sorted(run(*small))) << keys.size() << " keys, " << groups << " groups";
        }
}

TEST(Aggregate, ManyGroupsAreMergedInPartitions) {
    const auto source = mixed_source(60000, 25000, 20000, 5000);
    for (const size_t key : {1, 2}) {
        ExecutionOptions one, four;
        four.threads = 4;
        const auto plan = aggregate(scan(source), {key});
        const auto expected = sorted(run(*plan, one));
        EXPECT_EQ(expected.size(), key == 1 ? 25000 : 20000);
        EXPECT_EQ(sorted(run(*plan, four)), expected);
        const auto pairs = aggregate(scan(source), {key, 3});
        EXPECT_EQ(sorted(run(*pairs, four)), sorted(run(*pairs, one)));
    }
}

TEST(Aggregate, WithoutKeysGivesOneRow) {
    expect_rows(*aggregate(scan(mixed_source(1000, 3, 3)), {}), {"1000,499500"});
    expect_rows(*aggregate(scan(mixed_source(0, 3, 3)), {}), {"0,0"});
    expect_rows(*aggregate(scan(mixed_source(0, 3, 3)), {1}), {});
}

TEST(Aggregate, GroupingSets) {
    auto node = aggregate(scan(mixed_source(100, 2, 3)), {1, 2});
    node->grouping_sets = {{0, 1}, {0}, {}};
    node->output.insert(node->output.begin() + 2, {"set", make_type(TypeId::UInt64)});
    const auto rows = run(*node);
    EXPECT_EQ(rows.size(), 6 + 2 + 1);
    EXPECT_NE(std::find(rows.begin(), rows.end(), "0,,2,100,4950"), rows.end());
    EXPECT_NE(std::find(rows.begin(), rows.end(), "1,,1,50,2500"), rows.end());
}

TEST(Aggregate, AddsWhatMetadataAnswers) {
    const auto source = mixed_source(1000, 3, 3);
    const TypePtr count = make_type(TypeId::UInt64);
    source->partials = {Batch{{make_value<uint64_t>(count, 40), make_value<int64_t>(int64_type(), 5)}, 1},
                        Batch{{make_value<uint64_t>(count, 2), make_value<int64_t>(int64_type(), 7)}, 1}};
    auto child = scan(source);
    static_cast<plan::ScanNode&>(*child).request.aggregates = {{plan::MetadataAggregate::Kind::Count, 0, true},
                                                               {plan::MetadataAggregate::Kind::Min, 0, true}};
    auto node = aggregate(std::move(child), {});
    node->merge_metadata_partials = true;
    EXPECT_EQ(run(*node), std::vector<std::string>{"1042,499512"});
}

TEST(Distinct, KeepsTheFirstOfEach) {
    auto node = std::make_unique<plan::DistinctNode>();
    auto child = scan(mixed_source(500, 4, 6));
    auto project = std::make_unique<plan::ProjectNode>();
    project->expressions = {column(*child, 1), column(*child, 2)};
    project->output = {child->output[1], child->output[2]};
    project->children.push_back(std::move(child));
    node->output = project->output;
    node->children.push_back(std::move(project));
    std::set<std::string> expected;
    for (const auto& row : mixed_rows(500, 4, 6)) expected.insert(std::to_string(row.group) + ',' + row.name);
    expect_rows(*node, {expected.begin(), expected.end()});

    auto on = over<plan::DistinctNode>(scan(mixed_source(500, 4, 6)));
    on->keys = {column(*on, 1)};
    EXPECT_EQ(run(*on), (std::vector<std::string>{"0,0,name 0,NULL", "1,1,name 1,1", "2,2,name 2,2", "3,3,name 3,3"}));
}

TEST(Sort, OrdersByEveryKind) {
    const size_t count = 700;
    for (const size_t key : {0, 1, 2, 3})
        for (const bool descending : {false, true})
            for (const bool nulls_first : {false, true})
                for (const auto limit : std::vector<std::optional<uint64_t>>{std::nullopt, 0, 1, 10, 5000}) {
                    auto node = over<plan::SortNode>(scan(mixed_source(count, 7, 13)));
                    node->keys = {{column(*node, key), descending, nulls_first, ""},
                                  {column(*node, 0), !descending, false, ""}};
                    node->limit = limit;
                    auto rows = mixed_rows(count, 7, 13);
                    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
                        int order = 0;
                        if (key == 0) order = a.id < b.id ? -1 : a.id > b.id;
                        if (key == 1) order = a.group < b.group ? -1 : a.group > b.group;
                        if (key == 2) order = a.name.compare(b.name);
                        if (key == 3) {
                            const bool null_a = a.value == "NULL", null_b = b.value == "NULL";
                            if (null_a != null_b) return null_a == nulls_first;
                            if (!null_a) order = std::stoi(a.value) - std::stoi(b.value);
                        }
                        if (order) return descending ? order > 0 : order < 0;
                        return descending ? a.id < b.id : a.id > b.id;
                    });
                    std::vector<std::string> expected;
                    for (const auto& row : rows) expected.push_back(row.text());
                    if (limit && *limit < expected.size()) expected.resize(*limit);
                    for (const auto& options : all_options())
                        ASSERT_EQ(run(*node, options), expected) << key << descending << nulls_first;
                }
}

TEST(Sort, LimitWithTiesAndThreshold) {
    auto node = over<plan::SortNode>(scan(mixed_source(700, 7, 13)));
    node->keys = {{column(*node, 1), false, false, ""}};
    node->limit = 5;
    node->with_ties = true;
    node->threshold = std::make_shared<plan::RuntimeFilter>();
    for (const auto& options : all_options()) EXPECT_EQ(run(*node, options).size(), 100);
    ASSERT_TRUE(node->threshold->ready);
    EXPECT_EQ(node->threshold->content()->max->values<int64_t>()[0], 0);
}

TEST(Sort, ManyRowsInParallel) {
    auto node = over<plan::SortNode>(scan(mixed_source(50000, 7, 13, 1000)));
    node->keys = {{column(*node, 2), true, false, ""}, {column(*node, 0), false, false, ""}};
    ExecutionOptions four;
    four.threads = 4;
    EXPECT_EQ(run(*node, four), run(*node));
}

TEST(Limit, TakesAsManyRowsAndStopsReading) {
    for (const auto& options : all_options()) {
        const auto source = mixed_source(10000, 3, 3);
        auto node = over<plan::LimitNode>(scan(source));
        node->limit = 7;
        node->offset = 5;
        EXPECT_EQ(run(*node, options).size(), 7);
        EXPECT_LE(source->given, 8);
    }
    auto node = over<plan::LimitNode>(scan(mixed_source(100, 3, 3)));
    node->offset = 90;
    expect_rows(*node, [] {
        std::vector<std::string> last;
        for (const auto& row : mixed_rows(100, 3, 3))
            if (row.id >= 90) last.push_back(row.text());
        return last;
    }());
}

TEST(LimitBy, CountsForEachKey) {
    for (const auto& options : all_options()) {
        auto node = over<plan::LimitByNode>(scan(mixed_source(1000, 7, 13)));
        node->keys = {column(*node, 1)};
        node->limit = 2;
        node->offset = 1;
        EXPECT_EQ(run(*node, options).size(), 14);
    }
}

TEST(Union, GivesTheRowsOfAll) {
    auto node = std::make_unique<plan::SetNode>(plan::NodeKind::Union);
    node->children.push_back(scan(mixed_source(100, 3, 3)));
    node->children.push_back(scan(mixed_source(50, 3, 3)));
    node->output = node->children[0]->output;
    for (const auto& options : all_options()) EXPECT_EQ(run(*node, options).size(), 150);
}

TEST(SetOperations, KeepMultiplicitiesOrNot) {
    const auto values = [](std::vector<int64_t> numbers) {
        auto node = std::make_unique<plan::ValuesNode>();
        const size_t rows = numbers.size();
        node->output = {{"x", int64_type()}};
        node->batches.push_back(Batch{{make_vector(int64_type(), numbers)}, rows});
        return node;
    };
    const auto rows = [&](plan::NodeKind kind, bool all) {
        plan::SetNode node(kind);
        node.all = all;
        node.output = {{"x", int64_type()}};
        node.children.push_back(values({1, 1, 1, 2, 3, 3}));
        node.children.push_back(values({1, 3, 4}));
        return sorted(run(node));
    };
    using Rows = std::vector<std::string>;
    EXPECT_EQ(rows(plan::NodeKind::Intersect, false), (Rows{"1", "3"}));
    EXPECT_EQ(rows(plan::NodeKind::Except, false), (Rows{"2"}));
}

TEST(Join, AgreesWithNestedLoops) {
    using plan::JoinKind;
    const auto lefts = mixed_rows(60, 7, 13), rights = mixed_rows(45, 9, 5);
    const std::vector<std::vector<size_t>> key_sets{{0}, {1}, {2}, {3}, {1, 2}, {2, 3}, {0, 1, 2, 3}, {}};
    const std::string no_left = "0,0,,NULL", no_right = "0,0,,NULL";
    for (const auto& keys : key_sets)
        for (const bool nulls_equal : {false, true})
            for (const auto kind :
                 {JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full, JoinKind::LeftSemi,
                  JoinKind::LeftAnti, JoinKind::RightSemi, JoinKind::RightAnti, JoinKind::Mark}) {
                const auto matches = [&](const Row& a, const Row& b) {
                    for (const size_t k : keys) {
                        if (k == 0 && a.id != b.id) return false;
                        if (k == 1 && a.group != b.group) return false;
                        if (k == 2 && a.name != b.name) return false;
                        if (k == 3 && (a.value != b.value || (a.value == "NULL" && !nulls_equal))) return false;
                    }
                    return true;
                };
                std::vector<std::string> expected;
                std::vector<bool> right_matched(rights.size());
                for (const auto& a : lefts) {
                    bool matched = false;
                    for (size_t r = 0; r < rights.size(); ++r) {
                        if (!matches(a, rights[r])) continue;
                        matched = right_matched[r] = true;
                        if (kind <= JoinKind::Full) expected.push_back(a.text() + ',' + rights[r].text());
                    }
                    if (!matched && (kind == JoinKind::Left || kind == JoinKind::Full))
                        expected.push_back(a.text() + ',' + no_right);
                    if (kind == JoinKind::LeftSemi && matched) expected.push_back(a.text());
                    if (kind == JoinKind::LeftAnti && !matched) expected.push_back(a.text());
                    if (kind == JoinKind::Mark) expected.push_back(a.text() + ',' + (matched ? "1" : "0"));
                }
                for (size_t r = 0; r < rights.size(); ++r) {
                    if (!right_matched[r] && (kind == JoinKind::Right || kind == JoinKind::Full))
                        expected.push_back(no_left + ',' + rights[r].text());
                    if (right_matched[r] == (kind == JoinKind::RightSemi) &&
                        (kind == JoinKind::RightSemi || kind == JoinKind::RightAnti))
                        expected.push_back(rights[r].text());
                }
                auto node = join(kind, scan(mixed_source(60, 7, 13, 20)), scan(mixed_source(45, 9, 5, 10)), keys);
                node->nulls_equal = nulls_equal;
                SCOPED_TRACE(static_cast<int>(kind));
                expect_rows(*node, expected);
            }
}

TEST(Join, MissingSidesAreNullWhereTheOutputIs) {
    auto node = join(plan::JoinKind::Full, scan(mixed_source(3, 7, 13)), scan(mixed_source(5, 9, 5, 2)), {0});
    for (auto& output : node->output) output.type = make_nullable(output.type);
    node->children[0] = scan(mixed_source(3, 7, 13));
    auto rows = run(*node);
    EXPECT_EQ(sorted(rows)[0], "0,0,name 0,NULL,0,0,name 0,NULL");
    EXPECT_EQ(sorted(rows)[4], "NULL,NULL,NULL,NULL,4,4,name 4,4");
    auto left = join(plan::JoinKind::Left, scan(mixed_source(5, 7, 13)), scan(mixed_source(3, 9, 5, 2)), {0});
    for (size_t i = 4; i < 8; ++i) left->output[i].type = make_nullable(left->output[i].type);
    for (const auto& options : all_options())
        EXPECT_EQ(sorted(run(*left, options))[4], "4,4,name 4,4,NULL,NULL,NULL,NULL");
}

TEST(Join, ResidualConditionsDecideWhatMatches) {
    const auto less = [](const Node& left) {  // left.id < right.id
        return plan::call(
            "less", {plan::make_column(0, int64_type()), plan::make_column(left.output.size(), int64_type())}, {});
    };
    for (const auto kind :
         {plan::JoinKind::Inner, plan::JoinKind::Left, plan::JoinKind::LeftSemi, plan::JoinKind::LeftAnti,
          plan::JoinKind::RightSemi, plan::JoinKind::Mark, plan::JoinKind::Full}) {
        auto node = join(kind, scan(mixed_source(20, 3, 13)), scan(mixed_source(20, 3, 5, 7)), {1});
        node->residual = {less(*node->children[0])};
        size_t pairs = 0, left_matched = 0, right_matched = 0;
        for (int a = 0; a < 20; ++a) {
            bool matched = false;
            for (int b = 0; b < 20; ++b) {
                const bool match = a % 3 == b % 3 && a < b;
                pairs += match;
                matched |= match;
            }
            left_matched += matched;
        }
        for (int b = 0; b < 20; ++b) right_matched += b >= 3;
        size_t expected = pairs;
        if (kind == plan::JoinKind::Left) expected += 20 - left_matched;
        if (kind == plan::JoinKind::Full) expected += 20 - left_matched + 20 - right_matched;
        if (kind == plan::JoinKind::LeftSemi) expected = left_matched;
        if (kind == plan::JoinKind::LeftAnti) expected = 20 - left_matched;
        if (kind == plan::JoinKind::RightSemi) expected = right_matched;
        if (kind == plan::JoinKind::Mark) expected = 20;
        for (const auto& options : all_options())
            EXPECT_EQ(run(*node, options).size(), expected) << static_cast<int>(kind);
    }
}

TEST(Join, EmptySides) {
    using plan::JoinKind;
    const auto rows = [](JoinKind kind, size_t left, size_t right) {
        return run(*join(kind, scan(mixed_source(left, 3, 3)), scan(mixed_source(right, 3, 3)), {1})).size();
    };
    EXPECT_EQ(rows(JoinKind::Inner, 10, 0), 0);
    EXPECT_EQ(rows(JoinKind::Left, 10, 0), 10);
    EXPECT_EQ(rows(JoinKind::Full, 0, 10), 10);
    EXPECT_EQ(rows(JoinKind::LeftAnti, 10, 0), 10);
    EXPECT_EQ(rows(JoinKind::RightAnti, 0, 10), 10);
}

TEST(Join, AnyAndAsof) {
    using plan::JoinKind;
    auto any = join(JoinKind::Left, scan(mixed_source(60, 7, 13)), scan(mixed_source(45, 7, 5)), {1});
    any->strictness = plan::JoinStrictness::Any;
    EXPECT_EQ(run(*any).size(), 60);
    any->join = JoinKind::Right;
    EXPECT_EQ(run(*any).size(), 45);
    any->join = JoinKind::Inner;
    for (const auto& options : all_options()) EXPECT_EQ(run(*any, options).size(), 7);

    auto asof = join(JoinKind::Inner, scan(mixed_source(60, 4, 13)), scan(mixed_source(30, 3, 5)), {0});
    asof->strictness = plan::JoinStrictness::Asof;
    asof->asof = plan::JoinNode::AsofInequality::Greater;
    const auto rows = sorted(run(*asof));
    EXPECT_EQ(rows.size(), 59);
    EXPECT_NE(std::find(rows.begin(), rows.end(), "40,0,name 1,NULL,29,2,name 4,7"), rows.end());
    EXPECT_NE(std::find(rows.begin(), rows.end(), "7,3,name 7,7,6,0,name 1,6"), rows.end());
}

TEST(Join, FillsRuntimeFilters) {
    auto node = join(plan::JoinKind::Inner, scan(mixed_source(60, 7, 13)), scan(mixed_source(45, 9, 5)), {3});
    auto filter = std::make_shared<plan::RuntimeFilter>();
    node->runtime_filters = {{0, filter}};
    run(*node);
    ASSERT_TRUE(filter->ready);
    EXPECT_EQ(filter->content()->min->values<int64_t>()[0], 0);
    EXPECT_EQ(filter->content()->max->values<int64_t>()[0], 10);
    ASSERT_TRUE(filter->content()->values);
    EXPECT_EQ(filter->content()->values->size(), 11);
}

TEST(Cte, RunsOnce) {
    const auto source = mixed_source(100, 3, 3);
    const auto shared = std::make_shared<plan::CteNode::Shared>();
    shared->plan = scan(source);
    plan::SetNode both(plan::NodeKind::Union);
    for (int i = 0; i < 2; ++i) {
        auto node = std::make_unique<plan::CteNode>();
        node->output = shared->plan->output;
        node->shared = shared;
        both.children.push_back(std::move(node));
    }
    both.output = shared->plan->output;
    EXPECT_EQ(run(both).size(), 200);
    EXPECT_EQ(source->given, 1);
}

TEST(ArrayJoin, UnfoldsArrays) {
    auto values = std::make_unique<plan::ValuesNode>();
    VectorBuilder arrays(make_array(int64_type()));
    for (const int count : {2, 0, 1}) {
        for (int i = 0; i < count; ++i) arrays.element().append<int64_t>(10 * count + i);
        arrays.end_array();
    }
    values->output = {{"x", int64_type()}, {"a", make_array(int64_type())}};
    values->batches.push_back(Batch{{make_vector<int64_t>(int64_type(), {1, 2, 3}), arrays.finish()}, 3});
    auto node = over<plan::ArrayJoinNode>(std::move(values));
    node->arrays = {column(*node, 1)};
    node->output.push_back({"e", int64_type()});
    EXPECT_EQ(run(*node), (std::vector<std::string>{"1,?,20", "1,?,21", "3,?,10"}));
    node->left = true;
    EXPECT_EQ(run(*node), (std::vector<std::string>{"1,?,20", "1,?,21", "2,?,0", "3,?,10"}));
}

TEST(Execute, StopsWhenTheSinkDoes) {
    const auto source = mixed_source(10000, 3, 3);
    const auto plan = scan(source);
    size_t batches = 0;
    execute(*plan, {}, [&](Batch&&) { return ++batches < 3; });
    EXPECT_EQ(batches, 3);
    EXPECT_LE(source->given, 4);
}

TEST(Execute, MemoryLimitIsAnErrorAndCancelStops) {
    for (const size_t threads : {1, 4}) {
        ExecutionOptions options;
        options.threads = threads;
        const auto source = mixed_source(60000, 50000, 40000, 5000);
        const auto plan = aggregate(scan(source), {1, 2});
        QueryContext small(2 << 20);
        {
            QueryContext::Scope scope(&small);
            try {
                run(*plan, options);
                FAIL() << "no error";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::MEMORY_LIMIT_EXCEEDED);
            }
        }
        EXPECT_EQ(small.memory()->used(), 0);
        QueryContext cancelled;
        cancelled.cancel();
        QueryContext::Scope scope(&cancelled);
        EXPECT_THROW(run(*plan, options), Error);
    }
}
