// Table metadata (spec: Table Metadata Fields; JSON in Appendix C): format versions 1, 2 and 3, into immutable values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/iceberg/partition_spec.h"
#include "firn/iceberg/schema.h"

namespace firn::iceberg {

struct Snapshot {
    int64_t snapshot_id = 0;
    std::optional<int64_t> parent_snapshot_id;
    int64_t sequence_number = 0;                 ///< 0 in v1
    int64_t timestamp_ms = 0;                    ///< milliseconds since 1970-01-01 UTC
    std::string manifest_list;                   ///< empty: v1 with `manifests`, or a snapshot of no manifests
    std::vector<std::string> manifests;          ///< v1: paths of the manifests, where there is no list
    std::map<std::string, std::string> summary;  ///< with "operation"
    std::optional<int32_t> schema_id;
    std::optional<int64_t> first_row_id;  ///< v3
    std::optional<int64_t> added_rows;    ///< v3
};

struct SnapshotLogEntry {
    int64_t timestamp_ms = 0;
    int64_t snapshot_id = 0;
};

struct MetadataLogEntry {
    int64_t timestamp_ms = 0;
    std::string metadata_file;
};

struct SnapshotRef {
    int64_t snapshot_id = 0;
    bool is_tag = false;
    std::optional<int32_t> min_snapshots_to_keep;
    std::optional<int64_t> max_snapshot_age_ms;
    std::optional<int64_t> max_ref_age_ms;
};

struct StatisticsBlob {
    std::string type;
    int64_t snapshot_id = 0;
    int64_t sequence_number = 0;
    std::vector<int32_t> fields;
    std::map<std::string, std::string> properties;
};

struct StatisticsFile {
    int64_t snapshot_id = 0;
    std::string path;
    int64_t file_size = 0;
    int64_t footer_size = 0;
    std::vector<StatisticsBlob> blobs;
};

struct PartitionStatisticsFile {
    int64_t snapshot_id = 0;
    std::string path;
    int64_t file_size = 0;
};

/// Field ids for files that carry none (spec: Column Projection).
struct NameMapping {
    struct Field {
        std::optional<int32_t> field_id;
        std::vector<std::string> names;
        std::vector<Field> fields;  ///< of a struct; "element" of a list; "key" and "value" of a map
    };
    std::vector<Field> fields;

    /// The entry of `level` that lists the name; null where none does.
    static const Field* find(const std::vector<Field>& level, std::string_view name);
};

struct TableMetadata {
    std::string file;  ///< where it was read from, for messages
    int32_t format_version = 0;
    std::string table_uuid;  ///< as written; may be empty in v1
    std::string location;
    int64_t last_sequence_number = 0;
    int64_t last_updated_ms = 0;
    int32_t last_column_id = 0;
    std::vector<Schema> schemas;
    int32_t current_schema_id = 0;
    std::vector<PartitionSpec> partition_specs;
    int32_t default_spec_id = 0;
    int32_t last_partition_id = 0;
    std::vector<SortOrder> sort_orders;
    int32_t default_sort_order_id = 0;
    std::map<std::string, std::string> properties;
    std::optional<int64_t> current_snapshot_id;  ///< none: no snapshot (written as null, -1 or left out)
    std::vector<Snapshot> snapshots;
    std::vector<SnapshotLogEntry> snapshot_log;
    std::vector<MetadataLogEntry> metadata_log;
    std::map<std::string, SnapshotRef> refs;  ///< with "main" wherever there is a current snapshot
    std::vector<StatisticsFile> statistics;
    std::vector<PartitionStatisticsFile> partition_statistics;
    std::optional<int64_t> next_row_id;               ///< v3
    std::shared_ptr<const NameMapping> name_mapping;  ///< of property schema.name-mapping.default; null: none
    bool encrypted = false;                           ///< v3: has encryption keys

    const Schema& current_schema() const;
    const PartitionSpec& default_spec() const;
    // Null where there is none of that id.
    const Schema* schema(int32_t id) const;
    const PartitionSpec* spec(int32_t id) const;
    const Snapshot* snapshot(int64_t id) const;
    const SortOrder* sort_order(int32_t id) const;
    /// Null when the table has none.
    const Snapshot* current_snapshot() const;
    /// The snapshot that was current at a time (milliseconds), by the snapshot log, or by the snapshots' own times
    /// where there is no log. Null: none was so old.
    const Snapshot* snapshot_at(int64_t timestamp_ms) const;
    /// The schema that a snapshot was written under; the current one where the snapshot does not say.
    const Schema& schema_of(const Snapshot& snapshot) const;
    /// A property's value, or `otherwise`.
    std::string_view property(std::string_view name, std::string_view otherwise) const;
};

/// Limits on what is read; beyond them LIMIT_EXCEEDED or TOO_DEEP_RECURSION.
inline constexpr uint64_t kMaxMetadataBytes = uint64_t{1} << 30;  ///< also after decompression
inline constexpr int kMaxTypeDepth = 100;

/// Metadata of the file's bytes; gzip and zstd are recognised by their first bytes, whatever the name. `file` is for
/// messages. INCORRECT_DATA: damaged; ICEBERG_SPECIFICATION_VIOLATION: readable, but a field is missing or wrong; both
/// name the file and the field. Unknown fields are passed over. A format version above 3 is NOT_IMPLEMENTED.
std::shared_ptr<const TableMetadata> parse_table_metadata(std::string_view bytes, std::string_view file);

/// What picks a metadata file among many, without the rest: cheap.
struct MetadataStamp {
    std::string table_uuid;
    int64_t last_updated_ms = 0;
};
MetadataStamp parse_metadata_stamp(std::string_view bytes, std::string_view file);

NameMapping parse_name_mapping(std::string_view json, std::string_view where);

}  // namespace firn::iceberg
