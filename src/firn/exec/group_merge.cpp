#include "firn/exec/group_merge.h"

#include <algorithm>
#include <array>

#include "firn/exec/pipeline.h"

namespace firn::exec {
namespace {

constexpr size_t kRowsOfPart = 1 << 14;
constexpr size_t kBlock = 32;  // rows whose lookups are under way at once
/// So many maps are looked up one after another; more are brought together by partitions of their hashes, which touches
/// each row's hash twice but not once for each earlier map.
constexpr size_t kFewMaps = 4;
constexpr unsigned kPartitionBits = 6;

template <size_t kWords>
using Words = std::array<uint64_t, kWords>;

}  // namespace

GroupMerge::GroupMerge(Run& run, const std::vector<GroupMap*>& maps, std::deque<Arena>& arenas, const MergeRow& merge)
    : arenas_(arenas) {
    for (GroupMap* map : maps)
        if (map->size() > 0) maps_.push_back(map);
    if (maps_.empty() && !maps.empty()) maps_.push_back(maps[0]);
    if (maps_.size() > 1) {
        const KeyLayout& layout = maps_[0]->layout_;
        if (layout.has_interned()) share_interners(run);
        merged_.resize(maps_.size());
        for (size_t m = 1; m < maps_.size(); ++m) merged_[m].assign(maps_[m]->size(), 0);
        if (layout.form == KeyLayout::Form::String)
            merge_all<StringRef>(run, merge);
        else if (layout.words == 1)
            merge_all<Words<1>>(run, merge);
        else if (layout.words == 2)
            merge_all<Words<2>>(run, merge);
        else if (layout.words == 4)
            merge_all<Words<4>>(run, merge);
        else
            merge_all<Words<8>>(run, merge);
    }
    for (size_t m = 0; m < maps_.size(); ++m)
        for (const Part& part : parts_of(m)) parts_.push_back(part);
    maps_[0]->keys({});  // makes what keys() then shares among threads
}

/// Numbers of strings differ from map to map: all maps' keys are rewritten to the numbers of the first.
void GroupMerge::share_interners(Run& run) {
    GroupMap& first = *maps_[0];
    const auto& columns = first.layout_.columns;
    for (size_t m = 1; m < maps_.size(); ++m) {
        GroupMap& map = *maps_[m];
        std::vector<std::vector<uint32_t>> numbers(columns.size());
        run.parallel(columns.size(), [&](size_t c) {
            if (!columns[c].interned) return;
            const Interner& from = *map.interners_[c];
            for (uint32_t id = 0; id < from.size(); ++id)
                numbers[c].push_back(first.interners_[c]->insert(from.string(id), from.hash(id)));
        });
        constexpr size_t kRows = 1 << 14;
        run.parallel((map.size() + kRows - 1) / kRows, [&](size_t part) {
            for (size_t i = part * kRows; i < std::min(map.size(), (part + 1) * kRows); ++i) {
                char* row = map.row(i);
                for (size_t c = 0; c < columns.size(); ++c) {
                    if (!columns[c].interned) continue;
                    const auto& column = columns[c];
                    const size_t flag_byte =
                        map.layout_.flags_offset + static_cast<size_t>(std::max(0, column.null_bit) / 8);
                    if (column.null_bit >= 0 && (row[flag_byte] >> (column.null_bit % 8) & 1)) continue;
                    uint32_t id;
                    std::memcpy(&id, row + column.offset, sizeof(id));
                    std::memcpy(row + column.offset, &numbers[c][id], sizeof(id));
                }
                map.tags_[i] = hash_words(reinterpret_cast<const uint64_t*>(row), map.layout_.words);
            }
        });
    }
}

std::vector<GroupMerge::Part> GroupMerge::parts_of(size_t map) const {
    std::vector<Part> parts;
    const size_t size = maps_[map]->size();
    for (size_t begin = 0; begin < size; begin += kRowsOfPart)
        parts.push_back({map, begin, std::min(size, begin + kRowsOfPart)});
    return parts;
}

Arena& GroupMerge::new_arena() {
    std::lock_guard lock(mutex_);
    return arenas_.emplace_back();
}

template <typename Key>
void GroupMerge::merge_all(Run& run, const MergeRow& merge) {
    // Rewritten numbers of strings have changed the hashes of all maps but the first: their slots do not fit any more.
    const bool slots_fit = maps_.size() == 2 || !maps_[0]->layout_.has_interned();
    if (maps_.size() <= kFewMaps && slots_fit)
        merge_by_lookup<Key>(run, merge);
    else
        merge_by_partition<Key>(run, merge);
}

/// Each map's keys are looked up in the maps before it. Keys of one map differ, so its rows can be merged at once.
template <typename Key>
void GroupMerge::merge_by_lookup(Run& run, const MergeRow& merge) {
    for (size_t m = 1; m < maps_.size(); ++m) {
        const auto parts = parts_of(m);
        run.parallel(parts.size(), [&](size_t p) {
            Arena& arena = new_arena();
            for (size_t known = 0; known < m; ++known) look_up<Key>(*maps_[known], parts[p], merge, arena);
        });
    }
}

template <typename Key>
void GroupMerge::look_up(GroupMap& known, const Part& part, const MergeRow& merge, Arena& arena) {
    GroupMap& map = *maps_[part.map];
    uint8_t* const merged = merged_[part.map].data();
    const uint32_t* const tags = map.tags_.data();
    const uint64_t* const slots = known.slots_->as<uint64_t>();
    const size_t mask = known.slot_mask_;
    for (size_t begin = part.begin; begin < part.end; begin += kBlock) {
        const size_t end = std::min(part.end, begin + kBlock);
        // Slots of the next block and rows of this one are on their way while others are compared.
        for (size_t i = end; i < std::min(part.end, end + kBlock); ++i) __builtin_prefetch(&slots[tags[i] & mask]);
        for (size_t i = begin; i < end; ++i) {
            const uint64_t slot = slots[tags[i] & mask];
            if (slot && static_cast<uint32_t>(slot >> 32) == tags[i])
                __builtin_prefetch(known.row(static_cast<uint32_t>(slot) - 1), 1);
        }
        for (size_t i = begin; i < end; ++i) {
            if (merged[i]) continue;
            for (size_t at = tags[i] & mask; slots[at] != 0; at = (at + 1) & mask) {
                if (static_cast<uint32_t>(slots[at] >> 32) != tags[i]) continue;
                char* const into = known.row(static_cast<uint32_t>(slots[at]) - 1);
                char* const from = map.row(i);
                if (!(key_of<Key>(into) == key_of<Key>(from))) continue;
                merge(into, from, arena);
                merged[i] = 1;
                break;
            }
        }
    }
}

template <typename Key>
void GroupMerge::merge_by_partition(Run& run, const MergeRow& merge) {
    size_t groups = 0;
    for (const GroupMap* map : maps_) groups += map->size();
    const unsigned bits = groups < kRowsOfPart ? 0 : kPartitionBits;
    const size_t partitions = size_t{1} << bits;
    const auto partition_of = [&](uint32_t tag) { return bits == 0 ? 0 : tag >> (32 - bits); };
    std::vector<std::vector<TrackedVector<Entry>>> entries(maps_.size());  // map, partition
    run.parallel(maps_.size(), [&](size_t m) {
        const auto& tags = maps_[m]->tags_;
        std::vector<size_t> counts(partitions);
        for (const uint32_t tag : tags) ++counts[partition_of(tag)];
        entries[m].resize(partitions);
        for (size_t p = 0; p < partitions; ++p) entries[m][p].reserve(counts[p]);
        for (size_t i = 0; i < tags.size(); ++i)
            entries[m][partition_of(tags[i])].push_back({tags[i], static_cast<uint32_t>(m), i});
    });
    run.parallel(partitions, [&](size_t p) {
        std::vector<std::span<const Entry>> lists;
        for (const auto& of_map : entries) lists.emplace_back(of_map[p]);
        merge_partition<Key>(lists, merge, new_arena());
    });
}

/// lists: one a map, of the keys whose hashes lie in one partition.
template <typename Key>
void GroupMerge::merge_partition(std::span<const std::span<const Entry>> lists, const MergeRow& merge, Arena& arena) {
    size_t total = 0;
    for (const auto& list : lists) total += list.size();
    size_t size = 64;
    while (size < 2 * total) size *= 2;
    struct Slot {
        char* row;
        uint32_t tag;
    };
    const auto slots = Buffer::allocate_zeroed(size * sizeof(Slot));
    Slot* const table = slots->mutable_as<Slot>();
    for (const auto& list : lists)
        for (size_t i = 0; i < list.size(); ++i) {
            if (i + 8 < list.size()) __builtin_prefetch(&table[list[i + 8].tag & (size - 1)]);
            const Entry& entry = list[i];
            char* const row = maps_[entry.map]->row(entry.index);
            size_t at = entry.tag & (size - 1);
            while (table[at].row && !(table[at].tag == entry.tag && key_of<Key>(table[at].row) == key_of<Key>(row)))
                at = (at + 1) & (size - 1);
            if (!table[at].row) {
                table[at] = {row, entry.tag};
                continue;
            }
            merge(table[at].row, row, arena);
            merged_[entry.map][entry.index] = 1;
        }
}

std::vector<char*> GroupMerge::rows(size_t part) const {
    const auto& [m, begin, end] = parts_[part];
    const GroupMap& map = *maps_[m];
    std::vector<char*> rows;
    rows.reserve(end - begin);
    for (size_t i = begin; i < end; ++i)
        if (m == 0 || !merged_[m][i]) rows.push_back(map.row(i));
    return rows;
}

std::vector<VectorPtr> GroupMerge::keys(std::span<char* const> rows) const {
    const GroupMap& first = *maps_[0];
    if (first.layout_.form == KeyLayout::Form::Packed) return unpack_keys(first.layout_, first.interned_, rows);
    // Strings lie in the arenas of all maps.
    auto owners = std::make_shared<std::vector<std::shared_ptr<Arena>>>();
    for (const GroupMap* map : maps_) owners->push_back(map->strings_);
    return unpack_string_keys(first.layout_, rows, owners);
}

}  // namespace firn::exec
