#include "firn/table/iceberg_scan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/table/data_files.h"
#include "firn/table/file_columns.h"
#include "firn/table/metadata_answers.h"
#include "firn/table/projection.h"
#include "firn/table/unit_pruning.h"

namespace firn::table {
namespace {

/// Of remote storage: how many files and units are asked for before their turn.
constexpr size_t kFilesAhead = 24;
constexpr size_t kUnitsAhead = 4;

std::vector<size_t> columns_of(const plan::Expression& expression, size_t columns) {
    std::vector<bool> used(columns, false);
    plan::mark_columns(expression, used);
    std::vector<size_t> out;
    for (size_t i = 0; i < columns; ++i)
        if (used[i]) out.push_back(i);
    return out;
}

}  // namespace

IcebergScan::IcebergScan(const IcebergSource& source, const plan::ScanRequest& request) {
    context_.source = &source;
    context_.request = request;
    std::vector<iceberg::PredicatePtr> conjuncts;
    context_.predicate_exact = true;
    for (const auto& filter : request.filters) {
        auto one = filter_predicate(*filter, [&](size_t column) { return source.field(request.columns[column]); });
        context_.predicate_exact = context_.predicate_exact && one.exact;
        conjuncts.push_back(std::move(one.predicate));
    }
    context_.predicate = iceberg::Predicate::conjunction(std::move(conjuncts));
    build_stages();
    if (!source.choice().snapshot) {
        row_estimate_ = 0;
        return;
    }
    const auto counts_rows = [](const plan::MetadataAggregate& aggregate) {
        return aggregate.kind == plan::MetadataAggregate::Kind::Count && aggregate.count_rows;
    };
    iceberg::ScanPlanOptions options{source.options().prune, source.options().threads, false};
    options.count_only = !request.aggregates.empty() &&
                         std::all_of(request.aggregates.begin(), request.aggregates.end(), counts_rows) &&
                         (request.filters.empty() || context_.predicate_exact);
    context_.plan = iceberg::plan_scan(source.table(), *source.choice().snapshot, *source.choice().schema,
                                       *context_.predicate, options);
    context_.deletes = std::make_unique<DeleteLoader>(source.table(), *source.choice().schema, context_.plan,
                                                      source.options().threads);
    if (!request.aggregates.empty()) answer_from_metadata();
    order_files();
    uint64_t rows = 0;
    for (const auto& file : context_.plan.files)
        rows += static_cast<uint64_t>(std::max<int64_t>(0, file.file.record_count()));
    row_estimate_ = rows;
    if (auto* query = QueryContext::current()) query->progress_total_rows += rows;
}

void IcebergScan::build_stages() {
    const auto& request = context_.request;
    for (const auto& filter : request.filters) {
        auto columns = columns_of(*filter, request.columns.size());
        const bool constant = std::all_of(columns.begin(), columns.end(), [&](size_t column) {
            const auto virtual_column = context_.source->virtual_column(request.columns[column]);
            return virtual_column && is_file_constant(*virtual_column);
        });
        const auto same = std::find_if(context_.stages.begin(), context_.stages.end(),
                                       [&](const FilterStage& stage) { return stage.columns == columns; });
        if (same != context_.stages.end())
            same->conjuncts.push_back(filter);
        else
            context_.stages.push_back({std::move(columns), {filter}, constant});
    }
}

/// A top-N above wants the files of the best bounds first, so that its threshold skips the others.
void IcebergScan::order_files() {
    const auto& request = context_.request;
    if (!request.order_column) return;
    const auto* field = context_.source->field(request.columns[*request.order_column]);
    if (!field) return;
    const bool descending = request.order_descending;
    std::vector<std::pair<iceberg::ValueRange, iceberg::PlannedFile>> keyed;
    for (auto& file : context_.plan.files) {
        auto range = iceberg::known_range(file.file, file.spec, *context_.source->choice().schema, field->id);
        keyed.emplace_back(std::move(range), std::move(file));
    }
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        const auto& left = descending ? a.first.upper : a.first.lower;
        const auto& right = descending ? b.first.upper : b.first.lower;
        if (!left || !right) return left.has_value() && !right.has_value();
        const auto order = iceberg::compare_sql(*left, *right);
        return descending ? order == std::partial_ordering::greater : order == std::partial_ordering::less;
    });
    context_.plan.files.clear();
    for (auto& [range, file] : keyed) context_.plan.files.push_back(std::move(file));
}

