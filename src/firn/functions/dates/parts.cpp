// Parts of dates and times: toYear, toMonth, toHour, toYYYYMM, toRelativeDayNum and the like.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"

namespace firn::functions {

namespace {

enum class Input : uint8_t { Days, LocalSeconds, UtcSeconds };

struct Part {
    const char* name;
    TypeId result;
    Input input;
    WholeFunction function;
    Monotonic monotonic = Monotonic::No;
    bool needs_time = false;  // refuses Date and Date32
    std::vector<std::string> aliases = {};
    bool any_case = false;
};

int64_t clamp_year(int64_t year) { return std::clamp<int64_t>(year, 0, 65535); }
int64_t months_of(int64_t days) {
    const CivilDate date = civil_from_days(days);
    return date.year * 12 + date.month;
}
int64_t year_month(int64_t days) {
    const CivilDate date = civil_from_days(days);
    return std::clamp<int64_t>(date.year * 100 + date.month, 0, UINT32_MAX);
}
int64_t year_month_day(int64_t days) {
    const CivilDate date = civil_from_days(days);
    return std::clamp<int64_t>((date.year * 100 + date.month) * 100 + date.day, 0, UINT32_MAX);
}
int64_t compact_time(int64_t seconds) {
    const int64_t days = floor_divide(seconds, 86400), rest = seconds - days * 86400;
    const CivilDate date = civil_from_days(days);
    const int64_t day = (date.year * 100 + date.month) * 100 + date.day;
    return std::max<int64_t>(0, day * 1000000 + rest / 3600 * 10000 + rest / 60 % 60 * 100 + rest % 60);
}

const Part kParts[] = {
    {"toYear",
     TypeId::UInt16,
     Input::Days,
     [](int64_t d) { return clamp_year(civil_from_days(d).year); },
     Monotonic::Increasing,
     false,
     {"YEAR"},
     true},
    {"toQuarter",
     TypeId::UInt8,
     Input::Days,
     [](int64_t d) { return int64_t{(civil_from_days(d).month - 1) / 3 + 1}; },
     Monotonic::No,
     false,
     {"QUARTER"},
     true},
    {"toMonth",
     TypeId::UInt8,
     Input::Days,
     [](int64_t d) { return int64_t{civil_from_days(d).month}; },
     Monotonic::No,
     false,
     {"MONTH"},
     true},
    {"toDayOfMonth",
     TypeId::UInt8,
     Input::Days,
     [](int64_t d) { return int64_t{civil_from_days(d).day}; },
     Monotonic::No,
     false,
     {"DAY", "DAYOFMONTH"},
     true},
    {"toDayOfYear",
     TypeId::UInt16,
     Input::Days,
     [](int64_t d) { return d - days_from_civil(civil_from_days(d).year, 1, 1) + 1; },
     Monotonic::No,
     false,
     {"DAYOFYEAR"},
     true},
    {"toDaysInMonth", TypeId::UInt8, Input::Days,
     [](int64_t d) {
         const auto c = civil_from_days(d);
         return int64_t{days_in_month(c.year, c.month)};
     }},
    {"toISOWeek", TypeId::UInt8, Input::Days, iso_week},
    {"toISOYear", TypeId::UInt16, Input::Days, [](int64_t d) { return clamp_year(iso_year(d)); },
     Monotonic::Increasing},
    {"toHour",
     TypeId::UInt8,
     Input::LocalSeconds,
     [](int64_t s) { return floor_modulo(s, 86400) / 3600; },
     Monotonic::No,
     true,
     {"HOUR"},
     true},
    {"toMinute",
     TypeId::UInt8,
     Input::LocalSeconds,
     [](int64_t s) { return floor_modulo(s, 3600) / 60; },
     Monotonic::No,
     true,
     {"MINUTE"},
     true},
    {"toSecond",
     TypeId::UInt8,
     Input::LocalSeconds,
     [](int64_t s) { return floor_modulo(s, 60); },
     Monotonic::No,
     true,
     {"SECOND"},
     true},
    {"toYYYYMM", TypeId::UInt32, Input::Days, year_month, Monotonic::Increasing},
    {"toYYYYMMDD", TypeId::UInt32, Input::Days, year_month_day, Monotonic::Increasing},
    {"toYYYYMMDDhhmmss", TypeId::UInt64, Input::LocalSeconds, compact_time, Monotonic::Increasing},
    {"toRelativeYearNum", TypeId::UInt16, Input::Days, [](int64_t d) { return clamp_year(civil_from_days(d).year); },
     Monotonic::Increasing},
    {"toRelativeQuarterNum", TypeId::UInt32, Input::Days, [](int64_t d) { return floor_divide(months_of(d) - 1, 3); }},
    {"toRelativeMonthNum", TypeId::UInt32, Input::Days, months_of},
    {"toRelativeWeekNum", TypeId::UInt32, Input::Days, [](int64_t d) { return floor_divide(d + 3, 7); }},
    {"toRelativeDayNum", TypeId::UInt32, Input::Days, [](int64_t d) { return d; }},
    {"toRelativeHourNum", TypeId::UInt32, Input::UtcSeconds, [](int64_t s) { return floor_divide(s, 3600); }},
    {"toRelativeMinuteNum", TypeId::UInt32, Input::UtcSeconds, [](int64_t s) { return floor_divide(s, 60); }},
    {"toRelativeSecondNum", TypeId::UInt32, Input::UtcSeconds, [](int64_t s) { return s; }},
    {"toYearNumSinceEpoch", TypeId::UInt16, Input::Days, [](int64_t d) { return civil_from_days(d).year - 1970; }},
    {"toMonthNumSinceEpoch", TypeId::UInt32, Input::Days, [](int64_t d) { return months_of(d) - 1970 * 12 - 1; }},
};

void check_time(const Argument& argument, std::string_view name, bool needs_time) {
    const TypeId id = argument.type->id();
    if (!is_date_or_time(id) || (needs_time && (id == TypeId::Date || id == TypeId::Date32)))
        fail_argument(name, *argument.type, 0);
}

VectorPtr read(const VectorPtr& time, Input input, const TimeZone& zone) {
    switch (input) {
        case Input::Days:
            return local_days(time, zone);
        case Input::LocalSeconds:
            return local_seconds(time, zone);
        default:
            return utc_seconds(time, zone);
    }
}

void add_part(FunctionRegistry& registry, const Part& part) {
    Definition definition;
    definition.name = part.name;
    definition.aliases = part.aliases;
    definition.case_insensitive = part.any_case;
    definition.min_arguments = 1;
    definition.max_arguments = 2;
    definition.resolve = [&part](std::span<const Argument> arguments, const FunctionContext& context) {
        check_time(arguments[0], part.name, part.needs_time);
        const TimeZone& zone = function_zone(arguments, 1, context, part.name);
        const TypePtr type = make_type(part.result);
        return Overload{type, [&part, &zone, type](const KernelArguments& call) {
                            return map_whole(read(call[0], part.input, zone), call.rows, part.function, type);
                        }};
    };
    if (part.monotonic != Monotonic::No)
        definition.monotonic = [&part](std::span<const Argument> arguments, size_t which) {
            // Clocks that are put back are not monotonic: UTC and dates only.
            const TypePtr type = unwrap(arguments[0].type);
            const bool steady = type->id() == TypeId::Date || type->id() == TypeId::Date32 ||
                                type->time_zone().empty() || type->time_zone() == "UTC";
            return which == 0 && arguments.size() == 1 && steady ? part.monotonic : Monotonic::No;
        };
    registry.add(std::move(definition));
}

/// Parts of a second: nanoseconds divided.
void add_fraction(FunctionRegistry& registry, const char* name, TypeId result, int64_t divisor) {
    Definition definition;
    definition.name = name;
    definition.case_insensitive = true;
    definition.min_arguments = 1;
    definition.max_arguments = 2;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext&) {
        check_time(arguments[0], name, true);
        const TypePtr type = make_type(result);
        return Overload{type, [=](const KernelArguments& call) {
                            return convert_numbers(type, map_unary<int64_t, int64_t>(
                                                             nanoseconds(call[0]), call.rows, make_type(TypeId::Int64),
                                                             [divisor](int64_t n) { return n / divisor; }));
                        }};
    };
    registry.add(std::move(definition));
}

/// Functions of a date and a mode: toWeek(d, 3), toDayOfWeek(d, 1).
void add_moded(FunctionRegistry& registry, const char* name, TypeId result,
               int64_t (*function)(int64_t days, int64_t mode), std::vector<std::string> aliases = {}) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = true;
    definition.min_arguments = 1;
    definition.max_arguments = 3;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        Argument time = arguments[0];
        if (is_string_like(time.type->id())) fail_argument(name, *time.type, 0);
        check_time(time, name, false);
        const int64_t mode = arguments.size() > 1 ? require_int(arguments[1], name, 1) : 0;
        const TimeZone& zone = function_zone(arguments, 2, context, name);
        const TypePtr type = make_type(result);
        return Overload{
            type, [=, &zone](const KernelArguments& call) {
                return convert_numbers(
                    type, map_unary<int64_t, int64_t>(local_days(call[0], zone), call.rows, make_type(TypeId::Int64),
                                                      [=](int64_t days) { return function(days, mode); }));
            }};
    };
    registry.add(std::move(definition));
}

