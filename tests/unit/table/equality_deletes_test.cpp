#include "firn/table/equality_deletes.h"

#include <limits>

#include <gtest/gtest.h>

#include "firn/vector/builder.h"

namespace firn::table {
namespace {

VectorPtr numbers(const TypePtr& type, const std::vector<std::optional<int64_t>>& values) {
    VectorBuilder builder(type);
    for (const auto& value : values) {
        const auto row = !value                                ? make_null_value(type)
                         : type->physical() == Physical::Int32 ? make_value<int32_t>(type, static_cast<int32_t>(*value))
                                                               : make_value<int64_t>(type, *value);
        builder.append_from(*flatten(row), 0);
    }
    return builder.finish();
}

VectorPtr texts(const std::vector<std::string>& values) {
    const TypePtr type = make_type(TypeId::String);
    VectorBuilder builder(type);
    for (const auto& value : values) builder.append_from(*flatten(make_string_value(type, value)), 0);
    return builder.finish();
}

VectorPtr doubles(const std::vector<double>& values) {
    const TypePtr type = make_type(TypeId::Float64);
    VectorBuilder builder(type);
    for (const double value : values) builder.append_from(*flatten(make_value<double>(type, value)), 0);
    return builder.finish();
}

std::vector<uint8_t> kept(const EqualityDeletes& deletes, const std::vector<VectorPtr>& columns, int64_t sequence) {
    std::vector<uint8_t> keep(columns[0]->size(), 1);
    const bool any = deletes.mark(columns, sequence, keep);
    EXPECT_EQ(any, std::find(keep.begin(), keep.end(), 0) != keep.end());
    return keep;
}

const TypePtr kLong = make_nullable(make_type(TypeId::Int64));
const TypePtr kInt = make_nullable(make_type(TypeId::Int32));
using Flags = std::vector<uint8_t>;

TEST(EqualityDeletes, PackedKeysOfTwoFields) {
    const EqualityDeletes deletes({1, 2}, {{{numbers(kLong, {1, 1, -5}), numbers(kInt, {1, -2, 7})}, 4}});
    EXPECT_EQ(deletes.size(), 3u);
    const std::vector<VectorPtr> columns{numbers(kLong, {1, 1, 1, -5, 7, 2}), numbers(kInt, {1, 2, -2, 7, -5, 1})};
    EXPECT_EQ(kept(deletes, columns, 3), (Flags{0, 1, 0, 0, 1, 1}));
}

TEST(EqualityDeletes, OnlyYoungerDeletesCount) {
    const EqualityDeletes deletes(
        {1}, {{{numbers(kLong, {1, 2})}, 4}, {{numbers(kLong, {2, 3})}, 6}, {{numbers(kLong, {2})}, 5}});
    const std::vector<VectorPtr> columns{numbers(kLong, {1, 2, 3, 4})};
    EXPECT_EQ(kept(deletes, columns, 3), (Flags{0, 0, 0, 1}));
    EXPECT_EQ(kept(deletes, columns, 4), (Flags{1, 0, 0, 1}));
    EXPECT_EQ(kept(deletes, columns, 6), (Flags{1, 1, 1, 1}));
}

TEST(EqualityDeletes, NullKeysDeleteNullsOnly) {
    const EqualityDeletes deletes({1, 2}, {{{numbers(kLong, {std::nullopt, 0}), numbers(kInt, {8, 5})}, 9}});
    const std::vector<VectorPtr> columns{numbers(kLong, {std::nullopt, 0, 0, std::nullopt}),
                                         numbers(kInt, {8, 8, 5, std::nullopt})};
    EXPECT_EQ(kept(deletes, columns, 1), (Flags{0, 1, 0, 1}));
    const EqualityDeletes no_nulls({1}, {{{numbers(kLong, {0})}, 9}});
    EXPECT_EQ(kept(no_nulls, {numbers(kLong, {std::nullopt, 0})}, 1), (Flags{1, 0}));
}

TEST(EqualityDeletes, EncodedColumnsAndFields) {
    const EqualityDeletes deletes({1}, {{{numbers(kLong, {20})}, 2}});
    auto codes = Buffer::allocate(4 * sizeof(uint32_t));
    const uint32_t rows[] = {1, 0, 1, 2};
    std::memcpy(codes->mutable_data(), rows, sizeof(rows));
    const auto dictionary = Vector::dictionary(numbers(kLong, {10, 20, std::nullopt}), 4, codes);
    EXPECT_EQ(kept(deletes, {dictionary}, 1), (Flags{0, 1, 0, 1}));
    EXPECT_EQ(kept(deletes, {Vector::constant(numbers(kLong, {20}), 3)}, 1), (Flags{0, 0, 0}));
}

TEST(EqualityDeletes, TextAndFloats) {
    const EqualityDeletes text({1}, {{{texts({"b", ""})}, 2}});
    EXPECT_EQ(kept(text, {texts({"a", "b", "", "bb"})}, 1), (Flags{1, 0, 0, 1}));
    EXPECT_EQ(kept(text, {texts({"a", "b", "", "bb"})}, 2), (Flags{1, 1, 1, 1}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const EqualityDeletes floats({1}, {{{doubles({-0.0, nan})}, 2}});
    EXPECT_EQ(kept(floats, {doubles({0.0, -0.0, nan, 1.0})}, 1), (Flags{1, 0, 0, 1}));
}

/// Against a plain search, at sizes that fill the filter and make slots collide.
TEST(EqualityDeletes, ManyKeys) {
    std::vector<std::optional<int64_t>> keys, data;
    for (int64_t i = 0; i < 5000; ++i) keys.push_back(i * 3 << (i % 7 * 5));
    for (int64_t i = 0; i < 20000; ++i) data.push_back(i << (i % 7 * 5));
    const EqualityDeletes deletes({1}, {{{numbers(kLong, keys)}, 2}});
    const auto keep = kept(deletes, {numbers(kLong, data)}, 1);
    std::sort(keys.begin(), keys.end());
    for (size_t i = 0; i < data.size(); ++i)
        ASSERT_EQ(keep[i] == 0, std::binary_search(keys.begin(), keys.end(), data[i])) << i;
}

}  // namespace
}  // namespace firn::table
