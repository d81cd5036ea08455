// Divisions that give NULL for zero, decimal arithmetic to a wanted scale, roundDown, bar, consistent hashing.
#include <algorithm>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/array_rows.h"
#include "firn/functions/arrays/composed.h"
#include "firn/functions/cast.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/overflow.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"
#include "firn/types/value_text.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

/// name(a, b) where b is not 0, else NULL.
Overload resolve_or_null(ArgumentList arguments, const FunctionContext& context, const char* function) {
    const auto divide = bind_types(function, {arguments[0].type, arguments[1].type}, context);
    const auto is_zero = FunctionRegistry::instance().bind(
        "equals",
        {{arguments[1].type, nullptr}, {make_type(TypeId::UInt8), make_value<uint8_t>(make_type(TypeId::UInt8), 0)}},
        context);
    const TypePtr type = make_nullable(divide->result_type());
    return {type, [=](const KernelArguments& call) {
                const VectorPtr left = flatten(call[0]), right = flatten(call[1]);
                const VectorPtr zero = Vector::constant(make_value<uint8_t>(make_type(TypeId::UInt8), 0), call.rows);
                const VectorPtr zeros = call_bound(is_zero, {right, zero}, call.rows);
                std::vector<uint32_t> rest, place(call.rows, kNoRow);
                for (size_t i = 0; i < call.rows; ++i) {
                    if (zeros->values<uint8_t>()[i]) continue;
                    place[i] = static_cast<uint32_t>(rest.size());
                    rest.push_back(static_cast<uint32_t>(i));
                }
                if (rest.empty()) return flatten(Vector::defaults(type, call.rows));
                const VectorPtr quotients =
                    call_bound(divide, {flatten(gather(left, rest)), flatten(gather(right, rest))}, rest.size());
                return flatten(gather_or_default(retype(quotients, type), place));
            }};
}

/// a * b of decimals with the most digits there are, or DECIMAL_OVERFLOW.
Int256 decimal_product(const char* name, Int256 a, Int256 b) {
    const Int256& end = wide_power_of_ten(76);
    Int256 out;
    if (multiply_overflows<Int256>(a, b, out) || out >= end || out <= -end)
        fail(ErrorCode::DECIMAL_OVERFLOW, "Decimal math overflow in function {}", name);
    return out;
}

/// The product or quotient with `scale` decimal digits, the others cut off.
Overload resolve_decimal(ArgumentList arguments, const FunctionContext& context, bool divide) {
    const char* name = divide ? "divideDecimal" : "multiplyDecimal";
    constexpr int kPrecision = 76;
    for (size_t i = 0; i < 2; ++i)
        if (arguments[i].type->id() != TypeId::Decimal)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                 "The first two arguments of function {} have to be Decimal, not {}", name, arguments[i].type->name());
    const int left = arguments[0].type->scale(), right = arguments[1].type->scale();
    const int64_t scale = arguments.size() > 2 ? require_int(arguments[2], name, 2) : std::max(left, right);
    if (scale < 0 || scale > kPrecision)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The scale given to function {} has to be between 0 and {}", name,
             kPrecision);
    const TypePtr type = make_decimal(kPrecision, static_cast<int>(scale));
    auto widen_left = make_cast(arguments[0].type, make_decimal(kPrecision, left), context);
    auto widen_right = make_cast(arguments[1].type, make_decimal(kPrecision, right), context);
    // value * 10^-(result scale) = a * 10^-left (* or /) b * 10^-right
    const int shift = divide ? static_cast<int>(scale) - left + right : static_cast<int>(scale) - left - right;
    if (shift > kPrecision || shift < -kPrecision)
        fail(ErrorCode::DECIMAL_OVERFLOW, "Decimal math overflow in function {}", name);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr a = flatten(widen_left(call[0])), b = flatten(widen_right(call[1]));
                Output<Int256> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    Int256 x = a->values<Int256>()[i];
                    const Int256 y = b->values<Int256>()[i];
                    if (divide && y == Int256()) fail(ErrorCode::ILLEGAL_DIVISION, "Division by zero");
                    if (divide) {
                        if (shift > 0) x = decimal_product(name, x, wide_power_of_ten(shift));
                        x = x / y;
                        if (shift < 0) x = x / wide_power_of_ten(-shift);
                    } else {
                        x = decimal_product(name, x, y);
                        x = shift < 0 ? x / wide_power_of_ten(-shift)
                                      : decimal_product(name, x, wide_power_of_ten(shift));
                    }
                    out[i] = x;
                }
                return out.finish(type);
            }};
}

