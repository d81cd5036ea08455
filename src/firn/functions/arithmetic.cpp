// plus, minus, multiply, divide and their kin; negate, abs.
#include "firn/functions/arithmetic.h"

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

/// (1, 2) + (3, 4): element by element.
Overload tuple_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b) {
    if (a.type->id() != TypeId::Tuple) return {};
    const bool both = b.type->id() == TypeId::Tuple;
    if (both ? a.type->children().size() != b.type->children().size() || call.op == Arithmetic::Multiply ||
                   call.op == Arithmetic::Divide
             : !is_number(b.type->id()) || call.op == Arithmetic::Plus || call.op == Arithmetic::Minus)
        return {};
    std::vector<std::shared_ptr<const BoundFunction>> steps;
    std::vector<TypePtr> types;
    for (size_t i = 0; i < a.type->children().size(); ++i) {
        steps.push_back(FunctionRegistry::instance().bind(
            call.name, {{a.type->child(i), nullptr}, {both ? b.type->child(i) : b.type, nullptr}}, *call.context));
        types.push_back(steps.back()->result_type());
    }
    const TypePtr type = make_tuple_type(types);
    return {type, [=](const KernelArguments& arguments) {
                const VectorPtr x = flatten(arguments[0]), y = both ? flatten(arguments[1]) : arguments[1];
                std::vector<VectorPtr> out;
                for (size_t i = 0; i < steps.size(); ++i) {
                    const VectorPtr vectors[] = {x->child(i), both ? y->child(i) : y};
                    out.push_back(flatten(steps[i]->execute(vectors, arguments.rows)));
                }
                return Vector::tuple(type, arguments.rows, std::move(out));
            }};
}

Overload array_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b) {
    if (a.type->id() != TypeId::Array || b.type->id() != TypeId::Array ||
        (call.op != Arithmetic::Plus && call.op != Arithmetic::Minus))
        return {};
    const auto step = FunctionRegistry::instance().bind(
        call.name, {{a.type->child(), nullptr}, {b.type->child(), nullptr}}, *call.context);
    const TypePtr type = make_array(step->result_type());
    return {type, [=](const KernelArguments& arguments) {
                const VectorPtr x = flatten(arguments[0]), y = flatten(arguments[1]);
                const size_t rows = arguments.rows;
                std::vector<uint32_t> left, right;
                auto offsets = Buffer::allocate((rows + 1) * sizeof(int64_t));
                auto* ends = offsets->mutable_as<int64_t>();
                ends[0] = 0;
                for (size_t i = 0; i < rows; ++i) {
                    const int64_t size = x->offsets()[i + 1] - x->offsets()[i];
                    if (size != y->offsets()[i + 1] - y->offsets()[i])
                        fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH, "Arrays of different sizes cannot be added");
                    for (int64_t j = 0; j < size; ++j) {
                        left.push_back(static_cast<uint32_t>(x->offsets()[i] + j));
                        right.push_back(static_cast<uint32_t>(y->offsets()[i] + j));
                    }
                    ends[i + 1] = ends[i] + size;
                }
                const VectorPtr vectors[] = {gather(x->child(), left), gather(y->child(), right)};
                return Vector::array(type, rows, std::move(offsets), flatten(step->execute(vectors, left.size())));
            }};
}

