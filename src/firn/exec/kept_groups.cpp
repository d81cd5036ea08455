#include "firn/exec/kept_groups.h"

#include "firn/plan/same_groups.h"

namespace firn::exec {

const std::vector<Batch>* KeptGroups::find(const plan::AggregateNode& node) const {
    std::lock_guard lock(mutex_);
    for (const auto& entry : entries_)
        if (plan::same_groups(static_cast<const plan::AggregateNode&>(*entry->node), node)) return &entry->batches;
    return nullptr;
}

void KeptGroups::keep(const plan::AggregateNode& node, std::vector<Batch> batches) {
    size_t bytes = 0;
    for (const auto& batch : batches) bytes += batch.allocated_bytes();
    std::lock_guard lock(mutex_);
    if (bytes_ + bytes > kMostBytes) return;
    bytes_ += bytes;
    entries_.push_back(std::make_unique<Entry>(plan::clone(node), std::move(batches)));
}

}  // namespace firn::exec
