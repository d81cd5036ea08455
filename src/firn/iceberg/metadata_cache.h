// Parsed metadata kept in memory: metadata files, manifest lists, manifests, and whatever else is parsed once and
// immutable (data files' footers); and which metadata file of a table was the newest when its catalog was last asked.
// Limited in bytes; the least recently used goes first. Thread-safe.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "firn/storage/object_store.h"

namespace firn::iceberg {

class MetadataCache {
public:
    using Clock = std::chrono::steady_clock;
    /// What an entry was parsed from, by which entries are counted and dropped.
    enum class Kind : uint8_t { Metadata, Footer };

    explicit MetadataCache(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

    /// The value under `key`, which names the object and its version (path, size, etag) and what was parsed of it; made by
    /// `load`, which also gives its bytes, where there is none. Two threads that miss at once may both load. The caller
    /// always asks for one type under one key.
    template <typename T>
    std::shared_ptr<const T> get(const std::string& key,
                                 const std::function<std::pair<std::shared_ptr<const T>, size_t>()>& load,
                                 Kind kind = Kind::Metadata) {
        if (auto found = find<T>(key, kind)) return found;
        auto [value, bytes] = load();
        put(key, value, bytes, kind);
        return value;
    }
    /// The same in two steps, for what is made on the way of something else. Null where there is none.
    template <typename T>
    std::shared_ptr<const T> find(const std::string& key, Kind kind = Kind::Metadata) {
        return std::static_pointer_cast<const T>(find_any(key, kind));
    }
    /// No effect where there is a value under the key.
    void put(const std::string& key, std::shared_ptr<const void> value, size_t bytes, Kind kind = Kind::Metadata);

    /// Whether there is a value under the key now; no use of it.
    bool has(const std::string& key) const;

    /// The table's newest metadata file as it was found no longer than `window` ago; nothing where that is not known, or
    /// where window is 0.
    std::optional<storage::ObjectInfo> newest(const std::string& table, std::chrono::milliseconds window) const;
    /// The same was found out of the catalog or a listing that was asked at `asked_at`.
    void found_newest(const std::string& table, storage::ObjectInfo metadata_file, Clock::time_point asked_at);

    /// Forgets the entries of that kind; with metadata also which files were the newest.
    void clear(Kind kind);
    size_t bytes(Kind kind) const;
    size_t entries(Kind kind) const;

private:
    struct Entry {
        std::string key;
        std::shared_ptr<const void> value;
        size_t bytes;
        Kind kind;
    };
    struct Newest {
        storage::ObjectInfo metadata_file;
        Clock::time_point asked_at;
    };
    struct Total {
        size_t bytes = 0, entries = 0;
    };
    std::shared_ptr<const void> find_any(const std::string& key, Kind kind);
    void forget(std::list<Entry>::iterator entry);

    mutable std::mutex mutex_;
    size_t limit_bytes_;
    std::array<Total, 2> totals_;  // by kind
    std::list<Entry> entries_;     // most recently used first
    std::unordered_map<std::string, std::list<Entry>::iterator> index_;
    std::unordered_map<std::string, Newest> newest_;
};

}  // namespace firn::iceberg
