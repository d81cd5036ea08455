#include "firn/storage/filesystem_cache.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/aws_signature.h"
#include "firn/storage/cache_segment.h"

namespace firn::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashDigits = 32;
constexpr std::string_view kTemporary = "firn-segment-tmp-";  // others may keep files of theirs in the directory
constexpr size_t kHeadRead = 4096;                            // most heads are smaller
constexpr uint64_t kSlackShare = 16;  // of the limit: removed beyond need, and written between looks at the directory
constexpr std::chrono::seconds kPauseAfterFailure{60};
constexpr int64_t kAbandonedNs = int64_t{600} * 1'000'000'000;  // age of temporary files that nobody will rename
constexpr size_t kMostKnown = 200'000;
constexpr int kTriesToPlace = 10;
constexpr int64_t kNsPerSecond = 1'000'000'000;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    /// Of the system's close.
    int close() {
        const int fd = std::exchange(fd_, -1);
        return fd < 0 ? 0 : ::close(fd);
    }

private:
    int fd_;
};

bool read_fully(int fd, uint64_t offset, std::span<uint8_t> out) {
    while (!out.empty()) {
        const ssize_t n = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        offset += static_cast<uint64_t>(n);
        out = out.subspan(static_cast<size_t>(n));
    }
    return true;
}

/// 0, or the system's error.
int write_fully(int fd, std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        bytes = bytes.subspan(static_cast<size_t>(n));
    }
    return 0;
}

/// To the nanosecond, as the kernel's own stamp of a file is not: the order of use is read from it.
void stamp(int fd) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const timespec times[2] = {now, now};
    ::futimens(fd, times);
}

/// A file's stamp may be any; those beyond 2262 count as then.
int64_t ns_of(const timespec& time) {
    constexpr int64_t kLast = INT64_MAX / kNsPerSecond - 1;
    return std::clamp<int64_t>(time.tv_sec, 0, kLast) * kNsPerSecond + time.tv_nsec;
}

int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return ns_of(now);
}

bool is_hex(std::string_view text, size_t digits) {
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string segment_name(ByteRange segment) { return fmt::format("{}-{}", segment.offset, segment.length); }

/// Of a file's name; nothing for names that are none of a segment.
std::optional<ByteRange> segment_of(std::string_view name) {
    ByteRange range;
    const char* end = name.data() + name.size();
    const auto offset = std::from_chars(name.data(), end, range.offset);
    if (offset.ec != std::errc{} || offset.ptr == end || *offset.ptr != '-') return std::nullopt;
    const auto length = std::from_chars(offset.ptr + 1, end, range.length);
    if (length.ec != std::errc{} || length.ptr != end || range.length == 0) return std::nullopt;
    if (range.offset > UINT64_MAX - range.length) return std::nullopt;
    return range;
}

/// The names in a folder; none where it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    return names;
}

/// Removes a segment's file, and the two folders above it where it was the last in them. False where it is still there.
bool remove_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return false;
    const std::string folder = path.substr(0, path.rfind('/'));
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) ::rmdir(folder.substr(0, folder.rfind('/')).c_str());
    return true;
}

