// Dates and times plus and minus numbers, intervals and each other.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/arithmetic.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/types/calendar.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

const TypePtr& int64_type() {
    static const TypePtr type = make_type(TypeId::Int64);
    return type;
}

VectorPtr as_int64(const VectorPtr& vector) {
    if (vector->type()->physical() == Physical::Int64) return vector;
    if (vector->is_constant()) return Vector::constant(convert_numbers(int64_type(), vector->base()), vector->size());
    return convert_numbers(int64_type(), vector);
}

int64_t add_months(int64_t days, int64_t months) {
    const CivilDate date = civil_from_days(days);
    const int64_t total = date.year * 12 + (date.month - 1) + std::clamp<int64_t>(months, -1200000000, 1200000000);
    const int64_t year = floor_divide(total, 12);
    const int month = static_cast<int>(floor_modulo(total, 12)) + 1;
    return days_from_civil(year, month, std::min(date.day, days_in_month(year, month)));
}

bool is_calendar_unit(IntervalKind kind) { return kind >= IntervalKind::Day; }

/// Days moved by a count of days, weeks, months, quarters or years.
int64_t move_days(int64_t days, IntervalKind kind, int64_t count) {
    switch (kind) {
        case IntervalKind::Day:
            return days + count;
        case IntervalKind::Week:
            return days + count * 7;
        case IntervalKind::Month:
            return add_months(days, count);
        case IntervalKind::Quarter:
            return add_months(days, count * 3);
        default:
            return add_months(days, count * 12);
    }
}

/// Units of time of day in nanoseconds.
int64_t nanoseconds_of(IntervalKind kind) {
    switch (kind) {
        case IntervalKind::Nanosecond:
            return 1;
        case IntervalKind::Microsecond:
            return 1000;
        case IntervalKind::Millisecond:
            return 1000000;
        case IntervalKind::Second:
            return 1000000000;
        case IntervalKind::Minute:
            return 60 * int64_t{1000000000};
        default:
            return 3600 * int64_t{1000000000};
    }
}

/// Seconds moved by calendar units keep their time of day in the zone.
int64_t move_seconds(int64_t seconds, const TimeZone& zone, IntervalKind kind, int64_t count) {
    const int64_t local = zone.to_local(seconds);
    const int64_t days = floor_divide(local, 86400);
    return zone.from_local(move_days(days, kind, count) * 86400 + (local - days * 86400));
}

int subsecond_scale(IntervalKind kind) {
    return kind == IntervalKind::Nanosecond    ? 9
           : kind == IntervalKind::Microsecond ? 6
           : kind == IntervalKind::Millisecond ? 3
                                               : 0;
}

template <typename T>
Overload move_dates(const TypePtr& type, IntervalKind kind, int sign) {
    return {type, [=](const KernelArguments& arguments) {
                return map_binary<T, int64_t, T>(
                    arguments[0], as_int64(arguments[1]), arguments.rows, type,
                    [=](T days, int64_t count) { return static_cast<T>(move_days(days, kind, sign * count)); });
            }};
}

Overload move_datetime64(const TypePtr& type, const TimeZone& zone, IntervalKind kind, int sign) {
    const auto unit = static_cast<int64_t>(power_of_ten(type->scale()));
    if (is_calendar_unit(kind))
        return {type, [=, &zone](const KernelArguments& arguments) {
                    return map_binary<int64_t, int64_t, int64_t>(
                        arguments[0], as_int64(arguments[1]), arguments.rows, type,
                        [=, &zone](int64_t ticks, int64_t count) {
                            const int64_t seconds = floor_divide(ticks, unit);
                            return move_seconds(seconds, zone, kind, sign * count) * unit + (ticks - seconds * unit);
                        });
                }};
    const int64_t nanoseconds = nanoseconds_of(kind), tick = static_cast<int64_t>(power_of_ten(9 - type->scale()));
    const int64_t step = nanoseconds / tick;
    return {type, [=](const KernelArguments& arguments) {
                return map_binary<int64_t, int64_t, int64_t>(
                    arguments[0], as_int64(arguments[1]), arguments.rows, type, [=](int64_t ticks, int64_t count) {
                        return static_cast<int64_t>(static_cast<uint64_t>(ticks) +
                                                    static_cast<uint64_t>(sign * count) * static_cast<uint64_t>(step));
                    });
            }};
}

