#include "firn/exec/spill/freed_memory.h"

#include <malloc.h>

#include <atomic>
#include <chrono>

namespace firn::exec {

void give_memory_back() noexcept {
    using Clock = std::chrono::steady_clock;
    static std::atomic<Clock::rep> last{0};
    const auto now = Clock::now().time_since_epoch();
    Clock::rep before = last.load(std::memory_order_relaxed);
    if (now - Clock::duration(before) < std::chrono::milliseconds(100)) return;
    if (last.compare_exchange_strong(before, now.count(), std::memory_order_relaxed)) ::malloc_trim(0);
}

}  // namespace firn::exec
