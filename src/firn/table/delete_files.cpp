#include "firn/table/delete_files.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/base/thread_pool.h"
#include "firn/table/data_files.h"
#include "firn/table/projection.h"

namespace firn::table {
namespace {

constexpr uint64_t kMaxVectorBytes = uint64_t{1} << 31;
constexpr uint32_t kNoGroup = UINT32_MAX;
constexpr size_t kRemoteReaders = 16;     // of delete files, each of which costs round trips
constexpr size_t kMostCachedFiles = 256;  // that one set of deletes is made of

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

/// Names a file as it stands, for keys of the cache: on remote storage, where neither time nor etag is known, by its table.
std::string version_of(const iceberg::TableFiles& table, const iceberg::FileRef& file) {
    storage::ObjectInfo info = known_of(table, file);
    if (!table.store().is_remote()) info = table.store().stat(info.path);
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", table.metadata().table_uuid, info.path, info.size, info.modified_us,
                       info.etag, file.sequence_number());
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

void make_positions(RowPositions& positions) {
    if (!std::is_sorted(positions.begin(), positions.end())) std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

void DeletedPositions::in_range(uint64_t begin, size_t count, Selection& deleted) const {
    deleted.clear();
    if (vector_) return vector_->positions(begin, begin + count, deleted);
    const auto from = std::lower_bound(positions_->begin(), positions_->end(), begin);
    const auto to = std::lower_bound(from, positions_->end(), begin + count);
    deleted.resize(static_cast<size_t>(to - from));
    std::transform(from, to, deleted.begin(), [&](uint64_t row) { return static_cast<uint32_t>(row - begin); });
}

DeleteLoader::DeleteLoader(const iceberg::TableFiles& table, const iceberg::Schema& schema,
                           const iceberg::ScanPlan& plan, size_t threads)
    : table_(table), schema_(schema), files_(plan.delete_files), threads_(threads) {
    for (size_t i = 0; i < files_.size(); ++i) loaded_.push_back(std::make_unique<Loaded>());
    group_of_.assign(files_.size(), kNoGroup);
    std::vector<uint8_t> named(files_.size(), 0);
    for (const auto& planned : plan.files)
        for (const uint32_t index : planned.deletes) named[index] = 1;
    std::map<std::pair<uint32_t, std::vector<int32_t>>, uint32_t> group_of_key;
    for (uint32_t i = 0; i < files_.size(); ++i) {
        const auto& manifest = *files_[i].manifest;
        if (!named[i] || manifest.file_content(files_[i].entry) != iceberg::FileContent::EqualityDeletes) continue;
        auto ids = manifest.equality_ids(files_[i].entry);
        std::sort(ids.begin(), ids.end());
        const auto [found, fresh] = group_of_key.try_emplace({plan.delete_scopes[i], ids}, groups_.size());
        if (fresh) {
            groups_.push_back(std::make_unique<EqualityGroup>());
            groups_.back()->field_ids = std::move(ids);
        }
        groups_[found->second]->files.push_back(i);
        group_of_[i] = found->second;
    }
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
    std::vector<std::shared_ptr<const RowPositions>> lists;
    std::string path;
    std::set<uint32_t> groups;
    for (const uint32_t index : planned.deletes) {
        if (group_of_[index] != kNoGroup) {
            if (!groups.insert(group_of_[index]).second) continue;
            if (auto deletes = get(*groups_[group_of_[index]]); deletes->size() > 0)
                out.equality.push_back(std::move(deletes));
            continue;
        }
        const Loaded& loaded = get(index);
        if (loaded.vector) {
            out.positions = std::make_shared<DeletedPositions>(loaded.vector);
            continue;
        }
        if (path.empty()) path = table_.paths().resolve(planned.file.path());
        const auto found = loaded.positions->find(path);
        if (found != loaded.positions->end()) lists.emplace_back(loaded.positions, &found->second);
    }
    if (lists.size() == 1) out.positions = std::make_shared<DeletedPositions>(lists[0]);
    if (lists.size() > 1) {
        const auto all = std::make_shared<RowPositions>();
        for (const auto& list : lists) all->insert(all->end(), list->begin(), list->end());
        make_positions(*all);
        out.positions = std::make_shared<DeletedPositions>(all);
    }
    if (!out.equality.empty()) out.equality_key = equality_key(planned, out);
    return out;
}

std::string DeleteLoader::equality_key(const iceberg::PlannedFile& planned, const FileDeletes& deletes) const {
    if (!table_.cache()) return {};
    std::string key =
        fmt::format("equality deleted\n{}\n{}", table_.store().identity(), version_of(table_, planned.file));
    for (const auto& equality : deletes.equality) key += fmt::format("{} ", equality->number());
    return key;
}

FileAhead DeleteLoader::begin_reading(const iceberg::FileRef& file) const {
    const auto& manifest = *file.manifest;
    if (!manifest.is_deletion_vector(file.entry)) return begin_opening(table_, file);
    const auto offset = manifest.content_offset(file.entry), size = manifest.content_size(file.entry);
    if (!offset || !size || *offset < 0 || *size < 0) return {};
    const storage::ObjectInfo known = known_of(table_, file);
    FileAhead ahead;
    ahead.file = table_.store().open(known.path, known);
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

FileAhead DeleteLoader::take_ahead(uint32_t index) {
    Loaded& loaded = *loaded_[index];
    std::lock_guard lock(loaded.mutex);
    loaded.asked = true;
    return std::move(loaded.ahead);
}

const DeleteLoader::Loaded& DeleteLoader::get(uint32_t index) {
    Loaded& loaded = *loaded_[index];
    std::call_once(loaded.once, [&] {
        const iceberg::FileRef& file = files_[index];
        const FileAhead ahead = take_ahead(index);
        if (file.manifest->is_deletion_vector(file.entry)) {
            loaded.vector = cached<iceberg::DeletionVector>({index}, "vector", [&] {
                count_event(ProfileEvent::IcebergDeleteFilesRead);
                auto vector = read_vector(file, ahead);
                const size_t bytes = vector->memory_bytes();
                return std::pair(std::move(vector), bytes);
            });
            return;
        }
        loaded.positions = cached<PositionsByPath>({index}, "positions", [&] {
            count_event(ProfileEvent::IcebergDeleteFilesRead);
            auto positions = read_positions(*open_file(table_, file, ahead.file));
            size_t bytes = 0;
            for (const auto& [path, list] : *positions) bytes += path.size() + list.capacity() * sizeof(uint64_t);
            return std::pair(std::move(positions), bytes);
        });
    });
    return loaded;
}

/// By the versions of the delete files: what they hold never changes, and reading it may cost more than the query.
template <typename T>
std::shared_ptr<const T> DeleteLoader::cached(
    const std::vector<uint32_t>& files, std::string_view what,
    const std::function<std::pair<std::shared_ptr<const T>, size_t>()>& load) const {
    if (!table_.cache() || files.size() > kMostCachedFiles) return load().first;
    std::string key = fmt::format("{}\n{}\n{}\n", what, table_.store().identity(), table_.metadata().location);
    for (const uint32_t index : files) {
        const auto& file = files_[index];
        key += version_of(table_, file);
        if (file.manifest->is_deletion_vector(file.entry))  // one of several in a file
            key += fmt::format("{}\n", file.manifest->content_offset(file.entry).value_or(-1));
    }
    return table_.cache()->get<T>(key, load);
}

std::shared_ptr<const EqualityDeletes> DeleteLoader::get(EqualityGroup& group) {
    std::call_once(group.once, [&] {
        std::string what = "equality deletes";
        for (const int32_t id : group.field_ids) what += fmt::format(" {} {}", id, key_field(id).read_type()->name());
        group.deletes = cached<EqualityDeletes>(group.files, what, [&] {
            std::vector<EqualityDeletes::Part> parts(group.files.size());
            const size_t readers = table_.store().is_remote() ? std::max(threads_, kRemoteReaders) : threads_;
            parallel_for(parts.size(), readers,
                         [&](size_t i) { parts[i] = read_equality(group.files[i], group.field_ids); });
            auto deletes = std::make_shared<const EqualityDeletes>(group.field_ids, std::move(parts));
            const size_t bytes = deletes->memory_bytes();
            return std::pair(std::move(deletes), bytes);
        });
    });
    return group.deletes;
}

std::shared_ptr<const iceberg::DeletionVector> DeleteLoader::read_vector(const iceberg::FileRef& file,
                                                                         const FileAhead& ahead) const {
    const auto& manifest = *file.manifest;
    const auto offset = manifest.content_offset(file.entry), size = manifest.content_size(file.entry);
    const storage::ObjectInfo known = known_of(table_, file);
    const std::string& path = known.path;
    const auto opened = ahead.file ? ahead.file : table_.store().open(path, known);
    if (!offset || !size || *offset < 0 || *size < 0 || static_cast<uint64_t>(*size) > kMaxVectorBytes ||
        static_cast<uint64_t>(*offset) + static_cast<uint64_t>(*size) > opened->size())
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
             "Manifest {}: the deletion vector in {} has no place inside that file (content_offset, "
             "content_size_in_bytes)",
             manifest.file(), path);
    std::string blob(static_cast<size_t>(*size), '\0');
    opened->read_at(static_cast<uint64_t>(*offset), {reinterpret_cast<uint8_t*>(blob.data()), blob.size()});
    return iceberg::DeletionVector::parse(blob, path, file.record_count());
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
    for (auto& [path, rows] : *out) make_positions(rows);
    return out;
}

EqualityDeletes::Part DeleteLoader::read_equality(uint32_t index, const std::vector<int32_t>& ids) {
    count_event(ProfileEvent::IcebergDeleteFilesRead);
    const iceberg::FileRef& ref = files_[index];
    const FileAhead ahead = take_ahead(index);
    const auto opened = open_file(table_, ref, ahead.file);
    const file::DataFile& file = *opened;
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
    return {std::move(values), ref.sequence_number()};
}

}  // namespace firn::table
