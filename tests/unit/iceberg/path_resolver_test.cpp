#include "firn/iceberg/path_resolver.h"

#include <gtest/gtest.h>

#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::iceberg;

TEST(PathResolver, OneSpellingForEachObject) {
    EXPECT_EQ(canonical_path("file:/tmp/t/a"), "/tmp/t/a");
    EXPECT_EQ(canonical_path("file:///tmp/t/a"), "/tmp/t/a");
    EXPECT_EQ(canonical_path("file://localhost/tmp/a"), "/tmp/a");
    EXPECT_EQ(canonical_path("/tmp//t///a/"), "/tmp/t/a");
    EXPECT_EQ(canonical_path("/tmp/./t/x/../a"), "/tmp/t/a");
    EXPECT_EQ(canonical_path("s3a://bucket/t//a"), "s3://bucket/t/a");
    EXPECT_EQ(canonical_path("S3://bucket/t/a"), "s3://bucket/t/a");
    EXPECT_EQ(path_scheme(canonical_path("s3n://b/k")), "s3");
    EXPECT_EQ(path_scheme("/tmp"), "");
    // Nothing is decoded, and a colon in a name is no scheme.
    EXPECT_EQ(canonical_path("/t/p 1=%2520/x#y?z"), "/t/p 1=%2520/x#y?z");
    EXPECT_EQ(canonical_path("/t/a:b/c"), "/t/a:b/c");
}

TEST(PathResolver, PathsBelowTheLocationMoveWithTheTable) {
    PathResolver moved("s3://bucket/warehouse/t/", "/home/me/copy/");
    EXPECT_EQ(moved.resolve("s3://bucket/warehouse/t/data/f.parquet"), "/home/me/copy/data/f.parquet");
    EXPECT_EQ(moved.resolve("s3a://bucket/warehouse/t//data/f.parquet"), "/home/me/copy/data/f.parquet");
    EXPECT_EQ(moved.resolve("data/f.parquet"), "/home/me/copy/data/f.parquet");
    // A sibling whose name begins alike is outside.
    EXPECT_EQ(moved.resolve("s3://bucket/warehouse/t2/f.parquet"), "s3://bucket/warehouse/t2/f.parquet");
    EXPECT_EQ(moved.resolve("/elsewhere/f.parquet"), "/elsewhere/f.parquet");
    EXPECT_EQ(moved.to_metadata("/home/me/copy/data/f.parquet"), "s3://bucket/warehouse/t/data/f.parquet");
}

TEST(PathResolver, SpellingOfTheLocationDoesNotMatter) {
    PathResolver table("file:/tmp/t", "/tmp/t");
    for (std::string_view path :
         {"/tmp/t/d/f", "file:/tmp/t/d/f", "file:///tmp/t/d/f", "/tmp//t/d//f", "/tmp/t/d/../d/f"}) {
        EXPECT_EQ(table.resolve(path), "/tmp/t/d/f") << path;
    }
    PathResolver relative("/tmp/t", "tables/t");
    EXPECT_EQ(relative.resolve("/tmp/t/d/f"), "tables/t/d/f");
    PathResolver above("/tmp/t", "../tables/t");
    EXPECT_EQ(above.resolve("file:///tmp/t/d/f"), "../tables/t/d/f");
}

TEST(PathResolver, RelativeLocations) {
    PathResolver dotted("./warehouse/t", "/home/me/t");
    EXPECT_EQ(dotted.resolve("./warehouse/t/d/f"), "/home/me/t/d/f");
    EXPECT_EQ(dotted.resolve("warehouse/t/d/f"), "/home/me/t/d/f");
    EXPECT_EQ(dotted.resolve("d/f"), "/home/me/t/d/f");
    PathResolver empty("", "/home/me/t");
    EXPECT_EQ(empty.resolve("d/f"), "/home/me/t/d/f");
}

TEST(PathResolver, FileUrisOfUsers) {
    EXPECT_EQ(local_path("file:///tmp/t/"), "/tmp/t");
    EXPECT_EQ(local_path("file:/tmp/t"), "/tmp/t");
    EXPECT_EQ(local_path("../t/"), "../t/");
    EXPECT_EQ(local_path("file:x"), "file:x");
}

TEST(PathResolver, RefusesToClimbOut) {
    PathResolver table("/tmp/t", "/home/me/t");
    for (std::string_view path :
         {"/tmp/t/../secret", "/tmp/t/data/../../secret", "../secret", "data/../../x", "/tmp/t/..", ""}) {
        EXPECT_EQ(failure_of([&] { table.resolve(path); }).code, ErrorCode::ICEBERG_SPECIFICATION_VIOLATION) << path;
    }
    EXPECT_EQ(table.resolve("/tmp/t/a..b/..c"), "/home/me/t/a..b/..c");
}

TEST(PathResolver, ObjectNamesKeepTheirSlashes) {
    // On the disk a doubled slash is nothing; in an object store it is another object.
    const PathResolver same("s3://bucket/wh//t", "s3a://bucket/wh//t/");
    EXPECT_EQ(same.root(), "s3://bucket/wh//t");
    EXPECT_EQ(same.resolve("s3n://bucket/wh//t/data//f.parquet"), "s3://bucket/wh//t/data//f.parquet");
    EXPECT_EQ(same.resolve("s3://bucket/elsewhere//f"), "s3://bucket/elsewhere//f");
    EXPECT_EQ(same.resolve("s3://bucket/wh/t/data/f.parquet"), "s3://bucket/wh//t/data/f.parquet");  // spelt carelessly
    EXPECT_EQ(same.resolve("data/f.parquet"), "s3://bucket/wh//t/data/f.parquet");
    EXPECT_ANY_THROW(same.resolve("s3://bucket/wh//t/../x"));
    const PathResolver moved("file:/tmp/t", "abfss://box@me.blob.core.windows.net/a//t");
    EXPECT_EQ(moved.root(), "abfss://box@me.dfs.core.windows.net/a//t");
    EXPECT_EQ(moved.resolve("/tmp/t/data/f"), "abfss://box@me.dfs.core.windows.net/a//t/data/f");
}
