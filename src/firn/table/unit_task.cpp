// Reading one unit of a data file: filter columns first, the others only for the rows that are left.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/exec/evaluator.h"
#include "firn/table/file_columns.h"
#include "firn/table/iceberg_scan.h"
#include "firn/table/runtime_filters.h"
#include "firn/vector/row_ops.h"

namespace firn::table {
namespace {

/// A runtime filter that lets nearly everything pass is not worth its time: looked at again rarely.
constexpr double kUselessRatio = 0.9;
constexpr size_t kTrialBatches = 4;
/// One in so many rows deleted by position is few.
constexpr size_t kLateDeletesShare = 2;

class UnitTask : public plan::ScanTask {
public:
    UnitTask(ScanContext& context, UnitWork work)
        : context_(context),
          work_(std::move(work)),
          file_(*work_.file),
          first_row_(file_.file->unit_first_row(work_.unit)) {
        if (!work_.all_match)
            for (const auto& stage : context.stages)
                if (!stage.file_constant) add_filter(stage);
        begin_equality_deletes();
        std::vector<file::ReadField> reads = file_.columns;
        if (!known_)
            for (const auto& key : file_.key_columns) reads.push_back(key);
        // Columns that are constant or made here are not the reader's.
        for (size_t i = 0; i < reads.size(); ++i) {
            const bool wanted = reads[i].source >= 0 && reads[i].type;
            reader_index_.push_back(wanted ? static_cast<int>(stored_.size()) : -1);
            if (wanted) stored_.push_back(std::move(reads[i]));
        }
        if (!work_.ranges.empty()) row_ = work_.ranges[0].first;
        trials_.resize(context.request.runtime_filters.size());
        filters_left_.assign(context.request.columns.size(), 0);
        for (const auto& filter : context.request.runtime_filters) ++filters_left_[filter->column];
        for (const auto& stage : context.stages)
            if (!stage.file_constant)
                for (const size_t i : stage.columns) ++filters_left_[i];
    }

    bool next(Batch& batch) override { return next(batch, nullptr); }

    bool next_unpicked(Batch& batch, std::optional<Selection>& wanted) override {
        wanted.reset();
        return next(batch, &wanted);
    }

private:
    /// wanted: null where rows that are not wanted must not come.
    bool next(Batch& batch, std::optional<Selection>* wanted) {
        try {
            return read_next(batch, wanted);
        } catch (Error& error) {
            if (error.message().find(file_.file->path()) == std::string::npos)
                error.add_context(fmt::format("In data file {}: ", file_.file->path()));
            throw;
        }
    }

    void add_filter(const FilterStage& stage) {
        filters_.emplace_back(stage.conjuncts);
        for (const auto& conjunct : stage.conjuncts)
            filters_cannot_fail_ = filters_cannot_fail_ && !exec::may_fail(*conjunct);
    }

    /// Asks whether other queries have found the rows that equality deletes delete in this unit; else, where no filter comes
    /// before, finds them for those that follow.
    void begin_equality_deletes() {
        const auto& deletes = file_.deletes;
        if (deletes.equality.empty() || deletes.equality_key.empty()) return;
        equality_key_ = fmt::format("{}\n{}", deletes.equality_key, work_.unit);
        for (const auto& [begin, end] : work_.ranges) equality_key_ += fmt::format(" {}-{}", begin, end);
        known_ = context_.source->table().cache()->find<RowPositions>(equality_key_);
        if (!known_ && filters_.empty() && context_.request.runtime_filters.empty())
            found_ = std::make_shared<RowPositions>();
    }

    /// After all rows of the unit.
    void keep_equality_deletes() {
        if (!found_) return;
        const size_t bytes = found_->capacity() * sizeof(uint64_t) + 2 * equality_key_.size();
        context_.source->table().cache()->put(equality_key_, std::move(found_), bytes);
    }

