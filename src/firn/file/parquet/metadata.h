// What a Parquet footer, page header and page index say, as parsed and range-checked values; see parquet.thrift of
// apache/parquet-format. Views point into the bytes that were parsed, which the holder keeps alive.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace firn::file::pq {

enum class PhysicalType : uint8_t { Boolean, Int32, Int64, Int96, Float, Double, ByteArray, FixedLenByteArray };
enum class Repetition : uint8_t { Required, Optional, Repeated };
enum class PageEncoding : uint8_t {
    Plain = 0,
    PlainDictionary = 2,
    Rle = 3,
    BitPacked = 4,
    DeltaBinaryPacked = 5,
    DeltaLengthByteArray = 6,
    DeltaByteArray = 7,
    RleDictionary = 8,
    ByteStreamSplit = 9,
};
enum class Compression : uint8_t { Uncompressed, Snappy, Gzip, Lzo, Brotli, Lz4, Zstd, Lz4Raw };
enum class PageKind : uint8_t { Data = 0, Index = 1, Dictionary = 2, DataV2 = 3 };
enum class ColumnOrder : uint8_t { Undefined, TypeDefined, Ieee754Total, Int96Timestamp };

/// Logical and converted types in one; None where there is neither, or one that is not known.
enum class Annotation : uint8_t {
    None,
    String,
    Enum,
    Json,
    Bson,
    List,
    Map,
    MapKeyValue,
    Decimal,
    Date,
    Time,
    Timestamp,
    Integer,
    Null,
    Uuid,
    Float16,
    Variant,
    Geometry,
    Geography,
    Interval,
};

struct SchemaElement {
    std::string_view name;
    std::optional<PhysicalType> physical;  // empty for groups
    std::optional<Repetition> repetition;
    int32_t type_length = 0;
    int32_t children = 0;
    std::optional<int> field_id;
    Annotation annotation = Annotation::None;
    int32_t precision = 0, scale = 0;  // Decimal
    int unit = 0;                      // Time, Timestamp: 3, 6 or 9 decimal digits of the second
    bool utc = false;                  // Time, Timestamp
    int bits = 0;                      // Integer
    bool is_signed = true;             // Integer
};

struct Statistics {
    std::optional<std::string_view> deprecated_min, deprecated_max, min, max;
    std::optional<int64_t> null_count, nan_count;
    std::optional<bool> min_exact, max_exact;
};

struct ColumnChunk {
    PhysicalType physical = PhysicalType::Boolean;
    Compression compression = Compression::Uncompressed;
    bool encrypted = false;
    bool elsewhere = false;  // file_path names another file
    int64_t values = 0;
    int64_t compressed_size = 0;
    int64_t data_offset = 0;
    int64_t dictionary_offset = 0;  // 0: none
    Statistics statistics;
    /// From the encoding statistics: whether all data pages are dictionary-encoded; empty where there are none.
    std::optional<bool> all_dictionary;
    int64_t bloom_offset = 0;
    int32_t bloom_length = 0;  // 0: not known
    int64_t offset_index_offset = 0, column_index_offset = 0;
    int32_t offset_index_length = 0, column_index_length = 0;

    int64_t begin() const {
        return dictionary_offset > 0 && dictionary_offset < data_offset ? dictionary_offset : data_offset;
    }
};

struct RowGroup {
    std::vector<ColumnChunk> columns;
    int64_t rows = 0;
};

struct FileMetadata {
    std::vector<SchemaElement> schema;
    std::vector<RowGroup> row_groups;
    std::vector<ColumnOrder> column_orders;  // empty: none written
    int64_t rows = 0;
    std::string_view created_by;
};

struct PageHeader {
    PageKind kind = PageKind::Data;
    uint32_t compressed_size = 0, uncompressed_size = 0;
    std::optional<uint32_t> crc;
    uint32_t values = 0;
    PageEncoding encoding = PageEncoding::Plain;
    PageEncoding definition_encoding = PageEncoding::Rle, repetition_encoding = PageEncoding::Rle;
    // DataV2 only
    uint32_t rows = 0;
    uint32_t nulls = 0;
    uint32_t definition_bytes = 0, repetition_bytes = 0;
    bool compressed = true;
};

struct PageLocation {
    int64_t offset = 0;
    int32_t compressed_size = 0;
    int64_t first_row = 0;
};

struct ColumnIndex {
    std::vector<uint8_t> null_pages;
    std::vector<std::string_view> min, max;
    std::vector<int64_t> null_counts, nan_counts;  // empty: not written
};

struct BloomHeader {
    int32_t bytes = 0;
    bool known = false;  // block algorithm, xxHash, not compressed: what firn can ask
};

// Parsers; INCORRECT_DATA for damaged bytes.
FileMetadata parse_file_metadata(std::span<const uint8_t> bytes);
/// Sets `size` to the header's length in bytes.
PageHeader parse_page_header(std::span<const uint8_t> bytes, size_t& size);
std::vector<PageLocation> parse_offset_index(std::span<const uint8_t> bytes);
ColumnIndex parse_column_index(std::span<const uint8_t> bytes);
BloomHeader parse_bloom_header(std::span<const uint8_t> bytes, size_t& size);

}  // namespace firn::file::pq
