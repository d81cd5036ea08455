#include "firn/functions/dates/time_parts.h"

#include <algorithm>
#include <cctype>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/types/calendar.h"

namespace firn::functions {

namespace {

const TypePtr& int64_type() {
    static const TypePtr type = make_type(TypeId::Int64);
    return type;
}

template <typename F>
VectorPtr map_time(const VectorPtr& time, F f) {
    const size_t rows = time->is_constant() ? 1 : time->size();
    const VectorPtr flat = time->is_constant() ? time->base() : time;
    VectorPtr out;
    switch (time->type()->physical()) {
        case Physical::UInt16:
            out = map_unary<uint16_t, int64_t>(flat, rows, int64_type(), f);
            break;
        case Physical::Int32:
            out = map_unary<int32_t, int64_t>(flat, rows, int64_type(), f);
            break;
        case Physical::UInt32:
            out = map_unary<uint32_t, int64_t>(flat, rows, int64_type(), f);
            break;
        default:
            out = map_unary<int64_t, int64_t>(flat, rows, int64_type(), f);
    }
    return time->is_constant() ? Vector::constant(out, time->size()) : out;
}

int64_t tick_unit(const DataType& type) {
    return type.id() == TypeId::DateTime64 ? static_cast<int64_t>(power_of_ten(type.scale())) : 1;
}

bool is_day_type(const DataType& type) { return type.id() == TypeId::Date || type.id() == TypeId::Date32; }

/// Days from January 1st of the year to its first week's first day, as the mode counts.
int64_t first_week_start(int64_t year, bool monday_first, bool first_day_rule) {
    const int64_t january = days_from_civil(year, 1, 1);
    const int weekday =
        monday_first ? day_of_week(january) - 1 : day_of_week(january) % 7;  // days since the week's first
    if (first_day_rule) return january + (7 - weekday) % 7;                  // week 1 has the first such weekday
    return january - weekday + (weekday > 3 ? 7 : 0);                        // week 1 has four days or more
}

}  // namespace

const TimeZone& function_zone(std::span<const Argument> arguments, size_t position, const FunctionContext& context,
                              std::string_view name) {
    if (position < arguments.size()) return TimeZone::find(require_text(arguments[position], name, position));
    const std::string& own = unwrap(arguments[0].type)->time_zone();
    return TimeZone::find(own.empty() ? context.time_zone : own);
}

VectorPtr utc_seconds(const VectorPtr& time, const TimeZone& zone) {
    if (is_day_type(*time->type()))
        return map_time(time, [&zone](int64_t days) { return zone.from_local(days * 86400); });
    const int64_t unit = tick_unit(*time->type());
    if (unit == 1) return map_time(time, [](int64_t v) { return v; });
    return map_time(time, [unit](int64_t ticks) { return floor_divide(ticks, unit); });
}

VectorPtr local_seconds(const VectorPtr& time, const TimeZone& zone) {
    if (is_day_type(*time->type())) return map_time(time, [](int64_t days) { return days * 86400; });
    const int64_t unit = tick_unit(*time->type());
    if (zone.is_utc()) return utc_seconds(time, zone);
    return map_time(time, [unit, &zone](int64_t ticks) { return zone.to_local(floor_divide(ticks, unit)); });
}

VectorPtr local_days(const VectorPtr& time, const TimeZone& zone) {
    if (is_day_type(*time->type())) return map_time(time, [](int64_t days) { return days; });
    const int64_t unit = tick_unit(*time->type());
    if (zone.is_utc()) {
        const int64_t day = unit * 86400;
        return map_time(time, [day](int64_t ticks) { return floor_divide(ticks, day); });
    }
    return map_time(
        time, [unit, &zone](int64_t ticks) { return floor_divide(zone.to_local(floor_divide(ticks, unit)), 86400); });
}

VectorPtr nanoseconds(const VectorPtr& time) {
    const int64_t unit = tick_unit(*time->type());
    const int64_t tick = 1000000000 / unit;
    if (time->type()->id() != TypeId::DateTime64) return map_time(time, [](int64_t) { return int64_t{0}; });
    return map_time(time, [unit, tick](int64_t ticks) { return floor_modulo(ticks, unit) * tick; });
}

VectorPtr map_whole(const VectorPtr& in, size_t rows, WholeFunction f, const TypePtr& type) {
    const VectorPtr out = map_unary<int64_t, int64_t>(in, rows, int64_type(), f);
    return convert_numbers(type, out);
}

bool parse_unit(std::string_view text, IntervalKind& kind) {
    std::string name(text);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    struct Unit {
        std::string_view name;
        IntervalKind kind;
    };
    static constexpr Unit kUnits[] = {{"nanosecond", IntervalKind::Nanosecond},
                                      {"ns", IntervalKind::Nanosecond},
                                      {"microsecond", IntervalKind::Microsecond},
                                      {"us", IntervalKind::Microsecond},
                                      {"u", IntervalKind::Microsecond},
                                      {"millisecond", IntervalKind::Millisecond},
                                      {"ms", IntervalKind::Millisecond},
                                      {"second", IntervalKind::Second},
                                      {"ss", IntervalKind::Second},
                                      {"s", IntervalKind::Second},
                                      {"minute", IntervalKind::Minute},
                                      {"mi", IntervalKind::Minute},
                                      {"n", IntervalKind::Minute},
                                      {"hour", IntervalKind::Hour},
                                      {"hh", IntervalKind::Hour},
                                      {"h", IntervalKind::Hour},
                                      {"day", IntervalKind::Day},
                                      {"dd", IntervalKind::Day},
                                      {"d", IntervalKind::Day},
                                      {"week", IntervalKind::Week},
                                      {"wk", IntervalKind::Week},
                                      {"ww", IntervalKind::Week},
                                      {"month", IntervalKind::Month},
                                      {"mm", IntervalKind::Month},
                                      {"m", IntervalKind::Month},
                                      {"quarter", IntervalKind::Quarter},
                                      {"qq", IntervalKind::Quarter},
                                      {"q", IntervalKind::Quarter},
                                      {"year", IntervalKind::Year},
                                      {"yyyy", IntervalKind::Year},
                                      {"yy", IntervalKind::Year}};
    for (const auto& unit : kUnits)
        if (name == unit.name || (unit.name.size() > 3 && name == std::string(unit.name) + "s")) {
            kind = unit.kind;
            return true;
        }
    return false;
}

int64_t year_and_week(int64_t days, int mode) {
    const int64_t year = civil_from_days(days).year;
    if (mode >= 8) {  // week 1 contains January 1st
        const bool monday_first = mode & 1;
        const auto start = [&](int64_t y) {
            const int64_t january = days_from_civil(y, 1, 1);
            return january - (monday_first ? day_of_week(january) - 1 : day_of_week(january) % 7);
        };
        int64_t of = year;
        if (days >= start(year + 1)) ++of;
        return of * 100 + (days - start(of)) / 7 + 1;
    }
    const bool monday_first = mode & 1, week_year = mode & 2;
    const bool first_day_rule = ((mode & 4) != 0) != ((mode & 1) == 0);
    const int64_t this_start = first_week_start(year, monday_first, first_day_rule);
    if (days < this_start) {
        if (!week_year) return year * 100;
        return (year - 1) * 100 + (days - first_week_start(year - 1, monday_first, first_day_rule)) / 7 + 1;
    }
    if (week_year && days >= first_week_start(year + 1, monday_first, first_day_rule)) return (year + 1) * 100 + 1;
    return year * 100 + (days - this_start) / 7 + 1;
}

int64_t iso_year(int64_t days) { return floor_divide(year_and_week(days, 3), 100); }
int64_t iso_week(int64_t days) { return floor_modulo(year_and_week(days, 3), 100); }

}  // namespace firn::functions
