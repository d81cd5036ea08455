// A Parquet schema with its lists, maps and variants resolved: the tree of FileFields that firn shows, and beside it
// what is needed to read each: definition and repetition levels, leaf columns, physical types. LogicalTypes.md of
// apache/parquet-format gives the rules, older layouts of lists and maps included.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/file/data_file.h"
#include "firn/file/parquet/metadata.h"

namespace firn::file::pq {

/// How a stored value becomes one of the natural type.
enum class Conversion : uint8_t {
    None,          // same layout
    Narrow8,       // INT32 to 8 bits
    Narrow16,      // INT32 to 16 bits
    Decimal,       // INT32 or INT64 to a decimal of another width
    DecimalBytes,  // big-endian two's complement, FIXED_LEN_BYTE_ARRAY or BYTE_ARRAY
    Int96,         // nanoseconds of the day and Julian day
    Float16,
    Uuid,
    FixedBytes,  // FIXED_LEN_BYTE_ARRAY as FixedString (or String)
};

struct Leaf {
    int column = 0;  // index among the leaf columns
    PhysicalType physical = PhysicalType::Boolean;
    int length = 0;  // bytes of a FIXED_LEN_BYTE_ARRAY
    Conversion conversion = Conversion::None;
    TypePtr type;         // natural, never Nullable
    bool ordered = true;  // min and max mean something for this type
    bool is_unsigned =
        false;  // integers whose order is unsigned; so is that of strings (deprecated statistics are not)
    Annotation annotation = Annotation::None;
    bool utc = false;  // timestamps: instants
    std::string path;  // "a.list.element", for messages

    /// Bytes of a stored value in memory: StringRef for BYTE_ARRAY, a byte for BOOLEAN.
    size_t raw_width() const;
};

struct Node {
    enum class Kind : uint8_t { Leaf, Struct, List, Map, Variant };
    Kind kind = Kind::Leaf;
    bool optional = false;
    uint8_t definition = 0;           // level from which the node is there and not null
    uint8_t repetition = 0;           // repeated ancestors
    uint8_t repeated_definition = 0;  // List, Map: level from which there is an element
    int field = -1;                   // FileField::index; -1 for what variants hide
    std::string name;
    Leaf leaf;                   // Kind::Leaf
    std::vector<Node> children;  // Struct, List (element), Map (key, value), Variant (what its group holds)
};

struct Schema {
    std::vector<FileField> fields;
    std::vector<Node> nodes;            // beside `fields`
    std::vector<const Node*> by_field;  // FileField::index -> node
    size_t columns = 0;                 // leaf columns in the file

    Schema() = default;
    Schema(Schema&&) = default;
    Schema& operator=(Schema&&) = default;
};

/// INCORRECT_DATA for a schema that is no tree, nested too deep or of impossible types.
Schema build_schema(const std::vector<SchemaElement>& elements);

}  // namespace firn::file::pq
