// The build side of a hash join: which of its rows have a given key.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "firn/base/memory.h"
#include "firn/exec/key_layout.h"

namespace firn::exec {

class Run;

/// Rows of equal keys are chained. One integer key whose values lie close together indexes an array; all other keys are
/// packed and hashed. Without keys every row matches.
class JoinTable {
public:
    /// types: of the build side's keys; nullable: whether a key may be NULL on either side. nulls_equal: NULL keys match
    /// each other; otherwise they match nothing.
    JoinTable(const std::vector<TypePtr>& types, const std::vector<bool>& nullable, bool nulls_equal);

    /// beside: work of the caller's that another thread may do meanwhile; done when this returns. May be empty.
    void build(Run& run, const std::vector<VectorPtr>& keys, size_t rows, const std::function<void()>& beside = {});
    size_t rows() const { return rows_; }
    /// Some row has a NULL key (and NULLs are not equal).
    bool has_null_key() const { return has_null_key_; }
    /// No two rows have the same key, as far as is known.
    bool is_unique() const { return dense_ && dense_next_.empty(); }
    /// The next row with the key of `row`, or kNoRow.
    uint32_t next(uint32_t row) const {
        if (dense_) return dense_next_.empty() ? kNoRow : dense_next_[row];
        return next_slowly(row);
    }

    /// Looks up keys of the other side. One a worker.
    class Probe {
    public:
        explicit Probe(const JoinTable& table);
        /// first[i]: the first row with key i, or kNoRow. nulls, when given: 1 where a key is NULL (and NULLs are not equal).
        void find(std::span<const VectorPtr> keys, size_t rows, uint32_t* first, uint8_t* nulls = nullptr);

    private:
        const JoinTable& table_;
        KeyPacker packer_;
        TrackedVector<uint64_t> packed_;
        std::vector<uint8_t> missing_;
    };

private:
    bool build_dense(const VectorPtr& key);
    template <typename T>
    bool fill_dense(const Decoded& key);
    void pack_all(Run& run, const std::vector<VectorPtr>& keys);
    void insert_all(Run& run);
    uint32_t next_slowly(uint32_t row) const;
    template <size_t kWords>
    uint32_t next_equal(uint32_t row) const;
    template <size_t kWords>
    void find_packed(const uint64_t* keys, const uint8_t* missing, size_t rows, uint32_t* first) const;
    template <typename T>
    void find_dense(const Decoded& keys, size_t rows, uint32_t* first) const;

    uint32_t chained(size_t row) const { return *reinterpret_cast<const uint32_t*>(records_->data() + row * stride_); }
    uint32_t& chained(size_t row) { return *reinterpret_cast<uint32_t*>(records_->mutable_data() + row * stride_); }
    const uint64_t* key(size_t row) const {
        return reinterpret_cast<const uint64_t*>(records_->data() + row * stride_ + 8);
    }

    KeyLayout layout_;
    bool nulls_equal_;
    size_t rows_ = 0;
    bool has_null_key_ = false;
    std::vector<std::shared_ptr<Interner>> interners_;
    std::vector<uint8_t> skipped_;  // rows with a NULL key; empty = none

    bool dense_ = false;
    uint64_t dense_least_ = 0;
    TrackedVector<uint32_t> dense_heads_;
    TrackedVector<uint32_t> dense_next_;

    // A record: number of the next record of its bucket (kNoRow = the last), 4 bytes unused, the packed key.
    size_t words_ = 1, stride_ = 16;
    MutableBufferPtr records_;
    // A bucket: 32 bits that say which hashes it may hold, and the number of its first record + 1.
    MutableBufferPtr buckets_;
    size_t bucket_mask_ = 0;
};

}  // namespace firn::exec
