// Lists of an integer's bits, tests of several, byteSwap; widthBucket.
#include <algorithm>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

void declare_test_many(FunctionRegistry& registry, const char* name, bool all) {
    declare(registry, {name}, 1, SIZE_MAX, [=](ArgumentList arguments, const FunctionContext&) {
        if (arguments.size() < 2)
            fail(ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION, "Function {} takes two arguments at least", name);
        for (size_t i = 0; i < arguments.size(); ++i) require_integer(arguments, i, name);
        const int width = arguments[0].type->id() == TypeId::Bool ? 8 : integer_bits(arguments[0].type->id());
        const TypePtr type = make_type(TypeId::UInt8);
        return Overload{type, [=](const KernelArguments& call) {
                            std::vector<VectorPtr> numbers;
                            for (const auto& vector : call.vectors) numbers.push_back(as_int64(vector));
                            std::vector<Reader<int64_t>> readers;
                            for (const auto& number : numbers) readers.emplace_back(number);
                            Output<uint8_t> out(call.rows);
                            for (size_t i = 0; i < call.rows; ++i) {
                                uint64_t mask = 0;
                                for (size_t k = 1; k < readers.size(); ++k) {
                                    if (readers[k][i] < 0 || readers[k][i] >= std::min(width, 64))
                                        fail(ErrorCode::PARAMETER_OUT_OF_BOUND,
                                             "There is no bit {} in a number of {} bits", readers[k][i], width);
                                    mask |= uint64_t{1} << readers[k][i];
                                }
                                const uint64_t found = static_cast<uint64_t>(readers[0][i]) & mask;
                                out[i] = all ? found == mask : found != 0;
                            }
                            return out.finish(type);
                        }};
    });
}

Overload resolve_byte_swap(ArgumentList arguments, const FunctionContext&) {
    const TypePtr type = arguments[0].type;
    if (!is_integer(type->id())) fail_argument("byteSwap", *type, 0);
    Overload overload{type, {}};
    dispatch_fixed(type->physical(), [&]<typename T>() {
        overload.kernel = [type](const KernelArguments& call) {
            return map_unary<T, T>(call[0], call.rows, type, [](const T& x) {
                char bytes[sizeof(T)];
                std::memcpy(bytes, &x, sizeof(T));
                std::reverse(bytes, bytes + sizeof(T));
                T out;
                std::memcpy(&out, bytes, sizeof(T));
                return out;
            });
        };
    });
    return overload;
}

/// The powers of two that a number is the sum of, or the places of its bits.
void declare_bit_list(FunctionRegistry& registry, const char* name, bool places) {
    declare(registry, {name}, 1, 1, [=](ArgumentList arguments, const FunctionContext&) {
        const TypePtr given = arguments[0].type;
        if (!is_integer(given->id()) || integer_bits(given->id()) > 64) fail_argument(name, *given, 0);
        const TypePtr element = places ? make_type(TypeId::UInt64) : given, type = make_array(element);
        const int width = integer_bits(given->id());
        return Overload{type, [=](const KernelArguments& call) {
                            const VectorPtr numbers = as_int64(call[0]);
                            const Reader<int64_t> number(numbers);
                            VectorBuilder builder(type);
                            for (size_t i = 0; i < call.rows; ++i) {
                                for (int k = 0; k < width; ++k) {
                                    if (!((static_cast<uint64_t>(number[i]) >> k) & 1)) continue;
                                    dispatch_fixed(element->physical(), [&]<typename T>() {
                                        if constexpr (sizeof(T) <= 8 && !kIsFloat<T>)
                                            builder.element().append<T>(
                                                static_cast<T>(places ? static_cast<uint64_t>(k) : uint64_t{1} << k));
                                    });
                                }
                                builder.end_array();
                            }
                            return builder.finish();
                        }};
    });
}

Overload resolve_bit_list_text(ArgumentList arguments, const FunctionContext& context) {
    const auto list = FunctionRegistry::instance().bind("bitmaskToArray", {{arguments[0].type, nullptr}}, context);
    const auto join = FunctionRegistry::instance().bind(
        "arrayStringConcat",
        {{list->result_type(), nullptr},
         {make_type(TypeId::String), make_string_value(make_type(TypeId::String), ",")}},
        context);
    return {make_type(TypeId::String), [=](const KernelArguments& call) {
                const VectorPtr vectors[] = {
                    list->execute(call.vectors, call.rows),
                    Vector::constant(make_string_value(make_type(TypeId::String), ","), call.rows)};
                return join->execute(vectors, call.rows);
            }};
}

uint64_t width_bucket(double x, double low, double high, uint64_t count) {
    if (std::isnan(x) || std::isnan(low) || std::isnan(high))
        fail(ErrorCode::BAD_ARGUMENTS, "The first three arguments of function widthBucket must not be NaN");
    if (std::isinf(low) || std::isinf(high))
        fail(ErrorCode::BAD_ARGUMENTS, "The bounds of function widthBucket must be finite");
    if (count == 0) fail(ErrorCode::BAD_ARGUMENTS, "The number of buckets of function widthBucket must not be 0");
    if (low >= high || x < low) return 0;
    if (x >= high) return count + 1;
    return static_cast<uint64_t>((x - low) * (static_cast<double>(count) / (high - low))) + 1;
}

Overload resolve_width_bucket(ArgumentList arguments, const FunctionContext&) {
    for (size_t i = 0; i < 3; ++i)
        if (!is_number(arguments[i].type->id())) fail_argument("widthBucket", *arguments[i].type, i);
    const TypeId id = arguments[3].type->id();
    if (!is_unsigned_integer(id) || integer_bits(id) > 64) fail_argument("widthBucket", *arguments[3].type, 3);
    const TypePtr type = integer_type(std::min(64, integer_bits(id) * 2), false);
    return {type, [type](const KernelArguments& call) {
                const VectorPtr xs = as_float64(call[0]), lows = as_float64(call[1]), highs = as_float64(call[2]),
                                counts = as_int64(call[3]);
                const Reader<double> x(xs), low(lows), high(highs);
                const Reader<int64_t> count(counts);
                Output<uint64_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i)
                    out[i] = width_bucket(x[i], low[i], high[i], static_cast<uint64_t>(count[i]));
                return cast_vector(out.finish(make_type(TypeId::UInt64)), type);
            }};
}

}  // namespace

void register_bit_list_functions(FunctionRegistry& registry) {
    declare_test_many(registry, "bitTestAll", true);
    declare_test_many(registry, "bitTestAny", false);
    declare(registry, {"byteSwap", {}, true}, 1, 1, resolve_byte_swap);
    declare_bit_list(registry, "bitmaskToArray", false);
    declare_bit_list(registry, "bitPositionsToArray", true);
    declare(registry, {"bitmaskToList"}, 1, 1, resolve_bit_list_text);
    declare(registry, {"widthBucket", {"WIDTH_BUCKET"}, true}, 4, 4, resolve_width_bucket);
}

}  // namespace firn::functions
