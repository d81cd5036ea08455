#include "firn/file/puffin/puffin.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>

#include "firn/storage/local_store.h"
#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::file::puffin;

namespace {

std::string little_endian(uint32_t value) {
    std::string out;
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xff);
    return out;
}

std::string blob_json(uint64_t offset, uint64_t length, std::string_view codec = "") {
    std::string extra = codec.empty() ? "" : fmt::format(R"(,"compression-codec":"{}")", codec);
    return fmt::format(
        R"({{"type":"t","fields":[1,2],"snapshot-id":5,"sequence-number":6,"offset":{},"length":{},"properties":{{"ndv":"7"}}{}}})",
        offset, length, extra);
}

std::string puffin(std::string_view body, std::string_view blobs, uint32_t flags = 0) {
    std::string payload = fmt::format(R"({{"blobs":[{}],"properties":{{"created-by":"a test"}}}})", blobs);
    std::string out = "PFA1" + std::string(body) + "PFA1" + payload;
    return out + little_endian(static_cast<uint32_t>(payload.size())) + little_endian(flags) + "PFA1";
}

std::optional<ErrorCode> code_of(const std::string& bytes) {
    return failure_of([&] { parse_footer(bytes, "s.puffin"); }).code;
}

}  // namespace

TEST(Puffin, ReadsFooterAndBlobs) {
    std::string zstd(ZSTD_compressBound(5), '\0');
    zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), "hello", 5, 1));
    std::string bytes = puffin("plain" + zstd, blob_json(4, 5) + "," + blob_json(9, zstd.size(), "zstd"));
    FileMetadata metadata = parse_footer(bytes, "s.puffin");
    ASSERT_EQ(metadata.blobs.size(), 2u);
    EXPECT_EQ(metadata.properties.at("created-by"), "a test");
    EXPECT_EQ(metadata.blobs[0].fields, (std::vector<int32_t>{1, 2}));
    EXPECT_EQ(metadata.blobs[0].snapshot_id, 5);
    EXPECT_EQ(metadata.blobs[0].properties.at("ndv"), "7");

    char folder[] = "/tmp/firn-puffin-XXXXXX";
    std::string path = std::string(::mkdtemp(folder)) + "/s.puffin";
    storage::local_store().put(path, storage::as_bytes(bytes));
    auto file = storage::local_store().open(path);
    FileMetadata read = read_footer(*file);
    ASSERT_EQ(read.blobs.size(), 2u);
    EXPECT_EQ(read_blob(*file, read.blobs[0]), "plain");
    EXPECT_EQ(read_blob(*file, read.blobs[1]), "hello");
    std::filesystem::remove_all(folder);
}

TEST(Puffin, Lz4Frames) {
    // An LZ4 frame with its content's size: "aaaa…" of 20, stored as it is, without checksums.
    std::string text(20, 'a');
    std::string frame("\x04\x22\x4d\x18\x68\x40", 6);
    frame += std::string("\x14\0\0\0\0\0\0\0", 8);
    frame += '\xb9';  // header checksum, put right below
    frame += little_endian(0x80000000U | 20) + text + little_endian(0);
    bool read = false;
    for (int sum = 0; sum < 256 && !read; ++sum) {
        frame[14] = static_cast<char>(sum);
        try {
            read = decompress_blob(frame, "lz4", "s") == text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::INCORRECT_DATA);
        }
    }
    EXPECT_TRUE(read);
    EXPECT_EQ(failure_of([&] { decompress_blob("short", "lz4", "s"); }).code, ErrorCode::INCORRECT_DATA);
    std::string huge = frame;
    huge[11] = '\x7f';
    EXPECT_EQ(failure_of([&] { decompress_blob(huge, "lz4", "s"); }).code, ErrorCode::LIMIT_EXCEEDED);
    EXPECT_EQ(failure_of([&] { decompress_blob("x", "brotli", "s"); }).code, ErrorCode::INCORRECT_DATA);
}

TEST(Puffin, DamagedFiles) {
    std::string good = puffin("plain", blob_json(4, 5));
    EXPECT_EQ(code_of(good), std::nullopt);
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_EQ(code_of(good.substr(0, size)), ErrorCode::INCORRECT_DATA) << size;
    EXPECT_EQ(code_of(puffin("plain", blob_json(4, 6))), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(puffin("plain", blob_json(0, 2))), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(puffin("plain", blob_json(UINT64_MAX, 2))), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(puffin("plain", "{}")), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(puffin("plain", "3")), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code_of(puffin("plain", blob_json(4, 5), 1)), ErrorCode::INCORRECT_DATA);  // says compressed, is not
    EXPECT_EQ(code_of(puffin("plain", blob_json(4, 5), 2)), ErrorCode::INCORRECT_DATA);  // an unknown flag
    EXPECT_EQ(
        code_of("PFA1" + good.substr(4, good.size() - 16) + little_endian(0x7fffffff) + little_endian(0) + "PFA1"),
        ErrorCode::INCORRECT_DATA);
}
