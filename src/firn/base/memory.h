// Memory that a query is charged for.
//
// A MemoryTracker counts bytes against a limit; trackers form a chain (query -> process). The thread's current tracker
// (set by MemoryTracker::Scope while it works for a query) is charged by Buffer, Arena and TrackedAllocator. What they
// allocated is released from the tracker that was charged, whichever thread frees it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace firn {

class MemoryTracker {
public:
    /// limit in bytes, 0 = none. parent may be null. Trackers are owned by shared_ptr, as buffers outlive queries.
    explicit MemoryTracker(int64_t limit = 0, std::shared_ptr<MemoryTracker> parent = nullptr)
        : limit_(limit), parent_(std::move(parent)) {}

    /// Charges bytes; throws MEMORY_LIMIT_EXCEEDED, with nothing charged, where that would pass a limit.
    void allocate(int64_t bytes);
    void release(int64_t bytes) noexcept;

    int64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
    int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
    int64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
    /// What is charged already stays, even beyond a new limit.
    void set_limit(int64_t limit) noexcept { limit_.store(limit, std::memory_order_relaxed); }
    /// Bytes still free under the nearest limit; INT64_MAX without one. Operators ask it to decide when to spill.
    int64_t available() const noexcept;

    /// The tracker of the work this thread does now; null outside of a query.
    static const std::shared_ptr<MemoryTracker>& current() noexcept;

    /// Makes a tracker the thread's current one until the scope ends.
    class Scope {
    public:
        explicit Scope(std::shared_ptr<MemoryTracker> tracker);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        std::shared_ptr<MemoryTracker> previous_;
    };

private:
    std::atomic<int64_t> used_{0};
    std::atomic<int64_t> peak_{0};
    std::atomic<int64_t> limit_;
    std::shared_ptr<MemoryTracker> parent_;
};

/// A block of bytes, 64-byte aligned, with 64 readable bytes of padding behind size(). Charged to the current tracker.
/// Mutable while its maker fills it; shared as BufferPtr it is not to be changed.
class Buffer {
public:
    /// The bytes are not set, except the padding, which is zero.
    static std::shared_ptr<Buffer> allocate(size_t bytes);
    static std::shared_ptr<Buffer> allocate_zeroed(size_t bytes);
    /// A view of bytes that owner keeps alive (a decompressed page, an mmap). No padding is promised.
    static std::shared_ptr<Buffer> wrap(const void* data, size_t bytes, std::shared_ptr<const void> owner);

    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    size_t size() const noexcept { return size_; }
    const char* data() const noexcept { return data_; }
    char* mutable_data() noexcept { return data_; }
    template <typename T>
    const T* as() const noexcept {
        return reinterpret_cast<const T*>(data_);
    }
    template <typename T>
    T* mutable_as() noexcept {
        return reinterpret_cast<T*>(data_);
    }
    /// Fewer bytes are in use than were allocated.
    void shrink(size_t bytes) noexcept {
        if (bytes < size_) size_ = bytes;
    }

private:
    Buffer() = default;
    char* data_ = nullptr;
    size_t size_ = 0;
    size_t charged_ = 0;
    std::shared_ptr<MemoryTracker> tracker_;
    std::shared_ptr<const void> owner_;
};

using BufferPtr = std::shared_ptr<const Buffer>;
using MutableBufferPtr = std::shared_ptr<Buffer>;

/// Bump allocator for many small pieces that die together (group keys, aggregate states, strings). Not thread-safe.
class Arena {
public:
    explicit Arena(size_t first_block = 4096) : next_block_(first_block) {}

    char* allocate(size_t bytes, size_t alignment = 8) {
        size_t start = (used_ + alignment - 1) & ~(alignment - 1);
        if (!block_ || start + bytes > block_->size()) {
            grow(bytes + alignment);
            start = 0;  // blocks are 64-byte aligned
        }
        used_ = start + bytes;
        return block_->mutable_data() + start;
    }
    /// A copy of the bytes that lives as long as the arena.
    const char* copy(const char* data, size_t bytes) {
        char* place = allocate(bytes, 1);
        if (bytes) std::memcpy(place, data, bytes);
        return place;
    }
    size_t allocated_bytes() const noexcept { return total_; }

private:
    void grow(size_t at_least);
    std::vector<MutableBufferPtr> blocks_;
    Buffer* block_ = nullptr;
    size_t used_ = 0;
    size_t next_block_;
    size_t total_ = 0;
};

/// For standard containers that may grow with the data: std::vector<T, TrackedAllocator<T>>.
template <typename T>
class TrackedAllocator {
public:
    using value_type = T;
    TrackedAllocator() : tracker_(MemoryTracker::current()) {}
    template <typename U>
    TrackedAllocator(const TrackedAllocator<U>& other) noexcept : tracker_(other.tracker_) {}
    T* allocate(size_t n) {
        if (tracker_) tracker_->allocate(static_cast<int64_t>(n * sizeof(T)));
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* place, size_t n) noexcept {
        std::allocator<T>().deallocate(place, n);
        if (tracker_) tracker_->release(static_cast<int64_t>(n * sizeof(T)));
    }
    template <typename U>
    bool operator==(const TrackedAllocator<U>& other) const noexcept {
        return tracker_ == other.tracker_;
    }
    std::shared_ptr<MemoryTracker> tracker_;
};

template <typename T>
using TrackedVector = std::vector<T, TrackedAllocator<T>>;

}  // namespace firn
