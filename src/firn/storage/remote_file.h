// An object of a remote store opened for reading.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "firn/storage/remote_store.h"

namespace firn::storage {

/// Bytes of one request, asked for ahead of their use; or of a cache, where they are.
class RemotePiece {
public:
    RemotePiece(std::shared_ptr<const RemoteStore> store, const ObjectInfo& info, ByteRange range, std::string etag)
        : store_(std::move(store)), info_(info), range_(range), etag_(std::move(etag)) {}

    const ByteRange& range() const { return range_; }
    /// Waits for the bytes. Any thread, any number of times; an error is thrown each time.
    const BufferPtr& wait(std::string_view path);

private:
    friend class RemoteFile;
    /// Asks the service for the bytes.
    void send();
    bool is_small() const { return info_.size <= kWholeObject; }

    std::shared_ptr<const RemoteStore> store_;
    const ObjectInfo& info_;  // of the file, which outlives its pieces' use
    ByteRange range_;
    std::string etag_;                 // that the object must have; may be empty
    FilesystemCache* disk_ = nullptr;  // that has the bytes, it seems; else they were asked for
    std::optional<FilesystemCache::Object> object_;
    std::mutex mutex_;
    MutableBufferPtr buffer_;
    std::shared_ptr<const void> charge_;  // of the buffer, to the query that sent the request
    BufferPtr done_;
    BufferPtr fresh_;  // done, and not in the caches yet
    bool from_disk_ = false;
    std::exception_ptr error_;
    std::string etag_seen_;                   // once done
    std::unique_ptr<HttpExchange> exchange_;  // after buffer_, so that it ends before the buffer goes
};

class RemoteFile final : public OpenFile {
public:
    RemoteFile(std::shared_ptr<const RemoteStore> store, ObjectInfo info, BufferPtr tail = nullptr)
        : store_(std::move(store)), info_(std::move(info)), etag_(info_.etag), tail_(std::move(tail)) {}

    const ObjectInfo& info() const noexcept override { return info_; }
    void read_at(uint64_t offset, std::span<uint8_t> out) const override;
    BufferPtr read_buffer(uint64_t offset, uint64_t length) const override;
    std::shared_ptr<const void> read_ahead(std::vector<ByteRange> ranges) const override;
    bool is_remote() const override { return true; }

private:
    void check_range(uint64_t offset, uint64_t length) const;
    bool is_small() const { return info_.size <= kWholeObject; }
    /// One request for all of it. Not where the last bytes are there: what else is needed comes by ranges then.
    bool comes_whole() const { return is_small() && !tail(); }
    std::shared_ptr<RemotePiece> whole_under_way() const;
    BufferPtr whole() const;
    std::shared_ptr<RemotePiece> start_piece(ByteRange range, const std::string& etag) const;
    std::shared_ptr<RemotePiece> find_piece(uint64_t offset) const;
    std::shared_ptr<RemotePiece> same_piece(const ByteRange& range) const;  // with mutex_ held
    BufferPtr tail() const;
    void keep_tail(uint64_t offset, std::span<const uint8_t> bytes) const;
    void read_now(uint64_t offset, std::span<uint8_t> out) const;
    std::string etag() const;
    /// Remembers the first etag; fails for another than it: the object was replaced.
    void saw_etag(std::string_view seen) const;
    /// Waits for a piece of this object as it was at first, and keeps it in the caches.
    const BufferPtr& bytes_of(RemotePiece& piece) const;
    std::string cache_key() const;
    /// A piece for each part of the range that a cache has; the other parts go to `missing`.
    std::vector<std::shared_ptr<RemotePiece>> cached_pieces(ByteRange range, std::vector<ByteRange>& missing) const;
    /// Of the cache in memory; null where it does not have all of the range.
    BufferPtr find_in_memory(ByteRange range) const;
    /// Whether a cache had all of it.
    bool read_cached(uint64_t offset, std::span<uint8_t> out) const;
    void keep(uint64_t offset, const BufferPtr& bytes, bool from_disk) const;
    /// Drops what caches have of an object that was replaced.
    void forget_cached() const;

    std::shared_ptr<const RemoteStore> store_;
    ObjectInfo info_;
    mutable std::mutex mutex_;  // of the members below
    mutable std::string etag_;
    mutable std::vector<std::weak_ptr<RemotePiece>> pieces_;
    mutable std::shared_ptr<RemotePiece> whole_piece_;  // under way
    mutable BufferPtr tail_;  // the last bytes, once read: footers and indexes are looked at again
};

}  // namespace firn::storage
