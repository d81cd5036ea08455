#include "firn/exec/sort_keys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "firn/base/query_context.h"
#include "firn/vector/row_ops.h"
#include "firn/vector/uuid_order.h"

namespace firn::exec {
namespace {

constexpr unsigned kPrefixBits = 128;
constexpr size_t kRadixFrom = 2048;  // rows from which sorting by radix is faster than by comparison

/// A value as an unsigned number that orders as the value does.
template <typename T>
UInt128 ordered_bits(T value) {
    if constexpr (std::is_same_v<T, float>) {
        uint32_t bits;
        if (value == 0) value = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
    } else if constexpr (std::is_same_v<T, double>) {
        uint64_t bits;
        if (value == 0) value = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        return bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
    } else if constexpr (std::is_same_v<T, Int128>) {
        return static_cast<UInt128>(value) ^ (UInt128{1} << 127);
    } else if constexpr (std::is_same_v<T, UInt256>) {
        return static_cast<UInt128>(value.limbs[3]) << 64 | value.limbs[2];
    } else if constexpr (std::is_same_v<T, Int256>) {
        return static_cast<UInt128>(value.bits.limbs[3] ^ (uint64_t{1} << 63)) << 64 | value.bits.limbs[2];
    } else if constexpr (std::is_signed_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<Unsigned>(static_cast<Unsigned>(value) ^ (Unsigned{1} << (8 * sizeof(T) - 1)));
    } else {
        return value;
    }
}

UInt128 leading_bytes(const StringRef& text) {
    uint8_t bytes[16] = {};
    std::memcpy(bytes, text.data, std::min<size_t>(16, text.size));
    uint64_t high, low;
    std::memcpy(&high, bytes, 8);
    std::memcpy(&low, bytes + 8, 8);
    return static_cast<UInt128>(__builtin_bswap64(high)) << 64 | __builtin_bswap64(low);
}

/// Adds keys to prefixes from the highest bits down.
class PrefixWriter {
public:
    PrefixWriter(TrackedVector<UInt128>& prefixes) : prefixes_(prefixes) {}

    /// False when later keys have no place: this one is not wholly in.
    bool add(const VectorPtr& column, SortDirection direction) {
        direction_ = direction;
        const Decoded decoded(column);
        const Physical physical = column->type()->physical();
        const bool floating = physical == Physical::Float32 || physical == Physical::Float64;
        marks_ = floating || accepts_null(*column->type());
        if (marks_ && left_ < 2) return false;
        if (physical == Physical::Str) {
            add_values(
                decoded, 128, [&](size_t row) { return leading_bytes(decoded.values<StringRef>()[row]); },
                [](size_t) { return false; });
            return false;
        }
        const unsigned before = left_;
        const bool fixed = dispatch_fixed(physical, [&]<typename T>() {
            const T* values = decoded.values<T>();
            const unsigned bits = sizeof(T) >= 16 ? 128 : 8 * sizeof(T);
            const bool uuid = is_uuid(column->type());
            add_values(
                decoded, bits,
                [&](size_t row) {
                    const UInt128 number = ordered_bits(values[row]);
                    return uuid ? uuid_order(number) : number;
                },
                [&](size_t row) {
                    if constexpr (std::is_floating_point_v<T>)
                        return std::isnan(values[row]);
                    else
                        return false;
                });
        });
        if (!fixed) return false;
        const size_t width = column->type()->value_size();
        return width <= 16 && before >= 8 * width + (marks_ ? 2 : 0);
    }

    unsigned used_bits() const { return kPrefixBits - left_; }

private:
    template <typename Value, typename IsNan>
    void add_values(const Decoded& decoded, unsigned bits, Value value, IsNan is_nan) {
        const unsigned mark_bits = marks_ ? 2 : 0;
        const unsigned kept = std::min(bits, left_ - mark_bits);
        const unsigned mark_shift = left_ - mark_bits, value_shift = mark_shift - kept;
        const UInt128 mask = kept == 128 ? ~UInt128{0} : (UInt128{1} << kept) - 1;
        const UInt128 flip = direction_.descending ? mask : 0;
        // The places of values, NaNs and NULLs.
        const UInt128 value_mark = direction_.nulls_first ? 2 : 0, nan_mark = 1,
                      null_mark = direction_.nulls_first ? 0 : 2;
        for (size_t i = 0; i < prefixes_.size(); ++i) {
            const size_t row = decoded[i];
            if (marks_ && decoded.nulls() && decoded.nulls()[row]) {
                prefixes_[i] |= null_mark << mark_shift;
                continue;
            }
            if (marks_ && is_nan(row)) {
                prefixes_[i] |= nan_mark << mark_shift;
                continue;
            }
            if (marks_) prefixes_[i] |= value_mark << mark_shift;
            if (kept) prefixes_[i] |= (((value(row) >> (bits - kept)) & mask) ^ flip) << value_shift;
        }
        left_ = value_shift;
    }

