#include "firn/types/value_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "firn/types/calendar.h"

namespace firn {
namespace {

template <typename F, typename... Args>
std::string text(F append, Args&&... args) {
    std::string out;
    append(out, std::forward<Args>(args)...);
    return out;
}

std::string float_text(double value) {
    std::string out;
    append_float(out, value);
    return out;
}
std::string float_text(float value) {
    std::string out;
    append_float(out, value);
    return out;
}

TEST(ValueText, FloatsAreShortestAsClickHousePrintsThem) {
    const std::pair<double, const char*> cases[] = {{0.0, "0"},
                                                    {-0.0, "-0"},
                                                    {0.1, "0.1"},
                                                    {1.5, "1.5"},
                                                    {-12.25, "-12.25"},
                                                    {100, "100"},
                                                    {1e20, "100000000000000000000"},
                                                    {1e21, "1e21"},
                                                    {123456789012345680000.0, "123456789012345680000"},
                                                    {1e-6, "0.000001"},
                                                    {1e-7, "1e-7"},
                                                    {1.5e300, "1.5e300"},
                                                    {1e100, "1e100"},
                                                    {-2.5e-10, "-2.5e-10"},
                                                    {0.00012, "0.00012"},
                                                    {std::nan(""), "nan"},
                                                    {std::numeric_limits<double>::infinity(), "inf"},
                                                    {-std::numeric_limits<double>::infinity(), "-inf"}};
    for (const auto& [value, expected] : cases) EXPECT_EQ(float_text(value), expected);
    EXPECT_EQ(float_text(0.1F), "0.1");
    EXPECT_EQ(float_text(16777216.0F), "16777216");
    EXPECT_EQ(float_text(3.4e38F), "3.4e38");
}

TEST(ValueText, Decimals) {
    const auto decimal = [](Int128 value, int scale, bool zeros) {
        std::string out;
        append_decimal(out, value, scale, zeros);
        return out;
    };
    EXPECT_EQ(decimal(15000, 4, false), "1.5");
    EXPECT_EQ(decimal(15000, 4, true), "1.5000");
    EXPECT_EQ(decimal(-5, 2, false), "-0.05");
    EXPECT_EQ(decimal(0, 2, false), "0");
    EXPECT_EQ(decimal(0, 2, true), "0.00");
    EXPECT_EQ(decimal(-1200, 2, false), "-12");
    EXPECT_EQ(decimal(7, 0, false), "7");
}

TEST(ValueText, DatesOverTheWholeRange) {
    EXPECT_EQ(text(append_date, 0), "1970-01-01");
    EXPECT_EQ(text(append_date, -1), "1969-12-31");
    EXPECT_EQ(text(append_date, -30000), "1887-11-12");
    EXPECT_EQ(text(append_date, days_from_civil(-43, 3, 15)), "-0043-03-15");
    EXPECT_EQ(text(append_date, days_from_civil(0, 1, 1)), "0000-01-01");
    EXPECT_EQ(text(append_date, days_from_civil(12345, 1, 1)), "+12345-01-01");
    EXPECT_EQ(text(append_date, INT32_MAX), "+5881580-07-11");
    EXPECT_EQ(text(append_date, INT32_MIN), "-5877641-06-23");
}

TEST(ValueText, CalendarGoesRoundTrip) {
    for (int64_t days = -1000000; days < 1000000; days += 37) {
        const CivilDate date = civil_from_days(days);
        ASSERT_EQ(days_from_civil(date.year, date.month, date.day), days);
    }
    EXPECT_EQ(day_of_week(0), 4);
    EXPECT_EQ(day_of_week(-4), 7);
}

TEST(ValueText, Timestamps) {
    EXPECT_EQ(text(append_datetime64, -500, 3, TimeZone::utc()), "1969-12-31 23:59:59.500");
    EXPECT_EQ(text(append_datetime64, 0, 0, TimeZone::utc()), "1970-01-01 00:00:00");
    EXPECT_EQ(text(append_datetime64, INT64_MIN, 6, TimeZone::utc()), "-290308-12-21 19:59:05.224192");
    EXPECT_EQ(text(append_datetime, 1577836800, TimeZone::find("Asia/Tokyo")), "2020-01-01 09:00:00");
    EXPECT_EQ(text(append_time, -45000), "-12:30:00");
    EXPECT_EQ(text(append_time, 405000), "112:30:00");
    EXPECT_EQ(text(append_time64, -500, 3), "-00:00:00.500");
}

TEST(ValueText, UuidAndAddresses) {
    UInt128 uuid = (static_cast<UInt128>(0x61f0c4045cb311e7ULL) << 64) | 0x907ba6006ad3dba0ULL;
    EXPECT_EQ(text(append_uuid, uuid), "61f0c404-5cb3-11e7-907b-a6006ad3dba0");
    EXPECT_EQ(text(append_ipv4, 0x01020304u), "1.2.3.4");
    EXPECT_EQ(text(append_ipv6, UInt128{0}), "::");
    EXPECT_EQ(text(append_ipv6, (UInt128{0xffff} << 32) | 0x01020304u), "::ffff:1.2.3.4");
}

}  // namespace
}  // namespace firn
