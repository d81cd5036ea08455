// Starts and ends of periods: toStartOfMonth, toMonday, toStartOfInterval, dateTrunc, toLastDayOfMonth.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"

namespace firn::functions {

namespace {

int64_t month_start(int64_t days, int64_t months) {
    const CivilDate date = civil_from_days(days);
    const int64_t start = floor_divide(date.year * 12 + date.month - 1, months) * months;
    return days_from_civil(floor_divide(start, 12), static_cast<int>(floor_modulo(start, 12)) + 1, 1);
}

int64_t clamp_date(int64_t days) { return std::clamp<int64_t>(days, 0, kMaxDate); }

void check_time(const Argument& argument, std::string_view name, bool needs_time) {
    const TypeId id = argument.type->id();
    if (!is_date_or_time(id) || (needs_time && (id == TypeId::Date || id == TypeId::Date32)))
        fail_argument(name, *argument.type, 0);
}

Monotonic steady(std::span<const Argument> arguments, size_t which, size_t time_position, size_t plain_count) {
    const TypePtr type = unwrap(arguments[time_position].type);
    const bool utc = type->id() == TypeId::Date || type->id() == TypeId::Date32 || type->time_zone().empty() ||
                     type->time_zone() == "UTC";
    return which == time_position && utc && arguments.size() <= plain_count ? Monotonic::Increasing : Monotonic::No;
}

/// The start of a period that is made of days, as a Date.
void add_day_start(FunctionRegistry& registry, const char* name, WholeFunction function,
                   std::vector<std::string> aliases = {}) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = !definition.aliases.empty();
    definition.min_arguments = 1;
    definition.max_arguments = 2;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        check_time(arguments[0], name, false);
        const TimeZone& zone = function_zone(arguments, 1, context, name);
        const TypePtr type = make_type(TypeId::Date);
        return Overload{type, [=, &zone](const KernelArguments& call) {
                            return map_unary<int64_t, uint16_t>(
                                local_days(call[0], zone), call.rows, type,
                                [function](int64_t d) { return static_cast<uint16_t>(clamp_date(function(d))); });
                        }};
    };
    definition.monotonic = [](std::span<const Argument> arguments, size_t which) {
        return steady(arguments, which, 0, 1);
    };
    registry.add(std::move(definition));
}

void add_week_start(FunctionRegistry& registry, const char* name, int64_t offset) {
    Definition definition;
    definition.name = name;
    definition.min_arguments = 1;
    definition.max_arguments = 3;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        check_time(arguments[0], name, false);
        const bool monday = arguments.size() > 1 && (require_int(arguments[1], name, 1) & 1);
        const TimeZone& zone = function_zone(arguments, 2, context, name);
        const TypePtr type = make_type(TypeId::Date);
        return Overload{
            type, [=, &zone](const KernelArguments& call) {
                return map_unary<int64_t, uint16_t>(local_days(call[0], zone), call.rows, type, [=](int64_t d) {
                    const int weekday = day_of_week(d);
                    return static_cast<uint16_t>(clamp_date(d - (monday ? weekday - 1 : weekday % 7) + offset));
                });
            }};
    };
    definition.monotonic = [](std::span<const Argument> arguments, size_t which) {
        return steady(arguments, which, 0, 2);
    };
    registry.add(std::move(definition));
}

/// A local moment that is a whole multiple of `step` seconds into its day, as a DateTime.
VectorPtr second_starts(const VectorPtr& time, size_t rows, const TimeZone& zone, int64_t step, const TypePtr& type) {
    return map_unary<int64_t, uint32_t>(local_seconds(time, zone), rows, type, [step, &zone](int64_t s) {
        const int64_t start = step >= 86400 ? floor_divide(s, 86400) * 86400 : floor_divide(s, step) * step;
        return static_cast<uint32_t>(std::clamp<int64_t>(zone.from_local(start), 0, UINT32_MAX));
    });
}

