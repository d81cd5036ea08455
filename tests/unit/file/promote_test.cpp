#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/file/data_file.h"
#include "firn/vector/builder.h"
#include "firn/vector/vector_text.h"

namespace firn::file {
namespace {

std::string text_of(const VectorPtr& vector) {
    std::string out = vector->type()->name() + ":";
    for (size_t i = 0; i < vector->size(); ++i) {
        out += ' ';
        append_text(out, *vector, i);
    }
    return out;
}

template <typename T>
VectorPtr values(const TypePtr& type, std::vector<std::optional<T>> list) {
    VectorBuilder builder(type);
    for (const auto& value : list) {
        if (value)
            builder.append<T>(*value);
        else
            builder.append_null();
    }
    return builder.finish();
}

std::string promoted(const VectorPtr& vector, const TypePtr& wanted) {
    return text_of(promote(vector, wanted, "t.orc: column c"));
}

TypePtr type(TypeId id) { return make_type(id); }
TypePtr nullable(TypePtr inner) { return make_nullable(std::move(inner)); }

TEST(Promote, IntegersAndFloats) {
    EXPECT_EQ(promoted(values<int32_t>(type(TypeId::Int32), {-1, 7}), type(TypeId::Int64)), "Int64: -1 7");
    EXPECT_EQ(promoted(values<int8_t>(nullable(type(TypeId::Int8)), {-1, std::nullopt}), nullable(type(TypeId::Int32))),
              "Nullable(Int32): -1 NULL");
    EXPECT_EQ(promoted(values<uint32_t>(type(TypeId::UInt32), {4294967295U}), type(TypeId::Int64)),
              "Int64: 4294967295");
    EXPECT_EQ(promoted(values<float>(type(TypeId::Float32), {1.5F}), nullable(type(TypeId::Float64))),
              "Nullable(Float64): 1.5");
}

TEST(Promote, Decimals) {
    const auto decimals = values<int32_t>(make_decimal(9, 2), {-12345});
    EXPECT_EQ(promoted(decimals, make_decimal(9, 2)), "Decimal(9, 2): -123.45");
    EXPECT_EQ(promoted(decimals, make_decimal(18, 2)), "Decimal(18, 2): -123.45");
    EXPECT_EQ(promoted(decimals, make_decimal(38, 2)), "Decimal(38, 2): -123.45");
    EXPECT_EQ(promoted(decimals, make_decimal(70, 2)), "Decimal(70, 2): -123.45");
}

TEST(Promote, DatesAndTimes) {
    const auto days = values<int32_t>(type(TypeId::Date32), {-1});
    EXPECT_EQ(promoted(days, make_datetime64(6)), "DateTime64(6): 1969-12-31 00:00:00.000000");
    const auto nanos = values<int64_t>(make_datetime64(9), {-1});
    EXPECT_EQ(promoted(nanos, make_datetime64(6, "UTC")), "DateTime64(6, 'UTC'): 1969-12-31 23:59:59.999999");
    EXPECT_EQ(promoted(values<int64_t>(make_datetime64(3), {1500}), make_datetime64(9)),
              "DateTime64(9): 1970-01-01 00:00:01.500000000");
    EXPECT_EQ(promoted(values<int64_t>(make_datetime64(6, "UTC"), {86399999999}), type(TypeId::Int64)),
              "Int64: 86399999999");
    EXPECT_EQ(promoted(values<int64_t>(type(TypeId::Int64), {86399999999}), make_time64(6)),
              "Time64(6): 23:59:59.999999");
    EXPECT_EQ(promoted(values<int64_t>(make_datetime64(3), {1500}), make_time64(6)), "Time64(6): 00:00:01.500000");
}

TEST(Promote, Strings) {
    const auto sixteen =
        make_string_vector(make_fixed_string(16), {std::string("\x01\x02", 2) + std::string(14, '\0')});
    EXPECT_EQ(promoted(sixteen, type(TypeId::UUID)), "UUID: 01020000-0000-0000-0000-000000000000");
    EXPECT_EQ(promoted(make_string_vector(make_fixed_string(2), {"ab"}), type(TypeId::String)), "String: ab");
    EXPECT_EQ(promoted(make_string_vector(type(TypeId::String), {"ab"}), make_fixed_string(2)), "FixedString(2): ab");
    EXPECT_THROW(promoted(make_string_vector(type(TypeId::String), {"abc"}), make_fixed_string(2)), Error);
}

TEST(Promote, EncodingsAreKept) {
    const auto base = values<int32_t>(nullable(type(TypeId::Int32)), {5, std::nullopt, 7});
    auto codes = Buffer::allocate(3 * sizeof(uint32_t));
    for (uint32_t i = 0; i < 3; ++i) codes->mutable_as<uint32_t>()[i] = i == 1 ? 2 : 0;
    const auto dictionary = Vector::dictionary(base, 3, codes);
    // The NULL of the dictionary is used by no row.
    const auto made = promote(dictionary, type(TypeId::Int64), "c");
    EXPECT_EQ(made->encoding(), Encoding::Dictionary);
    EXPECT_EQ(text_of(made), "Int64: 5 7 5");
    const auto constant =
        promote(Vector::constant(values<int32_t>(type(TypeId::Int32), {3}), 4), type(TypeId::Int64), "c");
    EXPECT_TRUE(constant->is_constant());
    EXPECT_EQ(text_of(constant), "Int64: 3 3 3 3");
}

TEST(Promote, WhatIsNoPromotionIsRefused) {
    const auto expect_refused = [](const VectorPtr& vector, const TypePtr& wanted) {
        try {
            promote(vector, wanted, "t.orc: column c");
            FAIL() << vector->type()->name() << " became " << wanted->name();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::INCORRECT_DATA);
            EXPECT_NE(error.message().find("t.orc: column c"), std::string::npos);
        }
    };
    expect_refused(values<int64_t>(type(TypeId::Int64), {1}), type(TypeId::Int32));
    expect_refused(values<uint64_t>(type(TypeId::UInt64), {1}), type(TypeId::Int64));
    expect_refused(values<int32_t>(type(TypeId::Int32), {1}), type(TypeId::Float64));
    expect_refused(values<int64_t>(type(TypeId::Int64), {1}), make_datetime64(6));
    expect_refused(values<int32_t>(make_decimal(9, 2), {1}), make_decimal(9, 3));
    expect_refused(values<int32_t>(nullable(type(TypeId::Int32)), {std::nullopt}), type(TypeId::Int32));
    expect_refused(make_string_vector(type(TypeId::String), {"1"}), type(TypeId::Int32));
}

TEST(Promote, TicksThatDoNotFitAreErrors) {
    const auto days = values<int32_t>(type(TypeId::Date32), {INT32_MAX});
    EXPECT_THROW(promote(days, make_datetime64(9), "c"), Error);
    EXPECT_THROW(promote(values<int64_t>(make_datetime64(6), {INT64_MAX}), make_datetime64(9), "c"), Error);
}

}  // namespace
}  // namespace firn::file
