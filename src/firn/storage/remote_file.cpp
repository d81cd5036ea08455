#include "firn/storage/remote_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/object_cache.h"

namespace firn::storage {

namespace {

/// Gives a query's memory back when the last view of a buffer that is charged to it goes, though the buffer may stay.
class Charge {
public:
    Charge(std::shared_ptr<MemoryTracker> tracker, size_t bytes) : tracker_(std::move(tracker)), bytes_(bytes) {
        tracker_->allocate(static_cast<int64_t>(bytes_));
    }
    ~Charge() { tracker_->release(static_cast<int64_t>(bytes_)); }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

private:
    std::shared_ptr<MemoryTracker> tracker_;
    size_t bytes_;
};

using ChargedBytes = std::pair<BufferPtr, std::shared_ptr<const void>>;

BufferPtr charged(BufferPtr bytes, std::shared_ptr<const void> charge) {
    if (!charge) return bytes;
    const char* data = bytes->data();
    const size_t size = bytes->size();
    return Buffer::wrap(data, size, std::make_shared<ChargedBytes>(std::move(bytes), std::move(charge)));
}

/// What is kept for readers to come is not charged to the query that happened to read it first.
MutableBufferPtr allocate_shared(size_t bytes) {
    const MemoryTracker::Scope uncharged(nullptr);
    return Buffer::allocate(bytes);
}

std::span<uint8_t> span_of(const MutableBufferPtr& buffer) { return {buffer->mutable_as<uint8_t>(), buffer->size()}; }

/// Ranges in order, near ones as one, large ones cut.
std::vector<ByteRange> requests_for(std::vector<ByteRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    std::vector<ByteRange> merged;
    for (const ByteRange& range : ranges) {
        if (range.length == 0) continue;
        if (!merged.empty()) {
            ByteRange& last = merged.back();
            const uint64_t end = last.offset + last.length;
            if (range.offset <= end + kCoalesceGap) {
                last.length = std::max(end, range.offset + range.length) - last.offset;
                continue;
            }
        }
        merged.push_back(range);
    }
    std::vector<ByteRange> out;
    for (const ByteRange& range : merged) {
        // Equal parts: no small rest that costs a request of its own.
        const uint64_t parts = (range.length + kRequestBytes - 1) / kRequestBytes;
        for (uint64_t i = 0; i < parts; ++i) {
            const uint64_t begin = range.offset + range.length * i / parts;
            out.push_back({begin, range.offset + range.length * (i + 1) / parts - begin});
        }
    }
    return out;
}

}  // namespace

void RemotePiece::send() {
    const auto& tracker = MemoryTracker::current();
    if (!is_small() && tracker) charge_ = std::make_shared<const Charge>(tracker, range_.length);
    buffer_ = allocate_shared(range_.length);
    const bool all = range_.offset == 0 && range_.length == info_.size;
    HttpRequest request = store_->read_request(info_.path, all ? std::nullopt : std::optional(range_), etag_);
    request.into = span_of(buffer_);
    exchange_ = store_->start(std::move(request));
}

const BufferPtr& RemotePiece::wait(std::string_view path) {
    std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    if (!done_ && disk_) {
        // Small objects go on to the cache in memory, which is not the query's.
        const MemoryTracker::Scope tracker(is_small() ? nullptr : MemoryTracker::current());
        FilesystemCache* const disk = std::exchange(disk_, nullptr);
        auto found = disk->read(*object_, range_);
        if (found && !etag_.empty() && !found->etag.empty() && found->etag != etag_) {
            disk->forget(object_->key);  // of what the object was before
            found.reset();
        }
        if (found) {
            done_ = found->bytes;
            etag_seen_ = std::move(found->etag);
            from_disk_ = true;
            if (is_small()) fresh_ = done_;
        }
    }
    if (!done_ && !exchange_) send();
    if (!done_) {
        try {
            const HttpReply reply = store_->finish(*exchange_, path, "read");
            if (!reply.ok()) store_->fail_reply(reply, path, "read");
            if (reply.received != range_.length) {
                fail(ErrorCode::CANNOT_READ_ALL_DATA, "{}: {} bytes from {} were asked for, the service gave {}", path,
                     range_.length, range_.offset, reply.received);
            }
            etag_seen_ = std::string(reply.headers.get("etag").value_or(""));
            fresh_ = std::move(buffer_);
            done_ = charged(fresh_, std::move(charge_));
        } catch (const Error& error) {
            // A cancelled reader says nothing about the object; others may still wait for it.
            if (ends_query(error)) throw;
            error_ = std::current_exception();
            throw;
        }
        exchange_.reset();
    }
    return done_;
}

void RemoteFile::check_range(uint64_t offset, uint64_t length) const {
    if (offset > info_.size || length > info_.size - offset) {
        fail(ErrorCode::CANNOT_READ_ALL_DATA, "{} has {} bytes: {} from {} were asked for", info_.path, info_.size,
             length, offset);
    }
}

std::string RemoteFile::etag() const {
    std::lock_guard lock(mutex_);
    return etag_;
}

void RemoteFile::saw_etag(std::string_view seen) const {
    if (seen.empty()) return;
    std::lock_guard lock(mutex_);
    if (etag_.empty()) etag_ = seen;
    if (etag_ != seen) {
        fail(ErrorCode::S3_OBJECT_CHANGED_DURING_READ,
             "{} was replaced while it was read: its etag was {}, now it is {}", info_.path, etag_, seen);
    }
}

const BufferPtr& RemoteFile::bytes_of(RemotePiece& piece) const {
    try {
        const BufferPtr& bytes = piece.wait(info_.path);
        saw_etag(piece.etag_seen_);
        BufferPtr fresh;
        {
            std::lock_guard lock(piece.mutex_);
            fresh = std::exchange(piece.fresh_, nullptr);
        }
        if (fresh) keep(piece.range().offset, fresh, piece.from_disk_);
        return bytes;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::S3_OBJECT_CHANGED_DURING_READ) forget_cached();
        throw;
    }
}