/// The overload after the first argument became another type.
Overload after_cast(const TypePtr& from, const TypePtr& to, Overload overload, const FunctionContext& context) {
    auto cast = make_cast(from, to, context);
    return {overload.result, [cast, kernel = std::move(overload.kernel)](const KernelArguments& arguments) {
                const VectorPtr vectors[] = {cast(arguments[0]), arguments[1]};
                return kernel({vectors, {}, arguments.rows});
            }};
}

Overload difference(const TypePtr& a, const TypePtr& b, const FunctionContext& context) {
    const auto is_day = [](const TypePtr& type) { return type->id() == TypeId::Date || type->id() == TypeId::Date32; };
    if (is_day(a) && is_day(b)) {
        const TypePtr type = make_type(TypeId::Int32);
        return {type, [=](const KernelArguments& arguments) {
                    return convert_numbers(type, map_binary<int64_t, int64_t, int64_t>(
                                                     as_int64(arguments[0]), as_int64(arguments[1]), arguments.rows,
                                                     int64_type(), [](int64_t x, int64_t y) { return x - y; }));
                }};
    }
    if (a->id() == TypeId::DateTime && b->id() == TypeId::DateTime) {
        const TypePtr type = make_type(TypeId::Int32);
        return {type, [=](const KernelArguments& arguments) {
                    return map_binary<uint32_t, uint32_t, int32_t>(
                        arguments[0], arguments[1], arguments.rows, type,
                        [](uint32_t x, uint32_t y) { return static_cast<int32_t>(x - y); });
                }};
    }
    if (is_day(a) || is_day(b)) return {};
    const int scale =
        std::max(a->id() == TypeId::DateTime64 ? a->scale() : 0, b->id() == TypeId::DateTime64 ? b->scale() : 0);
    auto left = make_cast(a, make_datetime64(scale), context), right = make_cast(b, make_datetime64(scale), context);
    const TypePtr type = make_decimal(18, scale);
    return {type, [=](const KernelArguments& arguments) {
                return map_binary<int64_t, int64_t, int64_t>(
                    left(arguments[0]), right(arguments[1]), arguments.rows, type, [](int64_t x, int64_t y) {
                        return static_cast<int64_t>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
                    });
            }};
}

Overload interval_tuple(const ArithmeticCall& call, const Argument& time, const TypePtr& intervals, int sign) {
    TypePtr type = time.type;
    std::vector<Kernel> kernels;
    for (const auto& interval : intervals->children()) {
        if (interval->id() != TypeId::Interval) return {};
        Overload step = add_units(type, interval->interval_kind(), sign, *call.context);
        type = step.result;
        kernels.push_back(std::move(step.kernel));
    }
    return {type, [kernels](const KernelArguments& arguments) {
                VectorPtr value = arguments[0];
                const VectorPtr counts = flatten(arguments[1]);
                for (size_t i = 0; i < kernels.size(); ++i) {
                    const VectorPtr vectors[] = {value, flatten(counts->child(i))};
                    value = kernels[i]({vectors, {}, arguments.rows});
                }
                return value;
            }};
}

Overload swapped(Overload overload) {
    return {overload.result, [kernel = std::move(overload.kernel)](const KernelArguments& arguments) {
                const VectorPtr vectors[] = {arguments[1], arguments[0]};
                return kernel({vectors, {}, arguments.rows});
            }};
}

Overload intervals_together(const ArithmeticCall& call, const TypePtr& a, const TypePtr& b) {
    if (a->interval_kind() == b->interval_kind()) {
        const bool minus = call.op == Arithmetic::Minus;
        return {a, [a, minus](const KernelArguments& arguments) {
                    return map_binary<int64_t, int64_t, int64_t>(
                        arguments[0], arguments[1], arguments.rows, a,
                        [minus](int64_t x, int64_t y) { return minus ? x - y : x + y; });
                }};
    }
    const TypePtr type = make_tuple_type({a, b});
    const bool minus = call.op == Arithmetic::Minus;
    return {type, [type, minus](const KernelArguments& arguments) {
                VectorPtr second = flatten(arguments[1]);
                if (minus)
                    second = map_unary<int64_t, int64_t>(second, arguments.rows, second->type(),
                                                         [](int64_t x) { return -x; });
                return Vector::tuple(type, arguments.rows, {flatten(arguments[0]), second});
            }};
}

}  // namespace

