// Schemas of JSON (spec: Appendix C).
#include "firn/iceberg/json_fields.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/schema.h"

namespace firn::iceberg {

namespace dom = simdjson::dom;

namespace {

LiteralPtr default_of(const JsonFields& json, std::string_view name, const NestedField& field) {
    auto element = json.find(name);
    if (!element) return nullptr;
    return std::make_shared<const Literal>(literal_of_json(field.type, *element, json.field_place(name)));
}

std::vector<NestedField> fields_of_json(const JsonFields& type, int depth) {
    std::vector<NestedField> fields;
    type.each_required_object("fields", [&](const JsonFields& json) {
        NestedField field;
        field.id = json.required_int("id");
        field.name = json.required_text("name");
        field.required = json.bool_or_nothing("required").value_or(false);
        field.doc = json.text_or_nothing("doc").value_or("");
        field.type = type_of_json(json.required_element("type"), json.field_place("type"), depth + 1);
        field.initial_default = default_of(json, "initial-default", field);
        field.write_default = default_of(json, "write-default", field);
        fields.push_back(std::move(field));
    });
    return fields;
}

NestedField inner_field(const JsonFields& json, std::string_view name, int depth) {
    NestedField field;
    field.name = name;
    field.id = json.required_int(std::string(name) + "-id");
    field.required = name == "key" || json.bool_or_nothing(std::string(name) + "-required").value_or(false);
    field.type = type_of_json(json.required_element(name), json.field_place(name), depth + 1);
    return field;
}

}  // namespace

TypePtr type_of_json(dom::element element, const std::string& where, int depth) {
    if (depth > kMaxTypeDepth)
        fail(ErrorCode::TOO_DEEP_RECURSION, "{}: types nested over {} levels", where, kMaxTypeDepth);
    std::string_view name;
    if (element.get_string().get(name) == simdjson::SUCCESS) {
        if (TypePtr type = parse_primitive_type(name)) return type;
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: there is no Iceberg type \"{}\"", where, name);
    }
    JsonFields json(element, where);
    std::string_view kind = json.required_text("type");
    auto type = std::make_shared<Type>();
    if (kind == "struct") {
        type->kind = TypeKind::Struct;
        type->fields = fields_of_json(json, depth);
    } else if (kind == "list") {
        type->kind = TypeKind::List;
        type->fields.push_back(inner_field(json, "element", depth));
    } else if (kind == "map") {
        type->kind = TypeKind::Map;
        type->fields.push_back(inner_field(json, "key", depth));
        type->fields.push_back(inner_field(json, "value", depth));
    } else if (TypePtr primitive = parse_primitive_type(kind)) {
        return primitive;
    } else {
        json.bad("type", "is neither struct, list nor map");
    }
    return type;
}

Schema schema_of_json(dom::element element, const std::string& where) {
    JsonFields json(element, where);
    try {
        return Schema(json.int_or_nothing("schema-id").value_or(0), fields_of_json(json, 0),
                      json.int_list("identifier-field-ids"));
    } catch (Error& error) {
        if (error.message().find(where) == std::string::npos) error.add_context(where + ": ");
        throw;
    }
}

Schema parse_schema(std::string_view json, std::string_view where) {
    JsonDocument document(json, where);
    return schema_of_json(document.root(), std::string(where));
}

}  // namespace firn::iceberg
