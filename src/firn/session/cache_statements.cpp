#include "firn/session/cache_statements.h"

#include <set>

#include "firn/base/error.h"
#include "firn/file/parquet/page_cache.h"
#include "firn/sql/printer.h"
#include "firn/storage/filesystem_cache.h"
#include "firn/storage/object_cache.h"

namespace firn::session {
namespace {

/// Caches of ClickHouse's that firn has no counterpart of: there is never anything in them.
bool is_always_empty(std::string_view cache) {
    static const std::set<std::string_view> names{"MARK",   "INDEX MARK",      "INDEX UNCOMPRESSED",  "PRIMARY INDEX",
                                                  "QUERY",  "QUERY CONDITION", "COMPILED EXPRESSION", "MMAP",
                                                  "SCHEMA", "FORMAT SCHEMA",   "AVRO SCHEMA"};
    return names.contains(cache);
}

void drop_filesystem_caches(const std::optional<std::string>& name) {
    const auto caches = storage::filesystem_caches();
    if (!name) {
        for (const auto& cache : caches) cache->clear();
        return;
    }
    const int number = name->empty() ? -1 : storage::find_filesystem_cache(*name);
    if (number < 0) fail(ErrorCode::BAD_ARGUMENTS, "There is no cache by name: {}", *name);
    caches[static_cast<size_t>(number)]->clear();
}

}  // namespace

void run_system(const sql::OtherStatement& statement, const table::Catalog& catalog) {
    std::string_view command = statement.command;
    const bool drops = command.starts_with("DROP ") || command.starts_with("CLEAR ");
    if (!drops || !command.ends_with(" CACHE"))
        fail(ErrorCode::NOT_IMPLEMENTED,
             "{} is not supported: of the SYSTEM statements firn has those that drop caches",
             sql::format_statement(statement));
    command.remove_prefix(command.find(' ') + 1);
    const size_t end = command.rfind(" CACHE");  // none in SYSTEM DROP CACHE
    const std::string_view cache = end == command.npos ? std::string_view() : command.substr(0, end);
    if (cache == "FILESYSTEM") return drop_filesystem_caches(statement.argument);
    if (statement.argument) fail(ErrorCode::SYNTAX_ERROR, "Syntax error: SYSTEM {} takes no name", statement.command);
    if (cache == "ICEBERG METADATA") return catalog.forget_metadata();
    if (cache == "PARQUET METADATA") return catalog.cache()->clear(iceberg::MetadataCache::Kind::Footer);
    if (cache == "UNCOMPRESSED") return file::pq::PageCache::instance().clear();
    if (cache == "PAGE") return storage::object_cache().clear();
    if (is_always_empty(cache)) return;
    fail(ErrorCode::SYNTAX_ERROR,
         "Syntax error: there is no {} CACHE. Expected one of: ICEBERG METADATA CACHE, PARQUET METADATA CACHE, "
         "UNCOMPRESSED CACHE, PAGE CACHE, FILESYSTEM CACHE",
         cache);
}

int filesystem_cache_of(const Settings& settings) {
    if (!settings.get_bool("enable_filesystem_cache")) return -1;
    const std::string name = settings.get_string("filesystem_cache_name");
    const int number = storage::find_filesystem_cache(name);
    if (number < 0 && !name.empty())
        fail(ErrorCode::BAD_ARGUMENTS,
             "There is no cache by name: {}: the configuration's filesystem_caches does not have it", name);
    return number;
}

void configure_caches(const storage::ConfigurationNode& configuration) {
    storage::configure_filesystem_caches(configuration);
    if (const auto* limit = configuration.child("page_cache_max_size"))
        storage::object_cache().set_limit(storage::configured_bytes("page_cache_max_size", limit->text));
}

}  // namespace firn::session
