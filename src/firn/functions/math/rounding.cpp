// round, roundBankers, floor, ceil, trunc: of floats, integers and decimals, to a number of digits.
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

enum class Rounding : uint8_t { Nearest, Bankers, Floor, Ceil, Trunc };

double round_whole(double value, Rounding rounding) {
    switch (rounding) {
        case Rounding::Nearest:
        case Rounding::Bankers:
            return std::nearbyint(value);  // halves go to the even neighbour
        case Rounding::Floor:
            return std::floor(value);
        case Rounding::Ceil:
            return std::ceil(value);
        default:
            return std::trunc(value);
    }
}

double round_float(double value, Rounding rounding, int64_t digits) {
    if (digits == 0) return round_whole(value, rounding);
    const double scale = std::pow(10.0, static_cast<double>(digits < 0 ? -digits : digits));
    if (digits > 0) {
        const double scaled = round_whole(value * scale, rounding) / scale;
        return std::isfinite(scaled) ? scaled : value;
    }
    return round_whole(value / scale, rounding) * scale;
}

/// A whole multiple of `unit`, near value.
template <typename T>
T round_integer(const T& value, const T& unit, Rounding rounding) {
    const T rest = static_cast<T>(value % unit);
    if (rest == T()) return value;
    const T down = static_cast<T>(value - rest);  // toward zero
    const bool negative = kIsSigned<T> && value < T();
    const T away = negative ? static_cast<T>(down - unit) : static_cast<T>(down + unit);
    switch (rounding) {
        case Rounding::Floor:
            return negative ? away : down;
        case Rounding::Ceil:
            return negative ? down : away;
        case Rounding::Trunc:
            return down;
        default:
            break;
    }
    const T magnitude = negative ? static_cast<T>(T() - rest) : rest;
    const T other = static_cast<T>(unit - magnitude);
    if (magnitude == other) {
        if (rounding == Rounding::Nearest) return away;
        return static_cast<T>((down / unit) % static_cast<T>(number_cast<T>(int64_t{2}))) == T() ? down : away;
    }
    return magnitude < other ? down : away;
}

template <typename T>
VectorPtr round_rows(const VectorPtr& flat, size_t rows, const TypePtr& type, Rounding rounding, int64_t digits) {
    if constexpr (kIsFloat<T>) {
        return map_unary<T, T>(flat, rows, type,
                               [=](T value) { return static_cast<T>(round_float(value, rounding, digits)); });
    } else if constexpr (std::is_same_v<T, UInt256>) {
        fail(ErrorCode::NOT_IMPLEMENTED, "Rounding of {} is not supported yet", type->name());
    } else {
        const int64_t power = type->id() == TypeId::Decimal ? type->scale() - digits : -digits;
        if (power <= 0) return flat;
        if (power > 76 ||
            number_cast<double>(wide_power_of_ten(static_cast<int>(power))) > number_cast<double>(number_max<T>()))
            return map_unary<T, T>(flat, rows, type, [](const T&) { return T(); });
        const T unit = number_cast<T>(wide_power_of_ten(static_cast<int>(power)));
        return map_unary<T, T>(flat, rows, type,
                               [=](const T& value) { return round_integer<T>(value, unit, rounding); });
    }
}

Overload resolve_rounding(std::span<const Argument> arguments, Rounding rounding, const char* name) {
    const TypePtr given = arguments[0].type;
    if (!is_number(given->id())) fail_argument(name, *given, 0);
    int64_t digits = 0;
    if (arguments.size() > 1) {
        digits = require_int(arguments[1], name, 1);
        if (digits > 32767 || digits < -32768)
            fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Scale argument of function {} is out of bound", name);
    }
    const TypePtr type = given->id() == TypeId::Bool ? make_type(TypeId::UInt8) : given;
    return {type, [=](const KernelArguments& call) {
                const VectorPtr flat = flatten(call[0])->with_type(type);
                VectorPtr out;
                dispatch_fixed(type->physical(),
                               [&]<typename T>() { out = round_rows<T>(flat, call.rows, type, rounding, digits); });
                return out;
            }};
}

}  // namespace

void register_rounding_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, Rounding rounding, std::vector<std::string> aliases, bool any_case) {
        Definition definition;
        definition.name = name;
        definition.aliases = std::move(aliases);
        definition.case_insensitive = any_case;
        definition.min_arguments = 1;
        definition.max_arguments = 2;
        definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext&) {
            return resolve_rounding(arguments, rounding, name);
        };
        definition.monotonic = [](std::span<const Argument> arguments, size_t which) {
            // Integers may wrap around when rounded up.
            const TypePtr type = unwrap(arguments[0].type);
            return which == 0 && arguments.size() == 1 && is_number(type->id()) ? Monotonic::Increasing : Monotonic::No;
        };
        registry.add(std::move(definition));
    };
    add("round", Rounding::Nearest, {}, true);
    add("roundBankers", Rounding::Bankers, {}, false);
    add("floor", Rounding::Floor, {}, true);
    add("ceil", Rounding::Ceil, {"ceiling"}, true);
    add("trunc", Rounding::Trunc, {"truncate"}, true);
}

}  // namespace firn::functions