Overload add_units(const TypePtr& time, IntervalKind kind, int sign, const FunctionContext& context) {
    const TimeZone& zone = TimeZone::find(time->time_zone().empty() ? context.time_zone : time->time_zone());
    const int scale = subsecond_scale(kind);
    switch (time->id()) {
        case TypeId::Date:
            if (is_calendar_unit(kind)) return move_dates<uint16_t>(time, kind, sign);
            if (scale) fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Units finer than a second cannot be added to Date");
            return after_cast(time, make_type(TypeId::DateTime),
                              add_units(make_type(TypeId::DateTime), kind, sign, context), context);
        case TypeId::Date32:
            if (is_calendar_unit(kind)) return move_dates<int32_t>(time, kind, sign);
            if (scale) fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Units finer than a second cannot be added to Date32");
            return after_cast(time, make_datetime64(3), add_units(make_datetime64(3), kind, sign, context), context);
        case TypeId::DateTime:
            if (scale) {
                const TypePtr finer = make_datetime64(scale, time->time_zone());
                return after_cast(time, finer, add_units(finer, kind, sign, context), context);
            }
            return {
                time, [=, &zone](const KernelArguments& arguments) {
                    return map_binary<uint32_t, int64_t, uint32_t>(
                        arguments[0], as_int64(arguments[1]), arguments.rows, time,
                        [=, &zone](uint32_t seconds, int64_t count) {
                            if (is_calendar_unit(kind))
                                return static_cast<uint32_t>(move_seconds(seconds, zone, kind, sign * count));
                            return static_cast<uint32_t>(seconds + sign * count * (nanoseconds_of(kind) / 1000000000));
                        });
                }};
        case TypeId::DateTime64:
            if (scale > time->scale()) {
                const TypePtr finer = make_datetime64(scale, time->time_zone());
                return after_cast(time, finer, add_units(finer, kind, sign, context), context);
            }
            return move_datetime64(time, zone, kind, sign);
        default:
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "An interval cannot be added to {}", time->name());
    }
}

Overload time_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b) {
    if (call.op != Arithmetic::Plus && call.op != Arithmetic::Minus) return {};
    const bool left_time = is_date_or_time(a.type->id()), right_time = is_date_or_time(b.type->id());
    const bool left_interval = a.type->id() == TypeId::Interval, right_interval = b.type->id() == TypeId::Interval;
    const auto intervals = [](const TypePtr& type) {
        return type->id() == TypeId::Tuple && !type->children().empty() && type->child(0)->id() == TypeId::Interval;
    };
    const int sign = call.op == Arithmetic::Minus ? -1 : 1;
    if (left_interval && right_interval) return intervals_together(call, a.type, b.type);
    if (left_time && right_time)
        return call.op == Arithmetic::Minus ? difference(a.type, b.type, *call.context) : Overload{};
    if (right_time && (left_interval || is_number(a.type->id()) || intervals(a.type))) {
        if (call.op == Arithmetic::Minus)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                 "Wrong order of arguments for function {}: a time cannot be subtracted from {}", call.name,
                 a.type->name());
        return swapped(time_arithmetic(call, b, a));
    }
    if (!left_time) return {};
    if (right_interval) return add_units(a.type, b.type->interval_kind(), sign, *call.context);
    if (intervals(b.type)) return interval_tuple(call, a, b.type, sign);
    if (is_integer(b.type->id()) || is_float(b.type->id()) || b.type->id() == TypeId::Bool)
        return add_units(
            a.type,
            a.type->id() == TypeId::Date || a.type->id() == TypeId::Date32 ? IntervalKind::Day : IntervalKind::Second,
            sign, *call.context);
    return {};
}

}  // namespace firn::functions
