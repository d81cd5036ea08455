// Rows taken from several vectors of one type: what if, multiIf, coalesce and greatest end in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firn/vector/vector.h"

namespace firn::functions {

/// Row i of the result is row i of sources[choice[i]]. Sources are Flat or Constant, of `type` (or it without Nullable).
VectorPtr select_rows(const TypePtr& type, std::span<const VectorPtr> sources, const uint32_t* choice, size_t rows);

}  // namespace firn::functions
