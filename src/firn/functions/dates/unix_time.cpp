// Unix timestamps and other numbers as times, and times made of parts: fromUnixTimestamp64Milli, makeDate, toTimeZone.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/dates/time_parts.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

using Arguments = std::span<const Argument>;

void add(FunctionRegistry& registry, const char* name, size_t least, size_t most,
         std::function<Overload(Arguments, const FunctionContext&)> resolve, std::vector<std::string> aliases = {},
         bool any_case = false) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = any_case;
    definition.min_arguments = least;
    definition.max_arguments = most;
    definition.resolve = std::move(resolve);
    registry.add(std::move(definition));
}

VectorPtr ints(const VectorPtr& vector) {
    const TypePtr type = make_type(TypeId::Int64);
    if (vector->is_constant()) return Vector::constant(convert_numbers(type, vector->base()), vector->size());
    return convert_numbers(type, vector);
}

void check_ints(Arguments arguments, size_t count, const char* name) {
    for (size_t i = 0; i < std::min(count, arguments.size()); ++i)
        if (!is_integer(arguments[i].type->id()) && !is_float(arguments[i].type->id()))
            fail_argument(name, *arguments[i].type, i);
}

Overload from_unix64(Arguments arguments, int scale, const char* name) {
    if (!is_integer(arguments[0].type->id())) fail_argument(name, *arguments[0].type, 0);
    const TypePtr type = make_datetime64(scale, arguments.size() > 1 ? require_text(arguments[1], name, 1) : "");
    return {type, [=](const KernelArguments& call) { return flatten(ints(call[0]))->with_type(type); }};
}

Overload to_unix64(Arguments arguments, int scale, const char* name, const FunctionContext& context) {
    if (arguments[0].type->id() != TypeId::DateTime64) fail_argument(name, *arguments[0].type, 0);
    const int from = arguments[0].type->scale();
    const TypePtr type = make_type(TypeId::Int64);
    if (scale >= from) {
        auto cast = make_cast(arguments[0].type, make_datetime64(scale), context);
        return {type, [=](const KernelArguments& call) { return flatten(cast(call[0]))->with_type(type); }};
    }
    const auto divisor = static_cast<int64_t>(power_of_ten(from - scale));
    return {type, [=](const KernelArguments& call) {
                return map_unary<int64_t, int64_t>(call[0], call.rows, type,
                                                   [=](int64_t t) { return floor_divide(t, divisor); });
            }};
}

Overload from_unix(Arguments arguments, const FunctionContext& context) {
    if (!is_integer(arguments[0].type->id())) fail_argument("fromUnixTimestamp", *arguments[0].type, 0);
    const TypePtr type = make_type(TypeId::DateTime);
    auto cast = make_cast(arguments[0].type, type, context);
    if (arguments.size() == 1) return {type, [=](const KernelArguments& call) { return cast(call[0]); }};
    std::vector<Argument> rest(arguments.begin(), arguments.end());
    rest[0] = {type, nullptr};
    Overload format = FunctionRegistry::instance().find("formatDateTime")->resolve(rest, context);
    return {format.result, [=](const KernelArguments& call) {
                std::vector<VectorPtr> vectors(call.vectors.begin(), call.vectors.end());
                vectors[0] = cast(call[0]);
                return format.kernel({vectors, {}, call.rows});
            }};
}

Overload to_time_zone(Arguments arguments, const FunctionContext&) {
    const TypePtr given = arguments[0].type;
    if (given->id() != TypeId::DateTime && given->id() != TypeId::DateTime64) fail_argument("toTimeZone", *given, 0);
    const std::string zone = require_text(arguments[1], "toTimeZone", 1);
    TimeZone::find(zone);
    const TypePtr type = given->id() == TypeId::DateTime ? make_datetime(zone) : make_datetime64(given->scale(), zone);
    return {type, [type](const KernelArguments& call) { return retype(call[0], type); }};
}

