#include "firn/iceberg/transform.h"

#include <gtest/gtest.h>

using namespace firn::iceberg;

namespace {

const std::string kUuid("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7", 16);
constexpr int64_t kMoment = int64_t{1510871468} * 1'000'000;  // 2017-11-16T22:31:08

int64_t apply(std::string_view transform, TypeKind kind, int64_t value) {
    return Transform::parse(transform).apply(Datum::integral(kind, value)).integer();
}

}  // namespace

// Appendix B of the spec.
TEST(Transform, HashesAsTheSpecSays) {
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::Int, 34)), 2017239379);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::Long, 34)), 2017239379);
    EXPECT_EQ(bucket_hash(Datum::decimal(1420, 2)), -500754589);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::Date, 17486)), -653330422);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::Time, int64_t{81068} * 1'000'000)), -662762989);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::Timestamp, kMoment)), -2047944441);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::Timestamp, kMoment + 1)), -1207196810);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::TimestampTz, kMoment)), -2047944441);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::TimestampNs, kMoment * 1000)), -2047944441);
    EXPECT_EQ(bucket_hash(Datum::integral(TypeKind::TimestampTzNs, (kMoment + 1) * 1000 + 1)), -1207196810);
    EXPECT_EQ(bucket_hash(Datum::bytes(TypeKind::String, "iceberg")), 1210000089);
    EXPECT_EQ(bucket_hash(Datum::bytes(TypeKind::Uuid, kUuid)), 1488055340);
    EXPECT_EQ(bucket_hash(Datum::bytes(TypeKind::Fixed, std::string_view("\0\1\2\3", 4))), -188683207);
    EXPECT_EQ(bucket_hash(Datum::bytes(TypeKind::Binary, std::string_view("\0\1\2\3", 4))), -188683207);
    EXPECT_EQ(bucket_hash(Datum::boolean(true)), 1392991556);
    EXPECT_EQ(bucket_hash(Datum::floating(TypeKind::Float, 1.0)), -142385009);
    EXPECT_EQ(bucket_hash(Datum::floating(TypeKind::Double, 0.0)), 1669671676);
    EXPECT_EQ(bucket_hash(Datum::floating(TypeKind::Double, -0.0)), 1669671676);
}

TEST(Transform, BucketDropsTheSignBit) {
    // The hash of 14.20 is below zero.
    EXPECT_EQ(Transform::parse("bucket[16]").apply(Datum::decimal(1420, 2)).integer(), (-500754589 & INT32_MAX) % 16);
    EXPECT_TRUE(Transform::parse("bucket[16]").apply(Datum::null()).is_null());
}

TEST(Transform, TruncatesNumbersDownwards) {
    EXPECT_EQ(apply("truncate[10]", TypeKind::Int, 1), 0);
    EXPECT_EQ(apply("truncate[10]", TypeKind::Int, -1), -10);
    EXPECT_EQ(apply("truncate[10]", TypeKind::Long, -10), -10);
    EXPECT_EQ(apply("truncate[2147483647]", TypeKind::Int, 2147483646), 0);
    EXPECT_EQ(apply("truncate[2147483647]", TypeKind::Int, -1), -2147483647);
    EXPECT_EQ(apply("truncate[10000]", TypeKind::Int, INT32_MIN), -2147490000);
    EXPECT_EQ(apply("truncate[10]", TypeKind::Long, INT64_MIN), INT64_MIN);
    Datum decimal = Transform::parse("truncate[50]").apply(Datum::decimal(1065, 2));
    EXPECT_TRUE(same_value(decimal, Datum::decimal(1050, 2)));
    EXPECT_TRUE(same_value(Transform::parse("truncate[50]").apply(Datum::decimal(-5, 2)), Datum::decimal(-50, 2)));
}

TEST(Transform, TruncatesTextByCodePointsAndBytesByBytes) {
    Transform three = Transform::parse("truncate[3]");
    EXPECT_EQ(three.apply(Datum::bytes(TypeKind::String, "iceberg")).view(), "ice");
    EXPECT_EQ(three.apply(Datum::bytes(TypeKind::String, "ab")).view(), "ab");
    EXPECT_EQ(three.apply(Datum::bytes(TypeKind::String, "東京都庁")).view(), "東京都");
    EXPECT_EQ(three.apply(Datum::bytes(TypeKind::Binary, "\x01\x02\x03\x04")).view(), "\x01\x02\x03");
}

