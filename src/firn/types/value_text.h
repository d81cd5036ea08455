// Values as ClickHouse prints them: plain text, without quotes and escapes. Raw C++ values in, text appended.
//
// Dates and times outside the years 0..9999 are printed by the ISO 8601 rule for expanded years: "-0043-03-15",
// "+12345-01-01". Decimals lose trailing zeros unless asked to keep them.
#pragma once

#include <cstdint>
#include <string>

#include "firn/base/wide_int.h"
#include "firn/types/data_type.h"
#include "firn/types/time_zone.h"

namespace firn {

void append_int(std::string& out, int64_t value);
void append_uint(std::string& out, uint64_t value);
void append_wide(std::string& out, Int128 value);
void append_wide(std::string& out, UInt128 value);

/// The shortest text that reads back as the same value: 0.1, 1e-7, 100000000000000000000, 1e21, -0, nan, inf, -inf.
void append_float(std::string& out, double value);
void append_float(std::string& out, float value);

/// value * 10^-scale.
void append_decimal(std::string& out, const Int256& value, int scale, bool trailing_zeros = false);
void append_decimal(std::string& out, Int128 value, int scale, bool trailing_zeros = false);

/// Days since 1970-01-01.
void append_date(std::string& out, int64_t days);
/// "2020-01-02 03:04:05" in the zone; seconds since the epoch.
void append_datetime(std::string& out, int64_t seconds, const TimeZone& zone);
/// The same with `scale` digits of fraction; ticks of 10^-scale seconds.
void append_datetime64(std::string& out, int64_t ticks, int scale, const TimeZone& zone);
/// "12:30:00", "-112:30:00".
void append_time(std::string& out, int64_t seconds);
void append_time64(std::string& out, int64_t ticks, int scale);

void append_uuid(std::string& out, UInt128 value);
void append_ipv4(std::string& out, uint32_t value);
void append_ipv6(std::string& out, UInt128 value);

/// The value at `data`, of a type of fixed width (numbers, dates, UUID, enums …; not strings and nested types), as the
/// type prints: Bool as true/false, enums by name. `zone`: of DateTime types that name none.
/// An enum value without a name: INCORRECT_DATA.
void append_value(std::string& out, const DataType& type, const char* data, const TimeZone& zone,
                  bool decimal_trailing_zeros = false);

}  // namespace firn