std::string RemoteFile::cache_key() const {
    return fmt::format("{}\n{}\n{}\n{}\n{}", store_->identity(), info_.path, info_.size, info_.etag, info_.table);
}

void RemoteFile::forget_cached() const {
    object_cache().forget(cache_key());
    FilesystemCache* const disk = current_filesystem_cache();
    const auto object = disk ? store_->cached_object(info_) : std::nullopt;
    if (object) disk->forget(object->key);
}

void RemoteFile::keep(uint64_t offset, const BufferPtr& bytes, bool from_disk) const {
    const bool has_disk = current_filesystem_cache() != nullptr;
    const auto object = has_disk ? store_->cached_object(info_) : std::nullopt;
    if (!object || is_small()) object_cache().insert(cache_key(), etag(), offset, bytes);
    if (!object || from_disk) return;
    count_event(ProfileEvent::CachedReadBufferReadFromSourceBytes, bytes->size());
    if (FilesystemCache* const disk = writable_filesystem_cache())
        disk->write(*object, etag(), offset, {bytes->as<uint8_t>(), bytes->size()});
}

BufferPtr RemoteFile::find_in_memory(ByteRange range) const {
    auto found = object_cache().find(cache_key(), range);
    if (!found.bytes) return nullptr;
    if (const std::string own = etag(); !own.empty() && !found.etag.empty() && own != found.etag) {
        object_cache().forget(cache_key());  // of what the object was before
        return nullptr;
    }
    saw_etag(found.etag);
    count_event(ProfileEvent::PageCacheHits);
    count_event(ProfileEvent::PageCacheReadBytes, range.length);
    return found.bytes;
}