TEST(Transform, CalendarUnitsAreFlooredBefore1970) {
    EXPECT_EQ(apply("year", TypeKind::Date, -1), -1);
    EXPECT_EQ(apply("month", TypeKind::Date, -1), -1);
    EXPECT_EQ(apply("day", TypeKind::Date, -1), -1);
    EXPECT_EQ(apply("year", TypeKind::Date, 17486), 47);
    EXPECT_EQ(apply("month", TypeKind::Date, 17486), 47 * 12 + 10);
    EXPECT_EQ(apply("day", TypeKind::Timestamp, -1), -1);
    EXPECT_EQ(apply("hour", TypeKind::TimestampTz, -1), -1);
    EXPECT_EQ(apply("hour", TypeKind::Timestamp, kMoment), 419686);
    EXPECT_EQ(apply("day", TypeKind::TimestampNs, -1), -1);
    EXPECT_EQ(apply("year", TypeKind::Timestamp, -1), -1);
    // 1969-12-31T23:00 is the hour before the epoch's, years -9999 and 9999 fit too.
    EXPECT_EQ(apply("hour", TypeKind::Timestamp, int64_t{-104918088} * 3'600'000'000), -104918088);
    EXPECT_EQ(apply("month", TypeKind::Date, days_from_civil(-9999, 1, 1)), (-9999 - 1970) * 12);
}

TEST(Transform, NamesAreReadAndWritten) {
    for (std::string name : {"identity", "bucket[16]", "truncate[4]", "year", "month", "day", "hour", "void"}) {
        EXPECT_EQ(Transform::parse(name).to_string(), name);
        EXPECT_NE(Transform::parse(name).kind(), TransformKind::Unknown);
    }
    for (std::string name : {"bucket", "bucket[0]", "bucket[-1]", "bucket[99999999999]", "truncate[x]", "zorder", ""}) {
        EXPECT_EQ(Transform::parse(name).kind(), TransformKind::Unknown);
        EXPECT_EQ(Transform::parse(name).to_string(), name);
    }
    EXPECT_FALSE(Transform::parse("zorder") == Transform::parse("hilbert"));
}

TEST(Transform, KnowsSourcesResultsAndOrder) {
    TypePtr timestamp = Type::primitive(TypeKind::Timestamp);
    EXPECT_EQ(Transform::parse("day").result_type(timestamp)->kind, TypeKind::Int);
    EXPECT_EQ(Transform::parse("identity").result_type(timestamp), timestamp);
    EXPECT_TRUE(Transform::parse("hour").accepts(*timestamp));
    EXPECT_FALSE(Transform::parse("hour").accepts(*Type::primitive(TypeKind::Date)));
    EXPECT_FALSE(Transform::parse("bucket[2]").accepts(*Type::primitive(TypeKind::Double)));
    EXPECT_FALSE(Transform::parse("identity").accepts(*Type::primitive(TypeKind::Variant)));
    EXPECT_TRUE(Transform::parse("truncate[2]").preserves_order());
    EXPECT_FALSE(Transform::parse("bucket[2]").preserves_order());
    EXPECT_FALSE(Transform::parse("void").preserves_order());
}

TEST(Calendar, GoesThereAndBack) {
    for (int64_t days : {int64_t{0}, int64_t{-1}, int64_t{-719468}, int64_t{-719529}, int64_t{11016},
                         int64_t{INT32_MIN}, int64_t{INT32_MAX}}) {
        CivilDate date = civil_from_days(days);
        EXPECT_EQ(days_from_civil(date.year, date.month, date.day), days);
    }
    CivilDate leap = civil_from_days(11016);
    EXPECT_EQ(leap.year, 2000);
    EXPECT_EQ(leap.month, 2);
    EXPECT_EQ(leap.day, 29);
}
