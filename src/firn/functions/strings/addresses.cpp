// UUIDs and IP addresses as bytes, numbers and text.
#include <algorithm>
#include <random>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/value_parse.h"
#include "firn/types/value_text.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

constexpr size_t kBytes = 16;  // of a UUID and of an IPv6 address

std::string bytes_of(UInt128 value) {
    std::string out(kBytes, '\0');
    for (size_t i = 0; i < kBytes; ++i) out[i] = static_cast<char>(value >> (8 * (kBytes - 1 - i)));
    return out;
}
UInt128 from_bytes(std::string_view bytes) {
    UInt128 value = 0;
    for (const char c : bytes.substr(0, kBytes)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
}

/// Variant 2 of ClickHouse: the first three fields little-endian, as Microsoft's GUIDs.
std::string in_variant(std::string bytes, int64_t variant) {
    if (variant != 2) return bytes;
    std::reverse(bytes.begin(), bytes.begin() + 4);
    std::reverse(bytes.begin() + 4, bytes.begin() + 6);
    std::reverse(bytes.begin() + 6, bytes.begin() + 8);
    return bytes;
}
int64_t variant_of(ArgumentList arguments, const char* name) {
    const int64_t variant = arguments.size() > 1 ? require_int(arguments[1], name, 1) : 1;
    if (variant != 1 && variant != 2)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The variant given to function {} has to be 1 or 2, not {}", name,
             variant);
    return variant;
}
void require_bytes(ArgumentList arguments, const char* name) {
    const DataType& type = *arguments[0].type;
    if (type.id() != TypeId::FixedString || type.length() != kBytes)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "Illegal type {} of argument of function {}, expected FixedString(16)", type.name(), name);
}

/// result[i] = f(row), bytes of a String or FixedString.
template <typename In, typename F>
Overload to_bytes(const TypePtr& type, F f) {
    return {type, [=](const KernelArguments& call) {
                const Reader<In> values(call[0]);
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) out.set(i, f(values[i]));
                return out.finish(type);
            }};
}

Overload resolve_uuid_to_num(ArgumentList arguments, const FunctionContext&) {
    if (arguments[0].type->id() != TypeId::UUID) fail_argument("UUIDToNum", *arguments[0].type, 0);
    const int64_t variant = variant_of(arguments, "UUIDToNum");
    return to_bytes<UInt128>(make_fixed_string(kBytes),
                             [=](UInt128 uuid) { return in_variant(bytes_of(uuid), variant); });
}
Overload resolve_uuid_string_to_num(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "UUIDStringToNum");
    const int64_t variant = variant_of(arguments, "UUIDStringToNum");
    return to_bytes<StringRef>(make_fixed_string(kBytes), [=](const StringRef& text) {
        UInt128 uuid = 0;
        if (parse_uuid(text.view(), uuid) != kParsed) uuid = 0;
        return in_variant(bytes_of(uuid), variant);
    });
}
Overload resolve_uuid_num_to_string(ArgumentList arguments, const FunctionContext&) {
    require_bytes(arguments, "UUIDNumToString");
    const int64_t variant = variant_of(arguments, "UUIDNumToString");
    return to_bytes<StringRef>(make_type(TypeId::String), [=](const StringRef& bytes) {
        std::string text;
        append_uuid(text, from_bytes(in_variant(std::string(bytes.view()), variant)));
        return text;
    });
}

/// The milliseconds in front of a version 7 UUID; the epoch for other versions.
Overload resolve_uuid_time(ArgumentList arguments, const FunctionContext&) {
    if (arguments[0].type->id() != TypeId::UUID) fail_argument("UUIDv7ToDateTime", *arguments[0].type, 0);
    const TypePtr type =
        make_datetime64(3, arguments.size() > 1 ? require_text(arguments[1], "UUIDv7ToDateTime", 1) : "");
    return {type, [=](const KernelArguments& call) {
                return map_unary<UInt128, int64_t>(call[0], call.rows, type, [](UInt128 uuid) {
                    const auto version = static_cast<unsigned>(uuid >> 76) & 15;
                    return version == 7 ? static_cast<int64_t>(uuid >> 80) : int64_t{0};
                });
            }};
}

