#include "firn/table/iceberg_place.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/thread_pool.h"

namespace firn::table {
namespace {

constexpr uint64_t kLongestStalenessMs = uint64_t{1'000} * 24 * 3'600 * 1'000;  // a thousand days
constexpr size_t kManifestsAtOnce = 8;

std::string key_of(const IcebergPlace& place) {
    const auto& options = place.options;
    return fmt::format("{}\n{}\n{}\n{}\n{}{}", place.store->identity(), place.root, options.metadata_file_path,
                       options.table_uuid, options.by_last_updated_ms ? 1 : 0, options.use_version_hint ? 1 : 0);
}

}  // namespace

std::chrono::milliseconds metadata_staleness(const Settings& settings) {
    if (!settings.get_bool("use_iceberg_metadata_files_cache")) return std::chrono::milliseconds(0);
    const uint64_t staleness = std::min(settings.get_uint("iceberg_metadata_staleness_ms"), kLongestStalenessMs);
    return std::chrono::milliseconds(static_cast<int64_t>(staleness));
}

iceberg::TableFiles IcebergPlace::open(std::chrono::milliseconds staleness) const {
    const std::string key = key_of(*this);
    if (cache)
        if (const auto known = cache->newest(key, staleness))
            return iceberg::TableFiles::open(store, root, *known, cache);
    const auto asked_at = iceberg::MetadataCache::Clock::now();
    const auto found = iceberg::find_metadata_object(*store, root, options);
    auto table = iceberg::TableFiles::open(store, root, found, cache);
    if (cache) cache->found_newest(key, found, asked_at);
    return table;
}

void IcebergPlace::prefetch() const {
    const iceberg::TableFiles table = open(std::chrono::milliseconds(0));
    const iceberg::Snapshot* snapshot = table.metadata().current_snapshot();
    if (!snapshot) return;
    const auto list = table.manifest_list(*snapshot);
    const auto& manifests = list->manifests();
    parallel_for(manifests.size(), kManifestsAtOnce, [&](size_t i) {
        if (manifests[i].may_have_live_files()) table.manifest(manifests[i]);
    });
}

}  // namespace firn::table
