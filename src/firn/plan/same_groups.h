// Telling that two aggregations of one statement give the same groups.
#pragma once

#include "firn/plan/logical.h"

namespace firn::plan {

/// Whether both read the same rows of the same version of a table, through the same filters, and compute the same keys and
/// aggregates in the same order. False where that is not plain to see: only filters and projections of one scan are looked
/// through, and everything must be deterministic. Estimates and what is read besides do not matter.
bool same_groups(const AggregateNode& a, const AggregateNode& b);

/// Whether same_groups could hold with any other aggregation.
bool can_be_same_groups(const AggregateNode& node);

}  // namespace firn::plan
