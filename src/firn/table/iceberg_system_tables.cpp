#include "firn/table/iceberg_system_tables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/table/asked_tables.h"
#include "firn/table/catalog.h"
#include "firn/table/iceberg_source.h"
#include "firn/table/rows_source.h"

namespace firn::table {
namespace {

using iceberg::FileContent;
using iceberg::Manifest;
using iceberg::MetricsMap;
using plan::SourceColumn;

TypePtr text() { return make_type(TypeId::String); }
TypePtr int32() { return make_type(TypeId::Int32); }
TypePtr int64() { return make_type(TypeId::Int64); }
TypePtr optional(TypePtr type) { return make_nullable(std::move(type)); }
TypePtr counts() { return make_map(int32(), int64()); }
TypePtr milliseconds() { return make_datetime64(3); }

/// What a system table shows of one Iceberg table.
struct Subject {
    std::string database, table;
    std::shared_ptr<const IcebergSource> source;

    const iceberg::TableMetadata& metadata() const { return source->table().metadata(); }
    const iceberg::TableFiles& files() const { return source->table(); }
};
using ShowTable = std::function<void(const Subject&, RowsBuilder&)>;

struct Definition {
    std::vector<SourceColumn> columns;  // behind database and table
    ShowTable show;
};

void append_optional(VectorBuilder& column, const std::optional<int64_t>& value) {
    if (value)
        column.append<int64_t>(*value);
    else
        column.append_null();
}

void append_summary(VectorBuilder& column, const std::map<std::string, std::string>& summary) {
    for (const auto& [key, value] : summary) {
        column.element().element(0).append_string(key);
        column.element().element(1).append_string(value);
        column.element().end_tuple();
    }
    column.end_array();
}

std::string operation_of(const iceberg::Snapshot& snapshot) {
    const auto found = snapshot.summary.find("operation");
    return found == snapshot.summary.end() ? "unknown" : found->second;
}

/// The ids of the current snapshot and its ancestors.
std::set<int64_t> current_ancestors(const iceberg::TableMetadata& metadata) {
    std::set<int64_t> out;
    for (const auto* at = metadata.current_snapshot(); at && out.insert(at->snapshot_id).second;
         at = at->parent_snapshot_id ? metadata.snapshot(*at->parent_snapshot_id) : nullptr) {
    }
    return out;
}

void show_history(const Subject& subject, RowsBuilder& rows) {
    const auto& metadata = subject.metadata();
    const auto ancestors = current_ancestors(metadata);
    for (const auto& entry : metadata.snapshot_log) {
        const auto* snapshot = metadata.snapshot(entry.snapshot_id);
        rows[2].append<int64_t>(entry.timestamp_ms);
        rows[3].append<uint64_t>(static_cast<uint64_t>(entry.snapshot_id));
        rows[4].append<uint64_t>(static_cast<uint64_t>(snapshot ? snapshot->parent_snapshot_id.value_or(0) : 0));
        rows[5].append<uint8_t>(ancestors.contains(entry.snapshot_id));
        rows[6].append_string(snapshot ? operation_of(*snapshot) : "unknown");
        append_summary(rows[7], snapshot ? snapshot->summary : std::map<std::string, std::string>{});
    }
}

void show_snapshots(const Subject& subject, RowsBuilder& rows) {
    for (const auto& snapshot : subject.metadata().snapshots) {
        rows[2].append<int64_t>(snapshot.timestamp_ms);
        rows[3].append<int64_t>(snapshot.snapshot_id);
        append_optional(rows[4], snapshot.parent_snapshot_id);
        rows[5].append_string(operation_of(snapshot));
        rows[6].append<int64_t>(snapshot.sequence_number);
        if (snapshot.schema_id)
            rows[7].append<int32_t>(*snapshot.schema_id);
        else
            rows[7].append_null();
        rows[8].append_string(snapshot.manifest_list);
        append_summary(rows[9], snapshot.summary);
    }
}

void show_refs(const Subject& subject, RowsBuilder& rows) {
    for (const auto& [name, ref] : subject.metadata().refs) {
        rows[2].append_string(name);
        rows[3].append_string(ref.is_tag ? "tag" : "branch");
        rows[4].append<int64_t>(ref.snapshot_id);
        append_optional(rows[5], ref.max_ref_age_ms);
        append_optional(rows[6],
                        ref.min_snapshots_to_keep ? std::optional<int64_t>(*ref.min_snapshots_to_keep) : std::nullopt);
        append_optional(rows[7], ref.max_snapshot_age_ms);
    }
}

/// Live entries of all manifests of the snapshot that the table is read at.
void each_file(const Subject& subject, const std::function<void(const iceberg::FileRef&)>& show) {
    const auto* snapshot = subject.source->choice().snapshot;
    if (!snapshot) return;
    const auto list = subject.files().manifest_list(*snapshot);
    for (const auto& entry : list->manifests()) {
        if (!entry.may_have_live_files()) continue;
        const auto manifest = subject.files().manifest(entry);
        for (uint32_t i = 0; i < manifest->size(); ++i)
            if (manifest->is_live(i)) show({manifest, i});
    }
}

std::string partition_text(const iceberg::FileRef& file) {
    std::vector<iceberg::Datum> tuple(file.manifest->partition_fields());
    file.manifest->partition(file.entry, tuple);
    std::string out;
    for (size_t i = 0; i < tuple.size(); ++i)
        out += fmt::format("{}{}={}", i ? ", " : "", file.manifest->partition_field_name(i),
                           tuple[i].is_null() ? "null" : tuple[i].to_string());
    return out;
}

void append_counts(VectorBuilder& column, const iceberg::FileRef& file, MetricsMap map) {
    for (const auto& [id, count] : file.manifest->counts(file.entry, map)) {
        column.element().element(0).append<int32_t>(id);
        column.element().element(1).append<int64_t>(count);
        column.element().end_tuple();
    }
    column.end_array();
}

/// Bounds as text, of columns of the present schema whose bounds can be believed.
void append_bounds(VectorBuilder& column, const Subject& subject, const iceberg::FileRef& file, bool lower) {
    for (const auto& [id, bytes] :
         file.manifest->bounds(file.entry, lower ? MetricsMap::LowerBounds : MetricsMap::UpperBounds)) {
        const auto* field = subject.source->choice().schema->field(id);
        if (!field || !field->type->is_primitive()) continue;
        const auto value = iceberg::decode_value(*field->type, bytes);
        if (!value) continue;
        column.element().element(0).append<int32_t>(id);
        column.element().element(1).append_string(value->to_string());
        column.element().end_tuple();
    }
    column.end_array();
}

void show_files(const Subject& subject, RowsBuilder& rows) {
    constexpr std::string_view contents[] = {"DATA", "POSITION_DELETE", "EQUALITY_DELETE"};
    each_file(subject, [&](const iceberg::FileRef& file) {
        const Manifest& manifest = *file.manifest;
        const size_t i = file.entry;
        rows[2].append<int64_t>(manifest.snapshot_id(i));
        rows[3].append_string(contents[static_cast<size_t>(manifest.file_content(i))]);
        rows[4].append_string(subject.files().paths().resolve(file.path()));
        rows[5].append_string(iceberg::format_name(manifest.format(i)));
        rows[6].append<int64_t>(manifest.record_count(i));
        rows[7].append<int64_t>(manifest.file_size(i));
        rows[8].append<int32_t>(manifest.spec_id());
        rows[9].append_string(partition_text(file));
        rows[10].append<int64_t>(manifest.sequence_number(i));
        if (const auto order = manifest.sort_order_id(i))
            rows[11].append<int32_t>(static_cast<int32_t>(*order));
        else
            rows[11].append_null();
        append_counts(rows[12], file, MetricsMap::ColumnSizes);
        append_counts(rows[13], file, MetricsMap::ValueCounts);
        append_counts(rows[14], file, MetricsMap::NullCounts);
        append_counts(rows[15], file, MetricsMap::NanCounts);
        append_bounds(rows[16], subject, file, true);
        append_bounds(rows[17], subject, file, false);
        for (const int32_t id : manifest.equality_ids(i)) rows[18].element().append<int32_t>(id);
        rows[18].end_array();
        append_optional(rows[19], manifest.first_row_id(i));
        if (const auto named = manifest.referenced_data_file(i))
            rows[20].append_string(*named);
        else
            rows[20].append_null();
        append_optional(rows[21], manifest.content_offset(i));
        append_optional(rows[22], manifest.content_size(i));
    });
}

void show_manifests(const Subject& subject, RowsBuilder& rows) {
    const auto* snapshot = subject.source->choice().snapshot;
    if (!snapshot) return;
    const auto list = subject.files().manifest_list(*snapshot);
    for (const auto& manifest : list->manifests()) {
        const bool deletes = manifest.content == iceberg::ManifestContent::Deletes;
        rows[2].append<int32_t>(deletes ? 1 : 0);
        rows[3].append_string(subject.files().paths().resolve(manifest.path));
        rows[4].append<int64_t>(manifest.length);
        rows[5].append<int32_t>(manifest.spec_id);
        rows[6].append<int64_t>(manifest.sequence_number);
        rows[7].append<int64_t>(manifest.added_snapshot_id);
        const std::optional<int64_t> files[] = {manifest.added_files, manifest.existing_files, manifest.deleted_files};
        for (size_t k = 0; k < 3; ++k) {
            append_optional(rows[8 + k], deletes ? std::optional<int64_t>(0) : files[k]);
            append_optional(rows[11 + k], deletes ? files[k] : std::optional<int64_t>(0));
        }
    }
}

struct PartitionTotals {
    std::string partition;
    int32_t spec_id = 0;
    int64_t records = 0, files = 0, bytes = 0, position_records = 0, position_files = 0, equality_records = 0,
            equality_files = 0;
};

/// The fields that tell partitions apart: of every spec, but for void ones and those whose source column is gone.
std::vector<const iceberg::PartitionField*> partition_fields(const iceberg::TableMetadata& metadata) {
    std::map<int32_t, const iceberg::PartitionField*> by_id;
    for (const auto& spec : metadata.partition_specs)
        for (const auto& field : spec.fields)
            if (field.transform.kind() != iceberg::TransformKind::Void &&
                metadata.current_schema().field(field.source_id()))
                by_id.emplace(field.field_id, &field);
    std::vector<const iceberg::PartitionField*> out;
    for (const auto& [id, field] : by_id) out.push_back(field);
    return out;
}

/// Values of those fields, NULL where the file's spec lacks one; the second is for people.
std::pair<std::string, std::string> partition_of(const iceberg::FileRef& file,
                                                 const std::vector<const iceberg::PartitionField*>& fields) {
    std::vector<iceberg::Datum> tuple(file.manifest->partition_fields());
    file.manifest->partition(file.entry, tuple);
    std::string key, shown;
    for (const auto* field : fields) {
        const auto at = file.manifest->find_partition_field(field->field_id);
        const bool null = !at || tuple[*at].is_null();
        const std::string text = null ? "null" : tuple[*at].to_string();
        key += null ? "|null" : fmt::format("|{}:{}", text.size(), text);
        shown += fmt::format("{}{}={}", shown.empty() ? "" : ", ", field->name, text);
    }
    return {std::move(key), std::move(shown)};
}

void show_partitions(const Subject& subject, RowsBuilder& rows) {
    std::map<std::string, PartitionTotals> totals;
    const auto fields = partition_fields(subject.metadata());
    each_file(subject, [&](const iceberg::FileRef& file) {
        const Manifest& manifest = *file.manifest;
        auto [key, shown] = partition_of(file, fields);
        PartitionTotals& total = totals[key];
        total.partition = std::move(shown);
        total.spec_id = std::max(total.spec_id, manifest.spec_id());
        const int64_t records = manifest.record_count(file.entry);
        switch (manifest.file_content(file.entry)) {
            case FileContent::Data:
                total.records += records;
                total.files += 1;
                total.bytes += manifest.file_size(file.entry);
                break;
            case FileContent::PositionDeletes:
                total.position_records += records;
                total.position_files += 1;
                break;
            case FileContent::EqualityDeletes:
                total.equality_records += records;
                total.equality_files += 1;
        }
    });
    for (const auto& [key, total] : totals) {
        rows[2].append_string(total.partition);
        rows[3].append<int32_t>(total.spec_id);
        const int64_t numbers[] = {total.records,          total.files,          total.bytes,
                                   total.position_records, total.position_files, total.equality_records,
                                   total.equality_files};
        for (size_t k = 0; k < std::size(numbers); ++k) rows[4 + k].append<int64_t>(numbers[k]);
    }
}

const std::map<std::string, Definition, std::less<>>& definitions() {
    const auto column = [](std::string name, TypePtr type, std::string comment) {
        return SourceColumn{std::move(name), std::move(type), false, std::move(comment)};
    };
    const TypePtr summary = make_map(text(), text());
    static const std::map<std::string, Definition, std::less<>> all{
        {"iceberg_history",
         {{column("made_current_at", milliseconds(), "When the snapshot became the current one"),
           column("snapshot_id", make_type(TypeId::UInt64), "The snapshot"),
           column("parent_id", make_type(TypeId::UInt64), "Its parent; 0: none"),
           column("is_current_ancestor", make_type(TypeId::UInt8), "Whether the current snapshot comes from it"),
           column("operation", text(), "What made it"), column("summary", summary, "Its summary")},
          show_history}},
        {"iceberg_snapshots",
         {{column("committed_at", milliseconds(), "When it was committed"),
           column("snapshot_id", int64(), "The snapshot"), column("parent_id", optional(int64()), "Its parent"),
           column("operation", text(), "What made it"), column("sequence_number", int64(), "Its sequence number"),
           column("schema_id", optional(int32()), "The schema it was written under"),
           column("manifest_list", text(), "Its manifest list"), column("summary", summary, "Its summary")},
          show_snapshots}},
        {"iceberg_refs",
         {{column("name", text(), "The branch or tag"), column("type", text(), "branch or tag"),
           column("snapshot_id", int64(), "The snapshot that it names"),
           column("max_reference_age_in_ms", optional(int64()), "Age at which the reference goes"),
           column("min_snapshots_to_keep", optional(int64()), "Snapshots that a branch keeps"),
           column("max_snapshot_age_in_ms", optional(int64()), "Age to which a branch keeps snapshots")},
          show_refs}},
        {"iceberg_files",
         {{column("snapshot_id", int64(), "The snapshot that added it"),
           column("content", text(), "DATA, POSITION_DELETE or EQUALITY_DELETE"),
           column("file_path", text(), "Where it is"),
           column("file_format", text(), "Its format"),
           column("record_count", int64(), "Its rows"),
           column("file_size_in_bytes", int64(), "Its size"),
           column("spec_id", int32(), "Its partition spec"),
           column("partition", text(), "Its partition values"),
           column("sequence_number", int64(), "Its data sequence number"),
           column("sort_order_id", optional(int32()), "The order it is sorted by"),
           column("column_sizes", counts(), "Bytes by field id"),
           column("value_counts", counts(), "Values by field id"),
           column("null_value_counts", counts(), "NULLs by field id"),
           column("nan_value_counts", counts(), "NaNs by field id"),
           column("lower_bounds", make_map(int32(), text()), "Lower bounds by field id"),
           column("upper_bounds", make_map(int32(), text()), "Upper bounds by field id"),
           column("equality_ids", make_array(int32()), "Fields that equality deletes compare"),
           column("first_row_id", optional(int64()), "Row id of its first row"),
           column("referenced_data_file", optional(text()), "The only data file that it deletes from"),
           column("content_offset", optional(int64()), "Place of a deletion vector"),
           column("content_size_in_bytes", optional(int64()), "Size of a deletion vector")},
          show_files}},
        {"iceberg_manifests",
         {{column("content", int32(), "0: data, 1: deletes"), column("path", text(), "Where it is"),
           column("length", int64(), "Its size in bytes"), column("partition_spec_id", int32(), "Its partition spec"),
           column("sequence_number", int64(), "Its sequence number"),
           column("added_snapshot_id", int64(), "The snapshot that added it"),
           column("added_data_files_count", optional(int64()), ""),
           column("existing_data_files_count", optional(int64()), ""),
           column("deleted_data_files_count", optional(int64()), ""),
           column("added_delete_files_count", optional(int64()), ""),
           column("existing_delete_files_count", optional(int64()), ""),
           column("deleted_delete_files_count", optional(int64()), "")},
          show_manifests}},
        {"iceberg_partitions",
         {{column("partition", text(), "The partition's values"), column("spec_id", int32(), "Its spec"),
           column("record_count", int64(), "Rows of its data files"), column("file_count", int64(), "Its data files"),
           column("total_data_file_size_in_bytes", int64(), "Their size"),
           column("position_delete_record_count", int64(), ""), column("position_delete_file_count", int64(), ""),
           column("equality_delete_record_count", int64(), ""), column("equality_delete_file_count", int64(), "")},
          show_partitions}},
    };
    return all;
}

/// Tables of a catalog whose names the query compares with, wherever they are; with show_data_lake_catalogs_in_system_tables
/// all that it may want, of which none that cannot be opened hides the others: a catalog may have thousands, and may be
/// down.
void add_tables_of_catalog(const LakeDatabase& lake, const std::string& database, const AskedTables& asked,
                           const Settings& settings, const Catalog& catalog, std::vector<Subject>& out) {
    const auto add = [&](const std::string& table) {
        auto source = lake.open(table, settings, catalog.cache());
        if (auto found = std::dynamic_pointer_cast<const IcebergSource>(source))
            out.push_back({database, table, std::move(found)});
    };
    if (asked.named()) {
        for (const auto& table : asked.wanted(database, {asked.named()->begin(), asked.named()->end()})) add(table);
        return;
    }
    if (!settings.get_bool("show_data_lake_catalogs_in_system_tables")) return;
    const auto unless_it_fails = [](auto&& work) {
        try {
            work();
        } catch (const Error& error) {
            if (ends_query(error)) throw;
        }
    };
    unless_it_fails([&] {
        for (const auto& table : asked.wanted(database, catalog.tables(database))) {
            check_cancelled();
            unless_it_fails([&] { add(table); });
        }
    });
}

std::vector<Subject> subjects(const Catalog& catalog, const Settings& settings, const AskedTables& asked) {
    std::vector<Subject> out;
    const auto resolver = catalog.resolver(settings);
    for (const auto& database : catalog.databases()) {
        if (database == "system" || !asked.wants_database(database)) continue;
        if (const LakeDatabase* lake = catalog.lake(database)) {
            add_tables_of_catalog(*lake, database, asked, settings, catalog, out);
            continue;
        }
        for (const auto& table : asked.wanted(database, catalog.tables(database))) {
            const auto* entry = catalog.find(database, table);
            if (!entry || !entry->engine.starts_with("Iceberg")) continue;
            const auto resolved = resolver->resolve_table(database, table);
            if (!resolved) continue;
            if (auto source = std::dynamic_pointer_cast<const IcebergSource>(resolved->source))
                out.push_back({database, table, std::move(source)});
        }
    }
    return out;
}

}  // namespace

std::vector<std::string> iceberg_system_table_names() {
    std::vector<std::string> names;
    for (const auto& [name, definition] : definitions()) names.push_back(name);
    return names;
}

std::shared_ptr<const plan::Source> iceberg_system_table(std::string_view name, const Catalog& catalog,
                                                         const Settings& settings) {
    const auto found = definitions().find(name);
    if (found == definitions().end()) return nullptr;
    const Definition& definition = found->second;
    std::vector<SourceColumn> columns{{"database", text(), false, "The database"},
                                      {"table", text(), false, "The table"}};
    columns.insert(columns.end(), definition.columns.begin(), definition.columns.end());
    const auto make = [&catalog, settings, &definition](const plan::ScanRequest& request, RowsBuilder& rows) {
        for (const auto& subject : subjects(catalog, settings, AskedTables(request))) {
            const size_t before = rows[2].size();
            definition.show(subject, rows);
            for (size_t i = before; i < rows[2].size(); ++i) {
                rows[0].append_string(subject.database);
                rows[1].append_string(subject.table);
            }
        }
    };
    return make_asked_rows_source("system." + std::string(name), columns, make);
}

}  // namespace firn::table
