// What readers of leaves have in common.
#pragma once

#include "firn/file/orc/column.h"

namespace firn::file::orc {

struct LeafTarget {
    std::string name;
    TypePtr read_as;  ///< the type that the reader makes
    TypePtr wanted;
    bool promoted = false;  ///< whether `read_as` must be made into `wanted`
};

class LeafReader : public PresentReader {
public:
    LeafReader(StripeReader& stripe, uint32_t column, LeafTarget target)
        : PresentReader(stripe, column, target.name), target_(std::move(target)) {}

protected:
    VectorPtr read_rows(size_t n, size_t there) final;
    /// As read_rows, of type target_.read_as.
    virtual VectorPtr read_leaf(size_t n, size_t there) = 0;

    /// Makes the flat vector of n rows from `there` values at the begin of `values`, which has room for n.
    template <typename T>
    VectorPtr finish(MutableBufferPtr values, size_t n, size_t there, Owners owners = {},
                     const T& under_null = T{}) const {
        BufferPtr nulls = null_flags(*target_.read_as, n, there);
        if (nulls) spread(values->mutable_as<T>(), n, there, under_null);
        return Vector::flat(target_.read_as, n, std::move(values), std::move(nulls), std::move(owners));
    }
    template <typename T>
    void spread(T* values, size_t n, size_t there, const T& under_null) const {
        for (size_t i = n; i-- > 0;) values[i] = present()[i] ? values[--there] : under_null;
    }

    const LeafTarget target_;
};

/// The entries of a column's dictionary, of type `type`, and behind them a NULL where `with_null` asks for it.
VectorPtr read_dictionary(StripeReader& stripe, uint32_t column, const TypePtr& type, bool with_null,
                          const std::string& name);

std::unique_ptr<ColumnReader> make_string_reader(StripeReader& stripe, uint32_t column, LeafTarget target);

}  // namespace firn::file::orc
