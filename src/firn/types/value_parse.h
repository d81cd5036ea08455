// Values from text, as ClickHouse's conversions of String read them. All of the text must be the value.
//
// Each returns kParsed, or the code of the error that ClickHouse raises for such text; `out` is then not set.
// Nothing is thrown, so that toXOrNull can be built on it.
#pragma once

#include <cstdint>
#include <string_view>

#include "firn/base/error.h"
#include "firn/types/data_type.h"
#include "firn/types/time_zone.h"

namespace firn {

constexpr ErrorCode kParsed{};

/// Decimal digits with a sign. Too large a number wraps around, and `overflow` is set.
ErrorCode parse_integer(std::string_view text, bool is_signed, int bits, Int256& out, bool& overflow);
ErrorCode parse_float(std::string_view text, double& out);
/// value * 10^scale, further digits cut off. ARGUMENT_OUT_OF_BOUND where it has more than `precision` digits.
ErrorCode parse_decimal(std::string_view text, int precision, int scale, Int256& out);
/// YYYY-MM-DD, YYYY-M-D, YYYYMMDD; also years as "-0043" and "+12345". Days since the epoch.
ErrorCode parse_date(std::string_view text, int64_t& days);
/// "YYYY-MM-DD hh:mm:ss.fff", parts of it, or a Unix timestamp. Seconds since the epoch, and nanoseconds after it.
ErrorCode parse_datetime(std::string_view text, const TimeZone& zone, int64_t& seconds, int32_t& nanoseconds);
/// "hh:mm:ss.fff", "-hh:mm:ss": both parts have the sign.
ErrorCode parse_time(std::string_view text, int64_t& seconds, int32_t& nanoseconds);
ErrorCode parse_uuid(std::string_view text, UInt128& out);
ErrorCode parse_ipv4(std::string_view text, uint32_t& out);
ErrorCode parse_ipv6(std::string_view text, UInt128& out);
ErrorCode parse_bool(std::string_view text, bool& out);

enum class ParseMode : uint8_t {
    Wrap,    // integers out of range wrap around, dates are clamped: toInt8('300')
    Strict,  // they are errors: toInt8OrNull('300'), comparison with a literal
};

/// A value of any fixed-width type (Decimal, Enum, Date, UUID … too), stored at `out` as the type's Physical says.
/// `zone`: of DateTime types that name none.
ErrorCode parse_value(std::string_view text, const DataType& type, const TimeZone& zone, ParseMode mode, char* out);

}  // namespace firn
