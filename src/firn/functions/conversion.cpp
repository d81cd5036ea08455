// CAST, accurateCast, toInt32 and all the other toX functions, with their OrNull, OrZero and OrDefault forms.
#include <algorithm>
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

enum class OnFailure : uint8_t { Throw, Null, Zero, Default };

struct Target {
    TypePtr type;
    size_t used = 1;  // arguments that are not a default value
};
using TargetOf = Target (*)(TypeId id, std::span<const Argument> arguments, std::string_view name);

Target simple_target(TypeId id, std::span<const Argument>, std::string_view) { return {make_type(id), 1}; }

Target date_target(TypeId id, std::span<const Argument> arguments, std::string_view) {
    const bool zone = arguments.size() > 1 && is_string_like(arguments[1].type->id());
    return {make_type(id), zone ? 2U : 1U};
}

Target datetime_target(TypeId, std::span<const Argument> arguments, std::string_view name) {
    std::string zone;
    size_t used = 1;
    if (arguments.size() > 1 && is_string_like(arguments[1].type->id())) {
        zone = require_text(arguments[1], name, 1);
        TimeZone::find(zone);
        used = 2;
    } else if (is_date_or_time(arguments[0].type->id())) {
        zone = arguments[0].type->time_zone();
    }
    return {make_datetime(zone), used};
}

Target datetime64_target(TypeId, std::span<const Argument> arguments, std::string_view name) {
    int scale = 3;
    std::string zone;
    size_t used = 1;
    if (arguments.size() > 1 && is_integer(arguments[1].type->id())) {
        scale = static_cast<int>(std::clamp<int64_t>(require_int(arguments[1], name, 1), -1, 100));
        used = 2;
    } else if (name == "toDateTime64") {
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes a value, a scale and perhaps a time zone",
             name);
    }
    if (arguments.size() > used && is_string_like(arguments[used].type->id())) {
        zone = require_text(arguments[used], name, used);
        TimeZone::find(zone);
        ++used;
    } else if (is_date_or_time(arguments[0].type->id())) {
        zone = arguments[0].type->time_zone();
    }
    return {make_datetime64(scale, zone), used};
}

