// Decimals from and to decimals, integers and floats. The scale is carried exactly; further digits are cut off.
#include <cmath>

#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

template <typename From, typename To>
Converted rescale(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, int from_scale, CastRule rule) {
    const size_t rows = flat->size();
    const From* in = flat->values<From>();
    Output<To> out(rows);
    Failures failures(rule.errors, rows, skip);
    const int shift = to->scale() - from_scale;
    const auto overflow = [&](size_t i) {
        out[i] = To();
        failures.report(i, ErrorCode::DECIMAL_OVERFLOW, "Decimal convert overflow: a value does not fit into {}",
                        to->name());
    };
    constexpr bool kNarrow = sizeof(From) <= 8 && sizeof(To) <= 16;
    if constexpr (kNarrow) {
        if (shift >= 0 && shift <= 18) {
            const auto factor = power_of_ten(shift);
            const Int128 limit = power_of_ten(to->precision());
            for (size_t i = 0; i < rows; ++i) {
                const Int128 value = static_cast<Int128>(in[i]) * factor;
                if (value >= limit || value <= -limit)
                    overflow(i);
                else
                    out[i] = static_cast<To>(value);
            }
            return {out.finish(to), failures.flags()};
        }
        if (shift < 0 && shift >= -18) {
            const auto divisor = static_cast<int64_t>(power_of_ten(-shift));
            const Int128 limit = power_of_ten(to->precision());
            for (size_t i = 0; i < rows; ++i) {
                const Int128 value = static_cast<int64_t>(in[i]) / divisor;
                if (value >= limit || value <= -limit)
                    overflow(i);
                else
                    out[i] = static_cast<To>(value);
            }
            return {out.finish(to), failures.flags()};
        }
    }
    const Int256 limit = wide_power_of_ten(to->precision());
    const Int256 factor = wide_power_of_ten(shift < 0 ? -shift : shift);
    const Int256 most = shift > 0 ? limit / factor : limit;  // before scaling up
    for (size_t i = 0; i < rows; ++i) {
        Int256 value = number_cast<Int256>(in[i]);
        if (shift > 0) {
            if (value >= most || value <= -most) {
                overflow(i);
                continue;
            }
            value = value * factor;
        } else if (shift < 0) {
            value = value / factor;
        }
        if (value >= limit || value <= -limit)
            overflow(i);
        else
            out[i] = number_cast<To>(value);
    }
    return {out.finish(to), failures.flags()};
}

template <typename To>
Converted from_float(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, CastRule rule) {
    const size_t rows = flat->size();
    Output<To> out(rows);
    Failures failures(rule.errors, rows, skip);
    const double factor = number_cast<double>(wide_power_of_ten(to->scale()));
    const double limit = number_cast<double>(wide_power_of_ten(to->precision()));
    const bool narrow = flat->type()->id() == TypeId::Float32;
    for (size_t i = 0; i < rows; ++i) {
        const double given = narrow ? static_cast<double>(flat->values<float>()[i]) : flat->values<double>()[i];
        const double value = given * factor;
        if (!std::isfinite(value) || std::fabs(value) >= limit) {
            out[i] = To();
            failures.report(i, ErrorCode::DECIMAL_OVERFLOW, "Decimal convert overflow: {} does not fit into {}", given,
                            to->name());
        } else {
            out[i] = number_cast<To>(value);
        }
    }
    return {out.finish(to), failures.flags()};
}

template <typename From>
Converted to_float(const VectorPtr& flat, const TypePtr& to, int scale) {
    Output<double> out(flat->size());
    const double factor = number_cast<double>(wide_power_of_ten(scale));
    for (size_t i = 0; i < flat->size(); ++i) out[i] = number_cast<double>(flat->values<From>()[i]) / factor;
    return {convert_numbers(to, out.finish(make_type(TypeId::Float64))), nullptr};
}

