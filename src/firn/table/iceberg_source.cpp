#include "firn/table/iceberg_source.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include "firn/base/error.h"
#include "firn/table/column_estimates.h"
#include "firn/table/iceberg_scan.h"

namespace firn::table {
namespace {

constexpr size_t kMaxBatchRows = 16384;

struct VirtualDefinition {
    std::string_view name;
    VirtualColumn column;
};
constexpr VirtualDefinition kVirtualColumns[] = {
    {"_path", VirtualColumn::Path},    {"_file", VirtualColumn::File},
    {"_size", VirtualColumn::Size},    {"_time", VirtualColumn::Time},
    {"_etag", VirtualColumn::Etag},    {"_row_number", VirtualColumn::RowNumber},
    {"_row_id", VirtualColumn::RowId}, {"_last_updated_sequence_number", VirtualColumn::LastUpdatedSequenceNumber},
};

TypePtr virtual_type(VirtualColumn column) {
    switch (column) {
        case VirtualColumn::Path:
        case VirtualColumn::File:
        case VirtualColumn::Etag:
            return make_low_cardinality(make_type(TypeId::String));
        case VirtualColumn::Size:
            return make_nullable(make_type(TypeId::UInt64));
        case VirtualColumn::Time:
            return make_nullable(make_type(TypeId::DateTime));
        default:
            return make_nullable(make_type(TypeId::Int64));
    }
}

std::optional<int64_t> summary_number(const iceberg::Snapshot& snapshot, const std::string& name) {
    const auto found = snapshot.summary.find(name);
    if (found == snapshot.summary.end()) return std::nullopt;
    int64_t value = 0;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

}  // namespace

IcebergReadOptions IcebergReadOptions::from(const Settings& settings) {
    IcebergReadOptions options;
    options.types.time_as_time64 = settings.get_bool("iceberg_time_as_time64");
    options.prune = settings.get_bool("use_iceberg_partition_pruning");
    options.threads = settings.get_uint("max_threads");
    if (options.threads == 0) options.threads = std::max(1u, std::thread::hardware_concurrency());
    options.batch_rows = std::clamp<size_t>(settings.get_uint("max_block_size"), 1, kMaxBatchRows);
    return options;
}

SnapshotChoice choose_snapshot(const iceberg::TableMetadata& metadata, const Settings& settings) {
    const int64_t id = settings.get_int("iceberg_snapshot_id");
    const int64_t timestamp = settings.get_int("iceberg_timestamp_ms");
    const std::string ref = settings.get_string("iceberg_ref");
    const bool by_id = settings.is_changed("iceberg_snapshot_id") && id != 0;
    const bool by_time = settings.is_changed("iceberg_timestamp_ms") && timestamp != 0;
    if (by_id + by_time + !ref.empty() > 1)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Only one of iceberg_snapshot_id, iceberg_timestamp_ms and iceberg_ref can be given for the table of {}",
             metadata.file);
    SnapshotChoice choice{nullptr, &metadata.current_schema()};
    if (by_id) {
        choice.snapshot = metadata.snapshot(id);
        if (!choice.snapshot)
            fail(ErrorCode::BAD_ARGUMENTS, "Table metadata {} has no snapshot of id {} (expired, or never there)",
                 metadata.file, id);
        choice.schema = &metadata.schema_of(*choice.snapshot);
    } else if (by_time) {
        choice.snapshot = metadata.snapshot_at(timestamp);
        if (!choice.snapshot)
            fail(ErrorCode::BAD_ARGUMENTS, "Table metadata {} has no snapshot as old as iceberg_timestamp_ms = {}",
                 metadata.file, timestamp);
        choice.schema = &metadata.schema_of(*choice.snapshot);
    } else if (!ref.empty()) {
        const auto found = metadata.refs.find(ref);
        if (found == metadata.refs.end())
            fail(ErrorCode::BAD_ARGUMENTS, "Table metadata {} has no branch or tag '{}'", metadata.file, ref);
        choice.snapshot = metadata.snapshot(found->second.snapshot_id);
        if (!choice.snapshot)
            fail(ErrorCode::BAD_ARGUMENTS, "Table metadata {}: the snapshot {} of '{}' is gone", metadata.file,
                 found->second.snapshot_id, ref);
        if (found->second.is_tag) choice.schema = &metadata.schema_of(*choice.snapshot);
    } else {
        choice.snapshot = metadata.current_snapshot();
    }
    return choice;
}

IcebergSource::IcebergSource(iceberg::TableFiles table, SnapshotChoice choice, IcebergReadOptions options,
                             std::string description)
    : table_(std::move(table)), choice_(choice), options_(options), description_(std::move(description)) {
    for (const auto& field : choice_.schema->fields())
        columns_.push_back({field.name, sql_type(field, options_.types), false, field.doc});
    for (const auto& definition : kVirtualColumns)
        columns_.push_back({std::string(definition.name), virtual_type(definition.column), true, ""});
}

const iceberg::NestedField* IcebergSource::field(size_t column) const {
    const auto& fields = choice_.schema->fields();
    return column < fields.size() ? &fields[column] : nullptr;
}

std::optional<VirtualColumn> IcebergSource::virtual_column(size_t column) const {
    const size_t own = choice_.schema->fields().size();
    if (column < own) return std::nullopt;
    return kVirtualColumns[column - own].column;
}

std::optional<uint64_t> IcebergSource::row_count_estimate() const {
    if (!choice_.snapshot) return 0;
    const auto records = summary_number(*choice_.snapshot, "total-records");
    if (!records) return std::nullopt;
    const int64_t deleted = summary_number(*choice_.snapshot, "total-position-deletes").value_or(0);
    return static_cast<uint64_t>(std::max<int64_t>(0, *records - deleted));
}

bool IcebergSource::same_rows(const plan::Source& other) const {
    const auto* source = dynamic_cast<const IcebergSource*>(&other);
    if (!source) return false;
    const auto same_column = [](const plan::SourceColumn& a, const plan::SourceColumn& b) {
        return a.name == b.name && same_type(a.type, b.type);
    };
    const auto& snapshot = choice_.snapshot;
    const auto& others = source->choice_.snapshot;
    return table_.store().identity() == source->table_.store().identity() &&
           table_.metadata().file == source->table_.metadata().file && !snapshot == !others &&
           (!snapshot || snapshot->snapshot_id == others->snapshot_id) &&
           choice_.schema->schema_id() == source->choice_.schema->schema_id() &&
           std::equal(columns_.begin(), columns_.end(), source->columns_.begin(), source->columns_.end(), same_column);
}

plan::ColumnEstimate IcebergSource::column_estimate(size_t column) const {
    const iceberg::NestedField* own = field(column);
    if (!own) return {};
    std::lock_guard lock(estimates_mutex_);
    if (const auto found = estimates_.find(column); found != estimates_.end()) return found->second;
    if (!manifests_) manifests_.emplace(manifests_for_estimates(*this));
    return estimates_.emplace(column, estimate_column(*this, *manifests_, *own, columns_[column].type)).first->second;
}

std::unique_ptr<plan::Scan> IcebergSource::scan(const plan::ScanRequest& request) const {
    return std::make_unique<IcebergScan>(*this, request);
}

}  // namespace firn::table
