#include "firn/iceberg/scan_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/base/thread_pool.h"
#include "firn/iceberg/delete_index.h"

namespace firn::iceberg {
namespace {

/// The type of a partition field's values, given the source column's present type; null where nothing can be said.
struct FieldSource {
    const NestedField* column = nullptr;
    TypePtr partition_type;
};

std::optional<FieldSource> source_of(const PartitionField& field, const Schema& schema) {
    if (field.source_ids.size() != 1) return std::nullopt;
    const NestedField* column = schema.field(field.source_id());
    if (!column || !column->type->is_primitive() || !field.transform.accepts(*column->type)) return std::nullopt;
    return FieldSource{column, field.transform.result_type(column->type)};
}

/// From a manifest's summaries: what all its files have in the columns that partition fields come from.
ValueRange summary_range(const ManifestFile& manifest, const PartitionSpec& spec, const Schema& schema,
                         int32_t field_id) {
    ValueRange range;
    for (size_t i = 0; i < spec.fields.size() && i < manifest.partitions.size(); ++i) {
        const PartitionField& field = spec.fields[i];
        if (field.source_id() != field_id) continue;
        const auto source = source_of(field, schema);
        if (!source) continue;
        const FieldSummary& summary = manifest.partitions[i];
        const TypeKind kind = source->partition_type->kind;
        const bool floats = kind == TypeKind::Float || kind == TypeKind::Double;
        const bool may_be_nan = floats && summary.contains_nan.value_or(true);
        Datum lower, upper;
        if (summary.lower_bound.has_value() != summary.upper_bound.has_value()) continue;
        if (summary.lower_bound) {
            const auto low = decode_value(*source->partition_type, *summary.lower_bound);
            const auto high = decode_value(*source->partition_type, *summary.upper_bound);
            if (!low || !high) continue;
            lower = *low;
            upper = *high;
        } else if (!summary.contains_null && !may_be_nan) {
            continue;  // no value, no NULL and no NaN: an inconsistent summary
        }
        range.intersect(range_of_partition(field.transform, *source->column->type, lower, upper, summary.contains_null,
                                           summary.contains_nan.value_or(true)));
    }
    return range;
}

Verdict judge_manifest(const ManifestFile& manifest, const TableMetadata& metadata, const Schema& schema,
                       const Predicate& predicate) {
    if (!manifest.has_partitions) return {};
    const PartitionSpec* spec = metadata.spec(manifest.spec_id);
    if (!spec) return {};
    return judge(predicate, [&](int32_t id) { return summary_range(manifest, *spec, schema, id); });
}

/// A value of a partition tuple as its field's present type has it; nothing where it cannot be.
std::optional<Datum> tuple_value(const FileRef& file, const PartitionField& field, const TypePtr& type) {
    const auto at = file.manifest->find_partition_field(field.field_id);
    if (!at) return std::nullopt;
    std::vector<Datum> tuple(file.manifest->partition_fields());
    file.manifest->partition(file.entry, tuple);
    const Datum& value = tuple[*at];
    if (value.is_null()) return value;
    if (auto promoted = promote(value, *type)) return promoted;
    // Avro marks day's values as dates: the number is the same.
    if (value.is_integral() && type->kind == TypeKind::Int) return Datum::integral(TypeKind::Int, value.integer());
    return std::nullopt;
}

ValueRange tuple_range(const FileRef& file, const PartitionSpec& spec, const Schema& schema, int32_t field_id) {
    ValueRange range;
    for (const auto& field : spec.fields) {
        if (field.source_id() != field_id) continue;
        const auto source = source_of(field, schema);
        if (!source) continue;
        const auto value = tuple_value(file, field, source->partition_type);
        if (!value) continue;
        ValueRange one = range_of_partition(
            field.transform, *source->column->type, *value, *value, value->is_null(),
            value->is_nan() || (!value->is_null() && field.transform.kind() != TransformKind::Identity));
        if (value->is_nan()) one.may_be_value = false;
        range.intersect(one);
    }
    return range;
}

ValueRange metrics_range(const FileRef& file, const Schema& schema, int32_t field_id) {
    ValueRange range;
    const FieldPlace* place = schema.place(field_id);
    if (!place || place->repeated || !place->field->type->is_primitive()) return range;
    const ColumnMetrics metrics = file.manifest->metrics(file.entry, field_id);
    const int64_t rows = file.record_count();
    // Below an optional struct a writer may have counted only the rows that have the struct.
    const bool counts_rows = place->parent_id < 0 || metrics.value_count.value_or(-1) == rows;
    if (metrics.null_count && *metrics.null_count == 0 && counts_rows) range.may_be_null = false;
    if (metrics.nan_count && *metrics.nan_count == 0) range.may_be_nan = false;
    const int64_t values = metrics.value_count.value_or(rows);
    if (metrics.null_count && *metrics.null_count >= std::max(values, rows)) {
        range.may_be_value = false;
        range.may_be_nan = false;
    } else if (metrics.nan_count && *metrics.nan_count + metrics.null_count.value_or(0) >= std::max(values, rows)) {
        range.may_be_value = false;
    }
    const bool exact = file.manifest->format(file.entry) != FileFormat::Orc;
    const Bounds bounds = decode_bounds(*place->field->type, metrics.lower_bound, metrics.upper_bound, exact);
    if (bounds.lower) range.lower = bounds.lower->value;
    if (bounds.upper) range.upper = bounds.upper->value;
    return range;
}

/// One manifest's live files that may match, in order.
struct ManifestResult {
    std::vector<PlannedFile> files;
    size_t seen = 0, by_partition = 0, by_bounds = 0, counted = 0;
    uint64_t rows_counted = 0;
};

/// A manifest to read.
struct ListedManifest {
    const ManifestFile* file = nullptr;
    bool all_match = false;  // every row of its files passes, by the list's summaries
};

class Planner {
public:
    Planner(const TableFiles& table, const Schema& schema, const Predicate& predicate, const ScanPlanOptions& options)
        : table_(table),
          schema_(schema),
          predicate_(predicate),
          options_(options),
          trivial_(predicate.kind == Predicate::Kind::True) {
        plan_.memory = std::make_shared<MemoryCharge>();
    }

