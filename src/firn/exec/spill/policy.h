// When operators spill.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "firn/base/memory.h"

namespace firn::exec {

/// The memory of a query as one kind of operator sees it. Operators ask it before they keep more; they spill what they
/// hold when the query as a whole holds too much, but not less than is worth a file. Thread-safe.
class SpillPolicy {
public:
    /// threshold: bytes in use by the query from which the operator spills; 0 = never. workers: that collect at one time.
    SpillPolicy(int64_t threshold, size_t workers)
        : threshold_(threshold), workers_(static_cast<int64_t>(workers)), query_(MemoryTracker::current()) {}

    bool enabled() const { return threshold_ > 0; }
    /// Time for an operator to find out how much it holds, and to let go of what it merely shares.
    bool is_near() const { return enabled() && used() > threshold_ / 2; }
    /// Whether a worker that holds `own` bytes should spill them.
    bool is_due(int64_t own) const {
        return enabled() && used() > threshold_ && own >= std::min(threshold_, room() / (4 * workers_));
    }
    /// Whether `more` bytes can be had, with something left over for others.
    bool fits(int64_t more) const { return !enabled() || more <= room() - room() / 4; }
    /// Most bytes that an operator should keep for as long as the query runs on, given that it holds `own` now.
    int64_t share(int64_t own) const { return enabled() ? std::min(threshold_, (room() + own) / 2) : INT64_MAX; }
    /// Bytes left. Without a limit the threshold stands for half of one.
    int64_t room() const {
        const int64_t left = query_ ? query_->available() : INT64_MAX;
        return left < INT64_MAX || !enabled() ? left : std::max<int64_t>(0, 2 * threshold_ - used());
    }

private:
    int64_t used() const { return query_ ? query_->used() : 0; }
    const int64_t threshold_;
    const int64_t workers_;
    const std::shared_ptr<MemoryTracker> query_;
};

}  // namespace firn::exec
