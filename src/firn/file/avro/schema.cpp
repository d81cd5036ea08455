#include "firn/file/avro/schema.h"

#include <unordered_map>

#include <simdjson.h>

#include "firn/base/error.h"

namespace firn::file::avro {

namespace dom = simdjson::dom;

namespace {

std::optional<std::string_view> text_of(dom::object object, const char* key) {
    std::string_view text;
    if (object[key].get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    return text;
}

/// An integer attribute; anything else counts as not there.
std::optional<int32_t> int_of(dom::object object, const char* key) {
    int64_t value;
    if (object[key].get_int64().get(value) != simdjson::SUCCESS) return std::nullopt;
    if (value < INT32_MIN || value > INT32_MAX) return std::nullopt;
    return static_cast<int32_t>(value);
}

const std::unordered_map<std::string_view, Kind>& primitive_kinds() {
    static const std::unordered_map<std::string_view, Kind> kinds = {
        {"null", Kind::Null},   {"boolean", Kind::Boolean}, {"int", Kind::Int},     {"long", Kind::Long},
        {"float", Kind::Float}, {"double", Kind::Double},   {"bytes", Kind::Bytes}, {"string", Kind::String},
    };
    return kinds;
}

/// The logical type by its name, where it fits the kind: Avro says to pass over one that does not.
Logical logical_of(std::string_view name, Kind kind) {
    if (name == "decimal" && (kind == Kind::Bytes || kind == Kind::Fixed)) return Logical::Decimal;
    if (name == "date" && kind == Kind::Int) return Logical::Date;
    if (name == "time-millis" && kind == Kind::Int) return Logical::TimeMillis;
    if (name == "map" && kind == Kind::Array) return Logical::Map;
    if (name == "variant" && kind == Kind::Record) return Logical::Variant;
    if (name == "uuid" && (kind == Kind::String || kind == Kind::Fixed)) return Logical::Uuid;
    if (kind != Kind::Long) return Logical::None;
    if (name == "time-micros") return Logical::TimeMicros;
    if (name == "timestamp-millis") return Logical::TimestampMillis;
    if (name == "timestamp-micros") return Logical::TimestampMicros;
    if (name == "timestamp-nanos") return Logical::TimestampNanos;
    if (name == "local-timestamp-millis") return Logical::LocalTimestampMillis;
    if (name == "local-timestamp-micros") return Logical::LocalTimestampMicros;
    if (name == "local-timestamp-nanos") return Logical::LocalTimestampNanos;
    return Logical::None;
}

}  // namespace

class SchemaParser {
public:
    SchemaParser(Schema& schema, std::string_view where) : schema_(schema), where_(where) {}

    NodeId parse(dom::element element, std::string_view space, int depth) {
        if (depth > kMaxDepth)
            fail(ErrorCode::TOO_DEEP_RECURSION, "{}: Avro schema nested over {} levels", where_, kMaxDepth);
        std::string_view text;
        if (element.get_string().get(text) == simdjson::SUCCESS) return parse_name(text, space);
        dom::array branches;
        if (element.get_array().get(branches) == simdjson::SUCCESS) return parse_union(branches, space, depth);
        dom::object object;
        if (element.get_object().get(object) == simdjson::SUCCESS) return parse_object(object, space, depth);
        bad("a type is neither a name nor an array nor an object");
    }

    /// Marks the nodes whose values take no bytes, so that a walk does not count to 2^63 over them.
    void mark_empty() {
        bool changed = true;
        while (changed) {
            changed = false;
            for (Node& node : schema_.nodes_) {
                if (node.takes_no_bytes || !is_empty(node)) continue;
                node.takes_no_bytes = true;
                changed = true;
            }
        }
    }

private:
    [[noreturn]] void bad(std::string_view what) {
        fail(ErrorCode::INCORRECT_DATA, "{}: the Avro schema is wrong: {}", where_, what);
    }