std::vector<std::shared_ptr<RemotePiece>> RemoteFile::cached_pieces(ByteRange range,
                                                                    std::vector<ByteRange>& missing) const {
    std::vector<std::shared_ptr<RemotePiece>> pieces;
    const auto add = [&](ByteRange part) -> RemotePiece& {
        pieces.push_back(std::make_shared<RemotePiece>(store_, info_, part, etag()));
        return *pieces.back();
    };
    FilesystemCache* const disk = current_filesystem_cache();
    const auto object = disk ? store_->cached_object(info_) : std::nullopt;
    for (const CoveredPart& part : object_cache().parts(cache_key(), range)) {
        if (part.there) {
            if (BufferPtr bytes = find_in_memory(part.range)) {
                add(part.range).done_ = std::move(bytes);
                continue;
            }
        }
        if (!object || is_small()) count_event(ProfileEvent::PageCacheMisses);
        if (!object) {
            missing.push_back(part.range);
            continue;
        }
        for (const CoveredPart& own : disk->parts(*object, part.range)) {
            if (!own.there) {
                count_event(ProfileEvent::CachedReadBufferReadFromCacheMisses);
                missing.push_back(own.range);
                continue;
            }
            RemotePiece& piece = add(own.range);
            piece.disk_ = disk;
            piece.object_ = object;
        }
    }
    return pieces;
}

std::shared_ptr<RemotePiece> RemoteFile::start_piece(ByteRange range, const std::string& etag) const {
    auto piece = std::make_shared<RemotePiece>(store_, info_, range, etag);
    piece->send();
    return piece;
}

std::shared_ptr<RemotePiece> RemoteFile::whole_under_way() const {
    {
        std::lock_guard lock(mutex_);
        if (whole_piece_) return whole_piece_;
    }
    std::vector<ByteRange> missing;
    const auto pieces = cached_pieces({0, info_.size}, missing);
    std::lock_guard lock(mutex_);  // one request, whoever comes first
    if (!whole_piece_)
        whole_piece_ = missing.empty() && pieces.size() == 1 ? pieces[0] : start_piece({0, info_.size}, etag_);
    return whole_piece_;
}

BufferPtr RemoteFile::whole() const {
    if (auto cached = find_in_memory({0, info_.size})) return cached;
    const auto piece = whole_under_way();
    BufferPtr bytes;
    try {
        bytes = bytes_of(*piece);
    } catch (...) {
        std::lock_guard lock(mutex_);
        if (whole_piece_ == piece) whole_piece_.reset();
        throw;
    }
    std::lock_guard lock(mutex_);
    if (whole_piece_ == piece) whole_piece_.reset();
    return bytes;
}

std::shared_ptr<RemotePiece> RemoteFile::find_piece(uint64_t offset) const {
    std::lock_guard lock(mutex_);
    std::shared_ptr<RemotePiece> found;
    std::erase_if(pieces_, [&](const std::weak_ptr<RemotePiece>& weak) {
        const auto piece = weak.lock();
        if (!piece) return true;
        if (!found && offset >= piece->range().offset && offset - piece->range().offset < piece->range().length)
            found = piece;
        return false;
    });
    return found;
}

std::shared_ptr<const void> RemoteFile::read_ahead(std::vector<ByteRange> ranges) const {
    if (info_.size == 0) return nullptr;
    if (comes_whole()) {
        if (object_cache().find(cache_key(), {0, info_.size}).bytes) return nullptr;
        return whole_under_way();
    }
    for (ByteRange& range : ranges) {
        range.offset = std::min(range.offset, info_.size);
        range.length = std::min(range.length, info_.size - range.offset);
    }
    const BufferPtr kept = tail();
    const uint64_t tail_begin = kept ? info_.size - kept->size() : info_.size;
    std::erase_if(ranges, [&](const ByteRange& range) { return range.offset >= tail_begin; });
    auto held = std::make_shared<std::vector<std::shared_ptr<RemotePiece>>>();
    std::vector<ByteRange> missing;
    for (const ByteRange& range : ranges) {
        if (range.length == 0) continue;
        for (auto& piece : cached_pieces(range, missing)) {
            std::lock_guard lock(mutex_);
            pieces_.push_back(piece);
            held->push_back(std::move(piece));
        }
    }
    for (const ByteRange& range : requests_for(std::move(missing))) {
        std::lock_guard lock(mutex_);
        if (auto under_way = same_piece(range)) {
            held->push_back(std::move(under_way));
            continue;
        }
        held->push_back(start_piece(range, etag_));
        pieces_.push_back(held->back());
        count_event(ProfileEvent::StoragePrefetchedBytes, range.length);
    }
    return held;
}

