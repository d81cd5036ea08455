// The rows of a batch that belong to few groups, and what its aggregates share over them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "firn/vector/vector.h"

namespace firn::functions {

class GroupedRows {
public:
    static constexpr size_t kMostGroups = 16;
    /// The number of a row that is in no group, and does not count.
    static constexpr uint8_t kNoGroup = kMostGroups;
    using Sums = std::array<Int128, kMostGroups + 1>;  // the last: of rows in no group, of no meaning

    /// group[i]: the group of row i, below states.size(), which is at most kMostGroups; or kNoGroup. states[g]: where the
    /// states of group g lie. Both are the caller's and stay as they are.
    GroupedRows(std::span<const uint8_t> group, std::span<char* const> states);

    size_t rows() const { return group_.size(); }
    size_t groups() const { return states_.size(); }
    /// The group of each row, or kNoGroup.
    std::span<const uint8_t> numbers() const { return group_; }
    char* state(size_t group) const { return states_[group]; }
    /// Rows of a group; may be none.
    uint64_t count(size_t group) const { return counts_[group]; }

    /// The exact sum of each group's values of an integer column of at most 64 bits (or what is stored as one), in any
    /// encoding. What lies under NULLs counts too. Columns of the same values are summed once.
    const Sums& sums(const VectorPtr& vector);

private:
    void add_portion(const int64_t* values, size_t begin, size_t count, Sums& sums) const;

    struct Known {
        BufferPtr values, base;  // what the column's values are made of
        Sums sums;
    };
    std::span<const uint8_t> group_;
    std::span<char* const> states_;
    std::array<uint64_t, kMostGroups + 1> counts_{};
    std::vector<uint8_t> masks_;  // a bit a row, of one group after another; empty where the machine has no use for it
    size_t mask_bytes_ = 0;       // of one group
    std::vector<std::unique_ptr<Known>> known_;
};

}  // namespace firn::functions
