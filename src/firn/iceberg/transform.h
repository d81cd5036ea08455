// Partition and sort transforms (spec: Partition Transforms, Appendix B). All functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/iceberg/schema.h"
#include "firn/iceberg/values.h"

namespace firn::iceberg {

enum class TransformKind : uint8_t { Identity, Bucket, Truncate, Year, Month, Day, Hour, Void, Unknown };

/// A transform by name and parameter. A name that firn does not know is kept: such a field is ignored for pruning, but
/// its values still take part in the equality of partitions.
class Transform {
public:
    Transform() = default;  ///< identity
    Transform(TransformKind kind, int32_t parameter = 0) : kind_(kind), parameter_(parameter) {}

    /// "identity", "bucket[16]", "truncate[4]", "day", … Never fails: what it cannot read is Unknown.
    static Transform parse(std::string_view name);

    TransformKind kind() const { return kind_; }
    int32_t parameter() const { return parameter_; }  ///< buckets or width; 0 for the others
    std::string to_string() const;

    /// Whether x <= y makes transform(x) <= transform(y) for all values of the source type, so that a range of the
    /// source projects to a range of partition values.
    bool preserves_order() const;
    /// Whether the transform can be applied to values of the source type.
    bool accepts(const Type& source) const;
    /// Type of the partition values: the source's, or int. Int for day too, though Avro may mark it a date.
    TypePtr result_type(const TypePtr& source) const;

    /// The partition value of a source value. Null gives null, and so do Void and Unknown. Years, months, days and
    /// hours are floored, also before 1970. Truncating near the least int gives a value below the int range, near the
    /// least long the least long, so that order is kept; writers that wrapped there left values that are no multiple of
    /// the width. LOGICAL_ERROR when the transform does not accept the value's kind.
    Datum apply(const Datum& value) const;

    friend bool operator==(const Transform& a, const Transform& b) {
        return a.kind_ == b.kind_ && a.parameter_ == b.parameter_ && a.unknown_name_ == b.unknown_name_;
    }

private:
    TransformKind kind_ = TransformKind::Identity;
    int32_t parameter_ = 0;
    std::string unknown_name_;
};

/// Murmur3, 32 bits, x86 form, seed 0.
uint32_t murmur3_32(std::string_view bytes);

/// The bucket hash of a value that is not null (Appendix B).
int32_t bucket_hash(const Datum& value);

// Calendar of the proleptic Gregorian kind; whole 32-bit range of days.
struct CivilDate {
    int64_t year;   ///< astronomical: 0 is 1 BC
    int32_t month;  ///< 1 to 12
    int32_t day;    ///< 1 to 31
};
CivilDate civil_from_days(int64_t days);
int64_t days_from_civil(int64_t year, int32_t month, int32_t day);

/// Division that rounds towards minus infinity; divisor above 0.
constexpr int64_t floor_div(int64_t value, int64_t divisor) {
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0 ? 1 : 0);
}

}  // namespace firn::iceberg
