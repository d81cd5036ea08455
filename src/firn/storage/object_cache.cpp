#include "firn/storage/object_cache.h"

#include <algorithm>

#include "firn/base/machine_memory.h"

namespace firn::storage {
namespace {

constexpr size_t kMostBytes = size_t{512} << 20;
constexpr size_t kShareOfMachine = 16;

size_t default_bytes() { return std::min(kMostBytes, static_cast<size_t>(machine_memory()) / kShareOfMachine); }

}  // namespace

ObjectCache::Found ObjectCache::find(const std::string& key, ByteRange range) {
    std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return {};
    const auto at = found->second.upper_bound(range.offset);
    if (at == found->second.begin()) return {};
    const Entries::iterator entry = std::prev(at)->second;
    const uint64_t inside = range.offset - entry->offset;
    if (inside >= entry->bytes->size() || range.length > entry->bytes->size() - inside) return {};
    entries_.splice(entries_.begin(), entries_, entry);
    if (inside == 0 && range.length == entry->bytes->size()) return {entry->bytes, entry->etag};
    return {Buffer::wrap(entry->bytes->data() + inside, range.length, entry->bytes), entry->etag};
}

std::vector<CoveredPart> ObjectCache::parts(const std::string& key, ByteRange range) const {
    std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    static const Segments none;
    return covered_parts(found == index_.end() ? none : found->second, range, length_of);
}

void ObjectCache::insert(const std::string& key, std::string_view etag, uint64_t offset, const BufferPtr& bytes) {
    std::lock_guard lock(mutex_);
    if (bytes->size() == 0 || bytes->size() > limit_bytes_) return;
    Segments& segments = index_[key];
    for (const CoveredPart& part : covered_parts(segments, {offset, bytes->size()}, length_of)) {
        if (part.there) continue;
        BufferPtr kept = bytes;
        if (part.range.length < bytes->size()) {
            // Of its own: a view would keep the whole of what is there twice.
            const MemoryTracker::Scope uncharged(nullptr);
            auto copy = Buffer::allocate(part.range.length);
            std::copy_n(bytes->data() + (part.range.offset - offset), part.range.length, copy->mutable_data());
            kept = std::move(copy);
        }
        bytes_ += kept->size();
        entries_.push_front({key, std::string(etag), part.range.offset, std::move(kept)});
        segments[part.range.offset] = entries_.begin();
    }
    shrink_to(limit_bytes_);
}

void ObjectCache::shrink_to(size_t bytes) {
    while (bytes_ > bytes) {
        const Entry& last = entries_.back();
        bytes_ -= last.bytes->size();
        const auto object = index_.find(last.key);
        object->second.erase(last.offset);
        if (object->second.empty()) index_.erase(object);
        entries_.pop_back();
    }
}

void ObjectCache::forget(const std::string& key) {
    std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    for (const auto& [offset, entry] : found->second) {
        bytes_ -= entry->bytes->size();
        entries_.erase(entry);
    }
    index_.erase(found);
}

void ObjectCache::clear() {
    std::lock_guard lock(mutex_);
    shrink_to(0);
}

void ObjectCache::set_limit(size_t bytes) {
    std::lock_guard lock(mutex_);
    limit_bytes_ = bytes;
    shrink_to(bytes);
}

size_t ObjectCache::bytes() const {
    std::lock_guard lock(mutex_);
    return bytes_;
}

size_t ObjectCache::entries() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
}

ObjectCache& object_cache() {
    static ObjectCache* const cache = new ObjectCache(default_bytes());  // never freed: an exit need not wait for that
    return *cache;
}

}  // namespace firn::storage