UInt128 random_bits() {
    static thread_local std::mt19937_64 random{std::random_device{}()};
    return static_cast<UInt128>(random()) << 64 | random();
}
/// version: 4, or 7 with the time in front.
UInt128 make_uuid(unsigned version, int64_t milliseconds) {
    UInt128 bits = random_bits();
    if (version == 7) bits = bits << 48 >> 48 | static_cast<UInt128>(static_cast<uint64_t>(milliseconds)) << 80;
    bits = (bits & ~(static_cast<UInt128>(15) << 76)) | static_cast<UInt128>(version) << 76;
    return (bits & ~(static_cast<UInt128>(3) << 62)) | static_cast<UInt128>(2) << 62;
}
void add_generator(FunctionRegistry& registry, const char* name, unsigned version) {
    Definition definition;
    definition.name = name;
    definition.max_arguments = 1;
    definition.nulls = NullHandling::Custom;
    definition.deterministic = false;
    definition.fold_constants = false;
    definition.resolve = [=](ArgumentList, const FunctionContext& context) {
        const TypePtr type = make_type(TypeId::UUID);
        return Overload{type, [=, now = context.now_us / 1000](const KernelArguments& call) {
                            Output<UInt128> out(call.rows);
                            for (size_t i = 0; i < call.rows; ++i) out[i] = make_uuid(version, now);
                            return out.finish(type);
                        }};
    };
    registry.add(std::move(definition));
}

std::string ipv4_text(uint32_t address) {
    std::string text;
    append_ipv4(text, address);
    return text;
}
Overload resolve_ipv4_text(ArgumentList arguments, bool class_c, const char* name) {
    const TypePtr given = arguments[0].type, type = make_type(TypeId::String);
    if (given->id() != TypeId::IPv4) require_integer(arguments, 0, name);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr numbers = as_int64(call[0]->type()->id() == TypeId::IPv4
                                                       ? flatten(call[0])->with_type(make_type(TypeId::UInt32))
                                                       : call[0]);
                const Reader<int64_t> addresses(numbers);
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    std::string text = ipv4_text(static_cast<uint32_t>(addresses[i]));
                    if (class_c) text = text.substr(0, text.rfind('.')) + ".xxx";
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

enum class Otherwise : uint8_t { Throw, Null, Default };

Overload resolve_ipv4_number(ArgumentList arguments, Otherwise otherwise, const char* name) {
    require_string(arguments, 0, name);
    const TypePtr number = make_type(TypeId::UInt32);
    const TypePtr type = otherwise == Otherwise::Null ? make_nullable(number) : number;
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                VectorBuilder out(type);
                for (size_t i = 0; i < call.rows; ++i) {
                    uint32_t address = 0;
                    if (parse_ipv4(texts[i].view(), address) == kParsed)
                        out.append<uint32_t>(address);
                    else if (otherwise == Otherwise::Throw)
                        fail(ErrorCode::CANNOT_PARSE_IPV4, "Invalid IPv4 value '{}'", texts[i].view());
                    else
                        out.append_default();
                }
                return out.finish();
            }};
}

/// IPv4 addresses are read as IPv6 ones that stand for them.
bool read_ipv6(std::string_view text, UInt128& out) {
    uint32_t short_address = 0;
    if (parse_ipv4(text, short_address) == kParsed) {
        out = static_cast<UInt128>(0xFFFF) << 32 | short_address;
        return true;
    }
    return parse_ipv6(text, out) == kParsed;
}
Overload resolve_ipv6_number(ArgumentList arguments, Otherwise otherwise, const char* name) {
    require_string(arguments, 0, name);
    const TypePtr bytes = make_fixed_string(kBytes);
    const TypePtr type = otherwise == Otherwise::Null ? make_nullable(bytes) : bytes;
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                VectorBuilder out(type);
                for (size_t i = 0; i < call.rows; ++i) {
                    UInt128 address = 0;
                    const bool good = read_ipv6(texts[i].view(), address);
                    if (!good && otherwise == Otherwise::Throw)
                        fail(ErrorCode::CANNOT_PARSE_IPV6, "Invalid IPv6 value '{}'", texts[i].view());
                    if (!good && otherwise == Otherwise::Null)
                        out.append_null();
                    else
                        out.append_string(bytes_of(good ? address : 0));
                }
                return out.finish();
            }};
}

