#include "firn/file/parquet/schema.h"

#include "firn/base/error.h"

namespace firn::file::pq {
namespace {

constexpr int kMaxDepth = 60;

struct Levels {
    uint8_t definition = 0;
    uint8_t repetition = 0;
};

/// Reads the flat list of elements into a tree of Nodes and FileFields.
class Builder {
public:
    explicit Builder(const std::vector<SchemaElement>& elements) : elements_(elements) { index_children(); }

    Schema build() {
        Schema out;
        if (elements_.empty()) fail(ErrorCode::INCORRECT_DATA, "the schema is empty");
        for (size_t child : children_[0]) {
            Node node;
            FileField field;
            convert(child, Levels{}, node, field);
            out.nodes.push_back(std::move(node));
            out.fields.push_back(std::move(field));
        }
        int next = 0;
        for (size_t i = 0; i < out.nodes.size(); ++i) number(out.nodes[i], out.fields[i], next);
        out.by_field.resize(static_cast<size_t>(next));
        for (const Node& node : out.nodes) enter(node, out.by_field);
        out.columns = static_cast<size_t>(leaves_);
        return out;
    }

private:
    using Kind = Node::Kind;

    void index_children() {
        children_.resize(elements_.size());
        size_t next = 0;
        if (!elements_.empty()) index_from(next, 0);
        if (next != elements_.size()) fail(ErrorCode::INCORRECT_DATA, "the schema's elements do not form one tree");
    }
    void index_from(size_t& next, int depth) {
        if (depth > kMaxDepth) fail(ErrorCode::INCORRECT_DATA, "the schema is nested deeper than {} levels", kMaxDepth);
        const size_t own = next++;
        for (int32_t i = 0; i < elements_[own].children; ++i) {
            if (next >= elements_.size()) fail(ErrorCode::INCORRECT_DATA, "the schema's elements do not form one tree");
            children_[own].push_back(next);
            index_from(next, depth + 1);
        }
    }

    const SchemaElement& element(size_t at) const { return elements_[at]; }
    bool is_group(size_t at) const { return !elements_[at].physical.has_value(); }
    bool is_repeated(size_t at) const { return elements_[at].repetition == Repetition::Repeated; }

    static Levels deeper(Levels levels, bool definition, bool repetition) {
        if (levels.definition > 250) fail(ErrorCode::INCORRECT_DATA, "the schema has too many levels");
        levels.definition = static_cast<uint8_t>(levels.definition + definition);
        levels.repetition = static_cast<uint8_t>(levels.repetition + repetition);
        return levels;
    }

    /// A field as its repetition says: a repeated one is a list of what it holds.
    void convert(size_t at, Levels above, Node& node, FileField& field) {
        if (!is_repeated(at))
            return convert_value(at, above, element(at).repetition == Repetition::Optional, node, field);
        make_list(at, above, false, node, field);
        const Levels inner = deeper(above, true, true);
        node.repeated_definition = inner.definition;
        convert_value(at, inner, false, node.children.emplace_back(), field.children.emplace_back());
        field.children[0].name = "element";
        field.children[0].field_id.reset();  // the list's own
        field.type = make_array(field.children[0].type);
    }

    void make_list(size_t at, Levels above, bool optional, Node& node, FileField& field) {
        name(at, node, field);
        node.kind = Kind::List;
        node.optional = field.optional = optional;
        node.definition = deeper(above, optional, false).definition;
        node.repetition = above.repetition;
    }

    void name(size_t at, Node& node, FileField& field) {
        field.name = std::string(element(at).name);
        field.field_id = element(at).field_id;
        node.name = field.name;
    }

    /// A field whose repetition is already dealt with.
    void convert_value(size_t at, Levels above, bool optional, Node& node, FileField& field) {
        name(at, node, field);
        const Levels levels = deeper(above, optional, false);
        node.optional = field.optional = optional;
        node.definition = levels.definition;
        node.repetition = levels.repetition;
        path_.push_back(element(at).name);
        if (!is_group(at))
            convert_leaf(at, optional, node, field);
        else if (is_variant(at))
            convert_variant(at, levels, node, field);
        else if (is_list(at))
            convert_list(at, levels, node, field);
        else if (is_map(at))
            convert_map(at, levels, node, field);
        else
            convert_struct(at, levels, node, field);
        path_.pop_back();
    }

