#include "firn/storage/object_cache.h"

#include "firn/storage/remote_store.h"

namespace firn::storage {

namespace {
constexpr size_t kObjectCacheBytes = size_t{128} << 20;
}  // namespace

BufferPtr ObjectCache::find(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->second;
}

void ObjectCache::insert(const std::string& key, BufferPtr bytes) {
    std::lock_guard lock(mutex_);
    if (const auto found = index_.find(key); found != index_.end()) {
        bytes_ -= found->second->second->size();
        entries_.erase(found->second);
        index_.erase(found);
    }
    bytes_ += bytes->size();
    entries_.emplace_front(key, std::move(bytes));
    index_[key] = entries_.begin();
    while (bytes_ > limit_bytes_ && entries_.size() > 1) {
        bytes_ -= entries_.back().second->size();
        index_.erase(entries_.back().first);
        entries_.pop_back();
    }
}

void ObjectCache::clear() {
    std::lock_guard lock(mutex_);
    entries_.clear();
    index_.clear();
    bytes_ = 0;
}

size_t ObjectCache::bytes() const {
    std::lock_guard lock(mutex_);
    return bytes_;
}

ObjectCache& object_cache() {
    static ObjectCache cache(kObjectCacheBytes);
    return cache;
}

void drop_object_cache() { object_cache().clear(); }

}  // namespace firn::storage
