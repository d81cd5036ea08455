#include "firn/exec/external_join.h"

#include <algorithm>

#include "firn/base/query_context.h"
#include "firn/exec/spill/batch_bytes.h"
#include "firn/exec/spill/freed_memory.h"

namespace firn::exec {
namespace {

using plan::JoinKind;
using plan::JoinNode;

constexpr int64_t kTableBytesOfRow = 32;     // of a table over keys, about
constexpr uint64_t kLeastRowsToDivide = 64;  // fewer are joined whatever their size

/// Rows of which each has a key's value that is NULL.
bool has_null(std::span<const VectorPtr> keys, size_t rows) {
    for (const auto& key : keys) {
        if (!key->flat_base().nulls()) continue;
        for (size_t i = 0; i < rows; ++i)
            if (key->is_null(i)) return true;
    }
    return false;
}

/// Divides the left rows.
class ProbePartitionStage : public Stage {
public:
    ProbePartitionStage(const JoinNode& node, const Evaluator& keys, const Columns& needed, SpillFile& file,
                        unsigned level)
        : node_(node), keys_(keys), needed_(needed), file_(file), level_(level) {}
    ConsumerPtr consumer(size_t) override { return std::make_unique<Worker>(*this); }

private:
    struct Worker : Consumer {
        explicit Worker(ProbePartitionStage& s) : stage(s), evaluator(s.keys_), writer(s.file_, s.level_) {}
        void push(Batch&& batch) override {
            const auto keys = evaluator.evaluate(batch);
            for (size_t i = 0; i < batch.columns.size(); ++i)
                if (!stage.needed_[i]) batch.columns[i] = placeholder(stage.file_.types()[i], batch.rows);
            writer.add(batch, std::span(keys.data(), equality_keys(stage.node_)));
        }
        void finish() override { writer.finish(); }
        ProbePartitionStage& stage;
        Evaluator evaluator;
        PartitionWriter writer;
    };

    const JoinNode& node_;
    const Evaluator& keys_;
    const Columns& needed_;
    SpillFile& file_;
    const unsigned level_;
};

/// Divides right rows that have their keys with them.
class BuildPartitionStage : public Stage {
public:
    BuildPartitionStage(const JoinNode& node, const KeyedColumns& columns, SpillFile& file, unsigned level)
        : node_(node), columns_(columns), file_(file), level_(level) {}
    ConsumerPtr consumer(size_t) override { return std::make_unique<Worker>(*this); }

private:
    struct Worker : Consumer {
        explicit Worker(BuildPartitionStage& s) : stage(s), writer(s.file_, s.level_) {}
        void push(Batch&& batch) override {
            const auto keys = stage.columns_.keys_of(batch);
            writer.add(batch, std::span(keys.data(), equality_keys(stage.node_)));
        }
        void finish() override { writer.finish(); }
        BuildPartitionStage& stage;
        PartitionWriter writer;
    };

