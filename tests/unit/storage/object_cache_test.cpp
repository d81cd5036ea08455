#include "firn/storage/object_cache.h"

#include <gtest/gtest.h>

namespace firn::storage {
namespace {

BufferPtr bytes_of(std::string_view text) {
    auto buffer = Buffer::allocate(text.size());
    std::copy(text.begin(), text.end(), buffer->mutable_data());
    return buffer;
}

std::string found(ObjectCache& cache, const std::string& key, ByteRange range) {
    const auto found = cache.find(key, range);
    return found.bytes ? std::string(found.bytes->data(), found.bytes->size()) : "none";
}

TEST(ObjectCache, RangesOfAnObject) {
    ObjectCache cache(1000);
    cache.insert("a", "e", 10, bytes_of("0123456789"));
    EXPECT_EQ(found(cache, "a", {12, 3}), "234");
    EXPECT_EQ(found(cache, "a", {10, 10}), "0123456789");
    EXPECT_EQ(found(cache, "a", {9, 2}), "none");
    EXPECT_EQ(found(cache, "a", {19, 2}), "none");
    EXPECT_EQ(found(cache, "b", {12, 3}), "none");
    EXPECT_EQ(cache.find("a", {12, 3}).etag, "e");
    cache.insert("a", "e", 5, bytes_of("abcde0123456789xyz"));  // only what is not there is kept
    EXPECT_EQ(cache.bytes(), 18U);
    EXPECT_EQ(cache.entries(), 3U);
    EXPECT_EQ(found(cache, "a", {5, 5}), "abcde");
    EXPECT_EQ(found(cache, "a", {21, 2}), "yz");
    const auto parts = cache.parts("a", {0, 30});
    ASSERT_EQ(parts.size(), 5U);
    EXPECT_FALSE(parts[0].there);
    EXPECT_TRUE(parts[1].there && parts[2].there && parts[3].there);
    EXPECT_EQ(parts[4].range.offset, 23U);
    EXPECT_EQ(parts[4].range.length, 7U);
    cache.forget("a");
    EXPECT_EQ(cache.bytes(), 0U);
    EXPECT_EQ(found(cache, "a", {12, 3}), "none");
}

TEST(ObjectCache, TheLeastRecentlyUsedGo) {
    ObjectCache cache(30);
    cache.insert("a", "", 0, bytes_of("0123456789"));
    cache.insert("b", "", 0, bytes_of("0123456789"));
    cache.insert("c", "", 0, bytes_of("0123456789"));
    found(cache, "a", {0, 1});
    cache.insert("d", "", 0, bytes_of("0123456789"));
    EXPECT_EQ(found(cache, "b", {0, 1}), "none");
    EXPECT_EQ(found(cache, "a", {0, 1}), "0");
    cache.insert("e", "", 0, bytes_of(std::string(31, 'x')));  // larger than the cache
    EXPECT_EQ(cache.bytes(), 30U);
    cache.set_limit(10);
    EXPECT_EQ(found(cache, "a", {0, 1}), "0");
    EXPECT_EQ(cache.entries(), 1U);
    cache.clear();
    EXPECT_EQ(cache.entries(), 0U);
}

}  // namespace
}  // namespace firn::storage
