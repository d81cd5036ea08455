// Reading an Iceberg table: from a plan of files to tasks, a unit (row group, stripe) each.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "firn/exec/filter.h"
#include "firn/file/data_file.h"
#include "firn/iceberg/scan_plan.h"
#include "firn/plan/source.h"
#include "firn/table/data_files.h"
#include "firn/table/delete_files.h"
#include "firn/table/filter_predicate.h"
#include "firn/table/iceberg_source.h"

namespace firn::table {

/// Conjuncts that read the same columns, evaluated together.
struct FilterStage {
    std::vector<size_t> columns;  // of the request
    std::vector<plan::ExpressionPtr> conjuncts;
    bool file_constant = false;  // reads only columns that are constant in a file (_path …)
};

/// What all tasks of a scan share; immutable while they run, but for the counters.
struct ScanContext {
    const IcebergSource* source;
    plan::ScanRequest request;
    std::vector<FilterStage> stages;
    iceberg::PredicatePtr predicate;  // of all filters
    bool predicate_exact = false;     // it says just what the filters say
    iceberg::ScanPlan plan;
    std::unique_ptr<DeleteLoader> deletes;
    std::atomic<uint64_t> rows_given{0};
    std::atomic<uint64_t> units{0}, units_pruned{0}, units_pruned_by_bloom{0};
};

/// One data file, opened, with what is needed to read any of its units.
struct OpenedFile {
    const iceberg::PlannedFile* planned = nullptr;
    std::shared_ptr<const file::DataFile> file;
    std::vector<file::ReadField> columns;  // one for each request column; for virtual ones the stored lineage, if any
    std::vector<VectorPtr> constants;      // request columns that are constant in this file, one row; else null
    FileDeletes deletes;
    std::vector<KeyField> keys;  // fields that equality deletes compare by ...
    std::vector<file::ReadField> key_columns;
    std::vector<std::vector<size_t>> delete_keys;  // ... and which of them each delete file compares
};

/// A unit to read: rows of it that may pass, as ranges.
struct UnitWork {
    std::shared_ptr<const OpenedFile> file;
    size_t unit = 0;
    bool all_match = false;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;  // [begin, end), ascending
    std::shared_ptr<const void> ahead = nullptr;        // bytes that storage has been asked for
    bool asked_ahead = false;
    bool continued = false;  // another task reads the unit's first rows
};

class IcebergScan : public plan::Scan {
public:
    IcebergScan(const IcebergSource& source, const plan::ScanRequest& request);

    std::unique_ptr<plan::ScanTask> next_task() override;
    std::optional<uint64_t> row_estimate() const override { return row_estimate_; }
    std::vector<Batch> metadata_partials() override { return std::move(partials_); }
    std::vector<std::string> explain() const override;

private:
    void build_stages();
    void order_files();
    void answer_from_metadata();
    bool limit_reached() const;
    void split_last(UnitWork& work);
    /// Opens a file and says what of it has to be read.
    std::vector<UnitWork> open(size_t file);
    /// Remote storage: asks for the footers of the files that come next, and for what the next units will read.
    void look_ahead(size_t file);
    void look_ahead_in_units();

    ScanContext context_;
    std::optional<uint64_t> row_estimate_;
    std::vector<Batch> partials_;
    size_t files_answered_ = 0;

    std::mutex mutex_;
    std::condition_variable opened_;
    std::deque<UnitWork> units_;
    std::map<size_t, FileAhead> files_ahead_;
    size_t asked_files_ = 0;  // files below this one have been asked for
    size_t units_given_ = 0;
    size_t next_file_ = 0;
    size_t opening_ = 0;
    bool failed_ = false;
};

/// Reads a unit: batches of the rows that pass all filters and are not deleted.
std::unique_ptr<plan::ScanTask> make_unit_task(ScanContext& context, UnitWork work);

}  // namespace firn::table
