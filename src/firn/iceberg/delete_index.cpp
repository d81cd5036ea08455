#include "firn/iceberg/delete_index.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/error.h"

namespace firn::iceberg {
namespace {

/// The one data file that a position delete file is about; empty where it may be about many.
std::string_view only_data_file(const FileRef& file) {
    if (const auto named = file.manifest->referenced_data_file(file.entry)) return *named;
    const ColumnMetrics metrics = file.manifest->metrics(file.entry, kDeleteFilePathFieldId);
    if (metrics.lower_bound && metrics.upper_bound && *metrics.lower_bound == *metrics.upper_bound &&
        metrics.lower_bound->size() > 0)
        return *metrics.lower_bound;
    return {};
}

}  // namespace

DeleteIndex::DeleteIndex(const TableFiles& table, std::vector<std::shared_ptr<const Manifest>> manifests)
    : table_(table) {
    for (const auto& manifest : manifests)
        for (uint32_t i = 0; i < manifest->size(); ++i)
            if (manifest->is_live(i)) add({manifest, i});
    paths_needed_ = !vectors_.empty() || !by_path_.empty();
    partitions_needed_ = !by_partition_.empty() || !equality_.empty();
}

void DeleteIndex::add(const FileRef& file) {
    const auto index = static_cast<uint32_t>(files_.size());
    uint32_t scope = kGlobalScope;
    const Manifest& manifest = *file.manifest;
    switch (manifest.file_content(file.entry)) {
        case FileContent::Data:
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "Manifest {} of delete files holds the data file {}",
                 manifest.file(), file.path());
        case FileContent::PositionDeletes:
            add_position_deletes(file, index);
            break;
        case FileContent::EqualityDeletes: {
            if (manifest.equality_ids(file.entry).empty())
                fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
                     "Manifest {}: equality delete file {} names no columns (equality_ids)", manifest.file(),
                     file.path());
            const PartitionSpec* spec = table_.metadata().spec(manifest.spec_id());
            if (spec ? spec->is_unpartitioned() : manifest.partition_fields() == 0) {
                global_equality_.push_back(index);
            } else {
                Indices& same = equality_[partition_key_of(file)];
                scope = same.empty() ? static_cast<uint32_t>(equality_.size()) : scopes_[same[0]];
                same.push_back(index);
            }
        }
    }
    files_.push_back(file);
    scopes_.push_back(scope);
}

void DeleteIndex::add_position_deletes(const FileRef& file, uint32_t index) {
    const Manifest& manifest = *file.manifest;
    if (!manifest.is_deletion_vector(file.entry)) {
        const std::string_view path = only_data_file(file);
        if (path.empty())
            by_partition_[partition_key_of(file)].push_back(index);
        else
            by_path_[table_.paths().resolve(path)].push_back(index);
        return;
    }
    const auto named = manifest.referenced_data_file(file.entry);
    if (!named)
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION,
             "Manifest {}: deletion vector in {} does not name its data file (referenced_data_file)", manifest.file(),
             file.path());
    if (!vectors_.emplace(table_.paths().resolve(*named), index).second)
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "Manifest {}: data file {} has a second deletion vector",
             manifest.file(), *named);
}

std::string DeleteIndex::partition_key(const FileRef& file, int32_t spec_id) const {
    std::vector<Datum> tuple(file.manifest->partition_fields());
    file.manifest->partition(file.entry, tuple);
    // By field id: writers may order a tuple's fields differently. Values as text with their length, so that none runs
    // into the next; numbers without their kind, as promotion changes it.
    std::vector<std::pair<int32_t, size_t>> order;
    for (size_t i = 0; i < tuple.size(); ++i) order.emplace_back(file.manifest->partition_field_id(i), i);
    std::sort(order.begin(), order.end());
    std::string key = std::to_string(spec_id);
    for (const auto& [field_id, i] : order) {
        const Datum& value = tuple[i];
        if (value.is_null()) {
            key += fmt::format("|{}:null", field_id);
            continue;
        }
        const std::string text = value.is_integral() ? std::to_string(value.integer())
                                 : value.is_bytes()  ? std::string(value.view())
                                                     : value.to_string();
        key += fmt::format("|{}:{}:{}", field_id, text.size(), text);
    }
    return key;
}

/// Bounds of file_path may tell that a delete file of many data files is not about this one.
bool DeleteIndex::out_of_range(const FileRef& deletes, const std::string& data_path) const {
    const ColumnMetrics metrics = deletes.manifest->metrics(deletes.entry, kDeleteFilePathFieldId);
    // Bounds are of paths as they were written, perhaps cut short; only whole paths of the table's own folder compare.
    const std::string written = table_.paths().to_metadata(data_path);
    if (!metrics.lower_bound || !metrics.upper_bound) return false;
    const std::string& location = table_.metadata().location;
    if (!metrics.lower_bound->starts_with(location) || !metrics.upper_bound->starts_with(location)) return false;
    if (!written.starts_with(location)) return false;
    return written < *metrics.lower_bound || written.substr(0, metrics.upper_bound->size()) > *metrics.upper_bound;
}

std::vector<uint32_t> DeleteIndex::find(const PlannedFile& data) const {
    Indices found;
    const int64_t sequence = data.file.sequence_number();
    std::string path;
    if (paths_needed_ || !by_partition_.empty()) path = table_.paths().resolve(data.file.path());
    std::string partition;
    if (partitions_needed_) partition = partition_key_of(data.file);

    const auto take = [&](const Indices& candidates, bool strictly_older, bool check_path) {
        for (const uint32_t index : candidates) {
            const int64_t deletes = files_[index].sequence_number();
            if (strictly_older ? sequence >= deletes : sequence > deletes) continue;
            if (check_path && out_of_range(files_[index], path)) continue;
            found.push_back(index);
        }
    };
    const auto look_up = [&](const auto& map, const std::string& key, bool strictly_older, bool check_path) {
        if (const auto place = map.find(key); place != map.end()) take(place->second, strictly_older, check_path);
    };

    const auto vector = vectors_.find(path);
    if (!path.empty() && vector != vectors_.end() && sequence <= files_[vector->second].sequence_number()) {
        found.push_back(vector->second);
    } else {
        look_up(by_path_, path, false, false);
        look_up(by_partition_, partition, false, true);
    }
    look_up(equality_, partition, true, false);
    take(global_equality_, true, false);
    return found;
}

}  // namespace firn::iceberg