Overload resolve_negate(std::span<const Argument> arguments, const FunctionContext&) {
    const TypePtr given = arguments[0].type;
    TypePtr type = given;
    if (given->id() == TypeId::Bool || is_unsigned_integer(given->id())) {
        const int bits = static_cast<int>(given->value_size()) * 8;
        type = integer_type(bits < 64 ? bits * 2 : bits, true);
    } else if (!is_number(given->id()) && given->id() != TypeId::Interval) {
        fail_argument("negate", *given, 0);
    }
    return {type, [type](const KernelArguments& call) {
                const VectorPtr in = flatten(call[0]);
                const VectorPtr wide = in->type()->physical() == type->physical() ? in : convert_numbers(type, in);
                VectorPtr out;
                dispatch_fixed(type->physical(), [&]<typename T>() {
                    if constexpr (kIsFloat<T>)
                        out = map_unary<T, T>(wide, call.rows, type, [](const T& x) { return -x; });
                    else if constexpr (std::is_integral_v<T>)
                        out = map_unary<T, T>(wide, call.rows, type, [](const T& x) {
                            return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
                        });
                    else
                        out = map_unary<T, T>(wide, call.rows, type, [](const T& x) { return T() - x; });
                });
                return out;
            }};
}

Overload resolve_abs(std::span<const Argument> arguments, const FunctionContext&) {
    const TypePtr given = arguments[0].type;
    TypePtr type = given->id() == TypeId::Bool ? make_type(TypeId::UInt8) : given;
    if (is_signed_integer(given->id()))
        type = integer_type(integer_bits(given->id()), false);
    else if (!is_number(given->id()))
        fail_argument("abs", *given, 0);
    return {type, [type](const KernelArguments& call) {
                const VectorPtr in = flatten(call[0]);
                VectorPtr out;
                dispatch_fixed(in->type()->physical(), [&]<typename T>() {
                    if constexpr (kIsFloat<T>)
                        out = map_unary<T, T>(in, call.rows, type, [](const T& x) { return std::fabs(x); });
                    else if constexpr (std::is_integral_v<T>)
                        out = map_unary<T, T>(in, call.rows, type, [](const T& x) {
                            return x < 0 ? static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
                        });
                    else
                        out = map_unary<T, T>(in, call.rows, type, [](const T& x) { return x < T() ? T() - x : x; });
                });
                return out->with_type(type);
            }};
}

/// Adding a constant keeps order where the type cannot wrap around in between: wide enough results only.
Monotonic sum_monotonic(std::span<const Argument> arguments, size_t which, bool minus) {
    const Argument& other = arguments[1 - which];
    const TypePtr type = unwrap(arguments[which].type), constant = unwrap(other.type);
    if (!other.constant || other.constant->is_null(0)) return Monotonic::No;
    const auto small = [](const TypePtr& t) {
        return is_float(t->id()) || ((is_integer(t->id()) && integer_bits(t->id()) <= 32));
    };
    if (!small(type) || !small(constant)) return Monotonic::No;
    return minus && which == 1 ? Monotonic::Decreasing : Monotonic::Increasing;
}

/// A signed integer of at most 64 bits.
std::optional<int64_t> signed_value(const Vector& vector) {
    const Vector& flat = vector.flat_base();
    const size_t row = vector.base_row(0);
    std::optional<int64_t> out;
    if (vector.is_null(0)) return out;
    dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T> && (std::is_signed_v<T> || sizeof(T) <= 4) && sizeof(T) <= 8)
            out = flat.values<T>()[row];
    });
    return out;
}

/// 64-bit sums too, where neither end wraps around.
Monotonic sum_monotonic_between(std::span<const Argument> arguments, size_t which, bool minus, const Vector& low,
                                const Vector& high) {
    if (const Monotonic always = sum_monotonic(arguments, which, minus); always != Monotonic::No) return always;
    const Argument& other = arguments[1 - which];
    if (unwrap(arguments[which].type)->id() != TypeId::Int64 || !is_integer(unwrap(other.type)->id()) ||
        !other.constant)
        return Monotonic::No;
    const auto least = signed_value(low), most = signed_value(high), constant = signed_value(*other.constant);
    if (!least || !most || !constant) return Monotonic::No;
    const bool falling = minus && which == 1;
    for (const int64_t end : {*least, *most}) {
        int64_t sum;
        const bool wraps = !minus ? __builtin_add_overflow(end, *constant, &sum)
                                  : (falling ? __builtin_sub_overflow(*constant, end, &sum)
                                             : __builtin_sub_overflow(end, *constant, &sum));
        if (wraps) return Monotonic::No;
    }
    return falling ? Monotonic::Decreasing : Monotonic::Increasing;
}

