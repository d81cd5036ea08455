// Iceberg's types and schemas (spec: Schemas and Data Types; JSON in Appendix C). Values here are immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace firn::iceberg {

enum class TypeKind : uint8_t {
    Unknown,  ///< v3: always null, not stored in files
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Decimal,
    Date,           ///< days since 1970-01-01, 32 bits
    Time,           ///< microseconds of the day
    Timestamp,      ///< microseconds since 1970-01-01 00:00:00, without zone
    TimestampTz,    ///< the same in UTC, a point in time
    TimestampNs,    ///< v3: nanoseconds
    TimestampTzNs,  ///< v3: nanoseconds
    String,
    Uuid,
    Fixed,
    Binary,
    Variant,    ///< v3
    Geometry,   ///< v3
    Geography,  ///< v3
    Struct,
    List,
    Map,
};

class Type;
using TypePtr = std::shared_ptr<const Type>;
struct Literal;  // iceberg/values.h: a typed value, nested ones included
using LiteralPtr = std::shared_ptr<const Literal>;

/// A field of a struct, the element of a list, or the key or value of a map.
struct NestedField {
    int32_t id = 0;
    std::string name;  ///< "element", "key", "value" in lists and maps
    bool required = false;
    TypePtr type;
    std::string doc;
    LiteralPtr initial_default;  ///< v3: for rows of files that lack the field; null: none
    LiteralPtr write_default;    ///< v3: for new rows that do not give the field; null: none
};

class Type {
public:
    TypeKind kind = TypeKind::Unknown;
    int32_t precision = 0;            ///< Decimal: 1 to 38
    int32_t scale = 0;                ///< Decimal: 0 to precision
    int32_t length = 0;               ///< Fixed: bytes
    std::string crs;                  ///< Geometry, Geography: "OGC:CRS84" unless given
    std::string algorithm;            ///< Geography: "spherical" unless given
    std::vector<NestedField> fields;  ///< Struct: its fields; List: {element}; Map: {key, value}

    bool is_primitive() const { return kind < TypeKind::Struct; }
    bool is_struct() const { return kind == TypeKind::Struct; }
    const NestedField& element() const { return fields[0]; }
    const NestedField& key() const { return fields[0]; }
    const NestedField& value() const { return fields[1]; }

    /// "long", "decimal(9, 2)", "fixed[16]", "struct<1: a: optional int>", for messages and metadata tables.
    std::string to_string() const;

    static TypePtr primitive(TypeKind kind);  ///< any kind that takes no parameters
    static TypePtr decimal(int32_t precision, int32_t scale);
    static TypePtr fixed(int32_t length);
};

/// Same kinds, parameters, ids, names and requiredness; docs and defaults aside.
bool same_type(const Type& left, const Type& right);

/// Whether values written as `from` may be read as `to` (spec: Schema Evolution): equal primitives, int → long,
/// float → double, wider decimals of one scale, and of v3 date → timestamp or timestamp_ns, unknown → anything.
bool can_promote(const Type& from, const Type& to);

/// Where a field stands in its schema.
struct FieldPlace {
    const NestedField* field = nullptr;
    std::string name;        ///< full name, parts joined by '.': "point.x", "tags.element"
    int32_t parent_id = -1;  ///< id of the enclosing field, -1 at the top
    bool repeated = false;   ///< inside a list or map: more than one value a row, so no bounds to trust for pruning
};

/// A table's columns. Copies share the fields; every pointer into a schema lives as long as any copy.
class Schema {
public:
    Schema() = default;
    /// ICEBERG_SPECIFICATION_VIOLATION when two fields share an id.
    Schema(int32_t schema_id, std::vector<NestedField> fields, std::vector<int32_t> identifier_field_ids = {});

    int32_t schema_id() const { return schema_id_; }
    const std::vector<NestedField>& fields() const { return root_->fields; }
    /// The struct of all columns.
    const TypePtr& root() const { return root_; }
    const std::vector<int32_t>& identifier_field_ids() const { return identifier_field_ids_; }
    int32_t highest_field_id() const { return highest_field_id_; }

    /// Any field at any depth; null where the schema has none of that id.
    const NestedField* field(int32_t id) const;
    const FieldPlace* place(int32_t id) const;
    /// By full name ("point.x"); a top-level field named "point.x" wins over field x of point. Null where there is
    /// none.
    const NestedField* field_by_name(std::string_view full_name) const;

private:
    struct Index;
    int32_t schema_id_ = 0;
    int32_t highest_field_id_ = 0;
    TypePtr root_;
    std::vector<int32_t> identifier_field_ids_;
    std::shared_ptr<const Index> index_;
};

/// A schema of JSON text, as a manifest's metadata carries it. `where` names the file and field for messages.
/// INCORRECT_DATA: not JSON; ICEBERG_SPECIFICATION_VIOLATION: not a schema; TOO_DEEP_RECURSION: nested over 100 levels.
Schema parse_schema(std::string_view json, std::string_view where);

/// A type by its JSON name: "long", "decimal(9,2)", "fixed[16]", "geometry(srid:4326)". Null where there is none.
TypePtr parse_primitive_type(std::string_view name);

// Ids of the columns that are not a table's own (spec: Reserved Field IDs).
inline constexpr int32_t kFileFieldId = 2147483646;                       ///< _file
inline constexpr int32_t kPositionFieldId = 2147483645;                   ///< _pos
inline constexpr int32_t kDeleteFilePathFieldId = 2147483546;             ///< file_path of position deletes
inline constexpr int32_t kDeletePositionFieldId = 2147483545;             ///< pos of position deletes
inline constexpr int32_t kDeleteRowFieldId = 2147483544;                  ///< row of position deletes
inline constexpr int32_t kRowIdFieldId = 2147483540;                      ///< _row_id
inline constexpr int32_t kLastUpdatedSequenceNumberFieldId = 2147483539;  ///< _last_updated_sequence_number
inline constexpr int32_t kFirstReservedFieldId = 2147483447 + 1;

}  // namespace firn::iceberg
