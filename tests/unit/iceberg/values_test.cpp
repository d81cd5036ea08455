#include "firn/iceberg/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::iceberg;

namespace {

TypePtr type(std::string_view name) { return parse_primitive_type(name); }

std::string decoded(std::string_view name, std::string_view bytes) {
    auto value = decode_value(*type(name), bytes);
    return value ? value->to_string() : "none";
}

std::string from_json(std::string_view name, std::string_view json) {
    return parse_json_value(type(name), json, "default").datum.to_string();
}

Datum number(double value) { return Datum::floating(TypeKind::Double, value); }

}  // namespace

TEST(Values, BinaryForms) {
    EXPECT_EQ(decoded("boolean", std::string_view("\0", 1)), "false");
    EXPECT_EQ(decoded("boolean", "\x07"), "true");
    EXPECT_EQ(decoded("int", "\x01\x02\x03\x84"), "-2080177663");
    EXPECT_EQ(decoded("long", "\xff\xff\xff\xff\xff\xff\xff\x7f"), "9223372036854775807");
    EXPECT_EQ(decoded("float", std::string_view("\0\0\x80\x3f", 4)), "1");
    EXPECT_EQ(decoded("double", std::string_view("\0\0\0\0\0\0\xf0\xbf", 8)), "-1");
    EXPECT_EQ(decoded("date", std::string_view("\x4e\x44\0\0", 4)), "2017-11-16");
    EXPECT_EQ(decoded("decimal(9,2)", "\x05\x8c"), "14.20");
    EXPECT_EQ(decoded("decimal(9,2)", "\xff"), "-0.01");
    EXPECT_EQ(decoded("decimal(38,0)", "\x4b\x3b\x4c\xa8\x5a\x86\xc4\x7a\x09\x8a\x22\x3f\xff\xff\xff\xff"),
              "99999999999999999999999999999999999999");
    EXPECT_EQ(decoded("uuid", "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7"),
              "f79c3e09-677c-4bbd-a479-3f349cb785e7");
    EXPECT_EQ(decoded("string", ""), "");
    EXPECT_EQ(decoded("binary", "\xab\x01"), "ab01");
}

TEST(Values, BinaryFormsOfWrongWidthAreNoValues) {
    EXPECT_EQ(decoded("int", "\x01\x02\x03"), "none");
    EXPECT_EQ(decoded("int", "12345678"), "none");
    EXPECT_EQ(decoded("float", "12345678"), "none");
    EXPECT_EQ(decoded("boolean", ""), "none");
    EXPECT_EQ(decoded("uuid", "short"), "none");
    EXPECT_EQ(decoded("decimal(9,2)", ""), "none");
    EXPECT_EQ(decoded("decimal(9,2)", std::string(17, '\x7f')), "none");
    EXPECT_EQ(decoded("decimal(9,2)", std::string(17, '\0') + "\x05\x8c"), "14.20");
    EXPECT_EQ(decoded("timestamptz", "1234"), "none");
    EXPECT_EQ(decoded("variant", "1234"), "none");
}

TEST(Values, BoundsOfPromotedTypesKeepTheirOldWidth) {
    EXPECT_EQ(decoded("long", "\xfe\xff\xff\xff"), "-2");
    EXPECT_EQ(decoded("double", std::string_view("\0\0\x80\x3f", 4)), "1");
    EXPECT_EQ(decoded("timestamp", std::string_view("\x01\0\0\0", 4)), "1970-01-02T00:00:00.000000");
    EXPECT_EQ(decoded("timestamp_ns", "\xff\xff\xff\xff"), "1969-12-31T00:00:00.000000000");
    // A date that nanoseconds cannot hold is no bound.
    EXPECT_EQ(decoded("timestamp_ns", "\xff\xff\xff\x7f"), "none");
}

TEST(Values, RoundTripThroughTheBinaryForm) {
    for (Datum value :
         {Datum::boolean(true), Datum::integral(TypeKind::Int, -5), Datum::integral(TypeKind::Long, INT64_MIN),
          Datum::floating(TypeKind::Float, 1.5), number(-0.0), Datum::decimal(-128, 3), Datum::decimal(128, 3),
          Datum::decimal(0, 3), Datum::integral(TypeKind::TimestampTzNs, -1), Datum::bytes(TypeKind::String, "é")}) {
        TypePtr of = value.kind() == TypeKind::Decimal ? Type::decimal(38, 3) : Type::primitive(value.kind());
        std::string bytes = encode_value(value);
        auto back = decode_value(*of, bytes);
        ASSERT_TRUE(back.has_value());
        EXPECT_TRUE(same_value(*back, value)) << value.to_string();
    }
    EXPECT_EQ(encode_value(Datum::decimal(128, 0)), std::string("\0\x80", 2));
    EXPECT_EQ(encode_value(Datum::decimal(-128, 0)), "\x80");
}

