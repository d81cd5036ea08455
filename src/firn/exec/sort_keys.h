// The order of rows by sort keys: 128 bits of prefix that decide most comparisons, and the full comparison behind them.
#pragma once

#include <span>
#include <vector>

#include "firn/base/wide_int.h"
#include "firn/plan/logical.h"

namespace firn::exec {

/// Which way one key sorts.
struct SortDirection {
    bool descending = false;
    bool nulls_first = false;  // NULL and NaN, whichever the direction
};
std::vector<SortDirection> directions_of(const std::vector<plan::SortKey>& keys);

/// The key columns of some rows.
class SortKeys {
public:
    SortKeys(std::vector<SortDirection> directions, std::vector<VectorPtr> columns, size_t rows);

    size_t rows() const { return rows_; }
    const std::vector<VectorPtr>& columns() const { return columns_; }
    /// Prefixes order as rows do, except that equal ones leave it open unless prefix_is_whole.
    std::span<const UInt128> prefixes() const { return prefixes_; }
    bool prefix_is_whole() const { return whole_; }
    /// <0, 0, >0. Only the first `keys` keys are compared when given.
    int compare(size_t a, size_t b, size_t keys = SIZE_MAX) const { return compare_columns(a, *this, b, keys); }
    /// Row a of this and row b of others, of the same types and directions; prefixes first.
    int compare_with(size_t a, const SortKeys& other, size_t b) const {
        if (prefixes_[a] != other.prefixes_[b]) return prefixes_[a] < other.prefixes_[b] ? -1 : 1;
        return whole_ ? 0 : compare_columns(a, other, b, SIZE_MAX);
    }
    /// Row numbers in order; equal rows in the order of their numbers.
    std::vector<uint32_t> sorted() const { return sorted(0, rows_); }
    std::vector<uint32_t> sorted(size_t begin, size_t end) const;
    bool before(uint32_t a, uint32_t b) const {
        if (prefixes_[a] != prefixes_[b]) return prefixes_[a] < prefixes_[b];
        const int order = whole_ ? 0 : compare(a, b);
        return order ? order < 0 : a < b;
    }

private:
    int compare_columns(size_t a, const SortKeys& other, size_t b, size_t keys) const;

    std::vector<SortDirection> directions_;
    std::vector<VectorPtr> columns_;
    size_t rows_;
    std::vector<uint32_t> sorted_by_radix(size_t begin, size_t end) const;

    TrackedVector<UInt128> prefixes_;
    bool whole_ = true;
    unsigned used_bits_ = 0;  // of prefixes, from the highest
};

}  // namespace firn::exec
