// An Iceberg table, at one snapshot, as a source of rows.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/settings.h"
#include "firn/iceberg/scan_plan.h"
#include "firn/plan/source.h"
#include "firn/table/iceberg_types.h"

namespace firn::table {

/// Columns that every Iceberg table has besides its own, found by name only.
enum class VirtualColumn : uint8_t { Path, File, Size, Time, Etag, RowNumber, RowId, LastUpdatedSequenceNumber };

struct IcebergReadOptions {
    IcebergTypeOptions types;
    bool prune = true;  // use_iceberg_partition_pruning
    size_t threads = 1;
    size_t batch_rows = 8192;
    static IcebergReadOptions from(const Settings& settings);
};

/// Which snapshot, and by which schema it is read.
struct SnapshotChoice {
    const iceberg::Snapshot* snapshot = nullptr;  // null: the table is empty
    const iceberg::Schema* schema = nullptr;
};
/// By iceberg_snapshot_id, iceberg_timestamp_ms, iceberg_ref; the present one without them. BAD_ARGUMENTS for several of
/// them or where there is no such snapshot or ref.
SnapshotChoice choose_snapshot(const iceberg::TableMetadata& metadata, const Settings& settings);

class IcebergSource : public plan::Source {
public:
    IcebergSource(iceberg::TableFiles table, SnapshotChoice choice, IcebergReadOptions options,
                  std::string description);

    const std::vector<plan::SourceColumn>& columns() const override { return columns_; }
    std::optional<uint64_t> row_count_estimate() const override;
    plan::ColumnEstimate column_estimate(size_t column) const override;
    std::unique_ptr<plan::Scan> scan(const plan::ScanRequest& request) const override;
    std::string description() const override { return description_; }
    /// The same snapshot by the same metadata file, with the same columns.
    bool same_rows(const plan::Source& other) const override;

    const iceberg::TableFiles& table() const { return table_; }
    const SnapshotChoice& choice() const { return choice_; }
    const IcebergReadOptions& options() const { return options_; }
    /// The field of a column; null for virtual ones.
    const iceberg::NestedField* field(size_t column) const;
    std::optional<VirtualColumn> virtual_column(size_t column) const;

private:
    iceberg::TableFiles table_;
    SnapshotChoice choice_;
    IcebergReadOptions options_;
    std::string description_;
    std::vector<plan::SourceColumn> columns_;
    mutable std::mutex estimates_mutex_;
    /// Once an estimate has asked for them; nothing inside where there are none to estimate by.
    mutable std::optional<std::optional<std::vector<std::shared_ptr<const iceberg::Manifest>>>> manifests_;
    mutable std::map<size_t, plan::ColumnEstimate> estimates_;  // by column, of those asked for
};

}  // namespace firn::table
