#include "firn/storage/local_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "firn/base/error.h"

namespace firn::storage {

namespace {

/// A file descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_;
};

ErrorCode code_of(int error, ErrorCode otherwise) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
            return ErrorCode::FILE_DOESNT_EXIST;
        case EACCES:
        case EPERM:
        case EROFS:
            return ErrorCode::ACCESS_DENIED;
        case ENOSPC:
        case EDQUOT:
            return ErrorCode::NOT_ENOUGH_SPACE;
        default:
            return otherwise;
    }
}

[[noreturn]] void fail_system(int error, ErrorCode otherwise, std::string_view doing, std::string_view path) {
    fail(code_of(error, otherwise), "Cannot {} {}: {}", doing, path, std::strerror(error));
}

ObjectInfo info_of(std::string_view path, const struct stat& status) {
    ObjectInfo info;
    info.path = path;
    info.size = static_cast<uint64_t>(status.st_size);
    info.modified_us = int64_t{status.st_mtim.tv_sec} * 1'000'000 + status.st_mtim.tv_nsec / 1000;
    const auto nanoseconds = [](const timespec& time) {
        return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
    };
    // Writers can set the time of modification back, but not that of the last change.
    info.etag = fmt::format("{:x}-{:x}-{:x}-{:x}", static_cast<uint64_t>(status.st_ino), info.size,
                            nanoseconds(status.st_mtim), nanoseconds(status.st_ctim));
    return info;
}

/// An embedded zero byte would cut the path that the system sees.
std::string system_path(std::string_view path) {
    if (path.empty()) fail(ErrorCode::FILE_DOESNT_EXIST, "An empty path names no file");
    if (path.find('\0') != path.npos) {
        fail(ErrorCode::FILE_DOESNT_EXIST, "Path {} holds a zero byte", path.substr(0, path.find('\0')));
    }
    return std::string(path);
}

void read_exactly(int fd, uint64_t offset, std::span<uint8_t> out, std::string_view path) {
    size_t done = 0;
    while (done < out.size()) {
        ssize_t got = ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (got < 0) {
            if (errno == EINTR) continue;
            fail_system(errno, ErrorCode::CANNOT_READ_FROM_FILE_DESCRIPTOR, "read", path);
        }
        if (got == 0) {
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "File {} ends before byte {}: {} bytes from {} were asked for", path,
                 offset + out.size(), out.size(), offset);
        }
        done += static_cast<size_t>(got);
    }
}

class LocalFile final : public OpenFile {
public:
    LocalFile(Descriptor descriptor, ObjectInfo info) : descriptor_(std::move(descriptor)), info_(std::move(info)) {}
    ~LocalFile() override {
        if (mapped_) ::munmap(mapped_, info_.size);
    }

    const ObjectInfo& info() const noexcept override { return info_; }

    void read_at(uint64_t offset, std::span<uint8_t> out) const override {
        if (offset > info_.size || out.size() > info_.size - offset) {
            fail(ErrorCode::CANNOT_READ_ALL_DATA, "File {} has {} bytes: {} from {} were asked for", info_.path,
                 info_.size, out.size(), offset);
        }
        read_exactly(descriptor_.get(), offset, out, info_.path);
    }

    std::span<const uint8_t> map() const override {
        std::call_once(once_, [this] {
            if (info_.size == 0) return;
            void* at = ::mmap(nullptr, info_.size, PROT_READ, MAP_PRIVATE, descriptor_.get(), 0);
            if (at != MAP_FAILED) mapped_ = at;
        });
        if (!mapped_) return {};
        return {static_cast<const uint8_t*>(mapped_), info_.size};
    }

    void unload(uint64_t offset, uint64_t size) const override {
        static const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
        const uint64_t begin = (offset + page - 1) / page * page,
                       end = std::min(offset + size, info_.size) / page * page;
        if (mapped_ && begin < end) ::madvise(static_cast<char*>(mapped_) + begin, end - begin, MADV_DONTNEED);
    }

private:
    Descriptor descriptor_;
    ObjectInfo info_;
    mutable std::once_flag once_;
    mutable void* mapped_ = nullptr;
};

std::string folder_of(const std::string& path) {
    size_t slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

void make_folders(const std::string& folder) {
    if (folder.empty() || folder == "/" || folder == ".") return;
    if (::mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST) return;
    if (errno != ENOENT) fail_system(errno, ErrorCode::CANNOT_OPEN_FILE, "make the folder", folder);
    make_folders(folder_of(folder));
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
        fail_system(errno, ErrorCode::CANNOT_OPEN_FILE, "make the folder", folder);
    }
}

void sync_folder(const std::string& folder) {
    Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems refuse to sync a folder (EINVAL); there is nothing more that could be done then.
    if (descriptor && ::fsync(descriptor.get()) != 0 && errno != EINVAL) {
        fail_system(errno, ErrorCode::CANNOT_FSYNC, "sync the folder", folder);
    }
}

void write_all(int fd, std::span<const uint8_t> bytes, const std::string& path) {
    size_t done = 0;
    while (done < bytes.size()) {
        ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (put < 0) {
            if (errno == EINTR) continue;
            fail_system(errno, ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR, "write", path);
        }
        done += static_cast<size_t>(put);
    }
    if (::fsync(fd) != 0) fail_system(errno, ErrorCode::CANNOT_FSYNC, "sync", path);
}

