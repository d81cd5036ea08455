#include "firn/base/memory.h"

#include <sys/mman.h>

#include <cstdlib>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn {
namespace {
constexpr size_t kAlignment = 64;
constexpr size_t kPadding = 64;
constexpr size_t kLargestBlock = size_t{1} << 20;
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kHugeFrom = 2 * kHugePage;  // bytes from which the system is asked for large pages
thread_local std::shared_ptr<MemoryTracker> current_tracker;

/// Large blocks lie on large pages where the system has them: filling fresh memory otherwise costs a fault every 4 KiB.
char* allocate_bytes(size_t bytes) {
    if (bytes < kHugeFrom) return static_cast<char*>(std::aligned_alloc(kAlignment, bytes));
    void* block = nullptr;
    if (posix_memalign(&block, kHugePage, bytes) != 0) return nullptr;
    madvise(block, bytes & ~(kHugePage - 1), MADV_HUGEPAGE);  // a wish: nothing depends on it
    return static_cast<char*>(block);
}
}  // namespace

void MemoryTracker::allocate(int64_t bytes) {
    const int64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    const int64_t limit = this->limit();
    if (limit > 0 && now > limit) {
        used_.fetch_sub(bytes, std::memory_order_relaxed);
        fail(ErrorCode::MEMORY_LIMIT_EXCEEDED,
             "Query memory limit exceeded: would use {} bytes (attempt to allocate {} bytes), maximum: {} bytes. Raise "
             "max_memory_usage",
             now, bytes, limit);
    }
    if (parent_) {
        try {
            parent_->allocate(bytes);
        } catch (...) {
            used_.fetch_sub(bytes, std::memory_order_relaxed);
            throw;
        }
    }
    if (!parent_) count_event(ProfileEvent::MemoryAllocatedBytes, static_cast<uint64_t>(bytes));
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
}

void MemoryTracker::release(int64_t bytes) noexcept {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    if (parent_) parent_->release(bytes);
}

int64_t MemoryTracker::available() const noexcept {
    const int64_t limit = this->limit();
    int64_t left = limit > 0 ? limit - used() : INT64_MAX;
    if (parent_) left = std::min(left, parent_->available());
    return left < 0 ? 0 : left;
}

const std::shared_ptr<MemoryTracker>& MemoryTracker::current() noexcept { return current_tracker; }

MemoryTracker::Scope::Scope(std::shared_ptr<MemoryTracker> tracker) : previous_(std::move(current_tracker)) {
    current_tracker = std::move(tracker);
}
MemoryTracker::Scope::~Scope() { current_tracker = std::move(previous_); }

std::shared_ptr<Buffer> Buffer::allocate(size_t bytes) {
    const size_t whole = (bytes + kPadding + kAlignment - 1) & ~(kAlignment - 1);
    if (whole < bytes) fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "Cannot allocate {} bytes", bytes);
    std::shared_ptr<Buffer> buffer(new Buffer());
    buffer->tracker_ = MemoryTracker::current();
    if (buffer->tracker_) buffer->tracker_->allocate(static_cast<int64_t>(whole));
    buffer->charged_ = whole;
    buffer->data_ = allocate_bytes(whole);
    if (!buffer->data_)
        fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "Cannot allocate {} bytes: the system has no more", whole);
    buffer->size_ = bytes;
    std::memset(buffer->data_ + bytes, 0, whole - bytes);
    return buffer;
}

std::shared_ptr<Buffer> Buffer::allocate_zeroed(size_t bytes) {
    auto buffer = allocate(bytes);
    std::memset(buffer->mutable_data(), 0, bytes);
    return buffer;
}

std::shared_ptr<Buffer> Buffer::wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner) {
    std::shared_ptr<Buffer> buffer(new Buffer());
    buffer->data_ = const_cast<char*>(static_cast<const char*>(data));
    buffer->size_ = bytes;
    buffer->owner_ = std::move(owner);
    return buffer;
}

Buffer::~Buffer() {
    if (charged_) {
        std::free(data_);
        if (tracker_) tracker_->release(static_cast<int64_t>(charged_));
    }
}

void Arena::grow(size_t at_least) {
    const size_t size = std::max(next_block_, at_least);
    blocks_.push_back(Buffer::allocate(size));
    block_ = blocks_.back().get();
    total_ += size;
    if (next_block_ < kLargestBlock) next_block_ *= 2;
    used_ = 0;
}

}  // namespace firn
