// Manifests: the data or delete files of a part of a table (spec: Manifests), decoded once into immutable columns.
//
// Decoding is a hot path: it keeps for each entry a few numbers, and for everything of variable size the place in the
// manifest's decompressed bytes. Bounds, counts and partition values are decoded from there when asked for, so that
// only those of the columns in question, in the entries that survive partition pruning, ever are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/iceberg/manifest_list.h"
#include "firn/iceberg/schema.h"
#include "firn/iceberg/values.h"

namespace firn::iceberg {

enum class EntryStatus : uint8_t { Existing = 0, Added = 1, Deleted = 2 };
enum class FileContent : uint8_t { Data = 0, PositionDeletes = 1, EqualityDeletes = 2 };
enum class FileFormat : uint8_t { Parquet, Orc, Avro, Puffin, Unknown };

std::string_view format_name(FileFormat format);  ///< "PARQUET", …

/// Counts and bounds of one column in one file, as written. Absent is unknown, never zero.
struct ColumnMetrics {
    std::optional<int64_t> column_size;  ///< bytes
    std::optional<int64_t> value_count;  ///< with nulls and NaNs
    std::optional<int64_t> null_count;
    std::optional<int64_t> nan_count;
    std::optional<std::string_view> lower_bound;  ///< binary form; decode_bounds says what can be believed
    std::optional<std::string_view> upper_bound;
};

/// Which of a file's metrics maps.
enum class MetricsMap : uint8_t {
    ColumnSizes,
    ValueCounts,
    NullCounts,
    NanCounts,
    DistinctCounts,
    LowerBounds,
    UpperBounds
};
inline constexpr size_t kMetricsMaps = 7;

/// What entries inherit from the manifest list (spec: Sequence Number Inheritance, First Row ID Inheritance).
struct ManifestInheritance {
    int64_t sequence_number = 0;
    int64_t snapshot_id = -1;
    int32_t spec_id = -1;                 ///< -1: the manifest's own metadata says
    std::optional<int64_t> first_row_id;  ///< nothing: the files have no row ids

    static ManifestInheritance of(const ManifestFile& file) {
        return {file.sequence_number, file.added_snapshot_id, file.spec_id, file.first_row_id};
    }
};

/// One manifest's entries, in the file's order, deleted ones included. Immutable, thread-safe. Views that it hands out
/// live as long as it does.
class Manifest {
public:
    struct Layout;  ///< how to walk the Avro bytes: manifest_layout.h

    ~Manifest();
    Manifest(const Manifest&) = delete;
    Manifest& operator=(const Manifest&) = delete;

    size_t size() const { return size_; }
    const std::string& file() const { return file_; }  ///< where it was read from
    int32_t spec_id() const { return spec_id_; }
    int32_t format_version() const { return format_version_; }
    ManifestContent content() const { return content_; }
    /// The table schema and partition fields that the manifest carries as JSON; empty when it does not.
    const std::string& schema_json() const { return schema_json_; }
    const std::string& partition_spec_json() const { return partition_spec_json_; }
    size_t memory_bytes() const;
    /// Entries that are not deleted, and the sum of their record counts.
    size_t live_files() const { return live_files_; }
    uint64_t live_rows() const { return live_rows_; }

    EntryStatus status(size_t i) const { return static_cast<EntryStatus>(status_[i]); }
    bool is_live(size_t i) const { return status_[i] != static_cast<uint8_t>(EntryStatus::Deleted); }
    FileContent file_content(size_t i) const { return static_cast<FileContent>(file_content_[i]); }
    FileFormat format(size_t i) const { return static_cast<FileFormat>(format_[i]); }
    std::string_view path(size_t i) const { return view(path_[i]); }  ///< as written; PathResolver says where it is
    int64_t snapshot_id(size_t i) const { return snapshot_id_[i]; }
    /// Data sequence number: decides which deletes apply. Explicit, inherited, or 0 in v1; -1: unknown (an existing
    /// entry of v2 that does not say, against the spec).
    int64_t sequence_number(size_t i) const { return sequence_number_[i]; }
    /// -1: unknown.
    int64_t file_sequence_number(size_t i) const { return file_sequence_number_[i]; }
    int64_t record_count(size_t i) const { return record_count_[i]; }  ///< of a deletion vector: its cardinality
    int64_t file_size(size_t i) const { return file_size_[i]; }
    std::optional<int64_t> first_row_id(size_t i) const { return first_row_id_.get(i); }
    std::optional<int64_t> content_offset(size_t i) const { return content_offset_.get(i); }
    std::optional<int64_t> content_size(size_t i) const { return content_size_.get(i); }
    std::optional<int64_t> sort_order_id(size_t i) const { return sort_order_id_.get(i); }
    std::optional<std::string_view> referenced_data_file(size_t i) const { return optional_view(referenced_, i); }
    std::optional<std::string_view> key_metadata(size_t i) const { return optional_view(key_metadata_, i); }
    std::vector<int64_t> split_offsets(size_t i) const;
    std::vector<int32_t> equality_ids(size_t i) const;
    /// A deletion vector: position deletes in a Puffin file.
    bool is_deletion_vector(size_t i) const {
        return file_content(i) == FileContent::PositionDeletes && format(i) == FileFormat::Puffin;
    }

