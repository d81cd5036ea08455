// Running a logical plan: batches out, in the plan's order where it has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/exec/spill/codec.h"
#include "firn/plan/logical.h"

namespace firn::exec {

class KeptGroups;

struct ExecutionOptions {
    size_t threads = 1;
    /// Rows of a batch at most; batches that a scan gives are cut to it.
    size_t batch_rows = 8192;
    /// Flatten every vector that a scan gives: for tests that compare encoded with flat execution.
    bool force_flat = false;
    /// Bytes in use by the whole query from which an operator of this kind spills to disk; 0 = never.
    int64_t spill_group_by_bytes = 0;
    int64_t spill_distinct_bytes = 0;
    int64_t spill_sort_bytes = 0;
    int64_t spill_join_bytes = 0;
    /// Where spill files go: see SpillDirectory::open. How large they may be in all, 0 = no limit. How they are compressed.
    std::string temporary_directory;
    uint64_t most_spilled_bytes = 0;
    SpillCodec spill_codec = SpillCodec::Lz4;
    /// Groups that earlier plans of the statement left, to be used again; null = none. `keep_groups`: this plan leaves its own.
    std::shared_ptr<KeptGroups> kept_groups;
    bool keep_groups = false;
};

/// Runs the plan and gives its batches, never empty ones, to `sink`: from one thread at a time, in order where the plan
/// ends in an order. False from the sink ends the run early. Throws what operators throw, and what check_cancelled does.
void execute(const plan::Node& plan, const ExecutionOptions& options, const std::function<bool(Batch&&)>& sink);

/// All batches of a plan.
std::vector<Batch> collect(const plan::Node& plan, const ExecutionOptions& options);

}  // namespace firn::exec
