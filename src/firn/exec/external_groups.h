// Groups that memory does not hold: partitions of them on disk, merged one by one.
#pragma once

#include <memory>

#include "firn/exec/aggregate_plan.h"
#include "firn/exec/spill/partitions.h"

namespace firn::exec {

/// Groups of any workers, divided by their keys' hash. A block holds keys and, in one column more, serialised states.
class SpilledGroups {
public:
    /// level: of dividing, see kSpillLevels.
    SpilledGroups(Run& run, const AggregatePlan& plan, const SpillPolicy& policy, unsigned level);
    /// Writes all groups, which stay as they are. Thread-safe.
    void spill(Groups& groups);
    /// Results of all groups, each key once, to `next`: partitions side by side on all workers.
    void merge(Stage& next);

private:
    void merge_partition(size_t partition, Stage& next, Consumer& consumer);
    void add(const Batch& block, Groups& groups) const;

    Run& run_;
    const AggregatePlan& plan_;
    const SpillPolicy policy_;
    const unsigned level_;
    SpillFile file_;
};

}  // namespace firn::exec
