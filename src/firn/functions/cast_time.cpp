// Dates and times from and to each other and numbers.
#include <algorithm>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/types/calendar.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

const TimeZone& zone_of(const DataType& type, const FunctionContext& context) {
    return TimeZone::find(type.time_zone().empty() ? context.time_zone : type.time_zone());
}

/// As ClickHouse: numbers up to this are days, larger ones seconds.
constexpr int64_t kMaxDayNumber = 65535;

template <typename To, typename F>
Converted from_ints(const VectorPtr& flat, const TypePtr& to, F f) {
    Output<To> out(flat->size());
    dispatch_fixed(flat->type()->physical(), [&]<typename From>() {
        const From* in = flat->values<From>();
        for (size_t i = 0; i < flat->size(); ++i) {
            int64_t value;
            if constexpr (std::is_same_v<From, uint64_t>)
                value = static_cast<int64_t>(std::min<uint64_t>(in[i], INT64_MAX));
            else
                value = number_cast<int64_t>(in[i]);
            out[i] = f(value);
        }
    });
    return {out.finish(to), nullptr};
}

Converter from_number(const TypePtr& to, const TimeZone* zone) {
    switch (to->id()) {
        case TypeId::Date:
            return [to, zone](const VectorPtr& flat, const uint8_t*) {
                return from_ints<uint16_t>(flat, to, [zone](int64_t v) {
                    if (v < 0) return uint16_t{0};
                    if (v <= kMaxDayNumber) return static_cast<uint16_t>(v);
                    const int64_t seconds = std::min<int64_t>(v, UINT32_MAX);
                    return static_cast<uint16_t>(
                        std::clamp<int64_t>(floor_divide(zone->to_local(seconds), 86400), 0, 65535));
                });
            };
        case TypeId::Date32:
            return [to, zone](const VectorPtr& flat, const uint8_t*) {
                return from_ints<int32_t>(flat, to, [zone](int64_t v) {
                    // Day numbers of the years 0 to 9999; larger numbers are seconds.
                    if (v >= -719528 && v <= 2932896) return static_cast<int32_t>(v);
                    return static_cast<int32_t>(
                        std::clamp<int64_t>(floor_divide(zone->to_local(v), 86400), -719528, 2932896));
                });
            };
        case TypeId::DateTime:
            return [to](const VectorPtr& flat, const uint8_t*) {
                return from_ints<uint32_t>(
                    flat, to, [](int64_t v) { return static_cast<uint32_t>(std::clamp<int64_t>(v, 0, UINT32_MAX)); });
            };
        case TypeId::DateTime64:
            return [to](const VectorPtr& flat, const uint8_t* skip) {
                const auto unit = static_cast<int64_t>(power_of_ten(to->scale()));
                Failures failures(CastErrors::Throw, flat->size(), skip);
                if (is_float(flat->type()->id())) {
                    Output<int64_t> out(flat->size());
                    for (size_t i = 0; i < flat->size(); ++i) {
                        const double value = flat->type()->id() == TypeId::Float64
                                                 ? flat->values<double>()[i]
                                                 : static_cast<double>(flat->values<float>()[i]);
                        if (!std::isfinite(value))
                            failures.report(i, ErrorCode::DECIMAL_OVERFLOW, "Cannot convert infinity or NaN to {}",
                                            to->name());
                        out[i] = number_cast<int64_t>(value * static_cast<double>(unit));
                    }
                    return Converted{out.finish(to), nullptr};
                }
                return from_ints<int64_t>(flat, to, [&](int64_t v) {
                    int64_t ticks = 0;
                    if (__builtin_mul_overflow(v, unit, &ticks))
                        fail(ErrorCode::DECIMAL_OVERFLOW, "{} seconds do not fit into {}", v, to->name());
                    return ticks;
                });
            };
        default:
            return {};
    }
}

/// Seconds since the epoch, and the ticks beside them, of a date or time at a row.
struct Moment {
    int64_t seconds;
    int64_t ticks;  // of `scale`
};

