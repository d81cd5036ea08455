#include "firn/iceberg/transform.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "firn/base/error.h"

namespace firn::iceberg {

namespace {

constexpr int64_t kMicrosPerHour = int64_t{3600} * 1'000'000;
constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;

bool is_nanos(TypeKind kind) { return kind == TypeKind::TimestampNs || kind == TypeKind::TimestampTzNs; }
bool is_timestamp(TypeKind kind) { return kind >= TypeKind::Timestamp && kind <= TypeKind::TimestampTzNs; }

/// "name[123]" with a parameter from 1 to 2^31 - 1.
bool parse_parameter(std::string_view text, std::string_view name, int32_t& parameter) {
    if (text.size() < name.size() + 3 || text.substr(0, name.size()) != name) return false;
    text.remove_prefix(name.size());
    if (text.front() != '[' || text.back() != ']') return false;
    text = text.substr(1, text.size() - 2);
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parameter);
    return error == std::errc() && end == text.data() + text.size() && parameter > 0;
}

uint32_t rotate(uint32_t value, int by) { return value << by | value >> (32 - by); }

/// Two's complement, big-endian, no more bytes than the value needs.
std::string_view minimal_big_endian(__int128 value, char (&buffer)[16]) {
    auto bits = static_cast<unsigned __int128>(value);
    for (int i = 15; i >= 0; --i) {
        buffer[i] = static_cast<char>(bits & 0xff);
        bits >>= 8;
    }
    int begin = 0;
    while (begin < 15 &&
           ((buffer[begin] == 0 && buffer[begin + 1] >= 0) || (buffer[begin] == -1 && buffer[begin + 1] < 0))) {
        ++begin;
    }
    return {buffer + begin, static_cast<size_t>(16 - begin)};
}

int32_t hash_long(int64_t value) {
    char bytes[8];
    auto bits = static_cast<uint64_t>(value);
    for (char& byte : bytes) {
        byte = static_cast<char>(bits & 0xff);
        bits >>= 8;
    }
    return static_cast<int32_t>(murmur3_32({bytes, sizeof bytes}));
}

int32_t hash_double(double value) {
    if (value == 0) value = 0;  // -0.0 hashes as 0.0
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (value != value) bits = 0x7ff8000000000000;
    return hash_long(static_cast<int64_t>(bits));
}

/// The bytes of the first `width` code points; a stray continuation byte belongs to the code point before it.
std::string_view truncate_text(std::string_view text, int32_t width) {
    int32_t points = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        bool begins = (static_cast<uint8_t>(text[i]) & 0xc0) != 0x80;
        if (begins && points++ == width) return text.substr(0, i);
    }
    return text;
}

template <typename Int>
Int truncate_number(Int value, Int width) {
    Int remainder = value % width;
    if (remainder < 0) remainder += width;
    return value - remainder;
}

Datum truncate(const Datum& value, int32_t width) {
    switch (value.kind()) {
        case TypeKind::Int:
            return Datum::integral(TypeKind::Int, truncate_number<int64_t>(value.integer(), width));
        case TypeKind::Long: {
            __int128 exact = truncate_number<__int128>(value.integer(), width);
            return Datum::integral(TypeKind::Long, static_cast<int64_t>(std::max<__int128>(exact, INT64_MIN)));
        }
        case TypeKind::Decimal:
            return Datum::decimal(truncate_number<__int128>(value.unscaled(), width), value.scale());
        case TypeKind::String:
            return Datum::bytes(value.kind(), truncate_text(value.view(), width));
        case TypeKind::Binary:
        case TypeKind::Fixed:
            return Datum::bytes(value.kind(), value.view().substr(0, static_cast<size_t>(width)));
        default:
            fail(ErrorCode::LOGICAL_ERROR, "truncate of {}", value.to_string());
    }
}

/// Days or hours since 1970 of a date or timestamp.
int64_t units_since_epoch(const Datum& value, int64_t micros_per_unit) {
    if (value.kind() == TypeKind::Date) return value.integer() * (kMicrosPerDay / micros_per_unit);
    if (!is_timestamp(value.kind())) fail(ErrorCode::LOGICAL_ERROR, "a calendar transform of {}", value.to_string());
    if (is_nanos(value.kind())) return floor_div(value.integer(), micros_per_unit * 1000);
    return floor_div(value.integer(), micros_per_unit);
}

Datum calendar(TransformKind kind, const Datum& value) {
    if (kind == TransformKind::Hour) return Datum::integral(TypeKind::Int, units_since_epoch(value, kMicrosPerHour));
    int64_t days = units_since_epoch(value, kMicrosPerDay);
    if (kind == TransformKind::Day) return Datum::integral(TypeKind::Int, days);
    CivilDate date = civil_from_days(days);
    int64_t years = date.year - 1970;
    return Datum::integral(TypeKind::Int, kind == TransformKind::Year ? years : years * 12 + date.month - 1);
}

}  // namespace

uint32_t murmur3_32(std::string_view bytes) {
    constexpr uint32_t c1 = 0xcc9e2d51;
    constexpr uint32_t c2 = 0x1b873593;
    uint32_t hash = 0;
    size_t whole = bytes.size() / 4 * 4;
    for (size_t i = 0; i < whole; i += 4) {
        uint32_t word;
        std::memcpy(&word, bytes.data() + i, 4);
        hash ^= rotate(word * c1, 15) * c2;
        hash = rotate(hash, 13) * 5 + 0xe6546b64;
    }
    uint32_t rest = 0;
    for (size_t i = bytes.size(); i > whole; --i) rest = rest << 8 | static_cast<uint8_t>(bytes[i - 1]);
    if (bytes.size() > whole) hash ^= rotate(rest * c1, 15) * c2;
    hash ^= static_cast<uint32_t>(bytes.size());
    hash = (hash ^ hash >> 16) * 0x85ebca6b;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35;
    return hash ^ hash >> 16;
}