Overload zone_of(Arguments arguments, const FunctionContext& context) {
    const TypePtr given = arguments[0].type, type = make_type(TypeId::String);
    if (given->id() != TypeId::DateTime && given->id() != TypeId::DateTime64) fail_argument("timeZoneOf", *given, 0);
    const std::string zone = given->time_zone().empty() ? context.time_zone : given->time_zone();
    return {type,
            [=](const KernelArguments& call) { return Vector::constant(make_string_value(type, zone), call.rows); }};
}

Overload zone_offset(Arguments arguments, const FunctionContext& context) {
    const TypePtr given = arguments[0].type, type = make_type(TypeId::Int32);
    if (given->id() != TypeId::DateTime && given->id() != TypeId::DateTime64)
        fail_argument("timeZoneOffset", *given, 0);
    const TimeZone& zone = function_zone(arguments, 1, context, "timeZoneOffset");
    return {type, [=, &zone](const KernelArguments& call) {
                return map_unary<int64_t, int32_t>(utc_seconds(call[0], zone), call.rows, type,
                                                   [&zone](int64_t s) { return static_cast<int32_t>(zone.offset(s)); });
            }};
}

bool is_valid(int64_t year, int64_t month, int64_t day) {
    return month >= 1 && month <= 12 && day >= 1 && day <= days_in_month(year, static_cast<int>(month));
}

/// makeDate(year, month, day) or (year, day of year); the epoch where there is no such date.
Overload make_date(Arguments arguments, bool wide, const char* name) {
    check_ints(arguments, arguments.size(), name);
    const TypePtr type = make_type(wide ? TypeId::Date32 : TypeId::Date);
    const bool by_day = arguments.size() == 2;
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> parts;
                for (const auto& vector : call.vectors) parts.push_back(ints(vector));
                Output<int64_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t year = Reader<int64_t>(parts[0])[i], second = Reader<int64_t>(parts[1])[i];
                    const bool year_fits = wide ? year >= 0 && year <= 9999 : year >= 1970 && year <= 2149;
                    int64_t days = 0;
                    if (by_day) {
                        if (year_fits && second >= 1 && second <= (is_leap_year(year) ? 366 : 365))
                            days = days_from_civil(year, 1, second);
                    } else if (const int64_t day = Reader<int64_t>(parts[2])[i];
                               year_fits && is_valid(year, second, day)) {
                        days = days_from_civil(year, static_cast<int>(second), day);
                    }
                    out[i] = !wide && (days < 0 || days > kMaxDate) ? 0 : days;
                }
                return convert_numbers(type, out.finish(make_type(TypeId::Int64)));
            }};
}

Overload make_time(Arguments arguments, bool fine, const FunctionContext& context, const char* name) {
    check_ints(arguments, 6, name);
    int scale = fine ? 3 : 0;
    size_t zone_at = 6;
    if (fine) {
        if (arguments.size() > 7)
            scale = static_cast<int>(std::clamp<int64_t>(require_int(arguments[7], name, 7), 0, 9));
        zone_at = 8;
    }
    const std::string zone_name = arguments.size() > zone_at ? require_text(arguments[zone_at], name, zone_at) : "";
    const TimeZone& zone = TimeZone::find(zone_name.empty() ? context.time_zone : zone_name);
    const TypePtr type = fine ? make_datetime64(scale, zone_name) : make_datetime(zone_name);
    const auto unit = static_cast<int64_t>(power_of_ten(scale));
    return {
        type, [=, &zone](const KernelArguments& call) {
            std::vector<VectorPtr> parts;
            for (size_t n = 0; n < std::min<size_t>(call.size(), fine ? 7 : 6); ++n) parts.push_back(ints(call[n]));
            const auto part = [&](size_t n, size_t i) { return n < parts.size() ? Reader<int64_t>(parts[n])[i] : 0; };
            Output<int64_t> out(call.rows);
            for (size_t i = 0; i < call.rows; ++i) {
                const int64_t year = part(0, i), month = part(1, i), day = part(2, i);
                if (!is_valid(year, month, day) || part(3, i) > 23 || part(4, i) > 59 || part(5, i) > 59) {
                    out[i] = 0;
                    continue;
                }
                const int64_t seconds = zone.from_local(days_from_civil(year, static_cast<int>(month), day) * 86400 +
                                                        part(3, i) * 3600 + part(4, i) * 60 + part(5, i));
                out[i] = fine ? seconds * unit + part(6, i) % unit : std::clamp<int64_t>(seconds, 0, UINT32_MAX);
            }
            return convert_numbers(type, out.finish(make_type(TypeId::Int64)));
        }};
}

