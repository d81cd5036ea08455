// GROUP BY: one table of groups a worker, merged in partitions when the input has ended.
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/exec/aggregate_plan.h"
#include "firn/exec/external_groups.h"
#include "firn/exec/group_merge.h"
#include "firn/exec/kept_groups.h"
#include "firn/exec/operators.h"
#include "firn/exec/spill/freed_memory.h"
#include "firn/functions/grouped_rows.h"
#include "firn/plan/same_groups.h"
#include "firn/vector/builder.h"

namespace firn::exec {
namespace {

using plan::AggregateNode;
using Plan = AggregatePlan;

/// A batch of at most so many groups, and at least so many rows, is added group by group, which takes a fraction of the
/// time that scattered adding does.
constexpr size_t kFewGroups = functions::GroupedRows::kMostGroups;
constexpr size_t kRowsForFewGroups = 512;

class AggregateStage : public Stage {
public:
    AggregateStage(Run& run, const Plan& plan, const SpillPolicy& policy)
        : run_(run), plan_(plan), policy_(policy), groups_(run.threads()) {}
    ConsumerPtr consumer(size_t worker) override {
        if (!groups_[worker]) groups_[worker] = std::make_unique<Groups>(plan_);
        return std::make_unique<Worker>(*this, groups_[worker]);
    }
    bool takes_selections() const override {
        return plan_.takes_selections && !refuses_selections_.load(std::memory_order_relaxed);
    }
    std::vector<Groups*> groups() {
        if (!groups_[0]) groups_[0] = std::make_unique<Groups>(plan_);
        std::vector<Groups*> all;
        for (const auto& groups : groups_)
            if (groups) all.push_back(groups.get());
        return all;
    }
    /// After all rows have come: the groups on disk, all of them, or null where all are in memory and can be merged there.
    SpilledGroups* spill_rest();

private:
    struct Worker : Consumer {
        Worker(AggregateStage& s, std::unique_ptr<Groups>& g)
            : stage(s), plan(s.plan_), groups(g), evaluator(plan.evaluator) {}
        void push(Batch&& batch) override;
        void push_selected(Batch&& batch, const Selection& rows) override;
        void spill_when_due();
        void add_batch(const Batch& batch);
        bool add_selected(const Batch& batch, const Selection& rows);
        void add(const std::vector<VectorPtr>& values, size_t rows);
        void add_call(size_t i, const std::vector<VectorPtr>& values, size_t rows);

        bool find_few_groups(std::span<const VectorPtr> keys, size_t rows, const Selection* selected);
        bool find_groups_of(std::span<const VectorPtr> keys, size_t rows, const Selection& selected);
        bool number_groups(size_t rows);
        void add_to_few(const std::vector<VectorPtr>& values, size_t rows, bool all_count);
        void sort_by_group(size_t rows);

        AggregateStage& stage;
        const Plan& plan;
        std::unique_ptr<Groups>& groups;  // renewed when they are spilled
        Evaluator evaluator;
        std::vector<char*> states;
        bool has_states = false;  // of the batch at hand
        // Where a batch has few groups: them, the number of each row's, and the rows group by group. In a batch of which not
        // all rows count the others have number kNoGroup, and come last.
        std::vector<char*> few;
        std::vector<uint8_t> number_of, of_selected;
        std::vector<uint32_t> order;
        std::array<uint32_t, kFewGroups + 1> begins{};  // of each group in `order`
    };

    void spill(std::unique_ptr<Groups>& groups);

