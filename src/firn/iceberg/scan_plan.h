// Planning a scan (spec: Scan Planning): which data files of a snapshot may hold rows that pass, and which deletes apply to
// each. Reads the manifest list and those manifests that survive, nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/iceberg/manifest.h"
#include "firn/iceberg/memory_charge.h"
#include "firn/iceberg/predicate.h"
#include "firn/iceberg/table_files.h"

namespace firn::iceberg {

/// An entry of a manifest, which it keeps alive.
struct FileRef {
    std::shared_ptr<const Manifest> manifest;
    uint32_t entry = 0;

    std::string_view path() const { return manifest->path(entry); }  // as written
    int64_t record_count() const { return manifest->record_count(entry); }
    int64_t sequence_number() const { return manifest->sequence_number(entry); }
};

struct PlannedFile {
    FileRef file;
    const PartitionSpec* spec = nullptr;  // of the table's metadata; null where that lacks the manifest's spec
    /// Indices into ScanPlan::delete_files. A deletion vector comes alone: it stands for all position deletes of the file.
    std::vector<uint32_t> deletes;
    /// Every row passes the predicate, by metadata alone (deletes aside).
    bool all_match = false;
};

struct ScanPlan {
    std::vector<PlannedFile> files;
    std::vector<FileRef> delete_files;
    /// Of each delete file: equality deletes of one scope apply to the same data files, but for their sequence numbers.
    std::vector<uint32_t> delete_scopes;

    /// The query is charged for the files and manifests above while this lives.
    std::shared_ptr<MemoryCharge> memory;

    // What was looked at and skipped.
    size_t manifests = 0;         // data manifests in the list that may have live files
    size_t manifests_pruned = 0;  // by partition summaries
    size_t delete_manifests = 0;
    size_t files_seen = 0;  // live data files in the manifests read
    size_t files_pruned_by_partition = 0;
    size_t files_pruned_by_bounds = 0;

    // Of files that are not listed, as only their rows' number is wanted (ScanPlanOptions::count_only). Each stands for a
    // file all of whose rows pass, with no deletes.
    size_t files_counted = 0;
    uint64_t rows_counted = 0;
};

struct ScanPlanOptions {
    bool prune = true;  // use_iceberg_partition_pruning
    size_t threads = 1;
    /// Where metadata shows that all rows of a manifest's files pass, they are counted instead of listed.
    bool count_only = false;
};

/// schema: that by which the predicate's fields are meant (the snapshot's, or the present one). The table's metadata must
/// outlive the plan.
ScanPlan plan_scan(const TableFiles& table, const Snapshot& snapshot, const Schema& schema, const Predicate& predicate,
                   const ScanPlanOptions& options);

/// What a file's counts and bounds, and its partition values, say of a column.
ValueRange known_range(const FileRef& file, const PartitionSpec* spec, const Schema& schema, int32_t field_id);

/// An identity partition field's value for a source column; nothing where the file's spec has none.
std::optional<Datum> identity_partition_value(const FileRef& file, const PartitionSpec* spec, int32_t source_id);

}  // namespace firn::iceberg
