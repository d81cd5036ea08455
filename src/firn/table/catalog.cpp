#include "firn/table/catalog.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/functions/function.h"
#include "firn/sql/printer.h"
#include "firn/storage/local_store.h"
#include "firn/table/table_functions.h"
#include "firn/table/table_location.h"
#include "firn/vector/builder.h"

namespace firn::table {
namespace {

constexpr size_t kCacheBytes = size_t{512} << 20;
constexpr uint64_t kLongestPeriodMs = uint64_t{1'000} * 24 * 3'600 * 1'000;  // a thousand days

size_t whole_number(std::string_view name, const std::string& text) {
    size_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
        fail(ErrorCode::BAD_ARGUMENTS, "Configuration: {} must be a whole number, and is '{}'", name, text);
    return number;
}

std::string literal_text(const sql::Literal& literal) {
    return literal.kind == sql::Literal::Kind::String ? literal.text : sql::format_literal(literal);
}

/// The table function that reads what an engine names. Plain Iceberg is the disk's, else S3's.
std::string function_of_engine(const std::string& engine, const Catalog& catalog, const std::string& disk) {
    if (engine == "Iceberg" && !disk.empty()) return catalog.disk(disk).table_function();
    static const std::map<std::string, std::string, std::less<>> functions{{"IcebergLocal", "icebergLocal"},
                                                                           {"Iceberg", "iceberg"},
                                                                           {"IcebergS3", "icebergS3"},
                                                                           {"IcebergAzure", "icebergAzure"},
                                                                           {"IcebergHDFS", "icebergHDFS"},
                                                                           {"File", "file"},
                                                                           {"S3", "s3"},
                                                                           {"GCS", "gcs"},
                                                                           {"AzureBlobStorage", "azureBlobStorage"},
                                                                           {"HDFS", "hdfs"}};
    if (const auto found = functions.find(engine); found != functions.end()) return found->second;
    fail(ErrorCode::UNKNOWN_STORAGE, "Unknown table engine {}", engine);
}

std::shared_ptr<const LakeDatabase> make_lake_database(const sql::CreateDatabaseStatement& statement,
                                                       const plan::AnalyzerContext& context) {
    TableCall call;
    call.name = "DataLakeCatalog";
    call.arguments = constant_arguments(statement.storage.engine->args, context);
    std::vector<std::string> arguments;
    for (size_t i = 0; i < call.arguments.size(); ++i) arguments.push_back(call.text(i, "a URL, user or password"));
    std::vector<std::pair<std::string, std::string>> settings;
    for (const auto& change : statement.storage.settings)
        settings.emplace_back(change.name, literal_text(change.value));
    sql::CreateDatabaseStatement shown = statement;
    shown.if_not_exists = false;
    sql::CreateDatabaseStatement bare;
    bare.storage = statement.storage;
    const std::string text = sql::format_statement(bare, {.hide_secrets = true});
    const std::string engine_full = text.substr(std::min(text.find("DataLakeCatalog"), text.size()));
    return std::make_shared<LakeDatabase>(statement.database, catalog::CatalogOptions::of(arguments, settings),
                                          sql::format_statement(shown, {.multi_line = true, .hide_secrets = true}),
                                          engine_full);
}

TableCall call_of(const TableEntry& entry, const Settings& settings, const Catalog& catalog) {
    TableCall call;
    call.arguments = entry.arguments;
    call.settings = settings;
    call.catalog = &catalog;
    for (const auto& [name, value] : entry.settings) call.set(name, value);
    call.name = function_of_engine(entry.engine, catalog, call.disk);
    if (storage_of_function(call.name)) call.apply_collection();
    return call;
}

std::shared_ptr<const plan::Source> open_table(const TableCall& call) {
    return (*find_table_function(call.name))(call);
}

/// Of a table's work beside the statements; a database's all begin with that of the empty table name.
std::string background_name(const std::string& database, const std::string& table) { return database + "\n" + table; }

class Resolver : public plan::TableResolver {
public:
    Resolver(const Catalog& catalog, const Settings& settings) : catalog_(catalog), settings_(settings) {}

    std::optional<plan::ResolvedTable> resolve_table(const std::string& database, const std::string& table) override {
        const std::string& name = database.empty() ? catalog_.current_database : database;
        if (name == "system") {
            if (auto source = system_table(table, catalog_, settings_))
                return plan::ResolvedTable{std::move(source), nullptr};
            return std::nullopt;
        }
        if (const LakeDatabase* lake = catalog_.lake(name)) {
            auto source = lake->open(table, settings_, catalog_.cache());
            if (!source) return std::nullopt;
            return plan::ResolvedTable{std::move(source), nullptr};
        }
        if (!catalog_.has_database(name)) {
            // namespace.table of the catalog in use
            if (catalog_.lake(catalog_.current_database))
                return resolve_table(catalog_.current_database, name + "." + table);
            fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", name);
        }
        const TableEntry* entry = catalog_.find(name, table);
        if (!entry) return std::nullopt;
        if (entry->view) return plan::ResolvedTable{nullptr, entry->view};
        return plan::ResolvedTable{open_table(call_of(*entry, settings_, catalog_)), nullptr};
    }

    std::shared_ptr<const plan::Source> resolve_table_function(
        const sql::Expr& expr, const std::vector<plan::TableFunctionArgument>& arguments,
        const std::function<std::optional<std::string>(std::string_view)>& setting) override {
        const TableFunction* function = find_table_function(expr.name);
        if (!function) return nullptr;
        TableCall call;
        call.name = expr.name;
        call.arguments = arguments;
        call.settings = settings_;
        call.catalog = &catalog_;
        // SETTINGS of the SELECT around the call, and those inside the call itself.
        for (const auto* definition : all_settings())
            if (setting)
                if (const auto value = setting(definition->name)) call.settings.set(definition->name, *value);
        for (const auto& [name, value] : expr.settings) call.set(name, literal_text(value));
        if (storage_of_function(expr.name)) call.apply_collection();
        return (*function)(call);
    }

    std::vector<std::string> similar_tables(const std::string& name) override {
        std::vector<std::string> out;
        if (catalog_.lake(catalog_.current_database)) return out;  // a catalog's tables are not listed for a hint
        for (const auto& table : catalog_.tables(catalog_.current_database))
            if (table.find(name) != std::string::npos || name.find(table) != std::string::npos) out.push_back(table);
        return out;
    }

private:
    const Catalog& catalog_;
    const Settings& settings_;
};

}  // namespace

Catalog::Catalog()
    : cache_(std::make_shared<iceberg::MetadataCache>(kCacheBytes)), store_(std::make_shared<storage::LocalStore>()) {
    databases_["default"];
    databases_["system"];
}

void Catalog::configure(const storage::ConfigurationNode& configuration) {
    if (const auto* collections = configuration.child("named_collections")) collections_.load(*collections);
    if (const auto* storage = configuration.child("storage_configuration"))
        if (const auto* disks = storage->child("disks"))
            for (const auto& node : disks->children) disks_.insert_or_assign(node.name, Disk::of(node));
    if (const std::string threads = configuration.child_text("iceberg_background_schedule_pool_size"); !threads.empty())
        background_.set_threads(whole_number("iceberg_background_schedule_pool_size", threads));
}

const Disk& Catalog::disk(const std::string& name) const {
    const auto found = disks_.find(name);
    if (found == disks_.end())
        fail(ErrorCode::UNKNOWN_DISK,
             "Unknown disk {}: the configuration's storage_configuration.disks does not have it", name);
    return found->second;
}

std::unique_ptr<plan::TableResolver> Catalog::resolver(const Settings& settings) const {
    return std::make_unique<Resolver>(*this, settings);
}

bool Catalog::has_database(const std::string& name) const { return databases_.contains(name); }

const TableEntry* Catalog::find(const std::string& database, const std::string& table) const {
    const auto found = databases_.find(database.empty() ? current_database : database);
    if (found == databases_.end()) return nullptr;
    const auto entry = found->second.find(table);
    return entry == found->second.end() ? nullptr : &entry->second;
}

std::vector<std::string> Catalog::tables(const std::string& database) const {
    const std::string& name = database.empty() ? current_database : database;
    if (name == "system") return system_table_names();
    if (const LakeDatabase* lake = this->lake(name)) {
        auto names = lake->tables();
        std::sort(names.begin(), names.end());
        return names;
    }
    const auto found = databases_.find(name);
    if (found == databases_.end()) fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", name);
    std::vector<std::string> out;
    for (const auto& [table, entry] : found->second) out.push_back(table);
    return out;
}

std::vector<std::string> Catalog::databases() const {
    std::vector<std::string> out;
    for (const auto& [name, tables] : databases_) out.push_back(name);
    return out;
}

const LakeDatabase* Catalog::lake(const std::string& name) const {
    const auto found = lakes_.find(name);
    return found == lakes_.end() ? nullptr : found->second.get();
}

bool Catalog::has_table(const sql::TableName& name) const {
    const std::string& database = name.database.empty() ? current_database : name.database;
    if (const LakeDatabase* lake = this->lake(database)) return lake->has_table(name.table);
    return find(database, name.table) != nullptr;
}

std::optional<std::string> Catalog::create_query(const sql::TableName& name, const Settings& settings) const {
    const std::string& database = name.database.empty() ? current_database : name.database;
    if (const LakeDatabase* lake = this->lake(database)) {
        const auto source = lake->open(name.table, settings, cache_);
        if (!source) return std::nullopt;
        return lake->create_table_query(name.table, *source);
    }
    if (!has_database(database)) fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", database);
    const TableEntry* entry = find(database, name.table);
    if (!entry) return std::nullopt;
    return entry->create_query;
}

std::string Catalog::create_database_query(const std::string& name) const {
    if (const LakeDatabase* lake = this->lake(name)) return lake->create_query();
    if (!has_database(name)) fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", name);
    return "CREATE DATABASE " + sql::quote_identifier(name) + "\nENGINE = Memory";
}

void Catalog::create_database(const sql::CreateDatabaseStatement& statement, plan::AnalyzerContext& context) {
    const std::string& name = statement.database;
    if (databases_.contains(name)) {
        if (statement.if_not_exists) return;
        fail(ErrorCode::DATABASE_ALREADY_EXISTS, "Database {} already exists", name);
    }
    const sql::ExprPtr& engine = statement.storage.engine;
    if (engine && engine->name == "DataLakeCatalog") {
        lakes_[name] = make_lake_database(statement, context);
    } else if (engine && engine->name != "Memory" && engine->name != "Atomic" && engine->name != "Ordinary") {
        fail(ErrorCode::UNKNOWN_DATABASE_ENGINE, "Unknown database engine: {}; firn has Memory and DataLakeCatalog",
             engine->name);
    }
    databases_[name];
}

void Catalog::drop_database(const std::string& name, bool if_exists) {
    if (name == "system" || name == "default") fail(ErrorCode::BAD_ARGUMENTS, "Database {} cannot be dropped", name);
    lakes_.erase(name);
    background_.remove_all(background_name(name, ""));
    if (databases_.erase(name) == 0 && !if_exists)
        fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", name);
}

namespace {
std::map<std::string, TableEntry>& tables_of(std::map<std::string, std::map<std::string, TableEntry>>& databases,
                                             const Catalog& catalog, const std::string& name) {
    if (catalog.lake(name))
        fail(ErrorCode::NOT_IMPLEMENTED, "Database {} is a catalog, of which firn only reads the tables yet", name);
    const auto found = databases.find(name);
    if (found == databases.end()) fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", name);
    if (name == "system") fail(ErrorCode::READONLY, "Database system cannot be changed");
    return found->second;
}
}  // namespace

void Catalog::create_table(const sql::CreateTableStatement& statement, const Settings& settings,
                           plan::AnalyzerContext& context) {
    const std::string& database = statement.table.database.empty() ? current_database : statement.table.database;
    auto& tables = tables_of(databases_, *this, database);
    if (tables.contains(statement.table.table) && !statement.or_replace) {
        if (statement.if_not_exists) return;
        fail(ErrorCode::TABLE_ALREADY_EXISTS, "Table {} already exists", statement.table.display());
    }
    if (!statement.storage.engine)
        fail(ErrorCode::ENGINE_REQUIRED, "Table {} needs an ENGINE: IcebergLocal('path')", statement.table.display());
    const sql::Expr& engine = *statement.storage.engine;
    if (!statement.columns.empty() || statement.as_query || statement.as_table)
        fail(ErrorCode::NOT_IMPLEMENTED,
             "CREATE TABLE with columns or AS SELECT would write a new table, which firn cannot do yet; leave out the "
             "columns to read one that exists");
    TableEntry entry;
    entry.engine = engine.name;
    entry.create_query = sql::format_statement(statement, {.multi_line = true, .hide_secrets = true});
    entry.arguments = constant_arguments(engine.args, context);
    for (const auto& [name, value] : engine.settings) entry.settings.emplace_back(name, literal_text(value));
    for (const auto& change : statement.storage.settings)
        entry.settings.emplace_back(change.name, literal_text(change.value));
    const TableCall call = call_of(entry, settings, *this);
    open_table(call);  // a table that cannot be read is refused now
    tables[statement.table.table] = std::move(entry);
    const std::string name = background_name(database, statement.table.table);
    background_.remove(name);
    const uint64_t period = call.settings.get_uint("iceberg_metadata_async_prefetch_period_ms");
    if (period == 0 || !call.name.starts_with("iceberg")) return;
    const IcebergPlace place = iceberg_place(call);
    if (!place.cache) return;
    background_.add(name, std::chrono::milliseconds(std::min(period, kLongestPeriodMs)), [place] {
        place.prefetch();
        count_event(ProfileEvent::IcebergMetadataPrefetches);
    });
}

void Catalog::create_view(const sql::CreateViewStatement& statement) {
    if (statement.materialized) fail(ErrorCode::NOT_IMPLEMENTED, "Materialized views are not there yet");
    const std::string& database = statement.view.database.empty() ? current_database : statement.view.database;
    auto& tables = tables_of(databases_, *this, database);
    if (tables.contains(statement.view.table) && !statement.or_replace) {
        if (statement.if_not_exists) return;
        fail(ErrorCode::TABLE_ALREADY_EXISTS, "Table {} already exists", statement.view.display());
    }
    TableEntry entry;
    entry.engine = "View";
    entry.create_query = sql::format_statement(statement, {.multi_line = true, .hide_secrets = true});
    entry.view = statement.query;
    tables[statement.view.table] = std::move(entry);
    background_.remove(background_name(database, statement.view.table));
}

void Catalog::drop_table(const sql::TableName& name, bool if_exists, bool view_only) {
    const std::string& database = name.database.empty() ? current_database : name.database;
    auto& tables = tables_of(databases_, *this, database);
    const auto found = tables.find(name.table);
    if (found == tables.end()) {
        if (if_exists) return;
        fail(ErrorCode::UNKNOWN_TABLE, "Table {} does not exist", name.display());
    }
    if (view_only && !found->second.view) fail(ErrorCode::BAD_ARGUMENTS, "{} is a table, not a view", name.display());
    tables.erase(found);
    background_.remove(background_name(database, name.table));
}

void Catalog::forget_metadata() const {
    cache_->clear(iceberg::MetadataCache::Kind::Metadata);
    for (const auto& [name, lake] : lakes_) lake->forget();
}

std::vector<plan::TableFunctionArgument> constant_arguments(const std::vector<sql::ExprPtr>& arguments,
                                                            const plan::AnalyzerContext& context) {
    std::vector<plan::TableFunctionArgument> out;
    for (const auto& argument : arguments) {
        // A word (NOSIGN), a name with a value (format = 'ORC') whose value alone is evaluated, extra_credentials(…).
        const bool named = argument->is_function("equals") && argument->args.size() == 2 &&
                           argument->args[0]->is(sql::ExprKind::Identifier);
        const sql::Expr& value = named ? *argument->args[1] : *argument;
        const bool constant =
            !value.is(sql::ExprKind::Identifier) &&
            !(value.is(sql::ExprKind::Function) && functions::FunctionRegistry::instance().find(value.name) == nullptr);
        out.push_back({argument, constant ? plan::evaluate_constant(value, context) : nullptr});
    }
    return out;
}

}  // namespace firn::table
