// Integers, floats, Bool, enums and addresses, from and to each other.
#include <cmath>
#include <vector>

#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/types/number.h"

namespace firn::functions {

namespace {

using NumberLoop = void (*)(const char*, char*, size_t);

template <typename From, typename To>
void loop(const char* in, char* out, size_t rows) {
    const auto* from = reinterpret_cast<const From*>(in);
    auto* to = reinterpret_cast<To*>(out);
    for (size_t i = 0; i < rows; ++i) to[i] = number_cast<To>(from[i]);
}

NumberLoop find_loop(Physical from, Physical to) {
    NumberLoop found = nullptr;
    dispatch_fixed(from, [&]<typename From>() { dispatch_fixed(to, [&]<typename To>() { found = &loop<From, To>; }); });
    return found;
}

/// Non-finite floats have no integer; a number fits where the way there and back gives it again, with the same sign.
template <typename From>
void check_finite(const From* in, size_t rows, Failures& failures, const DataType& to) {
    for (size_t i = 0; i < rows; ++i)
        if (!std::isfinite(in[i]))
            failures.report(i, ErrorCode::CANNOT_CONVERT_TYPE, "Unexpected inf or nan in conversion to {}", to.name());
}

std::vector<uint8_t> negative_rows(const Vector& flat) {
    std::vector<uint8_t> out(flat.size());
    dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
        if constexpr (kIsSigned<T> || kIsFloat<T>)
            for (size_t i = 0; i < flat.size(); ++i) out[i] = flat.values<T>()[i] < T{};
    });
    return out;
}

void check_fits(const VectorPtr& before, const VectorPtr& after, Failures& failures, ErrorCode code) {
    const VectorPtr back = convert_numbers(before->type(), after);
    const std::vector<uint8_t> before_negative = negative_rows(*before), after_negative = negative_rows(*after);
    // 2^63 as a float comes back from an integer's edge as itself: a float that large is checked by its bounds.
    const bool to_integer = is_float(before->type()->id()) && !is_float(after->type()->id()),
               to_float = !is_float(before->type()->id()) && is_float(after->type()->id());
    const double bound =
        std::ldexp(1.0, static_cast<int>((to_float ? before : after)->type()->value_size() * 8) -
                            ((to_float ? before : after)->type()->physical() >= Physical::Int8 ? 1 : 0));
    dispatch_fixed(before->type()->physical(), [&]<typename T>() {
        const T* x = before->values<T>();
        const T* y = back->values<T>();
        for (size_t i = 0; i < before->size(); ++i) {
            bool fits = x[i] == y[i] && before_negative[i] == after_negative[i];
            if constexpr (kIsFloat<T>) {
                if (to_integer)
                    fits = fits && std::fabs(x[i]) <= bound && !(x[i] == bound);
                else
                    fits = fits || std::isnan(x[i]);
            } else if (to_float) {
                fits = fits && !(number_cast<double>(x[i]) >= bound);
            }
            if (!fits)
                failures.report(i, code, "A value of type {} cannot be converted to {} without loss",
                                before->type()->name(), after->type()->name());
        }
    });
}

}  // namespace

VectorPtr convert_numbers(const TypePtr& to, const VectorPtr& flat) {
    const size_t rows = flat->size();
    if (flat->type()->physical() == to->physical()) return flat->with_type(to);
    auto out = Buffer::allocate(rows * to->value_size());
    find_loop(flat->type()->physical(), to->physical())(flat->values_buffer()->data(), out->mutable_data(), rows);
    return Vector::flat(to, rows, std::move(out));
}

Converted convert_numbers_checked(const TypePtr& to, const VectorPtr& flat, const uint8_t* skip, CastErrors errors,
                                  ErrorCode code) {
    Failures failures(errors, flat->size(), skip);
    const VectorPtr out = convert_numbers(to, flat);
    check_fits(flat, out, failures, code);
    return {out, failures.flags()};
}