void add_second_start(FunctionRegistry& registry, const char* name, int64_t step,
                      std::vector<std::string> aliases = {}) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.min_arguments = 1;
    definition.max_arguments = 2;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        check_time(arguments[0], name, step < 86400);
        const TimeZone& zone = function_zone(arguments, 1, context, name);
        const TypePtr type = make_datetime(arguments.size() > 1 ? zone.name() : arguments[0].type->time_zone());
        return Overload{type, [=, &zone](const KernelArguments& call) {
                            return second_starts(call[0], call.rows, zone, step, type);
                        }};
    };
    definition.monotonic = [](std::span<const Argument> arguments, size_t which) {
        return steady(arguments, which, 0, 1);
    };
    registry.add(std::move(definition));
}

/// toStartOfSecond, toStartOfMillisecond …: DateTime64 that keeps its scale or gets one fine enough.
void add_fraction_start(FunctionRegistry& registry, const char* name, int scale) {
    Definition definition;
    definition.name = name;
    definition.min_arguments = 1;
    definition.max_arguments = 2;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        if (arguments[0].type->id() != TypeId::DateTime64) fail_argument(name, *arguments[0].type, 0);
        const TypePtr type =
            make_datetime64(std::max(scale, arguments[0].type->scale()), arguments[0].type->time_zone());
        auto cast = make_cast(arguments[0].type, type, context);
        const auto step = static_cast<int64_t>(power_of_ten(type->scale() - scale));
        return Overload{type, [=](const KernelArguments& call) {
                            return map_unary<int64_t, int64_t>(cast(call[0]), call.rows, type, [step](int64_t t) {
                                return floor_divide(t, step) * step;
                            });
                        }};
    };
    definition.monotonic = [](std::span<const Argument> arguments, size_t which) {
        return which == 0 && arguments.size() == 1 ? Monotonic::Increasing : Monotonic::No;
    };
    registry.add(std::move(definition));
}

int64_t unit_seconds(IntervalKind kind) {
    return kind == IntervalKind::Second   ? 1
           : kind == IntervalKind::Minute ? 60
           : kind == IntervalKind::Hour   ? 3600
                                          : 86400;
}

/// The start of the n-unit period that a day lies in; weeks start on Monday.
int64_t period_start(int64_t days, IntervalKind kind, int64_t n) {
    switch (kind) {
        case IntervalKind::Day:
            return floor_divide(days, n) * n;
        case IntervalKind::Week:
            return floor_divide(days - 4, 7 * n) * 7 * n + 4;
        case IntervalKind::Month:
            return month_start(days, n);
        case IntervalKind::Quarter:
            return month_start(days, n * 3);
        default:
            return days_from_civil(floor_divide(civil_from_days(days).year, n) * n, 1, 1);
    }
}

