// Threads that run tasks for queries. One pool serves the process; a query takes part in it through parallel_for.
#pragma once

#include <cstddef>
#include <functional>

namespace firn {

/// Runs work(worker) for worker = 0 … workers-1, on the calling thread and on pooled threads that carry the caller's
/// QueryContext; on fewer threads, some after others, where not as many are to be had: no worker may wait for one that has
/// not begun. Returns when all have ended; rethrows the first exception. When one throws, the others are not stopped by
/// this call: they have to see `cancelled` of their own shared state.
void run_workers(size_t workers, const std::function<void(size_t worker)>& work);

/// Runs work(i) for i = 0 … tasks-1 on up to `workers` threads, each taking the next i. After an exception no new task
/// is begun; the first exception is rethrown when all have ended.
void parallel_for(size_t tasks, size_t workers, const std::function<void(size_t task)>& work);

}  // namespace firn
