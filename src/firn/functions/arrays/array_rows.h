// Arrays rebuilt from picked elements: most array functions only say which elements a row keeps, in which order.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "firn/functions/function.h"

namespace firn::functions {

/// Collects, row by row, which elements of a child vector the result holds; kNoRow stands for a default (or NULL).
class ElementPicker {
public:
    explicit ElementPicker(size_t rows) {
        ends_.reserve(rows + 1);
        ends_.push_back(0);
    }
    void pick(uint32_t element) { elements_.push_back(element); }
    void end_row() { ends_.push_back(static_cast<int64_t>(elements_.size())); }
    VectorPtr finish(const TypePtr& array_type, const VectorPtr& child);

private:
    std::vector<uint32_t> elements_;
    std::vector<int64_t> ends_;
};

/// The array argument at a row: [begin, end) in its child.
struct Range {
    uint32_t begin, end;
    uint32_t size() const { return end - begin; }
};
inline Range range_at(const Vector& array, size_t row) {
    return {static_cast<uint32_t>(array.offsets()[row]), static_cast<uint32_t>(array.offsets()[row + 1])};
}

/// The elements of each row of an array (or map), sorted by before(a, b) over places in the child. With `limits`, a number for
/// each row: the first so many sorted, the others behind them anyhow; without, all, equal ones as they were.
template <typename Before>
VectorPtr sort_rows(const Vector& array, size_t rows, const int64_t* limits, const TypePtr& type,
                    const Before& before) {
    ElementPicker out(rows);
    std::vector<uint32_t> order;
    for (size_t i = 0; i < rows; ++i) {
        const Range range = range_at(array, i);
        order.resize(range.size());
        std::iota(order.begin(), order.end(), range.begin);
        if (limits)
            std::partial_sort(order.begin(), order.begin() + std::clamp<int64_t>(limits[i], 0, range.size()),
                              order.end(), before);
        else
            std::stable_sort(order.begin(), order.end(), before);
        for (const uint32_t j : order) out.pick(j);
        out.end_row();
    }
    return out.finish(type, array.child());
}

/// Element type of argument `position`, which must be an Array.
const TypePtr& element_type(std::span<const Argument> arguments, size_t position, std::string_view name);

}  // namespace firn::functions
