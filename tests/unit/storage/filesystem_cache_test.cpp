// The cache on disk: what it keeps, what it does not believe, and that nothing that happens to its directory hurts.
#include "firn/storage/filesystem_cache.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/storage/cache_segment.h"
#include "tests/unit/error_of.h"

namespace firn::storage {
namespace {

namespace fs = std::filesystem;

class FilesystemCacheTest : public ::testing::Test {
protected:
    FilesystemCacheTest() {
        char name[] = "/tmp/firn-cache-XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~FilesystemCacheTest() override { fs::remove_all(folder_); }

    FilesystemCache cache(uint64_t max_size = 64 << 20) const { return FilesystemCache({"c", folder_, max_size}); }
    /// Files of segments; nothing else may be there but the lock.
    std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(folder_))
            if (entry.is_regular_file() && entry.path().filename() != "lock") found.push_back(entry.path());
        return found;
    }
    std::string folder_;
};

std::vector<uint8_t> noise(size_t bytes, uint32_t seed) {
    std::minstd_rand random(seed);
    std::vector<uint8_t> out(bytes);
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(random() >> 8);
    return out;
}

std::span<const uint8_t> part(const std::vector<uint8_t>& bytes, ByteRange range) {
    return std::span(bytes).subspan(range.offset, range.length);
}

/// "hit", "miss", or "wrong".
std::string look(FilesystemCache& cache, const FilesystemCache::Object& object, ByteRange range,
                 const std::vector<uint8_t>& bytes) {
    const auto found = cache.read(object, range);
    if (!found) return "miss";
    const auto wanted = part(bytes, range);
    return found->bytes->size() == wanted.size() &&
                   std::equal(wanted.begin(), wanted.end(), found->bytes->as<uint8_t>())
               ? "hit"
               : "wrong";
}

TEST_F(FilesystemCacheTest, GivesBackWhatItWasGiven) {
    const auto bytes = noise(1'000'000, 1);
    const FilesystemCache::Object object{"s3 host\ns3://b/k\netag 1", bytes.size()};
    auto first = cache();
    EXPECT_EQ(look(first, object, {0, 10}, bytes), "miss");
    first.write(object, "\"1\"", 300'000, part(bytes, {300'000, 200'000}));
    EXPECT_EQ(look(first, object, {300'000, 200'000}, bytes), "hit");
    EXPECT_EQ(look(first, object, {365'535, 2}, bytes), "hit");
    EXPECT_EQ(look(first, object, {499'999, 1}, bytes), "hit");
    EXPECT_EQ(look(first, object, {499'999, 2}, bytes), "miss");
    first.write(object, "\"1\"", 250'000, part(bytes, {250'000, 500'000}));  // around what is there
    EXPECT_EQ(look(first, object, {250'000, 500'000}, bytes), "hit");
    EXPECT_EQ(first.entries(), 3U);
    EXPECT_EQ(first.read(object, {250'000, 1})->etag, "\"1\"");
    EXPECT_EQ(look(first, {"another\nobject", bytes.size()}, {300'000, 10}, bytes), "miss");

    auto second = cache();  // as another process, or after a restart
    EXPECT_EQ(look(second, object, {250'000, 500'000}, bytes), "hit");
    EXPECT_EQ(second.bytes(), first.bytes());
    EXPECT_FALSE(second.read_whole(object.key, 1 << 30));
    second.clear();
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(look(first, object, {250'000, 500'000}, bytes), "miss");  // which it only finds out now
}

TEST_F(FilesystemCacheTest, WholeObjectsOfUnknownSize) {
    const auto bytes = noise(100'000, 2);
    auto one = cache();
    one.write({"k", bytes.size()}, "", 0, bytes);
    auto other = cache();
    const auto found = other.read_whole("k", 1 << 20);
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), found->bytes->as<uint8_t>()));
    EXPECT_FALSE(other.read_whole("k", 1000));
    one.write({"begin", bytes.size()}, "", 0, part(bytes, {0, 10}));
    EXPECT_FALSE(other.read_whole("begin", 1 << 20));  // only its beginning is there
}

TEST_F(FilesystemCacheTest, WhatIsDamagedIsNotBelieved) {
    const auto bytes = noise(200'000, 3);
    const FilesystemCache::Object object{"key", bytes.size()};
    const auto damage = [&](const std::string& how, const std::function<void(const fs::path&)>& change) {
        auto one = cache();
        one.write(object, "e", 0, bytes);
        ASSERT_EQ(files().size(), 1U) << how;
        change(files()[0]);
        auto other = cache();
        for (FilesystemCache* reader : {&one, &other})
            EXPECT_EQ(look(*reader, object, {0, bytes.size()}, bytes), "miss") << how;
        EXPECT_TRUE(files().empty()) << how;
        one.write(object, "e", 0, bytes);
        EXPECT_EQ(look(one, object, {0, bytes.size()}, bytes), "hit") << how;
        one.clear();
    };
    const auto flip = [](const fs::path& file, std::streamoff at) {
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(at, at < 0 ? std::ios::end : std::ios::beg);
        const auto place = stream.tellg();
        const int byte = stream.get();
        stream.seekp(place);
        stream.put(static_cast<char>(byte ^ 1));
    };
    for (const std::streamoff at : {0, 8, 12, 16, 24, 32, 40, 44, 48, 51, 60, 90, 200, 100'000, -1})
        damage("byte " + std::to_string(at), [&](const fs::path& file) { flip(file, at); });
    for (const uintmax_t size : {0, 1, 15, 16, 47, 80, 200, 150'000})
        damage("cut to " + std::to_string(size), [&](const fs::path& file) { fs::resize_file(file, size); });
    damage("longer", [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) + 1); });
    damage("another's length", [](const fs::path& file) { fs::rename(file, file.parent_path() / "0-300000"); });
    damage("removed", [](const fs::path& file) { fs::remove(file); });
}

TEST_F(FilesystemCacheTest, AnotherObjectsFileIsNotBelieved) {
    const auto bytes = noise(1000, 4);
    auto one = cache();
    one.write({"a", bytes.size()}, "", 0, bytes);
    const fs::path of_a = files()[0];
    one.write({"b", bytes.size()}, "", 0, bytes);
    for (const fs::path& file : files())
        if (file != of_a) fs::copy_file(of_a, file, fs::copy_options::overwrite_existing);
    EXPECT_EQ(look(one, {"b", bytes.size()}, {0, 1000}, bytes), "miss");
    EXPECT_EQ(look(one, {"a", bytes.size()}, {0, 1000}, bytes), "hit");
    EXPECT_EQ(look(one, {"a", bytes.size() + 1}, {0, 1000}, bytes), "miss");  // of another size
}

TEST_F(FilesystemCacheTest, TwoVersionsAreNotMixed) {
    const auto bytes = noise(2000, 5);
    auto one = cache();
    const FilesystemCache::Object object{"k", bytes.size()};
    one.write(object, "1", 0, part(bytes, {0, 1000}));
    one.write(object, "2", 1000, part(bytes, {1000, 1000}));
    EXPECT_EQ(look(one, object, {0, 2000}, bytes), "miss");
    EXPECT_TRUE(files().empty());
}

TEST_F(FilesystemCacheTest, TheLeastRecentlyUsedGo) {
    const auto bytes = noise(100'000, 6);
    auto one = cache(450'000);
    const auto object = [&](int i) { return FilesystemCache::Object{"object " + std::to_string(i), bytes.size()}; };
    for (int i = 0; i < 4; ++i) one.write(object(i), "", 0, bytes);
    EXPECT_EQ(one.entries(), 4U);
    EXPECT_EQ(look(one, object(0), {0, 1}, bytes), "hit");
    auto other = cache(450'000);  // knows of the use from the files
    other.write(object(4), "", 0, bytes);
    EXPECT_LE(other.bytes(), 450'000U);
    EXPECT_EQ(look(other, object(0), {0, 1}, bytes), "hit");
    EXPECT_EQ(look(other, object(1), {0, 1}, bytes), "miss");
    EXPECT_EQ(look(other, object(4), {0, 1}, bytes), "hit");
    EXPECT_EQ(look(one, object(1), {0, 1}, bytes), "miss");  // gone beneath it
    one.write({"too large", 500'000}, "", 0, noise(500'000, 7));
    EXPECT_LE(one.bytes(), 450'000U);
    for (int i = 10; i < 60; ++i) one.write(object(i), "", 0, bytes);
    EXPECT_LE(cache().bytes(), 450'000U);
}

TEST_F(FilesystemCacheTest, NoEmptyFoldersStay) {
    const auto bytes = noise(100'000, 11);
    const auto folders = [&] {
        size_t count = 0;
        for (const auto& entry : fs::recursive_directory_iterator(folder_)) count += entry.is_directory();
        return count;
    };
    auto one = cache(450'000);
    for (int i = 0; i < 50; ++i) one.write({"object " + std::to_string(i), bytes.size()}, "", 0, bytes);
    EXPECT_LE(folders(), 8U) << "two of each of the four objects that there is room for";
    one.forget("object 49");
    EXPECT_LE(folders(), 6U);
    fs::resize_file(files()[0], 10);  // damaged
    for (int i = 0; i < 50; ++i) look(one, {"object " + std::to_string(i), bytes.size()}, {0, 10}, bytes);
    EXPECT_LE(folders(), 4U);
    one.clear();
    EXPECT_EQ(folders(), 0U);
    one.write({"again", bytes.size()}, "", 0, bytes);
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(FilesystemCacheTest, ThreadsStayWithinTheLimit) {
    constexpr uint64_t kLimit = 1'000'000;
    auto one = cache(kLimit);
    for (uint32_t round = 0; round < 20; ++round) {
        std::vector<std::thread> threads;
        for (uint32_t t = 0; t < 8; ++t)
            threads.emplace_back([&, t] {
                const uint32_t number = round * 100 + t;
                one.write({std::to_string(number), 200'000}, "", 0, noise(200'000, number));
            });
        for (auto& thread : threads) thread.join();
        EXPECT_LE(cache(kLimit).bytes(), kLimit) << round;
        EXPECT_GE(one.entries(), 1U) << round;
    }
}

TEST_F(FilesystemCacheTest, ThreadsWriteNothingTwice) {
    // Overlapping ranges, all at once: every byte is there in the end, also for a process that looks only then.
    const auto bytes = noise(400'000, 12);
    for (int round = 0; round < 20; ++round) {
        auto one = cache();
        const FilesystemCache::Object object{"object " + std::to_string(round), bytes.size()};
        std::vector<std::thread> threads;
        for (uint32_t t = 0; t < 8; ++t)
            threads.emplace_back([&, t] {
                const uint64_t begin = (t / 2) * 100'000;
                const ByteRange range{begin, uint64_t{t % 2 ? 100U : 100'000U}};  // one begins as the other does
                one.write(object, "e", range.offset, part(bytes, range));
            });
        for (auto& thread : threads) thread.join();
        auto other = cache();
        for (FilesystemCache* reader : {&one, &other})
            EXPECT_EQ(look(*reader, object, {0, bytes.size()}, bytes), "hit") << round;
        uint64_t held = 0;
        for (const auto& segment : other.segments()) held += segment.length;
        EXPECT_EQ(held, bytes.size()) << round;
        EXPECT_EQ(one.entries(), files().size());
        one.clear();
    }
}

TEST_F(FilesystemCacheTest, AFullDiskIsNoError) {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto bytes = noise(100'000, 8);
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    auto one = cache();
    one.write({"fits", 1000}, "", 0, part(bytes, {0, 1000}));
    rlimit small = before;
    small.rlim_cur = 50'000;
    ::setrlimit(RLIMIT_FSIZE, &small);
    ::testing::internal::CaptureStderr();
    one.write({"does not fit", bytes.size()}, "", 0, bytes);
    one.write({"not tried", bytes.size()}, "", 0, bytes);
    ::setrlimit(RLIMIT_FSIZE, &before);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(folder_), std::string::npos);
    EXPECT_EQ(said.find("Warning"), said.rfind("Warning")) << "said once";
    EXPECT_EQ(files().size(), 1U) << "nothing half written stays";
    EXPECT_EQ(look(one, {"does not fit", bytes.size()}, {0, 10}, bytes), "miss");
    EXPECT_EQ(look(one, {"fits", 1000}, {0, 1000}, bytes), "hit");
}

TEST_F(FilesystemCacheTest, ADirectoryThatCannotBeIsNoError) {
    const auto bytes = noise(1000, 9);
    std::ofstream(folder_ + "/file") << "x";
    FilesystemCache one({"c", folder_ + "/file/below", 1 << 20});
    ::testing::internal::CaptureStderr();
    one.write({"k", bytes.size()}, "", 0, bytes);
    EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(look(one, {"k", bytes.size()}, {0, 10}, bytes), "miss");
    EXPECT_EQ(one.bytes(), 0U);
    one.clear();
}

TEST_F(FilesystemCacheTest, ForeignFilesStay) {
    std::ofstream(folder_ + "/mine.txt") << "x";
    fs::create_directories(folder_ + "/ab/notes");
    std::ofstream(folder_ + "/ab/notes/0-10") << "x";
    auto one = cache(1000);
    const auto bytes = noise(900, 10);
    for (int i = 0; i < 5; ++i) one.write({std::to_string(i), bytes.size()}, "", 0, bytes);
    one.clear();
    EXPECT_EQ(files().size(), 2U);
}

TEST_F(FilesystemCacheTest, SharedByProcessesAndThreads) {
    // Each writes and reads the same objects in a directory that is always too small.
    const auto work = [&](uint32_t seed) {
        auto own = cache(300'000);
        std::minstd_rand random(seed);
        bool right = true;
        for (int i = 0; i < 150; ++i) {
            const uint32_t which = random() % 12;
            const auto bytes = noise(60'000, which);
            const FilesystemCache::Object object{"object " + std::to_string(which), bytes.size()};
            const ByteRange range{random() % 30'000, 1 + random() % 30'000};
            if (look(own, object, range, bytes) == "wrong") right = false;
            own.write(object, "e", range.offset, part(bytes, range));
        }
        return right;
    };
    std::vector<pid_t> children;
    for (uint32_t i = 0; i < 2; ++i) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(work(100 + i) ? 0 : 1);
        children.push_back(child);
    }
    std::atomic<bool> right{true};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 2; ++i)
        threads.emplace_back([&, i] {
            if (!work(200 + i)) right = false;
        });
    for (auto& thread : threads) thread.join();
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_TRUE(right);
    EXPECT_LE(cache().bytes(), 600'000U);
}

TEST(FilesystemCaches, Configuration) {
    const auto caches = [](const std::string& inner) {
        configure_filesystem_caches(parse_xml_configuration("<clickhouse>" + inner + "</clickhouse>", "test"));
    };
    const size_t before = filesystem_caches().size();  // of other tests
    caches(
        "<filesystem_caches><first><path>/tmp/firn-none/a/</path><max_size>2Ki</max_size></first></filesystem_caches>");
    EXPECT_EQ(find_filesystem_cache("first"), static_cast<int>(before));
    EXPECT_EQ(find_filesystem_cache(""), before == 0 ? 0 : -1);
    const auto options = filesystem_caches()[before]->options();
    EXPECT_EQ(options.path, "/tmp/firn-none/a");
    EXPECT_EQ(options.max_size, 2048U);
    caches(
        "<filesystem_caches_path>/tmp/firn-none</filesystem_caches_path>"
        "<filesystem_caches><second><path>b</path><max_size>1G</max_size></second></filesystem_caches>");
    EXPECT_EQ(find_filesystem_cache(""), -1);  // which of the two?
    EXPECT_EQ(filesystem_caches()[before + 1]->options().path, "/tmp/firn-none/b");
    EXPECT_EQ(find_filesystem_cache("third"), -1);
    for (const char* wrong :
         {"<path>x</path><max_size>1</max_size>", "<path>/x</path>", "<path>/x</path><max_size>0</max_size>",
          "<path>/x</path><max_size>1Z</max_size>", "<path>/x</path><max_size>99999999999E</max_size>"})
        EXPECT_EQ(failure_of([&] {
                      caches(std::string("<filesystem_caches><w>") + wrong + "</w></filesystem_caches>");
                  }).code,
                  ErrorCode::BAD_ARGUMENTS)
            << wrong;
    EXPECT_EQ(
        failure_of([&] {
            caches("<filesystem_caches><first><path>/other</path><max_size>1</max_size></first></filesystem_caches>");
        }).code,
        ErrorCode::BAD_ARGUMENTS);
}

}  // namespace
}  // namespace firn::storage