template <int kDigits>
Target decimal_target(TypeId, std::span<const Argument> arguments, std::string_view name) {
    if (arguments.size() < 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes a value and a scale", name);
    return {make_decimal(kDigits, static_cast<int>(std::clamp<int64_t>(require_int(arguments[1], name, 1), -1, 1000))),
            2};
}

/// Rows that failed take the default's value, or the type's.
VectorPtr with_defaults(const Converted& converted, const TypePtr& type, const VectorPtr& given) {
    const VectorPtr values = given ? given : Vector::defaults(type, converted.vector->size());
    if (!converted.failed) return converted.vector;
    std::vector<uint32_t> rows(converted.vector->size());
    const VectorPtr both[] = {converted.vector, flatten(values)};
    const VectorPtr all = concat(type, both);
    for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<uint32_t>(converted.failed->as<uint8_t>()[i] ? rows.size() + i : i);
    return flatten(gather(all, rows));
}

Kernel conversion_kernel(const TypePtr& from, const TypePtr& type, const FunctionContext& context, OnFailure on_failure,
                         bool accurate) {
    CastRule rule;
    rule.accurate = accurate || (on_failure == OnFailure::Default && !is_string_like(from->id()));
    if (on_failure != OnFailure::Throw) {
        rule.errors = CastErrors::Null;
        rule.strict_text = true;
    }
    Converter converter = make_converter(from, type, context, rule);
    const TypePtr nullable = make_nullable(type);
    return [=](const KernelArguments& call) -> VectorPtr {
        const Converted converted = converter(flatten(call[0]), nullptr);
        switch (on_failure) {
            case OnFailure::Throw:
                return converted.vector;
            case OnFailure::Null:
                return accepts_null(*nullable) ? converted.vector->with_nulls(nullable, converted.failed)
                                               : converted.vector;
            case OnFailure::Zero:
                return with_defaults(converted, type, nullptr);
            default:
                return with_defaults(
                    converted, type,
                    call.size() > 1 && same_type(call.vectors.back()->type(), type) ? call.vectors.back() : nullptr);
        }
    };
}

/// Values that keep their order: the target holds them all, or the bounds are known to lie where it does.
Monotonic conversion_monotonic(const TypePtr& from_type, const TypePtr& to_type, const Vector* low,
                               const Vector* high) {
    const TypePtr from = unwrap(from_type), to = unwrap(to_type);
    const TypeId f = from->id(), t = to->id();
    if (f == t)
        return same_type(from, to) || f == TypeId::DateTime64 || f == TypeId::Decimal ? Monotonic::Increasing
                                                                                      : Monotonic::No;
    const auto bits = [](const TypePtr& type) { return type->id() == TypeId::Bool ? 1 : integer_bits(type->id()); };
    const bool from_int = is_integer(f) || f == TypeId::Bool;
    if (from_int && is_integer(t)) {
        const bool holds = is_signed_integer(f)   ? is_signed_integer(t) && bits(to) >= bits(from)
                           : is_signed_integer(t) ? bits(to) > bits(from)
                                                  : bits(to) >= bits(from);
        return holds ? Monotonic::Increasing : Monotonic::No;
    }
    if ((from_int || is_float(f) || f == TypeId::Decimal) && is_float(t)) return Monotonic::Increasing;
    if (f == TypeId::Date)
        return t == TypeId::Date32 || t == TypeId::DateTime64 ? Monotonic::Increasing : Monotonic::No;
    if (f == TypeId::DateTime)
        return t == TypeId::Date || t == TypeId::Date32 || t == TypeId::DateTime64 ? Monotonic::Increasing
                                                                                   : Monotonic::No;
    if (f == TypeId::Date32 && t == TypeId::DateTime64) return Monotonic::Increasing;
    if (f == TypeId::DateTime64 && t == TypeId::Date32) return Monotonic::Increasing;
    if ((f == TypeId::DateTime64 || f == TypeId::Date32) && (t == TypeId::Date || t == TypeId::DateTime) && low &&
        high) {
        // Date and DateTime wrap around outside of 1970..2149 and 1970..2106.
        const int64_t unit = f == TypeId::DateTime64 ? static_cast<int64_t>(power_of_ten(from->scale())) : 1;
        const int64_t day = f == TypeId::DateTime64 ? 86400 * unit : 1;
        const int64_t first = int_at(low->flat_base(), low->base_row(0)),
                      last = int_at(high->flat_base(), high->base_row(0));
        const int64_t most = (t == TypeId::Date ? 65535 : 49700) * day;
        return first >= day && last <= most - day ? Monotonic::Increasing : Monotonic::No;
    }
    return Monotonic::No;
}

struct Family {
    std::string name;
    TypeId id;
    TargetOf target;
    size_t most;  // arguments of the plain form
};

void add_conversion(FunctionRegistry& registry, const Family& family, OnFailure on_failure, const char* suffix) {
    Definition definition;
    definition.name = family.name + suffix;
    if (definition.name == "toDate") definition.aliases = {"DATE"};
    definition.case_insensitive = definition.name == "toDate";
    definition.min_arguments = 1;
    definition.max_arguments = family.most + (on_failure == OnFailure::Default ? 1
                                              : on_failure == OnFailure::Throw ? 0
                                              : family.most > 1                ? 0
                                                                               : 1);
    if (on_failure == OnFailure::Null || on_failure == OnFailure::Zero) definition.max_arguments = family.most;
    const auto resolve = [=, name = definition.name](std::span<const Argument> arguments,
                                                     const FunctionContext& context, OnFailure failing) {
        const TypePtr from = arguments[0].type;
        if ((on_failure == OnFailure::Null || on_failure == OnFailure::Zero) && !is_string_like(from->id()))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal type {} of argument of function {}: it takes a String",
                 from->name(), name);
        const Target target = family.target(family.id, arguments, name);
        if (on_failure == OnFailure::Default && arguments.size() > target.used &&
            !same_type(arguments[target.used].type, target.type))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The default value of function {} must be of type {}, not {}",
                 name, target.type->name(), arguments[target.used].type->name());
        FunctionContext used = context;
        if (family.target == date_target && target.used == 2) used.time_zone = require_text(arguments[1], name, 1);
        TypePtr source = from;
        if (family.target == date_target && target.used == 2 && from->id() == TypeId::DateTime)
            source = make_datetime(used.time_zone);
        if (family.target == date_target && target.used == 2 && from->id() == TypeId::DateTime64)
            source = make_datetime64(from->scale(), used.time_zone);
        Kernel kernel = conversion_kernel(source, target.type, used, failing, false);
        if (!same_type(source, from))
            kernel = [inner = std::move(kernel), source](const KernelArguments& call) {
                std::vector<VectorPtr> vectors(call.vectors.begin(), call.vectors.end());
                vectors[0] = retype(vectors[0], source);
                return inner({vectors, {}, call.rows});
            };
        return Overload{failing == OnFailure::Null ? make_nullable(target.type) : target.type, std::move(kernel)};
    };
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        return resolve(arguments, context, on_failure);
    };
    if (on_failure == OnFailure::Throw)
        definition.resolve_nullable = [=](std::span<const Argument> arguments, const FunctionContext& context) {
            return resolve(arguments, context, is_string_like(arguments[0].type->id()) ? OnFailure::Null : on_failure);
        };
    if (on_failure == OnFailure::Throw) {
        const auto find = [family](std::span<const Argument> arguments, size_t which, const Vector* low,
                                   const Vector* high) {
            if (which != 0) return Monotonic::No;
            try {
                return conversion_monotonic(arguments[0].type, family.target(family.id, arguments, family.name).type,
                                            low, high);
            } catch (const Error&) {
                return Monotonic::No;
            }
        };
        definition.monotonic = [find](std::span<const Argument> arguments, size_t which) {
            return find(arguments, which, nullptr, nullptr);
        };
        definition.monotonic_between = [find](std::span<const Argument> arguments, size_t which, const Vector& low,
                                              const Vector& high) { return find(arguments, which, &low, &high); };
    }
    registry.add(std::move(definition));
}