Overload resolve_start_of_interval(std::span<const Argument> arguments, const FunctionContext& context) {
    const std::string name = "toStartOfInterval";
    check_time(arguments[0], name, false);
    if (arguments[1].type->id() != TypeId::Interval) fail_argument(name, *arguments[1].type, 1);
    const IntervalKind kind = arguments[1].type->interval_kind();
    const auto count = constant_int(arguments[1]);
    if (!count) fail(ErrorCode::ILLEGAL_COLUMN, "The interval of function {} must be constant", name);
    if (*count <= 0) fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The interval of function {} must be positive", name);
    const int64_t n = *count;
    if (arguments.size() > 3 || (arguments.size() == 3 && !is_string_like(arguments[2].type->id())))
        fail(ErrorCode::NOT_IMPLEMENTED, "Function {} with an origin is not supported yet", name);
    const TimeZone& zone = function_zone(arguments, 2, context, name);
    const std::string zone_name = arguments.size() > 2 ? zone.name() : arguments[0].type->time_zone();
    const bool is_day = arguments[0].type->id() == TypeId::Date || arguments[0].type->id() == TypeId::Date32;
    if (kind >= IntervalKind::Week) {
        const TypePtr type = make_type(TypeId::Date);
        return {type, [=, &zone](const KernelArguments& call) {
                    return map_unary<int64_t, uint16_t>(local_days(call[0], zone), call.rows, type, [=](int64_t d) {
                        return static_cast<uint16_t>(clamp_date(period_start(d, kind, n)));
                    });
                }};
    }
    if (is_day && kind != IntervalKind::Day)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal interval kind {} for type {}", interval_name(kind),
             arguments[0].type->name());
    if (kind < IntervalKind::Second) {
        if (arguments[0].type->id() != TypeId::DateTime64)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal interval kind {} for type {}", interval_name(kind),
                 arguments[0].type->name());
        const int scale = kind == IntervalKind::Nanosecond ? 9 : kind == IntervalKind::Microsecond ? 6 : 3;
        const TypePtr type = make_datetime64(std::max(scale, arguments[0].type->scale()), zone_name);
        auto cast = make_cast(arguments[0].type, type, context);
        const int64_t step = n * static_cast<int64_t>(power_of_ten(type->scale() - scale));
        return {type, [=](const KernelArguments& call) {
                    return map_unary<int64_t, int64_t>(cast(call[0]), call.rows, type,
                                                       [step](int64_t t) { return floor_divide(t, step) * step; });
                }};
    }
    const TypePtr type = make_datetime(zone_name);
    const int64_t step = n * unit_seconds(kind);
    const bool whole_days = kind == IntervalKind::Day;
    return {type, [=, &zone](const KernelArguments& call) {
                return map_unary<int64_t, uint32_t>(
                    local_seconds(call[0], zone), call.rows, type, [=, &zone](int64_t s) {
                        int64_t start;
                        if (whole_days) {
                            start = period_start(floor_divide(s, 86400), IntervalKind::Day, n) * 86400;
                        } else {
                            // Hours and less are counted from the day's midnight where they divide it, else from the epoch.
                            start = floor_divide(s, step) * step;
                        }
                        return static_cast<uint32_t>(std::clamp<int64_t>(zone.from_local(start), 0, UINT32_MAX));
                    });
            }};
}

Overload resolve_date_trunc(std::span<const Argument> arguments, const FunctionContext& context) {
    const std::string name = "dateTrunc";
    IntervalKind kind{};
    const std::string unit = require_text(arguments[0], name, 0);
    if (!parse_unit(unit, kind)) fail(ErrorCode::BAD_ARGUMENTS, "{} doesn't look like datepart name in {}", unit, name);
    check_time(arguments[1], name, kind < IntervalKind::Day);
    const TypePtr& given = arguments[1].type;
    const TimeZone& zone = function_zone(arguments.subspan(1), 1, context, name);
    const std::string zone_name = arguments.size() > 2 ? zone.name() : given->time_zone();
    const bool extended = given->id() == TypeId::DateTime64 || given->id() == TypeId::Date32;
    if (kind >= IntervalKind::Week) {
        const TypePtr type = make_type(extended ? TypeId::Date32 : TypeId::Date);
        return {type, [=, &zone](const KernelArguments& call) -> VectorPtr {
                    const VectorPtr days = local_days(call[1], zone);
                    if (extended)
                        return map_unary<int64_t, int32_t>(days, call.rows, type, [=](int64_t d) {
                            return static_cast<int32_t>(period_start(d, kind, 1));
                        });
                    return map_unary<int64_t, uint16_t>(days, call.rows, type, [=](int64_t d) {
                        return static_cast<uint16_t>(clamp_date(period_start(d, kind, 1)));
                    });
                }};
    }
    if (kind < IntervalKind::Second) {
        if (given->id() != TypeId::DateTime64) fail_argument(name, *given, 1);
        const int scale = kind == IntervalKind::Nanosecond ? 9 : kind == IntervalKind::Microsecond ? 6 : 3;
        const TypePtr type = make_datetime64(scale, zone_name);
        const auto step = static_cast<int64_t>(power_of_ten(std::max(0, given->scale() - scale)));
        auto cast = make_cast(make_datetime64(std::min(scale, given->scale()), zone_name), type, context);
        const TypePtr coarse = make_datetime64(std::min(scale, given->scale()), zone_name);
        return {type, [=](const KernelArguments& call) {
                    return cast(map_unary<int64_t, int64_t>(call[1], call.rows, coarse,
                                                            [step](int64_t t) { return floor_divide(t, step); }));
                }};
    }
    const int64_t step = unit_seconds(kind);
    if (!extended) {
        const TypePtr type = make_datetime(zone_name);
        return {type, [=, &zone](const KernelArguments& call) {
                    return second_starts(call[1], call.rows, zone, step, type);
                }};
    }
    const TypePtr type = make_datetime64(0, zone_name);
    return {type, [=, &zone](const KernelArguments& call) {
                return map_unary<int64_t, int64_t>(
                    local_seconds(call[1], zone), call.rows, type,
                    [=, &zone](int64_t s) { return zone.from_local(floor_divide(s, step) * step); });
            }};
}

}  // namespace

