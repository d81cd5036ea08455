// A set of constant values that rows are looked up in: the right side of IN.
#pragma once

#include <memory>

#include "firn/vector/vector.h"

namespace firn::functions {

/// Immutable, thread-safe. NULLs among the values (at the top or inside tuples) match nothing. NaN equals NaN, -0 equals 0.
class ValueSet {
public:
    virtual ~ValueSet() = default;
    /// values: flat, any type.
    static std::unique_ptr<ValueSet> make(VectorPtr values);
    /// out[i] = whether row i of a flat vector of the values' layout is in the set; rows of NULL give anything.
    virtual void find(const Vector& flat, uint8_t* out) const = 0;
};

}  // namespace firn::functions
