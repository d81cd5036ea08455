// Functions about the query and its values rather than of them: toTypeName, materialize, identity, throwIf, now, version.
#include <algorithm>

#include "firn/base/settings.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/calendar.h"
#include "firn/types/time_zone.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

using Arguments = std::span<const Argument>;

Definition any_type(const char* name, size_t least, size_t most) {
    Definition definition;
    definition.name = name;
    definition.nulls = NullHandling::Custom;
    definition.low_cardinality_custom = true;
    definition.takes_encoded = true;
    definition.min_arguments = least;
    definition.max_arguments = most;
    return definition;
}

Overload always(VectorPtr value) {
    const TypePtr type = value->type();
    return {type,
            [value = std::move(value)](const KernelArguments& call) { return Vector::constant(value, call.rows); }};
}

VectorPtr text_value(std::string_view text) { return make_string_value(make_type(TypeId::String), text); }

Overload resolve_throw_if(Arguments arguments, const FunctionContext&) {
    const TypeId id = unwrap(arguments[0].type)->id();
    if (!is_number(id)) fail_argument("throwIf", *arguments[0].type, 0);
    const std::string message = arguments.size() > 1 ? require_text(arguments[1], "throwIf", 1)
                                                     : "Value passed to 'throwIf' function is non-zero";
    const TypePtr type = make_type(TypeId::UInt8);
    return {type, [=](const KernelArguments& call) {
                if (!selected_rows(call[0]).empty())
                    fail(ErrorCode::FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, "{}", message);
                return Vector::constant(make_value<uint8_t>(type, 0), call.rows);
            }};
}

/// A value that holds for the whole statement.
void add_moment(FunctionRegistry& registry, const char* name, std::vector<std::string> aliases, size_t most,
                std::function<VectorPtr(Arguments, const FunctionContext&)> value) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = true;
    definition.deterministic = false;
    definition.max_arguments = most;
    definition.resolve = [value = std::move(value)](Arguments arguments, const FunctionContext& context) {
        return always(value(arguments, context));
    };
    registry.add(std::move(definition));
}

VectorPtr date_of(const FunctionContext& context, int64_t shift) {
    const int64_t seconds = TimeZone::find(context.time_zone).to_local(floor_divide(context.now_us, 1000000));
    return make_value<uint16_t>(make_type(TypeId::Date), static_cast<uint16_t>(floor_divide(seconds, 86400) + shift));
}

VectorPtr now64_value(Arguments arguments, const FunctionContext& context) {
    const auto scale = arguments.empty() ? int64_t{3} : require_int(arguments[0], "now64", 0);
    const TypePtr type = make_datetime64(static_cast<int>(std::clamp<int64_t>(scale, -1, 10)),
                                         arguments.size() > 1 ? require_text(arguments[1], "now64", 1) : "");
    const int64_t ticks =
        scale >= 6 ? context.now_us * static_cast<int64_t>(power_of_ten(static_cast<int>(scale) - 6))
                   : floor_divide(context.now_us, static_cast<int64_t>(power_of_ten(6 - static_cast<int>(scale))));
    return make_value<int64_t>(type, ticks);
}

/// A setting's value in force, of the type of its kind.
VectorPtr setting_value(Arguments arguments, const FunctionContext& context) {
    const std::string name = require_text(arguments[0], "getSetting", 0);
    const SettingDefinition* definition = find_setting(name);
    if (!definition) fail(ErrorCode::UNKNOWN_SETTING, "Unknown setting '{}'", name);
    std::string text(definition->default_value);
    if (context.setting) text = context.setting(name).value_or(text);
    const TypePtr type = definition->kind == SettingKind::Bool     ? make_type(TypeId::Bool)
                         : definition->kind == SettingKind::UInt64 ? make_type(TypeId::UInt64)
                         : definition->kind == SettingKind::Int64  ? make_type(TypeId::Int64)
                         : definition->kind == SettingKind::String ? make_type(TypeId::String)
                                                                   : make_type(TypeId::Float64);
    return flatten(cast_vector(text_value(text), type));
}

}  // namespace

