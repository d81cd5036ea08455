// The operators, one function a kind of plan node: each runs the node and what is below it. See Run::node.
#pragma once

#include "firn/exec/pipeline.h"

namespace firn::exec {

void run_scan(Run& run, const plan::ScanNode& node, Stage& next, const Columns& needed);
void run_values(Run& run, const plan::ValuesNode& node, Stage& next);
/// Batches that are there already, cut to batch_rows; in order where there is one worker.
void emit_batches(Run& run, const std::vector<Batch>& batches, Stage& next);
void run_cte(Run& run, const plan::CteNode& node, Stage& next);
void run_union(Run& run, const plan::SetNode& node, Stage& next, const Columns& needed);
void run_filter(Run& run, const plan::FilterNode& node, Stage& next, const Columns& needed);
void run_project(Run& run, const plan::ProjectNode& node, Stage& next, const Columns& needed);
void run_limit(Run& run, const plan::LimitNode& node, Stage& next, const Columns& needed);
void run_limit_by(Run& run, const plan::LimitByNode& node, Stage& next, const Columns& needed);
void run_aggregate(Run& run, const plan::AggregateNode& node, Stage& next, const Columns& needed);
/// The groups of the input's rows. spill_bytes: the threshold of a SpillPolicy.
void run_groups(Run& run, const plan::AggregateNode& node, const plan::Node& input, int64_t spill_bytes, Stage& next,
                const Columns& needed);
void run_distinct(Run& run, const plan::DistinctNode& node, Stage& next, const Columns& needed);
void run_set_operation(Run& run, const plan::SetNode& node, Stage& next);
void run_join(Run& run, const plan::JoinNode& node, Stage& next, const Columns& needed);
void run_sort(Run& run, const plan::SortNode& node, Stage& next, const Columns& needed);
void run_top_n(Run& run, const plan::SortNode& node, Stage& next, const Columns& needed);
void run_array_join(Run& run, const plan::ArrayJoinNode& node, Stage& next, const Columns& needed);
void run_window(Run& run, const plan::WindowNode& node, Stage& next, const Columns& needed);
void run_fill(Run& run, const plan::FillNode& node, Stage& next);

}  // namespace firn::exec