/// The greatest element that is not above the value; the least where all are.
Overload resolve_round_down(ArgumentList arguments, const FunctionContext& context) {
    const TypePtr pair[] = {arguments[0].type, element_type(arguments, 1, "roundDown")};
    for (const auto& each : pair)
        if (!is_number(each->id())) fail_argument("roundDown", *each, 0);
    if (!arguments[1].constant) fail(ErrorCode::ILLEGAL_COLUMN, "The array given to roundDown has to be constant");
    const TypePtr type = common_type(pair);
    auto cast_value = make_cast(pair[0], type, context), cast_elements = make_cast(pair[1], type, context);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr values = flatten(cast_value(call[0])), array = flatten(call[1]);
                const VectorPtr elements = flatten(cast_elements(array->child()));
                std::vector<uint32_t> rows(call.rows, kNoRow);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    uint32_t least = kNoRow;
                    for (uint32_t j = range.begin; j < range.end; ++j) {
                        if (least == kNoRow || compare_values(*elements, j, *elements, least) < 0) least = j;
                        if (compare_values(*elements, j, *values, i) <= 0 &&
                            (rows[i] == kNoRow || compare_values(*elements, j, *elements, rows[i]) > 0))
                            rows[i] = j;
                    }
                    if (rows[i] == kNoRow) rows[i] = least;
                }
                return flatten(gather_or_default(elements, rows));
            }};
}

/// A bar of Unicode blocks, `most` characters long for the value max.
Overload resolve_bar(ArgumentList arguments, const FunctionContext&) {
    constexpr double kDefaultWidth = 80, kMostWidth = 1000;
    for (size_t i = 0; i < arguments.size(); ++i)
        if (!is_number(arguments[i].type->id())) fail_argument("bar", *arguments[i].type, i);
    double width = kDefaultWidth;
    if (arguments.size() > 3) {
        const auto given = constant_float(arguments[3]);
        if (!given) fail(ErrorCode::ILLEGAL_COLUMN, "The width given to function bar has to be constant");
        width = *given;
    }
    if (!(width >= 1 && width <= kMostWidth))
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The width given to function bar has to be between 1 and {}",
             kMostWidth);
    const TypePtr type = make_type(TypeId::String);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr values = as_float64(call[0]), least = as_float64(call[1]), most = as_float64(call[2]);
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const double from = Reader<double>(least)[i], to = Reader<double>(most)[i];
                    const double value = Reader<double>(values)[i];
                    const double length = std::isnan(value) || to <= from || value < from
                                              ? 0
                                              : std::min(1.0, (value - from) / (to - from)) * width;
                    const auto eighths = static_cast<int64_t>(length * 8);
                    std::string text;
                    for (int64_t whole = 0; whole < eighths / 8; ++whole) text += "\u2588";
                    if (eighths % 8) {
                        text += "\xE2\x96";
                        text.push_back(static_cast<char>(0x90 - eighths % 8));
                    }
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

int64_t buckets_of(int64_t buckets, const char* name, int64_t most) {
    if (buckets <= 0 || buckets > most)
        fail(ErrorCode::BAD_ARGUMENTS, "The number of buckets given to function {} has to be between 1 and {}", name,
             most);
    return buckets;
}

