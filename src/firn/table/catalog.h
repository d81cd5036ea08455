// The tables and views of a session by name, and the table functions: how names in a query become sources of rows.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/settings.h"
#include "firn/iceberg/metadata_cache.h"
#include "firn/plan/analyzer.h"
#include "firn/sql/statement.h"
#include "firn/storage/object_store.h"
#include "firn/table/background_schedule.h"
#include "firn/table/disk.h"
#include "firn/table/lake_database.h"
#include "firn/table/named_collections.h"

namespace firn::table {

/// Named tables of one engine: what CREATE TABLE kept. Makes its source anew for each query, as settings say.
struct TableEntry {
    std::string engine;  // "IcebergLocal"
    std::vector<plan::TableFunctionArgument> arguments;
    std::vector<std::pair<std::string, std::string>> settings;
    std::string create_query;  // as SHOW CREATE TABLE prints it
    sql::QueryPtr view;        // a view's query
};

class Catalog {
public:
    Catalog();

    // Database "" is "default". Errors: UNKNOWN_DATABASE, TABLE_ALREADY_EXISTS, UNKNOWN_TABLE, UNKNOWN_STORAGE …
    void create_table(const sql::CreateTableStatement& statement, const Settings& settings,
                      plan::AnalyzerContext& context);
    void create_view(const sql::CreateViewStatement& statement);
    /// Engine DataLakeCatalog shows the tables of a catalog, which is not asked for anything yet.
    void create_database(const sql::CreateDatabaseStatement& statement, plan::AnalyzerContext& context);
    /// Detaches; data stay.
    void drop_table(const sql::TableName& name, bool if_exists, bool view_only);
    void drop_database(const std::string& name, bool if_exists);
    const TableEntry* find(const std::string& database, const std::string& table) const;
    bool has_database(const std::string& name) const;
    /// Of a catalog's database, or null.
    const LakeDatabase* lake(const std::string& name) const;
    bool has_table(const sql::TableName& name) const;
    /// As SHOW CREATE prints it; nothing where there is no such table or view.
    std::optional<std::string> create_query(const sql::TableName& name, const Settings& settings) const;
    std::string create_database_query(const std::string& name) const;
    std::vector<std::string> tables(const std::string& database) const;
    std::vector<std::string> databases() const;
    std::string current_database = "default";

    /// A resolver for one statement. `settings` must outlive it.
    std::unique_ptr<plan::TableResolver> resolver(const Settings& settings) const;

    /// Named collections, disks and the threads of background work of a configuration file. BAD_ARGUMENTS for what makes
    /// no sense.
    void configure(const storage::ConfigurationNode& configuration);
    NamedCollections& collections() { return collections_; }
    const NamedCollections& collections() const { return collections_; }
    /// UNKNOWN_DISK where the configuration has none of that name.
    const Disk& disk(const std::string& name) const;

    const std::shared_ptr<iceberg::MetadataCache>& cache() const { return cache_; }
    /// Drops cached metadata of tables, so that the next statements ask their catalogs and storages.
    void forget_metadata() const;
    const BackgroundSchedule& background() const { return background_; }
    const std::shared_ptr<storage::ObjectStore>& store() const { return store_; }

private:
    std::map<std::string, std::map<std::string, TableEntry>> databases_;  // with an empty one for each of lakes_
    std::map<std::string, std::shared_ptr<const LakeDatabase>> lakes_;
    std::shared_ptr<iceberg::MetadataCache> cache_;
    std::shared_ptr<storage::ObjectStore> store_;
    NamedCollections collections_;
    std::map<std::string, Disk> disks_;
    BackgroundSchedule background_;
};

/// How the statement's caller evaluates constant arguments.
std::vector<plan::TableFunctionArgument> constant_arguments(const std::vector<sql::ExprPtr>& arguments,
                                                            const plan::AnalyzerContext& context);

}  // namespace firn::table
