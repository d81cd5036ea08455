#include "firn/functions/grouped_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "firn/functions/aggregate.h"
#include "firn/functions/narrow_product.h"
#include "firn/vector/builder.h"
#include "firn/vector/vector_text.h"

namespace firn::functions {
namespace {

template <typename T>
void check_sums(TypeId type, size_t rows, size_t groups, std::mt19937_64& random) {
    std::vector<uint8_t> group(rows);
    std::vector<char*> states(groups, nullptr);
    std::vector<T> values(rows);
    std::vector<uint32_t> codes(rows);
    for (size_t i = 0; i < rows; ++i) {
        group[i] = i % 5 == 3 ? GroupedRows::kNoGroup : static_cast<uint8_t>(random() % groups);
        // Small values in most stretches, any in others.
        values[i] = static_cast<T>(i / 700 % 2 ? random() : random() % 100);
        codes[i] = static_cast<uint32_t>(random() % rows);
    }
    auto code_buffer = Buffer::allocate(rows * sizeof(uint32_t));
    std::copy(codes.begin(), codes.end(), code_buffer->mutable_as<uint32_t>());
    const VectorPtr flat = make_vector<T>(make_type(type), values);
    const VectorPtr dictionary = Vector::dictionary(flat, rows, std::move(code_buffer));
    GroupedRows::Sums of_flat{}, of_dictionary{};
    std::vector<uint64_t> counts(groups);
    for (size_t i = 0; i < rows; ++i) {
        if (group[i] == GroupedRows::kNoGroup) continue;
        ++counts[group[i]];
        of_flat[group[i]] += values[i];
        of_dictionary[group[i]] += values[codes[i]];
    }
    GroupedRows grouped(group, states);
    const auto same = [&](const VectorPtr& column, const GroupedRows::Sums& sums) {
        return std::equal(sums.begin(), sums.begin() + groups, grouped.sums(column).begin());
    };
    EXPECT_TRUE(same(dictionary, of_dictionary)) << rows << " rows, " << groups << " groups";
    EXPECT_TRUE(same(flat, of_flat)) << rows << " rows, " << groups << " groups";
    EXPECT_TRUE(same(dictionary, of_dictionary));
    for (size_t g = 0; g < groups; ++g) EXPECT_EQ(grouped.count(g), counts[g]);
}

TEST(GroupedRows, SumsAndCountsAreExact) {
    std::mt19937_64 random(9);
    for (const size_t rows : {1u, 63u, 64u, 100u, 1024u, 1100u, 5000u})
        for (const size_t groups : {1u, 2u, 4u, 5u, 16u}) {
            check_sums<int8_t>(TypeId::Int8, rows, groups, random);
            check_sums<uint32_t>(TypeId::UInt32, rows, groups, random);
            check_sums<int64_t>(TypeId::Int64, rows, groups, random);
            check_sums<uint64_t>(TypeId::UInt64, rows, groups, random);
        }
}

/// The values of fn's states for two groups, of rows of which every third is in none.
std::vector<std::string> picked(const std::string& name, const VectorPtr& column) {
    const std::vector<TypePtr> types{column->type()};
    const auto function = AggregateRegistry::instance().bind(name, types, {});
    EXPECT_TRUE(function->has_grouped_way()) << name;
    std::vector<uint8_t> group(column->size());
    for (size_t i = 0; i < group.size(); ++i)
        group[i] = i % 3 == 0 ? GroupedRows::kNoGroup : static_cast<uint8_t>(i % 3 - 1);
    const auto block = Buffer::allocate_zeroed(2 * 64 + 16);
    std::vector<char*> states{block->mutable_data(), block->mutable_data() + 64};
    for (char* state : states) function->create(state);
    Arena arena;
    GroupedRows rows(group, states);
    EXPECT_TRUE(function->add_grouped(std::span(&column, 1), rows, 0, arena)) << name;
    const VectorPtr result = function->finish(states.data(), 2, 0);
    std::vector<std::string> texts(2);
    for (size_t g = 0; g < 2; ++g) append_text(texts[g], *result, g);
    return texts;
}

TEST(GroupedRows, RowsInNoGroupAreNotPicked) {
    // The extremes, the first and the last are in no group.
    const std::vector<int64_t> numbers{-9, 5, 7, 90, 3, 8, -8, 4, 6, 99};
    const VectorPtr column = make_vector<int64_t>(make_type(TypeId::Int64), numbers);
    EXPECT_EQ(picked("min", column), (std::vector<std::string>{"3", "6"}));
    EXPECT_EQ(picked("max", column), (std::vector<std::string>{"5", "8"}));
    EXPECT_EQ(picked("any", column), (std::vector<std::string>{"5", "7"}));
    EXPECT_EQ(picked("anyLast", column), (std::vector<std::string>{"4", "6"}));
    EXPECT_EQ(picked("sum", column), (std::vector<std::string>{"12", "21"}));
    EXPECT_EQ(picked("count", column), (std::vector<std::string>{"3", "3"}));
    VectorBuilder words(make_type(TypeId::String));
    for (const char* word : {"a", "m", "p", "zz", "k", "q", "", "l", "o", "zzz"}) words.append_string(word);
    const VectorPtr texts = words.finish();
    EXPECT_EQ(picked("min", texts), (std::vector<std::string>{"k", "o"}));
    EXPECT_EQ(picked("max", texts), (std::vector<std::string>{"m", "q"}));
    EXPECT_EQ(picked("any", texts), (std::vector<std::string>{"m", "p"}));
    EXPECT_EQ(picked("anyLast", texts), (std::vector<std::string>{"l", "o"}));
}

TEST(NarrowProduct, RefusesWhatIsNotNarrow) {
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
    std::mt19937_64 random(10);
    for (const size_t rows : {1u, 3u, 4u, 7u, 600u}) {
        std::vector<int64_t> a(rows), b(rows), out(rows);
        for (size_t i = 0; i < rows; ++i) {
            a[i] = random() % 2 ? kLeast : static_cast<int32_t>(random());
            b[i] = random() % 2 ? kMost : static_cast<int32_t>(random());
        }
        if (!multiply_narrow(a.data(), b.data(), rows, out.data())) GTEST_SKIP() << "no fast way here";
        for (size_t i = 0; i < rows; ++i) EXPECT_EQ(out[i], a[i] * b[i]);
        for (const size_t at : {size_t{0}, rows / 2, rows - 1})
            for (const int64_t wide : {kLeast - 1, kMost + 1, int64_t{1} << 62, std::numeric_limits<int64_t>::min()}) {
                const int64_t kept = b[at];
                b[at] = wide;
                EXPECT_FALSE(multiply_narrow(a.data(), b.data(), rows, out.data()));
                EXPECT_FALSE(multiply_narrow(b.data(), a.data(), rows, out.data()));
                b[at] = kept;
            }
    }
}

}  // namespace
}  // namespace firn::functions