    bool is_empty(const Node& node) const {
        if (node.kind == Kind::Null) return true;
        if (node.kind == Kind::Fixed) return node.size == 0;
        if (node.kind != Kind::Record) return false;
        for (const Field& field : node.fields) {
            if (!schema_.nodes_[field.type].takes_no_bytes) return false;
        }
        return true;
    }

    NodeId add(Node node) {
        if (schema_.nodes_.size() >= kMaxSchemaNodes) {
            fail(ErrorCode::LIMIT_EXCEEDED, "{}: Avro schema of more than {} types", where_, kMaxSchemaNodes);
        }
        schema_.nodes_.push_back(std::move(node));
        return static_cast<NodeId>(schema_.nodes_.size() - 1);
    }

    NodeId parse_name(std::string_view name, std::string_view space) {
        auto primitive = primitive_kinds().find(name);
        if (primitive != primitive_kinds().end()) {
            Node node;
            node.kind = primitive->second;
            return add(std::move(node));
        }
        auto named = named_.find(full_name(name, space));
        if (named == named_.end()) named = named_.find(std::string(name));
        if (named == named_.end()) bad(fmt::format("there is no type \"{}\"", name));
        return named->second;
    }

    static std::string full_name(std::string_view name, std::string_view space) {
        if (space.empty() || name.find('.') != name.npos) return std::string(name);
        return std::string(space) + "." + std::string(name);
    }

    NodeId parse_union(dom::array branches, std::string_view space, int depth) {
        Node node;
        node.kind = Kind::Union;
        for (dom::element branch : branches) node.children.push_back(parse(branch, space, depth + 1));
        if (node.children.empty()) bad("a union has no branches");
        return add(std::move(node));
    }

    NodeId parse_object(dom::object object, std::string_view space, int depth) {
        dom::element type;
        if (object["type"].get(type) != simdjson::SUCCESS) bad("a type object has no \"type\"");
        std::string_view name;
        if (type.get_string().get(name) != simdjson::SUCCESS) return parse(type, space, depth + 1);
        if (name == "record" || name == "error") return parse_record(object, space, depth);
        if (name == "enum" || name == "fixed") return parse_enum_or_fixed(object, name == "enum", space);
        if (name == "array" || name == "map") return parse_collection(object, name == "array", space, depth);
        auto primitive = primitive_kinds().find(name);
        if (primitive == primitive_kinds().end()) return parse_name(name, space);
        Node node;
        node.kind = primitive->second;
        read_attributes(object, node);
        return add(std::move(node));
    }

    void read_attributes(dom::object object, Node& node) {
        if (auto logical = text_of(object, "logicalType")) node.logical = logical_of(*logical, node.kind);
        if (node.logical == Logical::Decimal) {
            node.precision = int_of(object, "precision").value_or(0);
            node.scale = int_of(object, "scale").value_or(0);
            if (node.precision < 1 || node.scale < 0 || node.scale > node.precision) {
                bad(fmt::format("decimal({}, {})", node.precision, node.scale));
            }
        }
        bool utc;
        if (object["adjust-to-utc"].get_bool().get(utc) == simdjson::SUCCESS) node.adjust_to_utc = utc;
        node.element_id = int_of(object, "element-id");
        node.key_id = int_of(object, "key-id");
        node.value_id = int_of(object, "value-id");
    }

    /// Adds a node under its full name before its fields are read, since they may name it.
    NodeId add_named(dom::object object, Node node, std::string_view space, std::string& own_space) {
        auto name = text_of(object, "name");
        if (!name || name->empty()) bad("a named type has no name");
        own_space = std::string(text_of(object, "namespace").value_or(space));
        node.name = full_name(*name, own_space);
        size_t dot = node.name.rfind('.');
        own_space = dot == std::string::npos ? "" : node.name.substr(0, dot);
        std::string key = node.name;
        NodeId id = add(std::move(node));
        // A writer that repeats a definition in full means the newest.
        named_[key] = id;
        return id;
    }