    TrackedVector<UInt128>& prefixes_;
    unsigned left_ = kPrefixBits;
    SortDirection direction_;
    bool marks_ = false;
};

}  // namespace

std::vector<SortDirection> directions_of(const std::vector<plan::SortKey>& keys) {
    std::vector<SortDirection> directions;
    for (const auto& key : keys) directions.push_back({key.descending, key.nulls_first});
    return directions;
}

SortKeys::SortKeys(std::vector<SortDirection> directions, std::vector<VectorPtr> columns, size_t rows)
    : directions_(std::move(directions)), columns_(std::move(columns)), rows_(rows), prefixes_(rows, 0) {
    PrefixWriter writer(prefixes_);
    for (size_t i = 0; i < columns_.size(); ++i) {
        if (writer.add(columns_[i], directions_[i])) continue;
        whole_ = false;
        break;
    }
    used_bits_ = writer.used_bits();
}

/// Whole prefixes of at most 64 bits: byte by byte from the lowest, bytes that are the same everywhere left out.
std::vector<uint32_t> SortKeys::sorted_by_radix(size_t begin, size_t end) const {
    struct Item {
        uint64_t prefix;
        uint32_t row;
    };
    const size_t rows = end - begin;
    TrackedVector<Item> items(rows), other(rows);
    std::vector<std::array<uint32_t, 256>> counts(8);
    for (size_t i = 0; i < rows; ++i) {
        items[i] = {static_cast<uint64_t>(prefixes_[begin + i] >> 64), static_cast<uint32_t>(begin + i)};
        for (size_t byte = 0; byte < 8; ++byte) ++counts[byte][items[i].prefix >> (8 * byte) & 255];
    }
    for (size_t byte = 0; byte < 8; ++byte) {
        check_cancelled();
        auto& places = counts[byte];
        if (places[items[0].prefix >> (8 * byte) & 255] == rows) continue;
        uint32_t at = 0;
        for (uint32_t& place : places) at += std::exchange(place, at);
        for (const Item& item : items) other[places[item.prefix >> (8 * byte) & 255]++] = item;
        std::swap(items, other);
    }
    std::vector<uint32_t> order(rows);
    for (size_t i = 0; i < rows; ++i) order[i] = items[i].row;
    return order;
}

int SortKeys::compare_columns(size_t a, const SortKeys& other, size_t b, size_t keys) const {
    for (size_t i = 0; i < std::min(keys, columns_.size()); ++i) {
        const auto& left = *columns_[i];
        const auto& right = *other.columns_[i];
        const int nulls = directions_[i].nulls_first ? -1 : 1;
        const int order = directions_[i].descending ? compare_values(right, b, left, a, -nulls)
                                                    : compare_values(left, a, right, b, nulls);
        if (order) return order;
    }
    return 0;
}

std::vector<uint32_t> SortKeys::sorted(size_t begin, size_t end) const {
    if (whole_ && used_bits_ <= 64 && end - begin >= kRadixFrom) return sorted_by_radix(begin, end);
    struct Item {
        UInt128 prefix;
        uint32_t row;
    };
    TrackedVector<Item> items(end - begin);
    for (size_t i = begin; i < end; ++i) items[i - begin] = {prefixes_[i], static_cast<uint32_t>(i)};
    if (whole_) {
        std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
            return a.prefix != b.prefix ? a.prefix < b.prefix : a.row < b.row;
        });
    } else {
        std::sort(items.begin(), items.end(), [this](const Item& a, const Item& b) {
            if (a.prefix != b.prefix) return a.prefix < b.prefix;
            const int order = compare(a.row, b.row);
            return order ? order < 0 : a.row < b.row;
        });
    }
    std::vector<uint32_t> rows;
    rows.reserve(items.size());
    for (const Item& item : items) rows.push_back(item.row);
    return rows;
}

}  // namespace firn::exec
