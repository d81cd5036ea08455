#include "firn/table/disk.h"

#include <gtest/gtest.h>

#include "tests/unit/error_of.h"

namespace firn::table {
namespace {

Disk disk(Disk::Kind kind, const char* option, const char* root) {
    Disk out;
    out.name = "d";
    out.kind = kind;
    out.options[option] = root;
    return out;
}

TEST(Disk, PathsAreBelowItsRoot) {
    for (const char* root : {"/data/wh", "/data/wh/"}) {
        const Disk local = disk(Disk::Kind::Local, "path", root);
        EXPECT_EQ(local.inside(""), root);
        for (const char* path : {"a/b", "/a/b", "/data/wh/a/b", "//a/b"})
            EXPECT_EQ(local.inside(path), "/data/wh/a/b") << path;
        EXPECT_EQ(local.inside("/data/wh"), root);
        EXPECT_EQ(local.inside("a/../b"), "/data/wh/a/../b");
        EXPECT_EQ(local.inside("/data/wh-secret/t"), "/data/wh/data/wh-secret/t");
    }
    EXPECT_EQ(disk(Disk::Kind::Local, "path", "/").inside("/a"), "/a");
    EXPECT_EQ(disk(Disk::Kind::S3, "endpoint", "http://h/bucket/").inside("http://h/bucket/a"), "http://h/bucket/a");
}

TEST(Disk, PathsThatClimbOutAreRefused) {
    const Disk local = disk(Disk::Kind::Local, "path", "/data/wh");
    for (const char* path : {"..", "../x", "/data/wh/../../etc/x", "/data/wh/..", "a/../../x", "/data/../../x"})
        EXPECT_EQ(failure_of([&] { local.inside(path); }).code, ErrorCode::BAD_ARGUMENTS) << path;
    const Disk remote = disk(Disk::Kind::S3, "endpoint", "http://h/bucket/");
    for (const char* path : {"../x", "http://h/bucket/../x", "%2e%2e/x", "a%2F..%2F..%2Fx"})
        EXPECT_EQ(failure_of([&] { remote.inside(path); }).code, ErrorCode::BAD_ARGUMENTS) << path;
    EXPECT_EQ(local.inside("%2e%2e"), "/data/wh/%2e%2e");
}

}  // namespace
}  // namespace firn::table
