// How one manifest's Avro schema lays out what Iceberg reads from it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "firn/iceberg/avro_fields.h"
#include "firn/iceberg/manifest.h"

namespace firn::iceberg {

/// What is done with a field of an entry.
enum class Step : uint8_t {
    Skip,
    EnterRecord,
    Status,
    SnapshotId,
    SequenceNumber,
    FileSequenceNumber,
    Content,
    Path,
    Format,
    Partition,
    RecordCount,
    FileSize,
    Map,
    KeyMetadata,
    SplitOffsets,
    EqualityIds,
    SortOrderId,
    FirstRowId,
    Referenced,
    ContentOffset,
    ContentSize,
};

/// Key and value of a map that is an array of records.
struct MapShape {
    bool known = false;
    bool plain = false;  ///< exactly a key, then a value, neither ever null
    bool bytes = false;  ///< values are bytes, else numbers
    std::vector<AvroField> fields;
    size_t key = 0;  ///< index in `fields`
    size_t value = 0;
};

struct Manifest::Layout {
    struct Op {
        Step step = Step::Skip;
        uint8_t map = 0;  ///< which, for Step::Map
        AvroField field;
    };

    std::shared_ptr<const file::avro::Schema> shared_schema;
    const file::avro::Schema& schema;
    std::vector<Op> ops;  ///< of a whole entry in the file's order, the data_file record's fields in place
    std::array<MapShape, kMetricsMaps> maps;
    std::vector<AvroField> partition;
    bool has_sequence_number = false;

    /// ICEBERG_SPECIFICATION_VIOLATION where a required field is missing or one has the wrong type.
    static std::shared_ptr<const Layout> make(std::shared_ptr<const file::avro::Schema> schema, std::string_view file);
    /// As make, but the one of this thread's last call where the schema is the same object.
    static std::shared_ptr<const Layout> shared(const std::shared_ptr<const file::avro::Schema>& schema,
                                                std::string_view file);

    explicit Layout(std::shared_ptr<const file::avro::Schema> of)
        : shared_schema(std::move(of)), schema(*shared_schema) {}
};

}  // namespace firn::iceberg
