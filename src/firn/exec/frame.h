// The rows that expressions are evaluated on at one moment; internal to the evaluator.
#pragma once

#include <span>
#include <vector>

#include "firn/base/error.h"
#include "firn/vector/vector.h"

namespace firn::exec {

/// The rows that expressions are evaluated on now: a batch, some rows of an outer frame, or the elements that a lambda is
/// called with, each of which belongs to a row of an outer frame.
struct Frame {
    Frame* outer = nullptr;
    const Batch* batch = nullptr;                            // of the outermost
    std::span<const uint32_t> rows;                          // of `outer`, one for each row of this
    const std::span<const VectorPtr>* parameters = nullptr;  // of a lambda
    size_t size = 0;
    std::vector<VectorPtr> known;  // values of nodes on this frame's rows

    VectorPtr column(size_t index) const { return batch ? batch->columns[index] : gather(outer->column(index), rows); }
    VectorPtr parameter(size_t depth, size_t index) const {
        if (parameters && depth == 0) return (*parameters)[index];
        if (!outer) fail(ErrorCode::LOGICAL_ERROR, "A lambda's parameter is read outside of it");
        return gather(outer->parameter(parameters ? depth - 1 : depth, index), rows);
    }
};

}  // namespace firn::exec
