// SYSTEM DROP … CACHE, and the tables that tell what the caches hold.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "firn/engine.h"
#include "firn/session/session.h"
#include "firn/storage/filesystem_cache.h"

namespace firn {
namespace {

std::string error_of(Engine& engine, const std::string& sql) {
    try {
        engine.query(sql);
    } catch (const QueryError& error) {
        return error.name();
    }
    return "none";
}

std::string metric(Engine& engine, const std::string& name) {
    const std::string value = engine.query("SELECT value FROM system.metrics WHERE metric = '" + name + "'");
    return value.substr(0, value.find('\n'));
}

std::string demo_table() { return "icebergLocal('" + std::string(FIRN_SOURCE_DIR) + "/demo/trips')"; }

TEST(SystemDropCache, DropsWhatItNamesAndNothingElse) {
    Engine engine;
    const std::string scan = "SELECT * FROM " + demo_table() + " FORMAT Null";
    for (int i = 0; i < 3; ++i) engine.query(scan);  // pages are kept from the second time on
    const std::string metadata = metric(engine, "IcebergMetadataFilesCacheFiles");
    const std::string footers = metric(engine, "ParquetMetadataCacheFiles");
    EXPECT_GE(std::stoi(metadata), 3);
    EXPECT_GE(std::stoi(footers), 1);
    EXPECT_NE(metric(engine, "IcebergMetadataFilesCacheBytes"), "0");
    engine.query("SYSTEM DROP PARQUET METADATA CACHE");
    EXPECT_EQ(metric(engine, "ParquetMetadataCacheFiles"), "0");
    EXPECT_EQ(metric(engine, "ParquetMetadataCacheBytes"), "0");
    EXPECT_EQ(metric(engine, "IcebergMetadataFilesCacheFiles"), metadata);
    engine.query(scan);
    EXPECT_EQ(metric(engine, "ParquetMetadataCacheFiles"), footers);
    engine.query("system clear iceberg metadata cache");
    EXPECT_EQ(metric(engine, "IcebergMetadataFilesCacheFiles"), "0");
    EXPECT_EQ(metric(engine, "ParquetMetadataCacheFiles"), footers);
    EXPECT_NE(metric(engine, "UncompressedCacheCells"), "0");
    engine.query("SYSTEM DROP UNCOMPRESSED CACHE; SYSTEM DROP PAGE CACHE; SYSTEM DROP FILESYSTEM CACHE");
    EXPECT_EQ(metric(engine, "UncompressedCacheBytes"), "0");
    EXPECT_EQ(metric(engine, "UncompressedCacheCells"), "0");
    EXPECT_EQ(metric(engine, "PageCacheCells"), "0");
    engine.query(scan);  // all of them are filled again
    EXPECT_EQ(metric(engine, "IcebergMetadataFilesCacheFiles"), metadata);
}

TEST(SystemDropCache, RefusesWhatThereIsNot) {
    Engine engine;
    EXPECT_EQ(error_of(engine, "SYSTEM DROP MARK CACHE"), "none");
    EXPECT_EQ(error_of(engine, "SYSTEM CLEAR QUERY CACHE"), "none");
    EXPECT_EQ(error_of(engine, "SYSTEM DROP FOO CACHE"), "SYNTAX_ERROR");
    EXPECT_EQ(error_of(engine, "SYSTEM DROP CACHE"), "SYNTAX_ERROR");
    EXPECT_EQ(error_of(engine, "SYSTEM DROP UNCOMPRESSED CACHE 'x'"), "SYNTAX_ERROR");
    EXPECT_EQ(error_of(engine, "SYSTEM DROP FILESYSTEM CACHE 'no such'"), "BAD_ARGUMENTS");
    EXPECT_EQ(error_of(engine, "SYSTEM DROP FILESYSTEM CACHE ''"), "BAD_ARGUMENTS");
    EXPECT_EQ(error_of(engine, "SYSTEM RELOAD CONFIG"), "NOT_IMPLEMENTED");
    EXPECT_EQ(error_of(engine, "SELECT 1 SETTINGS filesystem_cache_name = 'no such'"), "BAD_ARGUMENTS");
    EXPECT_EQ(error_of(engine, "SELECT 1 SETTINGS filesystem_cache_name = 'no such', enable_filesystem_cache = 0"),
              "none");
}

TEST(SystemTables, EventsAreSummed) {
    Engine engine;
    const std::string count = "SELECT value FROM system.events WHERE event = 'IcebergMetadataFilesCacheHits'";
    const std::string table = "SELECT count() FROM " + demo_table();
    engine.query(table);
    engine.query(table);
    const int before = std::stoi(engine.query(count));
    engine.query(table);
    EXPECT_GT(std::stoi(engine.query(count)), before);
    EXPECT_EQ(engine.query("SELECT count() FROM system.events WHERE value = 0"), "0\n");
    EXPECT_NE(
        engine.query("SELECT count() FROM system.events WHERE value = 0 SETTINGS system_events_show_zero_values = 1"),
        "0\n");
}

TEST(SystemTables, CachesOfAConfiguration) {
    char name[] = "/tmp/firn-cache-XXXXXX";
    const std::string folder = ::mkdtemp(name);
    {
        std::ofstream file(folder + "/config.xml");
        file << "<clickhouse><filesystem_caches><mine><path>" << folder
             << "/cache</path><max_size>1Mi</max_size></mine>"
             << "</filesystem_caches><iceberg_background_schedule_pool_size>3</iceberg_background_schedule_pool_size></"
                "clickhouse>";
    }
    session::Session session;
    session.configure(folder + "/config.xml");
    const auto query = [&](const std::string& sql) {
        std::string out;
        sql::StatementReader reader(sql);
        while (const auto statement = reader.next())
            session.run(*statement, [&](std::string_view bytes) { out += bytes; });
        return out;
    };
    const std::vector<uint8_t> bytes(1000, 'x');
    storage::filesystem_caches()[static_cast<size_t>(storage::find_filesystem_cache("mine"))]->write({"key", 2000}, "e",
                                                                                                     500, bytes);
    EXPECT_EQ(query("SELECT file_segment_range_begin, file_segment_range_end, size, state FROM system.filesystem_cache "
                    "WHERE cache_name = 'mine'"),
              "500\t1499\t1000\tDOWNLOADED\n");
    EXPECT_EQ(query("SELECT path, max_size, current_elements_num FROM system.filesystem_cache_settings WHERE "
                    "cache_name = 'mine'"),
              folder + "/cache\t1048576\t1\n");
    EXPECT_EQ(query("SELECT value FROM system.metrics WHERE name = 'IcebergSchedulePoolSize'"), "3\n");
    EXPECT_EQ(query("SYSTEM DROP FILESYSTEM CACHE 'mine'; SELECT count() FROM system.filesystem_cache"), "0\n");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace firn