/// A file beside its final place that removes itself unless it was renamed away.
class TemporaryFile {
public:
    TemporaryFile(const std::string& target, std::span<const uint8_t> bytes) {
        static std::atomic<uint64_t> counter{0};
        std::string folder = folder_of(target);
        make_folders(folder);
        for (int attempt = 0;; ++attempt) {
            path_ = fmt::format("{}/.firn-{}-{}.tmp", folder, ::getpid(), counter.fetch_add(1));
            Descriptor descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
            if (!descriptor) {
                if (errno == EEXIST && attempt < 100) continue;
                int error = errno;
                path_.clear();
                fail_system(error, ErrorCode::CANNOT_OPEN_FILE, "create", target);
            }
            try {
                write_all(descriptor.get(), bytes, target);
            } catch (...) {
                ::unlink(path_.c_str());
                throw;
            }
            return;
        }
    }
    ~TemporaryFile() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }
    void forget() { path_.clear(); }

private:
    std::string path_;
};

void list_folder(const std::string& folder, bool recursive, int depth, std::vector<ObjectInfo>& out) {
    constexpr int kMaxFolderDepth = 200;
    if (depth > kMaxFolderDepth) fail(ErrorCode::TOO_DEEP_RECURSION, "Folder {} is nested too deep to list", folder);
    DIR* opened = ::opendir(folder.c_str());
    if (!opened) {
        if (errno == ENOENT || errno == ENOTDIR) return;
        fail_system(errno, ErrorCode::CANNOT_OPEN_FILE, "list", folder);
    }
    std::unique_ptr<DIR, int (*)(DIR*)> stream(opened, &::closedir);
    while (const dirent* entry = ::readdir(stream.get())) {
        std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        std::string path = folder.back() == '/' ? folder : folder + "/";
        path += name;
        struct stat status;
        if (::stat(path.c_str(), &status) != 0) continue;  // removed meanwhile, or a link to nowhere
        if (S_ISREG(status.st_mode)) {
            out.push_back(info_of(path, status));
        } else if (recursive && S_ISDIR(status.st_mode)) {
            list_folder(path, recursive, depth + 1, out);
        }
    }
}

}  // namespace

std::optional<ObjectInfo> LocalStore::try_stat(std::string_view path) const {
    std::string name = system_path(path);
    struct stat status;
    if (::stat(name.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        fail_system(errno, ErrorCode::CANNOT_STAT, "look at", path);
    }
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return info_of(path, status);
}

ObjectInfo LocalStore::stat(std::string_view path) const {
    if (auto info = try_stat(path)) return *std::move(info);
    fail(ErrorCode::FILE_DOESNT_EXIST, "File {} does not exist", path);
}

std::shared_ptr<const OpenFile> LocalStore::open(std::string_view path) const {
    std::string name = system_path(path);
    Descriptor descriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor) {
        if (errno == ENOENT || errno == ENOTDIR) fail(ErrorCode::FILE_DOESNT_EXIST, "File {} does not exist", path);
        fail_system(errno, ErrorCode::CANNOT_OPEN_FILE, "open", path);
    }
    struct stat status;
    if (::fstat(descriptor.get(), &status) != 0) fail_system(errno, ErrorCode::CANNOT_STAT, "look at", path);
    if (!S_ISREG(status.st_mode)) fail(ErrorCode::FILE_DOESNT_EXIST, "{} is not a file", path);
    return std::make_shared<LocalFile>(std::move(descriptor), info_of(path, status));
}

std::string LocalStore::read_all(std::string_view path, uint64_t limit) const {
    return ObjectStore::read_all(path, limit);
}

std::vector<ObjectInfo> LocalStore::list(std::string_view prefix, bool recursive) const {
    std::vector<ObjectInfo> found;
    list_folder(system_path(prefix), recursive, 0, found);
    std::sort(found.begin(), found.end(), [](const ObjectInfo& a, const ObjectInfo& b) { return a.path < b.path; });
    return found;
}

void LocalStore::put(std::string_view path, std::span<const uint8_t> bytes) {
    std::string target = system_path(path);
    TemporaryFile temporary(target, bytes);
    if (::rename(temporary.path().c_str(), target.c_str()) != 0) {
        fail_system(errno, ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR, "write", path);
    }
    temporary.forget();
    sync_folder(folder_of(target));
}

bool LocalStore::put_if_absent(std::string_view path, std::span<const uint8_t> bytes) {
    std::string target = system_path(path);
    TemporaryFile temporary(target, bytes);
    // link fails where the name is taken, in one atomic step; rename would replace.
    if (::link(temporary.path().c_str(), target.c_str()) != 0) {
        if (errno == EEXIST) return false;
        fail_system(errno, ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR, "write", path);
    }
    sync_folder(folder_of(target));
    return true;
}

bool LocalStore::remove(std::string_view path) {
    std::string name = system_path(path);
    if (::unlink(name.c_str()) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    fail_system(errno, ErrorCode::CANNOT_OPEN_FILE, "remove", path);
}

LocalStore& local_store() {
    static LocalStore store;
    return store;
}

}  // namespace firn::storage