namespace {

Converted convert_plain(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, CastRule rule) {
    if (rule.accurate) return convert_numbers_checked(to, flat, skip, rule.errors, ErrorCode::CANNOT_CONVERT_TYPE);
    Failures failures(rule.errors, flat->size(), skip);
    if (is_float(flat->type()->id()) && !is_float(to->id())) {
        if (flat->type()->id() == TypeId::Float64)
            check_finite(flat->values<double>(), flat->size(), failures, *to);
        else
            check_finite(flat->values<float>(), flat->size(), failures, *to);
    }
    return {convert_numbers(to, flat), failures.flags()};
}

Converted convert_to_bool(const VectorPtr& flat, const TypePtr& to) {
    Output<uint8_t> out(flat->size());
    dispatch_fixed(flat->type()->physical(), [&]<typename From>() {
        const From* in = flat->values<From>();
        for (size_t i = 0; i < flat->size(); ++i) out[i] = !(in[i] == From{});
    });
    return {out.finish(to), nullptr};
}

bool is_enum(TypeId id) { return id == TypeId::Enum8 || id == TypeId::Enum16; }

Converted convert_to_enum(const VectorPtr& flat, const uint8_t* skip, const TypePtr& to, const Converter& numbers,
                          CastRule rule) {
    Converted converted = numbers(flat, skip);
    Failures failures(rule.errors, flat->size(), skip);
    for (size_t i = 0; i < flat->size(); ++i) {
        const int16_t value =
            to->id() == TypeId::Enum8 ? converted.vector->values<int8_t>()[i] : converted.vector->values<int16_t>()[i];
        bool known = false;
        for (const auto& element : to->enum_values()) known |= element.second == value;
        if (!known)
            failures.report(i, ErrorCode::UNKNOWN_ELEMENT_OF_ENUM, "Unexpected value {} in {}", value, to->name());
    }
    return {converted.vector, failures.flags()};
}

void check_enums(const DataType& from, const DataType& to) {
    for (const auto& [name, value] : from.enum_values())
        for (const auto& [other_name, other_value] : to.enum_values())
            if (name == other_name && value != other_value)
                fail(ErrorCode::CANNOT_CONVERT_TYPE, "Enum conversion changes the value of '{}' from {} to {}", name,
                     value, other_value);
}

Converted convert_addresses(const VectorPtr& flat, const TypePtr& to) {
    Output<UInt128> out(flat->size());
    const uint32_t* in = flat->values<uint32_t>();
    for (size_t i = 0; i < flat->size(); ++i) out[i] = (UInt128{0xffff} << 32) | in[i];
    return {out.finish(to), nullptr};
}

}  // namespace

namespace {

/// How many of the finer unit one is: nanoseconds, or months.
int64_t interval_size(IntervalKind kind) {
    constexpr int64_t kSizes[] = {
        1, 1000, 1000000, 1000000000, 60000000000, 3600000000000, 86400000000000, 604800000000000, 1, 3, 12};
    return kSizes[static_cast<size_t>(kind)];
}

Converter make_interval_converter(const TypePtr& from, const TypePtr& to) {
    if ((from->interval_kind() >= IntervalKind::Month) != (to->interval_kind() >= IntervalKind::Month))
        fail(ErrorCode::CANNOT_CONVERT_TYPE, "{} has no fixed length in units of {}", from->name(), to->name());
    const int64_t have = interval_size(from->interval_kind()), want = interval_size(to->interval_kind());
    return [=](const VectorPtr& flat, const uint8_t*) {
        return Converted{
            map_unary<int64_t, int64_t>(
                flat, flat->size(), to,
                [=](int64_t count) { return have >= want ? count * (have / want) : count / (want / have); }),
            nullptr};
    };
}

}  // namespace

Converter make_number_converter(const TypePtr& from, const TypePtr& to, CastRule rule) {
    const auto number_like = [](TypeId id) {
        return is_integer(id) || is_float(id) || id == TypeId::Bool || is_enum(id) || id == TypeId::Interval ||
               id == TypeId::Time || id == TypeId::Time64;
    };
    if (from->id() == TypeId::IPv4 && to->id() == TypeId::IPv6)
        return [to](const VectorPtr& flat, const uint8_t*) { return convert_addresses(flat, to); };
    if (from->id() == TypeId::Interval && to->id() == TypeId::Interval) return make_interval_converter(from, to);
    const bool from_address = from->id() == TypeId::IPv4 || from->id() == TypeId::IPv6 || from->id() == TypeId::UUID;
    const bool to_address = to->id() == TypeId::IPv4 || to->id() == TypeId::IPv6;
    const bool allowed = (number_like(from->id()) && (number_like(to->id()) || to->id() == TypeId::IPv4)) ||
                         (from_address && is_integer(to->id()) && from->physical() <= to->physical()) ||
                         (to_address && from->physical() == to->physical());
    if (!allowed) return {};
    if (to->id() == TypeId::Bool && from->id() != TypeId::Bool && !rule.accurate)
        return [to](const VectorPtr& flat, const uint8_t*) { return convert_to_bool(flat, to); };
    Converter numbers = [to, rule](const VectorPtr& flat, const uint8_t* skip) {
        return convert_plain(flat, skip, to, rule);
    };
    if (!is_enum(to->id())) return numbers;
    if (is_enum(from->id())) check_enums(*from, *to);
    return [to, rule, numbers](const VectorPtr& flat, const uint8_t* skip) {
        return convert_to_enum(flat, skip, to, numbers, rule);
    };
}

}  // namespace firn::functions
