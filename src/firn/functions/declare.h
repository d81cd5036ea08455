// Declaring a function of the usual kind (NULL propagates, encodings are taken care of) in one call.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "firn/functions/function.h"

namespace firn::functions {

using ArgumentList = std::span<const Argument>;
using Resolver = std::function<Overload(ArgumentList, const FunctionContext&)>;

struct FunctionName {
    const char* name;
    std::vector<std::string> aliases = {};
    bool any_case = false;
};

/// A function of `least` to `most` arguments.
void declare(FunctionRegistry& registry, const FunctionName& name, size_t least, size_t most, Resolver resolve);
/// The same, which sees Nullable types and vectors.
void declare_seeing_nulls(FunctionRegistry& registry, const FunctionName& name, size_t least, size_t most,
                          Resolver resolve);

/// ILLEGAL_TYPE_OF_ARGUMENT unless argument i is a String or FixedString.
void require_string(ArgumentList arguments, size_t i, const char* function);
/// ILLEGAL_TYPE_OF_ARGUMENT unless argument i is an integer.
void require_integer(ArgumentList arguments, size_t i, const char* function);
/// A vector of numbers (Flat or Constant) as Int64, wrapping around; floats lose their fraction.
VectorPtr as_int64(const VectorPtr& numbers);
/// A vector of numbers (Flat or Constant, Decimals too) as Float64.
VectorPtr as_float64(const VectorPtr& numbers);
/// A vector of any type (Flat or Constant) as String, as toString makes it.
VectorPtr as_text(const VectorPtr& values, const FunctionContext& context);

}  // namespace firn::functions
