#include "firn/table/delete_files.h"

#include <algorithm>
#include <cmath>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/table/data_files.h"
#include "firn/table/projection.h"
#include "firn/vector/row_ops.h"

namespace firn::table {
namespace {

constexpr uint64_t kMaxVectorBytes = uint64_t{1} << 31;

/// All rows of some columns of a small file, flat.
std::vector<VectorPtr> read_columns(const file::DataFile& file, const std::vector<file::ReadField>& columns) {
    std::vector<std::vector<VectorPtr>> parts(columns.size());
    for (size_t unit = 0; unit < file.units(); ++unit) {
        const uint64_t rows = file.unit_rows(unit);
        const auto reader = file.read_unit(unit, columns);
        constexpr size_t kRows = 65536;
        for (uint64_t at = 0; at < rows; at += kRows) {
            check_cancelled();
            const size_t count = static_cast<size_t>(std::min<uint64_t>(kRows, rows - at));
            for (size_t i = 0; i < columns.size(); ++i)
                parts[i].push_back(flatten(reader->read(i, at, count, nullptr)));
        }
    }
    std::vector<VectorPtr> out;
    for (size_t i = 0; i < columns.size(); ++i) out.push_back(flatten(concat(columns[i].type, parts[i])));
    return out;
}

/// Iceberg tells -0.0 from 0.0, which SQL does not.
bool same_sign(const Vector& a, size_t row_a, const Vector& b, size_t row_b) {
    const auto negative = [](const Vector& vector, size_t row) {
        const Vector& flat = vector.flat_base();
        const size_t at = vector.base_row(row);
        if (vector.type()->physical() == Physical::Float64)
            return flat.values<double>()[at] == 0 && std::signbit(flat.values<double>()[at]);
        if (vector.type()->physical() == Physical::Float32)
            return flat.values<float>()[at] == 0 && std::signbit(flat.values<float>()[at]);
        return false;
    };
    return negative(a, row_a) == negative(b, row_b);
}

iceberg::NestedField position_field(int32_t id, std::string name, iceberg::TypeKind kind) {
    iceberg::NestedField field;
    field.id = id;
    field.name = std::move(name);
    field.required = true;
    field.type = iceberg::Type::primitive(kind);
    return field;
}

}  // namespace

DeletedPositions::DeletedPositions(std::vector<uint64_t> positions) : positions_(std::move(positions)) {
    std::sort(positions_.begin(), positions_.end());
    positions_.erase(std::unique(positions_.begin(), positions_.end()), positions_.end());
}

bool DeletedPositions::remaining(uint64_t begin, size_t count, Selection& left) const {
    std::vector<uint32_t> deleted;
    if (vector_) {
        vector_->positions(begin, begin + count, deleted);
    } else {
        for (auto at = std::lower_bound(positions_.begin(), positions_.end(), begin);
             at != positions_.end() && *at < begin + count; ++at)
            deleted.push_back(static_cast<uint32_t>(*at - begin));
    }
    if (deleted.empty()) return false;
    left.clear();
    left.reserve(count - deleted.size());
    uint32_t row = 0;
    for (const uint32_t gone : deleted) {
        for (; row < gone; ++row) left.push_back(row);
        row = gone + 1;
    }
    for (; row < count; ++row) left.push_back(row);
    return true;
}

EqualityDeletes::EqualityDeletes(std::vector<int32_t> field_ids, std::vector<VectorPtr> keys)
    : field_ids_(std::move(field_ids)), keys_(std::move(keys)), rows_(keys_.empty() ? 0 : keys_[0]->size()) {
    for (const auto& key : keys_) decoded_.emplace_back(key);
    hashes_.resize(rows_);
    hash_rows(keys_, rows_, hashes_.data());
    size_t slots = 16;
    while (slots < rows_ * 2) slots *= 2;
    mask_ = slots - 1;
    slots_.resize(slots, 0);
    for (size_t row = 0; row < rows_; ++row) {
        uint64_t slot = hashes_[row] & mask_;
        while (slots_[slot]) slot = (slot + 1) & mask_;
        slots_[slot] = static_cast<uint32_t>(row) + 1;
    }
}

void EqualityDeletes::mark(const std::vector<VectorPtr>& columns, const std::vector<uint64_t>& hashes,
                           std::vector<uint8_t>& keep) const {
    if (rows_ == 0) return;
    for (size_t i = 0; i < keep.size(); ++i) {
        if (!keep[i]) continue;
        for (uint64_t slot = hashes[i] & mask_; slots_[slot]; slot = (slot + 1) & mask_) {
            const size_t row = slots_[slot] - 1;
            if (hashes_[row] != hashes[i]) continue;
            bool equal = true;
            for (size_t k = 0; k < keys_.size() && equal; ++k)
                equal = equal_values(*columns[k], i, *keys_[k], row) && same_sign(*columns[k], i, *keys_[k], row);
            if (equal) {
                keep[i] = 0;
                break;
            }
        }
    }
}

DeleteLoader::DeleteLoader(const iceberg::TableFiles& table, const iceberg::Schema& schema,
                           const std::vector<iceberg::FileRef>& files)
    : table_(table), schema_(schema), files_(files) {
    for (size_t i = 0; i < files.size(); ++i) loaded_.push_back(std::make_unique<Loaded>());
}

VectorPtr KeyField::values(const VectorPtr& column) const {
    VectorPtr out = column;
    for (size_t i = 0; i < depth; ++i) out = flatten(out)->child(0);
    return out;
}

KeyField DeleteLoader::key_field(int32_t id) const {
    const iceberg::Schema* schema = schema_.field(id) ? &schema_ : nullptr;
    const auto& schemas = table_.metadata().schemas;
    for (auto older = schemas.rbegin(); older != schemas.rend() && !schema; ++older)
        if (older->field(id)) schema = &*older;
    const iceberg::FieldPlace* place = schema ? schema->place(id) : nullptr;
    if (!place || place->repeated || !place->field->type->is_primitive())
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: equality deletes compare the column of id {}, which {}",
             table_.metadata().file, id, place ? "is no single value" : "no schema of the table has");
    KeyField key;
    key.top = *place->field;
    key.top.required = false;  // NULL keys delete rows of NULL
    while (place->parent_id >= 0) {
        place = schema->place(place->parent_id);
        auto type = std::make_shared<iceberg::Type>();
        type->kind = iceberg::TypeKind::Struct;
        type->fields.push_back(std::move(key.top));
        key.top = *place->field;
        key.top.type = std::move(type);
        key.top.required = false;
        ++key.depth;
    }
    return key;
}