    ScanPlan run(const Snapshot& snapshot) {
        const auto list = table_.manifest_list(snapshot);
        std::vector<ListedManifest> data;
        std::vector<const ManifestFile*> deletes;
        for (const auto& manifest : list->manifests()) {
            if (!manifest.may_have_live_files()) continue;
            if (manifest.content == ManifestContent::Deletes) {
                ++plan_.delete_manifests;
                deletes.push_back(&manifest);
                continue;
            }
            ++plan_.manifests;
            const Verdict verdict = trivial_         ? Verdict{true, true}
                                    : options_.prune ? judge_manifest(manifest, table_.metadata(), schema_, predicate_)
                                                     : Verdict{};
            if (!verdict.might) {
                ++plan_.manifests_pruned;
                continue;
            }
            data.push_back({&manifest, verdict.all});
        }
        if (!deletes.empty()) options_.count_only = false;
        read_ahead(data, deletes);
        read_data(data);
        if (!plan_.files.empty() && !deletes.empty()) assign_deletes(deletes);
        count();
        return std::move(plan_);
    }

private:
    /// Threads that read manifests. Where each costs a round trip, waiting and not work is what takes the time.
    size_t readers() const {
        constexpr size_t kRemoteReaders = 32;
        return table_.store().is_remote() ? std::max(options_.threads, kRemoteReaders) : options_.threads;
    }

    /// Where each manifest costs a round trip, those of deletes come with those of data, though they may turn out not to be
    /// needed. They are kept by the cache; without one there is nothing to do ahead.
    void read_ahead(const std::vector<ListedManifest>& data, const std::vector<const ManifestFile*>& deletes) {
        if (!table_.store().is_remote() || !table_.cache() || data.empty() || deletes.empty()) return;
        std::vector<const ManifestFile*> all = deletes;
        for (const auto& listed : data) all.push_back(listed.file);
        std::vector<std::shared_ptr<const Manifest>> read(all.size());
        parallel_for(all.size(), readers(), [&](size_t i) {
            check_cancelled();
            read[i] = table_.manifest(*all[i]);
        });
        ahead_ = std::move(read);
    }

    void read_data(const std::vector<ListedManifest>& manifests) {
        std::vector<ManifestResult> results(manifests.size());
        parallel_for(manifests.size(), readers(), [&](size_t i) {
            check_cancelled();
            results[i] = read_manifest(manifests[i]);
        });
        size_t total = 0;
        for (const auto& result : results) total += result.files.size();
        plan_.files.reserve(total);
        for (auto& result : results) {
            std::move(result.files.begin(), result.files.end(), std::back_inserter(plan_.files));
            plan_.files_seen += result.seen;
            plan_.files_pruned_by_partition += result.by_partition;
            plan_.files_pruned_by_bounds += result.by_bounds;
            plan_.files_counted += result.counted;
            plan_.rows_counted += result.rows_counted;
        }
    }

