// Arithmetic of decimals: exact, in the wider of the two storages, an error where that overflows.
#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/arithmetic.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/narrow_product.h"
#include "firn/functions/overflow.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

[[noreturn]] void fail_overflow() { fail(ErrorCode::DECIMAL_OVERFLOW, "Decimal math overflow"); }

struct Scaling {
    Arithmetic op;
    int left = 0;  // powers of ten that the sides are multiplied by first
    int right = 0;
};

/// The product of two columns whose values are all small; null where they are not.
template <typename T>
VectorPtr small_product(const VectorPtr& a, const VectorPtr& b, size_t rows, const TypePtr& type) {
    if constexpr (std::is_same_v<T, int64_t>) {
        if (a->is_constant() || b->is_constant()) return nullptr;
        Output<T> out(rows);
        if (multiply_narrow(a->values<T>(), b->values<T>(), rows, out.data())) return out.finish(type);
    }
    return nullptr;
}

template <typename T>
VectorPtr compute(const VectorPtr& a, const VectorPtr& b, size_t rows, const TypePtr& type, Scaling scaling) {
    const T left = number_cast<T>(wide_power_of_ten(scaling.left)),
            right = number_cast<T>(wide_power_of_ten(scaling.right));
    bool bad = false;
    VectorPtr result;
    const auto sum = [&](auto op) {
        if (scaling.left == 0 && scaling.right == 0)
            return map_binary<T, T, T>(a, b, rows, type, [&, op](const T& x, const T& y) {
                T out;
                bad |= op(x, y, out);
                return out;
            });
        return map_binary<T, T, T>(a, b, rows, type, [&, op](const T& x, const T& y) {
            T scaled_x, scaled_y, out;
            bad |= multiply_overflows<T>(x, left, scaled_x);
            bad |= multiply_overflows<T>(y, right, scaled_y);
            bad |= op(scaled_x, scaled_y, out);
            return out;
        });
    };
    switch (scaling.op) {
        case Arithmetic::Plus:
            result = sum([](const T& x, const T& y, T& out) { return add_overflows<T>(x, y, out); });
            break;
        case Arithmetic::Minus:
            result = sum([](const T& x, const T& y, T& out) { return subtract_overflows<T>(x, y, out); });
            break;
        case Arithmetic::Multiply:
            result = small_product<T>(a, b, rows, type);
            if (!result) result = sum([](const T& x, const T& y, T& out) { return multiply_overflows<T>(x, y, out); });
            break;
        default:
            result = map_binary<T, T, T>(a, b, rows, type, [&](const T& x, const T& y) -> T {
                if (y == T()) {
                    if (scaling.op == Arithmetic::IntDivOrZero || scaling.op == Arithmetic::ModuloOrZero) return T();
                    fail(ErrorCode::ILLEGAL_DIVISION, "Division by zero");
                }
                if (scaling.op == Arithmetic::Modulo || scaling.op == Arithmetic::ModuloOrZero ||
                    scaling.op == Arithmetic::PositiveModulo) {
                    T rest = static_cast<T>(x % y);
                    if (scaling.op == Arithmetic::PositiveModulo && rest < T())
                        rest = static_cast<T>(y < T() ? rest - y : rest + y);
                    return rest;
                }
                T scaled_x, scaled_y;
                bad |= multiply_overflows<T>(x, left, scaled_x);
                bad |= multiply_overflows<T>(y, right, scaled_y);
                if (scaled_y == T()) return T();
                if (y == number_cast<T>(int64_t{-1}) && scaled_x == number_min<T>()) bad = true;
                return bad ? T() : static_cast<T>(scaled_x / scaled_y);
            });
    }
    if (bad) fail_overflow();
    return result;
}

/// A constant side is scaled once, not for each row.
VectorPtr scaled_constant(const TypePtr& type, const VectorPtr& vector, int& power) {
    if (power == 0 || !vector->is_constant()) return vector;
    VectorPtr out;
    dispatch_fixed(type->physical(), [&]<typename T>() {
        if constexpr (kIsSigned<T> && !kIsFloat<T> && sizeof(T) >= 4) {
            T scaled;
            if (multiply_overflows<T>(vector->base()->values<T>()[0], number_cast<T>(wide_power_of_ten(power)), scaled))
                return;
            Output<T> value(1);
            value[0] = scaled;
            out = Vector::constant(value.finish(vector->type()), vector->size());
        }
    });
    if (!out) return vector;
    power = 0;
    return out;
}

