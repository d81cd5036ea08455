// Filters: conjuncts that rows have to pass, evaluated one by one on the rows that are left.
#pragma once

#include <memory>
#include <vector>

#include "firn/exec/evaluator.h"

namespace firn::exec {

/// Conjuncts in the order that pays best as measured while running; one that may fail stays behind those written before
/// it. A conjunct of one dictionary column is evaluated once for each entry of the dictionary, as long as batches share it.
/// Not thread-safe: each worker has a copy.
class Filter {
public:
    explicit Filter(const std::vector<plan::ExpressionPtr>& conjuncts);
    Filter(const Filter& other);
    Filter& operator=(const Filter&) = delete;
    ~Filter();

    bool empty() const { return conjuncts_.empty(); }
    /// The rows that pass, ascending. Columns that no conjunct reads may be null.
    Selection select(const Batch& batch);

private:
    struct Conjunct;
    void reorder();
    std::vector<std::unique_ptr<Conjunct>> conjuncts_;
    size_t batches_ = 0;
};

}  // namespace firn::exec
