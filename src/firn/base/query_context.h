// What belongs to one running statement and is asked for everywhere: its memory, its counters, and whether it was
// cancelled. A thread that works for a query holds a QueryContext::Scope.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "firn/base/memory.h"

namespace firn {

enum class ProfileEvent : uint32_t {
#define FIRN_EVENT(name, text) name,
#include "firn/base/profile_events.inc"
#undef FIRN_EVENT
    Count
};
constexpr size_t kProfileEvents = static_cast<size_t>(ProfileEvent::Count);
std::string_view profile_event_name(ProfileEvent event) noexcept;
std::string_view profile_event_description(ProfileEvent event) noexcept;
/// Sum over all work of the process that has ended.
uint64_t process_event_count(ProfileEvent event) noexcept;

class QueryContext {
public:
    /// memory_limit in bytes, 0 = none.
    explicit QueryContext(int64_t memory_limit = 0) : memory_(std::make_shared<MemoryTracker>(memory_limit)) {}

    const std::shared_ptr<MemoryTracker>& memory() const noexcept { return memory_; }

    void add(ProfileEvent event, uint64_t n = 1) noexcept {
        events_[static_cast<size_t>(event)].fetch_add(n, std::memory_order_relaxed);
    }
    /// Makes the counter at least n.
    void raise(ProfileEvent event, uint64_t n) noexcept {
        std::atomic<uint64_t>& counter = events_[static_cast<size_t>(event)];
        uint64_t old = counter.load(std::memory_order_relaxed);
        while (old < n && !counter.compare_exchange_weak(old, n, std::memory_order_relaxed)) {
        }
    }
    uint64_t count(ProfileEvent event) const noexcept {
        return events_[static_cast<size_t>(event)].load(std::memory_order_relaxed);
    }

    /// Adds the counters to those of the process; once, when the work has ended.
    void add_to_process() const noexcept;

    /// The cache on disk that reads of remote objects go through: its number among storage::filesystem_caches(); -1: none.
    /// Set before the work begins, as is whether it only serves what it has.
    int filesystem_cache = -1;
    bool filesystem_cache_read_only = false;

    /// Asks the query to stop; safe to call from any thread and from a signal handler.
    void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
    /// Steady-clock time after which check_cancelled throws TIMEOUT_EXCEEDED (max_execution_time); none by default.
    void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept { deadline_ = deadline; }
    /// Throws QUERY_WAS_CANCELLED or TIMEOUT_EXCEEDED. Called at least once a batch and once a page.
    void check_cancelled() const;

    /// Progress, in rows and bytes read so far, and rows that the plan expects in all (0 = not known).
    std::atomic<uint64_t> progress_rows{0};
    std::atomic<uint64_t> progress_bytes{0};
    std::atomic<uint64_t> progress_total_rows{0};

    /// The context of the work this thread does now; null outside of a query.
    static QueryContext* current() noexcept;
    class Scope {
    public:
        explicit Scope(QueryContext* context);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        QueryContext* previous_;
        MemoryTracker::Scope memory_;
    };

private:
    std::shared_ptr<MemoryTracker> memory_;
    std::array<std::atomic<uint64_t>, kProfileEvents> events_{};
    std::atomic<bool> cancelled_{false};
    std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
};

/// Counts for the current query; does nothing outside of one.
inline void count_event(ProfileEvent event, uint64_t n = 1) noexcept {
    if (QueryContext* context = QueryContext::current()) context->add(event, n);
}
/// Throws where the current query was cancelled or ran out of time.
inline void check_cancelled() {
    if (QueryContext* context = QueryContext::current()) context->check_cancelled();
}

}  // namespace firn
