#include "firn/base/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "firn/base/query_context.h"

namespace firn {
namespace {

/// Grows to as many threads as are busy at once and keeps them; joined when the process ends.
class Pool {
public:
    static Pool& instance() {
        static Pool pool;
        return pool;
    }

    void submit(std::function<void()> task) {
        std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        if (idle_ < tasks_.size()) {
            try {
                threads_.emplace_back([this] { run(); });
            } catch (const std::system_error&) {
                // No more threads to be had: others take the task, or who waits for it does its work.
            }
        }
        wake_.notify_one();
    }

    ~Pool() {
        {
            std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            ++idle_;
            wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
            --idle_;
            if (tasks_.empty()) return;
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
            task = nullptr;
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    size_t idle_ = 0;
    bool stopping_ = false;
};

/// The workers of one call. Shared with tasks of the pool, which may come to them when all have been taken.
class Gathering {
public:
    Gathering(size_t workers, const std::function<void(size_t)>& work) : workers_(workers), work_(&work) {}

    /// Takes the next worker and runs it, for the query of `context` where that is not null; false where none is left.
    bool run_next(QueryContext* context) {
        size_t worker = 0;
        {
            std::lock_guard lock(mutex_);
            if (next_ == workers_) return false;
            worker = next_++;
        }
        std::exception_ptr error;
        {
            // The context lives for as long as a worker of its query runs, and no longer.
            std::optional<QueryContext::Scope> scope;
            if (context) scope.emplace(context);
            try {
                (*work_)(worker);
            } catch (...) {
                error = std::current_exception();
            }
        }
        std::lock_guard lock(mutex_);
        if (error && !first_error_) first_error_ = std::move(error);
        if (++ended_ == workers_) done_.notify_all();
        return true;
    }

    /// Waits for those that others have taken, when none is left to take.
    void wait() {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return ended_ == workers_; });
        if (first_error_) std::rethrow_exception(first_error_);
    }

private:
    const size_t workers_;
    const std::function<void(size_t)>* work_;  // of the caller, who waits for every worker that was taken
    std::mutex mutex_;
    std::condition_variable done_;
    size_t next_ = 0, ended_ = 0;
    std::exception_ptr first_error_;
};

}  // namespace

void run_workers(size_t workers, const std::function<void(size_t)>& work) {
    if (workers <= 1) {
        work(0);
        return;
    }
    const auto gathering = std::make_shared<Gathering>(workers, work);
    QueryContext* context = QueryContext::current();
    for (size_t worker = 1; worker < workers; ++worker) {
        Pool::instance().submit([gathering, context] { gathering->run_next(context); });
    }
    // What no thread has begun when this one is through is done here: nobody waits for threads that are busy elsewhere.
    while (gathering->run_next(nullptr)) {
    }
    gathering->wait();
}

void parallel_for(size_t tasks, size_t workers, const std::function<void(size_t)>& work) {
    std::atomic<size_t> next{0};
    std::atomic<bool> stop{false};
    run_workers(std::min(workers, tasks), [&](size_t) {
        for (size_t task; !stop.load(std::memory_order_relaxed) && (task = next.fetch_add(1)) < tasks;) {
            try {
                work(task);
            } catch (...) {
                stop.store(true);
                throw;
            }
        }
    });
}

}  // namespace firn