    ManifestResult read_manifest(const ListedManifest& listed) const {
        ManifestResult result;
        const auto manifest = table_.manifest(*listed.file);
        if (manifest->content() == ManifestContent::Deletes)
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
                 "Manifest {} holds delete files, but the manifest list says that it holds data files",
                 manifest->file());
        if (options_.count_only && listed.all_match) {
            result.seen = result.counted = manifest->live_files();
            result.rows_counted = manifest->live_rows();
            return result;
        }
        const PartitionSpec* spec = table_.metadata().spec(manifest->spec_id());
        if (trivial_) result.files.reserve(manifest->live_files());
        // Files of one partition are judged once: equal bytes are equal tuples.
        std::unordered_map<std::string_view, Verdict> by_tuple;
        for (uint32_t i = 0; i < manifest->size(); ++i) {
            if (!manifest->is_live(i)) continue;
            ++result.seen;
            PlannedFile planned{{manifest, i}, spec, {}, trivial_};
            if (!trivial_) {
                const Verdict verdict = judge_file(planned.file, spec, by_tuple, result);
                if (options_.prune && !verdict.might) continue;
                planned.all_match = verdict.all;
            }
            result.files.push_back(std::move(planned));
        }
        // A manifest that the plan keeps stays in memory for as long as the query, whatever the cache does.
        if (!result.files.empty())
            plan_.memory->add(manifest->memory_bytes() + result.files.capacity() * sizeof(PlannedFile));
        return result;
    }

    Verdict judge_file(const FileRef& file, const PartitionSpec* spec,
                       std::unordered_map<std::string_view, Verdict>& by_tuple, ManifestResult& result) const {
        if (spec && !spec->fields.empty()) {
            const auto [found, fresh] = by_tuple.try_emplace(file.manifest->partition_bytes(file.entry));
            if (fresh)
                found->second = judge(predicate_, [&](int32_t id) { return tuple_range(file, *spec, schema_, id); });
            if (!found->second.might) {
                ++result.by_partition;
                return found->second;
            }
            if (found->second.all) return found->second;
        }
        const Verdict verdict = judge(predicate_, [&](int32_t id) { return known_range(file, spec, schema_, id); });
        if (!verdict.might) ++result.by_bounds;
        return verdict;
    }

    void assign_deletes(const std::vector<const ManifestFile*>& manifests) {
        std::vector<std::shared_ptr<const Manifest>> read(manifests.size());
        parallel_for(manifests.size(), readers(), [&](size_t i) { read[i] = table_.manifest(*manifests[i]); });
        DeleteIndex index(table_, std::move(read));
        for (auto& planned : plan_.files) planned.deletes = index.find(planned);
        plan_.delete_files = index.take_files();
        plan_.delete_scopes = index.take_scopes();
    }

    void count() const {
        count_event(ProfileEvent::IcebergPartitionPrunedManifestFiles, plan_.manifests_pruned);
        if (!options_.prune) return;
        count_event(ProfileEvent::IcebergPartitionPrunedFiles, plan_.files_pruned_by_partition);
        count_event(ProfileEvent::IcebergMinMaxIndexPrunedFiles, plan_.files_pruned_by_bounds);
    }

    const TableFiles& table_;
    const Schema& schema_;
    const Predicate& predicate_;
    ScanPlanOptions options_;
    bool trivial_;
    ScanPlan plan_;
    std::vector<std::shared_ptr<const Manifest>> ahead_;  // keeps them from falling out of the cache
};

}  // namespace

ValueRange known_range(const FileRef& file, const PartitionSpec* spec, const Schema& schema, int32_t field_id) {
    ValueRange range = metrics_range(file, schema, field_id);
    if (spec) range.intersect(tuple_range(file, *spec, schema, field_id));
    return range;
}

std::optional<Datum> identity_partition_value(const FileRef& file, const PartitionSpec* spec, int32_t source_id) {
    if (!spec) return std::nullopt;
    for (const auto& field : spec->fields) {
        if (field.source_ids.size() != 1 || field.source_id() != source_id ||
            field.transform.kind() != TransformKind::Identity)
            continue;
        const auto at = file.manifest->find_partition_field(field.field_id);
        if (!at) continue;
        std::vector<Datum> tuple(file.manifest->partition_fields());
        file.manifest->partition(file.entry, tuple);
        return tuple[*at];
    }
    return std::nullopt;
}

ScanPlan plan_scan(const TableFiles& table, const Snapshot& snapshot, const Schema& schema, const Predicate& predicate,
                   const ScanPlanOptions& options) {
    return Planner(table, schema, predicate, options).run(snapshot);
}

}  // namespace firn::iceberg