    bool read_next(Batch& batch, std::optional<Selection>* wanted) {
        if (!started_) {
            started_ = true;
            if (unit_fails_runtime_filters(context_, file_, work_.unit)) return false;
            if (!stored_.empty()) reader_ = file_.file->read_unit(work_.unit, stored_);
        }
        while (range_ < work_.ranges.size()) {
            check_cancelled();
            if (context_.request.limit &&
                context_.rows_given.load(std::memory_order_relaxed) >= *context_.request.limit)
                return false;
            const uint64_t end = work_.ranges[range_].second;
            if (row_ >= end) {
                if (++range_ < work_.ranges.size()) row_ = work_.ranges[range_].first;
                continue;
            }
            size_t count = static_cast<size_t>(std::min<uint64_t>(end - row_, chunk_rows()));
            begin_ = row_;
            count_ = count;
            row_ += count;
            count_event(ProfileEvent::ScannedRows, count);
            if (auto* query = QueryContext::current()) query->progress_rows.fetch_add(count, std::memory_order_relaxed);
            if (!filter_chunk()) continue;
            context_.rows_given.fetch_add(selected(), std::memory_order_relaxed);
            count_event(ProfileEvent::SelectedRows, selected());
            if (wanted && reads_faster_whole()) {
                *wanted = std::move(selection_);
                all_ = true;
                columns_.assign(columns_.size(), nullptr);
            }
            give_columns(batch);
            return true;
        }
        keep_equality_deletes();
        return false;
    }

    size_t chunk_rows() const {
        size_t rows = context_.source->options().batch_rows;
        // Nothing is read: larger steps.
        if (stored_.empty() && rows > 1000) rows = 65536;
        return rows;
    }

    /// All rows of the chunk, or those in selection_.
    const Selection* selection() const { return all_ ? nullptr : &selection_; }
    size_t selected() const { return all_ ? count_ : selection_.size(); }

    /// Selects the rows that pass; false where there are none.
    bool filter_chunk() {
        all_ = true;
        columns_.assign(context_.request.columns.size(), nullptr);
        uses_left_ = filters_left_;
        deleted_.clear();
        if (file_.deletes.positions) file_.deletes.positions->in_range(first_row_ + begin_, count_, deleted_);
        if (known_) add_known_deletes();
        // Columns are read faster whole than for a selection, so that few deletes wait until filters have left few rows.
        const bool late = filters_cannot_fail_ && deleted_.size() <= count_ / kLateDeletesShare;
        if (!late && !deleted_.empty()) {
            found_ = nullptr;  // equality deletes will not see all rows
            if (!apply_position_deletes()) return false;
        }
        if (!apply_runtime_filters()) return false;
        size_t filter = 0;
        for (const auto& stage : context_.stages) {
            if (stage.file_constant || work_.all_match) continue;
            if (!apply_stage(stage, filters_[filter++])) return false;
        }
        if (!known_ && !apply_equality_deletes()) return false;
        return !late || apply_position_deletes();
    }

    /// Whether most rows are selected, everywhere, and nothing that is wanted of them has been read.
    bool reads_faster_whole() const {
        if (all_ || selection_.size() < count_ / 4 * 3) return false;
        for (size_t i = 0; i < columns_.size(); ++i)
            if (columns_[i] && is_output(i) && !file_.constants[i]) return false;
        // A page of which no row is selected should not be read.
        constexpr size_t kStep = 64, kLongestGap = 1024;
        size_t at = 0;
        for (size_t next = kStep; next < selection_.size(); at = next, next += kStep)
            if (selection_[next] - selection_[at] > kStep + kLongestGap) return false;
        return selection_.front() <= kLongestGap && count_ - selection_[at] <= kStep + kLongestGap;
    }

    void give_columns(Batch& batch) {
        batch.rows = selected();
        batch.columns.clear();
        for (size_t i = 0; i < columns_.size(); ++i) {
            if (is_output(i))
                batch.columns.push_back(column(i));
            else if (columns_[i])
                batch.columns.push_back(columns_[i]);
            else
                batch.columns.push_back(Vector::defaults(type_of(i), batch.rows));
        }
    }

    const TypePtr& type_of(size_t i) const { return context_.source->columns()[context_.request.columns[i]].type; }

    /// A request column's values for the selected rows; read at the first call.
    const VectorPtr& column(size_t i) {
        if (!columns_[i]) columns_[i] = make_column(i);
        return columns_[i];
    }

