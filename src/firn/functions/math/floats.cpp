// Functions of floats: sqrt, exp, log, pow, sin, isNaN and the like.
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

const TypePtr& float64() {
    static const TypePtr type = make_type(TypeId::Float64);
    return type;
}

void check_number(std::span<const Argument> arguments, const char* name) {
    for (size_t i = 0; i < arguments.size(); ++i)
        if (!is_number(arguments[i].type->id())) fail_argument(name, *arguments[i].type, i);
}

struct Unary {
    const char* name;
    double (*function)(double);
    std::vector<std::string> aliases = {};
};

const Unary kUnary[] = {
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"cbrt",
     [](double x) {
         const double root = std::cbrt(x), whole = std::round(root);
         return whole * whole * whole == x ? whole : root;  // the library's last bit may be off
     }},
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"exp10", [](double x) { return std::pow(10.0, x); }},
    {"log", [](double x) { return std::log(x); }, {"ln"}},
    {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"asinh", [](double x) { return std::asinh(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},
    {"atanh", [](double x) { return std::atanh(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"erfc", [](double x) { return std::erfc(x); }},
    {"tgamma", [](double x) { return std::tgamma(x); }},
    {"lgamma", [](double x) { return std::lgamma(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"degrees", [](double x) { return x * (180.0 / M_PI); }},
    {"radians", [](double x) { return x * (M_PI / 180.0); }},
};

VectorPtr as_float(const std::function<VectorPtr(const VectorPtr&)>& cast, const VectorPtr& vector) {
    return cast(vector);
}

void add_unary(FunctionRegistry& registry, const Unary& unary) {
    Definition definition;
    definition.name = unary.name;
    definition.aliases = unary.aliases;
    definition.case_insensitive = true;
    definition.min_arguments = definition.max_arguments = 1;
    definition.resolve = [&unary](std::span<const Argument> arguments, const FunctionContext& context) {
        check_number(arguments, unary.name);
        auto cast = make_cast(arguments[0].type, float64(), context);
        return Overload{float64(), [&unary, cast](const KernelArguments& call) {
                            return map_unary<double, double>(as_float(cast, call[0]), call.rows, float64(),
                                                             unary.function);
                        }};
    };
    registry.add(std::move(definition));
}

void add_binary(FunctionRegistry& registry, const char* name, double (*function)(double, double),
                std::vector<std::string> aliases = {}) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = true;
    definition.min_arguments = definition.max_arguments = 2;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        check_number(arguments, name);
        auto left = make_cast(arguments[0].type, float64(), context),
             right = make_cast(arguments[1].type, float64(), context);
        return Overload{float64(), [=](const KernelArguments& call) {
                            return map_binary<double, double, double>(left(call[0]), right(call[1]), call.rows,
                                                                      float64(), function);
                        }};
    };
    registry.add(std::move(definition));
}

void add_constant(FunctionRegistry& registry, const char* name, double value) {
    Definition definition;
    definition.name = name;
    definition.case_insensitive = true;
    definition.max_arguments = 0;
    definition.resolve = [value](std::span<const Argument>, const FunctionContext&) {
        return Overload{float64(), [value](const KernelArguments& call) {
                            return Vector::constant(make_value(float64(), value), call.rows);
                        }};
    };
    registry.add(std::move(definition));
}

/// isNaN and its kin: integers are never either.
void add_class(FunctionRegistry& registry, const char* name, bool (*function)(double)) {
    Definition definition;
    definition.name = name;
    definition.min_arguments = definition.max_arguments = 1;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext&) {
        const TypePtr given = arguments[0].type, type = make_type(TypeId::UInt8);
        if (!is_number(given->id()) || given->id() == TypeId::Decimal) fail_argument(name, *given, 0);
        return Overload{type, [=](const KernelArguments& call) -> VectorPtr {
                            if (given->id() == TypeId::Float64)
                                return map_unary<double, uint8_t>(call[0], call.rows, type, [=](double x) {
                                    return static_cast<uint8_t>(function(x));
                                });
                            if (given->id() == TypeId::Float32)
                                return map_unary<float, uint8_t>(call[0], call.rows, type, [=](float x) {
                                    return static_cast<uint8_t>(function(x));
                                });
                            return Vector::constant(make_value<uint8_t>(type, function(0)), call.rows);
                        }};
    };
    registry.add(std::move(definition));
}

Overload resolve_sign(std::span<const Argument> arguments, const FunctionContext&) {
    check_number(arguments, "sign");
    const TypePtr type = make_type(TypeId::Int8);
    return {type, [=](const KernelArguments& call) {
                VectorPtr out;
                const VectorPtr flat = flatten(call[0]);
                dispatch_fixed(flat->type()->physical(), [&]<typename T>() {
                    out = map_unary<T, int8_t>(flat, call.rows, type, [](const T& x) {
                        return static_cast<int8_t>(x < T() ? -1 : x == T() ? 0 : !(x == x) ? 0 : 1);
                    });
                });
                return out;
            }};
}

Overload resolve_if_not_finite(std::span<const Argument> arguments, const FunctionContext& context) {
    if (!is_float(arguments[0].type->id())) fail_argument("ifNotFinite", *arguments[0].type, 0);
    const TypePtr both[] = {arguments[0].type, arguments[1].type};
    const TypePtr type = common_type(both);
    auto left = make_cast(arguments[0].type, float64(), context),
         right = make_cast(arguments[1].type, float64(), context), back = make_cast(float64(), type, context);
    return {type, [=](const KernelArguments& call) {
                return back(
                    map_binary<double, double, double>(left(call[0]), right(call[1]), call.rows, float64(),
                                                       [](double x, double y) { return std::isfinite(x) ? x : y; }));
            }};
}

Overload resolve_int_power(std::span<const Argument> arguments, int base, const char* name) {
    if (!is_integer(arguments[0].type->id())) fail_argument(name, *arguments[0].type, 0);
    const TypePtr type = make_type(TypeId::UInt64);
    return {type, [=](const KernelArguments& call) {
                Output<uint64_t> out(call.rows);
                const VectorPtr flat = flatten(call[0]);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t power = int_at(*flat, i);
                    uint64_t value = power < 0 ? 0 : 1;
                    if (power > (base == 2 ? 63 : 19))
                        value = UINT64_MAX;
                    else
                        for (int64_t n = 0; n < power; ++n) value *= static_cast<uint64_t>(base);
                    out[i] = value;
                }
                return out.finish(type);
            }};
}

Overload resolve_factorial(std::span<const Argument> arguments, const FunctionContext&) {
    if (!is_integer(arguments[0].type->id())) fail_argument("factorial", *arguments[0].type, 0);
    const TypePtr type = make_type(TypeId::UInt64);
    return {type, [=](const KernelArguments& call) {
                Output<uint64_t> out(call.rows);
                const VectorPtr flat = flatten(call[0]);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t n = int_at(*flat, i);
                    if (n > 20)
                        fail(ErrorCode::BAD_ARGUMENTS,
                             "The maximum value for the input of the function factorial is 20");
                    uint64_t value = 1;
                    for (int64_t k = 2; k <= n; ++k) value *= static_cast<uint64_t>(k);
                    out[i] = value;
                }
                return out.finish(type);
            }};
}

}  // namespace

