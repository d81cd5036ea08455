// The pages of one column chunk, one after another: headers are parsed, bodies decompressed only when asked for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "firn/base/memory.h"
#include "firn/file/parquet/codec.h"
#include "firn/file/parquet/decoder.h"
#include "firn/file/parquet/metadata.h"
#include "firn/file/parquet/page_cache.h"
#include "firn/storage/object_store.h"

namespace firn::file::pq {

/// Old writers left the dictionary page's header out of the chunk's size: so many bytes more are read.
constexpr uint64_t kChunkSlack = 100;

class PageWalker {
public:
    /// The chunk's bytes are mapped, or read at once, when the first page is asked for.
    PageWalker(std::shared_ptr<const storage::OpenFile> file, const ColumnChunk& chunk);

    struct Page {
        PageHeader header;
        Bytes body;  // as stored
    };
    /// Moves to the next page; false behind the last. Index pages are passed over.
    bool next();
    const Page& page() const { return page_; }
    const PageHeader& header() const { return page_.header; }

    struct Content {
        Bytes bytes;      // the page decompressed; for DataV2 with its levels in front
        BufferPtr owner;  // what keeps them alive
    };
    /// A page's content, perhaps as kept by the page cache; checks its checksum where it has one.
    Content content(const Page& page);

private:
    void load();
    Content decompressed(const Page& page, size_t levels);
    MutableBufferPtr buffer(size_t bytes);
    std::shared_ptr<const storage::OpenFile> file_;
    const ColumnChunk& chunk_;
    bool loaded_ = false;
    Bytes bytes_;  // of the chunk not yet walked over
    const uint8_t* chunk_begin_ = nullptr;
    BufferPtr chunk_owner_;
    int64_t values_left_;
    Page page_;
    std::optional<Decompressor> decompressor_;
    PageKey key_;                            // of the page decompressed last
    std::vector<MutableBufferPtr> buffers_;  // used again once no vector looks into them
};

}  // namespace firn::file::pq