template <typename From>
Converter from_days(const TypePtr& to, const TimeZone* zone) {
    switch (to->id()) {
        case TypeId::Date:
            return [to](const VectorPtr& flat, const uint8_t*) {
                return Converted{
                    map_unary<From, uint16_t>(flat, flat->size(), to, [](From d) { return static_cast<uint16_t>(d); }),
                    nullptr};
            };
        case TypeId::Date32:
            return [to](const VectorPtr& flat, const uint8_t*) {
                return Converted{
                    map_unary<From, int32_t>(flat, flat->size(), to, [](From d) { return static_cast<int32_t>(d); }),
                    nullptr};
            };
        case TypeId::DateTime:
            return [to, zone](const VectorPtr& flat, const uint8_t*) {
                return Converted{
                    map_unary<From, uint32_t>(
                        flat, flat->size(), to,
                        [zone](From d) { return static_cast<uint32_t>(zone->from_local(int64_t{d} * 86400)); }),
                    nullptr};
            };
        case TypeId::DateTime64:
            return [to, zone](const VectorPtr& flat, const uint8_t* skip) {
                const auto unit = static_cast<int64_t>(power_of_ten(to->scale()));
                Failures failures(CastErrors::Throw, flat->size(), skip);
                Output<int64_t> out(flat->size());
                for (size_t i = 0; i < flat->size(); ++i)
                    if (__builtin_mul_overflow(zone->from_local(int64_t{flat->values<From>()[i]} * 86400), unit,
                                               &out[i])) {
                        out[i] = 0;
                        failures.report(i, ErrorCode::DECIMAL_OVERFLOW, "A date does not fit into {}", to->name());
                    }
                return Converted{out.finish(to), nullptr};
            };
        default:
            return {};
    }
}

Converter from_datetime(const TypePtr& to, const TimeZone* from_zone) {
    switch (to->id()) {
        case TypeId::Date:
            return [to, from_zone](const VectorPtr& flat, const uint8_t*) {
                return Converted{map_unary<uint32_t, uint16_t>(flat, flat->size(), to,
                                                               [from_zone](uint32_t s) {
                                                                   return static_cast<uint16_t>(
                                                                       floor_divide(from_zone->to_local(s), 86400));
                                                               }),
                                 nullptr};
            };
        case TypeId::Date32:
            return [to, from_zone](const VectorPtr& flat, const uint8_t*) {
                return Converted{map_unary<uint32_t, int32_t>(flat, flat->size(), to,
                                                              [from_zone](uint32_t s) {
                                                                  return static_cast<int32_t>(
                                                                      floor_divide(from_zone->to_local(s), 86400));
                                                              }),
                                 nullptr};
            };
        case TypeId::DateTime:
            return [to](const VectorPtr& flat, const uint8_t*) { return Converted{flat->with_type(to), nullptr}; };
        case TypeId::DateTime64:
            return [to](const VectorPtr& flat, const uint8_t*) {
                const auto unit = static_cast<int64_t>(power_of_ten(to->scale()));
                return Converted{
                    map_unary<uint32_t, int64_t>(flat, flat->size(), to,
                                                 [unit](uint32_t s) { return static_cast<int64_t>(s) * unit; }),
                    nullptr};
            };
        default:
            return {};
    }
}

template <typename To>
Converter days_of_ticks(const TypePtr& to, const TimeZone* zone, int64_t unit) {
    return [to, zone, unit](const VectorPtr& flat, const uint8_t*) {
        return Converted{map_unary<int64_t, To>(flat, flat->size(), to,
                                                [zone, unit](int64_t t) {
                                                    return static_cast<To>(
                                                        floor_divide(zone->to_local(floor_divide(t, unit)), 86400));
                                                }),
                         nullptr};
    };
}

