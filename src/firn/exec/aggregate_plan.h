// What an aggregation computes, and the groups of one worker.
#pragma once

#include <memory>
#include <vector>

#include "firn/exec/evaluator.h"
#include "firn/exec/group_map.h"
#include "firn/exec/pipeline.h"

namespace firn::exec {

/// What is computed for each group, and where its states lie in a row of a GroupMap.
struct AggregatePlan {
    const plan::AggregateNode& node;
    std::vector<TypePtr> key_types;      // with the number of the grouping set, where there are sets
    std::vector<bool> needed;            // output columns that somebody reads
    std::vector<size_t> active;          // aggregates that somebody reads
    std::vector<size_t> offsets;         // of all aggregates' states, in bytes from a row's start
    std::vector<size_t> first_argument;  // of all aggregates: into what the evaluator gives
    std::vector<size_t> filter;          // likewise; SIZE_MAX = none
    KeyLayout layout;
    GroupPayload payload;
    Evaluator evaluator;
    size_t batch_rows;
    bool takes_selections = false;  // rows that do not count may come, and be evaluated, beside those that do

    AggregatePlan(const plan::AggregateNode& node, const Columns& needed, size_t batch_rows);
    AggregatePlan(const AggregatePlan&) = delete;

    bool has_keys() const { return !key_types.empty(); }
    void destroy(char* row) const;
    /// The results of some groups, behind their keys.
    Batch results(std::vector<VectorPtr> keys, std::span<char* const> rows) const;

private:
    void lay_out_states();
    void gather_expressions();
};

/// Groups that one worker has aggregated, and an account of the memory that they take.
struct Groups {
    const AggregatePlan& plan;
    const std::shared_ptr<MemoryTracker> memory;
    GroupMap map;
    Arena arena;
    MutableBufferPtr only;  // the one row where there are no keys

    explicit Groups(const AggregatePlan& plan);
    ~Groups();
};

}  // namespace firn::exec
