#include "firn/iceberg/metadata_cache.h"

#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

using std::chrono::milliseconds;
using Kind = MetadataCache::Kind;

std::string got(MetadataCache& cache, const std::string& key, const std::string& otherwise, Kind kind,
                size_t bytes = 10) {
    return *cache.get<std::string>(
        key, [&] { return std::pair(std::make_shared<const std::string>(otherwise), bytes); }, kind);
}

TEST(MetadataCache, KindsShareTheLimitAndAreDroppedApart) {
    MetadataCache cache(35);
    EXPECT_EQ(got(cache, "a", "1", Kind::Metadata), "1");
    EXPECT_EQ(got(cache, "b", "2", Kind::Footer), "2");
    EXPECT_EQ(got(cache, "c", "3", Kind::Footer), "3");
    EXPECT_EQ(got(cache, "a", "4", Kind::Metadata), "1");
    EXPECT_EQ(got(cache, "d", "5", Kind::Metadata), "5");  // takes the place of b
    EXPECT_EQ(cache.entries(Kind::Metadata), 2U);
    EXPECT_EQ(cache.entries(Kind::Footer), 1U);
    EXPECT_EQ(cache.bytes(Kind::Footer), 10U);
    EXPECT_FALSE(cache.has("b"));
    cache.clear(Kind::Metadata);
    EXPECT_EQ(cache.bytes(Kind::Metadata), 0U);
    EXPECT_TRUE(cache.has("c"));
    EXPECT_EQ(got(cache, "a", "6", Kind::Metadata), "6");
    EXPECT_EQ(got(cache, "large", "7", Kind::Metadata, 36), "7");
    EXPECT_FALSE(cache.has("large"));
}

TEST(MetadataCache, NewestFileWithinItsWindow) {
    MetadataCache cache(100);
    const auto file = [](const std::string& path) {
        storage::ObjectInfo info;
        info.path = path;
        return info;
    };
    const auto now = MetadataCache::Clock::now();
    EXPECT_FALSE(cache.newest("t", milliseconds(1000)));
    cache.found_newest("t", file("v1"), now - milliseconds(500));
    EXPECT_EQ(cache.newest("t", milliseconds(60'000))->path, "v1");
    EXPECT_FALSE(cache.newest("t", milliseconds(400)));
    EXPECT_FALSE(cache.newest("t", milliseconds(0)));
    EXPECT_FALSE(cache.newest("u", milliseconds(60'000)));
    cache.found_newest("t", file("v2"), now - milliseconds(100));
    cache.found_newest("t", file("v1"), now - milliseconds(300));  // asked before, answered later
    EXPECT_EQ(cache.newest("t", milliseconds(60'000))->path, "v2");
    cache.clear(Kind::Footer);
    EXPECT_TRUE(cache.newest("t", milliseconds(60'000)));
    cache.clear(Kind::Metadata);
    EXPECT_FALSE(cache.newest("t", milliseconds(60'000)));
}

}  // namespace
}  // namespace firn::iceberg
