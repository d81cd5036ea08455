#include "firn/iceberg/metadata_location.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "firn/storage/local_store.h"
#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::iceberg;

namespace {

/// A folder with metadata files, gone with the test.
class Folder {
public:
    Folder() {
        char name[] = "/tmp/firn-location-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path_); }

    void add(const std::string& name, const std::string& uuid = "A-1", int64_t updated = 0) {
        storage::local_store().put(
            path_ + "/metadata/" + name,
            storage::as_bytes(fmt::format(R"({{"table-uuid": "{}", "last-updated-ms": {}}})", uuid, updated)));
    }
    void hint(const std::string& text) {
        storage::local_store().put(path_ + "/metadata/version-hint.text", storage::as_bytes(text));
    }
    std::string find(const MetadataLocationOptions& options = {}) {
        std::string found = find_metadata_file(storage::local_store(), path_ + "/", options);
        return found.substr(found.rfind('/') + 1);
    }
    Failure failure(const MetadataLocationOptions& options = {}) {
        return failure_of([&] { find(options); });
    }

private:
    std::string path_;
};

MetadataLocationOptions file_path(std::string path) {
    MetadataLocationOptions options;
    options.metadata_file_path = std::move(path);
    return options;
}

MetadataLocationOptions of_uuid(std::string uuid, bool by_time = false) {
    MetadataLocationOptions options;
    options.table_uuid = std::move(uuid);
    options.by_last_updated_ms = by_time;
    return options;
}

}  // namespace

TEST(MetadataLocation, VersionsOfNames) {
    EXPECT_EQ(metadata_version("v12.metadata.json"), 12u);
    EXPECT_EQ(metadata_version("12.metadata.json"), 12u);
    EXPECT_EQ(metadata_version("00012-9e0ffe60-ce1a.metadata.json"), 12u);
    EXPECT_EQ(metadata_version("v3.gz.metadata.json"), 3u);
    EXPECT_EQ(metadata_version("v3.metadata.json.gz"), 3u);
    EXPECT_EQ(metadata_version("00003-abc.zstd.metadata.json"), 3u);
    EXPECT_EQ(metadata_version("v3.metadata.json.zst"), 3u);
    for (std::string_view other :
         {"metadata.json", "vx.metadata.json", "v3.json", "v3.metadata.json.bak", "v3-x.metadata.json",
          "3x.metadata.json", ".v3.metadata.json.crc", "99999999999999999999999.metadata.json"}) {
        EXPECT_FALSE(metadata_version(other).has_value()) << other;
    }
}

TEST(MetadataLocation, GreatestVersionByNumber) {
    Folder folder;
    folder.add("v9.metadata.json");
    folder.add("v10.metadata.json");
    folder.add("readme.metadata.json");
    folder.hint("9");
    EXPECT_EQ(folder.find(), "v10.metadata.json");
    folder.add("v11.metadata.json.gz");
    EXPECT_EQ(folder.find(), "v11.metadata.json.gz");
    folder.add("00012-abc.gz.metadata.json");
    EXPECT_EQ(folder.find(), "00012-abc.gz.metadata.json");
}

TEST(MetadataLocation, TheHintDecidesWhenAsked) {
    Folder folder;
    folder.add("v1.metadata.json");
    folder.add("v2.metadata.json");
    folder.add("00003-abc.metadata.json");
    MetadataLocationOptions options;
    options.use_version_hint = true;
    EXPECT_EQ(folder.find(options), "00003-abc.metadata.json");  // no hint: as without
    folder.hint("1\n");
    EXPECT_EQ(folder.find(options), "v1.metadata.json");
    folder.hint("v2.metadata.json");
    EXPECT_EQ(folder.find(options), "v2.metadata.json");
    folder.hint("00003-abc");
    EXPECT_EQ(folder.find(options), "00003-abc.metadata.json");
    folder.hint("77");
    EXPECT_EQ(folder.find(options), "00003-abc.metadata.json");
}

TEST(MetadataLocation, TableByItsUuid) {
    Folder folder;
    folder.add("00001-a.metadata.json", "Aa-1", 50);
    folder.add("00002-a.metadata.json", "Aa-1", 40);
    folder.add("00003-b.metadata.json", "bb-2", 10);
    EXPECT_EQ(folder.find(of_uuid("aA-1")), "00002-a.metadata.json");
    EXPECT_EQ(folder.find(of_uuid("aa-1", true)), "00001-a.metadata.json");
    EXPECT_EQ(folder.find(of_uuid("BB-2")), "00003-b.metadata.json");
    EXPECT_EQ(folder.failure(of_uuid("cc-3")).code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_EQ(folder.find(of_uuid("", true)), "00001-a.metadata.json");
}

TEST(MetadataLocation, AnExplicitFileWins) {
    Folder folder;
    folder.add("v1.metadata.json");
    folder.add("v2.metadata.json");
    EXPECT_EQ(folder.find(file_path("metadata/v1.metadata.json")), "v1.metadata.json");
    EXPECT_EQ(folder.find(file_path("/metadata/v1.metadata.json")), "v1.metadata.json");
    EXPECT_EQ(folder.failure(file_path("metadata/v7.metadata.json")).code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_EQ(folder.failure(file_path("../v1.metadata.json")).code, ErrorCode::BAD_ARGUMENTS);
    EXPECT_EQ(folder.failure(file_path("metadata/../../etc/passwd")).code, ErrorCode::BAD_ARGUMENTS);
}

TEST(MetadataLocation, NoTable) {
    Folder folder;
    EXPECT_EQ(folder.failure().code, ErrorCode::FILE_DOESNT_EXIST);
    folder.hint("1");
    Failure failure = folder.failure();
    EXPECT_EQ(failure.code, ErrorCode::FILE_DOESNT_EXIST);
    EXPECT_NE(failure.message.find("metadata"), std::string::npos);
}