    VectorPtr make_column(size_t i) {
        if (file_.constants[i]) return Vector::constant(file_.constants[i], selected());
        const auto virtual_column = context_.source->virtual_column(context_.request.columns[i]);
        if (!virtual_column) return reader_->read(static_cast<size_t>(reader_index_[i]), begin_, count_, selection());
        if (*virtual_column == VirtualColumn::RowNumber)
            return row_numbers(type_of(i), static_cast<int64_t>(first_row_ + begin_));
        VectorPtr stored;
        if (reader_index_[i] >= 0)
            stored = reader_->read(static_cast<size_t>(reader_index_[i]), begin_, count_, selection());
        return lineage(*virtual_column, stored, type_of(i));
    }

    VectorPtr row_numbers(const TypePtr& type, int64_t first) const {
        auto values = Buffer::allocate(selected() * sizeof(int64_t));
        int64_t* out = values->mutable_as<int64_t>();
        for (size_t i = 0; i < selected(); ++i) out[i] = first + static_cast<int64_t>(all_ ? i : selection_[i]);
        return Vector::flat(type, selected(), std::move(values));
    }

    /// Row lineage (spec: Row Lineage): what the file stores, else inherited; NULL in files that were never given row ids.
    VectorPtr lineage(VirtualColumn which, const VectorPtr& stored, const TypePtr& type) const {
        const auto& file = file_.planned->file;
        const auto first_row_id = file.manifest->first_row_id(file.entry);
        VectorPtr inherited;
        if (!first_row_id)
            inherited = Vector::defaults(type, selected());
        else if (which == VirtualColumn::RowId)
            inherited = row_numbers(type, *first_row_id + static_cast<int64_t>(first_row_ + begin_));
        else
            inherited = Vector::constant(make_value<int64_t>(type, file.sequence_number()), selected());
        if (!stored) return inherited;
        VectorBuilder builder(type);
        builder.reserve(selected());
        for (size_t i = 0; i < selected(); ++i) builder.append_from(stored->is_null(i) ? *inherited : *stored, i);
        return builder.finish();
    }

    bool is_output(size_t i) const { return context_.request.output.empty() || context_.request.output[i]; }

    /// A filter has used a column, which is let go where nobody reads it after that.
    void used(size_t i) {
        if (uses_left_[i] > 0 && --uses_left_[i] == 0 && !is_output(i)) columns_[i] = nullptr;
    }

    /// Keeps of the selected rows those that `kept` (positions among them) names. False where none is left.
    bool keep(Selection kept) {
        if (kept.size() == selected()) return true;
        if (kept.empty()) return false;
        for (auto& column : columns_)
            if (column) column = gather(column, kept);
        if (all_) {
            selection_ = std::move(kept);
            all_ = false;
        } else {
            for (size_t i = 0; i < kept.size(); ++i) selection_[i] = selection_[kept[i]];
            selection_.resize(kept.size());
        }
        return true;
    }

    bool apply_stage(const FilterStage& stage, exec::Filter& filter) {
        Batch batch;
        batch.rows = selected();
        batch.columns.resize(columns_.size());
        for (const size_t i : stage.columns) batch.columns[i] = column(i);
        Selection kept = filter.select(batch);
        for (const size_t i : stage.columns) used(i);
        return keep(std::move(kept));
    }

    bool apply_runtime_filters() {
        for (size_t f = 0; f < context_.request.runtime_filters.size(); ++f) {
            const auto& filter = *context_.request.runtime_filters[f];
            if (!filter.ready.load(std::memory_order_acquire)) continue;
            Trial& trial = trials_[f];
            if (trial.batches >= kTrialBatches &&
                static_cast<double>(trial.passed) > kUselessRatio * static_cast<double>(trial.rows))
                continue;
            const auto content = filter.content();
            if (!content) continue;
            const size_t before = selected();
            Selection passing = trial.test.passing_rows(content, column(filter.column));
            used(filter.column);
            ++trial.batches;
            trial.rows += before;
            trial.passed += passing.size();
            if (!keep(std::move(passing))) return false;
        }
        return true;
    }

