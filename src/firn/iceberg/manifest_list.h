// Manifest lists: the manifests of one snapshot, with what is needed to skip them (spec: Manifest Lists).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::iceberg {

enum class ManifestContent : uint8_t { Data = 0, Deletes = 1 };

/// What all the files of a manifest have in one partition field.
struct FieldSummary {
    bool contains_null = true;
    std::optional<bool> contains_nan;             ///< absent: unknown
    std::optional<std::string_view> lower_bound;  ///< binary form of the partition field's type; absent: no such value
    std::optional<std::string_view> upper_bound;
};

/// One manifest as the list describes it. Views live as long as the ManifestList.
struct ManifestFile {
    std::string_view path;  ///< as written
    int64_t length = -1;    ///< bytes; -1 unknown
    int32_t spec_id = 0;    ///< -1: unknown, the manifest itself tells (v1 snapshots without a list)
    ManifestContent content = ManifestContent::Data;
    int64_t sequence_number = 0;      ///< 0 in v1
    int64_t min_sequence_number = 0;  ///< 0 in v1
    int64_t added_snapshot_id = -1;
    // Absent: unknown, to be taken for more than zero.
    std::optional<int64_t> added_files;
    std::optional<int64_t> existing_files;
    std::optional<int64_t> deleted_files;
    std::optional<int64_t> added_rows;
    std::optional<int64_t> existing_rows;
    std::optional<int64_t> deleted_rows;
    bool has_partitions = false;           ///< whether there are summaries; else nothing is known of the partitions
    std::vector<FieldSummary> partitions;  ///< one for each field of the spec, in its order
    std::string_view key_metadata;
    std::optional<int64_t> first_row_id;  ///< v3

    /// Whether it may hold files that are live in the snapshot.
    bool may_have_live_files() const { return added_files.value_or(1) > 0 || existing_files.value_or(1) > 0; }
};

class ManifestList {
public:
    const std::vector<ManifestFile>& manifests() const { return manifests_; }
    /// Bytes of memory held, for a cache's limit.
    size_t memory_bytes() const;

    /// The list of a v1 snapshot that names its manifests itself. Everything but the path is unknown.
    static std::shared_ptr<const ManifestList> of_paths(const std::vector<std::string>& paths, int64_t snapshot_id);

private:
    friend std::shared_ptr<const ManifestList> parse_manifest_list(std::string_view, std::string_view);
    std::vector<ManifestFile> manifests_;
    std::vector<std::string> arena_;
};

/// A manifest list of an Avro file's bytes; `file` is for messages. INCORRECT_DATA: damaged Avro;
/// ICEBERG_SPECIFICATION_VIOLATION: a required field is missing.
std::shared_ptr<const ManifestList> parse_manifest_list(std::string_view bytes, std::string_view file);

}  // namespace firn::iceberg