Overload resolve_ipv6_text(ArgumentList arguments, const FunctionContext&) {
    const TypePtr type = make_type(TypeId::String);
    if (arguments[0].type->id() == TypeId::IPv6)
        return to_bytes<UInt128>(type, [](UInt128 address) {
            std::string text;
            append_ipv6(text, address);
            return text;
        });
    require_bytes(arguments, "IPv6NumToString");
    return to_bytes<StringRef>(type, [](const StringRef& bytes) {
        std::string text;
        append_ipv6(text, from_bytes(bytes.view()));
        return text;
    });
}

Overload resolve_is_address(ArgumentList arguments, bool six, const char* name) {
    require_string(arguments, 0, name);
    const TypePtr type = make_type(TypeId::UInt8);
    return {type, [=](const KernelArguments& call) {
                return map_unary<StringRef, uint8_t>(call[0], call.rows, type, [=](const StringRef& text) {
                    uint32_t four = 0;
                    UInt128 whole = 0;
                    return (six ? parse_ipv6(text.view(), whole) : parse_ipv4(text.view(), four)) == kParsed;
                });
            }};
}

Overload resolve_ipv4_to_ipv6(ArgumentList arguments, const FunctionContext&) {
    if (arguments[0].type->id() != TypeId::IPv4) require_integer(arguments, 0, "IPv4ToIPv6");
    const TypePtr type = make_type(TypeId::IPv6);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr numbers = as_int64(call[0]->type()->id() == TypeId::IPv4
                                                       ? flatten(call[0])->with_type(make_type(TypeId::UInt32))
                                                       : call[0]);
                return map_unary<int64_t, UInt128>(numbers, call.rows, type, [](int64_t address) {
                    return static_cast<UInt128>(0xFFFF) << 32 | static_cast<uint32_t>(address);
                });
            }};
}

/// The first and the last address of a network.
template <typename T>
Overload range_overload(const TypePtr& address) {
    const TypePtr type = make_tuple_type({address, address});
    return {type, [=](const KernelArguments& call) {
                constexpr int kBits = sizeof(T) * 8;
                const Reader<T> addresses(call[0]);
                const VectorPtr lengths = as_int64(call[1]);
                Output<T> first(call.rows), last(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t bits = std::min<int64_t>(kBits, std::max<int64_t>(0, Reader<int64_t>(lengths)[i]));
                    const T mask = bits == 0 ? T{0} : static_cast<T>(~T{0} << (kBits - bits));
                    first[i] = addresses[i] & mask;
                    last[i] = addresses[i] | static_cast<T>(~mask);
                }
                return Vector::tuple(type, call.rows, {first.finish(address), last.finish(address)});
            }};
}

struct Network {
    UInt128 address;
    int bits;
};
UInt128 require_address(std::string_view text) {
    UInt128 address = 0;
    if (!read_ipv6(text, address)) fail(ErrorCode::CANNOT_PARSE_TEXT, "Neither IPv4 nor IPv6 address: '{}'", text);
    return address;
}
bool is_short(std::string_view text) { return text.find(':') == std::string_view::npos; }
uint8_t is_in_range(const StringRef& address, const StringRef& network) {
    const std::string_view text = network.view();
    const size_t slash = text.find('/');
    if (slash == std::string_view::npos)
        fail(ErrorCode::CANNOT_PARSE_TEXT, "The text '{}' is no network: no slash", text);
    const std::string_view base = text.substr(0, slash);
    const UInt128 first = require_address(base), wanted = require_address(address.view());
    const int most = is_short(base) ? 32 : 128;
    int bits = 0;
    for (const char c : text.substr(slash + 1)) {
        bits = c < '0' || c > '9' ? most + 1 : bits * 10 + (c - '0');
        if (bits > most) break;
    }
    if (bits > most || slash + 1 == text.size())
        fail(ErrorCode::CANNOT_PARSE_TEXT, "The text '{}' is no network: wrong length", text);
    if (is_short(base) != is_short(address.view())) return 0;
    if (is_short(base)) bits += 96;
    return bits == 0 || (first ^ wanted) >> (128 - bits) == 0;
}

}  // namespace