    bool is_list(size_t at) const {
        if (children_[at].size() != 1 || !is_repeated(children_[at][0])) return false;
        return element(at).annotation == Annotation::List || is_map_without_values(at);
    }
    /// The format allows maps of keys alone; they are lists of them.
    bool is_map_without_values(size_t at) const {
        const Annotation annotation = element(at).annotation;
        const size_t pair = children_[at][0];
        return (annotation == Annotation::Map || annotation == Annotation::MapKeyValue) && is_group(pair) &&
               children_[pair].size() == 1 && !is_repeated(children_[pair][0]);
    }
    bool is_map(size_t at) const {
        if (element(at).annotation != Annotation::Map && element(at).annotation != Annotation::MapKeyValue)
            return false;
        if (children_[at].size() != 1) return false;
        const size_t pair = children_[at][0];
        return is_repeated(pair) && is_group(pair) && children_[pair].size() == 2 && !is_repeated(children_[pair][0]);
    }
    /// Annotated, or the bare group of `metadata` and `value` that Iceberg writers made before the annotation existed.
    bool is_variant(size_t at) const {
        if (element(at).annotation == Annotation::Variant) return !children_[at].empty();
        if (element(at).annotation != Annotation::None || children_[at].size() < 2 || children_[at].size() > 3)
            return false;
        bool metadata = false, value = false, other = false;
        for (size_t child : children_[at]) {
            const SchemaElement& member = element(child);
            const bool bytes =
                member.physical == PhysicalType::ByteArray && member.annotation == Annotation::None && !member.field_id;
            if (member.name == "metadata")
                metadata = bytes && member.repetition == Repetition::Required;
            else if (member.name == "value")
                value = bytes;
            else if (member.name != "typed_value")
                other = true;
        }
        return metadata && value && !other;
    }

    void convert_struct(size_t at, Levels levels, Node& node, FileField& field) {
        if (children_[at].empty()) fail(ErrorCode::NOT_IMPLEMENTED, "group '{}' has no fields: not supported", path());
        node.kind = Kind::Struct;
        std::vector<TypePtr> types;
        std::vector<std::string> names;
        for (size_t child : children_[at]) {
            Node inner;
            FileField inner_field;
            convert(child, levels, inner, inner_field);
            types.push_back(inner_field.type);
            names.push_back(inner_field.name);
            node.children.push_back(std::move(inner));
            field.children.push_back(std::move(inner_field));
        }
        field.type = make_tuple_type(std::move(types), std::move(names));
    }

    /// Whether the repeated field is the element itself (older layouts), rather than a wrapper around it.
    bool repeated_is_element(size_t list, size_t repeated) const {
        if (!is_group(repeated) || children_[repeated].size() != 1) return true;
        if (is_repeated(children_[repeated][0])) return true;
        const std::string_view repeated_name = element(repeated).name;
        return repeated_name == "array" || repeated_name == std::string(element(list).name) + "_tuple";
    }

    void convert_list(size_t at, Levels levels, Node& node, FileField& field) {
        node.kind = Kind::List;
        const size_t repeated = children_[at][0];
        const Levels inner = deeper(levels, true, true);
        node.repeated_definition = inner.definition;
        Node& child = node.children.emplace_back();
        FileField& child_field = field.children.emplace_back();
        if (repeated_is_element(at, repeated)) {
            convert_value(repeated, inner, false, child, child_field);
        } else {
            path_.push_back(element(repeated).name);
            convert(children_[repeated][0], inner, child, child_field);
            path_.pop_back();
        }
        child_field.name = "element";
        field.type = make_array(child_field.type);
    }