/// The least integer of a type has no negative of its own.
Monotonic negate_monotonic_between(std::span<const Argument> arguments, const Vector& low) {
    const TypePtr type = unwrap(arguments[0].type);
    if (is_float(type->id()) || type->id() == TypeId::Decimal) return Monotonic::Decreasing;
    const auto least = signed_value(low);
    if ((type->id() == TypeId::Int32 && least && *least > INT32_MIN) ||
        (type->id() == TypeId::Int64 && least && *least > INT64_MIN))
        return Monotonic::Decreasing;
    return Monotonic::No;
}

}  // namespace

Overload resolve_arithmetic(const ArithmeticCall& call, const Argument& a, const Argument& b) {
    for (const auto part : {number_arithmetic, decimal_arithmetic, time_arithmetic, tuple_arithmetic, array_arithmetic})
        if (Overload overload = part(call, a, b); overload.kernel) return overload;
    if (call.op == Arithmetic::Multiply && b.type->id() == TypeId::Tuple && a.type->id() != TypeId::Tuple)
        if (Overload overload = tuple_arithmetic(call, b, a); overload.kernel)
            return {overload.result, [kernel = overload.kernel](const KernelArguments& arguments) {
                        const VectorPtr vectors[] = {arguments[1], arguments[0]};
                        return kernel({vectors, {}, arguments.rows});
                    }};
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal types {} and {} of arguments of function {}", a.type->name(),
         b.type->name(), call.name);
}

void register_arithmetic_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, Arithmetic op, std::vector<std::string> aliases = {},
                         bool any_case = false) {
        Definition definition;
        definition.name = name;
        definition.aliases = std::move(aliases);
        definition.case_insensitive = any_case;
        definition.min_arguments = definition.max_arguments = 2;
        definition.resolve = [op, name](std::span<const Argument> arguments, const FunctionContext& context) {
            return resolve_arithmetic({op, name, &context}, arguments[0], arguments[1]);
        };
        if (op == Arithmetic::Plus || op == Arithmetic::Minus) {
            const bool minus = op == Arithmetic::Minus;
            definition.monotonic = [minus](std::span<const Argument> arguments, size_t which) {
                return sum_monotonic(arguments, which, minus);
            };
            definition.monotonic_between = [minus](std::span<const Argument> arguments, size_t which, const Vector& low,
                                                   const Vector& high) {
                return sum_monotonic_between(arguments, which, minus, low, high);
            };
        }
        registry.add(std::move(definition));
    };
    add("plus", Arithmetic::Plus);
    add("minus", Arithmetic::Minus);
    add("multiply", Arithmetic::Multiply);
    add("divide", Arithmetic::Divide);
    add("intDiv", Arithmetic::IntDiv);
    add("intDivOrZero", Arithmetic::IntDivOrZero);
    add("modulo", Arithmetic::Modulo, {"mod"}, true);
    add("moduloOrZero", Arithmetic::ModuloOrZero);
    add("positiveModulo", Arithmetic::PositiveModulo, {"positive_modulo", "pmod"}, true);
    const auto add_unary = [&](const char* name, auto resolve, bool any_case) {
        Definition definition;
        definition.name = name;
        definition.case_insensitive = any_case;
        definition.min_arguments = definition.max_arguments = 1;
        definition.resolve = resolve;
        if (definition.name == "negate")
            definition.monotonic_between = [](std::span<const Argument> arguments, size_t, const Vector& low,
                                              const Vector&) { return negate_monotonic_between(arguments, low); };
        registry.add(std::move(definition));
    };
    add_unary("negate", resolve_negate, false);
    add_unary("abs", resolve_abs, true);
}

}  // namespace firn::functions
