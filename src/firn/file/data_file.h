// One interface over data files of every format: what columns a file has, which parts of it can be skipped, and the
// reading of columns into vectors, each chunk for the rows that survive.
//
// A DataFile is an open file: footer read and checked, immutable, thread-safe, shareable in a cache. It is cut into units
// that can be read independently of each other: row groups (Parquet), stripes (ORC), runs of blocks (Avro). A UnitReader
// reads one unit on one thread.
//
// Errors: INCORRECT_DATA for a damaged file, NOT_IMPLEMENTED for what firn cannot read yet; both name the file (and the
// column where there is one).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "firn/storage/object_store.h"
#include "firn/types/data_type.h"
#include "firn/vector/vector.h"

namespace firn::file {

enum class Format : uint8_t { Parquet, ORC, Avro };

/// A field of a file's schema. Nodes: leaves, structs (Tuple), lists (Array; one child, the element), maps (Map; two
/// children, key and value). Legacy list and map layouts are already resolved into these.
struct FileField {
    std::string name;
    std::optional<int> field_id;  // Iceberg's id, where the file carries one
    /// Natural type, as file() shows it: Nullable where optional; Array, Map and Tuple never are.
    TypePtr type;
    bool optional = false;  // may be null at this level (structs, lists and maps too)
    /// Index among all fields of the file, depth first; what ReadField::source names.
    int index = 0;
    /// Timestamps: instants (adjusted to UTC) or local times; false where the file does not say.
    bool utc = false;
    std::vector<FileField> children;
};

/// Which rows' values a reader shall give, and how: the tree of the wanted type beside the file's.
struct ReadField {
    /// Wanted type. Differs from the natural one by Nullable, by promotions (int → long, float → double, decimal precision,
    /// date → timestamp, timestamp units), by names of tuple elements and by children added, dropped or reordered.
    TypePtr type;
    /// FileField::index of the field that holds the values; -1: not in the file, `missing` stands for every row.
    int source = -1;
    /// One row of `type` (null: the type's default). Below an absent or null struct the struct's own absence counts.
    VectorPtr missing;
    /// Tuple: one for each wanted element. Array: the element. Map: key, value. Empty for leaves.
    std::vector<ReadField> children;
};

/// The ReadField that reads a file's field as it is.
ReadField read_whole(const FileField& field);

/// Bounds and counts of a leaf's values in a unit or page. What is not known is empty.
struct ValueStatistics {
    VectorPtr min, max;  // one row of the leaf's natural type without Nullable
    bool min_exact = false,
         max_exact = false;  // attained by a value, as against only a bound (truncated, NaN left out)
    std::optional<uint64_t> null_count;
    uint64_t values = 0;  // nulls included
    /// Floats: min and max leave NaNs out (as Parquet's do), so NaN may be present unless nan_count says 0.
    std::optional<uint64_t> nan_count;
};

struct PageRange {
    uint64_t first_row = 0;  // within the unit
    uint64_t rows = 0;
    ValueStatistics statistics;
};

class UnitReader {
public:
    virtual ~UnitReader() = default;

    /// Values of column `column` (index into the `columns` given to read_unit) for the rows [begin, begin + count) of the
    /// unit, or of those of them that `selection` names (ascending, relative to begin; null = all).
    /// For each column, calls must not go backwards; rows may be left out, and then whole pages are not decoded.
    /// The type is the ReadField's. Encoded forms are kept: a dictionary column comes as a Dictionary vector.
    virtual VectorPtr read(size_t column, uint64_t begin, size_t count, const Selection* selection) = 0;

    /// The chunk size that suits the file from row `begin` on, at most `most`: readers may prefer page boundaries.
    virtual size_t preferred_rows(uint64_t begin, size_t most) const { return most; }
};

class DataFile {
public:
    virtual ~DataFile() = default;

    virtual const std::string& path() const = 0;
    virtual Format format() const = 0;
    /// Top-level fields.
    virtual const std::vector<FileField>& fields() const = 0;
    virtual uint64_t rows() const = 0;

    virtual size_t units() const = 0;
    virtual uint64_t unit_rows(size_t unit) const = 0;
    /// Position in the file of the unit's first row: what position deletes and _pos count from.
    virtual uint64_t unit_first_row(size_t unit) const = 0;

    /// Of a leaf field; values all unknown where the file has none (or has untrustworthy ones).
    virtual ValueStatistics unit_statistics(size_t unit, int field) const { return {}; }
    /// From the page index; empty where there is none.
    virtual std::vector<PageRange> page_statistics(size_t unit, int field) const { return {}; }
    /// Whether the leaf has a bloom filter or a whole-chunk dictionary that could answer might_contain.
    virtual bool has_bloom_filter(size_t unit, int field) const { return false; }
    /// False where the unit surely has no row with this value (one row of the natural type without Nullable).
    virtual bool might_contain(size_t unit, int field, const VectorPtr& value) const { return true; }
    /// All values that occur in the unit for a leaf wholly dictionary-encoded (some entries may not occur); null if not so.
    virtual VectorPtr unit_dictionary(size_t unit, int field) const { return nullptr; }

    virtual std::unique_ptr<UnitReader> read_unit(size_t unit, std::vector<ReadField> columns) const = 0;

    /// Asks storage for what read_unit with these columns will read, without waiting (storage::OpenFile::read_ahead). Null
    /// where there is nothing to gain, or where it would be so much that each column had better be asked for when its
    /// turn comes.
    virtual std::shared_ptr<const void> read_ahead(size_t unit, const std::vector<ReadField>& columns) const {
        return nullptr;
    }
};

/// Opens a file, reading and checking its footer (Avro: its header, and the blocks' sizes).
std::shared_ptr<const DataFile> open_data_file(std::shared_ptr<const storage::OpenFile> file, Format format);

std::shared_ptr<const DataFile> open_parquet(std::shared_ptr<const storage::OpenFile> file);
std::shared_ptr<const DataFile> open_orc(std::shared_ptr<const storage::OpenFile> file);
std::shared_ptr<const DataFile> open_avro(std::shared_ptr<const storage::OpenFile> file);

/// By the file's first and last bytes; nothing where it is none of these.
std::optional<Format> detect_format(const storage::OpenFile& file);

// Shared by the readers.

/// `vector` (of a leaf's natural type, any encoding) as values of `wanted`: Nullable added or (no NULLs present) removed,
/// and Iceberg's promotions made, on the dictionary where there is one. Throws INCORRECT_DATA naming `where` for a
/// change that is no promotion, and for a NULL in a column that allows none.
VectorPtr promote(const VectorPtr& vector, const TypePtr& wanted, std::string_view where);

}  // namespace firn::file