TEST(Values, Order) {
    double nan = std::nan("");
    double infinity = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(compare(number(-infinity), number(-1)) < 0);
    EXPECT_TRUE(compare(number(-0.0), number(0.0)) < 0);
    EXPECT_TRUE(compare(number(infinity), number(nan)) < 0);
    EXPECT_TRUE(compare(number(nan), number(-nan)) == 0);
    EXPECT_TRUE(compare(Datum::floating(TypeKind::Float, 1), number(1)) == 0);
    EXPECT_TRUE(compare(Datum::bytes(TypeKind::Uuid, "\x80"), Datum::bytes(TypeKind::Uuid, "\x7f")) > 0);
    EXPECT_TRUE(compare(Datum::bytes(TypeKind::String, "a"), Datum::bytes(TypeKind::String, "ab")) < 0);
    EXPECT_TRUE(compare(Datum::decimal(10, 1), Datum::decimal(100, 2)) == 0);
    EXPECT_TRUE(compare(Datum::decimal(-11, 1), Datum::decimal(-109, 2)) < 0);
    EXPECT_TRUE(compare(Datum::integral(TypeKind::Date, 1), Datum::integral(TypeKind::Timestamp, 86'400'000'000)) == 0);
    EXPECT_TRUE(compare(Datum::integral(TypeKind::Timestamp, INT64_MAX),
                        Datum::integral(TypeKind::TimestampNs, INT64_MAX)) > 0);
    EXPECT_TRUE(compare(Datum::integral(TypeKind::Int, 1), number(1)) == std::partial_ordering::unordered);
    EXPECT_TRUE(compare(Datum::null(), number(1)) == std::partial_ordering::unordered);
}

TEST(Values, EqualValuesHashAlike) {
    EXPECT_EQ(hash_value(Datum::decimal(10, 1)), hash_value(Datum::decimal(100, 2)));
    EXPECT_EQ(hash_value(Datum::integral(TypeKind::Int, 7)), hash_value(Datum::integral(TypeKind::Long, 7)));
    EXPECT_EQ(hash_value(Datum::integral(TypeKind::Date, 1)),
              hash_value(Datum::integral(TypeKind::Timestamp, 86'400'000'000)));
    EXPECT_TRUE(same_value(Datum::null(), Datum::null()));
    EXPECT_FALSE(same_value(Datum::null(), number(0)));
}

TEST(Values, BoundsThatCannotBeBelievedAreLeftOut) {
    const Type& real = *type("double");
    std::string one = encode_value(number(1)), two = encode_value(number(2)), nan = encode_value(number(std::nan("")));
    Bounds good = decode_bounds(real, one, two);
    ASSERT_TRUE(good.lower && good.upper);
    EXPECT_EQ(good.lower->trust, BoundTrust::Exact);
    Bounds inverted = decode_bounds(real, two, one);
    EXPECT_FALSE(inverted.lower || inverted.upper);
    Bounds with_nan = decode_bounds(real, one, nan);
    EXPECT_TRUE(with_nan.lower.has_value());
    EXPECT_FALSE(with_nan.upper.has_value());
    EXPECT_FALSE(decode_bounds(real, "abc", std::nullopt).lower.has_value());
    EXPECT_EQ(decode_bounds(*type("string"), "a", "b").lower->trust, BoundTrust::Truncated);
    EXPECT_EQ(decode_bounds(*type("timestamp"), one, two, false).lower->trust, BoundTrust::Truncated);
    // A zero bound must not cut off the other zero.
    Bounds zero = decode_bounds(real, encode_value(number(0.0)), encode_value(number(-0.0)));
    EXPECT_FALSE(zero.lower || zero.upper);
    zero = decode_bounds(real, encode_value(number(0.0)), two);
    EXPECT_TRUE(std::signbit(zero.lower->value.real()));
}

TEST(Values, PartitionValuesTakeTheTypeOfTheirField) {
    EXPECT_EQ(reinterpret(Datum::integral(TypeKind::Date, 3), *type("int"))->kind(), TypeKind::Int);
    EXPECT_EQ(reinterpret(Datum::integral(TypeKind::Long, 3), *type("timestamptz"))->kind(), TypeKind::TimestampTz);
    EXPECT_EQ(reinterpret(Datum::integral(TypeKind::Int, 3), *type("long"))->integer(), 3);
    EXPECT_EQ(reinterpret(Datum::bytes(TypeKind::Fixed, std::string_view("0123456789abcdef")), *type("uuid"))->kind(),
              TypeKind::Uuid);
    EXPECT_FALSE(reinterpret(Datum::integral(TypeKind::Long, 3), *type("int")).has_value());
    EXPECT_FALSE(reinterpret(Datum::bytes(TypeKind::Binary, "short"), *type("uuid")).has_value());
    EXPECT_TRUE(reinterpret(Datum::null(), *type("int"))->is_null());
}

// The examples of the spec's table, and what must not pass for a value.
TEST(Values, JsonForms) {
    EXPECT_EQ(from_json("boolean", "true"), "true");
    EXPECT_EQ(from_json("int", "34"), "34");
    EXPECT_EQ(from_json("long", "-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(from_json("double", "1.5"), "1.5");
    EXPECT_EQ(from_json("float", "1"), "1");
    EXPECT_EQ(from_json("decimal(9,2)", "\"14.20\""), "14.20");
    EXPECT_EQ(from_json("decimal(9,2)", "\"-0.5\""), "-0.50");
    EXPECT_EQ(from_json("decimal(38,0)", "\"2E+20\""), "200000000000000000000");
    EXPECT_EQ(from_json("date", "\"2017-11-16\""), "2017-11-16");
    EXPECT_EQ(from_json("date", "\"-0044-03-15\""), "-0044-03-15");
    EXPECT_EQ(from_json("time", "\"22:31:08.123456\""), "22:31:08.123456");
    EXPECT_EQ(from_json("timestamp", "\"2017-11-16T22:31:08.123456\""), "2017-11-16T22:31:08.123456");
    EXPECT_EQ(from_json("timestamp", "\"1969-12-31T23:59:59.9\""), "1969-12-31T23:59:59.900000");
    EXPECT_EQ(from_json("timestamptz", "\"2017-11-16T22:31:08.123456+00:00\""), "2017-11-16T22:31:08.123456+00:00");
    EXPECT_EQ(from_json("timestamp_ns", "\"2017-11-16T22:31:08.123456789\""), "2017-11-16T22:31:08.123456789");
    EXPECT_EQ(from_json("timestamptz_ns", "\"2017-11-16T22:31:08.123456789+00:00\""),
              "2017-11-16T22:31:08.123456789+00:00");
    EXPECT_EQ(from_json("string", "\"iceberg\""), "iceberg");
    EXPECT_EQ(from_json("uuid", "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\""), "f79c3e09-677c-4bbd-a479-3f349cb785e7");
    EXPECT_EQ(from_json("fixed[4]", "\"000102ff\""), "000102ff");
    EXPECT_EQ(from_json("binary", "\"000102ff\""), "000102ff");
}

TEST(Values, JsonThatIsNoValueOfTheType) {
    struct Case {
        std::string_view type, json;
    };
    for (Case wrong :
         {Case{"int", "3000000000"}, Case{"int", "\"34\""}, Case{"boolean", "1"}, Case{"date", "\"2017-02-30\""},
          Case{"decimal(4,2)", "\"123.45\""}, Case{"decimal(9,2)", "\"1.234\""}, Case{"fixed[4]", "\"00\""},
          Case{"timestamp", "\"2017-11-16T22:31:08+00:00\""}, Case{"timestamptz", "\"2017-11-16T22:31:08\""},
          Case{"timestamptz", "\"2017-11-16T22:31:08+01:00\""}, Case{"uuid", "\"f79c3e09\""},
          Case{"binary", "\"0g\""}}) {
        Failure failure =
            failure_of([&] { parse_json_value(type(wrong.type), wrong.json, "f.json: initial-default"); });
        EXPECT_EQ(failure.code, ErrorCode::ICEBERG_SPECIFICATION_VIOLATION) << wrong.type << " " << wrong.json;
        EXPECT_NE(failure.message.find("f.json: initial-default"), std::string::npos);
    }
}

TEST(Values, JsonOfNestedValues) {
    Schema schema = parse_schema(R"({"type":"struct","fields":[
        {"id":1,"name":"l","required":false,"type":{"type":"list","element-id":2,"element":"int","element-required":false}},
        {"id":3,"name":"m","required":false,"type":{"type":"map","key-id":4,"key":"string","value-id":5,"value":"int","value-required":true}},
        {"id":6,"name":"s","required":false,"type":{"type":"struct","fields":[
            {"id":7,"name":"x","required":false,"type":"int","initial-default":9},
            {"id":8,"name":"y","required":false,"type":"string"}]}}]})",
                                 "schema");
    Literal list = parse_json_value(schema.field(1)->type, "[1, null, 3]", "l");
    ASSERT_EQ(list.items.size(), 3u);
    EXPECT_TRUE(list.items[1].is_null);
    Literal map = parse_json_value(schema.field(3)->type, R"({"keys":["a","b"],"values":[1,2]})", "m");
    ASSERT_EQ(map.items.size(), 4u);
    EXPECT_EQ(map.items[2].datum.to_string(), "b");
    EXPECT_EQ(map.items[3].datum.integer(), 2);
    Literal filled = parse_json_value(schema.field(6)->type, "{}", "s");
    ASSERT_EQ(filled.items.size(), 2u);
    EXPECT_EQ(filled.items[0].datum.integer(), 9);
    EXPECT_FALSE(filled.item_given[0]);
    EXPECT_TRUE(filled.items[1].is_null);
    Literal copy = filled;
    EXPECT_EQ(copy.items[0].datum.integer(), 9);
}