/// "A Fast, Minimal Memory, Consistent Hash Algorithm", Lamping and Veach.
int32_t jump_bucket(uint64_t key, int64_t buckets) {
    int64_t bucket = -1, next = 0;
    while (next < buckets) {
        bucket = next;
        key = key * 2862933555777941757ULL + 1;
        next = static_cast<int64_t>(static_cast<double>(bucket + 1) *
                                    (static_cast<double>(int64_t{1} << 31) / static_cast<double>((key >> 33) + 1)));
    }
    return static_cast<int32_t>(bucket);
}
Overload resolve_jump(ArgumentList arguments, const FunctionContext&) {
    for (size_t i = 0; i < 2; ++i) require_integer(arguments, i, "jumpConsistentHash");
    const TypePtr type = make_type(TypeId::Int32);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr keys = as_int64(call[0]), buckets = as_int64(call[1]);
                return map_binary<int64_t, int64_t, int32_t>(
                    keys, buckets, call.rows, type, [](int64_t key, int64_t count) {
                        return jump_bucket(static_cast<uint64_t>(key),
                                           buckets_of(count, "jumpConsistentHash", INT32_MAX));
                    });
            }};
}

/// Exactly `digits` digits behind the point, cut off or filled up; doubles are rounded.
Overload resolve_decimal_string(ArgumentList arguments, const FunctionContext&) {
    constexpr int64_t kMostDigits = 77, kMostFloatDigits = 60;
    const TypePtr given = arguments[0].type, type = make_type(TypeId::String);
    if (!is_number(given->id())) fail_argument("toDecimalString", *given, 0);
    require_integer(arguments, 1, "toDecimalString");
    if (!arguments[1].constant || arguments[1].type->id() != TypeId::UInt8)
        fail(ErrorCode::ILLEGAL_COLUMN, "Argument 2 of function toDecimalString must be a constant UInt8, not {}",
             arguments[1].constant ? arguments[1].type->name() : "a column");
    return {type, [=](const KernelArguments& call) {
                const VectorPtr digits = as_int64(call[1]), values = flatten(call[0]);
                const bool floats = is_float(given->id());
                const VectorPtr doubles = floats ? as_float64(values) : nullptr;
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t wanted = Reader<int64_t>(digits)[i];
                    if (wanted > (floats ? kMostFloatDigits : kMostDigits))
                        fail(ErrorCode::CANNOT_PRINT_FLOAT_OR_DOUBLE_NUMBER,
                             "Too many fractional digits requested, shall not be more than {}",
                             floats ? kMostFloatDigits : kMostDigits);
                    std::string text;
                    if (floats) {
                        text = fmt::format("{:.{}f}", doubles->values<double>()[i], wanted);
                    } else {
                        append_value(text, *given, values->values_buffer()->data() + i * given->value_size(),
                                     TimeZone::utc());
                        size_t point = text.find('.');
                        if (point == std::string::npos) {
                            point = text.size();
                            text.push_back('.');
                        }
                        text.resize(point + 1 + static_cast<size_t>(wanted), '0');
                        if (wanted == 0) text.pop_back();
                    }
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

}  // namespace

void register_number_misc_functions(FunctionRegistry& registry) {
    struct OrNull {
        const char* name;
        const char* function;
        std::vector<std::string> aliases;
    };
    const OrNull divisions[] = {{"intDivOrNull", "intDiv", {}},
                                {"moduloOrNull", "modulo", {"modOrNull"}},
                                {"divideOrNull", "divide", {}},
                                {"positiveModuloOrNull", "positiveModulo", {"positive_modulo_or_null", "pmodOrNull"}}};
    for (const OrNull& division : divisions)
        declare(registry, {division.name, division.aliases}, 2, 2,
                [function = division.function](ArgumentList arguments, const FunctionContext& context) {
                    return resolve_or_null(arguments, context, function);
                });
    for (const bool divide : {false, true})
        declare(registry, {divide ? "divideDecimal" : "multiplyDecimal"}, 2, 3,
                [=](ArgumentList arguments, const FunctionContext& context) {
                    return resolve_decimal(arguments, context, divide);
                });
    declare(registry, {"roundDown"}, 2, 2, resolve_round_down);
    declare(registry, {"bar"}, 3, 4, resolve_bar);
    declare(registry, {"jumpConsistentHash"}, 2, 2, resolve_jump);
    declare(registry, {"toDecimalString"}, 2, 2, resolve_decimal_string);
}

}  // namespace firn::functions