FileDeletes DeleteLoader::load(const iceberg::PlannedFile& planned) {
    FileDeletes out;
    std::vector<uint64_t> positions;
    std::string path;
    for (const uint32_t index : planned.deletes) {
        const Loaded& loaded = get(index);
        if (loaded.vector) {
            out.positions = std::make_shared<DeletedPositions>(loaded.vector);
        } else if (loaded.positions) {
            if (path.empty()) path = table_.paths().resolve(planned.file.path());
            const auto found = loaded.positions->find(path);
            if (found != loaded.positions->end())
                positions.insert(positions.end(), found->second.begin(), found->second.end());
        } else if (loaded.equality->size() > 0) {
            out.equality.push_back(loaded.equality);
        }
    }
    if (!positions.empty()) out.positions = std::make_shared<DeletedPositions>(std::move(positions));
    return out;
}

FileAhead DeleteLoader::begin_reading(const iceberg::FileRef& file) const {
    const auto& manifest = *file.manifest;
    if (!manifest.is_deletion_vector(file.entry)) return begin_opening(table_, file);
    const auto offset = manifest.content_offset(file.entry), size = manifest.content_size(file.entry);
    if (!offset || !size || *offset < 0 || *size < 0) return {};
    storage::ObjectInfo known;
    known.size = static_cast<uint64_t>(std::max<int64_t>(0, manifest.file_size(file.entry)));
    FileAhead ahead;
    ahead.file = table_.store().open(table_.paths().resolve(file.path()), known);
    ahead.bytes = ahead.file->read_ahead({{static_cast<uint64_t>(*offset), static_cast<uint64_t>(*size)}});
    return ahead;
}

void DeleteLoader::ask_ahead(const iceberg::PlannedFile& planned) {
    if (!table_.store().is_remote()) return;
    for (const uint32_t index : planned.deletes) {
        Loaded& loaded = *loaded_[index];
        std::lock_guard lock(loaded.mutex);
        if (loaded.asked) continue;
        loaded.asked = true;
        loaded.ahead = begin_reading(files_[index]);
    }
}