void register_date_start_functions(FunctionRegistry& registry) {
    add_day_start(registry, "toStartOfYear", [](int64_t d) { return days_from_civil(civil_from_days(d).year, 1, 1); });
    add_day_start(registry, "toStartOfISOYear", [](int64_t d) {
        const int64_t fourth = days_from_civil(iso_year(d), 1, 4);
        return fourth - day_of_week(fourth) + 1;
    });
    add_day_start(registry, "toStartOfQuarter", [](int64_t d) { return month_start(d, 3); });
    add_day_start(registry, "toStartOfMonth", [](int64_t d) { return month_start(d, 1); });
    add_day_start(registry, "toMonday", [](int64_t d) { return d - day_of_week(d) + 1; });
    add_day_start(registry, "toLastDayOfMonth",
                  [](int64_t d) {
                      const CivilDate date = civil_from_days(d);
                      return d + days_in_month(date.year, date.month) - date.day;
                  },
                  {"LAST_DAY"});
    add_week_start(registry, "toStartOfWeek", 0);
    add_week_start(registry, "toLastDayOfWeek", 6);
    add_second_start(registry, "toStartOfDay", 86400);
    add_second_start(registry, "toStartOfHour", 3600);
    add_second_start(registry, "toStartOfMinute", 60);
    add_second_start(registry, "toStartOfFiveMinutes", 300, {"toStartOfFiveMinute"});
    add_second_start(registry, "toStartOfTenMinutes", 600);
    add_second_start(registry, "toStartOfFifteenMinutes", 900);
    add_second_start(registry, "timeSlot", 1800);
    add_fraction_start(registry, "toStartOfSecond", 0);
    add_fraction_start(registry, "toStartOfMillisecond", 3);
    add_fraction_start(registry, "toStartOfMicrosecond", 6);
    add_fraction_start(registry, "toStartOfNanosecond", 9);
    Definition interval;
    interval.name = "toStartOfInterval";
    interval.aliases = {"time_bucket", "date_bin"};
    interval.min_arguments = 2;
    interval.max_arguments = 4;
    interval.resolve = resolve_start_of_interval;
    interval.monotonic = [](std::span<const Argument> arguments, size_t which) {
        return steady(arguments, which, 0, 2);
    };
    registry.add(std::move(interval));
    Definition trunc;
    trunc.name = "dateTrunc";
    trunc.aliases = {"DATE_TRUNC"};
    trunc.case_insensitive = true;
    trunc.min_arguments = 2;
    trunc.max_arguments = 3;
    trunc.resolve = resolve_date_trunc;
    trunc.monotonic = [](std::span<const Argument> arguments, size_t which) { return steady(arguments, which, 1, 2); };
    registry.add(std::move(trunc));
}

}  // namespace firn::functions
