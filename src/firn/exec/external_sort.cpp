#include "firn/exec/external_sort.h"

#include <algorithm>

#include "firn/base/query_context.h"
#include "firn/exec/spill/batch_bytes.h"
#include "firn/exec/spill/freed_memory.h"

namespace firn::exec {
namespace {

constexpr uint64_t kBlockBytes = 1 << 18;      // of a run's blocks, about: a merge holds one of each run
constexpr uint64_t kMostBatchBytes = 1 << 22;  // of the rows that a merge gives at once
constexpr size_t kMostRunsAtOnce = 512;
constexpr size_t kLeastRunsAtOnce = 2;

/// Some sorted runs as one sequence of batches.
class RunMerge {
public:
    RunMerge(const plan::SortNode& node, const KeyedColumns& columns,
             const std::vector<std::pair<SpillFile*, size_t>>& runs)
        : directions_(directions_of(node.keys)), columns_(columns) {
        for (const auto& [file, list] : runs) {
            auto head = std::make_unique<Head>(*file, list);
            head->number = heads_.size();
            heads_.push_back(std::move(head));
        }
        for (const auto& head : heads_)
            if (load(*head)) heap_.push_back(head.get());
        const auto later = [](const Head* a, const Head* b) { return b->before(*a); };
        std::make_heap(heap_.begin(), heap_.end(), later);
    }

    /// At most `most` rows, and no more when they have about so many bytes; none at the end.
    Batch next(size_t most, uint64_t most_bytes) {
        const auto later = [](const Head* a, const Head* b) { return b->before(*a); };
        pieces_.clear();
        std::vector<std::pair<uint32_t, uint32_t>> rows;  // piece, row within it
        uint64_t bytes = 0;
        while (rows.size() < most && bytes < most_bytes && !heap_.empty()) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            Head& head = *heap_.back();
            if (head.piece == kNoRow) {
                head.piece = static_cast<uint32_t>(pieces_.size());
                pieces_.push_back({head.block, head.at, head.at});
            }
            Piece& piece = pieces_[head.piece];
            rows.emplace_back(head.piece, static_cast<uint32_t>(piece.end - piece.begin));
            piece.end = ++head.at;
            bytes += head.row_bytes;
            if (head.at < head.block.rows || load(head))
                std::push_heap(heap_.begin(), heap_.end(), later);
            else
                heap_.pop_back();
        }
        for (const auto& head : heads_) head->piece = kNoRow;
        return assemble(rows);
    }

private:
    struct Head {
        Head(const SpillFile& file, size_t list) : reader(file, list) {}
        bool before(const Head& other) const {
            const int order = keys->compare_with(at, *other.keys, other.at);
            return order ? order < 0 : number < other.number;
        }
        SpillFile::Reader reader;
        size_t number = 0;
        Batch block;
        uint64_t row_bytes = 0;  // of the block's rows, on average
        std::unique_ptr<SortKeys> keys;
        size_t at = 0;
        uint32_t piece = kNoRow;  // of the batch being made, where it has rows of this block
    };
    /// Rows of one block, next to each other, that go into the batch being made.
    struct Piece {
        Batch block;
        size_t begin, end;
    };

    bool load(Head& head) const {
        head.at = 0;
        head.piece = kNoRow;
        do {
            if (!head.reader.next(head.block)) return false;
        } while (head.block.rows == 0);
        head.row_bytes = bytes_of_rows(head.block) / head.block.rows;
        head.keys = std::make_unique<SortKeys>(directions_, columns_.keys_of(head.block), head.block.rows);
        return true;
    }

    Batch assemble(const std::vector<std::pair<uint32_t, uint32_t>>& rows) {
        std::vector<Batch> parts;
        std::vector<uint32_t> begins;
        uint32_t begin = 0;
        for (const Piece& piece : pieces_) {
            begins.push_back(begin);
            begin += static_cast<uint32_t>(piece.end - piece.begin);
            parts.push_back(piece.block.cut(piece.begin, piece.end - piece.begin));
        }
        if (parts.size() == 1) return std::move(parts[0]);
        std::vector<uint32_t> order;
        order.reserve(rows.size());
        for (const auto& [piece, row] : rows) order.push_back(begins[piece] + row);
        return columns_.select(columns_.concat(parts), order);
    }