Converter from_datetime64(const TypePtr& from, const TypePtr& to, const TimeZone* from_zone) {
    const auto unit = static_cast<int64_t>(power_of_ten(from->scale()));
    switch (to->id()) {
        case TypeId::Date:
            return days_of_ticks<uint16_t>(to, from_zone, unit);
        case TypeId::Date32:
            return days_of_ticks<int32_t>(to, from_zone, unit);
        case TypeId::DateTime:
            return [to, unit](const VectorPtr& flat, const uint8_t*) {
                return Converted{map_unary<int64_t, uint32_t>(
                                     flat, flat->size(), to,
                                     [unit](int64_t t) { return static_cast<uint32_t>(floor_divide(t, unit)); }),
                                 nullptr};
            };
        case TypeId::DateTime64: {
            const int shift = to->scale() - from->scale();
            const auto factor = static_cast<int64_t>(power_of_ten(shift < 0 ? -shift : shift));
            return [to, shift, factor](const VectorPtr& flat, const uint8_t* skip) {
                if (shift == 0) return Converted{flat->with_type(to), nullptr};
                Output<int64_t> out(flat->size());
                Failures failures(CastErrors::Throw, flat->size(), skip);
                const int64_t* in = flat->values<int64_t>();
                for (size_t i = 0; i < flat->size(); ++i) {
                    if (shift < 0)
                        out[i] = in[i] / factor;
                    else if (__builtin_mul_overflow(in[i], factor, &out[i])) {
                        out[i] = 0;
                        failures.report(i, ErrorCode::DECIMAL_OVERFLOW, "A time does not fit into {}", to->name());
                    }
                }
                return Converted{out.finish(to), nullptr};
            };
        }
        default:
            return {};
    }
}

}  // namespace

Converter make_time_converter(const TypePtr& from, const TypePtr& to, const FunctionContext& context, CastRule rule) {
    const bool from_time = is_date_or_time(from->id()), to_time = is_date_or_time(to->id());
    if (!from_time && !to_time) return {};
    if (to_time && !from_time) {
        if (from->id() == TypeId::Decimal) {
            Converter whole = make_converter(
                from, to->id() == TypeId::DateTime64 ? make_decimal(18, to->scale()) : make_type(TypeId::Int64),
                context, rule);
            if (to->id() == TypeId::DateTime64)
                return [whole, to](const VectorPtr& flat, const uint8_t* skip) {
                    Converted ticks = whole(flat, skip);
                    return Converted{ticks.vector->with_type(to), ticks.failed};
                };
            Converter second = from_number(to, &zone_of(*to, context));
            return [whole, second](const VectorPtr& flat, const uint8_t* skip) {
                return second(whole(flat, skip).vector, skip);
            };
        }
        if (!is_integer(from->id()) && !is_float(from->id()) && from->id() != TypeId::Bool) return {};
        return from_number(to, &zone_of(*to, context));
    }
    if (to_time) {
        switch (from->id()) {
            case TypeId::Date:
                return from_days<uint16_t>(to, &zone_of(*to, context));
            case TypeId::Date32:
                return from_days<int32_t>(to, &zone_of(*to, context));
            case TypeId::DateTime:
                return from_datetime(to, &zone_of(*from, context));
            default:
                return from_datetime64(from, to, &zone_of(*from, context));
        }
    }
    // To numbers: days or seconds; the fraction of DateTime64 goes into Decimal and floats.
    if (!is_number(to->id())) return {};
    if (from->id() == TypeId::DateTime64) {
        const TypePtr ticks = make_decimal(18, from->scale());
        Converter convert = make_converter(ticks, to, context, rule);
        return [convert, ticks](const VectorPtr& flat, const uint8_t* skip) {
            return convert(flat->with_type(ticks), skip);
        };
    }
    const TypePtr number = make_type(from->id() == TypeId::Date     ? TypeId::UInt16
                                     : from->id() == TypeId::Date32 ? TypeId::Int32
                                                                    : TypeId::UInt32);
    Converter convert = make_converter(number, to, context, rule);
    return [convert, number](const VectorPtr& flat, const uint8_t* skip) {
        return convert(flat->with_type(number), skip);
    };
}

}  // namespace firn::functions
