// hex, unhex, bin, base64, char, reverse.
#include <algorithm>
#include <array>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/functions/strings/row_calls.h"

namespace firn::functions {

namespace {

constexpr char kHex[] = "0123456789ABCDEF";

void append_byte(std::string& out, unsigned char byte, bool binary) {
    if (binary) {
        for (int bit = 7; bit >= 0; --bit) out.push_back(static_cast<char>('0' + ((byte >> bit) & 1)));
        return;
    }
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
}

/// Integers from their highest byte without leading zero bytes; floats and decimals as they lie in memory; strings byte by byte.
Overload resolve_digits(std::span<const Argument> arguments, bool binary) {
    const TypePtr from = arguments[0].type, type = make_type(TypeId::String);
    const TypeId id = from->id();
    const bool text = is_string_like(id), memory = is_float(id) || id == TypeId::Decimal;
    const bool integer = is_integer(id) || id == TypeId::Bool || is_date_or_time(id) || id == TypeId::IPv4 ||
                         id == TypeId::IPv6 || id == TypeId::UUID;
    if (!text && !memory && !integer) fail_argument(binary ? "bin" : "hex", *from, 0);
    const bool whole = id == TypeId::UUID || id == TypeId::IPv6;
    return {type, [=](const KernelArguments& call) {
                const VectorPtr flat = flatten(call[0]);
                const size_t width = from->value_size();
                StringOutput out(call.rows);
                std::string digits;
                for (size_t i = 0; i < call.rows; ++i) {
                    digits.clear();
                    if (text) {
                        for (const char c : flat->values<StringRef>()[i].view())
                            append_byte(digits, static_cast<unsigned char>(c), binary);
                    } else {
                        const auto* bytes =
                            reinterpret_cast<const unsigned char*>(flat->values_buffer()->data()) + i * width;
                        bool started = whole;
                        for (size_t n = 0; n < width; ++n) {
                            const unsigned char byte = memory ? bytes[n] : bytes[width - 1 - n];
                            started |= memory || byte != 0 || n + 1 == width;
                            if (started) append_byte(digits, byte, binary);
                        }
                    }
                    out.set(i, digits);
                }
                return out.finish(type);
            }};
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 255;  // no digit: as ClickHouse does
}
void unhex(const Row& row, std::string& out) {
    const std::string_view text = row.text[0];
    size_t at = 0;
    if (text.size() % 2) out.push_back(static_cast<char>(hex_value(text[at++])));
    for (; at < text.size(); at += 2)
        out.push_back(static_cast<char>(hex_value(text[at]) * 16 + hex_value(text[at + 1])));
}
void unbin(const Row& row, std::string& out) {
    const std::string_view text = row.text[0];
    size_t at = 0;
    while (at < text.size()) {
        const size_t take = (text.size() - at) % 8 == 0 ? 8 : (text.size() - at) % 8;
        unsigned byte = 0;
        for (size_t i = 0; i < take; ++i) byte = byte * 2 + (text[at + i] == '1');
        out.push_back(static_cast<char>(byte));
        at += take;
    }
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const Row& row, std::string& out) {
    const std::string_view text = row.text[0];
    for (size_t at = 0; at < text.size(); at += 3) {
        const size_t size = std::min<size_t>(3, text.size() - at);
        uint32_t bits = 0;
        for (size_t i = 0; i < 3; ++i) bits = (bits << 8) | (i < size ? static_cast<unsigned char>(text[at + i]) : 0);
        for (size_t i = 0; i < 4; ++i) out.push_back(i <= size ? kBase64[(bits >> (18 - 6 * i)) & 63] : '=');
    }
}
bool decode64(std::string_view text, std::string& out) {
    if (text.size() % 4) return false;
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const size_t value = kBase64.find(c);
        if (value == std::string_view::npos) return false;
        bits = (bits << 6) | static_cast<uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out.push_back(static_cast<char>((bits >> count) & 255));
        }
    }
    return true;
}
void base64_decode(const Row& row, std::string& out) {
    if (!decode64(row.text[0], out))
        fail(ErrorCode::INCORRECT_DATA, "Invalid base64 value ({}), cannot be decoded", row.text[0].substr(0, 60));
}
void try_base64_decode(const Row& row, std::string& out) {
    if (!decode64(row.text[0], out)) out.clear();
}

Overload resolve_char(std::span<const Argument> arguments, const FunctionContext& context) {
    const TypePtr type = make_type(TypeId::String), byte = make_type(TypeId::UInt8);
    std::vector<std::function<VectorPtr(const VectorPtr&)>> casts;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (!is_number(arguments[i].type->id())) fail_argument("char", *arguments[i].type, i);
        casts.push_back(make_cast(arguments[i].type, byte, context));
    }
    return {type, [=](const KernelArguments& call) {
                StringOutput out(call.rows);
                std::vector<VectorPtr> bytes;
                for (size_t n = 0; n < call.size(); ++n) bytes.push_back(casts[n](call[n]));
                std::string text;
                for (size_t i = 0; i < call.rows; ++i) {
                    text.clear();
                    for (const auto& column : bytes) text.push_back(static_cast<char>(Reader<uint8_t>(column)[i]));
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

Overload resolve_reverse(std::span<const Argument> arguments, const FunctionContext& context) {
    const TypePtr type = arguments[0].type;
    if (type->id() == TypeId::Array)
        return FunctionRegistry::instance().find("arrayReverse")->resolve(arguments, context);
    if (!is_string_like(type->id())) fail_argument("reverse", *type, 0);
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> in(call[0]);
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const std::string_view text = in[i].view();
                    char* place = out.allocate(text.size());
                    std::reverse_copy(text.begin(), text.end(), place);
                    out.set_view(i, {place, text.size()});
                }
                return out.finish(type);
            }};
}

}  // namespace

void register_encoding_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, size_t least, size_t most, auto resolve) {
        Definition definition;
        definition.name = name;
        definition.case_insensitive = true;
        definition.min_arguments = least;
        definition.max_arguments = most;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("hex", 1, 1, [](std::span<const Argument> a, const FunctionContext&) { return resolve_digits(a, false); });
    add("bin", 1, 1, [](std::span<const Argument> a, const FunctionContext&) { return resolve_digits(a, true); });
    add("char", 1, SIZE_MAX, resolve_char);
    add("reverse", 1, 1, resolve_reverse);
    add_text_call(registry, {"unhex", "s", {}, true}, unhex);
    add_text_call(registry, {"unbin", "s", {}, true}, unbin);
    add_text_call(registry, {"base64Encode", "s", {"TO_BASE64"}, true}, base64_encode);
    add_text_call(registry, {"base64Decode", "s", {"FROM_BASE64"}, true}, base64_decode);
    add_text_call(registry, {"tryBase64Decode", "s"}, try_base64_decode);
}

}  // namespace firn::functions
