// A hash table from keys to rows of memory: [key][payload], at addresses that never change.
//
// The heart of aggregation, DISTINCT, LIMIT BY and set operations. A slot is 32 bits of hash and a row number; keys lie in
// the rows, beside what is kept for them. Dictionary-encoded keys are looked up once for each entry (or combination of
// entries) of the dictionaries, as long as batches share them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "firn/base/memory.h"
#include "firn/exec/code_lookup.h"
#include "firn/exec/key_layout.h"

namespace firn::exec {

/// What lies behind the key in each row.
struct GroupPayload {
    size_t bytes = 0;
    std::vector<char> image;                   // what a new row's payload is set to; `bytes` long
    std::function<void(char* row)> construct;  // then called for each new row, when given
};

class GroupMap {
public:
    GroupMap(const KeyLayout& layout, const GroupPayload& payload);
    GroupMap(const GroupMap&) = delete;
    GroupMap& operator=(const GroupMap&) = delete;

    /// The row of each key, made where there was none. Rows are numbered in the order in which they were made.
    void find_or_insert(std::span<const VectorPtr> keys, size_t rows, char** out);

    /// The same where all keys are dictionaries or constants and few groups exist: out[i] is then the number of row i's
    /// group. Where rows are `selected` the others get no group, and a number that means nothing. False where keys are
    /// neither, or there are more than `most` (at most kMostNumbered) groups in all.
    bool find_few(std::span<const VectorPtr> keys, size_t rows, const Selection* selected, size_t most, uint8_t* out);
    static constexpr size_t kMostNumbered = 255;

    size_t size() const { return tags_.size(); }
    char* row(size_t i) const { return chunks_[i >> chunk_shift_] + (i & chunk_mask_) * stride_; }
    uint32_t tag(size_t i) const { return tags_[i]; }
    /// The key columns of some rows of this map (or of maps merged with it).
    std::vector<VectorPtr> keys(std::span<char* const> rows);

private:
    friend class GroupMerge;  // looks keys up in several maps at once
    struct Translation {
        std::vector<VectorPtr> bases;
        TrackedVector<char*> rows;  // of each combination of entries; null where none has been met
        CombinationTable numbers;   // likewise, of their groups, for find_few; empty while not made
    };
    bool begin_translation(std::span<const VectorPtr> keys);
    void number_combinations();
    bool translate(std::span<const VectorPtr> keys, size_t rows, char** out);
    void find_slowly(std::span<const VectorPtr> keys, size_t rows, char** out);
    template <typename Key>
    void find_keys(const Key* keys, const uint32_t* tags, size_t rows, char** out);
    template <size_t kWords>
    void find_packed(const uint64_t* keys, size_t rows, char** out);
    void add_chunks();
    template <typename Key>
    char* add_row(const Key& key, uint32_t tag);
    void grow_slots();

    const KeyLayout& layout_;
    const GroupPayload& payload_;
    size_t stride_, chunk_shift_, chunk_mask_;
    std::vector<MutableBufferPtr> buffers_;
    std::vector<char*> chunks_;
    TrackedVector<uint32_t> tags_;
    MutableBufferPtr slots_;  // tag << 32 | row + 1
    size_t slot_mask_ = 0;
    std::shared_ptr<Arena> strings_;
    std::vector<std::shared_ptr<Interner>> interners_;
    std::vector<VectorPtr> interned_;  // made by keys()
    KeyPacker packer_;
    Translation translation_;
    TrackedVector<uint64_t> packed_;
    TrackedVector<StringRef> texts_;
    TrackedVector<uint32_t> batch_tags_;
};

/// The key that a row of a map begins with: StringRef, or as many words as the layout has.
template <typename Key>
const Key& key_of(const char* row) {
    return *reinterpret_cast<const Key*>(row);
}

}  // namespace firn::exec
