#include "firn/exec/external_groups.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::exec {
namespace {

constexpr size_t kBlockRows = 8192;

std::vector<TypePtr> types_of_blocks(const AggregatePlan& plan) {
    std::vector<TypePtr> types = plan.key_types;
    if (!plan.active.empty()) types.push_back(make_type(TypeId::String));
    return types;
}

}  // namespace

SpilledGroups::SpilledGroups(Run& run, const AggregatePlan& plan, const SpillPolicy& policy, unsigned level)
    : run_(run),
      plan_(plan),
      policy_(policy),
      level_(level),
      file_(run.spill_space(), types_of_blocks(plan), kSpillPartitions) {}

/// One string a row: the states of all aggregates, one behind the other.
VectorPtr SpilledGroups::states_of(std::span<char* const> rows) const {
    const auto bytes = std::make_shared<std::string>();
    std::vector<size_t> ends;
    for (const char* row : rows) {
        for (const size_t i : plan_.active)
            plan_.node.aggregates[i].function->serialize(row + plan_.offsets[i], *bytes);
        ends.push_back(bytes->size());
    }
    auto values = Buffer::allocate(rows.size() * sizeof(StringRef));
    size_t begin = 0;
    for (size_t i = 0; i < rows.size(); begin = ends[i++]) {
        if (ends[i] - begin > UINT32_MAX)
            fail(ErrorCode::LIMIT_EXCEEDED, "A group's states of {} bytes cannot be spilled", ends[i] - begin);
        values->mutable_as<StringRef>()[i] = StringRef(bytes->data() + begin, ends[i] - begin);
    }
    return Vector::flat(make_type(TypeId::String), rows.size(), std::move(values), nullptr, {bytes});
}

void SpilledGroups::spill(Groups& groups) {
    GroupMap& map = groups.map;
    // Row numbers partition by partition: a counting sort.
    std::vector<uint8_t> partitions;
    partitions.reserve(map.size());
    std::vector<char*> rows;
    std::vector<size_t> at(kSpillPartitions + 1);
    for (size_t begin = 0; begin < map.size(); begin += kBlockRows) {
        rows.clear();
        for (size_t i = begin; i < std::min(map.size(), begin + kBlockRows); ++i) rows.push_back(map.row(i));
        for (const uint8_t partition : spill_partitions(map.keys(rows), rows.size(), level_)) {
            partitions.push_back(partition);
            ++at[partition + 1];
        }
    }
    for (size_t p = 0; p < kSpillPartitions; ++p) at[p + 1] += at[p];
    const std::vector<size_t> bounds = at;
    std::vector<uint32_t> order(map.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[at[partitions[i]]++] = i;
    for (size_t p = 0; p < kSpillPartitions; ++p) {
        for (size_t begin = bounds[p]; begin < bounds[p + 1]; begin += kBlockRows) {
            rows.clear();
            for (size_t i = begin; i < std::min(bounds[p + 1], begin + kBlockRows); ++i)
                rows.push_back(map.row(order[i]));
            Batch block{map.keys(rows), rows.size()};
            if (!plan_.active.empty()) block.columns.push_back(states_of(rows));
            file_.write(p, block);
        }
    }
    count_event(ProfileEvent::ExternalAggregationWritePart);
}

void SpilledGroups::merge(Stage& next) {
    run_.emit(kSpillPartitions, next,
              [&](size_t partition, Consumer& consumer) { merge_partition(partition, next, consumer); });
}

void SpilledGroups::add(const Batch& block, Groups& groups) const {
    const MemoryTracker::Scope scope(groups.memory);
    std::vector<char*> rows(block.rows);
    groups.map.find_or_insert(std::span(block.columns.data(), plan_.key_types.size()), block.rows, rows.data());
    if (plan_.active.empty()) return;
    size_t largest = 0;
    for (const size_t i : plan_.active) largest = std::max(largest, plan_.node.aggregates[i].function->state_size());
    const auto scratch = Buffer::allocate(largest);
    char* state = scratch->mutable_data();
    const Decoded states(block.columns.back());
    for (size_t row = 0; row < block.rows; ++row) {
        std::string_view bytes = states.value<StringRef>(row).view();
        for (const size_t i : plan_.active) {
            const auto& function = *plan_.node.aggregates[i].function;
            function.create(state);
            try {
                function.deserialize(state, bytes, groups.arena);
                function.merge(rows[row] + plan_.offsets[i], state, groups.arena);
            } catch (...) {
                function.destroy(state);
                throw;
            }
            function.destroy(state);
        }
    }
}

void SpilledGroups::merge_partition(size_t partition, Stage& next, Consumer& consumer) {
    if (file_.rows(partition) == 0) return;
    count_event(ProfileEvent::ExternalAggregationMerge);
    auto groups = std::make_unique<Groups>(plan_);
    std::unique_ptr<SpilledGroups> deeper;
    SpillFile::Reader reader(file_, partition);
    for (Batch block; reader.next(block);) {
        add(block, *groups);
        // Too many groups even so: divided again.
        if (level_ + 1 == kSpillLevels || groups->map.size() < 2 || !policy_.is_due(groups->memory->used())) continue;
        if (!deeper) deeper = std::make_unique<SpilledGroups>(run_, plan_, policy_, level_ + 1);
        deeper->spill(*groups);
        groups.reset();
        groups = std::make_unique<Groups>(plan_);
    }
    if (deeper) {
        deeper->spill(*groups);
        groups.reset();
        for (size_t p = 0; p < kSpillPartitions && !next.done() && !run_.stopped(); ++p)
            deeper->merge_partition(p, next, consumer);
        return;
    }
    std::vector<char*> rows;
    for (size_t begin = 0; begin < groups->map.size() && !next.done() && !run_.stopped(); begin += plan_.batch_rows) {
        rows.clear();
        for (size_t i = begin; i < std::min(groups->map.size(), begin + plan_.batch_rows); ++i)
            rows.push_back(groups->map.row(i));
        consumer.push(plan_.results(groups->map.keys(rows), rows));
    }
}

}  // namespace firn::exec
