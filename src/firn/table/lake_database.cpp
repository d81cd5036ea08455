#include "firn/table/lake_database.h"

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/catalog/table_storage.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/sql/printer.h"
#include "firn/table/iceberg_place.h"
#include "firn/table/iceberg_source.h"
#include "firn/table/table_location.h"

namespace firn::table {
namespace {

constexpr size_t kMaxRememberedTables = 1000;

std::string canonical_location(const catalog::LoadedTable& table) {
    if (table.metadata) return iceberg::canonical_path(table.metadata->location);
    return iceberg::canonical_path(table.location.empty() ? table.metadata_location : table.location);
}

StorageKind storage_of_scheme(std::string_view scheme) {
    if (scheme.empty()) return StorageKind::Local;
    if (scheme == "s3" || scheme == "gs") return StorageKind::S3;
    return scheme.ends_with("hdfs") ? StorageKind::Hdfs : StorageKind::Azure;
}

bool same_patience(const storage::HttpOptions& a, const storage::HttpOptions& b) {
    return a.connect_timeout == b.connect_timeout && a.idle_timeout == b.idle_timeout && a.attempts == b.attempts;
}

}  // namespace

LakeDatabase::LakeDatabase(std::string name, catalog::CatalogOptions options, std::string create_query,
                           std::string engine_full)
    : name_(std::move(name)),
      options_(std::move(options)),
      create_query_(std::move(create_query)),
      engine_full_(std::move(engine_full)),
      catalog_(catalog::make_catalog(options_)) {}

std::optional<LakeDatabase::Found> LakeDatabase::find(const std::string& table,
                                                      std::chrono::milliseconds staleness) const {
    const auto now = std::chrono::steady_clock::now();
    if (staleness.count() > 0) {
        std::lock_guard lock(mutex_);
        const auto kept = found_.find(table);
        if (kept != found_.end()) {
            const bool fresh = now - kept->second.loaded_at < staleness;
            count_event(fresh ? ProfileEvent::IcebergMetadataFilesCacheHits
                              : ProfileEvent::IcebergMetadataFilesCacheStaleMisses);
            if (fresh) return kept->second;
        }
    }
    for (auto& identifier : catalog::readings_of(table, catalog_->nested_namespaces())) {
        auto loaded = catalog_->load_table(identifier);
        if (!loaded) continue;
        Found found{std::move(identifier), std::move(*loaded), now, nullptr, {}};
        const std::string location = canonical_location(found.table);
        std::lock_guard lock(mutex_);
        const auto kept = found_.find(table);
        // The store of the last time where it still serves: it knows keys that have not expired, and renews them itself.
        if (kept != found_.end() && kept->second.identifier == found.identifier &&
            iceberg::path_scheme(location) == "s3" && canonical_location(kept->second.table) == location &&
            catalog::lent_for_same_places(kept->second.table, found.table)) {
            found.store = kept->second.store;
            found.http = kept->second.http;
        }
        if (found_.size() >= kMaxRememberedTables) found_.clear();
        found_.insert_or_assign(table, found);
        return found;
    }
    return std::nullopt;
}

/// One with the time-outs and tries that the settings say.
void LakeDatabase::open_store(Found& found, const std::string& table, const Settings& settings) const {
    const std::string location = canonical_location(found.table);
    storage::HttpOptions http = http_options(settings, storage_of_scheme(iceberg::path_scheme(location)));
    if (found.store && same_patience(found.http, http)) return;
    found.store = catalog::open_table_storage(catalog_, options_, found.identifier, found.table, location, http);
    found.http = std::move(http);
    std::lock_guard lock(mutex_);
    const auto kept = found_.find(table);
    // Another may have loaded the table anew meanwhile, from elsewhere.
    if (kept == found_.end() || !(kept->second.identifier == found.identifier) ||
        kept->second.loaded_at != found.loaded_at)
        return;
    kept->second.store = found.store;
    kept->second.http = found.http;
}

bool LakeDatabase::has_table(const std::string& table) const { return find(table, {}).has_value(); }

void LakeDatabase::forget() const {
    std::lock_guard lock(mutex_);
    found_.clear();
}

std::shared_ptr<const plan::Source> LakeDatabase::open(const std::string& table, const Settings& settings,
                                                       std::shared_ptr<iceberg::MetadataCache> cache) const {
    auto found = find(table, metadata_staleness(settings));
    if (!found) return nullptr;
    open_store(*found, table, settings);
    if (!settings.get_bool("use_iceberg_metadata_files_cache")) cache = nullptr;
    storage::ObjectInfo metadata_file;
    metadata_file.path = iceberg::canonical_path(found->table.metadata_location);
    auto files = found->table.metadata
                     ? iceberg::TableFiles::of(found->store, "", found->table.metadata, std::move(cache))
                     : iceberg::TableFiles::open(found->store, "", metadata_file, std::move(cache));
    const SnapshotChoice choice = choose_snapshot(files.metadata(), settings);
    return std::make_shared<IcebergSource>(std::move(files), choice, IcebergReadOptions::from(settings),
                                           sql::quote_identifier(name_) + "." + sql::quote_identifier(table));
}

std::vector<std::string> LakeDatabase::tables() const {
    std::vector<std::string> out;
    catalog_->each_table([&](const catalog::TableIdentifier& table) {
        out.push_back(table.display());
        return true;
    });
    return out;
}

std::string LakeDatabase::create_table_query(const std::string& table, const plan::Source& source) const {
    std::string out = "CREATE TABLE " + sql::quote_identifier(name_) + "." + sql::quote_identifier(table) + "\n(";
    bool first = true;
    for (const auto& column : source.columns()) {
        if (column.is_virtual) continue;
        std::string name = sql::quote_identifier(column.name);
        if (!name.starts_with('`')) name = "`" + name + "`";
        out += std::string(first ? "" : ",") + "\n    " + name + " " + column.type->name();
        if (!column.comment.empty()) out += " COMMENT " + sql::quote_string(column.comment);
        first = false;
    }
    std::string location;
    if (const auto* iceberg = dynamic_cast<const IcebergSource*>(&source))
        location = iceberg->table().metadata().location;
    return out + "\n)\nENGINE = Iceberg(" + sql::quote_string(location) + ")";
}

}  // namespace firn::table