    void convert_map(size_t at, Levels levels, Node& node, FileField& field) {
        node.kind = Kind::Map;
        const size_t pair = children_[at][0];
        const Levels inner = deeper(levels, true, true);
        node.repeated_definition = inner.definition;
        node.children.resize(2);
        field.children.resize(2);
        path_.push_back(element(pair).name);
        for (size_t i = 0; i < 2; ++i) convert(children_[pair][i], inner, node.children[i], field.children[i]);
        path_.pop_back();
        field.children[0].name = "key";
        field.children[1].name = "value";
        field.children[0].type = strip_nullable(field.children[0].type);
        field.type = make_map(field.children[0].type, field.children[1].type);
    }

    void convert_variant(size_t at, Levels levels, Node& node, FileField& field) {
        node.kind = Kind::Variant;
        for (size_t child : children_[at]) {
            FileField hidden;
            convert(child, levels, node.children.emplace_back(), hidden);
        }
        field.type = make_nullable(make_type(TypeId::String));
    }

    void convert_leaf(size_t at, bool optional, Node& node, FileField& field) {
        const SchemaElement& from = element(at);
        Leaf& leaf = node.leaf;
        leaf.column = leaves_++;
        leaf.physical = *from.physical;
        leaf.length = from.type_length;
        leaf.path = path();
        leaf.annotation = from.annotation;
        leaf.utc = from.utc;
        if (leaf.physical == PhysicalType::FixedLenByteArray && (leaf.length <= 0 || leaf.length > 0xFFFFFF))
            fail(ErrorCode::INCORRECT_DATA, "column '{}' has values of {} bytes, which is out of range", leaf.path,
                 leaf.length);
        if (from.children != 0)
            fail(ErrorCode::INCORRECT_DATA, "column '{}' has both a physical type and children", leaf.path);
        choose_type(from, leaf);
        field.utc = from.utc;
        field.type = optional ? make_nullable(leaf.type) : leaf.type;
    }

    static TypePtr ticks(int unit) { return make_datetime64(unit == 0 ? 6 : unit, "UTC"); }

    void choose_type(const SchemaElement& from, Leaf& leaf) {
        switch (leaf.physical) {
            case PhysicalType::Boolean:
                leaf.type = make_type(TypeId::Bool);
                return;
            case PhysicalType::Int32:
                return choose_int32(from, leaf);
            case PhysicalType::Int64:
                return choose_int64(from, leaf);
            case PhysicalType::Int96:
                leaf.type = ticks(9);
                leaf.conversion = Conversion::Int96;
                leaf.ordered = false;
                return;
            case PhysicalType::Float:
                leaf.type = make_type(TypeId::Float32);
                return;
            case PhysicalType::Double:
                leaf.type = make_type(TypeId::Float64);
                return;
            case PhysicalType::ByteArray:
                leaf.is_unsigned = true;
                leaf.ordered = from.annotation != Annotation::Geometry && from.annotation != Annotation::Geography;
                if (from.annotation == Annotation::Decimal && choose_decimal(from, leaf)) return;
                leaf.type = make_type(TypeId::String);
                return;
            case PhysicalType::FixedLenByteArray:
                return choose_fixed(from, leaf);
        }
    }

    void choose_int32(const SchemaElement& from, Leaf& leaf) {
        TypeId id = TypeId::Int32;
        if (from.annotation == Annotation::Date) id = TypeId::Date32;
        if (from.annotation == Annotation::Decimal && choose_decimal(from, leaf)) return;
        if (from.annotation == Annotation::Time && from.unit == 3) {
            // Milliseconds of the day in 32 bits; shown, as ClickHouse does, as a time on 1970-01-01.
            leaf.type = ticks(3);
            leaf.conversion = Conversion::Decimal;
            return;
        }
        if (from.annotation == Annotation::Integer) {
            leaf.is_unsigned = !from.is_signed;
            if (from.bits == 8) {
                leaf.conversion = Conversion::Narrow8;
                id = from.is_signed ? TypeId::Int8 : TypeId::UInt8;
            } else if (from.bits == 16) {
                leaf.conversion = Conversion::Narrow16;
                id = from.is_signed ? TypeId::Int16 : TypeId::UInt16;
            } else if (from.bits == 32) {
                id = from.is_signed ? TypeId::Int32 : TypeId::UInt32;
            } else {
                leaf.is_unsigned = false;
            }
        }
        leaf.type = make_type(id);
    }

