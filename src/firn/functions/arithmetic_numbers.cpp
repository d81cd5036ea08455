// Arithmetic of integers and floats, with ClickHouse's result types. Integers wrap around.
#include <algorithm>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/arithmetic.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

struct Plus {
    template <typename T>
    T operator()(const T& a, const T& b) const {
        return static_cast<T>(a + b);
    }
};
struct Minus {
    template <typename T>
    T operator()(const T& a, const T& b) const {
        return static_cast<T>(a - b);
    }
};
struct Multiply {
    template <typename T>
    T operator()(const T& a, const T& b) const {
        if constexpr (std::is_same_v<T, uint16_t>)
            return static_cast<T>(static_cast<uint32_t>(a) * b);
        else
            return static_cast<T>(a * b);
    }
};

/// Wrapping arithmetic is the same for signed and unsigned integers: the unsigned loops serve both.
template <typename Op>
VectorPtr wrapping(const VectorPtr& a, const VectorPtr& b, size_t rows, const TypePtr& type) {
    if (type->id() == TypeId::Float64) return map_binary<double, double, double>(a, b, rows, type, Op());
    switch (type->value_size()) {
        case 2:
            return map_binary<uint16_t, uint16_t, uint16_t>(a, b, rows, type, Op());
        case 4:
            return map_binary<uint32_t, uint32_t, uint32_t>(a, b, rows, type, Op());
        case 8:
            return map_binary<uint64_t, uint64_t, uint64_t>(a, b, rows, type, Op());
        case 16:
            return map_binary<UInt128, UInt128, UInt128>(a, b, rows, type, Op());
        default:
            return map_binary<UInt256, UInt256, UInt256>(a, b, rows, type, Op());
    }
}

enum class ByZero : uint8_t { Throw, Zero };

template <typename T>
T quotient(const T& a, const T& b, bool remainder) {
    if constexpr (std::is_same_v<T, UInt256>) {
        UInt256 rest;
        const UInt256 whole = a.divide(b, rest);
        return remainder ? rest : whole;
    } else {
        return remainder ? a % b : a / b;
    }
}

template <typename T>
VectorPtr divided(const VectorPtr& a, const VectorPtr& b, size_t rows, bool remainder, ByZero by_zero) {
    constexpr TypeId kId = std::is_same_v<T, int64_t>    ? TypeId::Int64
                           : std::is_same_v<T, uint64_t> ? TypeId::UInt64
                           : std::is_same_v<T, Int128>   ? TypeId::Int128
                                                         : TypeId::Int256;
    return map_binary<T, T, T>(a, b, rows, make_type(kId), [=](const T& x, const T& y) -> T {
        if (y == T()) {
            if (by_zero == ByZero::Zero) return T();
            fail(ErrorCode::ILLEGAL_DIVISION, "Division by zero");
        }
        if constexpr (kIsSigned<T>) {
            if (y == number_cast<T>(int64_t{-1})) {
                if (remainder) return T();
                return static_cast<T>(T() - x);
            }
        }
        return quotient(x, y, remainder);
    });
}

bool is_signed(const TypePtr& type) { return is_signed_integer(type->id()); }
int bits_of(const TypePtr& type) { return static_cast<int>(type->value_size()) * 8; }
bool is_wide(const TypePtr& type) { return !is_float(type->id()) && bits_of(type) > 64; }

TypePtr sum_type(const ArithmeticCall& call, const TypePtr& a, const TypePtr& b) {
    const bool is_signed_result = call.op == Arithmetic::Minus || is_signed(a) || is_signed(b);
    int bits = std::max(bits_of(a), bits_of(b));
    if (bits < 64) bits *= 2;
    return integer_type(bits, is_signed_result);
}

/// The type in which two integers divide without loss.
TypePtr division_type(const TypePtr& a, const TypePtr& b) {
    if (is_wide(a) || is_wide(b)) return make_type(TypeId::Int256);
    const bool big_unsigned = (!is_signed(a) && bits_of(a) == 64) || (!is_signed(b) && bits_of(b) == 64);
    if (!big_unsigned) return make_type(TypeId::Int64);
    return make_type(is_signed(a) || is_signed(b) ? TypeId::Int128 : TypeId::UInt64);
}

VectorPtr as_type(const VectorPtr& vector, const TypePtr& type) {
    if (vector->type()->physical() == type->physical()) return vector;
    if (vector->is_constant()) return Vector::constant(convert_numbers(type, vector->base()), vector->size());
    return convert_numbers(type, vector);
}

VectorPtr divide_in(const TypePtr& type, const VectorPtr& a, const VectorPtr& b, size_t rows, bool remainder,
                    ByZero by_zero) {
    switch (type->id()) {
        case TypeId::Int64:
            return divided<int64_t>(a, b, rows, remainder, by_zero);
        case TypeId::UInt64:
            return divided<uint64_t>(a, b, rows, remainder, by_zero);
        case TypeId::Int128:
            return divided<Int128>(a, b, rows, remainder, by_zero);
        default:
            return divided<Int256>(a, b, rows, remainder, by_zero);
    }
}

/// Dividing the least value of a type by -1 has no result.
void check_least(const VectorPtr& a, const VectorPtr& b, size_t rows) {
    if (!is_signed(a->type()) || !is_signed(b->type())) return;
    const int bits = bits_of(a->type());
    if (bits > 64) return;
    const int64_t least = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
    const Vector &x = a->flat_base(), &y = b->flat_base();
    if (b->is_constant() && int_at(y, 0) != -1) return;
    for (size_t i = 0; i < rows; ++i)
        if (int_at(y, b->is_constant() ? 0 : i) == -1 && int_at(x, a->is_constant() ? 0 : i) == least)
            fail(ErrorCode::ILLEGAL_DIVISION, "Division of minimal signed number by minus one");
}

