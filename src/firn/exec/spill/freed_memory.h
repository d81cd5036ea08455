// Memory that a spill has freed.
#pragma once

namespace firn::exec {

/// Gives what the allocator keeps of freed memory back to the system, at most every tenth of a second. Thread-safe.
void give_memory_back() noexcept;

}  // namespace firn::exec
