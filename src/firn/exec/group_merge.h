// The groups of several maps brought together.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "firn/base/memory.h"
#include "firn/exec/group_map.h"

namespace firn::exec {

class Run;

/// The groups of several maps (one a worker, of one layout): each key's rows are merged into one of them, on all workers.
/// What is left stays where it lies and is read map by map from front to back: reading rows in the order of their keys'
/// hashes would miss the processor's caches at each. The maps must not change meanwhile.
class GroupMerge {
public:
    /// Adds what `from` holds to `into`, both rows of one key. Called from several threads, never for one row at once; what
    /// `into` points to may lie in the arena.
    using MergeRow = std::function<void(char* into, char* from, Arena& arena)>;

    /// arenas: those of MergeRow are put there; they must outlive the rows' states.
    GroupMerge(Run& run, const std::vector<GroupMap*>& maps, std::deque<Arena>& arenas, const MergeRow& merge);
    GroupMerge(const GroupMerge&) = delete;
    GroupMerge& operator=(const GroupMerge&) = delete;

    /// Parts that the rows come in: any of them may be empty.
    size_t parts() const { return parts_.size(); }
    /// The rows of a part, one for each different key. Thread-safe.
    std::vector<char*> rows(size_t part) const;
    /// Key columns of such rows. Thread-safe.
    std::vector<VectorPtr> keys(std::span<char* const> rows) const;

private:
    struct Part {
        size_t map, begin, end;
    };
    struct Entry {
        uint32_t tag;
        uint32_t map;
        size_t index;
    };
    void share_interners(Run& run);
    template <typename Key>
    void merge_all(Run& run, const MergeRow& merge);
    template <typename Key>
    void merge_by_lookup(Run& run, const MergeRow& merge);
    template <typename Key>
    void look_up(GroupMap& known, const Part& part, const MergeRow& merge, Arena& arena);
    template <typename Key>
    void merge_by_partition(Run& run, const MergeRow& merge);
    template <typename Key>
    void merge_partition(std::span<const std::span<const Entry>> lists, const MergeRow& merge, Arena& arena);
    std::vector<Part> parts_of(size_t map) const;
    Arena& new_arena();

    std::vector<GroupMap*> maps_;
    std::vector<Part> parts_;
    std::vector<TrackedVector<uint8_t>> merged_;  // map, row: its key stands in an earlier map
    std::deque<Arena>& arenas_;
    std::mutex mutex_;  // of arenas_
};

}  // namespace firn::exec