Overload integer_division(const ArithmeticCall& call, const TypePtr& a, const TypePtr& b) {
    const ByZero by_zero =
        call.op == Arithmetic::IntDivOrZero || call.op == Arithmetic::ModuloOrZero ? ByZero::Zero : ByZero::Throw;
    const TypePtr common = division_type(a, b);
    if (call.op == Arithmetic::IntDiv || call.op == Arithmetic::IntDivOrZero) {
        const TypePtr result = integer_type(bits_of(a), is_signed(a) || is_signed(b));
        return {result, [=](const KernelArguments& arguments) {
                    if (by_zero == ByZero::Throw) check_least(arguments[0], arguments[1], arguments.rows);
                    return as_type(divide_in(common, as_type(arguments[0], common), as_type(arguments[1], common),
                                             arguments.rows, false, by_zero),
                                   result)
                        ->with_type(result);
                }};
    }
    const bool positive = call.op == Arithmetic::PositiveModulo;
    int bits = bits_of(b);
    if (is_signed(a) && !positive && bits < 64) bits *= 2;
    const TypePtr result = integer_type(bits, is_signed(a) && !positive);
    return {result, [=](const KernelArguments& arguments) {
                if (by_zero == ByZero::Throw) check_least(arguments[0], arguments[1], arguments.rows);
                const VectorPtr right = as_type(arguments[1], common);
                VectorPtr rest = divide_in(common, as_type(arguments[0], common), right, arguments.rows, true, by_zero);
                if (positive && common->id() == TypeId::Int64)
                    rest = map_binary<int64_t, int64_t, int64_t>(
                        rest, right, arguments.rows, common,
                        [](int64_t r, int64_t d) { return r < 0 ? r + (d < 0 ? -d : d) : r; });
                else if (positive && common->id() != TypeId::UInt64)
                    rest = convert_numbers(
                        common, map_binary<Int256, Int256, Int256>(
                                    as_type(rest, make_type(TypeId::Int256)), as_type(right, make_type(TypeId::Int256)),
                                    arguments.rows, make_type(TypeId::Int256), [](const Int256& r, const Int256& d) {
                                        return r.negative() ? r + Int256(d.magnitude()) : r;
                                    }));
                return as_type(rest, result)->with_type(result);
            }};
}

Overload float_division(const ArithmeticCall& call, const TypePtr& a, const TypePtr& b) {
    const TypePtr float64 = make_type(TypeId::Float64);
    const Arithmetic op = call.op;
    if (op == Arithmetic::IntDiv || op == Arithmetic::IntDivOrZero) {
        const TypePtr result = integer_type(bits_of(a), true);
        return {result, [=](const KernelArguments& arguments) {
                    const VectorPtr whole = map_binary<double, double, int64_t>(
                        as_type(arguments[0], float64), as_type(arguments[1], float64), arguments.rows,
                        make_type(TypeId::Int64), [op](double x, double y) -> int64_t {
                            const double value = x / y;
                            if (!std::isfinite(value)) {
                                if (op == Arithmetic::IntDivOrZero) return 0;
                                fail(ErrorCode::ILLEGAL_DIVISION, "Integer division of {} by {} has no integer result",
                                     x, y);
                            }
                            return float_to_integer<int64_t>(value);
                        });
                    return as_type(whole, result)->with_type(result);
                }};
    }
    return {float64, [=](const KernelArguments& arguments) {
                return map_binary<double, double, double>(
                    as_type(arguments[0], float64), as_type(arguments[1], float64), arguments.rows, float64,
                    [op](double x, double y) {
                        if (op == Arithmetic::Divide) return x / y;
                        const double rest = std::fmod(x, y);
                        return op == Arithmetic::PositiveModulo && rest < 0 ? rest + std::fabs(y) : rest;
                    });
            }};
}

}  // namespace

Overload number_arithmetic(const ArithmeticCall& call, const Argument& first, const Argument& second) {
    const auto plain = [](const TypePtr& type) { return type->id() == TypeId::Bool ? make_type(TypeId::UInt8) : type; };
    const TypePtr a = plain(first.type), b = plain(second.type);
    const auto is_plain = [](const TypePtr& type) { return is_integer(type->id()) || is_float(type->id()); };
    if (!is_plain(a) || !is_plain(b)) return {};
    const bool any_float = is_float(a->id()) || is_float(b->id());
    if (any_float && (is_wide(a) || is_wide(b)) && call.op != Arithmetic::Divide) return {};
    const bool sum = call.op == Arithmetic::Plus || call.op == Arithmetic::Minus || call.op == Arithmetic::Multiply;
    if (!sum)
        return any_float || call.op == Arithmetic::Divide ? float_division(call, a, b) : integer_division(call, a, b);
    const TypePtr type = any_float ? make_type(TypeId::Float64) : sum_type(call, a, b);
    return {type, [type, op = call.op](const KernelArguments& arguments) {
                const VectorPtr x = as_type(arguments[0], type), y = as_type(arguments[1], type);
                if (op == Arithmetic::Plus) return wrapping<Plus>(x, y, arguments.rows, type);
                if (op == Arithmetic::Minus) return wrapping<Minus>(x, y, arguments.rows, type);
                return wrapping<Multiply>(x, y, arguments.rows, type);
            }};
}

}  // namespace firn::functions
