// Variant columns, shredded or not (VariantShredding.md), as JSON text: the group's leaves are read as those of any
// group, then each row's value is put together from `value` and `typed_value`.
#include <algorithm>
#include <map>

#include "firn/base/error.h"
#include "firn/base/escape.h"
#include "firn/file/parquet/column_plan.h"
#include "firn/file/parquet/variant.h"
#include "firn/types/value_text.h"
#include "firn/vector/builder.h"

namespace firn::file::pq {

/// Writes the values of one group of metadata, value and typed_value.
class ColumnReader::VariantWriter {
public:
    explicit VariantWriter(const Plan& group) : group_(group), metadata_(member(group, "metadata")) {
        if (!metadata_ || !metadata_->reader)
            fail(ErrorCode::INCORRECT_DATA, "variant '{}' has no metadata", group.node->name);
    }

    void append(std::string& out, size_t row) {
        const Vector& metadata = *metadata_->values;
        if (metadata.is_null(row)) fail(ErrorCode::INCORRECT_DATA, "a variant has no metadata");
        const VariantMetadata names(string_at(metadata, row));
        if (!append_group(out, group_, names, row)) out += "null";
    }

private:
    static const Plan* member(const Plan& group, std::string_view name) {
        for (const auto& child : group.children)
            if (child->node->name == name) return child.get();
        return nullptr;
    }
    static std::string_view string_at(const Vector& vector, size_t row) {
        return vector.flat_base().values<StringRef>()[vector.base_row(row)].view();
    }

    /// False where the group holds no value: a field that its object has not.
    static bool append_group(std::string& out, const Plan& group, const VariantMetadata& names, size_t row) {
        const Plan* value = member(group, "value");
        const Plan* typed = member(group, "typed_value");
        if (value && (!value->reader || value->node->leaf.physical != PhysicalType::ByteArray))
            fail(ErrorCode::INCORRECT_DATA, "a variant's value is not binary");
        const bool has_value = value && !value->values->is_null(row);
        const bool has_typed = typed && is_present(*typed, row);
        if (!has_typed) {
            if (has_value) append_variant(out, names, string_at(*value->values, row));
            return has_value;
        }
        if (typed->node->kind == Node::Kind::Struct) {
            append_object(out, *typed, names, row, has_value ? string_at(*value->values, row) : std::string_view());
        } else if (has_value) {
            fail(ErrorCode::INCORRECT_DATA, "a variant has both a value and a typed_value");
        } else if (typed->node->kind == Node::Kind::List) {
            append_array(out, *typed, names, row);
        } else if (typed->reader) {
            append_scalar(out, *typed, row);
        } else {
            fail(ErrorCode::INCORRECT_DATA, "a variant's typed_value is neither a value, a list nor a group");
        }
        return true;
    }

    static bool is_present(const Plan& typed, size_t row) {
        return typed.reader ? !typed.values->is_null(row) : typed.present[row] != 0;
    }

    static void append_array(std::string& out, const Plan& list, const VariantMetadata& names, size_t row) {
        const Plan& element = *list.children[0];
        if (element.node->kind != Node::Kind::Struct && element.node->kind != Node::Kind::Variant)
            fail(ErrorCode::INCORRECT_DATA, "a variant's list does not hold groups");
        out += '[';
        const auto begin = static_cast<size_t>(list.values->offsets()[row]),
                   end = static_cast<size_t>(list.values->offsets()[row + 1]);
        for (size_t i = begin; i < end; ++i) {
            if (i != begin) out += ',';
            if (!append_group(out, element, names, i)) out += "null";
        }
        out += ']';
    }

    /// Shredded fields, and with them those that `rest`, if not empty, holds besides.
    static void append_object(std::string& out, const Plan& object, const VariantMetadata& names, size_t row,
                              std::string_view rest) {
        std::map<std::string, std::string, std::less<>> fields;
        if (!rest.empty()) {
            VariantFields others;
            if (!variant_fields(names, rest, others))
                fail(ErrorCode::INCORRECT_DATA, "a variant has shredded fields, but its value is no object");
            for (const auto& [name, value] : others)
                if (!member(object, name)) append_variant(fields[std::string(name)], names, value);
        }
        for (const auto& field : object.children) {
            if (field->node->kind != Node::Kind::Struct)
                fail(ErrorCode::INCORRECT_DATA, "a variant's shredded field is no group");
            std::string text;
            if (append_group(text, *field, names, row)) fields[field->node->name] = std::move(text);
        }
        out += '{';
        for (bool first = true; const auto& [name, text] : fields) {
            if (!std::exchange(first, false)) out += ',';
            append_json_string(out, name);
            out += ':';
            out += text;
        }
        out += '}';
    }

