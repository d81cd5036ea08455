// Numbers rounded down to steps: roundToExp2, roundDuration, roundAge.
#include <algorithm>
#include <bit>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

/// The greatest power of two that is not above x; 0 for whole numbers below 1, and a negative power for floats' magnitudes.
template <typename T>
T power_below(T x) {
    if constexpr (kIsFloat<T>) {
        if (x == 0 || !std::isfinite(x)) return x;
        return std::copysign(std::ldexp(T(1), std::ilogb(x)), x);
    } else {
        if (x <= 0) return 0;
        return static_cast<T>(std::bit_floor(static_cast<std::make_unsigned_t<T>>(x)));
    }
}

Overload resolve_power(ArgumentList arguments, const FunctionContext&) {
    const TypePtr type = arguments[0].type;
    if (!is_float(type->id()) && !(is_integer(type->id()) && integer_bits(type->id()) <= 64))
        fail_argument("roundToExp2", *type, 0);
    Overload overload{type, {}};
    dispatch_fixed(type->physical(), [&]<typename T>() {
        if constexpr (sizeof(T) <= 8)
            overload.kernel = [type](const KernelArguments& call) {
                return map_unary<T, T>(call[0], call.rows, type, [](const T& x) { return power_below<T>(x); });
            };
    });
    return overload;
}

template <typename R>
void declare_steps(FunctionRegistry& registry, const char* name, TypeId result, R (*step)(double)) {
    declare(registry, {name}, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        const TypeId id = arguments[0].type->id();
        if (!is_integer(id) && !is_float(id)) fail_argument(name, *arguments[0].type, 0);
        const TypePtr type = make_type(result);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_unary<double, R>(as_float64(call[0]), call.rows, type, step);
                        }};
    });
}

uint16_t round_duration(double x) {
    constexpr uint16_t kSteps[] = {0, 1, 10, 30, 60, 120, 180, 240, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000};
    const auto* after = std::upper_bound(std::begin(kSteps), std::end(kSteps), x,
                                         [](double value, uint16_t step) { return value < step; });
    return after == std::begin(kSteps) ? uint16_t{0} : after[-1];
}

uint8_t round_age(double x) {
    if (x < 1) return 0;
    if (x < 18) return 17;
    if (x < 25) return 18;
    if (x < 35) return 25;
    if (x < 45) return 35;
    return x < 55 ? 45 : 55;
}

}  // namespace

void register_round_step_functions(FunctionRegistry& registry) {
    declare(registry, {"roundToExp2"}, 1, 1, resolve_power);
    declare_steps<uint16_t>(registry, "roundDuration", TypeId::UInt16, round_duration);
    declare_steps<uint8_t>(registry, "roundAge", TypeId::UInt8, round_age);
}

}  // namespace firn::functions