void register_address_functions(FunctionRegistry& registry) {
    declare(registry, {"UUIDToNum"}, 1, 2, resolve_uuid_to_num);
    declare(registry, {"UUIDStringToNum"}, 1, 2, resolve_uuid_string_to_num);
    declare(registry, {"UUIDNumToString"}, 1, 2, resolve_uuid_num_to_string);
    declare(registry, {"UUIDv7ToDateTime"}, 1, 2, resolve_uuid_time);
    add_generator(registry, "generateUUIDv4", 4);
    add_generator(registry, "generateUUIDv7", 7);
    declare(registry, {"IPv4NumToString", {"INET_NTOA"}}, 1, 1, [](ArgumentList arguments, const FunctionContext&) {
        return resolve_ipv4_text(arguments, false, "IPv4NumToString");
    });
    declare(registry, {"IPv4NumToStringClassC"}, 1, 1, [](ArgumentList arguments, const FunctionContext&) {
        return resolve_ipv4_text(arguments, true, "IPv4NumToStringClassC");
    });
    const std::pair<std::string, Otherwise> endings[] = {
        {"", Otherwise::Throw}, {"OrNull", Otherwise::Null}, {"OrDefault", Otherwise::Default}};
    for (const auto& [ending, otherwise] : endings) {
        const bool plain = otherwise == Otherwise::Throw;
        const std::string four = "IPv4StringToNum" + ending, six = "IPv6StringToNum" + ending;
        declare(registry, {four.c_str(), plain ? std::vector<std::string>{"INET_ATON"} : std::vector<std::string>{}}, 1,
                1, [four, otherwise = otherwise](ArgumentList arguments, const FunctionContext&) {
                    return resolve_ipv4_number(arguments, otherwise, four.c_str());
                });
        declare(registry, {six.c_str(), plain ? std::vector<std::string>{"INET6_ATON"} : std::vector<std::string>{}}, 1,
                1, [six, otherwise = otherwise](ArgumentList arguments, const FunctionContext&) {
                    return resolve_ipv6_number(arguments, otherwise, six.c_str());
                });
    }
    declare(registry, {"IPv6NumToString", {"INET6_NTOA"}}, 1, 1, resolve_ipv6_text);
    declare(registry, {"isIPv4String"}, 1, 1, [](ArgumentList arguments, const FunctionContext&) {
        return resolve_is_address(arguments, false, "isIPv4String");
    });
    declare(registry, {"isIPv6String"}, 1, 1, [](ArgumentList arguments, const FunctionContext&) {
        return resolve_is_address(arguments, true, "isIPv6String");
    });
    declare(registry, {"IPv4ToIPv6"}, 1, 1, resolve_ipv4_to_ipv6);
    declare(registry, {"IPv4CIDRToRange"}, 2, 2, [](ArgumentList arguments, const FunctionContext&) {
        if (arguments[0].type->id() != TypeId::IPv4) fail_argument("IPv4CIDRToRange", *arguments[0].type, 0);
        require_integer(arguments, 1, "IPv4CIDRToRange");
        return range_overload<uint32_t>(make_type(TypeId::IPv4));
    });
    declare(registry, {"IPv6CIDRToRange"}, 2, 2, [](ArgumentList arguments, const FunctionContext&) {
        if (arguments[0].type->id() != TypeId::IPv6) fail_argument("IPv6CIDRToRange", *arguments[0].type, 0);
        require_integer(arguments, 1, "IPv6CIDRToRange");
        return range_overload<UInt128>(make_type(TypeId::IPv6));
    });
    declare(registry, {"isIPAddressInRange"}, 2, 2, [](ArgumentList arguments, const FunctionContext&) {
        for (size_t i = 0; i < 2; ++i) require_string(arguments, i, "isIPAddressInRange");
        const TypePtr type = make_type(TypeId::UInt8);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_binary<StringRef, StringRef, uint8_t>(call[0], call[1], call.rows, type,
                                                                             is_in_range);
                        }};
    });
}

}  // namespace firn::functions
