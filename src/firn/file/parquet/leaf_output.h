// Gathers one read's values of a leaf from several pages into one vector, keeping the cheapest encoding: one repeated
// value as a constant, codes into one dictionary as they are, flat values otherwise.
#pragma once

#include <vector>

#include "firn/base/memory.h"
#include "firn/vector/vector.h"

namespace firn::file::pq {

class LeafOutput {
public:
    /// type: of the vectors that come out; capacity: rows that may be added in all.
    LeafOutput(TypePtr type, size_t capacity) : type_(std::move(type)), capacity_(capacity) {}

    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }

    /// n rows that are all row `code` of base.
    void add_run(const VectorPtr& base, uint32_t code, size_t n);
    /// Room for the codes of n more rows.
    uint32_t* add_codes(const VectorPtr& base, size_t n);
    /// Room for n more flat values.
    char* add_values(size_t n);
    /// Null flags of the n rows added last, to be set (1 = NULL); they start as 0.
    uint8_t* nulls_of_last(size_t n);
    void keep(std::shared_ptr<const void> owner);
    /// Rows that are a vector already, of the output's type.
    void adopt(VectorPtr rows);

    VectorPtr finish();

private:
    void close();      // ends the current part
    void write_run();  // the pending run as codes
    uint32_t* codes_at(const VectorPtr& base, size_t n);

    TypePtr type_;
    size_t capacity_;
    size_t size_ = 0;
    std::vector<VectorPtr> parts_;
    // The current part.
    VectorPtr base_;
    MutableBufferPtr codes_;
    MutableBufferPtr values_;
    MutableBufferPtr nulls_;
    Owners owners_;
    size_t part_ = 0;  // rows of it
    uint32_t run_code_ = 0;
    size_t run_ = 0;  // rows of a run of base_ not yet written as codes; then part_ is 0
};

/// As spread_values, in place, for values of any width: the dense ones are the first of `out`.
template <typename T>
void spread_in_place(T* out, const uint8_t* valid, size_t n, size_t dense, T fill) {
    size_t i = n;
    while (i > dense) {
        --i;
        if (dense == 0) {
            out[i] = fill;
            continue;
        }
        const bool there = valid[i];
        out[i] = there ? out[dense - 1] : fill;
        dense -= there;
    }
}

}  // namespace firn::file::pq
