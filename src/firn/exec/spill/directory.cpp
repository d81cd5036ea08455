#include "firn/exec/spill/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
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
constexpr int kAttempts = 10;          // at a directory that nobody else takes for an abandoned one

/// The process's directories, for signal handlers: no lock, nothing that is freed.
struct LiveDirectory {
    enum State : int { Free, Changing, Live };
    std::atomic<int> state{Free};
    char path[PATH_MAX], lock[PATH_MAX];
};
constexpr size_t kMostLive = 16;  // further ones are left to the next process when a signal ends this one
LiveDirectory live_directories[kMostLive];

void enter_live(const std::string& path) {
    const std::string lock = path + "/" + kLock;
    if (lock.size() >= PATH_MAX) return;
    for (LiveDirectory& live : live_directories) {
        int free = LiveDirectory::Free;
        if (!live.state.compare_exchange_strong(free, LiveDirectory::Changing)) continue;
        std::memcpy(live.path, path.c_str(), path.size() + 1);
        std::memcpy(live.lock, lock.c_str(), lock.size() + 1);
        live.state.store(LiveDirectory::Live);
        return;
    }
}

void leave_live(const std::string& path) {
    for (LiveDirectory& live : live_directories)
        if (live.state.load() == LiveDirectory::Live && path == live.path) return live.state.store(LiveDirectory::Free);
}

/// The path that `parent` means, without a slash at its end.
std::string place_of(const std::string& parent) {
    const char* named = std::getenv("TMPDIR");
    std::string place = !parent.empty() ? parent : named && *named ? named : "/tmp";
    while (place.size() > 1 && place.back() == '/') place.pop_back();
    return place;
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

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

}  // namespace

std::shared_ptr<SpillDirectory> SpillDirectory::open(const std::string& parent) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<SpillDirectory>> known;
    const std::string place = place_of(parent);
    std::lock_guard guard(mutex);
    if (auto directory = known[place].lock()) return directory;
    remove_abandoned(place);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        std::string path = place + "/" + std::string(kPrefix) + std::to_string(::getpid()) + "-XXXXXX";
        if (!::mkdtemp(path.data()))
            fail(is_full(errno) ? ErrorCode::NOT_ENOUGH_SPACE : ErrorCode::CANNOT_OPEN_FILE,
                 "Cannot make a directory for spilled data in {}: {}. The setting firn_temporary_directory or the "
                 "environment's TMPDIR name another place",
                 place, std::strerror(errno));
        std::shared_ptr<SpillDirectory> made(new SpillDirectory(std::move(path)));
        // Another process may take the new directory for an abandoned one until it is locked.
        if (!made->lock()) continue;
        known[place] = made;
        return made;
    }
    fail(ErrorCode::CANNOT_OPEN_FILE,
         "Cannot lock a directory for spilled data in {}: other processes removed {} of them before that", place,
         kAttempts);
}

void SpillDirectory::remove_abandoned(const std::string& parent) {
    const std::string place = place_of(parent);
    DIR* listing = ::opendir(place.c_str());
    if (!listing) return;
    while (const dirent* entry = ::readdir(listing))
        if (std::string_view(entry->d_name).starts_with(kPrefix)) remove_if_abandoned(place + "/" + entry->d_name);
    ::closedir(listing);
}

void SpillDirectory::remove_all() noexcept {
    for (const LiveDirectory& live : live_directories) {
        if (live.state.load() != LiveDirectory::Live) continue;
        ::unlink(live.lock);
        ::rmdir(live.path);
    }
}

SpillDirectory::SpillDirectory(std::string path) : path_(std::move(path)) { enter_live(path_); }

bool SpillDirectory::lock() {
    const std::string path = path_ + "/" + kLock;
    lock_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (lock_ < 0 && errno == ENOENT) return false;
    if (lock_ < 0) fail_system(errno, "make a lock file");
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return false;
        fail_system(errno, "lock a file");
    }
    struct stat held {
    }, named{};
    return ::fstat(lock_, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino;
}

SpillDirectory::~SpillDirectory() {
    const int directory = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        remove_directory(directory, path_);
        ::close(directory);
    }
    leave_live(path_);
    if (lock_ >= 0) ::close(lock_);
}

int SpillDirectory::create_file() {
    int file = ::open(path_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    std::string path = path_ + "/XXXXXX";  // the file system knows no files without names
    file = ::mkostemp(path.data(), O_CLOEXEC);
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
    fail(ErrorCode::CANNOT_OPEN_FILE,
         "Cannot {} for spilled data in {}: {}. The setting firn_temporary_directory or the environment's TMPDIR name "
         "another place",
         doing, path_, std::strerror(error));
}

}  // namespace firn::exec