int64_t weekday(int64_t days, int64_t mode) {
    const int day = day_of_week(days);  // Monday = 1
    switch (mode & 3) {
        case 0:
            return day;
        case 1:
            return day - 1;
        case 2:
            return day % 7;
        default:
            return day % 7 + 1;
    }
}

Overload resolve_unix_timestamp(std::span<const Argument> arguments, const FunctionContext& context) {
    const TypePtr type = make_type(TypeId::UInt32);
    TypePtr from = arguments[0].type;
    if (is_string_like(from->id())) {
        const TypePtr datetime =
            make_datetime(arguments.size() > 1 ? require_text(arguments[1], "toUnixTimestamp", 1) : "");
        Converter convert = make_converter(from, datetime, context);
        return {type, [=](const KernelArguments& call) {
                    return convert(flatten(call[0]), nullptr).vector->with_type(type);
                }};
    }
    check_time(arguments[0], "toUnixTimestamp", false);
    const TimeZone& zone = function_zone(arguments, 1, context, "toUnixTimestamp");
    return {type, [=, &zone](const KernelArguments& call) {
                return convert_numbers_checked(type, flatten(utc_seconds(call[0], zone)), nullptr, CastErrors::Throw,
                                               ErrorCode::DECIMAL_OVERFLOW)
                    .vector;
            }};
}

}  // namespace