    const std::vector<SortDirection> directions_;
    const KeyedColumns& columns_;
    std::vector<std::unique_ptr<Head>> heads_;
    std::vector<Head*> heap_;
    std::vector<Piece> pieces_;
};

}  // namespace

SortStage::SortStage(Run& run, const plan::SortNode& node, const KeyedColumns& columns)
    : run_(run),
      node_(node),
      columns_(columns),
      policy_(run.spill_policy(run.options().spill_sort_bytes)),
      parts_(run.threads()) {}

void SortStage::Worker::push(Batch&& batch) {
    part.batches.push_back(stage.columns_.add_keys(std::move(batch), evaluator));
    if (!stage.policy_.is_near()) return;
    stage.detach(part);
    if (stage.policy_.is_due(part.bytes)) stage.spill(part);
}

void SortStage::detach(Part& part) const {
    while (part.detached < part.batches.size()) {
        Batch& batch = part.batches[part.detached];
        columns_.drop_unread(batch);
        batch = detached(batch);
        count_detached(part);
    }
}

/// One batch more of the part shares no memory with others.
void SortStage::count_detached(Part& part) {
    part.bytes += static_cast<int64_t>(bytes_of_rows(part.batches[part.detached++]));
}

size_t SortStage::rows_of_block(uint64_t bytes, uint64_t rows) const {
    const uint64_t row = std::max<uint64_t>(1, bytes / std::max<uint64_t>(1, rows));
    return std::clamp<size_t>(kBlockBytes / row, 1, run_.options().batch_rows);
}

/// All that a part holds becomes runs: as many as it takes for sorting, which copies rows, to fit in the memory left.
void SortStage::spill(Part& part) {
    std::vector<Batch> batches = std::move(part.batches);
    const size_t ready = part.detached;
    part.batches.clear();
    part.detached = 0;
    part.bytes = 0;
    for (size_t i = 0; i < batches.size(); ++i) {
        part.batches.push_back(std::move(batches[i]));
        if (i < ready)
            count_detached(part);
        else
            detach(part);
        if (part.bytes >= policy_.room() / static_cast<int64_t>(4 * parts_.size())) spill_run(part);
    }
    spill_run(part);
    give_memory_back();
}

void SortStage::spill_run(Part& part) {
    if (part.batches.empty()) return;
    const Batch all = columns_.concat(part.batches);
    const size_t block = rows_of_block(static_cast<uint64_t>(part.bytes), all.rows);
    part.batches.clear();
    part.detached = 0;
    part.bytes = 0;
    std::vector<uint32_t> rows = SortKeys(directions_of(node_.keys), columns_.keys_of(all), all.rows).sorted();
    if (node_.limit && !node_.with_ties && rows.size() > *node_.limit) rows.resize(*node_.limit);
    if (!part.file) part.file = std::make_unique<SpillFile>(run_.spill_space(), columns_.types());
    const size_t list = part.file->add_list();
    for (size_t at = 0; at < rows.size(); at += block)
        part.file->write(list, columns_.select(all, std::span(rows).subspan(at, std::min(block, rows.size() - at))));
    count_event(ProfileEvent::ExternalSortWritePart);
}

bool SortStage::spill_rest() {
    bool spilled = false;
    uint64_t rows = 0;
    for (const Part& part : parts_) {
        spilled = spilled || part.file;
        for (const Batch& batch : part.batches) rows += batch.rows;
    }
    // Sorting in memory takes a copy of the rows, prefixes, and row numbers twice.
    const uint64_t more = rows * (columns_.row_bytes() + sizeof(UInt128) + 2 * sizeof(uint64_t));
    if (!spilled && policy_.fits(static_cast<int64_t>(more))) return false;
    run_.parallel(parts_.size(), [&](size_t i) { spill(parts_[i]); });
    return true;
}