/// Held while files are removed, so that two processes do not make the same room twice. Best effort.
class FolderLock {
public:
    explicit FolderLock(const std::string& path)
        : file_(::open((path + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
        if (file_.get() >= 0) ::flock(file_.get(), LOCK_EX);
    }

private:
    Descriptor file_;
};

std::string temporary_name() {
    static const uint64_t process = std::random_device{}() ^ (uint64_t{std::random_device{}()} << 32);
    static std::atomic<uint64_t> files{0};
    return fmt::format("{}{:016x}-{}-{}", kTemporary, process, ::getpid(),
                       ++files);  // a forked process has the same number
}

}  // namespace

std::string FilesystemCache::folder_of(const std::string& key) const {
    const std::string hash = sha256_hex(key).substr(0, kHashDigits);
    return fmt::format("{}/{}/{}", options_.path, hash.substr(0, 2), hash);
}

FilesystemCache::Segments& FilesystemCache::known_in(const std::string& folder) {
    if (known_.size() >= kMostKnown) known_.clear();
    const auto [found, fresh] = known_.try_emplace(folder);
    if (!fresh) return found->second;
    std::vector<ByteRange> ranges;
    for (const std::string& name : names_in(folder))
        if (const auto range = segment_of(name)) ranges.push_back(*range);
    // Two processes may have written overlapping ones: of those that begin together the longest counts.
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
        return a.offset != b.offset ? a.offset < b.offset : a.length > b.length;
    });
    uint64_t end = 0;
    for (const ByteRange& range : ranges) {
        if (range.offset < end) continue;
        found->second.emplace(range.offset, Known{range.length, 0});
        end = range.offset + range.length;
    }
    return found->second;
}

std::vector<CoveredPart> FilesystemCache::parts(const Object& object, ByteRange range) {
    const std::string folder = folder_of(object.key);
    std::lock_guard lock(mutex_);
    return covered_parts(known_in(folder), range, length_of);
}

std::optional<FilesystemCache::Found> FilesystemCache::read(const Object& object, ByteRange range) {
    const std::string folder = folder_of(object.key);
    std::vector<std::pair<ByteRange, ByteRange>> reads;  // segment, range in the object
    {
        std::lock_guard lock(mutex_);
        Segments& known = known_in(folder);
        for (const CoveredPart& part : covered_parts(known, range, length_of)) {
            if (!part.there) {
                count_event(ProfileEvent::CachedReadBufferReadFromCacheMisses);
                return std::nullopt;
            }
            auto segment = std::prev(known.upper_bound(part.range.offset));
            ++segment->second.hits;
            reads.push_back({{segment->first, segment->second.length}, part.range});
        }
    }
    Found found;
    const MutableBufferPtr bytes = Buffer::allocate(range.length);
    std::span<uint8_t> out(bytes->mutable_as<uint8_t>(), bytes->size());
    for (const auto& [segment, part] : reads) {
        uint64_t object_size = 0;
        if (!read_segment(object, folder, segment, part, out.first(part.length), found, object_size)) {
            count_event(ProfileEvent::CachedReadBufferReadFromCacheMisses);
            return std::nullopt;
        }
        out = out.subspan(part.length);
    }
    count_event(ProfileEvent::CachedReadBufferReadFromCacheHits);
    count_event(ProfileEvent::CachedReadBufferReadFromCacheBytes, range.length);
    found.bytes = bytes;
    return found;
}

std::optional<FilesystemCache::Found> FilesystemCache::read_whole(const std::string& key, uint64_t limit) {
    const std::string folder = folder_of(key);
    ByteRange segment;
    {
        std::lock_guard lock(mutex_);
        const Segments& known = known_in(folder);
        if (known.size() != 1 || known.begin()->first != 0 || known.begin()->second.length > limit) {
            count_event(ProfileEvent::CachedReadBufferReadFromCacheMisses);
            return std::nullopt;
        }
        segment.length = known.begin()->second.length;
    }
    std::error_code error;
    const auto file_size = fs::file_size(folder + "/" + segment_name(segment), error);
    if (error || file_size < segment.length) {  // a name may say anything: nothing is allocated for it
        drop_segment(folder, segment, !error);
        count_event(ProfileEvent::CachedReadBufferReadFromCacheMisses);
        return std::nullopt;
    }
    Found found;
    const MutableBufferPtr bytes = Buffer::allocate(segment.length);
    uint64_t object_size = 0;
    if (!read_segment({key, 0}, folder, segment, segment, {bytes->mutable_as<uint8_t>(), bytes->size()}, found,
                      object_size) ||
        object_size != segment.length) {
        count_event(ProfileEvent::CachedReadBufferReadFromCacheMisses);
        return std::nullopt;
    }
    count_event(ProfileEvent::CachedReadBufferReadFromCacheHits);
    count_event(ProfileEvent::CachedReadBufferReadFromCacheBytes, segment.length);
    found.bytes = bytes;
    return found;
}