void register_date_part_functions(FunctionRegistry& registry) {
    for (const auto& part : kParts) add_part(registry, part);
    add_fraction(registry, "toMillisecond", TypeId::UInt16, 1000000);
    add_fraction(registry, "toMicrosecond", TypeId::UInt32, 1000);
    add_fraction(registry, "toNanosecond", TypeId::UInt32, 1);
    add_moded(registry, "toDayOfWeek", TypeId::UInt8, weekday, {"DAYOFWEEK"});
    add_moded(registry, "toWeek", TypeId::UInt8,
              [](int64_t days, int64_t mode) { return floor_modulo(year_and_week(days, static_cast<int>(mode)), 100); },
              {"week"});
    add_moded(
        registry, "toYearWeek", TypeId::UInt32,
        [](int64_t days, int64_t mode) { return year_and_week(days, static_cast<int>(mode < 8 ? mode | 2 : mode)); },
        {"yearweek"});
    Definition unix_timestamp;
    unix_timestamp.name = "toUnixTimestamp";
    unix_timestamp.aliases = {"TO_UNIXTIME"};
    unix_timestamp.case_insensitive = true;
    unix_timestamp.min_arguments = 1;
    unix_timestamp.max_arguments = 2;
    unix_timestamp.resolve = resolve_unix_timestamp;
    registry.add(std::move(unix_timestamp));
}

}  // namespace firn::functions
