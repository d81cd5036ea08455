// Parsed metadata kept in memory: metadata files, manifest lists, manifests, and whatever else is parsed once and
// immutable (data files' footers). Limited in bytes; the least recently used goes first. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace firn::iceberg {

class MetadataCache {
public:
    explicit MetadataCache(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

    /// The value under `key`, which names the object and its version (path, size, etag) and what was parsed of it; made by
    /// `load`, which also gives its bytes, where there is none. Two threads that miss at once may both load. The caller
    /// always asks for one type under one key.
    template <typename T>
    std::shared_ptr<const T> get(const std::string& key,
                                 const std::function<std::pair<std::shared_ptr<const T>, size_t>()>& load) {
        if (auto found = find<T>(key)) return found;
        auto [value, bytes] = load();
        put(key, value, bytes);
        return value;
    }
    /// The same in two steps, for what is made on the way of something else. Null where there is none.
    template <typename T>
    std::shared_ptr<const T> find(const std::string& key) {
        return std::static_pointer_cast<const T>(find_any(key));
    }
    /// No effect where there is a value under the key.
    void put(const std::string& key, std::shared_ptr<const void> value, size_t bytes);

    /// Whether there is a value under the key now; no use of it.
    bool has(const std::string& key) const;
    void clear();
    size_t bytes() const;
    size_t entries() const;

private:
    struct Entry {
        std::string key;
        std::shared_ptr<const void> value;
        size_t bytes;
    };
    std::shared_ptr<const void> find_any(const std::string& key);

    mutable std::mutex mutex_;
    size_t limit_bytes_;
    size_t bytes_ = 0;
    std::list<Entry> entries_;  // most recently used first
    std::unordered_map<std::string, std::list<Entry>::iterator> index_;
};

}  // namespace firn::iceberg
