// and, or, xor, not: three-valued, over numbers.
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"

namespace firn::functions {

namespace {

/// Truth as a number, so that `and` is the least and `or` the greatest of its arguments.
enum Truth : uint8_t { kFalse = 0, kNull = 1, kTrue = 2 };

bool is_truth_type(TypeId id) {
    return id == TypeId::Bool || id == TypeId::Nothing || is_float(id) || (is_integer(id) && integer_bits(id) <= 64);
}

void check_types(std::span<const Argument> arguments, const char* name) {
    for (size_t i = 0; i < arguments.size(); ++i)
        if (!is_truth_type(unwrap(arguments[i].type)->id())) fail_argument(name, *arguments[i].type, i);
}

TypePtr result_type(std::span<const Argument> arguments) {
    bool all_bool = true, nullable = false;
    for (const auto& argument : arguments) {
        all_bool &= unwrap(argument.type)->id() == TypeId::Bool;
        nullable |= accepts_null(*argument.type);
    }
    const TypePtr type = make_type(all_bool ? TypeId::Bool : TypeId::UInt8);
    return nullable ? make_nullable(type) : type;
}

/// 0 or 1 a row, NULL aside.
void truth_of(const Vector& flat, size_t rows, uint8_t* out) {
    dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
        const T* values = flat.values<T>();
        for (size_t i = 0; i < rows; ++i) out[i] = !(values[i] == T{});
    });
}

template <bool kAnd>
VectorPtr combine(const KernelArguments& arguments, const TypePtr& type) {
    const size_t rows = arguments.rows;
    const bool nullable = accepts_null(*type);
    auto values = Buffer::allocate(rows);
    auto* out = values->mutable_as<uint8_t>();
    std::memset(out, kAnd ? kTrue : kFalse, rows);
    std::vector<uint8_t> truth(rows);
    for (const auto& argument : arguments.vectors) {
        const Vector& flat = argument->flat_base();
        const size_t given = argument->is_constant() ? 1 : rows;
        if (flat.type()->physical() == Physical::None)
            std::memset(truth.data(), 0, given);
        else
            truth_of(flat, given, truth.data());
        for (size_t i = 0; i < given; ++i) truth[i] = truth[i] ? kTrue : kFalse;
        if (flat.type()->physical() == Physical::None)
            std::memset(truth.data(), kNull, given);
        else if (const uint8_t* nulls = flat.nulls())
            for (size_t i = 0; i < given; ++i) truth[i] = nulls[i] ? static_cast<uint8_t>(kNull) : truth[i];
        if (argument->is_constant()) std::memset(truth.data(), truth[0], rows);
        const uint8_t* in = truth.data();
        for (size_t i = 0; i < rows; ++i)
            out[i] = kAnd ? (in[i] < out[i] ? in[i] : out[i]) : (in[i] > out[i] ? in[i] : out[i]);
    }
    BufferPtr nulls;
    if (nullable && std::memchr(out, kNull, rows)) {
        auto flags = Buffer::allocate(rows);
        for (size_t i = 0; i < rows; ++i) flags->mutable_as<uint8_t>()[i] = out[i] == kNull;
        nulls = std::move(flags);
    }
    for (size_t i = 0; i < rows; ++i) out[i] = out[i] == kTrue;
    return Vector::flat(type, rows, std::move(values), std::move(nulls));
}

template <bool kAnd>
Overload resolve_combine(std::span<const Argument> arguments, const FunctionContext&) {
    const char* name = kAnd ? "and" : "or";
    if (arguments.size() < 2)
        fail(ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION, "Function {} takes at least 2 arguments, {} were given", name,
             arguments.size());
    check_types(arguments, name);
    const TypePtr type = result_type(arguments);
    return {type, [type](const KernelArguments& given) { return combine<kAnd>(given, type); }};
}

Overload resolve_xor(std::span<const Argument> arguments, const FunctionContext&) {
    if (arguments.size() < 2)
        fail(ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION, "Function xor takes at least 2 arguments, {} were given",
             arguments.size());
    check_types(arguments, "xor");
    const TypePtr type = result_type(arguments);
    return {type, [type](const KernelArguments& given) {
                Output<uint8_t> out(given.rows);
                std::memset(out.data(), 0, given.rows);
                std::vector<uint8_t> truth(given.rows);
                for (const auto& argument : given.vectors) {
                    truth_of(argument->flat_base(), argument->is_constant() ? 1 : given.rows, truth.data());
                    for (size_t i = 0; i < given.rows; ++i) out[i] ^= truth[argument->is_constant() ? 0 : i];
                }
                return out.finish(type);
            }};
}

Overload resolve_not(std::span<const Argument> arguments, const FunctionContext&) {
    check_types(arguments, "not");
    const TypePtr type = result_type(arguments);
    return {type, [type](const KernelArguments& given) {
                Output<uint8_t> out(given.rows);
                truth_of(given[0]->flat_base(), given.rows, out.data());
                for (size_t i = 0; i < given.rows; ++i) out[i] ^= 1;
                return out.finish(type);
            }};
}

}  // namespace

void register_logical_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, NullHandling nulls, size_t count, auto resolve) {
        Definition definition;
        definition.name = name;
        definition.case_insensitive = true;
        definition.nulls = nulls;
        if (count) definition.min_arguments = definition.max_arguments = count;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("and", NullHandling::Custom, 0, resolve_combine<true>);
    add("or", NullHandling::Custom, 0, resolve_combine<false>);
    add("xor", NullHandling::Propagate, 0, resolve_xor);
    add("not", NullHandling::Propagate, 1, resolve_not);
}

}  // namespace firn::functions
