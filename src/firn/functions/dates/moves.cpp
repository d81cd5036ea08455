// Moving dates and the distance between them: addDays, subtractMonths, dateAdd, dateDiff, age.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/arithmetic.h"
#include "firn/functions/cast.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"

namespace firn::functions {

namespace {

Overload resolve_move(std::span<const Argument> arguments, const FunctionContext& context, IntervalKind kind, int sign,
                      const std::string& name) {
    TypePtr time = arguments[0].type;
    if (!is_integer(arguments[1].type->id()) && !is_float(arguments[1].type->id()) &&
        arguments[1].type->id() != TypeId::Interval)
        fail_argument(name, *arguments[1].type, 1);
    std::function<VectorPtr(const VectorPtr&)> cast;
    if (is_string_like(time->id())) {
        const TypePtr parsed = make_datetime64(3);
        cast = make_cast(time, parsed, context);
        time = parsed;
    }
    if (!is_date_or_time(time->id())) fail_argument(name, *time, 0);
    Overload overload = add_units(time, kind, sign, context);
    if (!cast) return overload;
    return {overload.result, [=, kernel = overload.kernel](const KernelArguments& call) {
                const VectorPtr vectors[] = {cast(call[0]), call[1]};
                return kernel({vectors, {}, call.rows});
            }};
}

struct Side {
    Int128 ticks;  // of 10^-9 s, local
    int64_t days;  // local
};

int64_t units_between(IntervalKind kind, const Side& a, const Side& b) {
    const auto coarse = [&](int64_t unit) {
        const auto floor = [](Int128 v, Int128 d) { return v / d - (v % d < 0 ? 1 : 0); };
        return static_cast<int64_t>(floor(b.ticks, Int128{unit}) - floor(a.ticks, Int128{unit}));
    };
    const auto months = [](int64_t days) {
        const CivilDate date = civil_from_days(days);
        return date.year * 12 + date.month - 1;
    };
    switch (kind) {
        case IntervalKind::Nanosecond:
            return coarse(1);
        case IntervalKind::Microsecond:
            return coarse(1000);
        case IntervalKind::Millisecond:
            return coarse(1000000);
        case IntervalKind::Second:
            return coarse(1000000000);
        case IntervalKind::Minute:
            return coarse(60 * int64_t{1000000000});
        case IntervalKind::Hour:
            return coarse(3600 * int64_t{1000000000});
        case IntervalKind::Day:
            return b.days - a.days;
        case IntervalKind::Week:
            return floor_divide(b.days + 3, 7) - floor_divide(a.days + 3, 7);
        case IntervalKind::Month:
            return months(b.days) - months(a.days);
        case IntervalKind::Quarter:
            return floor_divide(months(b.days), 3) - floor_divide(months(a.days), 3);
        default:
            return civil_from_days(b.days).year - civil_from_days(a.days).year;
    }
}

/// Whole units that have passed.
int64_t age_between(IntervalKind kind, const Side& a, const Side& b) {
    if (b.ticks < a.ticks) return -age_between(kind, b, a);
    constexpr int64_t kSecond = 1000000000;
    const Int128 distance = b.ticks - a.ticks;
    switch (kind) {
        case IntervalKind::Nanosecond:
            return static_cast<int64_t>(distance);
        case IntervalKind::Microsecond:
            return static_cast<int64_t>(distance / 1000);
        case IntervalKind::Millisecond:
            return static_cast<int64_t>(distance / 1000000);
        case IntervalKind::Second:
            return static_cast<int64_t>(distance / kSecond);
        case IntervalKind::Minute:
            return static_cast<int64_t>(distance / (60 * kSecond));
        case IntervalKind::Hour:
            return static_cast<int64_t>(distance / (3600 * kSecond));
        case IntervalKind::Day:
            return static_cast<int64_t>(distance / (86400 * kSecond));
        case IntervalKind::Week:
            return static_cast<int64_t>(distance / (7 * 86400 * kSecond));
        default:
            break;
    }
    const CivilDate from = civil_from_days(a.days), to = civil_from_days(b.days);
    int64_t months = (to.year - from.year) * 12 + to.month - from.month;
    const Int128 from_clock = a.ticks - static_cast<Int128>(a.days) * 86400 * kSecond,
                 to_clock = b.ticks - static_cast<Int128>(b.days) * 86400 * kSecond;
    if (to.day < from.day || (to.day == from.day && to_clock < from_clock)) --months;
    return kind == IntervalKind::Month ? months : kind == IntervalKind::Quarter ? months / 3 : months / 12;
}

Overload resolve_difference(std::span<const Argument> arguments, const FunctionContext& context, bool whole,
                            const std::string& name) {
    IntervalKind kind{};
    const std::string unit = require_text(arguments[0], name, 0);
    if (!parse_unit(unit, kind)) fail(ErrorCode::BAD_ARGUMENTS, "Function {} does not support '{}' unit", name, unit);
    for (size_t i = 1; i < 3; ++i)
        if (!is_date_or_time(arguments[i].type->id())) fail_argument(name, *arguments[i].type, i);
    const TimeZone& left = arguments.size() > 3 ? function_zone(arguments, 3, context, name)
                                                : function_zone(arguments.subspan(1, 1), 1, context, name);
    const TimeZone& right = arguments.size() > 3 ? left : function_zone(arguments.subspan(2, 1), 1, context, name);
    const TypePtr type = make_type(TypeId::Int64);
    return {type, [=, &left, &right](const KernelArguments& call) {
                Output<int64_t> out(call.rows);
                const VectorPtr parts[] = {local_days(call[1], left),    local_days(call[2], right),
                                           local_seconds(call[1], left), local_seconds(call[2], right),
                                           nanoseconds(call[1]),         nanoseconds(call[2])};
                const Reader<int64_t> days_a(parts[0]), days_b(parts[1]), seconds_a(parts[2]), seconds_b(parts[3]),
                    nano_a(parts[4]), nano_b(parts[5]);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Side a{static_cast<Int128>(seconds_a[i]) * 1000000000 + nano_a[i], days_a[i]};
                    const Side b{static_cast<Int128>(seconds_b[i]) * 1000000000 + nano_b[i], days_b[i]};
                    out[i] = whole ? age_between(kind, a, b) : units_between(kind, a, b);
                }
                return out.finish(type);
            }};
}

/// dateAdd(d, INTERVAL …): as d + interval.
void add_interval_call(FunctionRegistry& registry, const char* name, std::vector<std::string> aliases,
                       const char* operation) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = true;
    definition.min_arguments = 2;
    definition.max_arguments = 3;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        if (arguments.size() == 3) {  // dateAdd('day', 3, d)
            IntervalKind kind{};
            const std::string unit = require_text(arguments[0], name, 0);
            if (!parse_unit(unit, kind))
                fail(ErrorCode::BAD_ARGUMENTS, "Function {} does not support '{}' unit", name, unit);
            Overload overload =
                add_units(arguments[2].type, kind, std::string_view(operation) == "plus" ? 1 : -1, context);
            return Overload{overload.result, [kernel = overload.kernel](const KernelArguments& call) {
                                const VectorPtr vectors[] = {call[2], call[1]};
                                return kernel({vectors, {}, call.rows});
                            }};
        }
        const bool swap = arguments[0].type->id() == TypeId::Interval;
        const Arithmetic op = std::string_view(operation) == "plus" ? Arithmetic::Plus : Arithmetic::Minus;
        Overload overload = resolve_arithmetic({op, name, &context}, arguments[swap ? 1 : 0], arguments[swap ? 0 : 1]);
        if (!swap) return overload;
        return Overload{overload.result, [kernel = overload.kernel](const KernelArguments& call) {
                            const VectorPtr vectors[] = {call[1], call[0]};
                            return kernel({vectors, {}, call.rows});
                        }};
    };
    registry.add(std::move(definition));
}

}  // namespace

