// What object stores behind HTTP have in common: files read by ranges, ahead of use and in parallel, and small ones whole.
//
// An object is opened without a request where its size is known. The first reply's etag is asked for in all later ones, so
// that one open file is one version of the object. Objects up to kWholeObject bytes are fetched whole by the first read;
// larger ones are read as asked, big ranges in several requests at once. What was read is kept for all readers: in memory,
// or, where the query uses a cache on disk, there (small objects in both).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/error.h"
#include "firn/storage/filesystem_cache.h"
#include "firn/storage/http.h"
#include "firn/storage/object_store.h"

namespace firn::storage {

/// Small objects come whole with the first read.
constexpr uint64_t kWholeObject = uint64_t{512} << 10;
/// Ranges nearer to each other than this are one request: reading on costs less than another round trip.
constexpr uint64_t kCoalesceGap = uint64_t{256} << 10;
/// Larger ranges are split into requests of this size, sent together.
constexpr uint64_t kRequestBytes = uint64_t{8} << 20;

class RemoteStore : public ObjectStore, public std::enable_shared_from_this<RemoteStore> {
public:
    /// identity: a name for caches; stores with the same share what they read. Empty: one that no store had before.
    RemoteStore(HttpOptions options, std::string identity);

    std::string identity() const override { return identity_; }
    using ObjectStore::open;
    ObjectInfo stat(std::string_view path) const override;
    std::shared_ptr<const OpenFile> open(std::string_view path) const override;
    std::shared_ptr<const OpenFile> open(std::string_view path, const ObjectInfo& known) const override;
    std::string read_all(std::string_view path, uint64_t limit) const override;
    std::string read_all(const ObjectInfo& known, uint64_t limit) const override;

    /// A request under way.
    std::unique_ptr<HttpExchange> start(HttpRequest request) const { return client_.start(std::move(request)); }
    /// Waits; errors of the transport become the store's own code and name the path.
    HttpReply finish(HttpExchange& exchange, std::string_view path, std::string_view doing) const;
    /// Both: start, then finish.
    HttpReply send(HttpRequest request, std::string_view path, std::string_view doing) const;

    /// A GET of the object or a range of it; with an etag, only of that version. Counts what it does.
    virtual HttpRequest read_request(std::string_view path, std::optional<ByteRange> range,
                                     std::string_view etag) const = 0;
    /// As read_request of the last `length` bytes; nothing where the service has no such ranges.
    virtual std::optional<HttpRequest> tail_request(std::string_view path, uint64_t length) const {
        return std::nullopt;
    }
    /// Throws what a reply that is not ok means.
    [[noreturn]] virtual void fail_reply(const HttpReply& reply, std::string_view path,
                                         std::string_view doing) const = 0;
    /// Size (Content-Range's total, else Content-Length), etag and time from a reply's headers.
    virtual ObjectInfo info_of(std::string_view path, const HttpReply& reply) const;
    virtual void count_read(uint64_t bytes, uint64_t microseconds) const = 0;
    virtual ErrorCode error_code() const = 0;
    /// Names the service and nothing of who reads: what is kept on disk is found again by other processes with other keys.
    virtual std::string service() const = 0;

    /// The object for a cache on disk; nothing where its version is not known.
    std::optional<FilesystemCache::Object> cached_object(const ObjectInfo& info) const;

private:
    std::string read_all_now(const ObjectInfo& known, uint64_t limit) const;

    HttpClient client_;
    std::string identity_;
};

/// Microseconds since 1970 of an HTTP date; 0 where it is none.
int64_t http_date_us(std::string_view text);
/// Of "2026-11-30T01:02:03.456Z"; 0 where it is none.
int64_t iso_date_us(std::string_view text);

/// A name for caches that no store had before.
std::string unshared_identity();

}  // namespace firn::storage
