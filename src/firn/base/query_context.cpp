#include "firn/base/query_context.h"

#include "firn/base/error.h"

namespace firn {
namespace {
thread_local QueryContext* current_context = nullptr;
std::array<std::atomic<uint64_t>, kProfileEvents> process_events{};

struct EventText {
    std::string_view name;
    std::string_view description;
};
constexpr EventText kEventTexts[] = {
#define FIRN_EVENT(name, text) {#name, text},
#include "firn/base/profile_events.inc"
#undef FIRN_EVENT
};
}  // namespace

std::string_view profile_event_name(ProfileEvent event) noexcept {
    return kEventTexts[static_cast<size_t>(event)].name;
}
std::string_view profile_event_description(ProfileEvent event) noexcept {
    return kEventTexts[static_cast<size_t>(event)].description;
}

uint64_t process_event_count(ProfileEvent event) noexcept {
    return process_events[static_cast<size_t>(event)].load(std::memory_order_relaxed);
}

void QueryContext::add_to_process() const noexcept {
    for (size_t i = 0; i < kProfileEvents; ++i) {
        // The longest chain of requests is no sum.
        if (static_cast<ProfileEvent>(i) == ProfileEvent::StorageDependentRequests) continue;
        process_events[i].fetch_add(events_[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
}

void QueryContext::check_cancelled() const {
    if (cancelled()) fail(ErrorCode::QUERY_WAS_CANCELLED, "Query was cancelled");
    if (deadline_ != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() > deadline_)
        fail(ErrorCode::TIMEOUT_EXCEEDED, "Timeout exceeded: max_execution_time has passed");
}

QueryContext* QueryContext::current() noexcept { return current_context; }

QueryContext::Scope::Scope(QueryContext* context)
    : previous_(current_context), memory_(context ? context->memory() : nullptr) {
    current_context = context;
}
QueryContext::Scope::~Scope() { current_context = previous_; }

}  // namespace firn
