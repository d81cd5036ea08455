// What functions ask of their arguments before any row: types without wrappers, values of constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "firn/base/error.h"
#include "firn/functions/function.h"

namespace firn::functions {

/// The type with LowCardinality taken out at every depth.
TypePtr strip_low_cardinality_deep(const TypePtr& type);
/// The vector under a type of the same layout at every depth (other wrappers, element names, time zones).
VectorPtr retype(const VectorPtr& vector, const TypePtr& type);

/// Value of a constant argument; nothing where it is not constant, is NULL or is of another kind.
std::optional<std::string> constant_text(const Argument& argument);
std::optional<int64_t> constant_int(const Argument& argument);
std::optional<double> constant_float(const Argument& argument);

/// As above, and an error (ILLEGAL_COLUMN where not constant, ILLEGAL_TYPE_OF_ARGUMENT where of another type).
std::string require_text(const Argument& argument, std::string_view function, size_t position);
int64_t require_int(const Argument& argument, std::string_view function, size_t position);

[[noreturn]] void fail_argument(std::string_view function, const DataType& type, size_t position);

/// An integer value of any integer-like physical type (dates, enums too) at a row of a flat vector.
int64_t int_at(const Vector& flat, size_t row);

}  // namespace firn::functions
