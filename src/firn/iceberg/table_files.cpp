#include "firn/iceberg/table_files.h"

#include <algorithm>

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
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", info.path, info.size, info.modified_us, info.etag, info.table, what);
}

template <typename T>
std::shared_ptr<const T> cached(const std::shared_ptr<MetadataCache>& cache, const std::string& key,
                                const std::function<std::pair<std::shared_ptr<const T>, size_t>()>& load) {
    if (cache) return cache->get<T>(key, load);
    return load().first;
}

/// Parsed from the store's object, through the cache. Parse gives the value and its bytes in memory. Remote objects are
/// read by one request, and none where they are cached: metadata files are never written twice under one name, but
/// for a table that was dropped and made anew, whose file the listing's size and etag tell apart.
template <typename T, typename Parse>
std::shared_ptr<const T> load(const storage::ObjectStore& store, const storage::ObjectInfo& known,
                              const std::shared_ptr<MetadataCache>& cache, std::string_view what, uint64_t limit,
                              const Parse& parse) {
    if (!store.is_remote()) {
        // A table may have thousands of manifests: they are only looked at, and opened where they have to be read.
        return cached<T>(cache, version_key(store.stat(known.path), what), [&] {
            const auto file = store.open(known.path);
            return parse(Bytes(*file, limit).view());
        });
    }
    return cached<T>(cache, store.identity() + "\n" + version_key(known, what), [&] {
        const std::string bytes = store.read_all(known, limit);
        count_event(ProfileEvent::StorageReadRequests);
        count_event(ProfileEvent::ReadBytesFromStorage, bytes.size());
        return parse(std::string_view(bytes));
    });
}

storage::ObjectInfo named(const TableMetadata& table, std::string path, int64_t length = 0) {
    storage::ObjectInfo info;
    info.path = std::move(path);
    info.table = table.table_uuid;
    info.size = static_cast<uint64_t>(std::max<int64_t>(0, length));
    return info;
}

}  // namespace

TableFiles TableFiles::open(std::shared_ptr<storage::ObjectStore> store, std::string_view opened_at,
                            const storage::ObjectInfo& metadata_file, std::shared_ptr<MetadataCache> cache) {
    auto metadata =
        load<TableMetadata>(*store, metadata_file, cache, "metadata", kMaxMetadataBytes, [&](std::string_view bytes) {
            return std::pair(parse_table_metadata(bytes, metadata_file.path), bytes.size() * kMetadataMemoryFactor);
        });
    return of(std::move(store), opened_at, std::move(metadata), std::move(cache));
}

TableFiles TableFiles::of(std::shared_ptr<storage::ObjectStore> store, std::string_view opened_at,
                          std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<MetadataCache> cache) {
    TableFiles table;
    table.store_ = std::move(store);
    table.cache_ = std::move(cache);
    table.metadata_ = std::move(metadata);
    table.paths_ = std::make_shared<PathResolver>(table.metadata_->location,
                                                  opened_at.empty() ? table.metadata_->location : opened_at);
    return table;
}

std::shared_ptr<const ManifestList> TableFiles::manifest_list(const Snapshot& snapshot) const {
    if (snapshot.manifest_list.empty()) return ManifestList::of_paths(snapshot.manifests, snapshot.snapshot_id);
    const std::string path = paths_->resolve(snapshot.manifest_list);
    return load<ManifestList>(*store_, named(*metadata_, path), cache_, "manifest list", kMaxManifestBytes,
                              [&](std::string_view bytes) {
                                  auto list = parse_manifest_list(bytes, path);
                                  const size_t memory = list->memory_bytes();
                                  return std::pair(std::move(list), memory);
                              });
}

std::shared_ptr<const Manifest> TableFiles::manifest(const ManifestFile& entry) const {
    const std::string path = paths_->resolve(entry.path);
    const auto inherited = ManifestInheritance::of(entry);
    const std::string what = fmt::format("manifest {} {} {} {}", inherited.sequence_number, inherited.snapshot_id,
                                         inherited.spec_id, inherited.first_row_id.value_or(-1));
    return load<Manifest>(*store_, named(*metadata_, path, entry.length), cache_, what, kMaxManifestBytes,
                          [&](std::string_view bytes) {
                              count_event(ProfileEvent::IcebergManifestFilesRead);
                              auto manifest = parse_manifest(bytes, path, inherited);
                              const size_t memory = manifest->memory_bytes();
                              return std::pair(std::move(manifest), memory);
                          });
}

}  // namespace firn::iceberg
