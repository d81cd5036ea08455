#include "firn/exec/spill/file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/spill/batch_bytes.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

constexpr size_t kMostBlockBytes = size_t{1} << 20;  // larger batches are halved

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

void SpillFile::note_hash(size_t list, std::optional<uint64_t> hash) {
    std::lock_guard lock(mutex_);
    List& to = lists_[list];
    to.several_hashes = to.several_hashes || !hash || (to.hash && *to.hash != *hash);
    to.hash = hash;
}

void SpillFile::write(size_t list, const Batch& batch) {
    check_cancelled();
    const size_t bytes = bytes_of_rows(batch);
    if (batch.rows < 2 || bytes <= kMostBlockBytes) return write_block(list, batch, bytes);
    write(list, batch.cut(0, batch.rows / 2));
    write(list, batch.cut(batch.rows / 2, batch.rows - batch.rows / 2));
}

void SpillFile::write_block(size_t list, const Batch& batch, size_t about_bytes) {
    SpillBytes bytes;
    bytes.reserve(about_bytes);
    append_batch(batch, bytes);
    if (bytes.size() > kMostSpilledBlock)
        fail(ErrorCode::LIMIT_EXCEEDED, "A row of {} bytes cannot be spilled: raise max_memory_usage", bytes.size());
    MutableBufferPtr room;
    const std::string_view stored = compress(space_.codec(), bytes, room);
    space_.take(stored.size());
    const uint64_t offset = end_.fetch_add(stored.size()), checksum = hash_bytes(stored.data(), stored.size());
    write_bytes(stored, offset);
    count_event(ProfileEvent::ExternalProcessingCompressedBytesTotal, stored.size());
    count_event(ProfileEvent::ExternalProcessingUncompressedBytesTotal, bytes.size());
    std::lock_guard lock(mutex_);
    List& to = lists_[list];
    to.blocks.push_back({offset, static_cast<uint32_t>(stored.size()), static_cast<uint32_t>(bytes.size()), checksum});
    to.rows += batch.rows;
    to.bytes += bytes.size();
    to.largest_block = std::max<uint64_t>(to.largest_block, bytes.size());
}

void SpillFile::write_bytes(std::string_view bytes, uint64_t offset) {
    while (!bytes.empty()) {
        const ssize_t n = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) directory_->fail_system(n < 0 ? errno : ENOSPC, "write");
        bytes.remove_prefix(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
}

void SpillFile::read_bytes(std::span<char> bytes, uint64_t offset) const {
    while (!bytes.empty()) {
        const ssize_t n = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const std::string reason = n < 0 ? std::strerror(errno) : "the file ends before them";
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "Cannot read {} spilled bytes back from {}: {}", bytes.size(),
                 directory_->path(), reason);
        }
        bytes = bytes.subspan(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
}

Batch SpillFile::read_block(const Block& block) const {
    const auto stored = Buffer::allocate(block.stored), bytes = Buffer::allocate(block.bytes);
    read_bytes({stored->mutable_data(), stored->size()}, block.offset);
    if (hash_bytes(stored->data(), stored->size()) != block.checksum ||
        !decompress(space_.codec(), {stored->data(), stored->size()}, {bytes->mutable_data(), bytes->size()}))
        fail(ErrorCode::INCORRECT_DATA, "Spilled data in {} are damaged: they are not what was written",
             directory_->path());
    return read_batch({bytes->data(), bytes->size()}, types_);
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