    Run& run_;
    const Plan& plan_;
    const SpillPolicy policy_;
    std::vector<std::unique_ptr<Groups>> groups_;
    std::atomic<bool> refuses_selections_{false};  // a worker could not make use of one
    std::mutex mutex_;
    std::unique_ptr<SpilledGroups> spilled_;
};

/// Writes a worker's groups to disk and gives it an empty table.
void AggregateStage::spill(std::unique_ptr<Groups>& groups) {
    {
        std::lock_guard lock(mutex_);
        if (!spilled_) spilled_ = std::make_unique<SpilledGroups>(run_, plan_, policy_, 0);
    }
    spilled_->spill(*groups);
    groups.reset();
    groups = std::make_unique<Groups>(plan_);
    give_memory_back();
}

SpilledGroups* AggregateStage::spill_rest() {
    if (!plan_.has_keys()) return nullptr;
    // Merging in memory takes a list of all groups, and in the first table a copy of the strings of the others.
    int64_t more = 0;
    for (size_t i = 0; i < groups_.size(); ++i) {
        if (!groups_[i]) continue;
        more += static_cast<int64_t>(groups_[i]->map.size() * 2 * sizeof(uint64_t));
        if (i > 0 && plan_.layout.has_interned()) more += groups_[i]->memory->used();
    }
    if (!spilled_ && policy_.fits(more)) return nullptr;
    run_.parallel(groups_.size(), [&](size_t i) {
        if (groups_[i] && groups_[i]->map.size() > 0) spill(groups_[i]);
        groups_[i].reset();
    });
    return spilled_.get();
}

void AggregateStage::Worker::push(Batch&& batch) {
    {
        const MemoryTracker::Scope scope(groups->memory);
        add_batch(batch);
    }
    spill_when_due();
}

void AggregateStage::Worker::push_selected(Batch&& batch, const Selection& rows) {
    {
        const MemoryTracker::Scope scope(groups->memory);
        if (!add_selected(batch, rows)) {
            stage.refuses_selections_.store(true, std::memory_order_relaxed);
            add_batch(batch.select(rows));
        }
    }
    spill_when_due();
}

void AggregateStage::Worker::spill_when_due() {
    if (stage.policy_.is_due(groups->memory->used()) && groups->map.size() > 0) stage.spill(groups);
}

void AggregateStage::Worker::add_batch(const Batch& batch) {
    const auto values = evaluator.evaluate(batch);
    const auto& node = plan.node;
    const std::span<const VectorPtr> keys(values.data(), node.keys.size());
    const bool worth_it = batch.rows >= kRowsForFewGroups && plan.has_keys() && !plan.active.empty();
    if (worth_it && node.grouping_sets.empty() && find_few_groups(keys, batch.rows, nullptr))
        return add_to_few(values, batch.rows, true);
    states.resize(batch.rows);
    if (node.grouping_sets.empty()) {
        if (plan.has_keys()) groups->map.find_or_insert(keys, batch.rows, states.data());
        return add(values, batch.rows);
    }
    for (size_t set = 0; set < node.grouping_sets.size(); ++set) {
        std::vector<VectorPtr> kept;
        for (const auto& key : keys) kept.push_back(Vector::defaults(key->type(), batch.rows));
        for (const size_t k : node.grouping_sets[set]) kept[k] = keys[k];
        kept.push_back(Vector::constant(make_value<uint64_t>(plan.key_types.back(), set), batch.rows));
        groups->map.find_or_insert(kept, batch.rows, states.data());
        add(values, batch.rows);
    }
}

void AggregateStage::Worker::add(const std::vector<VectorPtr>& values, size_t rows) {
    has_states = true;
    if (plan.has_keys() && !plan.active.empty() && number_groups(rows)) return add_to_few(values, rows, true);
    for (const size_t i : plan.active) add_call(i, values, rows);
}

/// Numbers the groups of a batch by its keys' codes, which says all of `states` too; false where that cannot be.
bool AggregateStage::Worker::find_few_groups(std::span<const VectorPtr> keys, size_t rows, const Selection* selected) {
    has_states = false;
    number_of.resize(rows);
    if (!groups->map.find_few(keys, rows, selected, kFewGroups, number_of.data())) return false;
    few.resize(groups->map.size());
    for (size_t g = 0; g < few.size(); ++g) few[g] = groups->map.row(g);
    return true;
}

/// The same for some rows of a batch: the others are in no group.
bool AggregateStage::Worker::find_groups_of(std::span<const VectorPtr> keys, size_t rows, const Selection& selected) {
    if (plan.has_keys() && !find_few_groups(keys, rows, &selected)) return false;
    of_selected.assign(rows, functions::GroupedRows::kNoGroup);
    uint8_t* const to = of_selected.data();
    if (plan.has_keys()) {
        const uint8_t* const from = number_of.data();
        for (const uint32_t row : selected) to[row] = from[row];
    } else {
        for (const uint32_t row : selected) to[row] = 0;
        few.assign(1, groups->only->mutable_data());
    }
    number_of.swap(of_selected);
    return true;
}

/// Adds some rows of a batch without picking them out of it; false where that cannot be, and none was added.
bool AggregateStage::Worker::add_selected(const Batch& batch, const Selection& rows) {
    std::vector<VectorPtr> values;
    try {
        values = evaluator.evaluate(batch);
    } catch (const Error& error) {
        if (ends_query(error)) throw;
        return false;  // perhaps by a row that was not selected
    }
    if (!find_groups_of({values.data(), plan.node.keys.size()}, batch.rows, rows)) return false;
    has_states = false;
    add_to_few(values, batch.rows, false);
    return true;
}

/// Numbers the groups of a batch by `states`; false when they are not few.
bool AggregateStage::Worker::number_groups(size_t rows) {
    if (rows < kRowsForFewGroups) return false;
    few.clear();
    number_of.resize(rows);
    // Most rows are found at the place that their address says; what the place does not know is searched for.
    constexpr size_t kPlaces = 512;
    std::array<char*, kPlaces> known{};
    std::array<uint8_t, kPlaces> numbers{};
    char* const* const row_of = states.data();
    uint8_t* const out = number_of.data();
    for (size_t i = 0; i < rows; ++i) {
        char* const row = row_of[i];
        const size_t place = (reinterpret_cast<uintptr_t>(row) * 0x9e3779b97f4a7c15ULL) >> 55;
        if (known[place] != row) {
            const auto number = static_cast<size_t>(std::find(few.begin(), few.end(), row) - few.begin());
            if (number == kFewGroups) return false;
            if (number == few.size()) few.push_back(row);
            known[place] = row;
            numbers[place] = static_cast<uint8_t>(number);
        }
        out[i] = numbers[place];
    }
    return true;
}

/// A counting sort: the rows of each group one after another, in `order`.
void AggregateStage::Worker::sort_by_group(size_t rows) {
    const uint8_t* const numbers = number_of.data();
    // Two counters a group, so that rows of one group in a row do not wait for each other.
    std::array<uint32_t, kFewGroups + 1> counts{}, odd_counts{}, at{};  // the last: of rows that do not count
    for (size_t i = 0; i + 1 < rows; i += 2) {
        ++counts[numbers[i]];
        ++odd_counts[numbers[i + 1]];
    }
    if (rows % 2) ++counts[numbers[rows - 1]];
    for (size_t g = 0; g < few.size(); ++g) {
        at[g] = begins[g];
        begins[g + 1] = begins[g] + counts[g] + odd_counts[g];
    }
    at[functions::GroupedRows::kNoGroup] = begins[few.size()];
    order.resize(rows);
    uint32_t* const ordered = order.data();
    for (uint32_t i = 0; i < rows; ++i) ordered[at[numbers[i]]++] = i;
}

/// Functions that have a way for few groups take the rows as they are. For the others each argument is brought into the
/// order of groups once; then every group's rows are added as one.
void AggregateStage::Worker::add_to_few(const std::vector<VectorPtr>& values, size_t rows, bool all_count) {
    const bool as_one = few.size() == 1 && all_count;
    std::optional<functions::GroupedRows> grouped;
    if (!as_one) grouped.emplace(std::span<const uint8_t>(number_of.data(), rows), few);
    bool sorted = as_one;
    begins = {0, static_cast<uint32_t>(rows)};
    std::vector<std::pair<const Vector*, VectorPtr>> known;
    const auto in_order = [&](const VectorPtr& vector) -> VectorPtr {
        if (as_one || vector->is_constant()) return vector;
        for (const auto& [from, to] : known)
            if (from == vector.get()) return to;
        known.emplace_back(vector.get(), gather(vector, order));
        return known.back().second;
    };
    for (const size_t i : plan.active) {
        const auto& call = plan.node.aggregates[i];
        const std::span given(values.data() + plan.first_argument[i], call.arguments.size());
        if (plan.filter[i] != SIZE_MAX) {
            if (!has_states) {
                states.resize(rows);
                for (size_t row = 0; row < rows; ++row) states[row] = few[number_of[row]];
                has_states = true;
            }
            add_call(i, values, rows);
            continue;
        }
        if (!as_one && call.function->add_grouped(given, *grouped, plan.offsets[i], groups->arena)) continue;
        if (!sorted) sort_by_group(rows);
        sorted = true;
        std::vector<VectorPtr> ordered, arguments(given.size());
        for (const auto& argument : given) ordered.push_back(in_order(argument));
        for (size_t g = 0; g < few.size(); ++g) {
            const size_t count = begins[g + 1] - begins[g];
            if (count == 0) continue;
            for (size_t a = 0; a < arguments.size(); ++a) arguments[a] = slice(ordered[a], begins[g], count);
            call.function->add_all(arguments, count, few[g] + plan.offsets[i], groups->arena);
        }
    }
}

void AggregateStage::Worker::add_call(size_t i, const std::vector<VectorPtr>& values, size_t rows) {
    const auto& call = plan.node.aggregates[i];
    std::span<const VectorPtr> arguments(values.data() + plan.first_argument[i], call.arguments.size());
    std::vector<VectorPtr> picked;
    std::vector<char*> picked_states;
    char* const* to = states.data();
    if (plan.filter[i] != SIZE_MAX) {
        const Selection selected = selected_rows(values[plan.filter[i]]);
        if (selected.empty()) return;
        if (selected.size() < rows) {
            for (const auto& argument : arguments) picked.push_back(gather(argument, selected));
            if (plan.has_keys()) {
                for (const uint32_t row : selected) picked_states.push_back(states[row]);
                to = picked_states.data();
            }
            arguments = picked;
            rows = selected.size();
        }
    }
    if (plan.has_keys())
        call.function->add(arguments, rows, to, plan.offsets[i], groups->arena);
    else
        call.function->add_all(arguments, rows, groups->only->mutable_data() + plan.offsets[i], groups->arena);
}

/// The scan whose aggregates may have been answered from metadata.
const plan::Node* scan_below(const plan::Node& node) {
    const plan::Node* at = node.children[0].get();
    while (at->kind != plan::NodeKind::Scan) {
        if (at->children.size() != 1) return nullptr;
        at = at->children[0].get();
    }
    return at;
}

/// A column of a metadata partial as an argument of the aggregate: NULLs stand for files without a value.
VectorPtr as_argument(const VectorPtr& values, const TypePtr& type) {
    VectorPtr vector = values;
    if (accepts_null(*vector->type()) && !accepts_null(*type)) {
        std::vector<uint32_t> rows;
        for (uint32_t i = 0; i < vector->size(); ++i)
            if (!vector->is_null(i)) rows.push_back(i);
        vector = flatten(gather(vector, rows));
    }
    return same_type(vector->type(), type) ? vector : vector->with_type(type);
}

uint64_t sum_of_counts(const VectorPtr& counts) {
    const Decoded decoded(counts);
    uint64_t sum = 0;
    for (size_t i = 0; i < counts->size(); ++i)
        if (!decoded.is_null(i)) sum += decoded.value<uint64_t>(i);
    return sum;
}

/// The one row of an aggregation without keys.
Batch finish_without_keys(Run& run, const Plan& plan, const std::vector<Groups*>& groups) {
    const auto& node = plan.node;
    char* row = groups[0]->only->mutable_data();
    for (size_t g = 1; g < groups.size(); ++g)
        for (const size_t i : plan.active)
            node.aggregates[i].function->merge(row + plan.offsets[i], groups[g]->only->data() + plan.offsets[i],
                                               groups[0]->arena);
    const auto* scan = node.merge_metadata_partials ? static_cast<const plan::ScanNode*>(scan_below(node)) : nullptr;
    const auto found = scan ? run.metadata_partials.find(scan) : run.metadata_partials.end();
    Batch out;
    out.rows = 1;
    for (size_t i = 0; i < node.aggregates.size(); ++i) {
        const auto& call = node.aggregates[i];
        if (std::find(plan.active.begin(), plan.active.end(), i) == plan.active.end()) {
            out.columns.push_back(placeholder(call.function->result_type(), 1));
            continue;
        }
        uint64_t counted = 0;
        if (found != run.metadata_partials.end()) {
            for (const auto& partial : found->second) {
                if (scan->request.aggregates[i].kind == plan::MetadataAggregate::Kind::Count) {
                    counted += sum_of_counts(partial.columns[i]);
                    continue;
                }
                const auto argument = as_argument(partial.columns[i], call.arguments[0]->type);
                if (argument->size())
                    call.function->add_all(std::span(&argument, 1), argument->size(), row + plan.offsets[i],
                                           groups[0]->arena);
            }
        }
        auto value = call.function->finish(&row, 1, plan.offsets[i]);
        if (counted) value = make_value<uint64_t>(value->type(), Decoded(value).value<uint64_t>(0) + counted);
        out.columns.push_back(std::move(value));
    }
    return out;
}

void emit_groups(Run& run, const Plan& plan, const std::vector<Groups*>& groups, std::deque<Arena>& arenas,
                 Stage& next) {
    std::vector<GroupMap*> maps;
    for (Groups* g : groups) maps.push_back(&g->map);
    const auto& node = plan.node;
    const GroupMerge merge(run, maps, arenas, [&](char* into, char* from, Arena& arena) {
        for (const size_t i : plan.active)
            node.aggregates[i].function->merge(into + plan.offsets[i], from + plan.offsets[i], arena);
    });
    run.emit(merge.parts(), next, [&](size_t part, Consumer& consumer) {
        const auto rows = merge.rows(part);
        for (size_t at = 0; at < rows.size() && !next.done() && !run.stopped(); at += plan.batch_rows) {
            const std::span some(rows.data() + at, std::min(plan.batch_rows, rows.size() - at));
            consumer.push(plan.results(merge.keys(some), some));
        }
    });
}

/// Passes all batches on, and keeps them while they are few.
class KeepingStage : public Stage {
public:
    KeepingStage(Run& run, Stage& next) : run_(run), next_(next), lists_(run.threads()) {}
    ConsumerPtr consumer(size_t worker) override {
        return std::make_unique<Worker>(*this, lists_[worker], next_.consumer(worker));
    }
    bool done() const override { return next_.done(); }
    /// Once, after the run; nullopt where not all groups came or they were too many.
    std::optional<std::vector<Batch>> take() {
        if (run_.stopped() || next_.done() || bytes_ > KeptGroups::kMostBytes) return std::nullopt;
        std::vector<Batch> all;
        for (auto& list : lists_) std::move(list.begin(), list.end(), std::back_inserter(all));
        return all;
    }

private:
    struct Worker : Consumer {
        Worker(KeepingStage& s, std::vector<Batch>& l, ConsumerPtr c) : stage(s), list(l), next(std::move(c)) {}
        void push(Batch&& batch) override {
            const size_t bytes = batch.allocated_bytes();
            if (stage.bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= KeptGroups::kMostBytes)
                list.push_back(batch);
            else
                list.clear();
            next->push(std::move(batch));
        }
        void finish() override { next->finish(); }
        KeepingStage& stage;
        std::vector<Batch>& list;
        ConsumerPtr next;
    };

