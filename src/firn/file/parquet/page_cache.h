// Decompressed pages kept from one statement to the next: zstd and its kin take more of most scans than all else.
//
// A page is kept when it is asked for the second time, so that what is read once costs neither memory nor time. When the
// cache is full a new page takes the place of pages that neither this statement nor the one before has used, and where
// there are none it is not kept: a scan larger than the cache finds what the scan before it left, instead of driving
// it out. The process has one cache. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/base/memory.h"

namespace firn::file::pq {

/// Which bytes: those at `offset` of a file whose identity (path, size, version) is `file`.
struct PageKey {
    std::string file;
    uint64_t offset = 0;
    friend bool operator==(const PageKey&, const PageKey&) = default;
};

class PageCache {
public:
    /// most: bytes that the cache may hold.
    explicit PageCache(uint64_t most) : most_(most) {}
    /// The process's own: 4 GiB, or an eighth of machine_memory() where that is less.
    static PageCache& instance();

    /// A statement begins, and uses the cache or does without.
    void begin_statement(bool use);

    /// The page, or null.
    BufferPtr find(const PageKey& key);
    /// Whether a page of so many bytes that was not found shall be kept: true at the second time of asking, and when
    /// there is room. memory_limit: of the statement, in bytes (0 = none); the cache then takes an eighth of it at most.
    bool wants(const PageKey& key, uint64_t bytes, int64_t memory_limit);
    /// To be called after wants() said so, with the same limit; drops the page where others have taken its room since.
    /// The buffer must not be charged to a query: it outlives it.
    void keep(const PageKey& key, BufferPtr page, int64_t memory_limit);

    /// Forgets all pages.
    void clear();
    uint64_t bytes() const;
    size_t entries() const;

private:
    struct Hash {
        size_t operator()(const PageKey& key) const;
    };
    struct Entry {
        PageKey key;
        BufferPtr page;
        uint64_t used = 0;  // the statement that used it last
    };
    uint64_t most(int64_t memory_limit) const;
    bool make_room(uint64_t bytes, uint64_t most);
    bool first_asked(uint64_t hash);

    const uint64_t most_;
    mutable std::mutex mutex_;
    bool on_ = true;
    uint64_t statement_ = 0;
    uint64_t bytes_ = 0;
    std::list<Entry> entries_;  // used last comes first
    std::unordered_map<PageKey, std::list<Entry>::iterator, Hash> index_;
    // Hashes of keys asked for, each at a place that follows from it; 0: nothing there.
    std::vector<uint64_t> asked_;
    size_t asked_count_ = 0;
};

}  // namespace firn::file::pq
