// Results of aggregations that one statement needs more than once.
//
// A scalar subquery runs while the statement is planned. Where it aggregates what the statement itself aggregates too (a
// WITH query that both name), the groups are still here when the statement runs.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "firn/plan/logical.h"
#include "firn/vector/vector.h"

namespace firn::exec {

/// Of one statement. Thread-safe.
class KeptGroups {
public:
    /// Groups of all aggregations together; those that would pass it are not kept.
    static constexpr size_t kMostBytes = size_t{16} << 20;

    /// The groups of an aggregation that gives the same as `node`; null where there are none. They live as long as this.
    const std::vector<Batch>* find(const plan::AggregateNode& node) const;
    /// batches: all of them, with all output columns.
    void keep(const plan::AggregateNode& node, std::vector<Batch> batches);

private:
    struct Entry {
        Entry(plan::NodePtr n, std::vector<Batch> b) : node(std::move(n)), batches(std::move(b)) {}
        plan::NodePtr node;
        std::vector<Batch> batches;
    };
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Entry>> entries_;
    size_t bytes_ = 0;
};

}  // namespace firn::exec