/// Into `out`, which is of the range's length; object.size 0: not known. False where it is not to be had, and then not known
/// any more; found.etag is set, or must be the segment's.
bool FilesystemCache::read_segment(const Object& object, const std::string& folder, ByteRange segment, ByteRange range,
                                   std::span<uint8_t> out, Found& found, uint64_t& object_size) {
    const Descriptor file(::open((folder + "/" + segment_name(segment)).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        drop_segment(folder, segment, false);
        return false;
    }
    const auto file_size = static_cast<uint64_t>(std::max<off_t>(0, status.st_size));
    const auto damaged = [&] {
        drop_segment(folder, segment, true);
        return false;
    };
    std::vector<uint8_t> head_bytes(std::min<uint64_t>(kHeadRead, file_size));
    if (!read_fully(file.get(), 0, head_bytes)) return damaged();
    const auto head_size = segment_head_bytes(head_bytes);
    if (!head_size || *head_size > file_size) return damaged();
    if (*head_size > head_bytes.size()) {
        const size_t had = head_bytes.size();
        head_bytes.resize(*head_size);
        if (!read_fully(file.get(), had, std::span(head_bytes).subspan(had))) return damaged();
    }
    const auto head = parse_segment_head(head_bytes, file_size);
    if (!head || head->key != object.key || head->offset != segment.offset || head->length != segment.length ||
        (object.size != 0 && head->object_size != object.size))
        return damaged();
    std::vector<uint8_t> block;
    const uint64_t inside = range.offset - segment.offset;
    for (uint64_t number = inside / kSegmentBlock; number * kSegmentBlock < inside + range.length; ++number) {
        const uint64_t begin = number * kSegmentBlock;
        block.resize(std::min<uint64_t>(kSegmentBlock, segment.length - begin));
        if (!read_fully(file.get(), *head_size + begin, block) || !is_block(*head, number, block)) return damaged();
        const uint64_t from = std::max(begin, inside), to = std::min(begin + block.size(), inside + range.length);
        std::memcpy(out.data() + (from - inside), block.data() + (from - begin), to - from);
    }
    if (!found.etag.empty() && !head->etag.empty() && found.etag != head->etag) {
        forget(object.key);  // two versions of the object: none of them is to be believed
        return false;
    }
    if (found.etag.empty()) found.etag = head->etag;
    object_size = head->object_size;
    stamp(file.get());
    return true;
}

void FilesystemCache::drop_segment(const std::string& folder, ByteRange segment, bool damaged) {
    std::lock_guard lock(mutex_);
    if (const auto known = known_.find(folder); known != known_.end()) known->second.erase(segment.offset);
    if (!damaged) return;
    count_event(ProfileEvent::FilesystemCacheDamagedFileSegments);
    remove_file(folder + "/" + segment_name(segment));
    scanned_ = false;
}

void FilesystemCache::forget(const std::string& key) {
    const std::string folder = folder_of(key);
    std::lock_guard lock(mutex_);
    known_.erase(folder);
    for (const std::string& name : names_in(folder))
        if (segment_of(name)) remove_file(folder + "/" + name);
    scanned_ = false;
}

std::vector<FilesystemCache::Segment> FilesystemCache::scan() {
    std::vector<Segment> found;
    for (const std::string& first : names_in(options_.path)) {
        const std::string above = options_.path + "/" + first;
        struct stat status {};
        if (first.starts_with(kTemporary)) {
            if (::stat(above.c_str(), &status) == 0 && now_ns() - ns_of(status.st_mtim) > kAbandonedNs)
                ::unlink(above.c_str());
            continue;
        }
        if (!is_hex(first, 2)) continue;
        for (const std::string& hash : names_in(above)) {
            if (!is_hex(hash, kHashDigits)) continue;
            for (const std::string& name : names_in(above + "/" + hash)) {
                const auto range = segment_of(name);
                std::string path = fmt::format("{}/{}/{}", above, hash, name);
                if (!range || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
                found.push_back({std::move(path), hash, range->offset, range->length,
                                 static_cast<uint64_t>(std::max<off_t>(0, status.st_size)), ns_of(status.st_mtim), 0});
            }
        }
    }
    used_bytes_ = 0;
    for (const Segment& segment : found) used_bytes_ += segment.bytes;
    used_files_ = found.size();
    written_since_scan_ = 0;
    scanned_ = true;
    return found;
}

void FilesystemCache::remove(const Segment& segment) {
    if (!remove_file(segment.path)) return;
    used_bytes_ -= std::min(used_bytes_, segment.bytes);
    used_files_ -= used_files_ > 0;
    const std::string folder = segment.path.substr(0, segment.path.rfind('/'));
    if (const auto known = known_.find(folder); known != known_.end()) known->second.erase(segment.offset);
}

/// Whether there is room for a file of so many bytes; it is then kept free until the caller takes it off being_written_.
bool FilesystemCache::reserve(uint64_t bytes) {
    const uint64_t most = options_.max_size;
    if (bytes > most || being_written_ > most - bytes) return false;  // however much were removed
    if (!make_room(being_written_ + bytes)) return false;
    being_written_ += bytes;
    return true;
}

/// Beside what there is, for so many bytes, at most all that the cache may have.
bool FilesystemCache::make_room(uint64_t bytes) {
    const uint64_t most = options_.max_size, slack = most / kSlackShare;
    if (!scanned_ || written_since_scan_ > slack) scan();
    if (used_bytes_ + bytes <= most) return true;
    const FolderLock lock(options_.path);
    auto segments = scan();
    std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.used_ns < b.used_ns; });
    for (const Segment& segment : segments) {
        if (used_bytes_ + bytes <= most - slack) break;
        remove(segment);
        count_event(ProfileEvent::FilesystemCacheEvictedBytes, segment.bytes);
        count_event(ProfileEvent::FilesystemCacheEvictedFileSegments);
    }
    return used_bytes_ + bytes <= most;
}

