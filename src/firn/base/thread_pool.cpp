#include "firn/base/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
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
        if (idle_ < tasks_.size()) threads_.emplace_back([this] { run(); });
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

struct Gathering {
    std::mutex mutex;
    std::condition_variable done;
    size_t running = 0;
    std::exception_ptr first_error;

    void note(std::exception_ptr error) {
        std::lock_guard lock(mutex);
        if (!first_error) first_error = std::move(error);
    }
};

}  // namespace

void run_workers(size_t workers, const std::function<void(size_t)>& work) {
    if (workers <= 1) {
        work(0);
        return;
    }
    Gathering gathering;
    gathering.running = workers - 1;
    QueryContext* context = QueryContext::current();
    for (size_t worker = 1; worker < workers; ++worker) {
        Pool::instance().submit([&gathering, &work, context, worker] {
            {
                QueryContext::Scope scope(context);
                try {
                    work(worker);
                } catch (...) {
                    gathering.note(std::current_exception());
                }
            }
            std::lock_guard lock(gathering.mutex);
            if (--gathering.running == 0) gathering.done.notify_all();
        });
    }
    try {
        work(0);
    } catch (...) {
        gathering.note(std::current_exception());
    }
    std::unique_lock lock(gathering.mutex);
    gathering.done.wait(lock, [&] { return gathering.running == 0; });
    if (gathering.first_error) std::rethrow_exception(gathering.first_error);
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