void register_introspection_functions(FunctionRegistry& registry) {
    Definition type_name = any_type("toTypeName", 1, 1);
    type_name.resolve = [](Arguments arguments, const FunctionContext&) {
        return always(text_value(pretty_name(*arguments[0].type)));
    };
    registry.add(std::move(type_name));

    Definition materialize = any_type("materialize", 1, 1);
    materialize.fold_constants = false;
    materialize.low_cardinality_custom = false;
    materialize.resolve = [](Arguments arguments, const FunctionContext&) {
        return Overload{arguments[0].type, [](const KernelArguments& call) { return call[0]; }};
    };
    registry.add(std::move(materialize));

    for (const char* name : {"identity", "__actionName", "indexHint"}) {
        Definition identity = any_type(name, 1, 2);
        identity.resolve = [](Arguments arguments, const FunctionContext&) {
            return Overload{arguments[0].type, [](const KernelArguments& call) { return call[0]; }};
        };
        registry.add(std::move(identity));
    }
    Definition ignore = any_type("ignore", 0, SIZE_MAX);
    ignore.resolve = [](Arguments, const FunctionContext&) {
        return always(make_value<uint8_t>(make_type(TypeId::UInt8), 0));
    };
    registry.add(std::move(ignore));

    Definition constant = any_type("isConstant", 1, 1);
    constant.resolve = [](Arguments arguments, const FunctionContext&) {
        return always(make_value<uint8_t>(make_type(TypeId::UInt8), arguments[0].constant != nullptr));
    };
    registry.add(std::move(constant));

    Definition default_value = any_type("defaultValueOfArgumentType", 1, 1);
    default_value.resolve = [](Arguments arguments, const FunctionContext&) {
        return always(flatten(Vector::defaults(arguments[0].type, 1)));
    };
    registry.add(std::move(default_value));

    Definition default_of = any_type("defaultValueOfTypeName", 1, 1);
    default_of.resolve = [](Arguments arguments, const FunctionContext&) {
        return always(
            flatten(Vector::defaults(parse_type_name(require_text(arguments[0], "defaultValueOfTypeName", 0)), 1)));
    };
    registry.add(std::move(default_of));

    Definition throw_if = any_type("throwIf", 1, 3);
    throw_if.takes_encoded = false;
    throw_if.low_cardinality_custom = false;
    throw_if.resolve = resolve_throw_if;
    registry.add(std::move(throw_if));

    add_moment(registry, "now", {"CURRENT_TIMESTAMP", "LOCALTIMESTAMP"}, 1,
               [](Arguments arguments, const FunctionContext& context) {
                   const TypePtr type = make_datetime(arguments.empty() ? "" : require_text(arguments[0], "now", 0));
                   return make_value<uint32_t>(type, static_cast<uint32_t>(floor_divide(context.now_us, 1000000)));
               });
    add_moment(registry, "now64", {}, 2, now64_value);
    add_moment(registry, "UTCTimestamp", {"UTC_timestamp"}, 0, [](Arguments, const FunctionContext& context) {
        return make_value<uint32_t>(make_datetime("UTC"), static_cast<uint32_t>(floor_divide(context.now_us, 1000000)));
    });
    add_moment(registry, "today", {"current_date", "curdate"}, 0,
               [](Arguments, const FunctionContext& context) { return date_of(context, 0); });
    add_moment(registry, "yesterday", {}, 0,
               [](Arguments, const FunctionContext& context) { return date_of(context, -1); });
    add_moment(registry, "timezone", {}, 0,
               [](Arguments, const FunctionContext& context) { return text_value(context.time_zone); });
    add_moment(registry, "serverTimezone", {"serverTimeZone"}, 0,
               [](Arguments, const FunctionContext& context) { return text_value(context.time_zone); });
    add_moment(registry, "currentDatabase", {"DATABASE", "SCHEMA", "current_database"}, 0,
               [](Arguments, const FunctionContext& context) { return text_value(context.current_database); });
    add_moment(registry, "getSetting", {}, 1, setting_value);
    add_moment(registry, "currentUser", {"user", "current_user"}, 0,
               [](Arguments, const FunctionContext& context) { return text_value(context.current_user); });
}

}  // namespace firn::functions
