#include "firn/table/background_schedule.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::table {
namespace {
// Between the runs of a task whose period is shorter than a run takes.
constexpr std::chrono::milliseconds kLeastPause{1};
}  // namespace

BackgroundSchedule::~BackgroundSchedule() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        for (auto& [name, task] : tasks_) retire(task);
        tasks_.clear();
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void BackgroundSchedule::retire(const std::shared_ptr<Task>& task) {
    if (task->context) task->context->cancel();
}

void BackgroundSchedule::add(const std::string& name, std::chrono::milliseconds period, std::function<void()> work) {
    auto task = std::make_shared<Task>();
    task->period = std::max(period, kLeastPause);
    task->work = std::move(work);
    task->due = Clock::now();
    {
        std::lock_guard lock(mutex_);
        auto& place = tasks_[name];
        if (place) retire(place);
        place = std::move(task);
        if (threads_.size() < std::min(tasks_.size(), most_threads_)) threads_.emplace_back([this] { run(); });
    }
    changed_.notify_one();
}

void BackgroundSchedule::remove(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto found = tasks_.find(name);
    if (found == tasks_.end()) return;
    retire(found->second);
    tasks_.erase(found);
}

void BackgroundSchedule::remove_all(const std::string& prefix) {
    std::lock_guard lock(mutex_);
    for (auto at = tasks_.lower_bound(prefix); at != tasks_.end() && at->first.starts_with(prefix);) {
        retire(at->second);
        at = tasks_.erase(at);
    }
}

void BackgroundSchedule::set_threads(size_t most) {
    std::lock_guard lock(mutex_);
    most_threads_ = std::max<size_t>(1, most);
}

size_t BackgroundSchedule::threads() const {
    std::lock_guard lock(mutex_);
    return most_threads_;
}

size_t BackgroundSchedule::tasks() const {
    std::lock_guard lock(mutex_);
    return tasks_.size();
}

void BackgroundSchedule::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        std::shared_ptr<Task> next;
        for (const auto& [name, task] : tasks_)
            if (!task->running && (!next || task->due < next->due)) next = task;
        if (!next) {
            changed_.wait(lock);
            continue;
        }
        if (Clock::now() < next->due) {
            changed_.wait_until(lock, next->due);  // it may be another that is due by then
            continue;
        }
        next->running = true;
        next->context = std::make_shared<QueryContext>();
        const auto context = next->context;
        lock.unlock();
        try {
            const QueryContext::Scope scope(context.get());
            next->work();
        } catch (const std::exception&) {
            // A service that does not answer now is asked again at the next round; statements report it themselves.
        }
        context->add_to_process();
        lock.lock();
        next->running = false;
        next->context = nullptr;
        next->due = Clock::now() + next->period;
        changed_.notify_one();
    }
}

}  // namespace firn::table
