#include "firn/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

using firn::Engine;
using firn::QueryError;

TEST(Engine, AnswersInAnyFormatAndKeepsItsSession) {
    Engine engine;
    EXPECT_EQ(engine.query("SELECT 1 + 1, 'a'"), "2\ta\n");
    EXPECT_EQ(engine.query("SELECT 1 AS x", "JSONEachRow"), "{\"x\":1}\n");
    engine.set_parameter("n", "41");
    EXPECT_EQ(engine.query("SELECT {n:UInt8} + 1"), "42\n");
    engine.query("CREATE VIEW v AS SELECT number AS n FROM numbers(3)");
    EXPECT_EQ(engine.query("SELECT sum(n) FROM v; SHOW TABLES"), "3\nv\n");
}

TEST(Engine, FailsWithCodeAndName) {
    Engine engine;
    try {
        engine.query("SELECT no_such_column");
        FAIL();
    } catch (const QueryError& error) {
        EXPECT_EQ(error.code(), 47);
        EXPECT_EQ(error.name(), "UNKNOWN_IDENTIFIER");
        EXPECT_NE(std::string(error.what()).find("no_such_column"), std::string::npos);
    }
    EXPECT_THROW(engine.set("no_such_setting", "1"), QueryError);
    EXPECT_EQ(engine.query("SELECT 1"), "1\n");
}

TEST(Engine, ReadsAnIcebergTable) {
    Engine engine;
    const std::string table = std::string(FIRN_SOURCE_DIR) + "/demo/trips";
    EXPECT_NE(engine.query("SELECT count() FROM icebergLocal('" + table + "')"), "0\n");
}

TEST(Engine, MemoryLimitIsAnError) {
    Engine engine;
    engine.set("max_memory_usage", "3000000");
    try {
        engine.query("SELECT number, count() FROM numbers(10000000) GROUP BY number FORMAT Null");
        FAIL();
    } catch (const QueryError& error) {
        EXPECT_EQ(error.name(), "MEMORY_LIMIT_EXCEEDED");
    }
}

TEST(Engine, CancelStopsAStatementAtOnce) {
    Engine engine;
    std::chrono::steady_clock::time_point asked;
    std::thread canceller([&] {
        do {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            asked = std::chrono::steady_clock::now();
        } while (!engine.cancel());
        EXPECT_FALSE(engine.cancel());  // it was asked already, or has ended
    });
    EXPECT_THROW(
        engine.query("SELECT sum(sleepless) FROM (SELECT cityHash64(number) AS sleepless FROM numbers(100000000000))"),
        QueryError);
    const auto stopped = std::chrono::steady_clock::now();
    canceller.join();
    EXPECT_LT(stopped - asked, std::chrono::seconds(5));
}

// The sanitizers look whether cancel() touches a statement that has just ended.
TEST(Engine, CancelMayComeWhileAStatementEnds) {
    Engine engine;
    std::atomic<bool> stop{false};
    std::thread canceller([&] {
        while (!stop.load()) engine.cancel();
    });
    int ended = 0;
    for (int i = 0; i < 200; ++i) {
        try {
            engine.query("SELECT 1");
            ++ended;
        } catch (const QueryError& error) {
            EXPECT_EQ(error.name(), "QUERY_WAS_CANCELLED");
            ++ended;
        }
    }
    stop.store(true);
    canceller.join();
    EXPECT_EQ(ended, 200);
}
