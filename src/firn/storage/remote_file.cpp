#include "firn/storage/remote_file.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/object_cache.h"

namespace firn::storage {

namespace {

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

const BufferPtr& RemotePiece::wait(std::string_view path) {
    std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    if (!done_) {
        try {
            const HttpReply reply = store_->finish(*exchange_, path, "read");
            if (!reply.ok()) store_->fail_reply(reply, path, "read");
            if (reply.received != range_.length) {
                fail(ErrorCode::CANNOT_READ_ALL_DATA, "{}: {} bytes from {} were asked for, the service gave {}", path,
                     range_.length, range_.offset, reply.received);
            }
            etag_seen_ = std::string(reply.headers.get("etag").value_or(""));
            done_ = std::move(buffer_);
        } catch (const Error& error) {
            // A cancelled reader says nothing about the object; others may still wait for it.
            if (error.code() == ErrorCode::QUERY_WAS_CANCELLED || error.code() == ErrorCode::TIMEOUT_EXCEEDED) throw;
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
    const BufferPtr& bytes = piece.wait(info_.path);
    saw_etag(piece.etag_seen_);
    return bytes;
}

std::string RemoteFile::cache_key() const {
    return fmt::format("{}\n{}\n{}\n{}", store_->identity(), info_.path, info_.size, info_.etag);
}

std::shared_ptr<RemotePiece> RemoteFile::start_piece(ByteRange range, const std::string& etag) const {
    auto piece = std::make_shared<RemotePiece>(store_, range);
    piece->buffer_ = is_small() ? allocate_shared(range.length) : Buffer::allocate(range.length);
    const bool all = range.offset == 0 && range.length == info_.size;
    HttpRequest request = store_->read_request(info_.path, all ? std::nullopt : std::optional(range), etag);
    request.into = span_of(piece->buffer_);
    piece->exchange_ = store_->start(std::move(request));
    return piece;
}

std::shared_ptr<RemotePiece> RemoteFile::whole_under_way() const {
    std::lock_guard lock(mutex_);  // one request, whoever comes first
    if (!whole_piece_) whole_piece_ = start_piece({0, info_.size}, etag_);
    return whole_piece_;
}

BufferPtr RemoteFile::whole() const {
    if (auto cached = object_cache().find(cache_key())) return cached;
    const auto piece = whole_under_way();
    BufferPtr bytes;
    try {
        bytes = bytes_of(*piece);
    } catch (...) {
        std::lock_guard lock(mutex_);
        if (whole_piece_ == piece) whole_piece_.reset();
        throw;
    }
    object_cache().insert(cache_key(), bytes);
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
        if (object_cache().find(cache_key())) return nullptr;
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
    for (const ByteRange& range : requests_for(std::move(ranges))) {
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

void RemoteFile::read_now(uint64_t offset, std::span<uint8_t> out) const {
    const size_t parts = (out.size() + kRequestBytes - 1) / kRequestBytes;
    std::vector<std::unique_ptr<HttpExchange>> exchanges;
    std::vector<size_t> sizes;
    for (size_t i = 0; i < parts; ++i) {
        const size_t begin = out.size() * i / parts;
        const size_t size = out.size() * (i + 1) / parts - begin;
        HttpRequest request = store_->read_request(info_.path, ByteRange{offset + begin, size}, etag());
        request.into = out.subspan(begin, size);
        exchanges.push_back(store_->start(std::move(request)));
        sizes.push_back(size);
    }
    for (size_t i = 0; i < parts; ++i) {
        const HttpReply reply = store_->finish(*exchanges[i], info_.path, "read");
        if (!reply.ok()) store_->fail_reply(reply, info_.path, "read");
        saw_etag(reply.headers.get("etag").value_or(""));
        if (reply.received != sizes[i]) {
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "{}: {} bytes were asked for, the service gave {}", info_.path,
                 sizes[i], reply.received);
        }
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
            read_now(offset, out);
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
