#include "firn/iceberg/metadata_cache.h"

#include "firn/base/query_context.h"

namespace firn::iceberg {

std::shared_ptr<const void> MetadataCache::find_any(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) {
        count_event(ProfileEvent::IcebergMetadataFilesCacheMisses);
        return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    count_event(ProfileEvent::IcebergMetadataFilesCacheHits);
    return found->second->value;
}

bool MetadataCache::has(const std::string& key) const {
    std::lock_guard lock(mutex_);
    return index_.contains(key);
}

void MetadataCache::put(const std::string& key, std::shared_ptr<const void> value, size_t bytes) {
    std::lock_guard lock(mutex_);
    if (bytes > limit_bytes_ || index_.contains(key)) return;
    entries_.push_front({key, std::move(value), bytes});
    index_[key] = entries_.begin();
    bytes_ += bytes;
    while (bytes_ > limit_bytes_) {
        bytes_ -= entries_.back().bytes;
        index_.erase(entries_.back().key);
        entries_.pop_back();
    }
}

void MetadataCache::clear() {
    std::lock_guard lock(mutex_);
    entries_.clear();
    index_.clear();
    bytes_ = 0;
}

size_t MetadataCache::bytes() const {
    std::lock_guard lock(mutex_);
    return bytes_;
}

size_t MetadataCache::entries() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace firn::iceberg