void IcebergScan::answer_from_metadata() {
    MetadataAnswers answers(*context_.source, context_.request);
    std::vector<iceberg::PlannedFile> rest;
    answers.add_rows(context_.plan.rows_counted);
    files_answered_ = context_.plan.files_counted;
    for (auto& planned : context_.plan.files) {
        const bool whole = context_.request.filters.empty() || (planned.all_match && context_.predicate_exact);
        if (whole && planned.deletes.empty() && answers.add(planned))
            ++files_answered_;
        else
            rest.push_back(std::move(planned));
    }
    context_.plan.files = std::move(rest);
    if (files_answered_ == 0) return;
    count_event(ProfileEvent::IcebergFilesAnsweredFromMetadata, files_answered_);
    partials_ = answers.finish();
}

bool IcebergScan::limit_reached() const {
    return context_.request.limit && context_.rows_given.load(std::memory_order_relaxed) >= *context_.request.limit;
}

/// Cuts the last unit into a piece for each worker where whole units would leave some of them idle. A page that two pieces
/// share is decoded twice, and the dictionaries by each, so units that can be dealt out evenly stay whole, and so do those
/// of formats that cannot pass over rows cheaply and of storage that would be asked once for each piece.
void IcebergScan::split_last(UnitWork& work) {
    constexpr uint64_t kLeastRows = 1 << 16;
    const size_t threads = context_.source->options().threads;
    if (threads < 2 || units_given_ % threads == 0 || work.continued || context_.request.limit ||
        work.file->file->format() != file::Format::Parquet || context_.source->table().store().is_remote())
        return;
    uint64_t rows = 0;
    for (const auto& [begin, end] : work.ranges) rows += end - begin;
    const uint64_t pieces = std::min<uint64_t>(threads, rows / kLeastRows);
    if (pieces < 2) return;
    const auto ranges = std::move(work.ranges);
    work.ranges.clear();
    std::vector<UnitWork> parts(pieces, work);
    const uint64_t share = (rows + pieces - 1) / pieces;
    size_t piece = 0;
    uint64_t left = share;
    for (auto [begin, end] : ranges)
        while (begin < end) {
            const uint64_t stop = std::min(end, begin + left);
            parts[piece].ranges.emplace_back(begin, stop);
            left -= stop - begin;
            begin = stop;
            if (left > 0) continue;
            left = share;
            piece = std::min<size_t>(piece + 1, pieces - 1);
        }
    for (size_t i = 1; i < parts.size(); ++i) {
        parts[i].continued = true;
        if (!parts[i].ranges.empty()) units_.push_back(std::move(parts[i]));
    }
    work = std::move(parts[0]);
}

std::unique_ptr<plan::ScanTask> IcebergScan::next_task() {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (failed_ || limit_reached()) return nullptr;
        if (!units_.empty()) {
            UnitWork work = std::move(units_.front());
            units_.pop_front();
            ++units_given_;
            look_ahead_in_units();
            if (units_.empty() && next_file_ >= context_.plan.files.size() && opening_ == 0) split_last(work);
            lock.unlock();
            return make_unit_task(context_, std::move(work));
        }
        if (next_file_ >= context_.plan.files.size()) {
            // Another worker may still find units in the file that it opens.
            if (opening_ == 0) return nullptr;
            opened_.wait(lock);
            continue;
        }
        const size_t file = next_file_++;
        const auto& planned = context_.plan.files[file];
        look_ahead(file);
        ++opening_;
        lock.unlock();
        std::vector<UnitWork> found;
        std::exception_ptr error;
        try {
            check_cancelled();
            found = open(file);
        } catch (Error& failure) {
            if (failure.message().find(planned.file.path()) == std::string::npos)
                failure.add_context(fmt::format("In data file {}: ", planned.file.path()));
            error = std::make_exception_ptr(failure);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        --opening_;
        if (error) failed_ = true;
        std::move(found.begin(), found.end(), std::back_inserter(units_));
        look_ahead_in_units();
        opened_.notify_all();
        if (error) std::rethrow_exception(error);
    }
}

