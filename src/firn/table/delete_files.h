// Reading delete files, once each for a scan, and taking the deleted rows out of selections.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/file/data_file.h"
#include "firn/iceberg/deletion_vector.h"
#include "firn/iceberg/scan_plan.h"
#include "firn/table/data_files.h"
#include "firn/table/iceberg_types.h"
#include "firn/vector/vector.h"

namespace firn::table {

/// The deleted positions of one data file. Immutable.
class DeletedPositions {
public:
    explicit DeletedPositions(std::shared_ptr<const iceberg::DeletionVector> vector) : vector_(std::move(vector)) {}
    /// Any order, repeats allowed.
    explicit DeletedPositions(std::vector<uint64_t> positions);

    /// The rows of [begin, begin + count) that are not deleted, relative to begin. False, and `left` untouched, where none is
    /// deleted.
    bool remaining(uint64_t begin, size_t count, Selection& left) const;

private:
    std::shared_ptr<const iceberg::DeletionVector> vector_;
    std::vector<uint64_t> positions_;  // ascending
};

/// The keys of one equality delete file: a set of rows over the columns that it names. Immutable.
class EqualityDeletes {
public:
    /// keys: one vector for each field, of the types in which data will be compared.
    EqualityDeletes(std::vector<int32_t> field_ids, std::vector<VectorPtr> keys);

    const std::vector<int32_t>& field_ids() const { return field_ids_; }
    size_t size() const { return rows_; }
    /// Clears keep[i] for rows that the set holds. `columns`: values of field_ids, in order; hashes: of them.
    void mark(const std::vector<VectorPtr>& columns, const std::vector<uint64_t>& hashes,
              std::vector<uint8_t>& keep) const;

private:
    std::vector<int32_t> field_ids_;
    std::vector<VectorPtr> keys_;
    std::vector<Decoded> decoded_;
    size_t rows_ = 0;
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;  // row + 1; 0 = empty
    uint64_t mask_ = 0;
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
    std::vector<std::shared_ptr<const EqualityDeletes>> equality;
};

/// Loads the delete files of a scan as they are asked for; each is read once. Thread-safe.
class DeleteLoader {
public:
    DeleteLoader(const iceberg::TableFiles& table, const iceberg::Schema& schema,
                 const std::vector<iceberg::FileRef>& files);
    FileDeletes load(const iceberg::PlannedFile& planned);
    /// Remote storage: asks for the delete files of a data file, without waiting for them.
    void ask_ahead(const iceberg::PlannedFile& planned);

    /// How to find the values of a field that deletes compare by: of the scan's schema, or, where it was dropped, of the
    /// latest schema that had it.
    KeyField key_field(int32_t id) const;

private:
    using PositionsByPath = std::unordered_map<std::string, std::vector<uint64_t>>;
    struct Loaded {
        std::once_flag once;
        std::shared_ptr<const iceberg::DeletionVector> vector;
        std::shared_ptr<const PositionsByPath> positions;
        std::shared_ptr<const EqualityDeletes> equality;
        std::mutex mutex;  // of the two below
        bool asked = false;
        FileAhead ahead;
    };
    FileAhead begin_reading(const iceberg::FileRef& file) const;
    const Loaded& get(uint32_t index);
    std::shared_ptr<const PositionsByPath> read_positions(const file::DataFile& file) const;
    std::shared_ptr<const EqualityDeletes> read_equality(const file::DataFile& file, std::vector<int32_t> ids) const;

    const iceberg::TableFiles& table_;
    const iceberg::Schema& schema_;
    const std::vector<iceberg::FileRef>& files_;
    std::vector<std::unique_ptr<Loaded>> loaded_;
};

}  // namespace firn::table
