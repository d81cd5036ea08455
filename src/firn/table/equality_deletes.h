// The keys of equality deletes, and taking the rows that have them out of a batch.
#pragma once

#include <cstdint>
#include <vector>

#include "firn/vector/vector.h"

namespace firn::table {

/// What the equality delete files of one partition (or the global ones) delete by one list of fields: keys, each with the
/// greatest data sequence number of the files that hold it. One look-up for a row then stands for all files. Keys of
/// integers, dates and the like without NULLs are packed into machine words; the others are compared value by value.
/// Immutable.
class EqualityDeletes {
public:
    /// Of one delete file: one vector for each field, of the types in which data will be compared.
    struct Part {
        std::vector<VectorPtr> keys;
        int64_t sequence_number = 0;
    };
    /// At least one part.
    EqualityDeletes(std::vector<int32_t> field_ids, std::vector<Part> parts);

    const std::vector<int32_t>& field_ids() const { return field_ids_; }
    /// Keys that the delete files have, repeated ones counted each time.
    size_t size() const { return packed_rows_ + other_rows_; }
    size_t memory_bytes() const;
    /// Of this object and no other of the process.
    uint64_t number() const { return number_; }
    /// Clears keep[i] where a delete file younger than `sequence_number` (the data file's) has the key of row i. `columns`:
    /// values of field_ids, in order, keep.size() rows. False where no row was deleted.
    bool mark(const std::vector<VectorPtr>& columns, int64_t sequence_number, std::vector<uint8_t>& keep) const;

private:
    /// Where a field's value lies in a packed key.
    struct Place {
        size_t word = 0;
        uint32_t shift = 0;
    };
    using Words = std::vector<TrackedVector<uint64_t>>;  // one list a word of the key

    bool plan_packing(const std::vector<VectorPtr>& keys);
    /// Values of all rows of flat columns as words; those of NULLs are of no meaning.
    Words pack(const std::vector<VectorPtr>& columns, size_t rows) const;
    struct Hashes {
        TrackedVector<uint64_t> whole;  // for the slot, and the bits in the filter's word
        TrackedVector<uint64_t> place;  // for the filter's word
    };
    static Hashes hashes_of(const Words& words, size_t rows);
    void build_packed(const Words& words, const std::vector<uint8_t>& has_null, const std::vector<int64_t>& sequences);
    void build_other(const std::vector<VectorPtr>& keys, const std::vector<uint8_t>& wanted,
                     const std::vector<int64_t>& sequences);
    bool mark_packed(const Words& words, const std::vector<uint8_t>& has_null, int64_t sequence_number,
                     std::vector<uint8_t>& keep) const;
    /// only: rows to look at; empty = all.
    bool mark_other(const std::vector<VectorPtr>& flat, const std::vector<uint8_t>& only, int64_t sequence_number,
                    std::vector<uint8_t>& keep) const;

    std::vector<int32_t> field_ids_;
    const uint64_t number_;

    // Packed keys: open addressing, behind a filter of two bits a key that most rows do not pass.
    std::vector<Place> places_;  // empty: the types cannot be packed
    size_t words_ = 0;
    TrackedVector<uint64_t> packed_;  // words_ for each key
    TrackedVector<int64_t> packed_sequence_;
    TrackedVector<uint32_t> packed_slots_;  // row + 1; 0 = empty
    TrackedVector<uint64_t> filter_;
    size_t packed_rows_ = 0;

    // Keys that are not packed.
    std::vector<VectorPtr> other_;
    TrackedVector<int64_t> other_sequence_;
    TrackedVector<uint64_t> other_hashes_;
    TrackedVector<uint32_t> other_slots_;
    size_t other_rows_ = 0;
};

}  // namespace firn::table
