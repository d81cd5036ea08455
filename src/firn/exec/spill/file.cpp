#include "firn/exec/spill/file.h"

#include <unistd.h>
#include <zstd.h>

#include <cerrno>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/spill/batch_bytes.h"

namespace firn::exec {
namespace {

constexpr size_t kMostBlockBytes = size_t{1} << 22;  // larger batches are halved
constexpr int kLevel = -1;                           // of zstd: half the time of level 1 for a tenth more space

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* compressor() {
    static thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context;
    if (!context) {
        context.reset(ZSTD_createCCtx());
        if (!context) fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "zstd cannot start: the system has no more memory");
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
        ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    }
    return context.get();
}

ZSTD_DCtx* decompressor() {
    static thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
    if (!context) fail(ErrorCode::MEMORY_LIMIT_EXCEEDED, "zstd cannot start: the system has no more memory");
    return context.get();
}

}  // namespace

std::shared_ptr<SpillDirectory> SpillSpace::directory() {
    std::lock_guard lock(mutex_);
    if (!directory_) directory_ = SpillDirectory::open(parent_);
    return directory_;
}

void SpillSpace::take(uint64_t bytes) {
    const uint64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (most_bytes_ == 0 || now <= most_bytes_) return;
    give_back(bytes);
    fail(ErrorCode::TOO_MANY_ROWS_OR_BYTES,
         "Limit for temporary files size exceeded (would consume {} / {} bytes). Raise "
         "max_temporary_data_on_disk_size_for_query or max_memory_usage",
         now, most_bytes_);
}

SpillFile::SpillFile(SpillSpace& space, std::vector<TypePtr> types, size_t lists)
    : space_(space),
      types_(std::move(types)),
      directory_(space.directory()),
      file_(directory_->create_file()),
      lists_(lists) {
    count_event(ProfileEvent::ExternalProcessingFilesTotal);
}

SpillFile::~SpillFile() {
    ::close(file_);
    space_.give_back(end_.load());
}

size_t SpillFile::add_list() {
    std::lock_guard lock(mutex_);
    lists_.emplace_back();
    return lists_.size() - 1;
}

void SpillFile::write(size_t list, const Batch& batch) {
    check_cancelled();
    if (batch.rows < 2 || bytes_of_rows(batch) <= kMostBlockBytes) return write_block(list, batch);
    write(list, batch.cut(0, batch.rows / 2));
    write(list, batch.cut(batch.rows / 2, batch.rows - batch.rows / 2));
}

void SpillFile::write_block(size_t list, const Batch& batch) {
    std::string bytes, stored;
    append_batch(batch, bytes);
    stored.resize(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compress2(compressor(), stored.data(), stored.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size) || bytes.size() > UINT32_MAX || size > UINT32_MAX)
        fail(ErrorCode::LIMIT_EXCEEDED, "A row of {} bytes cannot be spilled", bytes.size());
    space_.take(size);
    const uint64_t offset = end_.fetch_add(size);
    for (size_t done = 0; done < size;) {
        const ssize_t n = ::pwrite(file_, stored.data() + done, size - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) directory_->fail_system(n < 0 ? errno : ENOSPC, "write");
        done += static_cast<size_t>(n);
    }
    count_event(ProfileEvent::ExternalProcessingCompressedBytesTotal, size);
    count_event(ProfileEvent::ExternalProcessingUncompressedBytesTotal, bytes.size());
    std::lock_guard lock(mutex_);
    List& to = lists_[list];
    to.blocks.push_back({offset, static_cast<uint32_t>(size), static_cast<uint32_t>(bytes.size())});
    to.rows += batch.rows;
    to.bytes += bytes.size();
}

Batch SpillFile::read_block(const Block& block) const {
    std::string stored(block.stored, '\0'), bytes(block.bytes, '\0');
    for (size_t done = 0; done < stored.size();) {
        const ssize_t n =
            ::pread(file_, stored.data() + done, stored.size() - done, static_cast<off_t>(block.offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "Cannot read {} spilled bytes back from {}", stored.size(),
                 directory_->path());
        done += static_cast<size_t>(n);
    }
    const size_t size = ZSTD_decompressDCtx(decompressor(), bytes.data(), bytes.size(), stored.data(), stored.size());
    if (ZSTD_isError(size) || size != bytes.size())
        fail(ErrorCode::INCORRECT_DATA, "Spilled data in {} are damaged", directory_->path());
    return read_batch(bytes, types_);
}

bool SpillFile::Reader::next(Batch& out) {
    check_cancelled();
    const auto& blocks = file_.lists_[list_].blocks;
    const size_t at = next_.fetch_add(1, std::memory_order_relaxed);
    if (at >= blocks.size()) return false;
    out = file_.read_block(blocks[at]);
    return true;
}

}  // namespace firn::exec
