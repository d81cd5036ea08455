// Whole small objects kept in memory for all readers of the process, the least recently used dropped first.
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

#include "firn/base/memory.h"

namespace firn::storage {

class ObjectCache {
public:
    explicit ObjectCache(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

    /// Null where there is none.
    BufferPtr find(const std::string& key);
    void insert(const std::string& key, BufferPtr bytes);
    void clear();
    size_t bytes() const;

private:
    mutable std::mutex mutex_;
    size_t limit_bytes_;
    size_t bytes_ = 0;
    std::list<std::pair<std::string, BufferPtr>> entries_;  // most recently used first
    std::unordered_map<std::string, std::list<std::pair<std::string, BufferPtr>>::iterator> index_;
};

ObjectCache& object_cache();

}  // namespace firn::storage
