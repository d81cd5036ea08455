#include "firn/iceberg/metadata_cache.h"

#include "firn/base/query_context.h"

namespace firn::iceberg {
namespace {
constexpr size_t kMostTables = 10'000;  // whose newest file is remembered
}  // namespace

std::shared_ptr<const void> MetadataCache::find_any(const std::string& key, Kind kind) {
    std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    const bool footer = kind == Kind::Footer;
    if (found == index_.end()) {
        count_event(footer ? ProfileEvent::ParquetMetadataCacheMisses : ProfileEvent::IcebergMetadataFilesCacheMisses);
        return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    count_event(footer ? ProfileEvent::ParquetMetadataCacheHits : ProfileEvent::IcebergMetadataFilesCacheHits);
    return found->second->value;
}

bool MetadataCache::has(const std::string& key) const {
    std::lock_guard lock(mutex_);
    return index_.contains(key);
}

void MetadataCache::forget(std::list<Entry>::iterator entry) {
    Total& total = totals_[static_cast<size_t>(entry->kind)];
    total.bytes -= entry->bytes;
    --total.entries;
    index_.erase(entry->key);
    entries_.erase(entry);
}

void MetadataCache::put(const std::string& key, std::shared_ptr<const void> value, size_t bytes, Kind kind) {
    std::lock_guard lock(mutex_);
    if (bytes > limit_bytes_ || index_.contains(key)) return;
    entries_.push_front({key, std::move(value), bytes, kind});
    index_[key] = entries_.begin();
    Total& total = totals_[static_cast<size_t>(kind)];
    total.bytes += bytes;
    ++total.entries;
    while (totals_[0].bytes + totals_[1].bytes > limit_bytes_) forget(std::prev(entries_.end()));
}

std::optional<storage::ObjectInfo> MetadataCache::newest(const std::string& table,
                                                         std::chrono::milliseconds window) const {
    if (window.count() <= 0) return std::nullopt;
    std::lock_guard lock(mutex_);
    const auto found = newest_.find(table);
    if (found == newest_.end()) return std::nullopt;
    if (Clock::now() - found->second.asked_at >= window) {
        count_event(ProfileEvent::IcebergMetadataFilesCacheStaleMisses);
        return std::nullopt;
    }
    count_event(ProfileEvent::IcebergMetadataFilesCacheHits);
    return found->second.metadata_file;
}

void MetadataCache::found_newest(const std::string& table, storage::ObjectInfo metadata_file,
                                 Clock::time_point asked_at) {
    std::lock_guard lock(mutex_);
    const auto found = newest_.find(table);
    if (found == newest_.end()) {
        if (newest_.size() >= kMostTables) newest_.clear();
        newest_.emplace(table, Newest{std::move(metadata_file), asked_at});
    } else if (found->second.asked_at <= asked_at) {
        found->second = {std::move(metadata_file), asked_at};  // a slower answer does not replace a newer one
    }
}

void MetadataCache::clear(Kind kind) {
    std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
        const auto next = std::next(entry);
        if (entry->kind == kind) forget(entry);
        entry = next;
    }
    if (kind == Kind::Metadata) newest_.clear();
}

size_t MetadataCache::bytes(Kind kind) const {
    std::lock_guard lock(mutex_);
    return totals_[static_cast<size_t>(kind)].bytes;
}

size_t MetadataCache::entries(Kind kind) const {
    std::lock_guard lock(mutex_);
    return totals_[static_cast<size_t>(kind)].entries;
}

}  // namespace firn::iceberg
