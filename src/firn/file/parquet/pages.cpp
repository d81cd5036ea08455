#include "firn/file/parquet/pages.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>
#include <zlib.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::file::pq {

PageWalker::PageWalker(std::shared_ptr<const storage::OpenFile> file, const ColumnChunk& chunk)
    : file_(std::move(file)), chunk_(chunk), values_left_(chunk.values) {}

void PageWalker::load() {
    loaded_ = true;
    const auto begin = static_cast<uint64_t>(chunk_.begin());
    const uint64_t size = file_->size();
    if (begin >= size)
        fail(ErrorCode::INCORRECT_DATA, "the column chunk begins at byte {} of a file of {}", begin, size);
    // The slack does no harm, since the walk ends with the values.
    const uint64_t length =
        std::min<uint64_t>(static_cast<uint64_t>(chunk_.compressed_size) + kChunkSlack, size - begin);
    count_event(ProfileEvent::ReadBytesFromStorage, static_cast<uint64_t>(chunk_.compressed_size));
    count_event(ProfileEvent::StorageReadRequests);
    if (const auto mapped = file_->map(); !mapped.empty()) {
        // What was read of the file would count as this process's memory until the file is closed.
        std::shared_ptr<const void> owner(mapped.data() + begin,
                                          [file = file_, begin, length](const void*) { file->unload(begin, length); });
        chunk_owner_ = Buffer::wrap(mapped.data() + begin, length, std::move(owner));
    } else {
        chunk_owner_ = file_->read_buffer(begin, length);
    }
    bytes_ = {chunk_owner_->as<uint8_t>(), chunk_owner_->as<uint8_t>() + length};
    chunk_begin_ = bytes_.begin;
}

bool PageWalker::next() {
    if (!loaded_) load();
    while (values_left_ > 0) {
        check_cancelled();
        if (bytes_.size() == 0)
            fail(ErrorCode::INCORRECT_DATA, "the column chunk ends {} values too early", values_left_);
        size_t header_size = 0;
        page_.header = parse_page_header({bytes_.begin, bytes_.size()}, header_size);
        bytes_.begin += header_size;
        if (page_.header.compressed_size > bytes_.size())
            fail(ErrorCode::INCORRECT_DATA, "a page of {} bytes passes the end of its column chunk",
                 page_.header.compressed_size);
        page_.body = {bytes_.begin, bytes_.begin + page_.header.compressed_size};
        bytes_.begin = page_.body.end;
        if (page_.header.kind == PageKind::Index) continue;
        if (page_.header.kind != PageKind::Dictionary) values_left_ -= page_.header.values;
        return true;
    }
    return false;
}

MutableBufferPtr PageWalker::buffer(size_t bytes) {
    for (auto& buffer : buffers_) {
        if (buffer.use_count() != 1) continue;
        std::atomic_thread_fence(std::memory_order_acquire);
        if (buffer->size() < bytes) buffer = Buffer::allocate(bytes);
        return buffer;
    }
    auto buffer = Buffer::allocate(bytes);
    if (buffers_.size() < 3)
        buffers_.push_back(buffer);
    else
        buffers_[0] = buffer;
    return buffer;
}

PageWalker::Content PageWalker::content(const Page& page) {
    const bool stored = chunk_.compression == Compression::Uncompressed ||
                        (page.header.kind == PageKind::DataV2 && !page.header.compressed);
    const auto& info = file_->info();
    const bool named = info.modified_us != 0 || !info.etag.empty();  // another version would have another name
    if (!stored && named) {
        if (key_.file.empty()) {
            key_.file = fmt::format("{}\n{}\n{}\n{}", info.path, info.size, info.modified_us, info.etag);
        }
        key_.offset = static_cast<uint64_t>(chunk_.begin()) + static_cast<uint64_t>(page.body.begin - chunk_begin_);
        if (auto kept = PageCache::instance().find(key_); kept && kept->size() == page.header.uncompressed_size) {
            count_event(ProfileEvent::UncompressedCacheHits);
            const auto* begin = kept->as<uint8_t>();
            return {{begin, begin + kept->size()}, std::move(kept)};
        }
        count_event(ProfileEvent::UncompressedCacheMisses);
    }
    if (page.header.crc) {
        const auto crc = static_cast<uint32_t>(crc32_z(0, page.body.begin, page.body.size()));
        if (crc != *page.header.crc)
            fail(ErrorCode::INCORRECT_DATA, "a page's checksum is {:08x}, and not {:08x} as its header says", crc,
                 *page.header.crc);
    }
    size_t levels = 0;
    if (page.header.kind == PageKind::DataV2) {
        levels = size_t{page.header.definition_bytes} + page.header.repetition_bytes;
        if (levels > page.body.size() || levels > page.header.uncompressed_size)
            fail(ErrorCode::INCORRECT_DATA, "a page's levels pass its end");
    }
    if (stored) return {page.body, chunk_owner_};
    return decompressed(page, levels);
}

PageWalker::Content PageWalker::decompressed(const Page& page, size_t levels) {
    const std::span<const uint8_t> in(page.body.begin + levels, page.body.end);
    const size_t size = page.header.uncompressed_size;
    if (!decompressor_) decompressor_.emplace(chunk_.compression);
    decompressor_->check_size(in, size - levels);
    auto& cache = PageCache::instance();
    const auto& tracker = MemoryTracker::current();
    const int64_t limit = tracker ? tracker->limit() : 0;
    const bool keep = !key_.file.empty() && cache.wants(key_, size, limit);
    MutableBufferPtr out;
    if (keep) {
        const MemoryTracker::Scope uncharged(nullptr);
        out = Buffer::allocate(size);
    } else {
        out = buffer(size);
    }
    std::copy_n(page.body.begin, levels, out->mutable_as<uint8_t>());
    decompressor_->decompress(in, {out->mutable_as<uint8_t>() + levels, size - levels});
    count_event(ProfileEvent::ParquetDecompressedBytes, size);
    if (keep) cache.keep(key_, out, limit);
    const auto* begin = out->as<uint8_t>();
    return {{begin, begin + size}, std::move(out)};
}

}  // namespace firn::file::pq
