#include "firn/file/parquet/page_cache.h"

#include <algorithm>
#include <functional>

#include "firn/base/machine_memory.h"

namespace firn::file::pq {
namespace {

constexpr uint64_t kMostBytes = uint64_t{4} << 30;
constexpr uint64_t kShareOfMachine = 8;
constexpr uint64_t kShareOfLimit = 8;
// Places for what was asked for: as many as pages need not to drive each other out, up to a limit.
constexpr size_t kLeastAsked = 1 << 12, kMostAsked = 1 << 20;
/// Of an entry besides its page.
constexpr uint64_t kEntryBytes = 512;

uint64_t default_bytes() { return std::min(kMostBytes, static_cast<uint64_t>(machine_memory()) / kShareOfMachine); }

}  // namespace

size_t PageCache::Hash::operator()(const PageKey& key) const {
    return std::hash<std::string>()(key.file) ^ (key.offset + 1) * 0x9e3779b97f4a7c15ULL;
}

PageCache& PageCache::instance() {
    static PageCache* const cache = new PageCache(default_bytes());  // never freed: an exit need not wait for that
    return *cache;
}

void PageCache::begin_statement(bool use) {
    std::lock_guard lock(mutex_);
    on_ = use;
    ++statement_;
}

BufferPtr PageCache::find(const PageKey& key) {
    std::lock_guard lock(mutex_);
    if (!on_ || entries_.empty()) return nullptr;
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    entries_.front().used = statement_;
    return entries_.front().page;
}

bool PageCache::make_room(uint64_t bytes, uint64_t most) {
    while (bytes_ + bytes > most) {
        // Pages that went out of the limit of this statement go whoever used them.
        if (entries_.empty() || (entries_.back().used + 1 >= statement_ && bytes_ <= most)) return false;
        bytes_ -= entries_.back().page->size() + kEntryBytes;
        index_.erase(entries_.back().key);
        entries_.pop_back();
    }
    return true;
}

uint64_t PageCache::most(int64_t memory_limit) const {
    return memory_limit > 0 ? std::min(most_, static_cast<uint64_t>(memory_limit) / kShareOfLimit) : most_;
}

bool PageCache::wants(const PageKey& key, uint64_t bytes, int64_t memory_limit) {
    const uint64_t most = this->most(memory_limit);
    const uint64_t hash = Hash()(key) | 1;
    std::lock_guard lock(mutex_);
    if (!on_ || bytes + kEntryBytes > most / 4) return false;
    if (first_asked(hash)) return false;
    return make_room(bytes + kEntryBytes, most);
}

bool PageCache::first_asked(uint64_t hash) {
    if (asked_.empty()) asked_.assign(kLeastAsked, 0);
    uint64_t& place = asked_[(hash >> 20) % asked_.size()];
    if (place == hash) return false;
    const bool fills = place == 0;
    place = hash;
    if (fills && ++asked_count_ > asked_.size() / 8 && asked_.size() < kMostAsked) {
        std::vector<uint64_t> more(asked_.size() * 4, 0);
        for (const uint64_t asked : asked_)
            if (asked) more[(asked >> 20) % more.size()] = asked;
        asked_.swap(more);
    }
    return true;
}

void PageCache::keep(const PageKey& key, BufferPtr page, int64_t memory_limit) {
    std::lock_guard lock(mutex_);
    // Other workers may have kept pages since there was room for this one.
    if (index_.contains(key) || !make_room(page->size() + kEntryBytes, most(memory_limit))) return;
    bytes_ += page->size() + kEntryBytes;
    entries_.push_front({key, std::move(page), statement_});
    index_[key] = entries_.begin();
}

void PageCache::clear() {
    std::lock_guard lock(mutex_);
    entries_.clear();
    index_.clear();
    asked_.clear();
    asked_count_ = 0;
    bytes_ = 0;
}

uint64_t PageCache::bytes() const {
    std::lock_guard lock(mutex_);
    return bytes_;
}

size_t PageCache::entries() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace firn::file::pq
