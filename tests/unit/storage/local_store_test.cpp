#include "firn/storage/local_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::storage;

namespace {

class LocalStoreTest : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/firn-store-XXXXXX";
        root_ = ::mkdtemp(name);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    std::string at(std::string_view name) const { return root_ + "/" + std::string(name); }
    void put(std::string_view name, std::string_view text) { store_.put(at(name), as_bytes(text)); }
    std::string get(std::string_view name) { return store_.read_all(at(name), 1000); }

    std::string root_;
    LocalStore store_;
};

}  // namespace

TEST_F(LocalStoreTest, WritesReadsAndReplaces) {
    put("a/b/c.txt", "hello");
    EXPECT_EQ(get("a/b/c.txt"), "hello");
    ObjectInfo before = store_.stat(at("a/b/c.txt"));
    EXPECT_EQ(before.size, 5u);
    EXPECT_GT(before.modified_us, int64_t{1'600'000'000'000'000});
    put("a/b/c.txt", "other");
    EXPECT_EQ(get("a/b/c.txt"), "other");
    EXPECT_NE(store_.stat(at("a/b/c.txt")).etag, before.etag);
    // A rewrite in place that puts the time of modification back.
    before = store_.stat(at("a/b/c.txt"));
    const auto modified = std::filesystem::last_write_time(at("a/b/c.txt"));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ofstream(at("a/b/c.txt")) << "third";
    std::filesystem::last_write_time(at("a/b/c.txt"), modified);
    const ObjectInfo after = store_.stat(at("a/b/c.txt"));
    EXPECT_EQ(after.modified_us, before.modified_us);
    EXPECT_NE(after.etag, before.etag);
    put("empty", "");
    EXPECT_EQ(get("empty"), "");
    EXPECT_TRUE(store_.open(at("empty"))->map().empty());
}

TEST_F(LocalStoreTest, ReadsRangesAndMaps) {
    put("f", "0123456789");
    auto file = store_.open(at("f"));
    uint8_t buffer[4];
    file->read_at(3, buffer);
    EXPECT_EQ(std::string_view(reinterpret_cast<char*>(buffer), 4), "3456");
    EXPECT_EQ(failure_of([&] { file->read_at(7, buffer); }).code, ErrorCode::CANNOT_READ_ALL_DATA);
    EXPECT_EQ(failure_of([&] { file->read_at(UINT64_MAX, buffer); }).code, ErrorCode::CANNOT_READ_ALL_DATA);
    ASSERT_EQ(file->map().size(), 10u);
    EXPECT_EQ(file->map()[9], '9');
    EXPECT_EQ(file->map().data(), file->map().data());
    // An open file stays readable when its name is gone.
    EXPECT_TRUE(store_.remove(at("f")));
    file->read_at(0, buffer);
    EXPECT_EQ(buffer[0], '0');
}

/// Bytes of memory that the process holds now.
size_t resident_bytes() {
    size_t total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<size_t>(::sysconf(_SC_PAGE_SIZE));
}

TEST_F(LocalStoreTest, UnloadedBytesTakeNoMemoryAndStayReadable) {
    const std::string text(64 << 20, 'x');
    put("f", text);
    const auto file = store_.open(at("f"));
    const auto bytes = file->map();
    const auto equal = [&] { return std::memcmp(bytes.data(), text.data(), text.size()) == 0; };
    EXPECT_TRUE(equal());
    const size_t loaded = resident_bytes();
    file->unload(100, text.size());
    EXPECT_LT(resident_bytes() + (size_t{48} << 20), loaded);
    EXPECT_TRUE(equal());
}

TEST_F(LocalStoreTest, WhatIsNotThere) {
    EXPECT_EQ(failure_of([&] { store_.open(at("none")); }).code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_EQ(failure_of([&] { store_.stat(at("none")); }).code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_EQ(failure_of([&] { store_.open(""); }).code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_EQ(failure_of([&] { store_.open(std::string_view("a\0b", 3)); }).code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_EQ(failure_of([&] { store_.open(root_); }).code, ErrorCode::FILE_DOESNT_EXIST);  // a folder
    EXPECT_FALSE(store_.try_stat(at("none/deeper")).has_value());
    EXPECT_FALSE(store_.remove(at("none")));
    EXPECT_TRUE(store_.list(at("none"), true).empty());
    put("f", "0123456789");
    EXPECT_EQ(failure_of([&] { store_.read_all(at("f"), 9); }).code, ErrorCode::LIMIT_EXCEEDED);
}

TEST_F(LocalStoreTest, ListsInOrder) {
    put("t/b", "1");
    put("t/a", "22");
    put("t/sub/c", "333");
    std::vector<ObjectInfo> flat = store_.list(at("t"), false);
    ASSERT_EQ(flat.size(), 2u);
    EXPECT_EQ(flat[0].path, at("t/a"));
    EXPECT_EQ(flat[0].size, 2u);
    std::vector<ObjectInfo> deep = store_.list(at("t/"), true);
    ASSERT_EQ(deep.size(), 3u);
    EXPECT_EQ(deep[2].path, at("t/sub/c"));
}

TEST_F(LocalStoreTest, PutIfAbsentHasOneWinner) {
    EXPECT_TRUE(store_.put_if_absent(at("once"), as_bytes("first")));
    EXPECT_FALSE(store_.put_if_absent(at("once"), as_bytes("second")));
    EXPECT_EQ(get("once"), "first");
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            if (store_.put_if_absent(at("race"), as_bytes(std::to_string(i)))) ++winners;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1);
    // Nothing temporary stays behind.
    EXPECT_EQ(store_.list(root_, true).size(), 2u);
}