void register_float_functions(FunctionRegistry& registry) {
    for (const auto& unary : kUnary) add_unary(registry, unary);
    add_binary(registry, "pow", [](double x, double y) { return std::pow(x, y); }, {"power"});
    add_binary(registry, "atan2", [](double x, double y) { return std::atan2(x, y); });
    add_binary(registry, "hypot", [](double x, double y) { return std::hypot(x, y); });
    add_binary(registry, "max2", [](double x, double y) { return x > y ? x : y; });
    add_binary(registry, "min2", [](double x, double y) { return x < y ? x : y; });
    add_constant(registry, "pi", M_PI);
    add_constant(registry, "e", M_E);
    add_class(registry, "isNaN", [](double x) { return std::isnan(x); });
    add_class(registry, "isInfinite", [](double x) { return std::isinf(x); });
    add_class(registry, "isFinite", [](double x) { return std::isfinite(x); });
    const auto add = [&](const char* name, size_t count, auto resolve, bool any_case) {
        Definition definition;
        definition.name = name;
        definition.case_insensitive = any_case;
        definition.min_arguments = definition.max_arguments = count;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("sign", 1, resolve_sign, true);
    add("ifNotFinite", 2, resolve_if_not_finite, false);
    add(
        "intExp2", 1,
        [](std::span<const Argument> a, const FunctionContext&) { return resolve_int_power(a, 2, "intExp2"); }, false);
    add(
        "intExp10", 1,
        [](std::span<const Argument> a, const FunctionContext&) { return resolve_int_power(a, 10, "intExp10"); },
        false);
    add("factorial", 1, resolve_factorial, true);
}

}  // namespace firn::functions
