#include "firn/table/projection.h"

#include <algorithm>

#include "firn/base/error.h"

namespace firn::table {
namespace {

bool any_id(const std::vector<file::FileField>& level) {
    return std::any_of(level.begin(), level.end(), [](const file::FileField& field) {
        return field.field_id.has_value() || any_id(field.children);
    });
}

void own_ids(const std::vector<file::FileField>& level, std::unordered_map<int, int32_t>& ids) {
    for (const auto& field : level) {
        if (field.field_id) ids[field.index] = *field.field_id;
        own_ids(field.children, ids);
    }
}

/// A file's field can stand for the table's only where both are leaves or of the same nesting.
bool same_shape(const iceberg::Type& type, const file::FileField& field) {
    const TypeId id = unwrap(field.type)->id();
    switch (type.kind) {
        case iceberg::TypeKind::Struct:
            return id == TypeId::Tuple;
        case iceberg::TypeKind::List:
            return id == TypeId::Array;
        case iceberg::TypeKind::Map:
            return id == TypeId::Map;
        default:
            return field.children.empty() || type.kind == iceberg::TypeKind::Variant;
    }
}

[[noreturn]] void wrong_shape(const iceberg::NestedField& wanted, const file::FileField& found) {
    fail(ErrorCode::INCORRECT_DATA, "column '{}' is {} in the table but {} in the file", wanted.name,
         wanted.type->to_string(), found.type->name());
}

}  // namespace

FileFields::FileFields(const file::DataFile& file, const iceberg::NameMapping* mapping) : top_(file.fields()) {
    if (any_id(top_))
        own_ids(top_, ids_);
    else if (mapping)
        map_names(top_, mapping->fields);
    else
        by_name_ = true;
}

void FileFields::map_names(const std::vector<file::FileField>& level,
                           const std::vector<iceberg::NameMapping::Field>& names) {
    for (const auto& field : level) {
        const auto* found = iceberg::NameMapping::find(names, field.name);
        // Lists' and maps' parts have names of the file format's choosing; the mapping's are element, key, value.
        if (!found) continue;
        if (found->field_id) ids_[field.index] = *found->field_id;
        const TypeId id = unwrap(field.type)->id();
        if (id == TypeId::Array || id == TypeId::Map) {
            for (size_t i = 0; i < field.children.size(); ++i) {
                const std::string_view part = id == TypeId::Array ? "element" : i == 0 ? "key" : "value";
                const auto* inner = iceberg::NameMapping::find(found->fields, part);
                if (!inner) continue;
                if (inner->field_id) ids_[field.children[i].index] = *inner->field_id;
                map_names(field.children[i].children, inner->fields);
            }
        } else {
            map_names(field.children, found->fields);
        }
    }
}

const file::FileField* FileFields::find(const std::vector<file::FileField>& level, int32_t id,
                                        std::string_view name) const {
    for (const auto& field : level) {
        if (by_name_) {
            if (field.name == name) return &field;
            continue;
        }
        const auto found = ids_.find(field.index);
        if (found != ids_.end() && found->second == id) return &field;
    }
    return nullptr;
}

const file::FileField* FileFields::find_path(const iceberg::Schema& schema, int32_t id) const {
    std::vector<const iceberg::NestedField*> path;
    for (const iceberg::FieldPlace* place = schema.place(id); place; place = schema.place(place->parent_id)) {
        path.push_back(place->field);
        if (place->parent_id < 0) break;
    }
    const std::vector<file::FileField>* level = &top_;
    const file::FileField* found = nullptr;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
        found = find(*level, (*step)->id, (*step)->name);
        if (!found) return nullptr;
        level = &found->children;
    }
    return found;
}

namespace {

/// A list's element and a map's key and value are there by position, whatever id the file gives them.
void read_parts(file::ReadField& read, const iceberg::Type& type, const file::FileField& found,
                const FileFields& file) {
    read.source = found.index;
    if (type.is_primitive()) return;
    const auto& types = unwrap(read.type)->children();
    for (size_t i = 0; i < type.fields.size(); ++i) {
        const iceberg::NestedField& part = type.fields[i];
        if (type.is_struct()) {
            read.children.push_back(project(part, types[i], file, found.children));
        } else {
            file::ReadField child;
            child.type = types[i];
            if (!same_shape(*part.type, found.children[i])) wrong_shape(part, found.children[i]);
            read_parts(child, *part.type, found.children[i], file);
            read.children.push_back(std::move(child));
        }
    }
}

}  // namespace

file::ReadField project(const iceberg::NestedField& field, const TypePtr& type, const FileFields& file,
                        const std::vector<file::FileField>& level) {
    file::ReadField read;
    read.type = type;
    const file::FileField* found =
        field.type->kind == iceberg::TypeKind::Unknown ? nullptr : file.find(level, field.id, field.name);
    if (!found) {
        if (field.initial_default) read.missing = literal_vector(*field.initial_default, type);
        return read;
    }
    if (!same_shape(*field.type, *found)) wrong_shape(field, *found);
    read_parts(read, *field.type, *found, file);
    return read;
}

}  // namespace firn::table