void register_date_move_functions(FunctionRegistry& registry) {
    for (int kind = 0; kind <= static_cast<int>(IntervalKind::Year); ++kind)
        for (const int sign : {1, -1}) {
            const auto unit = static_cast<IntervalKind>(kind);
            Definition definition;
            definition.name = std::string(sign > 0 ? "add" : "subtract") + std::string(interval_name(unit)) + "s";
            definition.min_arguments = definition.max_arguments = 2;
            definition.resolve = [=, name = definition.name](std::span<const Argument> arguments,
                                                             const FunctionContext& context) {
                return resolve_move(arguments, context, unit, sign, name);
            };
            registry.add(std::move(definition));
        }
    const auto add = [&](const char* name, std::vector<std::string> aliases, bool whole) {
        Definition definition;
        definition.name = name;
        definition.aliases = std::move(aliases);
        definition.case_insensitive = true;
        definition.min_arguments = 3;
        definition.max_arguments = 4;
        definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
            return resolve_difference(arguments, context, whole, name);
        };
        registry.add(std::move(definition));
    };
    add("dateDiff", {"date_diff", "DATE_DIFF", "timestampDiff", "timestamp_diff", "TIMESTAMP_DIFF"}, false);
    add("age", {}, true);
    add_interval_call(registry, "dateAdd", {"date_add", "timestamp_add", "timestampAdd", "addDate"}, "plus");
    add_interval_call(registry, "dateSub", {"date_sub", "timestamp_sub", "timestampSub", "subDate"}, "minus");
}

}  // namespace firn::functions
