// Work that is done again and again beside the statements: the metadata of tables made with
// iceberg_metadata_async_prefetch_period_ms. A few threads, begun when there is work, serve all tasks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace firn {
class QueryContext;
}

namespace firn::table {

/// Thread-safe. The destructor cancels what runs and waits for it.
class BackgroundSchedule {
public:
    BackgroundSchedule() = default;
    ~BackgroundSchedule();
    BackgroundSchedule(const BackgroundSchedule&) = delete;
    BackgroundSchedule& operator=(const BackgroundSchedule&) = delete;

    /// Runs `work` now and then `period` after each end of it, until the name is removed or added anew. An Error of a run
    /// ends that run alone. Each run has a QueryContext of its own, cancelled when the task is removed.
    void add(const std::string& name, std::chrono::milliseconds period, std::function<void()> work);
    void remove(const std::string& name);
    /// Removes all whose names begin so.
    void remove_all(const std::string& prefix);

    /// Threads at most; at least one. Holds for threads begun later.
    void set_threads(size_t most);
    size_t threads() const;  ///< at most
    size_t tasks() const;

private:
    using Clock = std::chrono::steady_clock;
    struct Task {
        std::chrono::milliseconds period{0};
        std::function<void()> work;
        Clock::time_point due;
        bool running = false;
        std::shared_ptr<QueryContext> context;  // of the present run
    };
    void run();
    void retire(const std::shared_ptr<Task>& task);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::shared_ptr<Task>> tasks_;
    std::vector<std::thread> threads_;
    size_t most_threads_ = 10;
    bool stopping_ = false;
};

}  // namespace firn::table