void FilesystemCache::write(const Object& object, std::string_view etag, uint64_t offset,
                            std::span<const uint8_t> bytes) {
    if (bytes.empty()) return;
    const std::string folder = folder_of(object.key);
    std::unique_lock lock(mutex_);
    for (const ByteRange& range : missing_in(folder, {offset, bytes.size()})) {
        if (std::chrono::steady_clock::now() < no_writes_before_) return;
        if (!is_missing(folder, range)) continue;  // another thread was faster meanwhile
        const auto own = bytes.subspan(range.offset - offset, range.length);
        SegmentHead fields;
        fields.key = object.key;
        fields.etag = etag;
        fields.object_size = object.size;
        fields.offset = range.offset;
        fields.length = range.length;
        const uint64_t size = own.size() + segment_head_size(fields, own.size());
        if (!reserve(size)) return;
        writing_[folder].emplace(range.offset, Known{range.length, 0});
        lock.unlock();
        const int error = write_segment(folder, std::move(fields), own);
        lock.lock();
        being_written_ -= size;
        if (const auto found = writing_.find(folder); found != writing_.end()) {
            found->second.erase(range.offset);
            if (found->second.empty()) writing_.erase(found);
        }
        if (error != 0) return write_failed(error);
        count_event(ProfileEvent::CachedReadBufferCacheWriteBytes, own.size());
        used_bytes_ += size;
        ++used_files_;
        written_since_scan_ += size;
        // Where the folder was forgotten meanwhile it has just been looked at anew.
        if (is_missing(folder, range)) known_in(folder).emplace(range.offset, Known{range.length, 0});
    }
}

