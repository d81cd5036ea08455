// reinterpret, reinterpretAsInt32 …: bytes of values taken as others.
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"

namespace firn::functions {

namespace {

/// Whether values are plain bytes: of a fixed width or texts, but not, for example, aggregate states.
bool is_bytes(const DataType& type) {
    return type.physical() == Physical::Str ? is_string_like(type.id()) : type.value_size() != 0;
}

/// Bytes of a fixed-width value, or of a string, as a value of another type; missing bytes are zero.
Overload resolve_reinterpret(const TypePtr& from, const TypePtr& type, const char* name) {
    const bool from_text = from->physical() == Physical::Str, to_text = type->physical() == Physical::Str;
    if (!is_bytes(*from) || !is_bytes(*type)) fail_argument(name, *from, 0);
    if (from->id() == TypeId::String && type->id() == TypeId::FixedString) fail_argument(name, *from, 0);
    const size_t width = to_text ? 0 : type->value_size(), have = from_text ? 0 : from->value_size();
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const VectorPtr flat = flatten(call[0]);
                const auto bytes_at = [&](size_t i) -> std::string_view {
                    if (from_text) return flat->values<StringRef>()[i].view();
                    return {flat->values_buffer()->data() + i * have, have};
                };
                if (to_text) {
                    StringOutput out(call.rows);
                    std::string padded;
                    for (size_t i = 0; i < call.rows; ++i) {
                        std::string_view bytes = bytes_at(i);
                        if (type->id() == TypeId::String) {
                            while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
                        } else {
                            padded.assign(bytes);
                            padded.resize(static_cast<size_t>(type->length()), '\0');
                            bytes = padded;
                        }
                        out.set(i, bytes);
                    }
                    return out.finish(type);
                }
                auto buffer = Buffer::allocate_zeroed(call.rows * width);
                for (size_t i = 0; i < call.rows; ++i) {
                    const std::string_view bytes = bytes_at(i);
                    std::memcpy(buffer->mutable_data() + i * width, bytes.data(), std::min(width, bytes.size()));
                }
                return Vector::flat(type, call.rows, std::move(buffer));
            }};
}

void add_reinterpret(FunctionRegistry& registry, const TypePtr& type) {
    Definition definition;
    definition.name = "reinterpretAs" + type->name();
    definition.min_arguments = definition.max_arguments = 1;
    definition.resolve = [type, name = definition.name](std::span<const Argument> arguments, const FunctionContext&) {
        return resolve_reinterpret(arguments[0].type, type, name.c_str());
    };
    registry.add(std::move(definition));
}

}  // namespace

void register_reinterpret_functions(FunctionRegistry& registry) {
    for (int id = static_cast<int>(TypeId::UInt8); id <= static_cast<int>(TypeId::Float64); ++id)
        add_reinterpret(registry, make_type(static_cast<TypeId>(id)));
    for (const TypeId id : {TypeId::String, TypeId::Date, TypeId::DateTime, TypeId::UUID})
        add_reinterpret(registry, make_type(id));
    Definition reinterpret;
    reinterpret.name = "reinterpret";
    reinterpret.min_arguments = reinterpret.max_arguments = 2;
    reinterpret.resolve = [](std::span<const Argument> arguments, const FunctionContext&) {
        return resolve_reinterpret(arguments[0].type, parse_type_name(require_text(arguments[1], "reinterpret", 1)),
                                   "reinterpret");
    };
    registry.add(std::move(reinterpret));
}

}  // namespace firn::functions
