// Arrays rebuilt from picked elements: most array functions only say which elements a row keeps, in which order.
#pragma once

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

/// Element type of argument `position`, which must be an Array.
const TypePtr& element_type(std::span<const Argument> arguments, size_t position, std::string_view name);

}  // namespace firn::functions
