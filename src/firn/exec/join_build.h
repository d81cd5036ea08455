// The right side of a join, collected: its rows, the table over its keys, which rows have found a match.
#pragma once

#include <atomic>
#include <vector>

#include "firn/exec/filter.h"
#include "firn/exec/join_table.h"
#include "firn/exec/pipeline.h"
#include "firn/exec/sorting.h"

namespace firn::exec {

/// How many of a join's key pairs are compared for equality; an ASOF join's last is not.
inline size_t equality_keys(const plan::JoinNode& node) {
    return node.right_keys.size() - (node.strictness == plan::JoinStrictness::Asof ? 1 : 0);
}

/// What is true of all right rows, where a BuildSide holds only a part of them.
struct WholeBuildSide {
    bool has_rows = false;
    bool has_null_key = false;
};

class BuildSide {
public:
    /// batches: with keys, as `columns` adds them. Builds the table and fills the join's run-time filters, unless these
    /// are only a part of the rows (whole is given).
    BuildSide(Run& run, const plan::JoinNode& node, const KeyedColumns& columns, std::vector<Batch> batches,
              const WholeBuildSide* whole = nullptr);

    size_t left_columns, right_columns;  // of the children
    JoinTable table;
    /// The right child's columns with the join's output types. For Left and Full joins one more row behind, of defaults.
    Batch rows;

    bool is_asof() const { return asof_; }
    /// Of all right rows, in this part or another.
    const WholeBuildSide& whole() const { return whole_; }
    /// For each left row with `heads` (rows of the table with equal keys) and its value in `left`: the closest right row.
    std::vector<uint32_t> asof_matches(plan::JoinNode::AsofInequality inequality, const std::vector<uint32_t>& heads,
                                       const Vector& left) const;
    /// A right column with its own type, for residual conditions.
    const VectorPtr& residual_column(size_t column) const { return plain_.columns[column]; }

    bool tracks_matches() const { return !matched_.empty(); }
    bool is_matched(uint32_t row) const {
        return std::atomic_ref<uint8_t>(matched_[row]).load(std::memory_order_relaxed) != 0;
    }
    void match(uint32_t row) { std::atomic_ref<uint8_t>(matched_[row]).store(1, std::memory_order_relaxed); }
    /// True for the first caller.
    bool match_first(uint32_t row) {
        return std::atomic_ref<uint8_t>(matched_[row]).exchange(1, std::memory_order_relaxed) == 0;
    }

private:
    void sort_for_asof(Run& run, const plan::JoinNode& node, const VectorPtr& values);
    void widen(const plan::JoinNode& node);

    bool asof_;
    WholeBuildSide whole_;
    Batch plain_;
    std::vector<VectorPtr> keys_;
    mutable TrackedVector<uint8_t> matched_;
    // Asof: rows sorted by (first row of their key, value), and where each key's rows lie in that, by its first row.
    VectorPtr asof_values_;
    std::vector<uint32_t> asof_order_;
    std::vector<std::pair<uint32_t, uint32_t>> asof_ranges_;
};

/// Bounds, few values or a bloom filter of a join's build keys, for scans of the other side.
void fill_runtime_filters(const plan::JoinNode& node, const std::vector<VectorPtr>& keys, size_t rows);

}  // namespace firn::exec
