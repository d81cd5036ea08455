// Values of a file's natural type as values of the wanted one: NULLs allowed or not, and Iceberg's promotions.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "firn/base/error.h"
#include "firn/file/data_file.h"

namespace firn::file {
namespace {

constexpr int64_t kSecondsOfDay = 86400;
constexpr int kMicroDigits = 6;

template <typename From, typename To, typename F>
BufferPtr map_values(const Vector& vector, F&& f) {
    auto out = Buffer::allocate(vector.size() * sizeof(To));
    const From* from = vector.values<From>();
    To* to = out->template mutable_as<To>();
    for (size_t i = 0; i < vector.size(); ++i) to[i] = f(from[i]);
    return out;
}

int64_t checked_ticks(Int128 ticks, std::string_view where, const DataType& to) {
    if (ticks != static_cast<int64_t>(ticks))
        fail(ErrorCode::VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE, "{}: a value does not fit into {}", where, to.name());
    return static_cast<int64_t>(ticks);
}

/// One conversion of flat values; `from` and `to` are without Nullable.
class Promotion {
public:
    Promotion(const DataType& from, const DataType& to, std::string_view where) : from_(from), to_(to), where_(where) {}

    /// The values buffer of the result; null where values stay as they are.
    BufferPtr run(const Vector& flat) const {
        const TypeId from = from_.id(), to = to_.id();
        if (is_integer(from) && is_signed_integer(to)) return integers(flat);
        if (from == TypeId::Float32 && to == TypeId::Float64)
            return map_values<float, double>(flat, [](float value) { return static_cast<double>(value); });
        if (from == TypeId::Decimal && to == TypeId::Decimal) return decimals(flat);
        if (to == TypeId::DateTime64) {
            if (from == TypeId::Date32) return days<int32_t>(flat);
            if (from == TypeId::Date) return days<uint16_t>(flat);
            if (from == TypeId::DateTime64) return ticks(flat);
        }
        if (const int digits = time_digits(); digits >= 0)
            return ticks_between(flat, digits, to == TypeId::Time64 ? to_.scale() : kMicroDigits);
        if (from == TypeId::Date && to == TypeId::Date32)
            return map_values<uint16_t, int32_t>(flat, [](uint16_t value) { return static_cast<int32_t>(value); });
        if (is_string_like(from)) return strings(flat);
        refuse();
    }

private:
    [[noreturn]] void refuse() const {
        fail(ErrorCode::INCORRECT_DATA, "{}: values of type {} cannot be read as {}", where_, from_.name(), to_.name());
    }

    BufferPtr integers(const Vector& flat) const {
        const int from_bits = integer_bits(from_.id()), to_bits = integer_bits(to_.id());
        if (is_signed_integer(from_.id()) ? to_bits < from_bits : to_bits <= from_bits) refuse();
        BufferPtr out;
        dispatch_fixed(from_.physical(), [&]<typename From>() {
            dispatch_fixed(to_.physical(), [&]<typename To>() {
                if constexpr ((std::is_integral_v<From> || std::is_same_v<From, Int128>)&&(
                                  std::is_integral_v<To> || std::is_same_v<To, Int128>)&&sizeof(From) <= sizeof(To))
                    out = map_values<From, To>(flat, [](From value) { return static_cast<To>(value); });
            });
        });
        if (!out) refuse();
        return out;
    }

    BufferPtr decimals(const Vector& flat) const {
        if (to_.scale() != from_.scale() || to_.precision() < from_.precision()) refuse();
        if (to_.physical() == from_.physical()) return nullptr;
        BufferPtr out;
        const auto widen = [&]<typename From>() {
            switch (to_.physical()) {
                case Physical::Int64:
                    out = map_values<From, int64_t>(flat, [](From v) { return static_cast<int64_t>(v); });
                    break;
                case Physical::Int128:
                    out = map_values<From, Int128>(flat, [](From v) { return Int128{v}; });
                    break;
                case Physical::Int256:
                    out = map_values<From, Int256>(flat, [](From v) { return Int256(Int128{v}); });
                    break;
                default:
                    refuse();
            }
        };
        switch (from_.physical()) {
            case Physical::Int32:
                widen.template operator()<int32_t>();
                break;
            case Physical::Int64:
                widen.template operator()<int64_t>();
                break;
            case Physical::Int128:
                widen.template operator()<Int128>();
                break;
            default:
                refuse();
        }
        return out;
    }

    template <typename From>
    BufferPtr days(const Vector& flat) const {
        const Int128 factor = kSecondsOfDay * power_of_ten(to_.scale());
        return map_values<From, int64_t>(flat, [&](From day) { return checked_ticks(day * factor, where_, to_); });
    }

