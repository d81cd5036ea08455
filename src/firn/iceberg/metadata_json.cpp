// Table metadata of JSON (spec: Table Metadata Fields, Appendix C; what v1 leaves out: Appendix E).
#include <algorithm>

#include "firn/iceberg/json_fields.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/metadata_bytes.h"

namespace firn::iceberg {

namespace dom = simdjson::dom;

namespace {

constexpr int32_t kFirstPartitionFieldId = 1000;
constexpr int kMaxMappingDepth = 100;

std::vector<int32_t> source_ids_of(const JsonFields& json) {
    if (json.find("source-ids")) {
        std::vector<int32_t> ids = json.int_list("source-ids");
        if (!ids.empty()) return ids;
    }
    return {json.required_int("source-id")};
}

std::vector<PartitionField> partition_fields_of(dom::array items, const std::string& where) {
    std::vector<PartitionField> fields;
    for (dom::element item : items) {
        JsonFields json(item, fmt::format("{}[{}]", where, fields.size()));
        PartitionField field;
        field.source_ids = source_ids_of(json);
        field.field_id =
            json.int_or_nothing("field-id").value_or(kFirstPartitionFieldId + static_cast<int32_t>(fields.size()));
        field.name = json.required_text("name");
        field.transform = Transform::parse(json.required_text("transform"));
        fields.push_back(std::move(field));
    }
    return fields;
}

PartitionSpec partition_spec_of(const JsonFields& json) {
    return {json.int_or_nothing("spec-id").value_or(0),
            partition_fields_of(json.required_array("fields"), json.field_place("fields"))};
}

SortOrder sort_order_of(const JsonFields& json) {
    SortOrder order;
    order.order_id = json.required_int("order-id");
    json.each_required_object("fields", [&](const JsonFields& inner) {
        SortField field;
        field.source_ids = source_ids_of(inner);
        field.transform = Transform::parse(inner.required_text("transform"));
        field.descending = inner.text_or_nothing("direction").value_or("asc") == "desc";
        field.nulls_first = inner.text_or_nothing("null-order").value_or("nulls-first") == "nulls-first";
        order.fields.push_back(std::move(field));
    });
    return order;
}

Snapshot snapshot_of(const JsonFields& json) {
    Snapshot snapshot;
    snapshot.snapshot_id = json.required_long("snapshot-id");
    snapshot.parent_snapshot_id = json.long_or_nothing("parent-snapshot-id");
    if (snapshot.parent_snapshot_id == -1) snapshot.parent_snapshot_id.reset();
    snapshot.sequence_number = json.long_or_nothing("sequence-number").value_or(0);
    snapshot.timestamp_ms = json.required_long("timestamp-ms");
    snapshot.manifest_list = json.text_or_nothing("manifest-list").value_or("");
    snapshot.summary = json.text_map("summary");
    snapshot.schema_id = json.int_or_nothing("schema-id");
    snapshot.first_row_id = json.long_or_nothing("first-row-id");
    snapshot.added_rows = json.long_or_nothing("added-rows");
    if (auto manifests = json.array_or_nothing("manifests"); manifests && snapshot.manifest_list.empty()) {
        for (dom::element item : *manifests) {
            std::string_view path;
            if (item.get_string().get(path) != simdjson::SUCCESS)
                json.bad("manifests", "holds something that is no text");
            snapshot.manifests.emplace_back(path);
        }
    }
    return snapshot;
}

StatisticsFile statistics_of(const JsonFields& json) {
    StatisticsFile file;
    file.snapshot_id = json.required_long("snapshot-id");
    file.path = json.required_text("statistics-path");
    file.file_size = json.long_or_nothing("file-size-in-bytes").value_or(0);
    file.footer_size = json.long_or_nothing("file-footer-size-in-bytes").value_or(0);
    json.each_object("blob-metadata", [&](const JsonFields& inner) {
        StatisticsBlob blob;
        blob.type = inner.required_text("type");
        blob.snapshot_id = inner.long_or_nothing("snapshot-id").value_or(file.snapshot_id);
        blob.sequence_number = inner.long_or_nothing("sequence-number").value_or(0);
        blob.fields = inner.int_list("fields");
        blob.properties = inner.text_map("properties");
        file.blobs.push_back(std::move(blob));
    });
    return file;
}

PartitionStatisticsFile partition_statistics_of(const JsonFields& json) {
    return {json.required_long("snapshot-id"), std::string(json.required_text("statistics-path")),
            json.long_or_nothing("file-size-in-bytes").value_or(0)};
}

SnapshotRef ref_of(const JsonFields& json) {
    SnapshotRef ref;
    ref.snapshot_id = json.required_long("snapshot-id");
    std::string_view type = json.required_text("type");
    if (type != "branch" && type != "tag") json.bad("type", "is neither branch nor tag");
    ref.is_tag = type == "tag";
    ref.min_snapshots_to_keep = json.int_or_nothing("min-snapshots-to-keep");
    ref.max_snapshot_age_ms = json.long_or_nothing("max-snapshot-age-ms");
    ref.max_ref_age_ms = json.long_or_nothing("max-ref-age-ms");
    return ref;
}

/// Reads every object of an array field, where there is one.
template <typename Item, typename Read>
std::vector<Item> read_list(const JsonFields& json, std::string_view name, Read read) {
    std::vector<Item> items;
    json.each_object(name, [&](const JsonFields& fields) { items.push_back(read(fields)); });
    return items;
}

void read_schemas(const JsonFields& json, TableMetadata& table) {
    auto list = json.array_or_nothing("schemas");
    if (list) {
        size_t index = 0;
        for (dom::element item : *list)
            table.schemas.push_back(schema_of_json(item, json.item_place("schemas", index++)));
    }
    if (table.schemas.empty()) {
        // v1 may have the present schema alone.
        if (!json.find("schema")) json.bad("schemas", "is missing, and so is \"schema\"");
        table.schemas.push_back(schema_of_json(json.required_element("schema"), json.field_place("schema")));
    }
    auto current = json.int_or_nothing("current-schema-id");
    table.current_schema_id = current ? *current : table.schemas.back().schema_id();
    if (!table.schema(table.current_schema_id))
        json.bad("current-schema-id", "names a schema that is not in \"schemas\"");
}

void read_specs(const JsonFields& json, TableMetadata& table) {
    table.partition_specs = read_list<PartitionSpec>(json, "partition-specs", partition_spec_of);
    if (table.partition_specs.empty()) {
        PartitionSpec spec;
        if (auto fields = json.array_or_nothing("partition-spec")) {
            spec.fields = partition_fields_of(*fields, json.field_place("partition-spec"));
        } else if (table.format_version > 1) {
            json.bad("partition-specs", "is missing");
        }
        table.partition_specs.push_back(std::move(spec));
    }
    auto chosen = json.int_or_nothing("default-spec-id");
    table.default_spec_id = chosen ? *chosen : table.partition_specs.back().spec_id;
    if (!table.spec(table.default_spec_id))
        json.bad("default-spec-id", "names a spec that is not in \"partition-specs\"");
    int32_t highest = kFirstPartitionFieldId - 1;
    for (const PartitionSpec& spec : table.partition_specs) {
        for (const PartitionField& field : spec.fields) highest = std::max(highest, field.field_id);
    }
    table.last_partition_id = json.int_or_nothing("last-partition-id").value_or(highest);
}

void read_snapshots(const JsonFields& json, TableMetadata& table) {
    table.snapshots = read_list<Snapshot>(json, "snapshots", snapshot_of);
    table.current_snapshot_id = json.long_or_nothing("current-snapshot-id");
    if (table.current_snapshot_id == -1) table.current_snapshot_id.reset();
    if (table.current_snapshot_id && !table.current_snapshot()) {
        json.bad("current-snapshot-id",
                 fmt::format("names snapshot {}, which is not in \"snapshots\"", *table.current_snapshot_id));
    }
    table.snapshot_log = read_list<SnapshotLogEntry>(json, "snapshot-log", [](const JsonFields& entry) {
        return SnapshotLogEntry{entry.required_long("timestamp-ms"), entry.required_long("snapshot-id")};
    });
    table.metadata_log = read_list<MetadataLogEntry>(json, "metadata-log", [](const JsonFields& entry) {
        return MetadataLogEntry{entry.required_long("timestamp-ms"), std::string(entry.required_text("metadata-file"))};
    });
    if (auto refs = json.object_or_nothing("refs")) {
        for (auto [name, value] : refs->object()) {
            table.refs.emplace(std::string(name), ref_of(JsonFields(value, refs->field_place(name))));
        }
    }
    // The main branch is the current snapshot, whatever refs says or leaves out.
    if (table.current_snapshot_id) table.refs["main"].snapshot_id = *table.current_snapshot_id;
}

std::vector<NameMapping::Field> mapping_fields(dom::array items, const std::string& where, int depth) {
    if (depth > kMaxMappingDepth)
        fail(ErrorCode::TOO_DEEP_RECURSION, "{}: nested over {} levels", where, kMaxMappingDepth);
    std::vector<NameMapping::Field> fields;
    for (dom::element item : items) {
        JsonFields json(item, fmt::format("{}[{}]", where, fields.size()));
        NameMapping::Field field;
        field.field_id = json.int_or_nothing("field-id");
        for (dom::element name : json.required_array("names")) {
            std::string_view text;
            if (name.get_string().get(text) != simdjson::SUCCESS) json.bad("names", "holds something that is no text");
            field.names.emplace_back(text);
        }
        if (auto inner = json.array_or_nothing("fields"))
            field.fields = mapping_fields(*inner, json.where(), depth + 1);
        fields.push_back(std::move(field));
    }
    return fields;
}

void read_table(const JsonFields& json, TableMetadata& table) {
    table.format_version = json.required_int("format-version");
    if (table.format_version < 1) json.bad("format-version", "is below 1");
    if (table.format_version > 3) {
        fail(ErrorCode::NOT_IMPLEMENTED, "{}: Iceberg format version {} is not supported, only 1, 2 and 3", table.file,
             table.format_version);
    }
    table.table_uuid = json.text_or_nothing("table-uuid").value_or("");
    table.location = json.required_text("location");
    table.last_sequence_number = json.long_or_nothing("last-sequence-number").value_or(0);
    table.last_updated_ms = json.long_or_nothing("last-updated-ms").value_or(0);
    read_schemas(json, table);
    int32_t highest = 0;
    for (const Schema& schema : table.schemas) highest = std::max(highest, schema.highest_field_id());
    table.last_column_id = json.int_or_nothing("last-column-id").value_or(highest);
    read_specs(json, table);
    table.sort_orders = read_list<SortOrder>(json, "sort-orders", sort_order_of);
    table.default_sort_order_id = json.int_or_nothing("default-sort-order-id").value_or(0);
    table.properties = json.text_map("properties");
    read_snapshots(json, table);
    table.statistics = read_list<StatisticsFile>(json, "statistics", statistics_of);
    table.partition_statistics =
        read_list<PartitionStatisticsFile>(json, "partition-statistics", partition_statistics_of);
    table.next_row_id = json.long_or_nothing("next-row-id");
    if (auto keys = json.array_or_nothing("encryption-keys")) table.encrypted = keys->size() > 0;
    constexpr std::string_view kMappingProperty = "schema.name-mapping.default";
    std::string_view mapping = table.property(kMappingProperty, "");
    if (!mapping.empty()) {
        table.name_mapping = std::make_shared<const NameMapping>(
            parse_name_mapping(mapping, fmt::format("{}: property {}", table.file, kMappingProperty)));
    }
}

}  // namespace

std::shared_ptr<const TableMetadata> parse_table_metadata(std::string_view bytes, std::string_view file) {
    std::string storage;
    JsonDocument document(metadata_text(bytes, file, storage), file);
    auto table = std::make_shared<TableMetadata>();
    table->file = file;
    read_table(JsonFields(document.root(), std::string(file)), *table);
    return table;
}

MetadataStamp parse_metadata_stamp(std::string_view bytes, std::string_view file) {
    std::string storage;
    JsonDocument document(metadata_text(bytes, file, storage), file);
    JsonFields json(document.root(), std::string(file));
    return {std::string(json.text_or_nothing("table-uuid").value_or("")),
            json.long_or_nothing("last-updated-ms").value_or(0)};
}

NameMapping parse_name_mapping(std::string_view json, std::string_view where) {
    JsonDocument document(json, where);
    dom::array items;
    if (document.root().get_array().get(items) != simdjson::SUCCESS) {
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{} is no JSON array", where);
    }
    return {mapping_fields(items, std::string(where), 0)};
}

PartitionSpec parse_partition_spec(std::string_view json, int32_t spec_id, std::string_view where) {
    JsonDocument document(json, where);
    dom::array items;
    if (document.root().get_array().get(items) == simdjson::SUCCESS) {
        return {spec_id, partition_fields_of(items, std::string(where))};
    }
    PartitionSpec spec = partition_spec_of(JsonFields(document.root(), std::string(where)));
    spec.spec_id = spec_id;
    return spec;
}

}  // namespace firn::iceberg
