// One part of a date changed (changeYear), slots of time (timeSlots), other calendars' day numbers, shifts between zones.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"
#include "firn/types/value_parse.h"
#include "firn/types/value_text.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

enum class Part : uint8_t { Year, Month, Day, Hour, Minute, Second };

/// Where a part lies out of its range the result is the epoch.
Overload resolve_change(ArgumentList arguments, const FunctionContext& context, Part part, const char* name) {
    const TypePtr given = arguments[0].type;
    const TypeId id = given->id();
    if (id != TypeId::Date && id != TypeId::Date32 && id != TypeId::DateTime && id != TypeId::DateTime64)
        fail_argument(name, *given, 0);
    require_integer(arguments, 1, name);
    TypePtr type = given;
    if (part >= Part::Hour && id == TypeId::Date) type = make_type(TypeId::DateTime);
    if (part >= Part::Hour && id == TypeId::Date32) type = make_datetime64(3);
    const TimeZone& zone = function_zone(arguments, 2, context, name);
    const int scale = type->id() == TypeId::DateTime64 ? type->scale() : 0;
    auto as_result = make_cast(make_datetime64(scale, zone.name()), type, context);
    return {type, [=, &zone](const KernelArguments& call) {
                const VectorPtr seconds = local_seconds(call[0], zone), fractions = nanoseconds(call[0]);
                const VectorPtr values = as_int64(call[1]);
                const auto ticks = static_cast<int64_t>(power_of_ten(scale));
                Output<int64_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t local = Reader<int64_t>(seconds)[i], days = floor_divide(local, 86400);
                    const int64_t clock = local - days * 86400, value = Reader<int64_t>(values)[i];
                    const CivilDate date = civil_from_days(days);
                    int64_t hour = clock / 3600, minute = clock / 60 % 60, second = clock % 60, changed = days;
                    bool good = true;
                    switch (part) {
                        case Part::Year:
                            good =
                                value >= (id == TypeId::Date || id == TypeId::DateTime ? 1970 : 1900) && value <= 2299;
                            changed = days_from_civil(good ? value : 1970, date.month, date.day);
                            break;
                        case Part::Month:
                            good = value >= 1 && value <= 12;
                            changed = days_from_civil(date.year, static_cast<int>(good ? value : 1), date.day);
                            break;
                        case Part::Day:
                            good = value >= 1 && value <= 31;
                            changed = days_from_civil(date.year, date.month, value);
                            break;
                        case Part::Hour:
                            good = value >= 0 && value < 24;
                            hour = value;
                            break;
                        case Part::Minute:
                            good = value >= 0 && value < 60;
                            minute = value;
                            break;
                        case Part::Second:
                            good = value >= 0 && value < 60;
                            second = value;
                            break;
                    }
                    const int64_t moment = good ? changed * 86400 + hour * 3600 + minute * 60 + second : 0;
                    const int64_t fraction = good ? Reader<int64_t>(fractions)[i] / (1000000000 / ticks) : 0;
                    out[i] = (good ? zone.from_local(moment) : 0) * ticks + fraction;
                }
                return flatten(as_result(out.finish(make_datetime64(scale, zone.name()))));
            }};
}

