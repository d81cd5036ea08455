#include "firn/exec/spill/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string_view>

#include "firn/base/error.h"

namespace firn::exec {
namespace {

constexpr std::string_view kPrefix = "firn-spill-";
constexpr const char* kLock = "lock";
constexpr time_t kSecondsToLock = 60;  // a directory without a lock file is abandoned after this

std::string default_parent() {
    const char* named = std::getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

/// Removes the files of a directory and then itself, as far as that goes.
void remove_directory(int directory, const std::string& path) {
    const int copy = ::dup(directory);
    DIR* listing = copy < 0 ? nullptr : ::fdopendir(copy);
    if (!listing) {
        if (copy >= 0) ::close(copy);
        return;
    }
    ::rewinddir(listing);
    while (const dirent* entry = ::readdir(listing))
        if (std::string_view name = entry->d_name; name != "." && name != "..") ::unlinkat(directory, entry->d_name, 0);
    ::closedir(listing);
    ::rmdir(path.c_str());
}

void remove_if_abandoned(const std::string& path) {
    const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) return;
    struct stat status {};
    if (::fstat(directory, &status) == 0 && status.st_uid == ::geteuid()) {
        const int lock = ::openat(directory, kLock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (lock >= 0) {
            if (::flock(lock, LOCK_EX | LOCK_NB) == 0) remove_directory(directory, path);
            ::close(lock);
        } else if (errno == ENOENT && std::time(nullptr) - status.st_mtime > kSecondsToLock) {
            remove_directory(directory, path);
        }
    }
    ::close(directory);
}

void remove_abandoned(const std::string& parent) {
    DIR* listing = ::opendir(parent.c_str());
    if (!listing) return;
    while (const dirent* entry = ::readdir(listing))
        if (std::string_view(entry->d_name).starts_with(kPrefix)) remove_if_abandoned(parent + "/" + entry->d_name);
    ::closedir(listing);
}

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace

std::shared_ptr<SpillDirectory> SpillDirectory::open(const std::string& parent) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<SpillDirectory>> known;
    std::string place = parent.empty() ? default_parent() : parent;
    while (place.size() > 1 && place.back() == '/') place.pop_back();
    std::lock_guard guard(mutex);
    if (auto directory = known[place].lock()) return directory;
    remove_abandoned(place);
    for (int attempt = 0;; ++attempt) {
        std::string path = place + "/" + std::string(kPrefix) + std::to_string(::getpid()) + "-XXXXXX";
        if (!::mkdtemp(path.data()))
            fail(is_full(errno) ? ErrorCode::NOT_ENOUGH_SPACE : ErrorCode::CANNOT_OPEN_FILE,
                 "Cannot make a directory for spilled data in {}: {}. The setting firn_temporary_directory or the "
                 "environment's TMPDIR name another place",
                 place, std::strerror(errno));
        std::shared_ptr<SpillDirectory> made(new SpillDirectory(std::move(path)));
        // Another process may take the new directory for an abandoned one until it is locked.
        if (!made->lock() && attempt < 10) continue;
        known[place] = made;
        return made;
    }
}

bool SpillDirectory::lock() {
    const std::string path = path_ + "/" + kLock;
    lock_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (lock_ < 0 && errno == ENOENT) return false;
    if (lock_ < 0) fail_system(errno, "lock");
    struct stat held {
    }, named{};
    return ::flock(lock_, LOCK_EX | LOCK_NB) == 0 && ::fstat(lock_, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
           held.st_ino == named.st_ino;
}

SpillDirectory::~SpillDirectory() {
    const int directory = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        remove_directory(directory, path_);
        ::close(directory);
    }
    if (lock_ >= 0) ::close(lock_);
}

int SpillDirectory::create_file() {
    std::string path = path_ + "/XXXXXX";
    const int file = ::mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) fail_system(errno, "make a file");
    ::unlink(path.c_str());  // where that fails the file goes with the directory
    return file;
}

void SpillDirectory::fail_system(int error, const char* doing) const {
    if (is_full(error))
        fail(ErrorCode::NOT_ENOUGH_SPACE,
             "No space left for spilled data in {}: {}. Free space there, name another place by the setting "
             "firn_temporary_directory or the environment's TMPDIR, or raise max_memory_usage",
             path_, std::strerror(error));
    fail(ErrorCode::CANNOT_OPEN_FILE, "Cannot {} for spilled data in {}: {}", doing, path_, std::strerror(error));
}

}  // namespace firn::exec