const DeleteLoader::Loaded& DeleteLoader::get(uint32_t index) {
    Loaded& loaded = *loaded_[index];
    std::call_once(loaded.once, [&] {
        const iceberg::FileRef& file = files_[index];
        const auto& manifest = *file.manifest;
        count_event(ProfileEvent::IcebergDeleteFilesRead);
        FileAhead ahead;
        {
            std::lock_guard lock(loaded.mutex);
            ahead = std::move(loaded.ahead);
            loaded.asked = true;
        }
        if (manifest.is_deletion_vector(file.entry)) {
            const std::string path = table_.paths().resolve(file.path());
            const auto offset = manifest.content_offset(file.entry), size = manifest.content_size(file.entry);
            storage::ObjectInfo known;
            known.size = static_cast<uint64_t>(std::max<int64_t>(0, manifest.file_size(file.entry)));
            const auto opened = ahead.file ? ahead.file : table_.store().open(path, known);
            if (!offset || !size || *offset < 0 || *size < 0 || static_cast<uint64_t>(*size) > kMaxVectorBytes ||
                static_cast<uint64_t>(*offset) + static_cast<uint64_t>(*size) > opened->size())
                fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
                     "Manifest {}: the deletion vector in {} has no place inside that file (content_offset, "
                     "content_size_in_bytes)",
                     manifest.file(), path);
            std::string blob(static_cast<size_t>(*size), '\0');
            opened->read_at(static_cast<uint64_t>(*offset), {reinterpret_cast<uint8_t*>(blob.data()), blob.size()});
            loaded.vector = iceberg::DeletionVector::parse(blob, path, file.record_count());
            return;
        }
        const auto opened = open_file(table_, file, ahead.file);
        if (manifest.file_content(file.entry) == iceberg::FileContent::PositionDeletes)
            loaded.positions = read_positions(*opened);
        else
            loaded.equality = read_equality(*opened, manifest.equality_ids(file.entry));
    });
    return loaded;
}

std::shared_ptr<const DeleteLoader::PositionsByPath> DeleteLoader::read_positions(const file::DataFile& file) const {
    const FileFields fields(file, nullptr);
    const auto path_field = position_field(iceberg::kDeleteFilePathFieldId, "file_path", iceberg::TypeKind::String);
    const auto pos_field = position_field(iceberg::kDeletePositionFieldId, "pos", iceberg::TypeKind::Long);
    std::vector<file::ReadField> columns{project(path_field, make_type(TypeId::String), fields, file.fields()),
                                         project(pos_field, make_type(TypeId::Int64), fields, file.fields())};
    if (columns[0].source < 0 || columns[1].source < 0)
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "Position delete file {} lacks the column file_path or pos",
             file.path());
    const auto read = read_columns(file, columns);
    auto out = std::make_shared<PositionsByPath>();
    const StringRef* paths = read[0]->values<StringRef>();
    const int64_t* positions = read[1]->values<int64_t>();
    std::vector<uint64_t>* list = nullptr;
    std::string_view last;
    for (size_t i = 0; i < read[0]->size(); ++i) {
        if (!list || paths[i].view() != last) {
            last = paths[i].view();
            list = &(*out)[table_.paths().resolve(last)];
        }
        if (positions[i] < 0)
            fail(ErrorCode::INCORRECT_DATA, "Position delete file {} deletes the row {}", file.path(), positions[i]);
        list->push_back(static_cast<uint64_t>(positions[i]));
    }
    return out;
}

std::shared_ptr<const EqualityDeletes> DeleteLoader::read_equality(const file::DataFile& file,
                                                                   std::vector<int32_t> ids) const {
    const FileFields fields(file, table_.metadata().name_mapping.get());
    std::vector<file::ReadField> columns;
    std::vector<KeyField> keys;
    for (const int32_t id : ids) {
        keys.push_back(key_field(id));
        columns.push_back(project(keys.back().top, keys.back().read_type(), fields, file.fields()));
        if (columns.back().source < 0)
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
                 "Equality delete file {} lacks the column '{}' (id {}) that it deletes by", file.path(),
                 keys.back().top.name, id);
    }
    auto values = read_columns(file, columns);
    for (size_t i = 0; i < values.size(); ++i) values[i] = flatten(keys[i].values(values[i]));
    return std::make_shared<EqualityDeletes>(std::move(ids), std::move(values));
}

}  // namespace firn::table
