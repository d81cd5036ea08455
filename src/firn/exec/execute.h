// Running a logical plan: batches out, in the plan's order where it has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firn/plan/logical.h"

namespace firn::exec {

struct ExecutionOptions {
    size_t threads = 1;
    /// Rows of a batch at most; batches that a scan gives are cut to it.
    size_t batch_rows = 8192;
    /// Flatten every vector that a scan gives: for tests that compare encoded with flat execution.
    bool force_flat = false;
    /// Bytes from which an operator may spill to temporary_directory; 0 = never. Not used yet.
    int64_t spill_group_by_bytes = 0;
    int64_t spill_sort_bytes = 0;
    int64_t spill_join_bytes = 0;
    std::string temporary_directory;
};

/// Runs the plan and gives its batches, never empty ones, to `sink`: from one thread at a time, in order where the plan
/// ends in an order. False from the sink ends the run early. Throws what operators throw, and what check_cancelled does.
void execute(const plan::Node& plan, const ExecutionOptions& options, const std::function<bool(Batch&&)>& sink);

/// All batches of a plan.
std::vector<Batch> collect(const plan::Node& plan, const ExecutionOptions& options);

}  // namespace firn::exec
