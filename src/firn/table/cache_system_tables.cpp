#include "firn/table/cache_system_tables.h"

#include "firn/base/query_context.h"
#include "firn/file/parquet/page_cache.h"
#include "firn/storage/filesystem_cache.h"
#include "firn/storage/object_cache.h"
#include "firn/table/rows_source.h"

namespace firn::table {
namespace {

using iceberg::MetadataCache;

constexpr int64_t kNsPerSecond = 1'000'000'000;

TypePtr text() { return make_type(TypeId::String); }
TypePtr uint64() { return make_type(TypeId::UInt64); }
TypePtr int64() { return make_type(TypeId::Int64); }
TypePtr uint8() { return make_type(TypeId::UInt8); }

std::shared_ptr<const plan::Source> events(const Settings& settings) {
    const bool all = settings.get_bool("system_events_show_zero_values");
    return make_rows_source("system.events",
                            {{"event", text(), false, "Event name"},
                             {"value", uint64(), false, "How often it happened, in statements that have ended"},
                             {"description", text(), false, "Event description"},
                             {"name", text(), true, ""}},
                            [all](RowsBuilder& rows) {
                                for (size_t i = 0; i < kProfileEvents; ++i) {
                                    const auto event = static_cast<ProfileEvent>(i);
                                    const uint64_t count = process_event_count(event);
                                    if (count == 0 && !all) continue;
                                    rows[0].append_string(profile_event_name(event));
                                    rows[1].append<uint64_t>(count);
                                    rows[2].append_string(profile_event_description(event));
                                    rows[3].append_string(profile_event_name(event));
                                }
                            });
}

std::shared_ptr<const plan::Source> metrics(const Catalog& catalog) {
    return make_rows_source(
        "system.metrics",
        {{"metric", text(), false, "Metric name"},
         {"value", int64(), false, "Its value now"},
         {"description", text(), false, "Metric description"},
         {"name", text(), true, ""}},
        [&catalog](RowsBuilder& rows) {
            const auto add = [&](std::string_view name, uint64_t value, std::string_view description) {
                rows[0].append_string(name);
                rows[1].append<int64_t>(static_cast<int64_t>(value));
                rows[2].append_string(description);
                rows[3].append_string(name);
            };
            const MetadataCache& metadata = *catalog.cache();
            add("IcebergMetadataFilesCacheBytes", metadata.bytes(MetadataCache::Kind::Metadata),
                "bytes of parsed Iceberg metadata that are kept");
            add("IcebergMetadataFilesCacheFiles", metadata.entries(MetadataCache::Kind::Metadata),
                "files whose parsed Iceberg metadata are kept");
            add("ParquetMetadataCacheBytes", metadata.bytes(MetadataCache::Kind::Footer),
                "bytes of data files' parsed footers that are kept");
            add("ParquetMetadataCacheFiles", metadata.entries(MetadataCache::Kind::Footer),
                "data files whose parsed footer is kept");
            const auto& pages = file::pq::PageCache::instance();
            add("UncompressedCacheBytes", pages.bytes(), "bytes of decompressed pages that are kept");
            add("UncompressedCacheCells", pages.entries(), "decompressed pages that are kept");
            add("PageCacheBytes", storage::object_cache().bytes(), "bytes of remote objects that are kept in memory");
            add("PageCacheCells", storage::object_cache().entries(), "pieces of remote objects kept in memory");
            uint64_t bytes = 0, limit = 0, files = 0;
            for (const auto& cache : storage::filesystem_caches()) {
                bytes += cache->bytes();
                files += cache->entries();
                limit += cache->options().max_size;
            }
            add("FilesystemCacheSize", bytes, "bytes of the caches on disk");
            add("FilesystemCacheSizeLimit", limit, "bytes that they may have");
            add("FilesystemCacheElements", files, "files of the caches on disk");
            add("IcebergSchedulePoolTask", catalog.background().tasks(), "tables whose metadata are prefetched");
            add("IcebergSchedulePoolSize", catalog.background().threads(), "threads that do so at most");
        });
}

std::shared_ptr<const plan::Source> filesystem_cache() {
    return make_rows_source(
        "system.filesystem_cache",
        {{"cache_name", text(), false, "Name of the cache"},
         {"cache_base_path", text(), false, "Its directory"},
         {"cache_path", text(), false, "The file of the segment"},
         {"key", text(), false, "Hash of the object that it is of"},
         {"file_segment_range_begin", uint64(), false, "Its first byte in the object"},
         {"file_segment_range_end", uint64(), false, "Its last byte in the object"},
         {"size", uint64(), false, "Its bytes"},
         {"state", text(), false, "Always DOWNLOADED"},
         {"finished_download_time", make_type(TypeId::DateTime), false, "When it was last written or used"},
         {"cache_hits", uint64(), false, "Reads by this process that it served"},
         {"downloaded_size", uint64(), false, "Its bytes"}},
        [](RowsBuilder& rows) {
            for (const auto& cache : storage::filesystem_caches())
                for (const auto& segment : cache->segments()) {
                    rows[0].append_string(cache->options().name);
                    rows[1].append_string(cache->options().path);
                    rows[2].append_string(segment.path);
                    rows[3].append_string(segment.hash);
                    rows[4].append<uint64_t>(segment.offset);
                    rows[5].append<uint64_t>(segment.offset + segment.length - 1);
                    rows[6].append<uint64_t>(segment.length);
                    rows[7].append_string("DOWNLOADED");
                    rows[8].append<uint32_t>(static_cast<uint32_t>(segment.used_ns / kNsPerSecond));
                    rows[9].append<uint64_t>(segment.hits);
                    rows[10].append<uint64_t>(segment.length);
                }
        });
}

std::shared_ptr<const plan::Source> filesystem_cache_settings() {
    return make_rows_source("system.filesystem_cache_settings",
                            {{"cache_name", text(), false, "Name of the cache"},
                             {"path", text(), false, "Its directory"},
                             {"max_size", uint64(), false, "Bytes that it may have"},
                             {"cache_on_write_operations", uint8(), false, "Always 0"},
                             {"cache_policy", text(), false, "Always LRU"},
                             {"current_size", uint64(), false, "Bytes that it has"},
                             {"current_elements_num", uint64(), false, "Files that it has"}},
                            [](RowsBuilder& rows) {
                                for (const auto& cache : storage::filesystem_caches()) {
                                    rows[0].append_string(cache->options().name);
                                    rows[1].append_string(cache->options().path);
                                    rows[2].append<uint64_t>(cache->options().max_size);
                                    rows[3].append<uint8_t>(0);
                                    rows[4].append_string("LRU");
                                    rows[5].append<uint64_t>(cache->bytes());
                                    rows[6].append<uint64_t>(cache->entries());
                                }
                            });
}

}  // namespace

std::vector<std::string> cache_system_table_names() {
    return {"events", "filesystem_cache", "filesystem_cache_settings", "metrics"};
}

std::shared_ptr<const plan::Source> cache_system_table(std::string_view name, const Catalog& catalog,
                                                       const Settings& settings) {
    if (name == "events") return events(settings);
    if (name == "metrics") return metrics(catalog);
    if (name == "filesystem_cache") return filesystem_cache();
    if (name == "filesystem_cache_settings") return filesystem_cache_settings();
    return nullptr;
}

}  // namespace firn::table
