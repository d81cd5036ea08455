// One interface over every place where files can be: objects named by a path, immutable once written.
//
// Thread-safety: every member of ObjectStore and OpenFile may be called from many threads at once.
// Errors: FILE_DOESNT_EXIST (no such object), ACCESS_DENIED (not allowed), CANNOT_READ_ALL_DATA (a range beyond the
// object's end), LIMIT_EXCEEDED (read_all beyond its limit), CANNOT_READ_FROM_FILE_DESCRIPTOR and
// CANNOT_WRITE_TO_FILE_DESCRIPTOR (the system's own failures); of remote stores also S3_ERROR, AZURE_BLOB_STORAGE_ERROR and
// HDFS_ERROR (what the service says, or that it cannot be reached), S3_OBJECT_CHANGED_DURING_READ (the object is no longer
// the one that was opened). Every message names the path.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/memory.h"

namespace firn::storage {

struct ByteRange {
    uint64_t offset = 0;
    uint64_t length = 0;
};

struct ObjectInfo {
    std::string path;         ///< as the store takes it
    uint64_t size = 0;        ///< bytes
    int64_t modified_us = 0;  ///< last modification, microseconds since 1970-01-01 UTC
    std::string etag;         ///< changes whenever the bytes may have changed; opaque
    /// Where no etag is known: of which table (its uuid) this is an immutable file, so that it is another object under that
    /// path when the table was made anew. For caches; empty: not known.
    std::string table;
};

/// An object opened for reading. Stays readable for as long as the handle lives.
class OpenFile {
public:
    virtual ~OpenFile() = default;
    OpenFile() = default;
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    virtual const ObjectInfo& info() const noexcept = 0;
    uint64_t size() const noexcept { return info().size; }

    /// Fills `out` with the bytes from `offset`, all of them or an Error.
    virtual void read_at(uint64_t offset, std::span<uint8_t> out) const = 0;

    /// The bytes as a buffer of their own, or as a view of what has been read ahead.
    virtual BufferPtr read_buffer(uint64_t offset, uint64_t length) const;

    /// Asks for the bytes of all these ranges at once, near ones together, without waiting for them: a read_at or
    /// read_buffer inside them finds them there or on their way. They are kept for as long as the returned handle lives;
    /// null where there is nothing to gain (local files).
    virtual std::shared_ptr<const void> read_ahead(std::vector<ByteRange> ranges) const { return nullptr; }
    /// Whether each read_at may cost a round trip.
    virtual bool is_remote() const { return false; }

    /// The whole object mapped into memory, valid while the handle lives; an empty span where the store cannot map.
    /// A mapped file that somebody shortens kills the process on access, so map only what is immutable.
    virtual std::span<const uint8_t> map() const { return {}; }
    /// Mapped bytes that nobody reads for a while need not count as the process's memory; they stay readable.
    virtual void unload(uint64_t offset, uint64_t size) const {}
};

class ObjectStore {
public:
    virtual ~ObjectStore() = default;

    virtual ObjectInfo stat(std::string_view path) const = 0;
    /// As stat, but nothing where there is no such object.
    virtual std::optional<ObjectInfo> try_stat(std::string_view path) const = 0;

    virtual std::shared_ptr<const OpenFile> open(std::string_view path) const = 0;

    /// As open, with what is known of the object from elsewhere (a listing, a manifest): a remote store then sends no request
    /// before the first read. Size must be right; an etag that is given must still be the object's when it is read.
    virtual std::shared_ptr<const OpenFile> open(std::string_view path, const ObjectInfo& known) const {
        return open(path);
    }

    /// Names the service and whose eyes it is seen with, for keys of caches; empty for the local disk, whose requests
    /// cost nothing. Holds no secret.
    virtual std::string identity() const { return {}; }
    bool is_remote() const { return !identity().empty(); }

    /// Fills `out` with the bytes from `offset`, all of them or an Error.
    virtual void read(std::string_view path, uint64_t offset, std::span<uint8_t> out) const;

    /// The whole object. More than `limit` bytes: LIMIT_EXCEEDED, before anything is allocated.
    virtual std::string read_all(std::string_view path, uint64_t limit = std::numeric_limits<uint32_t>::max()) const;

    /// The same of an object whose size is known from elsewhere (0: it is not): a reply that is cut short is noticed.
    virtual std::string read_all(const ObjectInfo& known, uint64_t limit) const { return read_all(known.path, limit); }

    /// The objects below the folder `prefix`, in order of path; with `recursive` those of its subfolders too.
    /// A folder that does not exist is empty.
    virtual std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const = 0;

    /// Writes the object whole and durably, replacing what was there. Readers see the old bytes or the new ones.
    virtual void put(std::string_view path, std::span<const uint8_t> bytes) = 0;

    /// As put, but only where there is no such object: false, and nothing changed, where there is one.
    virtual bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) = 0;

    /// Removes the object; true where there was one.
    virtual bool remove(std::string_view path) = 0;

    /// Removes all of them, in as few requests as the store can; those that do not exist are no error.
    virtual void remove_all(std::span<const std::string> paths);

    /// The path as `_path` shows it.
    virtual std::string shown_path(std::string_view path) const { return std::string(path); }
};

/// Bytes of a string, as the writing calls take them.
inline std::span<const uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace firn::storage
