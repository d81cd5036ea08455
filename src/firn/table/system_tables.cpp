// Database system: one, settings, functions, formats and the like. The Iceberg ones are in iceberg_system_tables.cpp.
#include <algorithm>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/functions/aggregate.h"
#include "firn/functions/function.h"
#include "firn/sql/secrets.h"
#include "firn/table/cache_system_tables.h"
#include "firn/table/iceberg_system_tables.h"
#include "firn/table/rows_source.h"
#include "firn/table/table_functions.h"

namespace firn::table {
namespace {

TypePtr text() { return make_type(TypeId::String); }
TypePtr flag() { return make_type(TypeId::UInt8); }

std::shared_ptr<const plan::Source> one() {
    return make_rows_source("system.one", {{"dummy", flag(), false, ""}},
                            [](RowsBuilder& rows) { rows[0].append<uint8_t>(0); });
}

std::shared_ptr<const plan::Source> settings_table(const Settings& settings) {
    return make_rows_source("system.settings",
                            {{"name", text(), false, "The setting"},
                             {"value", text(), false, "Its value now"},
                             {"changed", flag(), false, "Whether it was set"},
                             {"default", text(), false, "Its default"}},
                            [settings](RowsBuilder& rows) {
                                for (const auto* setting : all_settings()) {
                                    rows[0].append_string(setting->name);
                                    rows[1].append_string(settings.get_string(setting->name));
                                    rows[2].append<uint8_t>(settings.is_changed(setting->name));
                                    rows[3].append_string(setting->default_value);
                                }
                            });
}

std::shared_ptr<const plan::Source> functions_table() {
    return make_rows_source("system.functions",
                            {{"name", text(), false, "The function"},
                             {"is_aggregate", flag(), false, "Whether it is an aggregate function"}},
                            [](RowsBuilder& rows) {
                                for (const auto& name : functions::FunctionRegistry::instance().names()) {
                                    rows[0].append_string(name);
                                    rows[1].append<uint8_t>(0);
                                }
                                for (const auto& name : functions::AggregateRegistry::instance().names()) {
                                    rows[0].append_string(name);
                                    rows[1].append<uint8_t>(1);
                                }
                            });
}

std::shared_ptr<const plan::Source> collections_table(const Catalog& catalog) {
    return make_rows_source(
        "system.named_collections",
        {{"name", text(), false, "Name of the collection"},
         {"collection", make_map(text(), text()), false, "Its keys; the values are hidden"},
         {"source", text(), false, "CONFIG or SQL"},
         {"create_query", text(), false, "As CREATE NAMED COLLECTION"}},
        [&catalog](RowsBuilder& rows) {
            for (const auto& [name, collection] : catalog.collections().all()) {
                rows[0].append_string(name);
                for (const auto& [key, value] : collection.values) {
                    rows[1].element().element(0).append_string(key);
                    rows[1].element().element(1).append_string(sql::kHidden);
                    rows[1].element().end_tuple();
                }
                rows[1].end_array();
                rows[2].append_string(collection.from_configuration ? "CONFIG" : "SQL");
                rows[3].append_string(collection.from_configuration ? "" : collection.create_query(name));
            }
        });
}

std::shared_ptr<const plan::Source> databases_table(const Catalog& catalog) {
    return make_rows_source("system.databases",
                            {{"name", text(), false, "Database name"},
                             {"engine", text(), false, "Database engine"},
                             {"engine_full", text(), false, "The engine with its parameters, secrets hidden"},
                             {"is_external", flag(), false, "Whether it shows the tables of a catalog"}},
                            [&catalog](RowsBuilder& rows) {
                                for (const auto& name : catalog.databases()) {
                                    const LakeDatabase* lake = catalog.lake(name);
                                    rows[0].append_string(name);
                                    rows[1].append_string(lake ? "DataLakeCatalog" : "Memory");
                                    rows[2].append_string(lake ? lake->engine_full() : "Memory");
                                    rows[3].append<uint8_t>(lake != nullptr);
                                }
                            });
}

/// Tables of a database, as system tables show them: those of a catalog only where the settings want them, and none where
/// the catalog does not answer, so that it hides no other.
std::vector<std::string> shown_tables(const Catalog& catalog, const std::string& database, const Settings& settings) {
    if (!catalog.lake(database)) return catalog.tables(database);
    if (!settings.get_bool("show_data_lake_catalogs_in_system_tables")) return {};
    try {
        return catalog.tables(database);
    } catch (const Error& error) {
        if (ends_query(error)) throw;
        return {};
    }
}

std::shared_ptr<const plan::Source> tables_table(const Catalog& catalog, const Settings& settings) {
    return make_rows_source(
        "system.tables",
        {{"database", text(), false, ""},
         {"name", text(), false, ""},
         {"engine", text(), false, ""},
         {"create_table_query", text(), false, ""}},
        [&catalog, settings](RowsBuilder& rows) {
            for (const auto& database : catalog.databases())
                for (const auto& table : shown_tables(catalog, database, settings)) {
                    const TableEntry* entry = catalog.find(database, table);
                    rows[0].append_string(database);
                    rows[1].append_string(table);
                    rows[2].append_string(entry ? entry->engine : catalog.lake(database) ? "Iceberg" : "System");
                    rows[3].append_string(entry ? entry->create_query : "");
                }
        });
}

}  // namespace

std::vector<std::string> system_table_names() {
    std::vector<std::string> names{"databases", "functions", "named_collections", "numbers", "one",
                                   "settings",  "tables"};
    for (auto& name : cache_system_table_names()) names.push_back(std::move(name));
    for (auto& name : iceberg_system_table_names()) names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    return names;
}

std::shared_ptr<const plan::Source> system_table(std::string_view name, const Catalog& catalog,
                                                 const Settings& settings) {
    if (name == "one") return one();
    if (name == "settings") return settings_table(settings);
    if (name == "functions") return functions_table();
    if (name == "databases") return databases_table(catalog);
    if (name == "tables") return tables_table(catalog, settings);
    if (name == "named_collections") return collections_table(catalog);
    if (name == "numbers" || name == "numbers_mt" || name == "zeros") {
        TableCall call;
        call.name = std::string(name);
        return numbers_table(call);
    }
    if (auto table = cache_system_table(name, catalog, settings)) return table;
    return iceberg_system_table(name, catalog, settings);
}

}  // namespace firn::table
