#include "firn/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "firn/base/query_context.h"

namespace firn {
namespace {

TEST(ThreadPool, EachWorkerRunsOnceWithTheCallersQuery) {
    QueryContext context;
    const QueryContext::Scope scope(&context);
    std::vector<std::atomic<int>> runs(100);
    std::atomic<int> strangers{0};
    run_workers(runs.size(), [&](size_t worker) {
        if (QueryContext::current() != &context) ++strangers;
        ++runs[worker];
    });
    for (const auto& times : runs) EXPECT_EQ(times, 1);
    EXPECT_EQ(strangers, 0);
}

TEST(ThreadPool, NestedCallsOfManyThreadsEnd) {
    std::atomic<int> done{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i)
        threads.emplace_back([&] { parallel_for(8, 8, [&](size_t) { parallel_for(8, 8, [&](size_t) { ++done; }); }); });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(done, 16 * 64);
}

TEST(ThreadPool, TheFirstErrorIsThrownWhenAllHaveEnded) {
    std::atomic<int> ended{0};
    EXPECT_THROW(run_workers(8,
                             [&](size_t worker) {
                                 ++ended;
                                 if (worker % 2) throw std::runtime_error("odd");
                             }),
                 std::runtime_error);
    EXPECT_EQ(ended, 8);
}

TEST(ThreadPool, TasksThatComeLateTouchNothing) {
    // The caller does all the work before most threads wake up: its frame is gone then.
    for (int round = 0; round < 2000; ++round) {
        QueryContext context;
        const QueryContext::Scope scope(&context);
        std::atomic<int> runs{0};
        run_workers(4, [&](size_t) { ++runs; });
        ASSERT_EQ(runs, 4);
    }
}

}  // namespace
}  // namespace firn
