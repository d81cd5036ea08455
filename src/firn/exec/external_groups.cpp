#include "firn/exec/external_groups.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/iceberg/memory_charge.h"

namespace firn::exec {
namespace {

constexpr size_t kBlockRows = 8192;
constexpr size_t kBlockBytes = 1 << 19;  // of a block's states; a block has one group at least

/// Groups' states, one string a row: those of all aggregates, one behind the other.
class StatesColumn {
public:
    void add(const AggregatePlan& plan, const char* row) {
        std::string& bytes = states_->bytes;
        const size_t before = bytes.capacity();
        for (const size_t i : plan.active) plan.node.aggregates[i].function->serialize(row + plan.offsets[i], bytes);
        states_->charge.add(bytes.capacity() - before);
        const size_t size = bytes.size() - (ends_.empty() ? 0 : ends_.back());
        if (size > UINT32_MAX) fail(ErrorCode::LIMIT_EXCEEDED, "A group's states of {} bytes cannot be spilled", size);
        ends_.push_back(bytes.size());
    }
    size_t bytes() const { return states_->bytes.size(); }
    VectorPtr finish() {
        auto values = Buffer::allocate(ends_.size() * sizeof(StringRef));
        size_t begin = 0;
        for (size_t i = 0; i < ends_.size(); begin = ends_[i++])
            values->mutable_as<StringRef>()[i] = StringRef(states_->bytes.data() + begin, ends_[i] - begin);
        return Vector::flat(make_type(TypeId::String), ends_.size(), std::move(values), nullptr, {states_});
    }

private:
    struct States {
        std::string bytes;
        iceberg::MemoryCharge charge;
    };
    const std::shared_ptr<States> states_ = std::make_shared<States>();
    std::vector<size_t> ends_;
};

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

void SpilledGroups::spill(Groups& groups) {
    GroupMap& map = groups.map;
    // Row numbers partition by partition: a counting sort.
    TrackedVector<uint8_t> partitions;
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
    TrackedVector<uint32_t> order(map.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[at[partitions[i]]++] = i;
    for (size_t p = 0; p < kSpillPartitions; ++p) {
        for (size_t at_row = bounds[p]; at_row < bounds[p + 1];) {
            rows.clear();
            StatesColumn states;
            while (at_row < bounds[p + 1] && rows.size() < kBlockRows && states.bytes() < kBlockBytes) {
                rows.push_back(map.row(order[at_row++]));
                states.add(plan_, rows.back());
            }
            Batch block{map.keys(rows), rows.size()};
            if (!plan_.active.empty()) block.columns.push_back(states.finish());
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