std::shared_ptr<RemotePiece> RemoteFile::same_piece(const ByteRange& range) const {
    for (const auto& weak : pieces_) {
        auto piece = weak.lock();
        if (piece && piece->range().offset == range.offset && piece->range().length == range.length) return piece;
    }
    return nullptr;
}

BufferPtr RemoteFile::tail() const {
    std::lock_guard lock(mutex_);
    return tail_;
}

void RemoteFile::keep_tail(uint64_t offset, std::span<const uint8_t> bytes) const {
    constexpr size_t kMaxKeptTail = size_t{64} << 10;
    if (bytes.size() > kMaxKeptTail || offset == 0) return;
    const MutableBufferPtr copy = allocate_shared(bytes.size());
    std::memcpy(copy->mutable_data(), bytes.data(), bytes.size());
    std::lock_guard lock(mutex_);
    if (!tail_ || tail_->size() < copy->size()) tail_ = copy;
}

bool RemoteFile::read_cached(uint64_t offset, std::span<uint8_t> out) const {
    std::vector<ByteRange> missing;
    const auto pieces = cached_pieces({offset, out.size()}, missing);
    if (!missing.empty()) return false;
    for (const auto& piece : pieces) {
        const BufferPtr& bytes = bytes_of(*piece);
        std::memcpy(out.data() + (piece->range().offset - offset), bytes->data(), bytes->size());
    }
    return true;
}

void RemoteFile::read_now(uint64_t offset, std::span<uint8_t> out) const {
    std::vector<std::shared_ptr<RemotePiece>> pieces;
    for (const ByteRange& range : requests_for({{offset, out.size()}})) pieces.push_back(start_piece(range, etag()));
    for (const auto& piece : pieces) {
        const BufferPtr& bytes = bytes_of(*piece);
        std::memcpy(out.data() + (piece->range().offset - offset), bytes->data(), bytes->size());
    }
}

void RemoteFile::read_at(uint64_t offset, std::span<uint8_t> out) const {
    check_range(offset, out.size());
    if (out.empty()) return;
    if (comes_whole()) {
        const BufferPtr bytes = whole();
        std::memcpy(out.data(), bytes->data() + offset, out.size());
        return;
    }
    const BufferPtr kept = tail();
    const uint64_t tail_begin = kept ? info_.size - kept->size() : info_.size;
    const auto all = out;
    const uint64_t begin = offset;
    while (!out.empty()) {
        if (offset >= tail_begin) {
            std::memcpy(out.data(), kept->data() + (offset - tail_begin), out.size());
            return;
        }
        const auto piece = find_piece(offset);
        if (!piece) {
            if (!read_cached(offset, out)) read_now(offset, out);
            break;
        }
        const BufferPtr& bytes = bytes_of(*piece);
        count_event(ProfileEvent::StoragePrefetchHits);
        const uint64_t inside = offset - piece->range().offset;
        const size_t size = static_cast<size_t>(std::min<uint64_t>(out.size(), piece->range().length - inside));
        std::memcpy(out.data(), bytes->data() + inside, size);
        offset += size;
        out = out.subspan(size);
    }
    if (begin + all.size() == info_.size) keep_tail(begin, all);
}

BufferPtr RemoteFile::read_buffer(uint64_t offset, uint64_t length) const {
    check_range(offset, length);
    if (comes_whole() && length) {
        const BufferPtr bytes = whole();
        return Buffer::wrap(bytes->data() + offset, length, bytes);
    }
    if (const auto piece = find_piece(offset)) {
        const uint64_t inside = offset - piece->range().offset;
        if (length <= piece->range().length - inside) {
            const BufferPtr& bytes = bytes_of(*piece);
            count_event(ProfileEvent::StoragePrefetchHits);
            return Buffer::wrap(bytes->data() + inside, length, bytes);
        }
    }
    return OpenFile::read_buffer(offset, length);
}

}  // namespace firn::storage
