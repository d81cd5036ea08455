#include "firn/table/file_columns.h"

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/table/runtime_filters.h"

namespace firn::table {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

VectorPtr virtual_value(const IcebergSource& source, const iceberg::PlannedFile& planned, VirtualColumn column,
                        const TypePtr& type) {
    const auto& table = source.table();
    const std::string path = table.paths().resolve(planned.file.path());
    switch (column) {
        case VirtualColumn::Path:
            return make_string_value(type, table.store().shown_path(path));
        case VirtualColumn::File:
            return make_string_value(type, path.substr(path.rfind('/') + 1));
        case VirtualColumn::Size:
            return make_value<uint64_t>(type,
                                        static_cast<uint64_t>(planned.file.manifest->file_size(planned.file.entry)));
        case VirtualColumn::Time:
            return make_value<uint32_t>(type,
                                        static_cast<uint32_t>(table.store().stat(path).modified_us / kMicrosPerSecond));
        case VirtualColumn::Etag:
            return make_string_value(type, table.store().stat(path).etag);
        default:
            fail(ErrorCode::LOGICAL_ERROR, "Not a constant of a file");
    }
}

iceberg::NestedField lineage_field(VirtualColumn column) {
    iceberg::NestedField field;
    const bool row_id = column == VirtualColumn::RowId;
    field.id = row_id ? iceberg::kRowIdFieldId : iceberg::kLastUpdatedSequenceNumberFieldId;
    field.name = row_id ? "_row_id" : "_last_updated_sequence_number";
    field.type = iceberg::Type::primitive(iceberg::TypeKind::Long);
    return field;
}

VectorPtr missing_value(const IcebergSource& source, const iceberg::PlannedFile& planned,
                        const iceberg::NestedField& field, const file::ReadField& read) {
    if (field.type->is_primitive()) {
        if (const auto value = iceberg::identity_partition_value(planned.file, planned.spec, field.id)) {
            const auto promoted = iceberg::promote(*value, *field.type);
            if (promoted && (!promoted->is_null() || !field.required)) return datum_vector(*promoted, read.type);
        }
    }
    if (read.missing) return read.missing;
    if (field.required)
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
             "Data file {} lacks the required column '{}' (id {}), which has no initial default",
             source.table().paths().resolve(planned.file.path()), field.name, field.id);
    return flatten(Vector::defaults(read.type, 1));
}

}  // namespace

bool is_file_constant(VirtualColumn column) { return column <= VirtualColumn::Etag; }

void resolve_columns(const ScanContext& context, const FileFields& fields, OpenedFile& file) {
    const IcebergSource& source = *context.source;
    for (const size_t column : context.request.columns) {
        const TypePtr& type = source.columns()[column].type;
        if (const auto virtual_column = source.virtual_column(column)) {
            if (is_file_constant(*virtual_column)) {
                file.columns.emplace_back();
                file.constants.push_back(virtual_value(source, *file.planned, *virtual_column, type));
            } else {
                file.columns.push_back(*virtual_column == VirtualColumn::RowNumber
                                           ? file::ReadField{}
                                           : project(lineage_field(*virtual_column), type, fields, fields.top()));
                file.constants.push_back(nullptr);
            }
            continue;
        }
        const auto& field = *source.field(column);
        file::ReadField read = project(field, type, fields, fields.top());
        file.constants.push_back(read.source < 0 ? missing_value(source, *file.planned, field, read) : nullptr);
        file.columns.push_back(std::move(read));
    }
}

file::ReadField project_key(const KeyField& key, const FileFields& fields, const OpenedFile& file) {
    file::ReadField read = project(key.top, key.read_type(), fields, fields.top());
    if (read.source < 0 && key.depth == 0) {
        if (const auto value = iceberg::identity_partition_value(file.planned->file, file.planned->spec, key.top.id))
            if (const auto promoted = iceberg::promote(*value, *key.top.type))
                read.missing = datum_vector(*promoted, read.type);
    }
    return read;
}

bool file_is_skipped(const ScanContext& context, const iceberg::PlannedFile& planned) {
    if (file_fails_runtime_filters(context, planned)) {
        count_event(ProfileEvent::RuntimeFilterPrunedFiles);
        return true;
    }
    for (const auto& stage : context.stages) {
        if (!stage.file_constant) continue;
        Batch batch;
        batch.rows = 1;
        batch.columns.resize(context.request.columns.size());
        for (const size_t column : stage.columns) {
            const size_t at = context.request.columns[column];
            batch.columns[column] = virtual_value(*context.source, planned, *context.source->virtual_column(at),
                                                  context.source->columns()[at].type);
        }
        if (exec::Filter(stage.conjuncts).select(batch).empty()) return true;
    }
    return false;
}

}  // namespace firn::table
