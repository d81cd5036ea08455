// What the functions of arrays and maps that take a lambda share: they compute over all rows' elements at once.
#pragma once

#include <cstdint>
#include <vector>

#include "firn/functions/arrays/array_rows.h"
#include "firn/functions/declare.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

/// Whether a call's first argument is a lambda.
inline bool takes_lambda(ArgumentList arguments) { return arguments[0].type->id() == TypeId::Function; }

/// A vector of arrays (maps) flat, its offsets beginning at 0 and its child no longer than they say.
VectorPtr compact_array(const VectorPtr& vector);

/// The lambda's value, flat, for each element of compact arrays. arguments: a vector of elements for each parameter.
VectorPtr call_lambda(const Lambda& lambda, const Vector& array, const std::vector<VectorPtr>& arguments);

/// What a call works on: its first array, compact, and a value for each of the elements, flat: the lambda's, or without
/// one the element itself.
struct Elements {
    VectorPtr array, values;
};
/// Of a call whose arrays are its arguments from first_array on. SIZES_OF_ARRAYS_DONT_MATCH where they are not alike.
Elements elements_of(const KernelArguments& call, size_t first_array, const char* name);

/// Which of two elements sorts first by their values; NULL and NaN come last either way.
struct ElementBefore {
    const Vector& values;
    bool reverse;
    bool operator()(uint32_t a, uint32_t b) const {
        return reverse ? compare_values(values, b, values, a, -1) < 0 : compare_values(values, a, values, b, 1) < 0;
    }
};

/// 1 for each value that is neither 0 nor NULL.
std::vector<uint8_t> truth_of(const VectorPtr& values);

/// The types of a lambda's parameters, one for each array from argument first_array on; fails where they are not as many.
std::vector<TypePtr> lambda_parameters_of(ArgumentList arguments, size_t first_array, size_t parameters,
                                          const char* name);

}  // namespace firn::functions
