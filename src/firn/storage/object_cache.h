// Bytes of remote objects kept in memory for all readers of the process, the least recently used dropped first.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firn/base/memory.h"
#include "firn/storage/covered_ranges.h"

namespace firn::storage {

/// Thread-safe. A key names an object and its version.
class ObjectCache {
public:
    explicit ObjectCache(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

    struct Found {
        BufferPtr bytes;   ///< null: there are none
        std::string etag;  ///< of the object when they were fetched; may be empty
    };
    /// A view of the range, where one entry has all of it. The range is not empty.
    Found find(const std::string& key, ByteRange range);
    /// The range, cut at the borders of what is there.
    std::vector<CoveredPart> parts(const std::string& key, ByteRange range) const;
    /// Keeps what of the bytes is not there yet. The buffer must not be charged to a query: it outlives it.
    void insert(const std::string& key, std::string_view etag, uint64_t offset, const BufferPtr& bytes);
    /// Drops what there is of the object.
    void forget(const std::string& key);
    void clear();
    /// Entries beyond the new limit go. 0: nothing is kept.
    void set_limit(size_t bytes);
    size_t bytes() const;
    size_t entries() const;

private:
    struct Entry {
        std::string key;
        std::string etag;
        uint64_t offset;
        BufferPtr bytes;
    };
    using Entries = std::list<Entry>;
    using Segments = std::map<uint64_t, Entries::iterator>;  // by offset
    static uint64_t length_of(const Entries::iterator& entry) { return entry->bytes->size(); }
    void shrink_to(size_t bytes);

    mutable std::mutex mutex_;
    size_t limit_bytes_;
    size_t bytes_ = 0;
    Entries entries_;  // most recently used first
    std::unordered_map<std::string, Segments> index_;
};

/// The process's own: 512 MiB, or a sixteenth of machine_memory() where that is less.
ObjectCache& object_cache();

}  // namespace firn::storage