/// The parts of the range that are neither there nor being written.
std::vector<ByteRange> FilesystemCache::missing_in(const std::string& folder, ByteRange range) {
    static const Segments none;
    std::vector<ByteRange> missing;
    const auto writing = writing_.find(folder);
    for (const CoveredPart& part : covered_parts(known_in(folder), range, length_of)) {
        if (part.there) continue;
        for (const CoveredPart& inner :
             covered_parts(writing == writing_.end() ? none : writing->second, part.range, length_of))
            if (!inner.there) missing.push_back(inner.range);
    }
    return missing;
}

bool FilesystemCache::is_missing(const std::string& folder, ByteRange range) {
    const auto missing = missing_in(folder, range);
    return missing.size() == 1 && missing[0].offset == range.offset && missing[0].length == range.length;
}

/// 0, or the system's error.
int FilesystemCache::write_segment(const std::string& folder, SegmentHead fields, std::span<const uint8_t> bytes) {
    try {
        const std::string name = segment_name({fields.offset, fields.length});
        return write_file(folder, name, encode_segment_head(std::move(fields), bytes), bytes);
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    } catch (const std::exception&) {  // no random name: what was reserved is given back, as for any failure
        return EIO;
    }
}

/// 0, or the system's error.
int FilesystemCache::write_file(const std::string& folder, const std::string& name, std::string_view head,
                                std::span<const uint8_t> bytes) {
    std::error_code failed;
    fs::create_directories(options_.path, failed);
    if (failed) return failed.value();
    const std::string temporary = options_.path + "/" + temporary_name();
    Descriptor file(::open(temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    if (file.get() < 0) return errno;
    int error = write_fully(file.get(), {reinterpret_cast<const uint8_t*>(head.data()), head.size()});
    if (error == 0) error = write_fully(file.get(), bytes);
    if (error == 0) stamp(file.get());
    if (error == 0 && file.close() != 0) error = errno;
    const std::string path = folder + "/" + name;
    for (int tries = 0; error == 0; ++tries) {
        fs::create_directories(folder, failed);
        if (::rename(temporary.c_str(), path.c_str()) == 0) return 0;
        const int said = errno;
        // Others may remove the folder at any time while it is empty.
        if (said != ENOENT || tries == kTriesToPlace) error = failed ? failed.value() : said;
    }
    ::unlink(temporary.c_str());
    return error;
}

void FilesystemCache::write_failed(int error) {
    count_event(ProfileEvent::FilesystemCacheFailedWrites);
    no_writes_before_ = std::chrono::steady_clock::now() + kPauseAfterFailure;
    if (std::exchange(complained_, true)) return;
    fmt::print(stderr, "Warning: nothing more is kept in the cache {} for now, it cannot be written: {}\n",
               options_.path, std::strerror(error));
}

void FilesystemCache::clear() {
    std::lock_guard lock(mutex_);
    const FolderLock folder(options_.path);
    for (const Segment& segment : scan()) remove(segment);
    known_.clear();
    no_writes_before_ = {};
}

uint64_t FilesystemCache::bytes() {
    std::lock_guard lock(mutex_);
    if (!scanned_) scan();
    return used_bytes_;
}

size_t FilesystemCache::entries() {
    std::lock_guard lock(mutex_);
    if (!scanned_) scan();
    return used_files_;
}

std::vector<FilesystemCache::Segment> FilesystemCache::segments() {
    std::lock_guard lock(mutex_);
    auto found = scan();
    for (Segment& segment : found) {
        const auto known = known_.find(segment.path.substr(0, segment.path.rfind('/')));
        if (known == known_.end()) continue;
        const auto own = known->second.find(segment.offset);
        if (own != known->second.end() && own->second.length == segment.length) segment.hits = own->second.hits;
    }
    return found;
}

}  // namespace firn::storage
