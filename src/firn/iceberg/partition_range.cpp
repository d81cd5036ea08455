// From partition values back to what they say of the source column.
#include <limits>

#include "firn/iceberg/predicate.h"

namespace firn::iceberg {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kSecondsPerHour = 3600;
constexpr int64_t kSecondsPerDay = 86400;
constexpr int64_t kMonthsPerYear = 12;
constexpr int64_t kEpochYear = 1970;

int64_t clamp(__int128 value, int64_t least, int64_t greatest) {
    if (value < least) return least;
    if (value > greatest) return greatest;
    return static_cast<int64_t>(value);
}

bool is_nanoseconds(TypeKind kind) { return kind == TypeKind::TimestampNs || kind == TypeKind::TimestampTzNs; }

/// The first source value of the partition value `at` of a time transform; for at + 1 that minus one is the last.
__int128 time_start(TransformKind transform, int64_t at, TypeKind source) {
    __int128 days = 0;
    __int128 seconds = 0;
    switch (transform) {
        case TransformKind::Year:
            days = days_from_civil(kEpochYear + at, 1, 1);
            break;
        case TransformKind::Month:
            days = days_from_civil(kEpochYear + floor_div(at, kMonthsPerYear),
                                   static_cast<int32_t>(at - floor_div(at, kMonthsPerYear) * kMonthsPerYear) + 1, 1);
            break;
        case TransformKind::Day:
            days = at;
            break;
        default:
            seconds = static_cast<__int128>(at) * kSecondsPerHour;
    }
    if (source == TypeKind::Date) return days;
    seconds += days * kSecondsPerDay;
    return seconds * kMicrosPerSecond * (is_nanoseconds(source) ? 1000 : 1);
}

ValueRange time_range(const Transform& transform, const Type& source, int64_t lower, int64_t upper) {
    const bool date = source.kind == TypeKind::Date;
    const int64_t least = date ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
    const int64_t greatest = date ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
    ValueRange range;
    range.lower =
        Datum::integral(source.kind, clamp(time_start(transform.kind(), lower, source.kind), least, greatest));
    range.upper =
        Datum::integral(source.kind, clamp(time_start(transform.kind(), upper + 1, source.kind) - 1, least, greatest));
    return range;
}

/// Whether a truncated number is one that truncation can give: a multiple of the width.
bool is_multiple(const Datum& value, int32_t width) {
    if (width <= 0) return false;
    if (value.kind() == TypeKind::Decimal) return value.unscaled() % width == 0;
    return value.integer() % width == 0;
}

ValueRange truncate_range(const Transform& transform, const Type& source, const Datum& lower, const Datum& upper) {
    ValueRange range;
    const int32_t width = transform.parameter();
    switch (lower.kind()) {
        case TypeKind::Int:
        case TypeKind::Long: {
            if (!is_multiple(lower, width) || !is_multiple(upper, width)) return range;
            const bool narrow = source.kind == TypeKind::Int;
            range.lower = Datum::integral(source.kind, lower.integer());
            range.upper = Datum::integral(
                source.kind, clamp(static_cast<__int128>(upper.integer()) + width - 1,
                                   narrow ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min(),
                                   narrow ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max()));
            return range;
        }
        case TypeKind::Decimal:
            if (!is_multiple(lower, width) || !is_multiple(upper, width)) return range;
            range.lower = lower;
            range.upper = Datum::decimal(upper.unscaled() + width - 1, upper.scale());
            return range;
        default:
            // A prefix: nothing is less than it. What begins with it has no greatest value, but where the value is
            // shorter than the width it was not cut, so one value is the whole range.
            range.lower = lower;
            return range;
    }
}

/// Code points of a string, bytes of anything else.
size_t truncated_length(const Datum& value) {
    if (value.kind() != TypeKind::String) return value.view().size();
    size_t points = 0;
    for (const char c : value.view()) points += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return points;
}

}  // namespace

ValueRange range_of_partition(const Transform& transform, const Type& source, const Datum& lower, const Datum& upper,
                              bool may_be_null, bool may_be_nan) {
    ValueRange range;
    if (transform.kind() == TransformKind::Void || transform.kind() == TransformKind::Unknown) return range;
    const bool known = !lower.is_null() && !upper.is_null() && !lower.is_nan() && !upper.is_nan();
    if (known) {
        switch (transform.kind()) {
            case TransformKind::Identity:
                range.lower = lower;
                range.upper = upper;
                break;
            case TransformKind::Bucket:
                range.hashed.push_back({transform, lower, upper});
                break;
            case TransformKind::Truncate:
                range = truncate_range(transform, source, lower, upper);
                if (lower.is_bytes() && same_value(lower, upper)) {
                    if (truncated_length(upper) < static_cast<size_t>(transform.parameter()))
                        range.upper = upper;
                    else
                        range.hashed.push_back({transform, lower, upper});
                } else if (lower.is_bytes()) {
                    range.hashed.push_back({transform, lower, upper});
                }
                break;
            default:
                range = time_range(transform, source, lower.integer(), upper.integer());
        }
    }
    range.may_be_null = may_be_null;
    range.may_be_nan = may_be_nan;
    // Summaries without bounds, and null tuples: no row has a value, unless what was there could not be believed.
    if (lower.is_null() && upper.is_null()) range.may_be_value = false;
    return range;
}

}  // namespace firn::iceberg
