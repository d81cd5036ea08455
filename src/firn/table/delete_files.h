// Reading delete files, once each for a scan, and taking the deleted rows out of selections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "firn/file/data_file.h"
#include "firn/iceberg/deletion_vector.h"
#include "firn/iceberg/scan_plan.h"
#include "firn/table/data_files.h"
#include "firn/table/equality_deletes.h"
#include "firn/table/iceberg_types.h"
#include "firn/vector/vector.h"

namespace firn::table {

/// Ascending, each once.
using RowPositions = std::vector<uint64_t>;
/// Sorts them where they are not.
void make_positions(RowPositions& positions);

/// The deleted positions of one data file. Immutable.
class DeletedPositions {
public:
    explicit DeletedPositions(std::shared_ptr<const iceberg::DeletionVector> vector) : vector_(std::move(vector)) {}
    explicit DeletedPositions(std::shared_ptr<const RowPositions> positions) : positions_(std::move(positions)) {}

    /// The deleted rows of [begin, begin + count), relative to begin, ascending.
    void in_range(uint64_t begin, size_t count, Selection& deleted) const;

private:
    std::shared_ptr<const iceberg::DeletionVector> vector_;
    std::shared_ptr<const RowPositions> positions_;
};

/// A field to compare by, perhaps inside structs: `top` is the column around it cut down to it, all levels optional.
struct KeyField {
    iceberg::NestedField top;
    size_t depth = 0;  // structs around it
    TypePtr read_type() const { return sql_type(top, {}); }
    /// The field's own values out of the column's.
    VectorPtr values(const VectorPtr& column) const;
};

/// What applies to one data file.
struct FileDeletes {
    std::shared_ptr<const DeletedPositions> positions;  // null: none
    /// Those of keys that files older than a delete file may have: to be asked with the data file's sequence number.
    std::vector<std::shared_ptr<const EqualityDeletes>> equality;
    /// Names this version of the data file with these equality deletes, in the cache of metadata: rows found deleted are kept
    /// there. Empty: nothing is kept.
    std::string equality_key;
};

/// Loads the delete files of a scan as they are asked for; each is read once. Thread-safe.
class DeleteLoader {
public:
    /// The table, the schema and the plan must outlive it. Only delete files that the plan's data files name are read.
    DeleteLoader(const iceberg::TableFiles& table, const iceberg::Schema& schema, const iceberg::ScanPlan& plan,
                 size_t threads);
    FileDeletes load(const iceberg::PlannedFile& planned);
    /// Remote storage: asks for the delete files of a data file, without waiting for them.
    void ask_ahead(const iceberg::PlannedFile& planned);

    /// How to find the values of a field that deletes compare by: of the scan's schema, or, where it was dropped, of the
    /// latest schema that had it.
    KeyField key_field(int32_t id) const;

private:
    using PositionsByPath = std::unordered_map<std::string, RowPositions>;
    struct Loaded {
        std::once_flag once;
        std::shared_ptr<const iceberg::DeletionVector> vector;
        std::shared_ptr<const PositionsByPath> positions;
        std::mutex mutex;  // of the two below
        bool asked = false;
        FileAhead ahead;
    };
    /// Equality delete files of one scope that delete by the same fields.
    struct EqualityGroup {
        std::once_flag once;
        std::vector<int32_t> field_ids;
        std::vector<uint32_t> files;
        std::shared_ptr<const EqualityDeletes> deletes;
    };
    FileAhead begin_reading(const iceberg::FileRef& file) const;
    /// What ask_ahead has begun, if anything; nothing is asked ahead after that.
    FileAhead take_ahead(uint32_t index);
    template <typename T>
    std::shared_ptr<const T> cached(const std::vector<uint32_t>& files, std::string_view what,
                                    const std::function<std::pair<std::shared_ptr<const T>, size_t>()>& load) const;
    const Loaded& get(uint32_t index);
    std::shared_ptr<const EqualityDeletes> get(EqualityGroup& group);
    std::string equality_key(const iceberg::PlannedFile& planned, const FileDeletes& deletes) const;
    std::shared_ptr<const iceberg::DeletionVector> read_vector(const iceberg::FileRef& file,
                                                               const FileAhead& ahead) const;
    std::shared_ptr<const PositionsByPath> read_positions(const file::DataFile& file) const;
    EqualityDeletes::Part read_equality(uint32_t index, const std::vector<int32_t>& ids);

    const iceberg::TableFiles& table_;
    const iceberg::Schema& schema_;
    const std::vector<iceberg::FileRef>& files_;
    size_t threads_;
    std::vector<std::unique_ptr<Loaded>> loaded_;
    std::vector<std::unique_ptr<EqualityGroup>> groups_;
    std::vector<uint32_t> group_of_;  // of each delete file; kNoGroup where it is not of equality
};

}  // namespace firn::table