/// Whole parts, as Int64 or Int256, and from there as any integer.
template <typename From>
Converted to_integer(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, int scale, CastRule rule) {
    using Whole = std::conditional_t<sizeof(From) <= 8, int64_t, Int256>;
    const size_t rows = flat->size();
    Output<Whole> whole(rows);
    const Whole factor = number_cast<Whole>(wide_power_of_ten(scale));
    Failures failures(rule.errors, rows, skip);
    for (size_t i = 0; i < rows; ++i) {
        const Whole value = number_cast<Whole>(flat->values<From>()[i]);
        whole[i] = value / factor;
        if (rule.accurate && !(whole[i] * factor == value))
            failures.report(i, ErrorCode::CANNOT_CONVERT_TYPE,
                            "A value of type {} cannot be converted to {} without loss", flat->type()->name(),
                            to->name());
    }
    Converted converted =
        convert_numbers_checked(to, whole.finish(make_type(sizeof(From) <= 8 ? TypeId::Int64 : TypeId::Int256)), skip,
                                rule.errors, ErrorCode::DECIMAL_OVERFLOW);
    if (!converted.failed) converted.failed = failures.flags();
    return converted;
}

Converted to_bool(const VectorPtr& flat, const TypePtr& to) {
    Output<uint8_t> out(flat->size());
    dispatch_fixed(flat->type()->physical(), [&]<typename From>() {
        for (size_t i = 0; i < flat->size(); ++i) out[i] = !(flat->values<From>()[i] == From{});
    });
    return {out.finish(to), nullptr};
}

template <typename F>
void dispatch_decimal(Physical physical, F&& f) {
    switch (physical) {
        case Physical::Int32:
            return f.template operator()<int32_t>();
        case Physical::Int64:
            return f.template operator()<int64_t>();
        case Physical::Int128:
            return f.template operator()<Int128>();
        default:
            return f.template operator()<Int256>();
    }
}

}  // namespace

Converter make_decimal_converter(const TypePtr& from, const TypePtr& to, CastRule rule) {
    Converter made;
    const bool from_decimal = from->id() == TypeId::Decimal, to_decimal = to->id() == TypeId::Decimal;
    if (!from_decimal && !to_decimal) return made;
    if (from_decimal && to_decimal) {
        dispatch_decimal(from->physical(), [&]<typename From>() {
            dispatch_decimal(to->physical(), [&]<typename To>() {
                made = [to, scale = from->scale(), rule](const VectorPtr& flat, const uint8_t* skip) {
                    return rescale<From, To>(flat, skip, to, scale, rule);
                };
            });
        });
    } else if (to_decimal && is_float(from->id())) {
        dispatch_decimal(to->physical(), [&]<typename To>() {
            made = [to, rule](const VectorPtr& flat, const uint8_t* skip) {
                return from_float<To>(flat, skip, to, rule);
            };
        });
    } else if (to_decimal && (is_integer(from->id()) || from->id() == TypeId::Bool)) {
        const bool narrow = from->value_size() < 8 || from->id() == TypeId::Int64;
        const TypePtr wide = make_type(narrow ? TypeId::Int64 : TypeId::Int256);
        const Converter scaled = make_decimal_converter(narrow ? make_decimal(18, 0) : make_decimal(76, 0), to, rule);
        made = [wide, scaled](const VectorPtr& flat, const uint8_t* skip) {
            return scaled(convert_numbers(wide, flat), skip);
        };
    } else if (from_decimal && to->id() == TypeId::Bool) {
        made = [to](const VectorPtr& flat, const uint8_t*) { return to_bool(flat, to); };
    } else if (from_decimal && (is_integer(to->id()) || is_float(to->id()))) {
        dispatch_decimal(from->physical(), [&]<typename From>() {
            if (is_float(to->id()))
                made = [to, scale = from->scale()](const VectorPtr& flat, const uint8_t*) {
                    return to_float<From>(flat, to, scale);
                };
            else
                made = [to, scale = from->scale(), rule](const VectorPtr& flat, const uint8_t* skip) {
                    return to_integer<From>(flat, skip, to, scale, rule);
                };
        });
    }
    return made;
}

}  // namespace firn::functions