    BufferPtr ticks(const Vector& flat) const { return ticks_between(flat, from_.scale(), to_.scale()); }

    /// Digits of a time of day, which Iceberg has in microseconds and file formats show as a DateTime64 of 1970 or as
    /// a number; -1 where the two types are none.
    int time_digits() const {
        const TypeId from = from_.id(), to = to_.id();
        if (to != TypeId::Time64 && !(to == TypeId::Int64 && from == TypeId::DateTime64)) return -1;
        if (from == TypeId::DateTime64) return from_.scale();
        return from == TypeId::Int64 ? kMicroDigits : -1;
    }

    BufferPtr ticks_between(const Vector& flat, int from_digits, int to_digits) const {
        const int more = to_digits - from_digits;
        if (more == 0) return nullptr;
        const Int128 factor = power_of_ten(std::abs(more));
        if (more > 0)
            return map_values<int64_t, int64_t>(flat,
                                                [&](int64_t v) { return checked_ticks(v * factor, where_, to_); });
        const auto divisor = static_cast<int64_t>(factor);
        return map_values<int64_t, int64_t>(flat, [&](int64_t v) {
            const int64_t quotient = v / divisor;
            return v % divisor < 0 ? quotient - 1 : quotient;  // towards the past
        });
    }

    BufferPtr strings(const Vector& flat) const {
        const StringRef* values = flat.values<StringRef>();
        const size_t size = to_.id() == TypeId::UUID ? sizeof(UInt128) : to_.length();
        if (to_.id() == TypeId::UUID || to_.id() == TypeId::FixedString)
            for (size_t i = 0; i < flat.size(); ++i)
                if (values[i].size != size && !(flat.nulls() && flat.nulls()[i]))
                    fail(ErrorCode::INCORRECT_DATA, "{}: a value has {} bytes instead of {}", where_, values[i].size,
                         size);
        if (to_.id() == TypeId::String || to_.id() == TypeId::FixedString) return nullptr;
        if (to_.id() != TypeId::UUID) refuse();
        return map_values<StringRef, UInt128>(flat, [](const StringRef& value) {
            UInt128 uuid = 0;
            for (size_t i = 0; i < std::min<size_t>(value.size, sizeof uuid); ++i)
                uuid = uuid << 8 | static_cast<uint8_t>(value.data[i]);
            return uuid;
        });
    }

    const DataType& from_;
    const DataType& to_;
    std::string_view where_;
};

/// Whether a row (not only an entry that no row uses) is NULL.
bool has_null(const Vector& vector) {
    const uint8_t* nulls = vector.flat_base().nulls();
    if (!nulls) return false;
    const size_t entries = vector.flat_base().size();
    if (vector.encoding() != Encoding::Dictionary)
        return vector.size() > 0 && std::find(nulls, nulls + entries, uint8_t{1}) != nulls + entries;
    return std::any_of(vector.codes(), vector.codes() + vector.size(), [&](uint32_t code) { return nulls[code] != 0; });
}

VectorPtr promote_flat(const VectorPtr& flat, const TypePtr& wanted, std::string_view where) {
    const TypePtr from = unwrap(flat->type()), to = unwrap(wanted);
    if (same_type(from, to)) return flat->with_type(wanted);
    if (from->id() == TypeId::Nothing) return flatten(Vector::defaults(wanted, flat->size()));
    BufferPtr values = Promotion(*from, *to, where).run(*flat);
    if (!values) return flat->with_type(wanted);
    return Vector::flat(wanted, flat->size(), std::move(values),
                        accepts_null(*wanted) ? flat->nulls_buffer() : nullptr);
}

}  // namespace

VectorPtr promote(const VectorPtr& vector, const TypePtr& wanted, std::string_view where) {
    if (same_type(vector->type(), wanted)) return vector;
    if (!accepts_null(*wanted) && has_null(*vector))
        fail(ErrorCode::INCORRECT_DATA, "{}: it holds a NULL although it is of type {}", where, wanted->name());
    switch (vector->encoding()) {
        case Encoding::Flat:
            return promote_flat(vector, wanted, where);
        case Encoding::Constant:
            return Vector::constant(promote_flat(vector->base(), wanted, where), vector->size());
        case Encoding::Dictionary:
            return Vector::dictionary(promote_flat(vector->base(), wanted, where), vector->size(),
                                      vector->values_buffer());
        case Encoding::RunLength:
            return Vector::run_length(promote_flat(vector->base(), wanted, where), vector->size(),
                                      vector->values_buffer());
    }
    return vector;
}

}  // namespace firn::file