    void choose_int64(const SchemaElement& from, Leaf& leaf) {
        if (from.annotation == Annotation::Decimal && choose_decimal(from, leaf)) return;
        if ((from.annotation == Annotation::Timestamp || from.annotation == Annotation::Time) && from.unit) {
            leaf.type = ticks(from.unit);
            return;
        }
        leaf.is_unsigned = from.annotation == Annotation::Integer && from.bits == 64 && !from.is_signed;
        leaf.type = make_type(leaf.is_unsigned ? TypeId::UInt64 : TypeId::Int64);
    }

    void choose_fixed(const SchemaElement& from, Leaf& leaf) {
        leaf.is_unsigned = true;
        if (from.annotation == Annotation::Decimal && choose_decimal(from, leaf)) return;
        if (from.annotation == Annotation::Uuid && leaf.length == 16) {
            leaf.type = make_type(TypeId::UUID);
            leaf.conversion = Conversion::Uuid;
            return;
        }
        if (from.annotation == Annotation::Float16 && leaf.length == 2) {
            leaf.is_unsigned = false;
            leaf.type = make_type(TypeId::Float32);
            leaf.conversion = Conversion::Float16;
            return;
        }
        leaf.ordered = from.annotation != Annotation::Interval;
        leaf.type = make_fixed_string(static_cast<size_t>(leaf.length));
        leaf.conversion = Conversion::FixedBytes;
    }

    /// False where firn has no decimal of that precision: then the bytes are shown as they are.
    static bool choose_decimal(const SchemaElement& from, Leaf& leaf) {
        if (from.precision < 1 || from.precision > 76 || from.scale < 0 || from.scale > from.precision) return false;
        leaf.type = make_decimal(from.precision, from.scale);
        leaf.is_unsigned = false;
        if (leaf.physical == PhysicalType::ByteArray || leaf.physical == PhysicalType::FixedLenByteArray) {
            leaf.conversion = Conversion::DecimalBytes;
        } else {
            const size_t stored = leaf.physical == PhysicalType::Int32 ? 4 : 8;
            leaf.conversion = leaf.type->value_size() == stored ? Conversion::None : Conversion::Decimal;
        }
        return true;
    }

    std::string path() const {
        std::string out;
        for (const auto& part : path_) {
            if (!out.empty()) out += '.';
            out += part;
        }
        return out;
    }

    static void number(Node& node, FileField& field, int& next) {
        node.field = field.index = next++;
        for (size_t i = 0; i < field.children.size(); ++i) number(node.children[i], field.children[i], next);
    }
    static void enter(const Node& node, std::vector<const Node*>& by_field) {
        if (node.field < 0) return;
        by_field[static_cast<size_t>(node.field)] = &node;
        for (const Node& child : node.children) enter(child, by_field);
    }

    const std::vector<SchemaElement>& elements_;
    std::vector<std::vector<size_t>> children_;
    std::vector<std::string_view> path_;
    int leaves_ = 0;
};

}  // namespace

size_t Leaf::raw_width() const {
    switch (physical) {
        case PhysicalType::Boolean:
            return 1;
        case PhysicalType::Int32:
        case PhysicalType::Float:
            return 4;
        case PhysicalType::Int64:
        case PhysicalType::Double:
            return 8;
        case PhysicalType::Int96:
            return 12;
        case PhysicalType::ByteArray:
            return sizeof(StringRef);
        case PhysicalType::FixedLenByteArray:
            return static_cast<size_t>(length);
    }
    return 0;
}

Schema build_schema(const std::vector<SchemaElement>& elements) { return Builder(elements).build(); }

}  // namespace firn::file::pq