VectorPtr compute_in(const TypePtr& type, const VectorPtr& a, const VectorPtr& b, size_t rows, Scaling scaling) {
    switch (type->physical()) {
        case Physical::Int32:
            return compute<int32_t>(a, b, rows, type, scaling);
        case Physical::Int64:
            return compute<int64_t>(a, b, rows, type, scaling);
        case Physical::Int128:
            return compute<Int128>(a, b, rows, type, scaling);
        default:
            return compute<Int256>(a, b, rows, type, scaling);
    }
}

int storage_digits(const TypePtr& type) {
    if (type->id() != TypeId::Decimal) return 9;
    return type->precision() <= 9 ? 9 : type->precision() <= 18 ? 18 : type->precision() <= 38 ? 38 : 76;
}

VectorPtr as_storage(const VectorPtr& vector, const TypePtr& type) {
    if (vector->type()->physical() == type->physical()) return vector;
    const VectorPtr flat = vector->is_constant() ? vector->base() : vector;
    const bool narrows = flat->type()->value_size() > type->value_size() ||
                         (is_unsigned_integer(flat->type()->id()) && flat->type()->value_size() == type->value_size());
    const VectorPtr converted =
        narrows ? convert_numbers_checked(type, flat, nullptr, CastErrors::Throw, ErrorCode::DECIMAL_OVERFLOW).vector
                : convert_numbers(type, flat);
    return vector->is_constant() ? Vector::constant(converted, vector->size()) : converted;
}

Overload with_float(const ArithmeticCall& call, const Argument& a, const Argument& b) {
    const TypePtr float64 = make_type(TypeId::Float64);
    const auto side = [&](const TypePtr& type) { return make_cast(type, float64, *call.context); };
    Overload overload = number_arithmetic(call, {float64, nullptr}, {float64, nullptr});
    return {overload.result,
            [kernel = overload.kernel, left = side(a.type), right = side(b.type)](const KernelArguments& arguments) {
                const VectorPtr vectors[] = {left(arguments[0]), right(arguments[1])};
                return kernel({vectors, {}, arguments.rows});
            }};
}

}  // namespace

Overload decimal_arithmetic(const ArithmeticCall& call, const Argument& first, const Argument& second) {
    const TypePtr &a = first.type, &b = second.type;
    const bool left_decimal = a->id() == TypeId::Decimal, right_decimal = b->id() == TypeId::Decimal;
    if (!left_decimal && !right_decimal) return {};
    if (is_float(a->id()) || is_float(b->id())) return with_float(call, first, second);
    const auto allowed = [](const TypePtr& type) {
        return type->id() == TypeId::Decimal || is_integer(type->id()) || type->id() == TypeId::Bool;
    };
    if (!allowed(a) || !allowed(b)) return {};
    const int digits = std::max(storage_digits(a), storage_digits(b));
    const int left = left_decimal ? a->scale() : 0, right = right_decimal ? b->scale() : 0;
    Scaling scaling{call.op, 0, 0};
    int scale = std::max(left, right);
    switch (call.op) {
        case Arithmetic::Plus:
        case Arithmetic::Minus:
            scaling.left = scale - left;
            scaling.right = scale - right;
            break;
        case Arithmetic::Multiply:
            scale = left + right;
            break;
        case Arithmetic::Divide:
            if (left_decimal && left < right)
                fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Decimal result's scale {} is less than its argument's {}", left,
                     right);
            scale = left_decimal ? left : right;
            scaling.left = left_decimal ? right : 2 * right;
            break;
        case Arithmetic::IntDiv:
        case Arithmetic::IntDivOrZero:
            scaling.left = std::max(0, right - left);
            scaling.right = std::max(0, left - right);
            break;
        default:
            break;
    }
    if (scale > digits)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Scale {} of the result of {} is out of bound: it has {} digits at most",
             scale, call.name, digits);
    const TypePtr type = make_decimal(digits, scale);
    const Arithmetic call_op = call.op;
    const bool whole = call.op == Arithmetic::IntDiv || call.op == Arithmetic::IntDivOrZero;
    const TypePtr result = whole ? integer_type(static_cast<int>(type->value_size()) * 8, true) : type;
    return {result, [=](const KernelArguments& arguments) {
                VectorPtr x = as_storage(arguments[0], type), y = as_storage(arguments[1], type);
                Scaling rest = scaling;
                if (call_op == Arithmetic::Plus || call_op == Arithmetic::Minus) {
                    x = scaled_constant(type, x, rest.left);
                    y = scaled_constant(type, y, rest.right);
                }
                const VectorPtr value = compute_in(type, x, y, arguments.rows, rest);
                return whole ? value->with_type(result) : value;
            }};
}

}  // namespace firn::functions
