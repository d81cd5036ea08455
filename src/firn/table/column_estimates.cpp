#include "firn/table/column_estimates.h"

#include <algorithm>
#include <charconv>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/base/thread_pool.h"

namespace firn::table {
namespace {

// Beyond these, looking at every file would cost more than a better plan saves.
constexpr size_t kMostManifests = 8;
constexpr int64_t kMostFiles = 2000;

std::optional<double> whole_number(const std::map<std::string, std::string>& properties, const std::string& name) {
    const auto found = properties.find(name);
    if (found == properties.end()) return std::nullopt;
    uint64_t value = 0;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return static_cast<double>(value);
}

/// Distinct values as the theta sketch of the snapshot, or of its nearest ancestor that has one, says (Puffin spec: blob
/// type apache-datasketches-theta-v1). The metadata repeats the sketch's estimate, so that no sketch has to be read.
std::optional<double> distinct_values(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot,
                                      int32_t field_id) {
    const iceberg::Snapshot* at = &snapshot;
    for (size_t steps = 0; at && steps <= metadata.snapshots.size(); ++steps) {
        for (const auto& file : metadata.statistics) {
            if (file.snapshot_id != at->snapshot_id) continue;
            for (const auto& blob : file.blobs)
                if (blob.type == "apache-datasketches-theta-v1" && blob.fields == std::vector<int32_t>{field_id})
                    if (const auto distinct = whole_number(blob.properties, "ndv")) return distinct;
        }
        at = at->parent_snapshot_id ? metadata.snapshot(*at->parent_snapshot_id) : nullptr;
    }
    return std::nullopt;
}

/// Bounds and counts of one column over files.
class ColumnSummary {
public:
    ColumnSummary(const IcebergSource& source, const iceberg::NestedField& field) : source_(source), field_(field) {}

    void add(const iceberg::FileRef& file, const iceberg::PartitionSpec* spec) {
        const auto metrics = file.manifest->metrics(file.entry, field_.id);
        rows_ += static_cast<double>(file.record_count());
        if (metrics.null_count)
            nulls_ += static_cast<double>(*metrics.null_count);
        else
            nulls_known_ = false;
        auto range = iceberg::known_range(file, spec, *source_.choice().schema, field_.id);
        if (!range.may_be_value) return;
        widen(lower_, range.lower, lower_known_, std::partial_ordering::less);
        widen(upper_, range.upper, upper_known_, std::partial_ordering::greater);
        std::move(range.owners.begin(), range.owners.end(), std::back_inserter(owners_));
    }

    void put_into(plan::ColumnEstimate& estimate, const TypePtr& type) const {
        if (nulls_known_ && rows_ > 0) estimate.null_fraction = std::min(1.0, nulls_ / rows_);
        // SQL orders UUIDs in another way than bounds do.
        if (!lower_known_ || !upper_known_ || !lower_ || !upper_ || field_.type->kind == iceberg::TypeKind::Uuid)
            return;
        estimate.min = copy_owned(datum_vector(*lower_, strip_nullable(type)));
        estimate.max = copy_owned(datum_vector(*upper_, strip_nullable(type)));
    }

private:
    static void widen(std::optional<iceberg::Datum>& bound, const std::optional<iceberg::Datum>& other, bool& known,
                      std::partial_ordering wanted) {
        if (!other || (bound && iceberg::compare_sql(*other, *bound) == std::partial_ordering::unordered)) {
            known = false;
        } else if (!bound || iceberg::compare_sql(*other, *bound) == wanted) {
            bound = other;
        }
    }

    const IcebergSource& source_;
    const iceberg::NestedField& field_;
    double rows_ = 0, nulls_ = 0;
    bool nulls_known_ = true, lower_known_ = true, upper_known_ = true;
    std::optional<iceberg::Datum> lower_, upper_;
    std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace

std::optional<Manifests> manifests_for_estimates(const IcebergSource& source) {
    if (!source.choice().snapshot) return std::nullopt;
    try {
        const auto list = source.table().manifest_list(*source.choice().snapshot);
        std::vector<const iceberg::ManifestFile*> listed;
        int64_t files = 0;
        for (const auto& manifest : list->manifests()) {
            if (manifest.content != iceberg::ManifestContent::Data || !manifest.may_have_live_files()) continue;
            files += manifest.added_files.value_or(kMostFiles) + manifest.existing_files.value_or(0);
            listed.push_back(&manifest);
            if (listed.size() > kMostManifests || files > kMostFiles) return std::nullopt;
        }
        Manifests manifests(listed.size());
        // At once where each is a round trip.
        parallel_for(listed.size(), source.table().store().is_remote() ? listed.size() : 1,
                     [&](size_t i) { manifests[i] = source.table().manifest(*listed[i]); });
        return manifests;
    } catch (const Error& error) {
        if (ends_query(error)) throw;
        return std::nullopt;
    }
}

plan::ColumnEstimate estimate_column(const IcebergSource& source, const std::optional<Manifests>& manifests,
                                     const iceberg::NestedField& field, const TypePtr& type) {
    plan::ColumnEstimate estimate;
    const auto* snapshot = source.choice().snapshot;
    if (!snapshot || !field.type->is_primitive()) return estimate;
    estimate.distinct = distinct_values(source.table().metadata(), *snapshot, field.id);
    if (!manifests) return estimate;
    try {
        ColumnSummary summary(source, field);
        for (const auto& manifest : *manifests) {
            const auto* spec = source.table().metadata().spec(manifest->spec_id());
            for (uint32_t i = 0; i < manifest->size(); ++i)
                if (manifest->is_live(i)) summary.add({manifest, i}, spec);
        }
        summary.put_into(estimate, type);
    } catch (const Error& error) {
        if (ends_query(error)) throw;
    }
    return estimate;
}

}  // namespace firn::table
