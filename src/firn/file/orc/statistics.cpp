#include "firn/file/orc/statistics.h"

#include <cmath>

#include "firn/vector/builder.h"

namespace firn::file::orc {
namespace {

// Writer versions of the Java writer from which statistics of a kind are right (ORC specification, PostScript).
constexpr uint32_t kStringsAreRight = 1;   // HIVE-8732
constexpr uint32_t kDecimalsAreRight = 7;  // ORC-517

VectorPtr number(const TypePtr& type, int64_t value) {
    VectorPtr made;
    dispatch_fixed(type->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T>) {
            if (value == static_cast<int64_t>(static_cast<T>(value))) made = make_value<T>(type, static_cast<T>(value));
        }
    });
    return made;
}

/// A decimal's text with exactly the digits of the type, or nothing.
std::optional<Int128> parse_decimal(std::string_view text, int scale) {
    constexpr size_t kMaxDigits = 38;
    const bool negative = !text.empty() && text[0] == '-';
    if (negative) text.remove_prefix(1);
    Int128 value = 0;
    size_t digits = 0;
    int fraction = -1;
    for (char c : text) {
        if (c == '.' && fraction < 0) {
            fraction = 0;
            continue;
        }
        if (c < '0' || c > '9' || ++digits > kMaxDigits) return std::nullopt;
        value = value * 10 + (c - '0');
        if (fraction >= 0) ++fraction;
    }
    const int missing = scale - std::max(fraction, 0);
    if (digits == 0 || missing < 0 || digits + static_cast<size_t>(missing) > kMaxDigits) return std::nullopt;
    value *= power_of_ten(missing);
    return negative ? -value : value;
}

VectorPtr decimal(const TypePtr& type, const std::optional<std::string>& text) {
    if (!text) return nullptr;
    const auto value = parse_decimal(*text, type->scale());
    if (!value || *value >= power_of_ten(type->precision()) || *value <= -power_of_ten(type->precision()))
        return nullptr;
    VectorPtr made;
    dispatch_fixed(type->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T> || std::is_same_v<T, Int128>)
            made = make_value<T>(type, static_cast<T>(*value));
    });
    return made;
}

/// A moment in milliseconds as ticks of the type; `above`: the last tick of that millisecond instead of the first.
/// Nothing where it does not fit.
VectorPtr timestamp(const TypePtr& type, std::optional<int64_t> millis, bool above) {
    if (!millis) return nullptr;
    constexpr int kMilliDigits = 3;
    const int digits = type->scale();
    if (digits < kMilliDigits) return nullptr;
    const Int128 factor = power_of_ten(digits - kMilliDigits);
    // Old writers rounded toward zero: a millisecond more on either side is safe.
    const Int128 ticks = above ? (Int128{*millis} + 2) * factor - 1 : (Int128{*millis} - 1) * factor;
    if (ticks != static_cast<int64_t>(ticks)) return nullptr;
    return make_value<int64_t>(type, static_cast<int64_t>(ticks));
}

void take_floats(const ColumnStatistics& from, const TypePtr& type, ValueStatistics& to) {
    if (!from.double_min || !from.double_max || std::isnan(*from.double_min) || std::isnan(*from.double_max)) return;
    // A column of only NaNs, and one with NaN first, can have any bounds: a zero pair of writers that start at zero, or
    // bounds that cross.
    if (*from.double_min > *from.double_max) return;
    const auto make = [&](double value) {
        return type->id() == TypeId::Float32 ? make_value<float>(type, static_cast<float>(value))
                                             : make_value<double>(type, value);
    };
    to.min = make(*from.double_min);
    to.max = make(*from.double_max);
}

/// `whole`: the writer is known to keep bounds whole, or to say that it shortened them.
void take_strings(const ColumnStatistics& from, const TypePtr& type, bool whole, ValueStatistics& to) {
    if (from.bytes_min) to.min = make_string_value(type, *from.bytes_min), to.min_exact = whole && from.min_exact;
    if (from.bytes_max) to.max = make_string_value(type, *from.bytes_max), to.max_exact = whole && from.max_exact;
}

}  // namespace

ValueStatistics to_value_statistics(const ColumnStatistics& from, const Tail& tail, const Type& type,
                                    const FileField& field, std::optional<uint64_t> rows) {
    ValueStatistics to;
    const TypePtr natural = unwrap(field.type);
    if (rows) {
        to.values = *rows;
        if (from.values && *from.values <= *rows &&
            from.has_null.value_or(*from.values != *rows) == (*from.values != *rows))
            to.null_count = *rows - *from.values;
    }
    if (from.values && *from.values == 0) return to;
    const bool java = tail.writer == 0;
    switch (type.kind) {
        case Kind::Byte:
        case Kind::Short:
        case Kind::Int:
        case Kind::Long:
        case Kind::Date:
            if (from.int_min) to.min = number(natural, *from.int_min), to.min_exact = to.min != nullptr;
            if (from.int_max) to.max = number(natural, *from.int_max), to.max_exact = to.max != nullptr;
            break;
        case Kind::Boolean:
            if (from.true_count && from.values && *from.true_count <= *from.values) {
                to.min = make_value<uint8_t>(natural, *from.true_count == *from.values ? 1 : 0);
                to.max = make_value<uint8_t>(natural, *from.true_count > 0 ? 1 : 0);
                to.min_exact = to.max_exact = true;
            }
            break;
        case Kind::Float:
        case Kind::Double:
            take_floats(from, natural, to);
            break;
        case Kind::String:
        case Kind::Varchar:
            if (!java || tail.writer_version >= kStringsAreRight) take_strings(from, natural, tail.writer <= 1, to);
            break;
        case Kind::Decimal:
            if (java && tail.writer_version < kDecimalsAreRight) break;
            to.min = decimal(natural, from.bytes_min);
            to.max = decimal(natural, from.bytes_max);
            to.min_exact = to.min != nullptr;
            to.max_exact = to.max != nullptr;
            break;
        case Kind::Timestamp:
        case Kind::TimestampInstant:
            to.min = timestamp(natural, from.millis_min, false);
            to.max = timestamp(natural, from.millis_max, true);
            break;
        default:
            break;
    }
    return to;
}

}  // namespace firn::file::orc
