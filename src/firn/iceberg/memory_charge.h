// Bytes that a query is charged for although they are no Buffer: parsed metadata that it holds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "firn/base/memory.h"

namespace firn::iceberg {

/// Charges the tracker that was current when it was made, and gives all back at its end. Thread-safe.
class MemoryCharge {
public:
    MemoryCharge() : tracker_(MemoryTracker::current()) {}
    ~MemoryCharge() {
        if (tracker_) tracker_->release(charged_.load());
    }
    MemoryCharge(const MemoryCharge&) = delete;
    MemoryCharge& operator=(const MemoryCharge&) = delete;

    /// MEMORY_LIMIT_EXCEEDED where the query may not have so much.
    void add(size_t bytes) {
        if (!tracker_) return;
        tracker_->allocate(static_cast<int64_t>(bytes));
        charged_.fetch_add(static_cast<int64_t>(bytes));
    }

private:
    std::shared_ptr<MemoryTracker> tracker_;
    std::atomic<int64_t> charged_{0};
};

}  // namespace firn::iceberg