/// The beginnings of the slots of `size` seconds that [start, start + duration] touches.
Overload resolve_slots(ArgumentList arguments, const FunctionContext&) {
    const TypePtr time = arguments[0].type;
    const bool fine = time->id() == TypeId::DateTime64;
    if (!fine && time->id() != TypeId::DateTime) fail_argument("timeSlots", *time, 0);
    for (size_t i = 1; i < arguments.size(); ++i) {
        const TypeId id = arguments[i].type->id();
        const bool good = fine ? id == TypeId::Decimal : i == 1 ? id == TypeId::UInt32 : is_integer(id);
        if (!good) fail_argument("timeSlots", *arguments[i].type, i);
    }
    const TypePtr type = make_array(time);
    const int scale = fine ? time->scale() : 0;
    return {type, [=](const KernelArguments& call) {
                constexpr int64_t kDefaultSlot = 1800;
                const auto ticks = static_cast<int64_t>(power_of_ten(scale));
                const auto in_ticks = [&](const VectorPtr& vector) {
                    if (!fine) return flatten(as_int64(vector));
                    return flatten(
                        cast_vector(cast_vector(flatten(vector), make_decimal(18, scale)), make_decimal(18, scale)));
                };
                const VectorPtr starts =
                    fine ? flatten(call[0]) : flatten(as_int64(flatten(call[0])->with_type(make_type(TypeId::UInt32))));
                const VectorPtr durations = in_ticks(call[1]), sizes = call.size() > 2 ? in_ticks(call[2]) : nullptr;
                std::vector<int64_t> slots;
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                offsets->mutable_as<int64_t>()[0] = 0;
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t size = sizes ? sizes->values<int64_t>()[i] : kDefaultSlot * ticks;
                    if (size <= 0)
                        fail(ErrorCode::ILLEGAL_COLUMN, "The size of a slot given to timeSlots has to be positive");
                    const int64_t begin = starts->values<int64_t>()[i];
                    const int64_t last = floor_divide(begin + durations->values<int64_t>()[i], size);
                    for (int64_t slot = floor_divide(begin, size); slot <= last; ++slot) slots.push_back(slot * size);
                    offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(slots.size());
                }
                VectorPtr values = make_vector<int64_t>(make_type(TypeId::Int64), slots);
                values = fine ? values->with_type(time)
                              : convert_numbers(make_type(TypeId::UInt32), values)->with_type(time);
                return Vector::array(type, call.rows, std::move(offsets), values);
            }};
}

constexpr int64_t kDaysFromYearZero = 719528;    // to 1970-01-01
constexpr int64_t kModifiedJulianEpoch = 40587;  // the number of 1970-01-01

Overload resolve_days_from_zero(ArgumentList arguments, const FunctionContext& context) {
    if (!is_date_or_time(arguments[0].type->id())) fail_argument("toDaysSinceYearZero", *arguments[0].type, 0);
    const TimeZone& zone = function_zone(arguments, 1, context, "toDaysSinceYearZero");
    const TypePtr type = make_type(TypeId::UInt32);
    return {type, [=, &zone](const KernelArguments& call) {
                return map_whole(
                    local_days(call[0], zone), call.rows, [](int64_t days) { return days + kDaysFromYearZero; }, type);
            }};
}

Overload resolve_date_of_days(ArgumentList arguments, const TypePtr& type, const char* name) {
    require_integer(arguments, 0, name);
    return {type, [=](const KernelArguments& call) {
                return map_whole(
                    as_int64(call[0]), call.rows, [](int64_t days) { return days - kDaysFromYearZero; }, type);
            }};
}

Overload resolve_to_julian(ArgumentList arguments, bool or_null) {
    require_string(arguments, 0, "toModifiedJulianDay");
    const TypePtr number = make_type(TypeId::Int32), type = or_null ? make_nullable(number) : number;
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                Output<int32_t> out(call.rows);
                MutableBufferPtr nulls = or_null ? Buffer::allocate_zeroed(call.rows) : nullptr;
                for (size_t i = 0; i < call.rows; ++i) {
                    int64_t days = 0;
                    const ErrorCode code = parse_date(texts[i].view(), days);
                    if (code != kParsed && !or_null)
                        fail(ErrorCode::CANNOT_PARSE_DATE, "Cannot read '{}' as a date", texts[i].view());
                    if (code != kParsed && nulls) nulls->mutable_as<uint8_t>()[i] = 1;
                    out[i] = code == kParsed ? static_cast<int32_t>(days + kModifiedJulianEpoch) : 0;
                }
                return out.finish(type, std::move(nulls));
            }};
}