    NodeId parse_record(dom::object object, std::string_view space, int depth) {
        Node node;
        node.kind = Kind::Record;
        read_attributes(object, node);
        std::string own_space;
        NodeId id = add_named(object, std::move(node), space, own_space);
        dom::array list;
        if (object["fields"].get_array().get(list) != simdjson::SUCCESS) bad("a record has no \"fields\"");
        std::vector<Field> fields;
        for (dom::element item : list) {
            dom::object entry;
            if (item.get_object().get(entry) != simdjson::SUCCESS) bad("a field is no object");
            Field field;
            auto name = text_of(entry, "name");
            if (!name) bad("a field has no name");
            field.name = *name;
            field.field_id = int_of(entry, "field-id");
            field.has_default = entry["default"].error() == simdjson::SUCCESS;
            dom::array aliases;
            if (entry["aliases"].get_array().get(aliases) == simdjson::SUCCESS) {
                for (dom::element alias : aliases) {
                    std::string_view text;
                    if (alias.get_string().get(text) == simdjson::SUCCESS) field.aliases.emplace_back(text);
                }
            }
            dom::element type;
            if (entry["type"].get(type) != simdjson::SUCCESS) bad(fmt::format("field \"{}\" has no type", *name));
            field.type = parse(type, own_space, depth + 1);
            fields.push_back(std::move(field));
        }
        schema_.nodes_[id].fields = std::move(fields);
        return id;
    }

    NodeId parse_enum_or_fixed(dom::object object, bool is_enum, std::string_view space) {
        Node node;
        node.kind = is_enum ? Kind::Enum : Kind::Fixed;
        read_attributes(object, node);
        if (is_enum) {
            dom::array symbols;
            if (object["symbols"].get_array().get(symbols) != simdjson::SUCCESS) bad("an enum has no \"symbols\"");
            for (dom::element symbol : symbols) {
                std::string_view text;
                if (symbol.get_string().get(text) != simdjson::SUCCESS) bad("a symbol is no text");
                node.symbols.emplace_back(text);
            }
        } else {
            auto size = int_of(object, "size");
            if (!size || *size < 0) bad("a fixed type has no size");
            node.size = static_cast<uint32_t>(*size);
        }
        std::string own_space;
        return add_named(object, std::move(node), space, own_space);
    }

    NodeId parse_collection(dom::object object, bool is_array, std::string_view space, int depth) {
        Node node;
        node.kind = is_array ? Kind::Array : Kind::Map;
        read_attributes(object, node);
        dom::element item;
        if (object[is_array ? "items" : "values"].get(item) != simdjson::SUCCESS)
            bad("an array or map has no item type");
        node.children.push_back(parse(item, space, depth + 1));
        return add(std::move(node));
    }

    Schema& schema_;
    std::string_view where_;
    std::unordered_map<std::string, NodeId> named_;
};

Schema Schema::parse(std::string_view json, std::string_view where) {
    dom::parser parser;
    dom::element element;
    auto error = parser.parse(json.data(), json.size()).get(element);
    if (error != simdjson::SUCCESS) {
        fail(ErrorCode::INCORRECT_DATA, "{}: the Avro schema is not JSON: {}", where, simdjson::error_message(error));
    }
    Schema schema;
    SchemaParser walk(schema, where);
    schema.root_ = walk.parse(element, "", 0);
    walk.mark_empty();
    return schema;
}

std::shared_ptr<const Schema> Schema::parse_shared(std::string_view json, std::string_view where) {
    static thread_local std::string last_json;
    static thread_local std::shared_ptr<const Schema> last;
    if (last && last_json == json) return last;
    auto schema = std::make_shared<const Schema>(parse(json, where));
    last_json = json;
    last = schema;
    return schema;
}

std::optional<Nullable> Schema::nullable(NodeId id) const {
    const Node& node = nodes_[id];
    if (node.kind != Kind::Union) return Nullable{id, -1};
    if (node.children.size() != 2) return std::nullopt;
    for (int branch : {0, 1}) {
        if (nodes_[node.children[static_cast<size_t>(branch)]].kind == Kind::Null) {
            return Nullable{node.children[static_cast<size_t>(1 - branch)], branch};
        }
    }
    return std::nullopt;
}

}  // namespace firn::file::avro
