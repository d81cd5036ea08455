// Where partitions, peers and frames begin and end, for window functions over rows that are sorted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firn/exec/sort_keys.h"

namespace firn::exec {

struct RowRange {
    uint32_t begin = 0, end = 0;
    bool empty() const { return begin >= end; }
    friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Ranges are of places in the sorted order.
class WindowRows {
public:
    /// keys: partition keys first, then order keys; order: rows of keys, sorted.
    WindowRows(const plan::WindowNode& node, const SortKeys& keys, std::span<const uint32_t> order);

    size_t size() const { return partition_.size(); }
    /// The partition of the row at a place, and its peers (equal in the order keys).
    RowRange partition(size_t place) const { return partitions_[partition_[place]]; }
    RowRange peers(size_t place) const { return peers_[peer_[place]]; }
    /// Number of the peer group within its partition, from 0.
    uint32_t peer_number(size_t place) const { return peer_[place] - first_peers_[partition_[place]]; }
    const std::vector<RowRange>& partitions() const { return partitions_; }

    /// The frames of all rows.
    std::vector<RowRange> frames(const plan::WindowFrame& frame) const;

private:
    RowRange rows_frame(const plan::WindowFrame& frame, size_t place, int64_t before, int64_t after) const;
    RowRange groups_frame(const plan::WindowFrame& frame, size_t place, int64_t before, int64_t after) const;
    std::vector<RowRange> range_frames(const plan::WindowFrame& frame) const;

    std::vector<RowRange> partitions_, peers_;
    std::vector<uint32_t> partition_, peer_, first_peers_;
    const plan::WindowNode& node_;
    const SortKeys& keys_;
    std::span<const uint32_t> order_;
};

}  // namespace firn::exec
