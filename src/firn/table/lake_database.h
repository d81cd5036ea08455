// A database of engine DataLakeCatalog: the tables of a catalog under their names "namespace.table".
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/settings.h"
#include "firn/catalog/lake_catalog.h"
#include "firn/iceberg/metadata_cache.h"
#include "firn/plan/source.h"
#include "firn/storage/http.h"
#include "firn/storage/object_store.h"

namespace firn::table {

/// Thread-safe. Asks the catalog only for what a statement needs: opening a table loads that table, listing gives names.
/// Errors: those of catalog::LakeCatalog.
class LakeDatabase {
public:
    LakeDatabase(std::string name, catalog::CatalogOptions options, std::string create_query, std::string engine_full);

    const std::string& create_query() const { return create_query_; }  // as SHOW CREATE DATABASE prints it
    const std::string& engine_full() const { return engine_full_; }

    /// The table as the settings want it read; null where there is none of that name.
    std::shared_ptr<const plan::Source> open(const std::string& table, const Settings& settings,
                                             std::shared_ptr<iceberg::MetadataCache> cache) const;
    bool has_table(const std::string& table) const;
    /// Forgets which tables were found, so that the catalog is asked for them again.
    void forget() const;
    /// Names of all tables.
    std::vector<std::string> tables() const;
    /// "CREATE TABLE …" with the columns of `source`, which is this table.
    std::string create_table_query(const std::string& table, const plan::Source& source) const;

private:
    struct Found {
        catalog::TableIdentifier identifier;
        catalog::LoadedTable table;
        std::chrono::steady_clock::time_point loaded_at;
        std::shared_ptr<storage::ObjectStore> store;  ///< null where the table has not been opened yet
        storage::HttpOptions http;                    ///< of the store
    };
    /// From the catalog, or where iceberg_metadata_staleness_ms lets it, from before.
    std::optional<Found> find(const std::string& table, std::chrono::milliseconds staleness) const;
    void open_store(Found& found, const std::string& table, const Settings& settings) const;

    std::string name_;
    catalog::CatalogOptions options_;
    std::string create_query_, engine_full_;
    std::shared_ptr<catalog::LakeCatalog> catalog_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, Found> found_;
};

}  // namespace firn::table
