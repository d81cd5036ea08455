#include "firn/vector/vector.h"

#include <gtest/gtest.h>

#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

using namespace firn;

namespace {

VectorPtr nullable_strings() {
    VectorBuilder builder(make_nullable(make_type(TypeId::String)));
    builder.append_string("a");
    builder.append_null();
    builder.append_string("banana");
    return builder.finish();
}

BufferPtr codes(std::initializer_list<uint32_t> list) {
    auto buffer = Buffer::allocate(list.size() * 4);
    std::copy(list.begin(), list.end(), buffer->mutable_as<uint32_t>());
    return buffer;
}

void expect_same(const VectorPtr& a, const VectorPtr& b) {
    ASSERT_EQ(a->size(), b->size());
    for (size_t i = 0; i < a->size(); ++i) EXPECT_TRUE(equal_values(*a, i, *b, i)) << i;
}

}  // namespace

TEST(Vector, EncodingsAgreeWithFlat) {
    const auto base = nullable_strings();
    const auto dictionary = Vector::dictionary(base, 4, codes({2, 1, 0, 2}));
    const auto runs = Vector::run_length(base, 6, codes({1, 4, 6}));
    for (const auto& vector : {dictionary, runs, Vector::constant(slice(base, 2, 1), 5)}) {
        expect_same(vector, flatten(vector));
        const std::vector<uint32_t> rows{3, 0, 0, 1};
        expect_same(gather(vector, rows), gather(flatten(vector), rows));
        expect_same(slice(vector, 1, 3), slice(flatten(vector), 1, 3));
        std::vector<uint64_t> a(vector->size()), b(vector->size());
        hash_rows(std::vector{vector}, vector->size(), a.data());
        hash_rows(std::vector{flatten(vector)}, vector->size(), b.data());
        EXPECT_EQ(a, b);
    }
    EXPECT_TRUE(dictionary->is_null(1));
    EXPECT_TRUE(runs->is_null(3));
    EXPECT_FALSE(runs->is_null(4));
}

TEST(Vector, NullsThatNoRowUsesAreNotSeen) {
    VectorBuilder builder(make_nullable(make_type(TypeId::Int64)));
    builder.append<int64_t>(7);
    builder.append<int64_t>(8);
    builder.append_null();
    const auto base = builder.finish();
    const auto without = Vector::dictionary(base, 3, codes({1, 0, 1})),
               with = Vector::dictionary(base, 2, codes({2, 0}));
    EXPECT_FALSE(may_have_null(*without));
    EXPECT_EQ(flatten(without)->nulls(), nullptr);
    EXPECT_TRUE(may_have_null(*with));
    EXPECT_TRUE(flatten(with)->is_null(0));
    EXPECT_FALSE(flatten(with)->is_null(1));
    EXPECT_TRUE(may_have_null(*base));
    EXPECT_FALSE(may_have_null(*slice(base, 0, 2)));
    EXPECT_FALSE(may_have_null(*Vector::dictionary(base, 0, codes({}))));
}

TEST(Vector, NestedGatherAndConcat) {
    const auto type = make_array(make_type(TypeId::Int32));
    VectorBuilder builder(type);
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < i; ++j) builder.element().append<int32_t>(10 * i + j);
        builder.end_array();
    }
    const auto arrays = builder.finish();
    const auto picked = gather(arrays, std::vector<uint32_t>{3, 1});
    const auto both = concat(type, std::vector{slice(arrays, 2, 2), picked});
    ASSERT_EQ(both->size(), 4u);
    EXPECT_EQ(compare_values(*both, 1, *arrays, 3), 0);
    EXPECT_EQ(compare_values(*both, 2, *arrays, 3), 0);
    EXPECT_LT(compare_values(*both, 3, *both, 0), 0);
}

TEST(Vector, GatherOrDefault) {
    const auto strings = nullable_strings();
    const auto out = gather_or_default(strings, std::vector<uint32_t>{0, kNoRow});
    EXPECT_FALSE(out->is_null(0));
    EXPECT_TRUE(out->is_null(1));
    const auto ints = make_vector<int64_t>(make_type(TypeId::Int64), {5, 6});
    EXPECT_EQ(flatten(gather_or_default(ints, std::vector<uint32_t>{kNoRow, 1}))->values<int64_t>()[0], 0);
}

TEST(Vector, SelectedRowsSkipNullAndZero) {
    VectorBuilder builder(make_nullable(make_type(TypeId::UInt8)));
    builder.append<uint8_t>(1);
    builder.append<uint8_t>(0);
    builder.append_null();
    builder.append<uint8_t>(7);
    EXPECT_EQ(selected_rows(builder.finish()), (Selection{0, 3}));
}

TEST(Vector, MemoryIsChargedAndReleased) {
    auto tracker = std::make_shared<MemoryTracker>(1 << 20);
    VectorPtr kept;
    {
        MemoryTracker::Scope scope(tracker);
        kept = make_vector<int64_t>(make_type(TypeId::Int64), std::vector<int64_t>(1000));
        EXPECT_GE(tracker->used(), 8000);
        EXPECT_ANY_THROW(Buffer::allocate(2 << 20));
    }
    kept.reset();
    EXPECT_EQ(tracker->used(), 0);
}

TEST(StringRef, Orders) {
    const auto less = [](std::string_view a, std::string_view b) { return StringRef(a) < StringRef(b); };
    EXPECT_TRUE(less("", "a"));
    EXPECT_TRUE(less("ab", "abc"));
    EXPECT_TRUE(less("abcd", "abcde"));
    EXPECT_TRUE(less("abcda", "abcdb"));
    EXPECT_TRUE(less("b\x01", "b\xff"));
    EXPECT_TRUE(less(std::string_view("a\0", 2), std::string_view("a\0\0", 3)));
    EXPECT_FALSE(StringRef("ab") == StringRef(std::string_view("ab\0", 3)));
}