std::vector<Batch> SortStage::take() {
    std::vector<Batch> all;
    for (Part& part : parts_) {
        for (Batch& batch : part.batches) all.push_back(std::move(batch));
        part.batches.clear();
    }
    return all;
}

std::vector<SortStage::SortedRun> SortStage::runs() {
    std::vector<SortedRun> all;
    for (Part& part : parts_) {
        if (!part.file) continue;
        const std::shared_ptr<SpillFile> file = std::move(part.file);
        for (size_t list = 0; list < file->lists(); ++list) all.push_back({file, list});
    }
    return all;
}

SortStage::SortedRun SortStage::merge_some(const std::vector<SortedRun>& runs) {
    count_event(ProfileEvent::ExternalSortMerge);
    SortedRun merged{std::make_shared<SpillFile>(run_.spill_space(), columns_.types(), 1), 0};
    std::vector<std::pair<SpillFile*, size_t>> sources;
    uint64_t rows = 0, bytes = 0, left = node_.limit && !node_.with_ties ? *node_.limit : UINT64_MAX;
    for (const auto& [file, list] : runs) {
        sources.emplace_back(file.get(), list);
        rows += file->rows(list);
        bytes += file->bytes(list);
    }
    const size_t block = rows_of_block(bytes, rows);
    RunMerge merge(node_, columns_, sources);
    while (left > 0) {
        const Batch batch = merge.next(std::min<uint64_t>(block, left), kBlockBytes);
        if (batch.rows == 0) break;
        left -= batch.rows;
        merged.file->write(0, batch);
    }
    count_event(ProfileEvent::ExternalSortWritePart);
    return merged;
}

/// As many runs as may have a block, its keys and a copy of its rows in a quarter of the memory left.
size_t SortStage::runs_at_once(const std::vector<SortedRun>& runs) const {
    uint64_t block = kBlockBytes;
    for (const auto& [file, list] : runs) block = std::max(block, file->largest_block(list));
    return std::clamp<size_t>(static_cast<size_t>(policy_.room()) / (4 * block), kLeastRunsAtOnce, kMostRunsAtOnce);
}

void SortStage::merge(Stage& next) {
    auto waiting = runs();
    const size_t at_once = runs_at_once(waiting);
    while (waiting.size() > at_once) {
        // Rounds, so that no row is merged more often than needed.
        std::vector<SortedRun> merged((waiting.size() + at_once - 1) / at_once);
        for (size_t i = 0; i < merged.size(); ++i) {
            const size_t begin = i * at_once, end = std::min(waiting.size(), begin + at_once);
            std::vector<SortedRun> some;
            for (size_t k = begin; k < end; ++k) some.push_back(std::move(waiting[k]));
            merged[i] = some.size() == 1 ? some[0] : merge_some(some);
        }
        waiting = std::move(merged);
    }
    count_event(ProfileEvent::ExternalSortMerge);
    std::vector<std::pair<SpillFile*, size_t>> sources;
    for (const auto& [file, list] : waiting) sources.emplace_back(file.get(), list);
    RunMerge merge(node_, columns_, sources);
    uint64_t left = node_.limit && !node_.with_ties ? *node_.limit : UINT64_MAX;
    const uint64_t most_bytes =
        std::clamp<uint64_t>(static_cast<uint64_t>(policy_.room()) / 16, kBlockBytes, kMostBatchBytes);
    run_.emit_in_order(next, [&](Consumer& consumer) {
        while (left > 0 && !next.done()) {
            check_cancelled();
            Batch batch = merge.next(std::min<uint64_t>(run_.options().batch_rows, left), most_bytes);
            if (batch.rows == 0) break;
            left -= batch.rows;
            consumer.push(columns_.without_keys(std::move(batch)));
        }
    });
}

}  // namespace firn::exec
