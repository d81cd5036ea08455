// Rewrites a logical plan into one that gives the same rows sooner. Each rule is a file of its own.
#pragma once

#include "firn/functions/function.h"
#include "firn/plan/logical.h"

namespace firn::plan {

struct OptimizerOptions {
    const functions::FunctionContext& functions;
    bool push_filters = true;  // conditions into scans, joins in order of cost
    bool reorder_joins = true;
    bool runtime_filters = true;
    bool metadata_aggregates = true;  // count, min, max from metadata where a source can
    bool top_n = true;                // thresholds of ORDER BY … LIMIT into scans
};

/// The plan's output columns stay as they are: number, order, names and types.
void optimize(NodePtr& plan, const OptimizerOptions& options);

/// The plan as text, one node a line, children indented; names of columns where they are known, estimated rows.
/// `scans`: each Scan's own lines (files kept and skipped) too, which plans the scans.
std::vector<std::string> explain(const Node& plan, bool scans = true);

}  // namespace firn::plan
