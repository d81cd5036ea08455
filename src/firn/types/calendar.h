// The proleptic Gregorian calendar over all 32-bit days and 64-bit seconds. Years count through 0 (1 BC) to negative ones.
#pragma once

#include <cstdint>

namespace firn {

struct CivilDate {
    int64_t year;
    int month;  // 1..12
    int day;    // 1..31
};

/// Rounds toward minus infinity; b > 0.
constexpr int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t floor_modulo(int64_t a, int64_t b) {
    const int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/// Days since 1970-01-01. month 1..12; day may be anything (it is added).
constexpr int64_t days_from_civil(int64_t year, int month, int64_t day) {
    year -= month <= 2 ? 1 : 0;
    const int64_t era = floor_divide(year, 400);
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
    const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468 + day - 1;
}

constexpr CivilDate civil_from_days(int64_t days) {
    days += 719468;
    const int64_t era = floor_divide(days, 146097);
    const int64_t day_of_era = days - era * 146097;
    const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted_month = (5 * day_of_year + 2) / 153;
    const int day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
    const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

constexpr bool is_leap_year(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
constexpr int days_in_month(int64_t year, int month) {
    constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap_year(year) ? 29 : kDays[month - 1];
}
/// 1 = Monday … 7 = Sunday.
constexpr int day_of_week(int64_t days) { return static_cast<int>(floor_modulo(days + 3, 7)) + 1; }

}  // namespace firn
