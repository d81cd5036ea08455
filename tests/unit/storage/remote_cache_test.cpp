// Reads of remote objects through the caches: what is asked for again, and what is not.
#include <filesystem>

#include <gtest/gtest.h>

#include "firn/base/query_context.h"
#include "firn/storage/filesystem_cache.h"
#include "firn/storage/object_cache.h"
#include "firn/storage/s3_store.h"
#include "tests/unit/error_of.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::storage {
namespace {

constexpr uint64_t kLarge = 10 << 20;

class RemoteCache : public ::testing::Test {
protected:
    RemoteCache() {
        char name[] = "/tmp/firn-cache-XXXXXX";
        folder_ = ::mkdtemp(name);
        object_cache().clear();
        static int tests = 0;
        number_ = add_filesystem_cache({"remote" + std::to_string(++tests), folder_, 64 << 20});
    }
    ~RemoteCache() override { std::filesystem::remove_all(folder_); }

    static std::shared_ptr<S3Store> store_at(const ScriptedServer& server) {
        S3Options options;
        options.endpoint = {server.url(""), "us-east-1", S3Addressing::Path};
        options.http.attempts = 1;
        return std::make_shared<S3Store>(std::move(options));
    }
    static ObjectInfo known(uint64_t size) {
        ObjectInfo info;
        info.path = "s3://bucket/data.parquet";
        info.size = size;
        info.table = "uuid";
        return info;
    }
    std::string read(const OpenFile& file, uint64_t offset, size_t length, bool on_disk) const {
        QueryContext context;
        context.filesystem_cache = on_disk ? number_ : -1;
        const QueryContext::Scope scope(&context);
        const auto held = file.read_ahead({{offset, length}});
        const BufferPtr bytes = file.read_buffer(offset, length);
        return {bytes->data(), bytes->size()};
    }
    void forget_memory() const { object_cache().clear(); }