    // The partition tuple.
    size_t partition_fields() const { return partition_.size(); }
    int32_t partition_field_id(size_t k) const { return partition_[k].field_id; }
    std::string_view partition_field_name(size_t k) const { return partition_[k].name; }
    /// The type that the Avro schema shows: enough where the source column is gone.
    const TypePtr& partition_type(size_t k) const { return partition_[k].type; }
    /// Index of a partition field by its id; nothing when the manifest has none (its files know nothing of it).
    std::optional<size_t> find_partition_field(int32_t field_id) const;
    /// The tuple's bytes in Avro: equal bytes are equal tuples within one manifest, so they key a memo.
    std::string_view partition_bytes(size_t i) const { return view(partition_bytes_[i]); }
    /// Decodes the tuple of an entry: partition_fields() values, of the kinds of partition_type (`reinterpret` makes
    /// them values of the type that the spec gives the field).
    void partition(size_t i, std::span<Datum> out) const;

    /// Metrics of several columns in one pass over the entry's maps. `out` holds one for each id and is overwritten.
    void metrics(size_t i, std::span<const int32_t> field_ids, std::span<ColumnMetrics> out) const;
    ColumnMetrics metrics(size_t i, int32_t field_id) const;
    /// Whether the entry has the map at all.
    bool has_map(size_t i, MetricsMap map) const { return maps_[static_cast<size_t>(map)].at(i) != 0; }
    /// All of a map, in the file's order: for metadata tables.
    std::vector<std::pair<int32_t, int64_t>> counts(size_t i, MetricsMap map) const;
    std::vector<std::pair<int32_t, std::string_view>> bounds(size_t i, MetricsMap map) const;

private:
    friend class ManifestDecoder;
    friend std::shared_ptr<const Manifest> parse_manifest(std::string_view, std::string_view,
                                                          const ManifestInheritance&);
    Manifest();

    struct Slice {
        uint32_t offset = 0;
        uint32_t size = 0;
    };
    /// A column that takes no space while every entry lacks it. Places are offsets into the arena; 0 is null.
    struct PlaceColumn {
        std::vector<uint32_t> places;
        uint32_t at(size_t i) const { return places.empty() ? 0 : places[i]; }
        void set(size_t i, size_t capacity, uint32_t place);
    };
    struct SliceColumn {
        std::vector<Slice> slices;
        Slice at(size_t i) const { return slices.empty() ? Slice{} : slices[i]; }
        void set(size_t i, size_t capacity, Slice slice);
    };
    static constexpr int64_t kAbsent = INT64_MIN;
    struct OptionalColumn {
        std::vector<int64_t> values;
        std::optional<int64_t> get(size_t i) const {
            if (values.empty() || values[i] == kAbsent) return std::nullopt;
            return values[i];
        }
        void set(size_t i, size_t capacity, int64_t value);
    };
    struct PartitionField {
        int32_t field_id = -1;
        std::string name;
        TypePtr type;
    };

    std::string_view view(Slice slice) const { return {arena_.data() + slice.offset, slice.size}; }
    std::optional<std::string_view> optional_view(const SliceColumn& column, size_t i) const {
        Slice slice = column.at(i);
        if (slice.offset == 0) return std::nullopt;
        return view(slice);
    }

    size_t size_ = 0;
    size_t live_files_ = 0;
    uint64_t live_rows_ = 0;
    std::string file_;
    int32_t spec_id_ = 0;
    int32_t format_version_ = 1;
    ManifestContent content_ = ManifestContent::Data;
    std::string schema_json_;
    std::string partition_spec_json_;
    std::shared_ptr<const Layout> layout_;  ///< shared by manifests of one schema
    std::string arena_;  ///< the decompressed blocks after one byte of nothing, so that offset 0 is no place

    std::vector<uint8_t> status_;
    std::vector<uint8_t> file_content_;
    std::vector<uint8_t> format_;
    std::vector<Slice> path_;
    std::vector<int64_t> snapshot_id_;
    std::vector<int64_t> sequence_number_;
    std::vector<int64_t> file_sequence_number_;
    std::vector<int64_t> record_count_;
    std::vector<int64_t> file_size_;
    std::vector<Slice> partition_bytes_;
    std::vector<PartitionField> partition_;
    OptionalColumn first_row_id_;
    OptionalColumn content_offset_;
    OptionalColumn content_size_;
    OptionalColumn sort_order_id_;
    SliceColumn referenced_;
    SliceColumn key_metadata_;
    PlaceColumn split_offsets_;
    PlaceColumn equality_ids_;
    std::array<PlaceColumn, kMetricsMaps> maps_;
};

/// A manifest of an Avro file's bytes; `file` is for messages. Fields are found by id, never by name or position.
/// INCORRECT_DATA: damaged Avro; ICEBERG_SPECIFICATION_VIOLATION: a required field is missing or of a wrong type;
/// LIMIT_EXCEEDED: over 4 GiB decompressed. The same manifest can be inherited from differently (first_row_id in
/// branches), so a cache's key holds the inheritance too.
std::shared_ptr<const Manifest> parse_manifest(std::string_view bytes, std::string_view file,
                                               const ManifestInheritance& inherited);

}  // namespace firn::iceberg
