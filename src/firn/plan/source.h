// What a source of rows is to the planner and the executor: an Iceberg table, a file, numbers(), a system table.
//
// Planning: a Source says its columns; the optimizer leaves in a ScanRequest what the query needs of it; Source::scan()
// plans the reading (for Iceberg: prunes manifests and files) and gives a Scan. Executing: workers take tasks from the
// Scan and read batches, which hold the requested columns, in order, for just the rows that pass all filters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "firn/plan/expression.h"
#include "firn/vector/vector.h"

namespace firn::plan {

struct SourceColumn {
    std::string name;
    TypePtr type;
    bool is_virtual = false;  // _path …: found by name, left out of *
    std::string comment;
};

/// A filter that becomes known while the query runs: from a join's build side or from a top-N's current threshold. The
/// executor fills it and sets `ready`; a scan looks at each task's and each batch's begin and drops what cannot pass.
/// It may be ignored: it only ever drops rows that cannot matter.
struct RuntimeFilter {
    size_t column = 0;  // index into ScanRequest::columns
    std::atomic<bool> ready{false};

    struct Content {
        bool empty = false;       // the build side has no rows: nothing passes
        VectorPtr min, max;       // one row each, of the column's type without Nullable; null = no bound. Inclusive.
        bool keep_nulls = false;  // NULLs (and NaNs) pass whatever the bounds
        VectorPtr values;         // all distinct values where they are few (flat, same type); null otherwise
        std::shared_ptr<const std::vector<uint64_t>>
            bloom;  // bits by hash_rows of the value; null = none. Blocked: see bloom_might_contain
        /// Integers of up to 8 bytes between min and max: which of them occur, bit i of word i / 64 standing for min + i;
        /// null = unknown.
        std::shared_ptr<const std::vector<uint64_t>> occurring;
    };
    std::shared_ptr<const Content> content() const {
        std::lock_guard lock(mutex);
        return content_;
    }
    /// May be called again with a tighter content (top-N).
    void set(std::shared_ptr<const Content> content) {
        std::lock_guard lock(mutex);
        content_ = std::move(content);
        ready.store(true, std::memory_order_release);
        version.fetch_add(1, std::memory_order_release);
    }
    std::atomic<uint64_t> version{0};

private:
    mutable std::mutex mutex;
    std::shared_ptr<const Content> content_;
};

/// A blocked bloom filter over hashes of hash_rows (of one column): size a power of two ≥ 1 words of 64 bits.
inline void bloom_insert(std::vector<uint64_t>& bits, uint64_t hash) {
    bits[(hash >> 32) & (bits.size() - 1)] |=
        (1ULL << (hash & 63)) | (1ULL << ((hash >> 6) & 63)) | (1ULL << ((hash >> 12) & 63));
}
inline bool bloom_might_contain(const std::vector<uint64_t>& bits, uint64_t hash) {
    const uint64_t mask = (1ULL << (hash & 63)) | (1ULL << ((hash >> 6) & 63)) | (1ULL << ((hash >> 12) & 63));
    return (bits[(hash >> 32) & (bits.size() - 1)] & mask) == mask;
}

/// The aggregates that a source may answer from metadata, for a query that wants nothing else of it.
struct MetadataAggregate {
    enum class Kind : uint8_t { Count, Min, Max } kind = Kind::Count;
    size_t column = 0;       // of ScanRequest::columns; Min, Max, and Count of a column's not-NULL values
    bool count_rows = true;  // Count: of rows
};

struct ScanRequest {
    std::vector<size_t> columns;  // of Source::columns(), in the order wanted; may be empty (only the count matters)
    std::vector<ExpressionPtr> filters;  // conjuncts over `columns` positions; the scan applies every one exactly
    /// Rows after which the query needs no more (LIMIT without ORDER BY, after filters); a hint.
    std::optional<uint64_t> limit;
    std::vector<std::shared_ptr<RuntimeFilter>> runtime_filters;
    /// A top-N above orders by this column first: files may be visited in the order of its bounds. Index into columns.
    std::optional<size_t> order_column;
    bool order_descending = false;
    /// Columns that no operator above the scan reads (only filters do) need not be filled: true = wanted in the output.
    /// Empty = all wanted. A column not wanted comes as any vector of the right size (a Constant of defaults).
    std::vector<bool> output;
    /// Not empty: the query is exactly these aggregates over the rows that pass. The scan may answer some files (or
    /// all) from metadata: see Scan::metadata_partials.
    std::vector<MetadataAggregate> aggregates;
};

/// One unit of work for one worker: some rows of the source.
class ScanTask {
public:
    virtual ~ScanTask() = default;
    /// The next rows, never an empty batch; false at the end.
    virtual bool next(Batch& batch) = 0;
    /// The same, but where most rows of a batch are wanted it may come whole: `wanted` then says which they are, ascending,
    /// at least one.
    virtual bool next_unpicked(Batch& batch, std::optional<Selection>& wanted) {
        wanted.reset();
        return next(batch);
    }
};

class Scan {
public:
    virtual ~Scan() = default;
    /// The next task, or null when there are no more. Thread-safe. Tasks of about equal size, in a good order.
    virtual std::unique_ptr<ScanTask> next_task() = 0;
    /// Rows that will be given at most, as far as planning knows; for build sides, progress and pre-sizing.
    virtual std::optional<uint64_t> row_estimate() const { return std::nullopt; }
    /// For ScanRequest::aggregates: one row a file (or group of files) answered from metadata, columns = the
    /// aggregates' values (Count: UInt64; Min, Max: the column's type, Nullable when it is or when it may have no row).
    /// Those files give no tasks. Empty when none were.
    virtual std::vector<Batch> metadata_partials() { return {}; }
    /// Lines for EXPLAIN: what was kept and skipped at which level, and why.
    virtual std::vector<std::string> explain() const { return {}; }
};

struct ColumnEstimate {
    std::optional<double> distinct;  // number of distinct values
    std::optional<double> null_fraction;
    VectorPtr min, max;  // one row each, null when not known; need not be exact
};

class Source {
public:
    virtual ~Source() = default;
    virtual const std::vector<SourceColumn>& columns() const = 0;
    /// Rows in all, before filters; exact or about.
    virtual std::optional<uint64_t> row_count_estimate() const { return std::nullopt; }
    virtual ColumnEstimate column_estimate(size_t column) const { return {}; }
    virtual std::unique_ptr<Scan> scan(const ScanRequest& request) const = 0;
    /// Whether the other source has the same columns and the same rows: false where that is not known.
    virtual bool same_rows(const Source& other) const { return this == &other; }
    /// "icebergLocal('…')" for EXPLAIN and errors.
    virtual std::string description() const = 0;
};

}  // namespace firn::plan