    std::string folder_;
    int number_;
};

TEST_F(RemoteCache, RangesAreKeptInMemory) {
    const ScriptedServer server({{http_reply(206, std::string(400, 'x'), "ETag: \"1\"\r\n")}});
    const auto store = store_at(server);
    EXPECT_EQ(read(*store->open("s3://bucket/data.parquet", known(kLarge)), 5000, 400, false), std::string(400, 'x'));
    EXPECT_EQ(read(*store->open("s3://bucket/data.parquet", known(kLarge)), 5100, 100, false), std::string(100, 'x'));
    EXPECT_EQ(server.requests().size(), 1U);
    ObjectInfo other = known(kLarge);
    other.table = "made anew";
    read(*store->open("s3://bucket/data.parquet", other), 5000, 400, false);
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(RemoteCache, RangesAreKeptOnDisk) {
    const ScriptedServer server({{http_reply(206, std::string(400, 'x'), "ETag: \"1\"\r\n")},
                                 {http_reply(206, std::string(100, 'y'), "ETag: \"1\"\r\n")}});
    EXPECT_EQ(read(*store_at(server)->open("s3://bucket/data.parquet", known(kLarge)), 5000, 400, true),
              std::string(400, 'x'));
    EXPECT_EQ(object_cache().entries(), 0U);
    EXPECT_EQ(read(*store_at(server)->open("s3://bucket/data.parquet", known(kLarge)), 5000, 400, true),
              std::string(400, 'x'));
    EXPECT_EQ(server.requests().size(), 1U);
    // A range that is there in part: only the rest is asked for, of that version.
    EXPECT_EQ(read(*store_at(server)->open("s3://bucket/data.parquet", known(kLarge)), 5300, 200, true),
              std::string(100, 'x') + std::string(100, 'y'));
    ASSERT_EQ(server.requests().size(), 2U);
    EXPECT_NE(server.requests()[1].find("Range: bytes=5400-5499\r\n"), std::string::npos);
}

TEST_F(RemoteCache, SmallObjectsAreKeptInBoth) {
    const ScriptedServer server({{http_reply(200, std::string(400, 'x'), "ETag: \"1\"\r\n")}});
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(read(*store_at(server)->open("s3://bucket/data.parquet", known(400)), 10, 5, true), "xxxxx");
        if (i == 1) forget_memory();
    }
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(object_cache().entries(), 1U);
}

TEST_F(RemoteCache, MetadataAreKeptOnDisk) {
    const ScriptedServer server({{http_reply(200, std::string(400, 'x'), "ETag: \"1\"\r\n")}});
    for (const uint64_t size : {400, 0}) {  // known and not known
        filesystem_caches()[static_cast<size_t>(number_)]->clear();
        const size_t before = server.requests().size();
        for (int i = 0; i < 2; ++i) {
            QueryContext context;
            context.filesystem_cache = number_;
            const QueryContext::Scope scope(&context);
            EXPECT_EQ(store_at(server)->read_all(known(size), 1 << 20), std::string(400, 'x'));
        }
        EXPECT_EQ(server.requests().size(), before + 1);
    }
}

TEST_F(RemoteCache, AnObjectOfUnknownVersionIsNotKeptOnDisk) {
    const ScriptedServer server({{http_reply(206, std::string(400, 'x'))}});
    ObjectInfo info = known(kLarge);
    info.table.clear();
    for (int i = 0; i < 2; ++i) {
        forget_memory();
        read(*store_at(server)->open("s3://bucket/data.parquet", info), 5000, 400, true);
    }
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(RemoteCache, AReplacedObjectIsAnErrorOnceAndThenRead) {
    const std::string moved = "<Error><Code>PreconditionFailed</Code></Error>";
    for (const bool on_disk : {true, false}) {
        const ScriptedServer server({{http_reply(206, std::string(400, 'x'), "ETag: \"1\"\r\n")},
                                     {http_reply(412, moved)},
                                     {http_reply(206, std::string(400, 'y'), "ETag: \"2\"\r\n")}});
        const auto store = store_at(server);
        EXPECT_EQ(read(*store->open("s3://bucket/data.parquet", known(kLarge)), 0, 400, on_disk),
                  std::string(400, 'x'));
        const auto file = store->open("s3://bucket/data.parquet", known(kLarge));
        EXPECT_EQ(read(*file, 0, 400, on_disk), std::string(400, 'x'));
        EXPECT_EQ(failure_of([&] { read(*file, 1 << 20, 400, on_disk); }).code,
                  ErrorCode::S3_OBJECT_CHANGED_DURING_READ);
        EXPECT_NE(server.requests()[1].find("If-Match: \"1\"\r\n"), std::string::npos);
        EXPECT_EQ(read(*store->open("s3://bucket/data.parquet", known(kLarge)), 0, 400, on_disk),
                  std::string(400, 'y'));
    }
}

TEST_F(RemoteCache, WhatIsDamagedOnDiskIsFetched) {
    const ScriptedServer server({{http_reply(206, std::string(400, 'x'), "ETag: \"1\"\r\n")}});
    read(*store_at(server)->open("s3://bucket/data.parquet", known(kLarge)), 5000, 400, true);
    for (const auto& segment : filesystem_caches()[static_cast<size_t>(number_)]->segments())
        std::filesystem::resize_file(segment.path, segment.bytes - 1);
    EXPECT_EQ(read(*store_at(server)->open("s3://bucket/data.parquet", known(kLarge)), 5000, 400, true),
              std::string(400, 'x'));
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(RemoteCache, ReadsAreChargedUntilTheLastViewGoes) {
    const ScriptedServer server({{http_reply(206, std::string(400'000, 'x'), "ETag: \"1\"\r\n")}});
    const auto file = store_at(server)->open("s3://bucket/data.parquet", known(kLarge));
    QueryContext context;
    const QueryContext::Scope scope(&context);
    auto held = file->read_ahead({{0, 400'000}});
    BufferPtr view = file->read_buffer(0, 1000);
    EXPECT_GE(context.memory()->used(), 400'000);
    held.reset();
    EXPECT_GE(context.memory()->used(), 400'000);
    view.reset();
    EXPECT_LT(context.memory()->used(), 400'000);
    EXPECT_EQ(object_cache().bytes(), 400'000U);
    QueryContext small(300'000);
    const QueryContext::Scope inner(&small);
    EXPECT_EQ(failure_of([&] { file->read_ahead({{2 << 20, 400'000}}); }).code, ErrorCode::MEMORY_LIMIT_EXCEEDED);
}

}  // namespace
}  // namespace firn::storage
