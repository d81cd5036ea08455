#include "firn/file/parquet/page_cache.h"

#include <gtest/gtest.h>

namespace firn::file::pq {
namespace {

constexpr uint64_t kPage = 100'000;

/// Asks for a page as a reader does; true where the cache had it.
bool ask(PageCache& cache, uint64_t offset, int64_t limit = 0, const char* file = "a") {
    const PageKey key{file, offset};
    if (cache.find(key)) return true;
    if (cache.wants(key, kPage, limit)) cache.keep(key, Buffer::allocate(kPage), limit);
    return false;
}

TEST(PageCache, KeepsWhatIsAskedForTwice) {
    PageCache cache(1 << 20);
    EXPECT_FALSE(ask(cache, 4));
    EXPECT_EQ(cache.bytes(), 0);
    EXPECT_FALSE(ask(cache, 4));
    EXPECT_GT(cache.bytes(), kPage);
    EXPECT_TRUE(ask(cache, 4));
    EXPECT_FALSE(ask(cache, 4, 0, "b"));
}

TEST(PageCache, AScanLargerThanTheCacheFindsAPartOfItself) {
    PageCache cache(1 << 20);
    size_t found = 0;
    for (int round = 0; round < 4; ++round) {
        cache.begin_statement(true);
        found = 0;
        for (uint64_t page = 0; page < 30; ++page) found += ask(cache, page);
        EXPECT_LE(cache.bytes(), 1U << 20);
    }
    EXPECT_EQ(found, 10);
}

TEST(PageCache, PagesOutOfUseMakeRoom) {
    PageCache cache(1 << 20);
    for (int round = 0; round < 2; ++round) {
        cache.begin_statement(true);
        for (uint64_t page = 0; page < 10; ++page) ask(cache, page);
    }
    for (int round = 0; round < 4; ++round) {
        cache.begin_statement(true);
        for (uint64_t page = 100; page < 110; ++page) ask(cache, page);
    }
    EXPECT_TRUE(ask(cache, 105));
    EXPECT_FALSE(ask(cache, 5));
}

TEST(PageCache, AMemoryLimitMakesItSmaller) {
    PageCache cache(10 << 20);
    for (int round = 0; round < 2; ++round)
        for (uint64_t page = 0; page < 50; ++page) ask(cache, page);
    EXPECT_GT(cache.bytes(), 40 * kPage);
    cache.begin_statement(true);
    for (int round = 0; round < 2; ++round) ask(cache, 99, 8 << 20);
    EXPECT_LE(cache.bytes(), 1U << 20);
}

TEST(PageCache, HoldsItsLimitWithManyWorkers) {
    PageCache cache(10 * kPage);
    const auto key = [](uint64_t page) { return PageKey{"a", page}; };
    for (uint64_t page = 0; page < 50; ++page) EXPECT_FALSE(cache.wants(key(page), kPage, 0));
    for (uint64_t page = 0; page < 50; ++page) EXPECT_TRUE(cache.wants(key(page), kPage, 0));
    for (uint64_t page = 0; page < 50; ++page) cache.keep(key(page), Buffer::allocate(kPage), 0);
    EXPECT_GT(cache.bytes(), 8 * kPage);
    EXPECT_LE(cache.bytes(), 10 * kPage);
}

TEST(PageCache, RemembersWhatALargeScanAskedFor) {
    PageCache cache(uint64_t{1} << 40);
    size_t wanted = 0;
    for (int round = 0; round < 2; ++round)
        for (uint64_t page = 0; page < 100000; ++page) wanted += cache.wants({"a", page * 4096}, kPage, 0);
    EXPECT_GT(wanted, 75000U);
    EXPECT_LE(wanted, 100000U);
}

TEST(PageCache, CanBeDoneWithout) {
    PageCache cache(1 << 20);
    cache.begin_statement(false);
    for (int round = 0; round < 3; ++round) EXPECT_FALSE(ask(cache, 1));
    EXPECT_EQ(cache.bytes(), 0);
}

}  // namespace
}  // namespace firn::file::pq
