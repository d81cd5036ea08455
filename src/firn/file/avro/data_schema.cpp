#include "firn/file/avro/data_schema.h"

#include "firn/base/error.h"

namespace firn::file::avro {
namespace {

constexpr size_t kUuidBytes = 16;
constexpr size_t kMaxFixedString = 0xFFFFFF;
constexpr int kMaxDecimalDigits = 38;

TypePtr timestamp_type(const Node& node, int digits, bool local) {
    return make_datetime64(digits, !local && node.adjust_to_utc.value_or(false) ? "UTC" : "");
}

TypePtr decimal_type(const Node& node, const std::string& file) {
    if (node.precision < 1 || node.scale < 0 || node.scale > node.precision) return nullptr;
    if (node.precision > kMaxDecimalDigits)
        fail(ErrorCode::NOT_IMPLEMENTED, "{}: a decimal of {} digits is not supported", file, node.precision);
    return make_decimal(node.precision, node.scale);
}

TypePtr long_type(const Node& node) {
    switch (node.logical) {
        case Logical::TimestampMillis:
            return timestamp_type(node, 3, false);
        case Logical::TimestampMicros:
            return timestamp_type(node, 6, false);
        case Logical::TimestampNanos:
            return timestamp_type(node, 9, false);
        case Logical::LocalTimestampMillis:
            return timestamp_type(node, 3, true);
        case Logical::LocalTimestampMicros:
            return timestamp_type(node, 6, true);
        case Logical::LocalTimestampNanos:
            return timestamp_type(node, 9, true);
        default:
            return make_type(TypeId::Int64);
    }
}

TypePtr leaf_type(const Node& node, const std::string& file) {
    switch (node.kind) {
        case Kind::Boolean:
            return make_type(TypeId::Bool);
        case Kind::Int:
            return make_type(node.logical == Logical::Date ? TypeId::Date32 : TypeId::Int32);
        case Kind::Long:
            return long_type(node);
        case Kind::Float:
            return make_type(TypeId::Float32);
        case Kind::Double:
            return make_type(TypeId::Float64);
        case Kind::String:
            return make_type(node.logical == Logical::Uuid ? TypeId::UUID : TypeId::String);
        case Kind::Bytes:
            if (node.logical == Logical::Decimal)
                if (TypePtr type = decimal_type(node, file)) return type;
            return make_type(TypeId::String);
        case Kind::Fixed:
            if (node.logical == Logical::Decimal)
                if (TypePtr type = decimal_type(node, file)) return type;
            if (node.logical == Logical::Uuid && node.size == kUuidBytes) return make_type(TypeId::UUID);
            if (node.size == 0 || node.size > kMaxFixedString) return make_type(TypeId::String);
            return make_fixed_string(node.size);
        case Kind::Null:
            return make_type(TypeId::Nothing);
        default:
            return make_type(TypeId::String);  // enums
    }
}

bool is_local(Logical logical) {
    return logical == Logical::LocalTimestampMillis || logical == Logical::LocalTimestampMicros ||
           logical == Logical::LocalTimestampNanos;
}

bool is_timestamp(Logical logical) {
    return is_local(logical) || logical == Logical::TimestampMillis || logical == Logical::TimestampMicros ||
           logical == Logical::TimestampNanos;
}

class DataSchemaMaker {
public:
    DataSchemaMaker(const Schema& schema, const std::string& file) : schema_(schema), file_(file) {}

    DataSchema make() {
        const Node& root = schema_.root();
        if (root.kind != Kind::Record) fail(ErrorCode::INCORRECT_DATA, "{}: its Avro schema is no record", file_);
        for (const auto& field : root.fields)
            out_.fields.push_back(make_field(field.name, field.field_id, field.type, 1));
        return std::move(out_);
    }

private:
    FileField make_field(const std::string& name, std::optional<int> id, NodeId type, int depth, bool key = false) {
        if (depth > kMaxDepth)
            fail(ErrorCode::TOO_DEEP_RECURSION, "{}: Avro types nest deeper than {}", file_, kMaxDepth);
        if (out_.sources.size() >= kMaxDataFields)
            fail(ErrorCode::LIMIT_EXCEEDED, "{}: more than {} fields", file_, kMaxDataFields);
        const auto source = schema_.nullable(type);
        if (!source)
            fail(ErrorCode::NOT_IMPLEMENTED, "{}: column {} is a union other than of null and one type", file_, name);
        const Node& node = schema_.node(source->type);
        FileField field;
        field.name = name;
        field.field_id = id;
        field.index = static_cast<int>(out_.sources.size());
        field.optional = source->null_branch >= 0 || node.kind == Kind::Null;
        field.utc = is_timestamp(node.logical) && !is_local(node.logical) && node.adjust_to_utc.value_or(true);
        out_.sources.push_back({source->type, source->null_branch});
        add_children(field, node, depth);
        if (!field.type) field.type = leaf_type(node, file_);
        if (field.optional && !key) field.type = make_nullable(field.type);
        return field;
    }

    void add_children(FileField& field, const Node& node, int depth) {
        if (is_variant(schema_, node)) {
            field.type = make_type(TypeId::String);
        } else if (node.kind == Kind::Record) {
            std::vector<TypePtr> types;
            std::vector<std::string> names;
            for (const auto& child : node.fields) {
                field.children.push_back(make_field(child.name, child.field_id, child.type, depth + 1));
                types.push_back(field.children.back().type);
                names.push_back(child.name);
            }
            field.type = make_tuple_type(std::move(types), std::move(names));
        } else if (node.kind == Kind::Map) {
            field.children.push_back(map_key(node.key_id));
            field.children.push_back(make_field("value", node.value_id, node.children[0], depth + 1));
            field.type = make_map(field.children[0].type, field.children[1].type);
        } else if (node.kind == Kind::Array && is_map(node)) {
            const Node& entry = schema_.node(node.children[0]);
            field.children.push_back(
                make_field("key", entry.fields[0].field_id, entry.fields[0].type, depth + 1, true));
            field.children.push_back(make_field("value", entry.fields[1].field_id, entry.fields[1].type, depth + 1));
            field.type = make_map(field.children[0].type, field.children[1].type);
        } else if (node.kind == Kind::Array) {
            field.children.push_back(make_field("element", node.element_id, node.children[0], depth + 1));
            field.type = make_array(field.children[0].type);
        }
    }

    FileField map_key(std::optional<int> id) {
        FileField key;
        key.name = "key";
        key.field_id = id;
        key.index = static_cast<int>(out_.sources.size());
        key.type = make_type(TypeId::String);
        out_.sources.push_back({});  // the keys of an Avro map have no node
        return key;
    }

    bool is_map(const Node& node) const {
        const Node& entry = schema_.node(node.children[0]);
        return node.logical == Logical::Map && entry.kind == Kind::Record && entry.fields.size() == 2;
    }

    const Schema& schema_;
    const std::string& file_;
    DataSchema out_;
};

}  // namespace

bool is_variant(const Schema& schema, const Node& node) {
    const auto is_bytes = [&](const Field& field) { return schema.node(field.type).kind == Kind::Bytes; };
    return node.kind == Kind::Record && node.logical == Logical::Variant && node.fields.size() == 2 &&
           node.fields[0].name == "metadata" && node.fields[1].name == "value" && is_bytes(node.fields[0]) &&
           is_bytes(node.fields[1]);
}

DataSchema to_data_schema(const Schema& schema, const std::string& file) {
    return DataSchemaMaker(schema, file).make();
}

}  // namespace firn::file::avro
