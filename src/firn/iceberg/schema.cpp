#include "firn/iceberg/schema.h"

#include <algorithm>
#include <array>

#include "firn/base/error.h"

namespace firn::iceberg {

namespace {

constexpr std::array<std::string_view, 23> kNames = {
    "unknown", "boolean",   "int",         "long",         "float",          "double", "decimal", "date",
    "time",    "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string", "uuid",    "fixed",
    "binary",  "variant",   "geometry",    "geography",    "struct",         "list",   "map",
};

constexpr size_t kPlainKinds = static_cast<size_t>(TypeKind::Variant) + 1;

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// A number of at most nine digits and nothing else.
std::optional<int32_t> parse_number(std::string_view text) {
    text = trim(text);
    if (text.empty() || text.size() > 9) return std::nullopt;
    int32_t value = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

/// The text between brackets after a name: "9,2" of "decimal(9,2)".
std::optional<std::string_view> parameters_of(std::string_view name, std::string_view word, char open, char close) {
    if (name.substr(0, word.size()) != word) return std::nullopt;
    std::string_view rest = trim(name.substr(word.size()));
    if (rest.size() < 2 || rest.front() != open || rest.back() != close) return std::nullopt;
    return rest.substr(1, rest.size() - 2);
}

TypePtr parse_decimal(std::string_view inside) {
    size_t comma = inside.find(',');
    if (comma == inside.npos) return nullptr;
    auto precision = parse_number(inside.substr(0, comma));
    auto scale = parse_number(inside.substr(comma + 1));
    if (!precision || !scale || *precision < 1 || *precision > 38 || *scale > *precision) return nullptr;
    return Type::decimal(*precision, *scale);
}

TypePtr parse_geo(std::string_view name) {
    bool geography = name.substr(0, 9) == "geography";
    std::string_view word = geography ? "geography" : "geometry";
    auto type = std::make_shared<Type>();
    type->kind = geography ? TypeKind::Geography : TypeKind::Geometry;
    type->crs = "OGC:CRS84";
    if (geography) type->algorithm = "spherical";
    if (name.size() == word.size()) return type;
    auto inside = parameters_of(name, word, '(', ')');
    if (!inside) return nullptr;
    std::string_view crs = *inside;
    size_t comma = crs.find(',');
    if (geography && comma != crs.npos) {
        type->algorithm = trim(crs.substr(comma + 1));
        crs = crs.substr(0, comma);
    }
    if (!trim(crs).empty()) type->crs = trim(crs);
    return type;
}

}  // namespace

TypePtr Type::primitive(TypeKind kind) {
    static const std::array<TypePtr, kPlainKinds> types = [] {
        std::array<TypePtr, kPlainKinds> made;
        for (size_t i = 0; i < kPlainKinds; ++i) {
            auto type = std::make_shared<Type>();
            type->kind = static_cast<TypeKind>(i);
            made[i] = std::move(type);
        }
        return made;
    }();
    auto at = static_cast<size_t>(kind);
    if (at >= kPlainKinds || kind == TypeKind::Decimal || kind == TypeKind::Fixed) {
        fail(ErrorCode::LOGICAL_ERROR, "Iceberg type {} takes parameters", kNames[at]);
    }
    return types[at];
}

TypePtr Type::decimal(int32_t precision, int32_t scale) {
    auto type = std::make_shared<Type>();
    type->kind = TypeKind::Decimal;
    type->precision = precision;
    type->scale = scale;
    return type;
}

TypePtr Type::fixed(int32_t length) {
    auto type = std::make_shared<Type>();
    type->kind = TypeKind::Fixed;
    type->length = length;
    return type;
}

std::string Type::to_string() const {
    switch (kind) {
        case TypeKind::Decimal:
            return fmt::format("decimal({}, {})", precision, scale);
        case TypeKind::Fixed:
            return fmt::format("fixed[{}]", length);
        case TypeKind::Geometry:
            return fmt::format("geometry({})", crs);
        case TypeKind::Geography:
            return fmt::format("geography({}, {})", crs, algorithm);
        case TypeKind::List:
            return fmt::format("list<{}>", element().type->to_string());
        case TypeKind::Map:
            return fmt::format("map<{}, {}>", key().type->to_string(), value().type->to_string());
        case TypeKind::Struct: {
            std::string text = "struct<";
            for (const NestedField& field : fields) {
                if (&field != fields.data()) text += ", ";
                text += fmt::format("{}: {}: {} {}", field.id, field.name, field.required ? "required" : "optional",
                                    field.type->to_string());
            }
            return text + ">";
        }
        default:
            return std::string(kNames[static_cast<size_t>(kind)]);
    }
}

bool same_type(const Type& left, const Type& right) {
    if (left.kind != right.kind || left.precision != right.precision || left.scale != right.scale ||
        left.length != right.length || left.crs != right.crs || left.algorithm != right.algorithm) {
        return false;
    }
    return std::equal(left.fields.begin(), left.fields.end(), right.fields.begin(), right.fields.end(),
                      [](const NestedField& a, const NestedField& b) {
                          return a.id == b.id && a.name == b.name && a.required == b.required &&
                                 same_type(*a.type, *b.type);
                      });
}

bool can_promote(const Type& from, const Type& to) {
    if (!from.is_primitive()) return false;
    switch (from.kind) {
        case TypeKind::Unknown:
            return true;
        case TypeKind::Int:
            return to.kind == TypeKind::Int || to.kind == TypeKind::Long;
        case TypeKind::Float:
            return to.kind == TypeKind::Float || to.kind == TypeKind::Double;
        case TypeKind::Date:
            return to.kind == TypeKind::Date || to.kind == TypeKind::Timestamp || to.kind == TypeKind::TimestampNs;
        case TypeKind::Decimal:
            return to.kind == TypeKind::Decimal && to.scale == from.scale && to.precision >= from.precision;
        default:
            return same_type(from, to);
    }
}

TypePtr parse_primitive_type(std::string_view name) {
    name = trim(name);
    for (size_t i = 0; i < kPlainKinds; ++i) {
        auto kind = static_cast<TypeKind>(i);
        if (kNames[i] == name && kind != TypeKind::Decimal && kind != TypeKind::Fixed) return Type::primitive(kind);
    }
    if (auto inside = parameters_of(name, "decimal", '(', ')')) return parse_decimal(*inside);
    if (auto inside = parameters_of(name, "fixed", '[', ']')) {
        auto length = parse_number(*inside);
        return length ? Type::fixed(*length) : nullptr;
    }
    if (name.substr(0, 8) == "geometry" || name.substr(0, 9) == "geography") return parse_geo(name);
    return nullptr;
}

struct Schema::Index {
    std::unordered_map<int32_t, FieldPlace> by_id;
    std::unordered_map<std::string, const NestedField*> by_name;
};

namespace {

/// Walks all fields with their full names.
template <typename Visit>
void walk(const Type& type, const std::string& prefix, int32_t parent_id, bool repeated, const Visit& visit) {
    bool inside_repeated = repeated || type.kind == TypeKind::List || type.kind == TypeKind::Map;
    for (const NestedField& field : type.fields) {
        std::string name = prefix.empty() ? field.name : prefix + "." + field.name;
        visit(field, name, parent_id, inside_repeated);
        if (!field.type->is_primitive()) walk(*field.type, name, field.id, inside_repeated, visit);
    }
}

}  // namespace

Schema::Schema(int32_t schema_id, std::vector<NestedField> fields, std::vector<int32_t> identifier_field_ids)
    : schema_id_(schema_id), identifier_field_ids_(std::move(identifier_field_ids)) {
    auto root = std::make_shared<Type>();
    root->kind = TypeKind::Struct;
    root->fields = std::move(fields);
    root_ = std::move(root);
    auto index = std::make_shared<Index>();
    walk(*root_, "", -1, false, [&](const NestedField& field, const std::string& name, int32_t parent, bool repeated) {
        if (!index->by_id.emplace(field.id, FieldPlace{&field, name, parent, repeated}).second) {
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "Schema {} has two fields of id {}, one is \"{}\"",
                 schema_id_, field.id, name);
        }
        // Top-level fields win over nested ones whose joined name is the same.
        if (parent == -1) {
            index->by_name.insert_or_assign(name, &field);
        } else {
            index->by_name.emplace(name, &field);
        }
        highest_field_id_ = std::max(highest_field_id_, field.id);
    });
    index_ = std::move(index);
}

const FieldPlace* Schema::place(int32_t id) const {
    if (!index_) return nullptr;
    auto found = index_->by_id.find(id);
    return found == index_->by_id.end() ? nullptr : &found->second;
}

const NestedField* Schema::field(int32_t id) const {
    const FieldPlace* found = place(id);
    return found ? found->field : nullptr;
}

const NestedField* Schema::field_by_name(std::string_view full_name) const {
    if (!index_) return nullptr;
    auto found = index_->by_name.find(std::string(full_name));
    return found == index_->by_name.end() ? nullptr : found->second;
}

}  // namespace firn::iceberg
