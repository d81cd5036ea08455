// Avro schemas as a tree of nodes, with the attributes that Iceberg adds (spec: Appendix A, Avro).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::file::avro {

enum class Kind : uint8_t {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed,
    Enum,
    Array,
    Map,
    Record,
    Union,
};

enum class Logical : uint8_t {
    None,
    Decimal,
    Date,
    TimeMillis,
    TimeMicros,
    TimestampMillis,
    TimestampMicros,
    TimestampNanos,
    LocalTimestampMillis,
    LocalTimestampMicros,
    LocalTimestampNanos,
    Uuid,
    Map,      ///< an Array of records {key, value} that is a map
    Variant,  ///< a Record {metadata, value}
};

using NodeId = uint32_t;

/// A field of a record.
struct Field {
    std::string name;
    std::vector<std::string> aliases;
    std::optional<int32_t> field_id;
    NodeId type = 0;
    bool has_default = false;
};

struct Node {
    Kind kind = Kind::Null;
    Logical logical = Logical::None;
    int32_t precision = 0;              ///< Decimal
    int32_t scale = 0;                  ///< Decimal
    uint32_t size = 0;                  ///< Fixed: bytes
    std::optional<bool> adjust_to_utc;  ///< timestamps: Iceberg's "adjust-to-utc"; absent: true
    std::optional<int32_t> element_id;  ///< Array
    std::optional<int32_t> key_id;      ///< Map
    std::optional<int32_t> value_id;    ///< Map
    std::string name;                   ///< Record, Enum, Fixed: full name
    std::vector<Field> fields;          ///< Record
    std::vector<NodeId> children;       ///< Array: items; Map: values; Union: branches
    std::vector<std::string> symbols;   ///< Enum
    bool takes_no_bytes = false;        ///< null, or made of such only
};

/// A union of null and one other type, as every optional value is; or the type itself.
struct Nullable {
    NodeId type = 0;           ///< the type that is not null
    int32_t null_branch = -1;  ///< the union's branch for null, 0 or 1; -1: not a union, never null
};

class Schema {
public:
    const Node& node(NodeId id) const { return nodes_[id]; }
    const Node& root() const { return nodes_[root_]; }
    NodeId root_id() const { return root_; }
    size_t size() const { return nodes_.size(); }

    /// Nothing for a union of another form.
    std::optional<Nullable> nullable(NodeId id) const;

    /// A named type may hold itself, so a walk by nodes must count its depth.
    static Schema parse(std::string_view json, std::string_view where);

    /// As parse, but the one of this thread's last call where the text is the same: the files of a table share a few.
    static std::shared_ptr<const Schema> parse_shared(std::string_view json, std::string_view where);

private:
    friend class SchemaParser;
    std::vector<Node> nodes_;
    NodeId root_ = 0;
};

inline constexpr int kMaxDepth = 64;  ///< of nested values
inline constexpr size_t kMaxSchemaNodes = 100'000;

}  // namespace firn::file::avro