int32_t bucket_hash(const Datum& value) {
    switch (value.kind()) {
        case TypeKind::TimestampNs:
        case TypeKind::TimestampTzNs:
            return hash_long(floor_div(value.integer(), 1000));
        case TypeKind::Float:
        case TypeKind::Double:
            return hash_double(value.real());
        case TypeKind::Decimal: {
            char buffer[16];
            return static_cast<int32_t>(murmur3_32(minimal_big_endian(value.unscaled(), buffer)));
        }
        case TypeKind::String:
        case TypeKind::Binary:
        case TypeKind::Fixed:
        case TypeKind::Uuid:
            return static_cast<int32_t>(murmur3_32(value.view()));
        default:
            if (!value.is_integral()) fail(ErrorCode::LOGICAL_ERROR, "bucket of {}", value.to_string());
            return hash_long(value.integer());
    }
}

Transform Transform::parse(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    int32_t parameter = 0;
    if (lower == "identity") return {TransformKind::Identity};
    if (lower == "void") return {TransformKind::Void};
    // The plurals are what older writers and SQL dialects call them.
    if (lower == "year" || lower == "years") return {TransformKind::Year};
    if (lower == "month" || lower == "months") return {TransformKind::Month};
    if (lower == "day" || lower == "days" || lower == "date") return {TransformKind::Day};
    if (lower == "hour" || lower == "hours" || lower == "date_hour") return {TransformKind::Hour};
    if (parse_parameter(lower, "bucket", parameter)) return {TransformKind::Bucket, parameter};
    if (parse_parameter(lower, "truncate", parameter)) return {TransformKind::Truncate, parameter};
    Transform unknown(TransformKind::Unknown);
    unknown.unknown_name_ = name;
    return unknown;
}

std::string Transform::to_string() const {
    switch (kind_) {
        case TransformKind::Identity:
            return "identity";
        case TransformKind::Bucket:
            return fmt::format("bucket[{}]", parameter_);
        case TransformKind::Truncate:
            return fmt::format("truncate[{}]", parameter_);
        case TransformKind::Year:
            return "year";
        case TransformKind::Month:
            return "month";
        case TransformKind::Day:
            return "day";
        case TransformKind::Hour:
            return "hour";
        case TransformKind::Void:
            return "void";
        case TransformKind::Unknown:
            return unknown_name_;
    }
    return "";
}

bool Transform::preserves_order() const {
    return kind_ == TransformKind::Identity || kind_ == TransformKind::Truncate ||
           (kind_ >= TransformKind::Year && kind_ <= TransformKind::Hour);
}

bool Transform::accepts(const Type& source) const {
    TypeKind kind = source.kind;
    if (!source.is_primitive()) return false;
    switch (kind_) {
        case TransformKind::Identity:
            return kind < TypeKind::Variant;
        case TransformKind::Bucket:
            return kind == TypeKind::Int || kind == TypeKind::Long ||
                   (kind >= TypeKind::Decimal && kind <= TypeKind::Binary);
        case TransformKind::Truncate:
            return kind == TypeKind::Int || kind == TypeKind::Long || kind == TypeKind::Decimal ||
                   kind == TypeKind::String || kind == TypeKind::Binary;
        case TransformKind::Year:
        case TransformKind::Month:
        case TransformKind::Day:
            return kind == TypeKind::Date || is_timestamp(kind);
        case TransformKind::Hour:
            return is_timestamp(kind);
        case TransformKind::Void:
            return true;
        case TransformKind::Unknown:
            return false;
    }
    return false;
}

TypePtr Transform::result_type(const TypePtr& source) const {
    switch (kind_) {
        case TransformKind::Identity:
        case TransformKind::Truncate:
        case TransformKind::Void:
        case TransformKind::Unknown:
            return source;
        default:
            return Type::primitive(TypeKind::Int);
    }
}

Datum Transform::apply(const Datum& value) const {
    if (value.is_null()) return Datum::null();
    switch (kind_) {
        case TransformKind::Identity:
            return value;
        case TransformKind::Bucket:
            return Datum::integral(TypeKind::Int, (bucket_hash(value) & INT32_MAX) % parameter_);
        case TransformKind::Truncate:
            return truncate(value, parameter_);
        case TransformKind::Year:
        case TransformKind::Month:
        case TransformKind::Day:
        case TransformKind::Hour:
            return calendar(kind_, value);
        case TransformKind::Void:
        case TransformKind::Unknown:
            return Datum::null();
    }
    return Datum::null();
}

// Both count days within eras of 400 years that begin on 1 March, where leap days fall at the end.
CivilDate civil_from_days(int64_t days) {
    days += 719468;
    int64_t era = floor_div(days, 146097);
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153;
    auto day = static_cast<int32_t>(day_of_year - (153 * shifted + 2) / 5 + 1);
    auto month = static_cast<int32_t>(shifted < 10 ? shifted + 3 : shifted - 9);
    return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

int64_t days_from_civil(int64_t year, int32_t month, int32_t day) {
    if (month <= 2) --year;
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

}  // namespace firn::iceberg