    const JoinNode& node_;
    const KeyedColumns& columns_;
    SpillFile& file_;
    const unsigned level_;
};

void count_parts(const SpillFile& file) {
    for (size_t p = 0; p < file.lists(); ++p)
        if (file.rows(p)) count_event(ProfileEvent::ExternalJoinWritePart);
}

/// Bytes that a table in memory takes beyond the collected rows: they are copied, for some joins twice.
int64_t bytes_beyond(const JoinNode& node, const KeyedColumns& columns, uint64_t rows) {
    const bool widened = node.join == JoinKind::Left || node.join == JoinKind::Full;
    return static_cast<int64_t>(rows) *
           (static_cast<int64_t>(columns.row_bytes()) * (widened ? 2 : 1) + kTableBytesOfRow);
}

}  // namespace

PartitionedJoin::PartitionedJoin(Run& run, const JoinNode& node, const KeyedColumns& columns,
                                 std::unique_ptr<SpillFile> build, WholeBuildSide whole)
    : run_(run),
      node_(node),
      columns_(columns),
      policy_(run.spill_policy(run.options().spill_join_bytes)),
      whole_(whole),
      left_keys_(node.left_keys) {
    sides_.build = std::move(build);
}

void PartitionedJoin::join(const Columns& needed, const Stage& next, const Join& join) {
    count_parts(*sides_.build);
    sides_.probe = std::make_unique<SpillFile>(run_.spill_space(), output_types(*node_.children[0]), kSpillPartitions);
    ProbePartitionStage stage(node_, left_keys_, needed, *sides_.probe, 0);
    run_.node(*node_.children[0], stage, needed);
    count_parts(*sides_.probe);
    give_memory_back();
    join_partitions(sides_, next, join);
}

void PartitionedJoin::join_partitions(const Sides& sides, const Stage& next, const Join& join) {
    for (size_t p = 0; p < kSpillPartitions && !next.done(); ++p) {
        if (sides.build->rows(p) == 0 && sides.probe->rows(p) == 0) continue;
        // Rows of one hot key stay together however often they are divided.
        if (!fits(*sides.build, p) && !sides.build->has_one_hash(p) && sides.level + 1 < kSpillLevels) {
            join_partitions(divide(sides, p), next, join);
            continue;
        }
        count_event(ProfileEvent::ExternalJoinMerge);
        BuildSide build(run_, node_, columns_, read_build(*sides.build, p), &whole_);
        join(build, [&](Stage& stage) { read(*sides.probe, p, stage); });
    }
}

bool PartitionedJoin::fits(const SpillFile& build, size_t partition) const {
    const uint64_t rows = build.rows(partition);
    return rows < kLeastRowsToDivide ||
           policy_.fits(static_cast<int64_t>(build.bytes(partition)) + bytes_beyond(node_, columns_, rows));
}

PartitionedJoin::Sides PartitionedJoin::divide(const Sides& sides, size_t partition) {
    Sides deeper;
    deeper.level = sides.level + 1;
    deeper.build = std::make_unique<SpillFile>(run_.spill_space(), sides.build->types(), kSpillPartitions);
    deeper.probe = std::make_unique<SpillFile>(run_.spill_space(), sides.probe->types(), kSpillPartitions);
    BuildPartitionStage build(node_, columns_, *deeper.build, deeper.level);
    read(*sides.build, partition, build);
    const Columns all(sides.probe->types().size(), true);
    ProbePartitionStage probe(node_, left_keys_, all, *deeper.probe, deeper.level);
    read(*sides.probe, partition, probe);
    count_parts(*deeper.build);
    count_parts(*deeper.probe);
    return deeper;
}

void PartitionedJoin::read(const SpillFile& file, size_t list, Stage& stage) {
    SpillFile::Reader reader(file, list);
    run_.workers([&](size_t worker) {
        const auto consumer = stage.consumer(worker);
        for (Batch batch; !run_.stopped() && !stage.done() && reader.next(batch); batch = Batch())
            run_.push_cut(std::move(batch), stage, *consumer);
        if (!run_.stopped()) consumer->finish();
    });
}

std::vector<Batch> PartitionedJoin::read_build(const SpillFile& file, size_t list) {
    CollectStage all(run_.threads());
    read(file, list, all);
    return all.take();
}

BuildStage::BuildStage(Run& run, const JoinNode& node, const KeyedColumns& columns)
    : run_(run),
      node_(node),
      columns_(columns),
      policy_(run.spill_policy(run.options().spill_join_bytes)),
      divisible_(policy_.enabled() && equality_keys(node) > 0),
      parts_(run.threads()) {}

void BuildStage::Worker::push(Batch&& batch) {
    part.batches.push_back(stage.columns_.add_keys(std::move(batch), evaluator));
    if (stage.divisible_ && (stage.spilling_ || stage.grows_too_large(part))) stage.spill(part);
}

bool BuildStage::grows_too_large(Part& part) {
    if (!policy_.is_near()) return false;
    for (; part.detached < part.batches.size(); ++part.detached) {
        Batch& batch = part.batches[part.detached];
        columns_.drop_unread(batch);
        batch = detached(batch);
        bytes_ += static_cast<int64_t>(bytes_of_rows(batch));
        rows_ += static_cast<int64_t>(batch.rows);
    }
    const int64_t own = bytes_;
    if (own + bytes_beyond(node_, columns_, static_cast<uint64_t>(rows_)) <= policy_.share(own)) return false;
    spilling_ = true;
    return true;
}

void BuildStage::spill(Part& part) {
    if (part.batches.empty()) return;
    {
        std::lock_guard lock(mutex_);
        if (!file_) file_ = std::make_unique<SpillFile>(run_.spill_space(), columns_.types(), kSpillPartitions);
    }
    if (!part.writer) part.writer = std::make_unique<PartitionWriter>(*file_, 0);
    std::vector<Batch> batches = std::move(part.batches);
    part.batches.clear();
    part.detached = 0;
    for (Batch& batch : batches) {
        columns_.drop_unread(batch);
        const auto all_keys = columns_.keys_of(batch);
        const std::span keys(all_keys.data(), equality_keys(node_));
        if (node_.null_aware && !has_null_key_ && has_null(keys, batch.rows)) has_null_key_ = true;
        part.writer->add(batch, keys);
        batch = Batch();
    }
    if (batches.size() > 1) give_memory_back();
}

std::unique_ptr<PartitionedJoin> BuildStage::spill_rest() {
    uint64_t rows = 0;
    for (const Part& part : parts_)
        for (const Batch& batch : part.batches) rows += batch.rows;
    if (!spilling_ && (!divisible_ || rows == 0 || policy_.fits(bytes_beyond(node_, columns_, rows)))) return nullptr;
    run_.parallel(parts_.size(), [&](size_t i) {
        spill(parts_[i]);
        if (parts_[i].writer) parts_[i].writer->finish();
        parts_[i].writer.reset();
    });
    return std::make_unique<PartitionedJoin>(run_, node_, columns_, std::move(file_),
                                             WholeBuildSide{true, has_null_key_});
}

std::vector<Batch> BuildStage::take() {
    std::vector<Batch> all;
    for (Part& part : parts_) {
        for (Batch& batch : part.batches) all.push_back(std::move(batch));
        part.batches.clear();
    }
    return all;
}

}  // namespace firn::exec
