// Bytes of remote objects kept in a directory of the local disk, across processes and restarts.
//
// The directory is the truth: every segment is a file PATH/xx/HASH/OFFSET-LENGTH, HASH of the object's key, that is written under
// another name and then renamed, and that is proved by its checksums whenever it is read (cache_segment.h). Several
// processes may share it: a file that another removed is a miss. When a segment is used its time of modification is set,
// and those with the oldest go when the directory holds more than it may. Nothing here fails a query: what cannot be
// read is fetched, what cannot be written is not kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firn/base/memory.h"
#include "firn/storage/cache_segment.h"
#include "firn/storage/configuration.h"
#include "firn/storage/covered_ranges.h"

namespace firn::storage {

struct FilesystemCacheOptions {
    std::string name;
    std::string path;       ///< absolute
    uint64_t max_size = 0;  ///< bytes of all files, heads included
};

/// Thread-safe.
class FilesystemCache {
public:
    struct Object {
        std::string key;    ///< service, path and version
        uint64_t size = 0;  ///< bytes
    };
    struct Found {
        BufferPtr bytes;
        std::string etag;  ///< of the object when they were fetched; may be empty
    };
    /// A file of the cache.
    struct Segment {
        std::string path;
        std::string hash;  ///< of the object's key
        uint64_t offset = 0, length = 0;
        uint64_t bytes = 0;   ///< of the file
        int64_t used_ns = 0;  ///< last use, nanoseconds since 1970
        uint64_t hits = 0;    ///< of this process
    };

    explicit FilesystemCache(FilesystemCacheOptions options) : options_(std::move(options)) {}
    const FilesystemCacheOptions& options() const { return options_; }

    /// The range, cut at the borders of what is there, as this process knows it.
    std::vector<CoveredPart> parts(const Object& object, ByteRange range);
    /// The bytes, where segments have all of them; charged to the current query.
    std::optional<Found> read(const Object& object, ByteRange range);
    /// As read, of the whole of an object whose size is not known.
    std::optional<Found> read_whole(const std::string& key, uint64_t limit);
    /// Keeps what of the bytes is not there yet, if there is room or room can be made.
    void write(const Object& object, std::string_view etag, uint64_t offset, std::span<const uint8_t> bytes);
    /// Removes the object's segments.
    void forget(const std::string& key);
    /// Removes all segments.
    void clear();

    uint64_t bytes();
    size_t entries();
    /// All segments, read from the directory now.
    std::vector<Segment> segments();

private:
    struct Known {
        uint64_t length = 0;
        uint64_t hits = 0;
    };
    using Segments = std::map<uint64_t, Known>;  // by offset
    static uint64_t length_of(const Known& known) { return known.length; }

    std::string folder_of(const std::string& key) const;
    Segments& known_in(const std::string& folder);
    bool read_segment(const Object& object, const std::string& folder, ByteRange segment, ByteRange range,
                      std::span<uint8_t> out, Found& found, uint64_t& object_size);
    void drop_segment(const std::string& folder, ByteRange segment, bool damaged);
    bool reserve(uint64_t bytes);
    bool make_room(uint64_t bytes);
    std::vector<Segment> scan();
    void remove(const Segment& segment);
    std::vector<ByteRange> missing_in(const std::string& folder, ByteRange range);
    bool is_missing(const std::string& folder, ByteRange range);
    int write_segment(const std::string& folder, SegmentHead fields, std::span<const uint8_t> bytes);
    int write_file(const std::string& folder, const std::string& name, std::string_view head,
                   std::span<const uint8_t> bytes);
    void write_failed(int error);

    const FilesystemCacheOptions options_;
    std::mutex mutex_;                                   // of the members below
    std::unordered_map<std::string, Segments> known_;    // by folder, as it was when it was first asked for
    std::unordered_map<std::string, Segments> writing_;  // what threads write now: none of them writes it, too
    bool scanned_ = false;
    uint64_t used_bytes_ = 0;
    size_t used_files_ = 0;
    uint64_t written_since_scan_ = 0;
    uint64_t being_written_ = 0;  // bytes of files that are written now, and not counted in used_bytes_
    bool complained_ = false;
    std::chrono::steady_clock::time_point no_writes_before_{};
};

/// The caches of the process, in order of their numbers; they stay.
std::vector<std::shared_ptr<FilesystemCache>> filesystem_caches();
/// Its number; the one that has this name and path already, or a new one. BAD_ARGUMENTS where the name has another path.
int add_filesystem_cache(FilesystemCacheOptions options);
/// Of that name; where it is empty, the only one that there is. -1: none.
int find_filesystem_cache(std::string_view name);
/// The one of the current query; null where it uses none.
FilesystemCache* current_filesystem_cache();
/// The same, where the query may write to it.
FilesystemCache* writable_filesystem_cache();

/// filesystem_caches of a configuration: NAME with path (absolute, or below filesystem_caches_path) and max_size ("10Gi").
/// BAD_ARGUMENTS.
void configure_filesystem_caches(const ConfigurationNode& configuration);
/// A number of bytes of a configuration: "10Gi", "500M", "1000000". BAD_ARGUMENTS.
uint64_t configured_bytes(std::string_view name, std::string_view text);

}  // namespace firn::storage
