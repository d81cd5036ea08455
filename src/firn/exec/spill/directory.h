// Where spilled data lie: a directory of the process's own, whose files have no names.
#pragma once

#include <memory>
#include <string>

namespace firn::exec {

/// A directory `firn-spill-PID-…` with a locked file `lock`: whoever can take the lock knows that the owner is gone, and
/// removes the directory. Files in it have no names, or lose them as soon as they are open, so that nothing large outlives
/// a crash.
class SpillDirectory {
public:
    /// The process's directory under `parent` ("" = $TMPDIR, else /tmp), shared by all that hold it and removed with the
    /// last of them. Making one removes those of processes that are gone. CANNOT_OPEN_FILE, also where the place knows no
    /// locks; NOT_ENOUGH_SPACE.
    static std::shared_ptr<SpillDirectory> open(const std::string& parent);
    ~SpillDirectory();
    /// Removes the directories under `parent` whose processes are gone, as far as they can be removed.
    static void remove_abandoned(const std::string& parent);
    /// Removes all directories of this process, which must end after it: whatever spills now or later fails. To be called
    /// from signal handlers too.
    static void remove_all() noexcept;
    SpillDirectory(const SpillDirectory&) = delete;
    SpillDirectory& operator=(const SpillDirectory&) = delete;

    const std::string& path() const { return path_; }
    /// A descriptor of a new empty file, for reading and writing; the caller closes it. Thread-safe.
    int create_file();
    /// NOT_ENOUGH_SPACE where the disk, a quota or a file-size limit is used up, else `otherwise`; names the directory.
    [[noreturn]] void fail_system(int error, const char* doing) const;

private:
    explicit SpillDirectory(std::string path);
    bool lock();
    const std::string path_;
    int lock_ = -1;
};

}  // namespace firn::exec
