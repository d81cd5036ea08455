#include "firn/table/background_schedule.h"

#include <atomic>

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::table {
namespace {

using std::chrono::milliseconds;

template <typename Condition>
bool soon(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(5));
    return condition();
}

TEST(BackgroundSchedule, RunsAgainAndAgainUntilRemoved) {
    std::atomic<int> runs{0};
    BackgroundSchedule schedule;  // ends before what its tasks write to
    schedule.add("a", milliseconds(5), [&] { ++runs; });
    EXPECT_TRUE(soon([&] { return runs >= 3; }));
    EXPECT_EQ(schedule.tasks(), 1U);
    schedule.remove("a");
    EXPECT_EQ(schedule.tasks(), 0U);
    std::this_thread::sleep_for(milliseconds(30));  // one may be under way
    const int after = runs;
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(runs, after);
}

TEST(BackgroundSchedule, OneTasksErrorEndsThatRunAlone) {
    std::atomic<int> failures{0}, runs{0};
    BackgroundSchedule schedule;
    schedule.set_threads(1);
    schedule.add("bad", milliseconds(1), [&] {
        ++failures;
        fail(ErrorCode::S3_ERROR, "nothing there");
    });
    schedule.add("good", milliseconds(1), [&] { ++runs; });
    EXPECT_TRUE(soon([&] { return failures >= 3 && runs >= 3; }));
}

TEST(BackgroundSchedule, NoMoreThreadsThanAllowed) {
    std::atomic<int> now{0}, most{0}, runs{0};
    BackgroundSchedule schedule;
    schedule.set_threads(2);
    for (int i = 0; i < 6; ++i)
        schedule.add("task " + std::to_string(i), milliseconds(1), [&] {
            const int running = ++now;
            if (running > most) most = running;
            std::this_thread::sleep_for(milliseconds(3));
            --now;
            ++runs;
        });
    EXPECT_TRUE(soon([&] { return runs >= 30; }));
    schedule.remove_all("task");
    EXPECT_EQ(most, 2);
}

TEST(BackgroundSchedule, TheEndCancelsWhatRuns) {
    std::atomic<bool> begun{false};
    const auto begin = std::chrono::steady_clock::now();
    {
        BackgroundSchedule schedule;
        schedule.add("long", milliseconds(1), [&] {
            begun = true;
            for (int i = 0; i < 2000; ++i) {
                check_cancelled();
                std::this_thread::sleep_for(milliseconds(5));
            }
        });
        EXPECT_TRUE(soon([&] { return begun.load(); }));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace firn::table