void IcebergScan::look_ahead(size_t file) {
    const auto& table = context_.source->table();
    const bool whole = !context_.request.limit;
    if (!table.store().is_remote()) return;
    // A LIMIT may be reached soon: fewer files are asked for in vain.
    const size_t window = whole ? kFilesAhead : 2;
    const size_t end = std::min(context_.plan.files.size(), file + 1 + window);
    for (asked_files_ = std::max(asked_files_, file); asked_files_ < end; ++asked_files_) {
        context_.deletes->ask_ahead(context_.plan.files[asked_files_]);
        FileAhead ahead = begin_opening(table, context_.plan.files[asked_files_].file);
        if (ahead.file) files_ahead_[asked_files_] = std::move(ahead);
    }
}

void IcebergScan::look_ahead_in_units() {
    if (!context_.source->table().store().is_remote()) return;
    for (size_t i = 0; i < std::min(units_.size(), kUnitsAhead); ++i) {
        UnitWork& work = units_[i];
        if (work.asked_ahead) continue;
        work.asked_ahead = true;
        std::vector<file::ReadField> reads;
        for (const auto* columns : {&work.file->columns, &work.file->key_columns})
            for (const auto& column : *columns)
                if (column.source >= 0 && column.type) reads.push_back(column);
        work.ahead = work.file->file->read_ahead(work.unit, reads);
    }
}

std::vector<UnitWork> IcebergScan::open(size_t file) {
    const auto& planned = context_.plan.files[file];
    FileAhead ahead;
    {
        std::lock_guard lock(mutex_);
        if (auto found = files_ahead_.extract(file)) ahead = std::move(found.mapped());
    }
    if (file_is_skipped(context_, planned)) return {};
    const auto& table = context_.source->table();
    auto opened = std::make_shared<OpenedFile>();
    opened->planned = &planned;
    opened->file = open_file(table, planned.file, std::move(ahead.file));
    count_event(ProfileEvent::EngineFileLikeReadFiles);
    const FileFields fields(*opened->file, table.metadata().name_mapping.get());
    resolve_columns(context_, fields, *opened);
    opened->deletes = context_.deletes->load(planned);
    std::map<int32_t, size_t> key_of_id;
    for (const auto& equality : opened->deletes.equality) {
        std::vector<size_t> keys;
        for (const int32_t id : equality->field_ids()) {
            const auto [found, fresh] = key_of_id.try_emplace(id, opened->keys.size());
            keys.push_back(found->second);
            if (!fresh) continue;
            KeyField key = context_.deletes->key_field(id);
            opened->key_columns.push_back(project_key(key, fields, *opened));
            opened->keys.push_back(std::move(key));
        }
        opened->delete_keys.push_back(std::move(keys));
    }
    return plan_units(context_, fields, opened);
}

std::vector<std::string> IcebergScan::explain() const {
    const auto& plan = context_.plan;
    std::vector<std::string> lines;
    const auto name = [&](int32_t id) {
        const auto* place = context_.source->choice().schema->place(id);
        return place ? place->name : fmt::format("field {}", id);
    };
    if (context_.source->choice().snapshot)
        lines.push_back(fmt::format("Snapshot: {}", context_.source->choice().snapshot->snapshot_id));
    if (!context_.request.filters.empty())
        lines.push_back(
            fmt::format("Prune by: {}{}", iceberg::to_string(*context_.predicate, name),
                        context_.source->options().prune ? "" : " (off: use_iceberg_partition_pruning = 0)"));
    lines.push_back(fmt::format("Manifests: {} of {} read, {} skipped by partition summaries",
                                plan.manifests - plan.manifests_pruned, plan.manifests, plan.manifests_pruned));
    const bool prune = context_.source->options().prune;
    const size_t by_partition = prune ? plan.files_pruned_by_partition : 0,
                 by_bounds = prune ? plan.files_pruned_by_bounds : 0;
    lines.push_back(fmt::format(
        "Data files: {} of {} to read, {} skipped by partition values, {} by column bounds, {} answered from metadata",
        plan.files_seen - by_partition - by_bounds - files_answered_, plan.files_seen, by_partition, by_bounds,
        files_answered_));
    if (!plan.delete_files.empty()) {
        size_t with_deletes = 0;
        for (const auto& file : plan.files) with_deletes += !file.deletes.empty();
        lines.push_back(fmt::format("Delete files: {}, for {} data files", plan.delete_files.size(), with_deletes));
    }
    return lines;
}

}  // namespace firn::table