void add_family(FunctionRegistry& registry, const Family& family) {
    add_conversion(registry, family, OnFailure::Throw, "");
    add_conversion(registry, family, OnFailure::Null, "OrNull");
    add_conversion(registry, family, OnFailure::Zero, "OrZero");
    add_conversion(registry, family, OnFailure::Default, "OrDefault");
}

/// CAST(x, 'T'): NULL, LowCardinality and all are part of the type that is named.
void add_cast(FunctionRegistry& registry, const char* name, OnFailure on_failure, bool accurate, bool any_case,
              std::vector<std::string> aliases = {}) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = any_case;
    definition.nulls = NullHandling::Custom;
    definition.low_cardinality_custom = true;
    definition.min_arguments = 2;
    definition.max_arguments = on_failure == OnFailure::Default ? 3 : 2;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
        TypePtr type = parse_type_name(require_text(arguments[1], name, 1));
        const TypePtr from = arguments[0].type;
        CastRule rule;
        rule.accurate = accurate;
        rule.strict_text = accurate;
        if (on_failure == OnFailure::Null) {
            rule.errors = CastErrors::Null;
            rule.strict_text = true;
            type = make_nullable(type);
        }
        if (on_failure == OnFailure::Default) {
            rule.errors = CastErrors::Null;
            rule.strict_text = true;
            auto cast = make_cast(from, make_nullable(type), context, rule);
            const bool given = arguments.size() > 2;
            if (given && !same_type(arguments[2].type, type))
                fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The default value of function {} must be of type {}, not {}",
                     name, type->name(), arguments[2].type->name());
            return Overload{type, [cast, type, given](const KernelArguments& call) {
                                const VectorPtr flat = flatten(cast(call[0]));
                                Converted converted{
                                    accepts_null(*flat->type()) ? flat->with_nulls(type, nullptr) : flat,
                                    flat->nulls_buffer()};
                                return with_defaults(converted, type, given ? call[2] : nullptr);
                            }};
        }
        if (context.cast_keep_nullable && accepts_null(*from)) type = make_nullable(type);
        auto cast = make_cast(from, type, context, rule);
        return Overload{type, [cast](const KernelArguments& call) { return cast(call[0]); }};
    };
    if (on_failure == OnFailure::Throw) {
        const auto find = [](std::span<const Argument> arguments, size_t which, const Vector* low, const Vector* high) {
            const auto text = constant_text(arguments[1]);
            if (which != 0 || !text) return Monotonic::No;
            return conversion_monotonic(arguments[0].type, parse_type_name(*text), low, high);
        };
        definition.monotonic = [find](std::span<const Argument> arguments, size_t which) {
            return find(arguments, which, nullptr, nullptr);
        };
        definition.monotonic_between = [find](std::span<const Argument> arguments, size_t which, const Vector& low,
                                              const Vector& high) { return find(arguments, which, &low, &high); };
    }
    registry.add(std::move(definition));
}