/// 20210205 or 20210205010203 as a date or time.
Overload from_digits(Arguments arguments, bool time, const FunctionContext& context, const char* name) {
    check_ints(arguments, 1, name);
    const std::string zone_name = arguments.size() > 1 ? require_text(arguments[1], name, 1) : "";
    const TimeZone& zone = TimeZone::find(zone_name.empty() ? context.time_zone : zone_name);
    const TypePtr type = time ? make_datetime(zone_name) : make_type(TypeId::Date);
    return {type, [=, &zone](const KernelArguments& call) {
                const VectorPtr digits = ints(call[0]);
                Output<int64_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t value = Reader<int64_t>(digits)[i], date = time ? value / 1000000 : value,
                                  clock = time ? value % 1000000 : 0;
                    const int64_t year = date / 10000, month = date / 100 % 100, day = date % 100;
                    int64_t result = 0;
                    if (is_valid(year, month, day)) {
                        const int64_t days = days_from_civil(year, static_cast<int>(month), day);
                        result = time ? std::clamp<int64_t>(zone.from_local(days * 86400 + clock / 10000 * 3600 +
                                                                            clock / 100 % 100 * 60 + clock % 100),
                                                            0, UINT32_MAX)
                                      : (days < 0 || days > kMaxDate ? 0 : days);
                    }
                    out[i] = result;
                }
                return convert_numbers(type, out.finish(make_type(TypeId::Int64)));
            }};
}

}  // namespace

void register_unix_time_functions(FunctionRegistry& registry) {
    struct Unit {
        const char *from, *to;
        int scale;
    };
    static constexpr Unit kUnits[] = {{"fromUnixTimestamp64Second", "toUnixTimestamp64Second", 0},
                                      {"fromUnixTimestamp64Milli", "toUnixTimestamp64Milli", 3},
                                      {"fromUnixTimestamp64Micro", "toUnixTimestamp64Micro", 6},
                                      {"fromUnixTimestamp64Nano", "toUnixTimestamp64Nano", 9}};
    for (const auto& unit : kUnits) {
        add(registry, unit.from, 1, 2,
            [&unit](Arguments a, const FunctionContext&) { return from_unix64(a, unit.scale, unit.from); });
        add(registry, unit.to, 1, 1,
            [&unit](Arguments a, const FunctionContext& c) { return to_unix64(a, unit.scale, unit.to, c); });
    }
    add(registry, "fromUnixTimestamp", 1, 3, from_unix, {"FROM_UNIXTIME"}, true);
    add(registry, "toTimeZone", 2, 2, to_time_zone, {"toTimezone"});
    add(registry, "timeZoneOf", 1, 1, zone_of, {"timezoneOf"});
    add(registry, "timeZoneOffset", 1, 2, zone_offset, {"timezoneOffset"});
    add(
        registry, "makeDate", 2, 3, [](Arguments a, const FunctionContext&) { return make_date(a, false, "makeDate"); },
        {}, true);
    add(registry, "makeDate32", 2, 3,
        [](Arguments a, const FunctionContext&) { return make_date(a, true, "makeDate32"); });
    add(registry, "makeDateTime", 6, 7,
        [](Arguments a, const FunctionContext& c) { return make_time(a, false, c, "makeDateTime"); });
    add(registry, "makeDateTime64", 6, 9,
        [](Arguments a, const FunctionContext& c) { return make_time(a, true, c, "makeDateTime64"); });
    add(registry, "YYYYMMDDToDate", 1, 1,
        [](Arguments a, const FunctionContext& c) { return from_digits(a, false, c, "YYYYMMDDToDate"); });
    add(registry, "YYYYMMDDhhmmssToDateTime", 1, 2,
        [](Arguments a, const FunctionContext& c) { return from_digits(a, true, c, "YYYYMMDDhhmmssToDateTime"); });
}

}  // namespace firn::functions
