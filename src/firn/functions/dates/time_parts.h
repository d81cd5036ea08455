// Dates and times of every type as whole numbers of local days, seconds or ticks, and back.
#pragma once

#include <string>

#include "firn/functions/function.h"
#include "firn/types/time_zone.h"

namespace firn::functions {

/// The zone a date function works in: its argument at `position` when there is one, else the type's, else the session's.
const TimeZone& function_zone(std::span<const Argument> arguments, size_t position, const FunctionContext& context,
                              std::string_view name);

/// Int64 vectors (Flat or Constant as given). The argument is a Date, Date32, DateTime or DateTime64.
VectorPtr local_days(const VectorPtr& time, const TimeZone& zone);
VectorPtr local_seconds(const VectorPtr& time, const TimeZone& zone);
/// Seconds since the epoch, rounded down.
VectorPtr utc_seconds(const VectorPtr& time, const TimeZone& zone);
/// Nanoseconds within the second.
VectorPtr nanoseconds(const VectorPtr& time);

/// result[i] = f(in[i]) over Int64, then as `type` by a wrapping conversion.
using WholeFunction = int64_t (*)(int64_t);
VectorPtr map_whole(const VectorPtr& in, size_t rows, WholeFunction f, const TypePtr& type);

/// Interval units by name: "day", "dd", "d", "days" …; false where it is none.
bool parse_unit(std::string_view text, IntervalKind& kind);

/// 0 = the week starts on Sunday … as ClickHouse's (and MySQL's) modes 0..9. Gives year * 100 + week.
int64_t year_and_week(int64_t days, int mode);
int64_t iso_year(int64_t days);
int64_t iso_week(int64_t days);

constexpr int64_t kMaxDate = 65535;

}  // namespace firn::functions
