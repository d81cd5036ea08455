// Comparison of two vectors of one physical type: the loops under equals, less and their kin.
#pragma once

#include "firn/functions/function.h"

namespace firn::functions {

enum class Compare : uint8_t { Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual };

constexpr Compare mirrored(Compare op) {
    switch (op) {
        case Compare::Less:
            return Compare::Greater;
        case Compare::LessOrEqual:
            return Compare::GreaterOrEqual;
        case Compare::Greater:
            return Compare::Less;
        case Compare::GreaterOrEqual:
            return Compare::LessOrEqual;
        default:
            return op;
    }
}

/// UInt8 column of a OP b; vectors Flat or Constant, of the same fixed-width or string layout.
using CompareLoop = VectorPtr (*)(const VectorPtr& a, const VectorPtr& b, size_t rows);
CompareLoop compare_loop(Physical physical, Compare op);
/// Strings where trailing zero bytes do not count (FixedString).
CompareLoop compare_padded_loop(Compare op);
/// 64-bit integers against Float64, exactly; physical is that of a.
CompareLoop compare_integer_float_loop(Physical physical, Compare op);

}  // namespace firn::functions