void add_to_string(FunctionRegistry& registry) {
    Definition definition;
    definition.name = "toString";
    definition.min_arguments = 1;
    definition.max_arguments = 2;
    definition.resolve = [](std::span<const Argument> arguments, const FunctionContext& context) {
        TypePtr from = arguments[0].type;
        if (arguments.size() > 1) {
            if (from->id() != TypeId::DateTime && from->id() != TypeId::DateTime64)
                fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                     "Function toString takes a time zone only for DateTime, not for {}", from->name());
            const std::string zone = require_text(arguments[1], "toString", 1);
            TimeZone::find(zone);
            from = from->id() == TypeId::DateTime ? make_datetime(zone) : make_datetime64(from->scale(), zone);
        }
        const TypePtr string = make_type(TypeId::String);
        Converter converter = make_converter(from, string, context);
        return Overload{string, [converter, from](const KernelArguments& call) {
                            return converter(retype(flatten(call[0]), from), nullptr).vector;
                        }};
    };
    registry.add(std::move(definition));
}

void add_to_fixed_string(FunctionRegistry& registry) {
    Definition definition;
    definition.name = "toFixedString";
    definition.min_arguments = definition.max_arguments = 2;
    definition.resolve = [](std::span<const Argument> arguments, const FunctionContext& context) {
        const int64_t length = require_int(arguments[1], "toFixedString", 1);
        if (length <= 0) fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "FixedString size must be positive");
        if (!is_string_like(arguments[0].type->id()))
            fail(ErrorCode::NOT_IMPLEMENTED, "toFixedString takes a String or FixedString, not {}",
                 arguments[0].type->name());
        const TypePtr type = make_fixed_string(static_cast<size_t>(length));
        return Overload{type, conversion_kernel(arguments[0].type, type, context, OnFailure::Throw, false)};
    };
    registry.add(std::move(definition));
}

void add_low_cardinality(FunctionRegistry& registry) {
    Definition definition;
    definition.name = "toLowCardinality";
    definition.nulls = NullHandling::Custom;
    definition.low_cardinality_custom = true;
    definition.min_arguments = definition.max_arguments = 1;
    definition.takes_encoded = true;
    definition.resolve = [](std::span<const Argument> arguments, const FunctionContext&) {
        const TypePtr type = make_low_cardinality(arguments[0].type);
        return Overload{type, [type](const KernelArguments& call) { return retype(call[0], type); }};
    };
    registry.add(std::move(definition));
}

}  // namespace

void register_conversion_functions(FunctionRegistry& registry) {
    for (int id = static_cast<int>(TypeId::UInt8); id <= static_cast<int>(TypeId::Float64); ++id) {
        const TypePtr type = make_type(static_cast<TypeId>(id));
        add_family(registry, {"to" + type->name(), type->id(), simple_target, 1});
    }
    add_family(registry, {"toBool", TypeId::Bool, simple_target, 1});
    add_family(registry, {"toUUID", TypeId::UUID, simple_target, 1});
    add_family(registry, {"toIPv4", TypeId::IPv4, simple_target, 1});
    add_family(registry, {"toIPv6", TypeId::IPv6, simple_target, 1});
    add_family(registry, {"toDate", TypeId::Date, date_target, 2});
    add_family(registry, {"toDate32", TypeId::Date32, date_target, 2});
    add_family(registry, {"toDateTime", TypeId::DateTime, datetime_target, 2});
    add_family(registry, {"toDateTime32", TypeId::DateTime, datetime_target, 2});
    add_family(registry, {"toDateTime64", TypeId::DateTime64, datetime64_target, 3});
    add_family(registry, {"toDecimal32", TypeId::Decimal, decimal_target<9>, 2});
    add_family(registry, {"toDecimal64", TypeId::Decimal, decimal_target<18>, 2});
    add_family(registry, {"toDecimal128", TypeId::Decimal, decimal_target<38>, 2});
    add_family(registry, {"toDecimal256", TypeId::Decimal, decimal_target<76>, 2});
    for (int kind = 0; kind <= static_cast<int>(IntervalKind::Year); ++kind) {
        const TypePtr type = make_interval(static_cast<IntervalKind>(kind));
        Definition definition;
        definition.name = "to" + type->name();
        definition.min_arguments = definition.max_arguments = 1;
        definition.resolve = [type](std::span<const Argument> arguments, const FunctionContext& context) {
            return Overload{type, conversion_kernel(arguments[0].type, type, context, OnFailure::Throw, false)};
        };
        registry.add(std::move(definition));
    }
    add_to_string(registry);
    add_to_fixed_string(registry);
    add_low_cardinality(registry);
    add_cast(registry, "CAST", OnFailure::Throw, false, true, {"_CAST"});
    add_cast(registry, "accurateCast", OnFailure::Throw, true, false);
    add_cast(registry, "accurateCastOrNull", OnFailure::Null, true, false);
    add_cast(registry, "accurateCastOrDefault", OnFailure::Default, true, false);
}

}  // namespace firn::functions