    Run& run_;
    Stage& next_;
    std::vector<std::vector<Batch>> lists_;
    std::atomic<size_t> bytes_{0};
};

}  // namespace

void run_aggregate(Run& run, const AggregateNode& node, Stage& next, const Columns& needed) {
    if (node.with_totals) fail(ErrorCode::NOT_IMPLEMENTED, "WITH TOTALS is not supported yet");
    const int64_t spill_bytes = run.options().spill_group_by_bytes;
    KeptGroups* const kept = run.options().kept_groups.get();
    if (kept && plan::can_be_same_groups(node)) {
        if (const auto* batches = kept->find(node)) return emit_batches(run, *batches, next);
        if (run.options().keep_groups) {
            KeepingStage keeping(run, next);
            run_groups(run, node, *node.children[0], spill_bytes, keeping, all_columns(node));
            if (auto batches = keeping.take()) kept->keep(node, std::move(*batches));
            return;
        }
    }
    run_groups(run, node, *node.children[0], spill_bytes, next, needed);
}

void run_groups(Run& run, const AggregateNode& node, const plan::Node& input, int64_t spill_bytes, Stage& next,
                const Columns& needed) {
    const Plan plan(node, needed, run.options().batch_rows);
    std::deque<Arena> arenas;  // what merged states point to until they are destroyed
    AggregateStage stage(run, plan, run.spill_policy(spill_bytes));
    Columns below(input.output.size(), false);
    mark(node.keys, below);
    for (const size_t i : plan.active) {
        mark(node.aggregates[i].arguments, below);
        mark({node.aggregates[i].filter}, below);
    }
    run.node(input, stage, below);
    if (SpilledGroups* spilled = stage.spill_rest()) return spilled->merge(next);
    const auto groups = stage.groups();
    if (!plan.has_keys())
        return run.emit_in_order(next,
                                 [&](Consumer& consumer) { consumer.push(finish_without_keys(run, plan, groups)); });
    emit_groups(run, plan, groups, arenas, next);
}

}  // namespace firn::exec
