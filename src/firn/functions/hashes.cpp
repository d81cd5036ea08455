// Hashes and checksums of single values: xxHash64, intHash64, murmurHash3_32, CRC32; and bytes of values taken as others.
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zlib.h>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/functions/strings/row_calls.h"
#include "firn/iceberg/transform.h"

namespace firn::functions {

namespace {

uint64_t int_hash64(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}
uint64_t int_hash32(uint64_t key) {
    key = (~key) + (key << 18);
    key ^= (key >> 31) | (key << 33);
    key *= 21;
    key ^= (key >> 11) | (key << 53);
    key += (key << 6);
    key ^= (key >> 22) | (key << 42);
    return static_cast<uint32_t>(key);
}

void add_int_hash(FunctionRegistry& registry, const char* name, TypeId result, uint64_t (*hash)(uint64_t)) {
    Definition definition;
    definition.name = name;
    definition.min_arguments = definition.max_arguments = 1;
    definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext&) {
        const TypePtr from = arguments[0].type, type = make_type(result);
        if (from->value_size() == 0 || from->value_size() > 8 || is_float(from->id())) fail_argument(name, *from, 0);
        return Overload{type, [=](const KernelArguments& call) {
                            const VectorPtr flat = flatten(call[0]);
                            Output<uint64_t> out(call.rows);
                            for (size_t i = 0; i < call.rows; ++i) out[i] = hash(static_cast<uint64_t>(int_at(*flat, i)));
                            return convert_numbers(type, out.finish(make_type(TypeId::UInt64)));
                        }};
    };
    registry.add(std::move(definition));
}

/// Bytes of a fixed-width value, or of a string, as a value of another type; missing bytes are zero.
Overload resolve_reinterpret(const TypePtr& from, const TypePtr& type, const char* name) {
    const bool from_text = from->physical() == Physical::Str, to_text = type->physical() == Physical::Str;
    if ((!from_text && from->value_size() == 0) || (!to_text && type->value_size() == 0)) fail_argument(name, *from, 0);
    const size_t width = to_text ? 0 : type->value_size(), have = from_text ? 0 : from->value_size();
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const VectorPtr flat = flatten(call[0]);
                const auto bytes_at = [&](size_t i) -> std::string_view {
                    if (from_text) return flat->values<StringRef>()[i].view();
                    return {flat->values_buffer()->data() + i * have, have};
                };
                if (to_text) {
                    StringOutput out(call.rows);
                    for (size_t i = 0; i < call.rows; ++i) {
                        std::string_view bytes = bytes_at(i);
                        if (type->id() == TypeId::String)
                            while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
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
    definition.resolve = [type, name = definition.name](std::span<const Argument> arguments, const FunctionContext&) { return resolve_reinterpret(arguments[0].type, type, name.c_str()); };
    registry.add(std::move(definition));
}

bool valid_utf8(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const size_t size = lead < 0x80 ? 1 : (lead >> 5) == 6 && lead >= 0xC2 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 && lead <= 0xF4 ? 4 : 0;
        if (size == 0 || at + size > text.size()) return false;
        for (size_t i = 1; i < size; ++i)
            if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return false;
        const auto second = size > 2 ? static_cast<unsigned char>(text[at + 1]) : 0;
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return false;
        at += size;
    }
    return true;
}

}  // namespace

void register_hash_functions(FunctionRegistry& registry) {
    add_int_hash(registry, "intHash64", TypeId::UInt64, int_hash64);
    add_int_hash(registry, "intHash32", TypeId::UInt32, int_hash32);
    add_number_call(registry, {"xxHash64", "s"}, TypeId::UInt64, [](const Row& row) -> uint64_t { return XXH64(row.text[0].data(), row.text[0].size(), 0); });
    add_number_call(registry, {"xxHash32", "s"}, TypeId::UInt32, [](const Row& row) -> uint64_t { return XXH32(row.text[0].data(), row.text[0].size(), 0); });
    add_number_call(registry, {"murmurHash3_32", "s"}, TypeId::UInt32, [](const Row& row) -> uint64_t { return iceberg::murmur3_32(row.text[0]); });
    add_number_call(registry, {"CRC32", "s", {}, true}, TypeId::UInt32,
                    [](const Row& row) -> uint64_t { return crc32(0, reinterpret_cast<const Bytef*>(row.text[0].data()), static_cast<uInt>(row.text[0].size())); });
    add_number_call(registry, {"isValidUTF8", "s"}, TypeId::UInt8, [](const Row& row) -> uint64_t { return valid_utf8(row.text[0]); });
    for (int id = static_cast<int>(TypeId::UInt8); id <= static_cast<int>(TypeId::Float64); ++id) add_reinterpret(registry, make_type(static_cast<TypeId>(id)));
    for (const TypeId id : {TypeId::String, TypeId::Date, TypeId::DateTime, TypeId::UUID}) add_reinterpret(registry, make_type(id));
    Definition reinterpret;
    reinterpret.name = "reinterpret";
    reinterpret.min_arguments = reinterpret.max_arguments = 2;
    reinterpret.resolve = [](std::span<const Argument> arguments, const FunctionContext&) {
        return resolve_reinterpret(arguments[0].type, parse_type_name(require_text(arguments[1], "reinterpret", 1)), "reinterpret");
    };
    registry.add(std::move(reinterpret));
}

}  // namespace firn::functions
