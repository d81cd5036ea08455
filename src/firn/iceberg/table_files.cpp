#include "firn/iceberg/table_files.h"

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::iceberg {
namespace {

/// Parsed memory is about so many times the JSON's bytes.
constexpr size_t kMetadataMemoryFactor = 3;
constexpr uint64_t kMaxManifestBytes = uint64_t{4} << 30;

/// An object's bytes: mapped where the store can, else read.
class Bytes {
public:
    Bytes(const storage::OpenFile& file, uint64_t limit) {
        if (file.size() > limit)
            fail(ErrorCode::LIMIT_EXCEEDED, "Metadata file {} has {} bytes, more than the {} that firn reads",
                 file.info().path, file.size(), limit);
        count_event(ProfileEvent::StorageReadRequests);
        count_event(ProfileEvent::ReadBytesFromStorage, file.size());
        if (const auto mapped = file.map(); !mapped.empty()) {
            view_ = {reinterpret_cast<const char*>(mapped.data()), mapped.size()};
            return;
        }
        read_.resize(file.size());
        file.read_at(0, {reinterpret_cast<uint8_t*>(read_.data()), read_.size()});
        view_ = read_;
    }
    std::string_view view() const { return view_; }

private:
    std::string read_;
    std::string_view view_;
};

std::string version_key(const storage::ObjectInfo& info, std::string_view what) {
    return fmt::format("{}\n{}\n{}\n{}\n{}", info.path, info.size, info.modified_us, info.etag, what);
}

template <typename T>
std::shared_ptr<const T> cached(const std::shared_ptr<MetadataCache>& cache, const std::string& key,
                                const std::function<std::pair<std::shared_ptr<const T>, size_t>()>& load) {
    if (cache) return cache->get<T>(key, load);
    return load().first;
}

}  // namespace

TableFiles TableFiles::open(std::shared_ptr<storage::ObjectStore> store, std::string_view opened_at,
                            std::string_view metadata_file, std::shared_ptr<MetadataCache> cache) {
    TableFiles table;
    table.store_ = std::move(store);
    table.cache_ = std::move(cache);
    const auto file = table.store_->open(metadata_file);
    table.metadata_ = cached<TableMetadata>(table.cache_, version_key(file->info(), "metadata"), [&] {
        const Bytes bytes(*file, kMaxMetadataBytes);
        return std::pair(parse_table_metadata(bytes.view(), metadata_file),
                         bytes.view().size() * kMetadataMemoryFactor);
    });
    table.paths_ = std::make_shared<PathResolver>(table.metadata_->location, opened_at);
    return table;
}

std::shared_ptr<const ManifestList> TableFiles::manifest_list(const Snapshot& snapshot) const {
    if (snapshot.manifest_list.empty()) return ManifestList::of_paths(snapshot.manifests, snapshot.snapshot_id);
    const std::string path = paths_->resolve(snapshot.manifest_list);
    const auto file = store_->open(path);
    return cached<ManifestList>(cache_, version_key(file->info(), "manifest list"), [&] {
        const Bytes bytes(*file, kMaxManifestBytes);
        auto list = parse_manifest_list(bytes.view(), path);
        const size_t memory = list->memory_bytes();
        return std::pair(std::move(list), memory);
    });
}

std::shared_ptr<const Manifest> TableFiles::manifest(const ManifestFile& entry) const {
    const std::string path = paths_->resolve(entry.path);
    const auto file = store_->open(path);
    const auto inherited = ManifestInheritance::of(entry);
    const std::string what = fmt::format("manifest {} {} {} {}", inherited.sequence_number, inherited.snapshot_id,
                                         inherited.spec_id, inherited.first_row_id.value_or(-1));
    return cached<Manifest>(cache_, version_key(file->info(), what), [&] {
        count_event(ProfileEvent::IcebergManifestFilesRead);
        const Bytes bytes(*file, kMaxManifestBytes);
        auto manifest = parse_manifest(bytes.view(), path, inherited);
        const size_t memory = manifest->memory_bytes();
        return std::pair(std::move(manifest), memory);
    });
}

}  // namespace firn::iceberg