    /// Takes the rows in deleted_ out of the selected ones.
    bool apply_position_deletes() {
        if (deleted_.empty()) return true;
        Selection kept;
        const auto rows = static_cast<uint32_t>(selected());
        if (all_) {
            constexpr uint32_t kStep = 8;  // of a fixed size: vectorized; what is too much is written over
            kept.resize(rows - deleted_.size() + kStep);
            uint32_t* out = kept.data();
            uint32_t row = 0;
            const auto take_until = [&](uint32_t end) {
                for (uint32_t at = row; at < end; at += kStep)
                    for (uint32_t k = 0; k < kStep; ++k) out[at - row + k] = at + k;
                out += end - row;
                row = end + 1;
            };
            for (const uint32_t gone : deleted_) take_until(gone);
            take_until(rows);
            kept.resize(rows - deleted_.size());
            return keep(std::move(kept));
        }
        kept.reserve(rows);
        auto gone = deleted_.begin();
        for (uint32_t i = 0; i < rows; ++i) {
            while (gone != deleted_.end() && *gone < selection_[i]) ++gone;
            if (gone == deleted_.end() || *gone != selection_[i]) kept.push_back(i);
        }
        return keep(std::move(kept));
    }

    /// deleted_ with the rows of this chunk that are known to be deleted by equality.
    void add_known_deletes() {
        DeletedPositions(known_).in_range(begin_, count_, by_equality_);
        if (deleted_.empty()) return deleted_.swap(by_equality_);
        Selection both;
        std::set_union(deleted_.begin(), deleted_.end(), by_equality_.begin(), by_equality_.end(),
                       std::back_inserter(both));
        deleted_ = std::move(both);
    }

    bool apply_equality_deletes() {
        if (file_.deletes.equality.empty()) return true;
        std::vector<VectorPtr> keys;
        for (size_t k = 0; k < file_.keys.size(); ++k) {
            const int reader = reader_index_[file_.columns.size() + k];
            const auto& read = file_.key_columns[k];
            VectorPtr column = reader >= 0    ? reader_->read(static_cast<size_t>(reader), begin_, count_, selection())
                               : read.missing ? Vector::constant(read.missing, selected())
                                              : Vector::defaults(read.type, selected());
            keys.push_back(file_.keys[k].values(column));
        }
        std::vector<uint8_t> left(selected(), 1);
        const int64_t sequence = file_.planned->file.sequence_number();
        bool any = false;
        for (size_t d = 0; d < file_.deletes.equality.size(); ++d) {
            std::vector<VectorPtr> columns;
            for (const size_t k : file_.delete_keys[d]) columns.push_back(keys[k]);
            any = file_.deletes.equality[d]->mark(columns, sequence, left) || any;
        }
        if (!any) return true;
        Selection kept;
        for (size_t i = 0; i < left.size(); ++i)
            if (left[i])
                kept.push_back(static_cast<uint32_t>(i));
            else if (found_)
                found_->push_back(begin_ + i);
        return keep(std::move(kept));
    }

    struct Trial {
        size_t batches = 0;
        uint64_t rows = 0, passed = 0;
        RuntimeFilterTest test;
    };

    ScanContext& context_;
    UnitWork work_;
    const OpenedFile& file_;
    uint64_t first_row_;
    std::vector<file::ReadField> stored_;
    std::vector<int> reader_index_;  // of file_.columns, then file_.key_columns
    std::unique_ptr<file::UnitReader> reader_;
    std::vector<exec::Filter> filters_;
    std::vector<Trial> trials_;
    bool filters_cannot_fail_ = true;  // on rows that are deleted
    // Rows deleted by equality, from the unit's beginning: known from another query, or being found. Both null: neither.
    std::string equality_key_;
    std::shared_ptr<const RowPositions> known_;
    std::shared_ptr<RowPositions> found_;
    bool started_ = false;

    size_t range_ = 0;
    uint64_t row_ = 0;
    // The chunk being read.
    uint64_t begin_ = 0;
    size_t count_ = 0;
    bool all_ = true;
    Selection selection_;
    Selection deleted_;      // of the chunk, by position
    Selection by_equality_;  // likewise, the known ones
    std::vector<VectorPtr> columns_;
    std::vector<uint32_t> filters_left_;  // of each column: how many filters read it
    std::vector<uint32_t> uses_left_;     // the same, of those still to come in this chunk
};

}  // namespace

std::unique_ptr<plan::ScanTask> make_unit_task(ScanContext& context, UnitWork work) {
    return std::make_unique<UnitTask>(context, std::move(work));
}

}  // namespace firn::table