Overload resolve_from_julian(ArgumentList arguments, bool or_null) {
    require_integer(arguments, 0, "fromModifiedJulianDay");
    const TypePtr text = make_type(TypeId::String), type = or_null ? make_nullable(text) : text;
    return {type, [=](const KernelArguments& call) {
                const VectorPtr days = as_int64(call[0]);
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    std::string date;
                    append_date(date, Reader<int64_t>(days)[i] - kModifiedJulianEpoch);
                    out.set(i, date);
                }
                return out.finish(type);
            }};
}

/// The clock of one zone read as that of another.
Overload resolve_shift(ArgumentList arguments, bool to_utc, const char* name) {
    const TypePtr type = arguments[0].type;
    if (type->id() != TypeId::DateTime && type->id() != TypeId::DateTime64) fail_argument(name, *type, 0);
    const TimeZone& zone = TimeZone::find(require_text(arguments[1], name, 1));
    const bool fine = type->id() == TypeId::DateTime64;
    const auto ticks = fine ? static_cast<int64_t>(power_of_ten(type->scale())) : int64_t{1};
    const auto shift = [=, &zone](int64_t time) {
        const int64_t seconds = floor_divide(time, ticks), rest = time - seconds * ticks;
        return (to_utc ? zone.from_local(seconds) : zone.to_local(seconds)) * ticks + rest;
    };
    return {type, [=](const KernelArguments& call) {
                if (fine) return map_unary<int64_t, int64_t>(call[0], call.rows, type, shift);
                return map_unary<uint32_t, uint32_t>(call[0], call.rows, type,
                                                     [&](uint32_t time) { return static_cast<uint32_t>(shift(time)); });
            }};
}

}  // namespace

void register_date_change_functions(FunctionRegistry& registry) {
    const std::pair<const char*, Part> parts[] = {{"changeYear", Part::Year},     {"changeMonth", Part::Month},
                                                  {"changeDay", Part::Day},       {"changeHour", Part::Hour},
                                                  {"changeMinute", Part::Minute}, {"changeSecond", Part::Second}};
    for (const auto& [name, part] : parts)
        declare(registry, {name}, 2, 2,
                [name = name, part = part](ArgumentList arguments, const FunctionContext& context) {
                    return resolve_change(arguments, context, part, name);
                });
    declare(registry, {"timeSlots"}, 2, 3, resolve_slots);
    declare(registry, {"toDaysSinceYearZero", {"TO_DAYS"}}, 1, 2, resolve_days_from_zero);
    declare(registry, {"fromDaysSinceYearZero", {"FROM_DAYS"}}, 1, 1,
            [](ArgumentList arguments, const FunctionContext&) {
                return resolve_date_of_days(arguments, make_type(TypeId::Date), "fromDaysSinceYearZero");
            });
    declare(registry, {"fromDaysSinceYearZero32"}, 1, 1, [](ArgumentList arguments, const FunctionContext&) {
        return resolve_date_of_days(arguments, make_type(TypeId::Date32), "fromDaysSinceYearZero32");
    });
    for (const bool or_null : {false, true}) {
        declare(registry, {or_null ? "toModifiedJulianDayOrNull" : "toModifiedJulianDay"}, 1, 1,
                [=](ArgumentList arguments, const FunctionContext&) { return resolve_to_julian(arguments, or_null); });
        declare(
            registry, {or_null ? "fromModifiedJulianDayOrNull" : "fromModifiedJulianDay"}, 1, 1,
            [=](ArgumentList arguments, const FunctionContext&) { return resolve_from_julian(arguments, or_null); });
    }
    for (const bool to_utc : {false, true}) {
        const char* name = to_utc ? "toUTCTimestamp" : "fromUTCTimestamp";
        declare(registry, {name, {to_utc ? "to_utc_timestamp" : "from_utc_timestamp"}}, 2, 2,
                [=](ArgumentList arguments, const FunctionContext&) { return resolve_shift(arguments, to_utc, name); });
    }
}

}  // namespace firn::functions
