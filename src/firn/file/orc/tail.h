// What an ORC file says of itself: postscript, footer, stripe footers, indexes and statistics, as plain values (ORC v1
// specification, "File Tail", "Stripes", "Indexes"). Every offset and length is checked against the file; errors are
// INCORRECT_DATA and name the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/storage/object_store.h"

namespace firn::file::orc {

/// In the specification's numbering.
enum class Compression : uint8_t { None, Zlib, Snappy, Lzo, Lz4, Zstd, Brotli };

/// In the specification's numbering.
enum class Kind : uint8_t {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Timestamp,
    List,
    Map,
    Struct,
    Union,
    Decimal,
    Date,
    Varchar,
    Char,
    TimestampInstant,
    Geometry,
};

/// A column's type. Columns are numbered depth first; column 0 is the struct of all of a row.
struct Type {
    Kind kind = Kind::Struct;
    std::vector<uint32_t> subtypes;  ///< column numbers of the children
    std::vector<std::string> field_names;
    uint32_t precision = 0;
    uint32_t scale = 0;
    // Iceberg's attributes; empty where absent.
    std::optional<int> iceberg_id;
    std::string binary_type;     ///< UUID, FIXED, BINARY
    std::string timestamp_unit;  ///< MICROS, NANOS
    std::string struct_type;     ///< VARIANT
    uint32_t fixed_length = 0;
};

struct Stripe {
    uint64_t offset = 0;
    uint64_t index_length = 0;
    uint64_t data_length = 0;
    uint64_t footer_length = 0;
    uint64_t rows = 0;
    uint64_t first_row = 0;
};

struct Tail {
    Compression compression = Compression::None;
    uint64_t block_size = 0;  ///< most bytes of a decompressed chunk
    uint32_t writer = 0;      ///< 0: Java, 1: C++, others by the specification
    uint32_t writer_version = 0;
    bool decimal64 = false;  ///< decimals of up to 18 digits are plain integers (ORC v2)
    uint64_t rows = 0;
    uint32_t row_index_stride = 0;  ///< rows of a row group; 0: no row indexes
    uint64_t metadata_offset = 0;   ///< of the stripes' statistics
    uint64_t metadata_length = 0;
    std::vector<Stripe> stripes;
    std::vector<Type> types;
};

/// Reads postscript and footer. NOT_IMPLEMENTED for encrypted files.
Tail read_tail(const storage::OpenFile& file);

/// Kinds of streams that firn reads, in the specification's numbering.
enum class StreamKind : uint8_t {
    Present = 0,
    Data = 1,
    Length = 2,
    DictionaryData = 3,
    Secondary = 5,
    RowIndex = 6,
    BloomFilter = 7,
    BloomFilterUtf8 = 8,
};

struct StreamInfo {
    uint32_t kind = 0;
    uint32_t column = 0;
    uint64_t offset = 0;  ///< in the file
    uint64_t length = 0;
};

enum class EncodingKind : uint8_t { Direct, Dictionary, DirectV2, DictionaryV2 };

struct ColumnEncoding {
    EncodingKind kind = EncodingKind::Direct;
    uint32_t dictionary_size = 0;
};

struct StripeFooter {
    std::vector<StreamInfo> streams;
    std::vector<ColumnEncoding> encodings;  ///< one a column
    std::string writer_timezone;

    /// The column's stream, or null.
    const StreamInfo* find(uint32_t column, StreamKind kind) const;
};

StripeFooter read_stripe_footer(const storage::OpenFile& file, const Tail& tail, size_t stripe);

/// Statistics of a column over a stripe or a row group. What the file does not say is empty.
struct ColumnStatistics {
    std::optional<uint64_t> values;  ///< NULLs left out
    std::optional<bool> has_null;
    std::optional<int64_t> int_min, int_max;  ///< integers; dates in days
    std::optional<double> double_min, double_max;
    std::optional<std::string> bytes_min, bytes_max;  ///< strings; decimals as text
    bool min_exact = true, max_exact = true;          ///< for bytes_min, bytes_max: not a shortened bound
    std::optional<int64_t> millis_min, millis_max;    ///< timestamps, UTC
    std::optional<int32_t> nanos_min, nanos_max;      ///< what lies below the millisecond
    std::optional<uint64_t> true_count;               ///< booleans
};

struct RowIndexEntry {
    std::vector<uint64_t> positions;
    ColumnStatistics statistics;
};

std::vector<RowIndexEntry> read_row_index(const storage::OpenFile& file, const Tail& tail, const StreamInfo& stream);

/// A row group's bloom filter.
struct BloomFilter {
    uint32_t functions = 0;  ///< how many bits stand for a value
    std::string bits;        ///< little-endian
};

std::vector<BloomFilter> read_bloom_filters(const storage::OpenFile& file, const Tail& tail, const StreamInfo& stream);

/// Statistics of all stripes, each of all columns; empty where the file has none.
std::vector<std::vector<ColumnStatistics>> read_stripe_statistics(const storage::OpenFile& file, const Tail& tail);

inline constexpr size_t kMaxTailBytes = size_t{1} << 30;  ///< of a footer, stripe footer or index, decompressed
inline constexpr size_t kMaxColumns = 100'000;

}  // namespace firn::file::orc