    static void append_scalar(std::string& out, const Plan& typed, size_t row) {
        const Leaf& leaf = typed.node->leaf;
        const Vector& flat = typed.values->flat_base();
        const size_t at = typed.values->base_row(row);
        switch (leaf.type->id()) {
            case TypeId::Float32:
                return append_json_float(out, flat.values<float>()[at]);
            case TypeId::Float64:
                return append_json_float(out, flat.values<double>()[at]);
            case TypeId::Date32:
                return append_json_date(out, flat.values<int32_t>()[at]);
            case TypeId::UUID:
                return append_json_uuid(out, flat.values<UInt128>()[at]);
            case TypeId::DateTime64:
                if (leaf.annotation == Annotation::Time)
                    return append_json_time(out, flat.values<int64_t>()[at], leaf.type->scale());
                return append_json_timestamp(out, flat.values<int64_t>()[at], leaf.type->scale(), leaf.utc);
            case TypeId::String:
                if (leaf.annotation == Annotation::String)
                    return append_json_string(out, flat.values<StringRef>()[at].view());
                return append_json_base64(out, flat.values<StringRef>()[at].view());
            case TypeId::Bool:
            case TypeId::Int8:
            case TypeId::Int16:
            case TypeId::Int32:
            case TypeId::Int64:
            case TypeId::Decimal:
                return append_value(out, *leaf.type, flat.values_buffer()->data() + at * leaf.type->value_size(),
                                    TimeZone::utc());
            default:
                fail(ErrorCode::LOGICAL_ERROR, "a variant's typed_value of type {} was let through", leaf.type->name());
        }
    }

    const Plan& group_;
    const Plan* metadata_;
};

namespace {

void check_shredded_type(const Leaf& leaf) {
    switch (leaf.type->id()) {
        case TypeId::Bool:
        case TypeId::Int8:
        case TypeId::Int16:
        case TypeId::Int32:
        case TypeId::Int64:
        case TypeId::Float32:
        case TypeId::Float64:
        case TypeId::Decimal:
        case TypeId::Date32:
        case TypeId::DateTime64:
        case TypeId::String:
        case TypeId::UUID:
            return;
        default:
            fail(ErrorCode::INCORRECT_DATA, "a variant's '{}' is of a type that variants have not: {}", leaf.path,
                 leaf.type->name());
    }
}

}  // namespace

/// The plan of what a variant's group holds, by the file's own types.
ColumnReader::PlanPtr ColumnReader::variant_plan(const GroupContext& context, const Node& node) {
    auto plan = std::make_unique<Plan>();
    plan->node = &node;
    plan->keeps_presence = true;
    if (node.kind == Node::Kind::Leaf) {
        check_shredded_type(node.leaf);
        plan->type = make_nullable(node.leaf.type);
        const auto column = static_cast<size_t>(node.leaf.column);
        plan->reader = std::make_unique<LeafReader>(context.file, context.group->columns[column], node, plan->type);
        plan->levels = plan.get();
        return plan;
    }
    std::vector<TypePtr> types;
    for (const Node& child : node.children) {
        plan->children.push_back(variant_plan(context, child));
        types.push_back(plan->children.back()->type);
    }
    plan->levels = plan->children[0]->levels;
    if (node.kind == Node::Kind::List)
        plan->type = make_array(types[0]);
    else if (node.kind == Node::Kind::Map)
        plan->type = make_map(strip_nullable(types[0]), types[1]);
    else
        plan->type = make_tuple_type(std::move(types));
    return plan;
}

VectorPtr ColumnReader::assemble_variant(Plan& plan, const Slots& slots) {
    for (auto& child : plan.children) assemble(*child, slots);
    VariantWriter writer(plan);
    VectorBuilder builder(make_nullable(make_type(TypeId::String)));
    std::string text;
    size_t row = 0;
    slots.for_each(plan.levels->rows, [&](uint8_t level) {
        if (level < plan.node->definition) {
            builder.append_null();
        } else {
            text.clear();
            writer.append(text, row);
            builder.append_string(text);
        }
        ++row;
    });
    return promote(builder.finish(), plan.type, plan.node->name);
}

}  // namespace firn::file::pq
