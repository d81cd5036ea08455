// bitAnd, bitOr, bitXor, bitNot, shifts, bitCount, bitTest, gcd, lcm: over integers.
#include <algorithm>
#include <bit>
#include <numeric>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"

namespace firn::functions {

namespace {

/// All of these work on 64 bits; wider integers are not supported yet.
void check_integers(std::span<const Argument> arguments, const char* name) {
    for (size_t i = 0; i < arguments.size(); ++i) {
        const TypeId id = arguments[i].type->id();
        if (!is_integer(id) && id != TypeId::Bool) fail_argument(name, *arguments[i].type, i);
        if (is_integer(id) && integer_bits(id) > 64)
            fail(ErrorCode::NOT_IMPLEMENTED, "Function {} of {} is not supported yet", name, arguments[i].type->name());
    }
}

int bits_of(const TypePtr& type) { return static_cast<int>(type->value_size()) * 8; }

VectorPtr as_int64(const VectorPtr& vector) {
    const TypePtr type = make_type(TypeId::Int64);
    if (vector->is_constant()) return Vector::constant(convert_numbers(type, vector->base()), vector->size());
    return convert_numbers(type, vector);
}

using Function = int64_t (*)(int64_t a, int64_t b, int bits);
enum class Result : uint8_t { Widest, Left, Next, Byte };

struct Binary {
    const char* name;
    Function function;
    Result result;
};

uint64_t masked(int64_t value, int bits) {
    return bits == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
}

void check_nonzero(int64_t a, int64_t b) {
    if (a == 0 || b == 0) fail(ErrorCode::ILLEGAL_DIVISION, "Division by zero");
}

const Binary kBinary[] = {
    {"bitAnd", [](int64_t a, int64_t b, int) { return a & b; }, Result::Widest},
    {"bitOr", [](int64_t a, int64_t b, int) { return a | b; }, Result::Widest},
    {"bitXor", [](int64_t a, int64_t b, int) { return a ^ b; }, Result::Widest},
    {"bitShiftLeft",
     [](int64_t a, int64_t b, int bits) {
         return b < 0 || b >= bits ? int64_t{0} : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
     },
     Result::Left},
    {"bitShiftRight", [](int64_t a, int64_t b, int bits) { return b < 0 || b >= bits ? int64_t{0} : a >> b; },
     Result::Left},
    {"bitRotateLeft",
     [](int64_t a, int64_t b, int bits) {
         const int n = static_cast<int>(b & (bits - 1));
         const uint64_t v = masked(a, bits);
         return n == 0 ? a : static_cast<int64_t>((v << n) | (v >> (bits - n)));
     },
     Result::Left},
    {"bitRotateRight",
     [](int64_t a, int64_t b, int bits) {
         const int n = static_cast<int>(b & (bits - 1));
         const uint64_t v = masked(a, bits);
         return n == 0 ? a : static_cast<int64_t>((v >> n) | (v << (bits - n)));
     },
     Result::Left},
    {"bitTest", [](int64_t a, int64_t b, int bits) { return b < 0 || b >= bits ? int64_t{0} : (a >> b) & 1; },
     Result::Byte},
    {"bitHammingDistance",
     [](int64_t a, int64_t b, int) { return int64_t{std::popcount(static_cast<uint64_t>(a ^ b))}; }, Result::Byte},
    {"gcd",
     [](int64_t a, int64_t b, int) {
         check_nonzero(a, b);
         return static_cast<int64_t>(std::gcd(a, b));
     },
     Result::Next},
    {"lcm",
     [](int64_t a, int64_t b, int) {
         check_nonzero(a, b);
         return static_cast<int64_t>(std::abs(a / static_cast<int64_t>(std::gcd(a, b)) * b));
     },
     Result::Next},
};

TypePtr result_of(Result result, const TypePtr& a, const TypePtr& b) {
    const bool is_signed = is_signed_integer(a->id()) || is_signed_integer(b->id());
    const int widest = std::max(bits_of(a), bits_of(b));
    switch (result) {
        case Result::Widest:
            return integer_type(widest, is_signed);
        case Result::Left:
            return integer_type(bits_of(a), is_signed_integer(a->id()));
        case Result::Next:
            return integer_type(std::min(64, widest * 2), is_signed);
        default:
            return make_type(TypeId::UInt8);
    }
}

void add_binary(FunctionRegistry& registry, const Binary& binary) {
    Definition definition;
    definition.name = binary.name;
    definition.min_arguments = definition.max_arguments = 2;
    definition.resolve = [&binary](std::span<const Argument> arguments, const FunctionContext&) {
        check_integers(arguments, binary.name);
        const TypePtr type = result_of(binary.result, arguments[0].type, arguments[1].type);
        const int bits = bits_of(arguments[0].type);
        return Overload{type, [=, &binary](const KernelArguments& call) {
                            return convert_numbers(
                                type, map_binary<int64_t, int64_t, int64_t>(
                                          as_int64(call[0]), as_int64(call[1]), call.rows, make_type(TypeId::Int64),
                                          [=, &binary](int64_t a, int64_t b) { return binary.function(a, b, bits); }));
                        }};
    };
    registry.add(std::move(definition));
}

}  // namespace

void register_bit_functions(FunctionRegistry& registry) {
    for (const auto& binary : kBinary) add_binary(registry, binary);
    const auto add = [&](const char* name, auto resolve) {
        Definition definition;
        definition.name = name;
        definition.min_arguments = definition.max_arguments = 1;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("bitNot", [](std::span<const Argument> arguments, const FunctionContext&) {
        check_integers(arguments, "bitNot");
        const TypePtr type = integer_type(bits_of(arguments[0].type), is_signed_integer(arguments[0].type->id()));
        return Overload{type, [=](const KernelArguments& call) {
                            return convert_numbers(type, map_unary<int64_t, int64_t>(as_int64(call[0]), call.rows,
                                                                                     make_type(TypeId::Int64),
                                                                                     [](int64_t x) { return ~x; }));
                        }};
    });
    add("bitCount", [](std::span<const Argument> arguments, const FunctionContext&) {
        check_integers(arguments, "bitCount");
        const TypePtr type = make_type(TypeId::UInt8);
        const int bits = bits_of(arguments[0].type);
        return Overload{type, [=](const KernelArguments& call) {
                            return map_unary<int64_t, uint8_t>(as_int64(call[0]), call.rows, type, [=](int64_t x) {
                                return static_cast<uint8_t>(std::popcount(masked(x, bits)));
                            });
                        }};
    });
}

}  // namespace firn::functions
