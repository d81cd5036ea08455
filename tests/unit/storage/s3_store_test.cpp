// S3Store against scripted replies: what servers that behave never do, and what requests look like.
#include "firn/storage/s3_store.h"
#include "firn/storage/object_cache.h"

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/access.h"
#include "tests/unit/storage/scripted_server.h"

namespace firn::storage {
namespace {

std::shared_ptr<S3Store> store_at(const ScriptedServer& server, AwsCredentialsPtr credentials = nullptr) {
    S3Options options;
    options.endpoint = {server.url(""), "us-east-1", S3Addressing::Path};
    options.credentials = credentials ? credentials : fixed_credentials({"key", "topsecret", ""});
    options.http.first_delay = std::chrono::milliseconds(1);
    options.http.max_delay = std::chrono::milliseconds(2);
    options.http.attempts = 3;
    return std::make_shared<S3Store>(std::move(options));
}

std::string error_xml(const std::string& code) {
    return "<Error><Code>" + code + "</Code><Message>because</Message></Error>";
}

template <typename F>
ErrorCode code_of(F&& f, std::string* message = nullptr) {
    try {
        f();
    } catch (const Error& error) {
        if (message) *message = error.message();
        return error.code();
    }
    return ErrorCode{};
}

TEST(S3Store, ListsPageByPage) {
    ScriptedServer server(
        {{http_reply(200,
                     "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
                     "<NextContinuationToken>a/b=</NextContinuationToken>"
                     "<Contents><Key>t/x%20y</Key><Size>5</Size><ETag>&quot;e&quot;</ETag>"
                     "<LastModified>2026-11-30T00:00:01.500Z</LastModified></Contents>"
                     "<Contents><Key>t/</Key><Size>0</Size></Contents></ListBucketResult>")},
         {http_reply(200,
                     "<ListBucketResult><IsTruncated>false</IsTruncated>"
                     "<Contents><Key>t/a%20b</Key><Size>7</Size></Contents></ListBucketResult>")}});
    const auto found = store_at(server)->list("s3://bucket/t", false);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].path, "s3://bucket/t/a%20b");  // a server that does not encode means what it says
    EXPECT_EQ(found[1].path, "s3://bucket/t/x y");
    EXPECT_EQ(found[1].etag, "\"e\"");
    EXPECT_EQ(found[1].modified_us % 1'000'000, 500'000);
    EXPECT_NE(server.requests()[0].find("prefix=t%2F&delimiter=%2F"), std::string::npos);
    EXPECT_NE(server.requests()[1].find("continuation-token=a%2Fb%3D"), std::string::npos);
}

TEST(S3Store, ReadsSmallObjectsWholeAndOnce) {
    object_cache().clear();
    ScriptedServer server({{http_reply(200, "0123456789", "ETag: \"1\"\r\n")}});
    const auto store = store_at(server);
    ObjectInfo known;
    known.size = 10;
    const auto file = store->open("s3://bucket/small", known);
    EXPECT_TRUE(server.requests().empty());
    std::array<uint8_t, 3> out;
    file->read_at(7, out);
    EXPECT_EQ(std::string(out.begin(), out.end()), "789");
    file->read_at(0, out);
    EXPECT_EQ(std::string(out.begin(), out.end()), "012");
    EXPECT_EQ(file->read_buffer(4, 2)->as<char>()[0], '4');
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(code_of([&] { file->read_at(8, out); }), ErrorCode::CANNOT_READ_ALL_DATA);
}

TEST(S3Store, ReadsAheadTogether) {
    object_cache().clear();
    const std::string part(1000, 'x');
    ScriptedServer server({{http_reply(206, part, "ETag: \"1\"\r\n")}});
    ObjectInfo known;
    known.size = 10 << 20;
    const auto file = store_at(server)->open("s3://bucket/large", known);
    const auto held = file->read_ahead({{5000, 400}, {5600, 400}});  // near: one request
    std::array<uint8_t, 400> out;
    file->read_at(5600, out);
    file->read_at(5000, out);
    EXPECT_EQ(out[0], 'x');
    ASSERT_EQ(server.requests().size(), 1U);
    EXPECT_NE(server.requests()[0].find("Range: bytes=5000-5999\r\n"), std::string::npos);
}

TEST(S3Store, AChangedObjectIsAnError) {
    const std::string part(100, 'x');
    ScriptedServer server(
        {{http_reply(206, part, "ETag: \"1\"\r\n")}, {http_reply(412, error_xml("PreconditionFailed"))}});
    ObjectInfo known;
    known.size = 10 << 20;
    const auto file = store_at(server)->open("s3://bucket/large2", known);
    std::array<uint8_t, 100> out;
    file->read_at(0, out);
    EXPECT_EQ(code_of([&] { file->read_at(1000, out); }), ErrorCode::S3_OBJECT_CHANGED_DURING_READ);
    EXPECT_NE(server.requests()[1].find("If-Match: \"1\"\r\n"), std::string::npos);
    ScriptedServer other({{http_reply(206, part, "ETag: \"1\"\r\n")}, {http_reply(206, part, "ETag: \"2\"\r\n")}});
    const auto ignoring = store_at(other)->open("s3://bucket/large3", known);
    ignoring->read_at(0, out);
    EXPECT_EQ(code_of([&] { ignoring->read_at(1000, out); }), ErrorCode::S3_OBJECT_CHANGED_DURING_READ);
}

TEST(S3Store, AChangedObjectIsAnErrorWhenReadAhead) {
    const std::string part(400, 'x');
    ScriptedServer server({{http_reply(206, part, "ETag: \"1\"\r\n")}, {http_reply(206, part, "ETag: \"2\"\r\n")}});
    ObjectInfo known;
    known.size = 10 << 20;
    const auto file = store_at(server)->open("s3://bucket/large4", known);
    std::array<uint8_t, 400> out;
    const auto first = file->read_ahead({{0, 400}});
    file->read_at(0, out);
    const auto second = file->read_ahead({{5 << 20, 400}});
    EXPECT_EQ(code_of([&] { file->read_at(5 << 20, out); }), ErrorCode::S3_OBJECT_CHANGED_DURING_READ);
    EXPECT_EQ(code_of([&] { file->read_buffer(5 << 20, 400); }), ErrorCode::S3_OBJECT_CHANGED_DURING_READ);
}

TEST(S3Store, ASmallObjectsTailIsReadOnce) {
    object_cache().clear();
    ScriptedServer server(
        {{http_reply(206, std::string(65536, 't'), "ETag: \"1\"\r\nContent-Range: bytes 34464-99999/100000\r\n")},
         {http_reply(206, std::string(1000, 'x'), "ETag: \"1\"\r\n")}});
    const auto file = store_at(server)->open("s3://bucket/middling");
    const auto held = file->read_ahead({{0, 1000}, {90000, 1000}});
    std::array<uint8_t, 1000> out;
    file->read_at(90000, out);
    EXPECT_EQ(out[0], 't');
    file->read_at(0, out);
    EXPECT_EQ(out[0], 'x');
    EXPECT_EQ(file->read_buffer(0, 10)->as<char>()[0], 'x');
    ASSERT_EQ(server.requests().size(), 2U);
    EXPECT_NE(server.requests()[1].find("Range: bytes=0-999\r\n"), std::string::npos);
}

TEST(S3Store, KeysOfTheEnvironmentAreNotAlwaysUsed) {
    StorageAccess access;
    access.environment_keys = false;
    EXPECT_EQ(aws_credentials_for(access), nullptr);
    EXPECT_NE(access.sharing_key(), StorageAccess{}.sharing_key());
    access.role_arn = "arn:aws:iam::1:role/r";
    EXPECT_EQ(code_of([&] { aws_credentials_for(access); }), ErrorCode::AUTHENTICATION_FAILED);
    access.keys = {"key", "topsecret", ""};
    EXPECT_NE(aws_credentials_for(access), nullptr);
}

TEST(S3Store, StoragesOfTheirOwnShareNoCache) {
    StorageAccess own;
    own.azure.token = azure_environment_token();
    EXPECT_NE(open_storage(own)->identity(), open_storage(own)->identity());
    StorageAccess lent;
    lent.credentials = fixed_credentials({"key", "topsecret", ""});
    EXPECT_NE(open_storage(lent)->identity(), open_storage(lent)->identity());
    EXPECT_NE(open_storage(lent)->identity(), open_storage(own)->identity());
    const StorageAccess shared;
    EXPECT_EQ(open_storage(shared)->identity(), open_storage(shared)->identity());
}

TEST(S3Store, Errors) {
    for (const auto& [status, code, wanted] :
         {std::tuple(404, "NoSuchKey", ErrorCode::FILE_DOESNT_EXIST),
          std::tuple(404, "NoSuchBucket", ErrorCode::S3_ERROR), std::tuple(403, "AccessDenied", ErrorCode::S3_ERROR),
          std::tuple(503, "SlowDown", ErrorCode::S3_ERROR)}) {
        ScriptedServer server({{http_reply(status, error_xml(code))}});
        std::string message;
        EXPECT_EQ(code_of([&] { store_at(server)->read_all("s3://bucket/k", 1000); }, &message), wanted) << code;
        EXPECT_NE(message.find("bucket/k"), std::string::npos) << message;
        EXPECT_EQ(message.find("topsecret"), std::string::npos) << message;
    }
}

TEST(S3Store, FollowsABucketToItsRegion) {
    ScriptedServer server({{http_reply(301, error_xml("PermanentRedirect"), "x-amz-bucket-region: eu-west-1\r\n")},
                           {http_reply(200, "abc")}});
    EXPECT_EQ(store_at(server)->read_all("s3://bucket/k", 1000), "abc");
    EXPECT_NE(server.requests()[1].find("/eu-west-1/s3/aws4_request"), std::string::npos);
}

TEST(S3Store, RenewsExpiredCredentials) {
    ScriptedServer server({{http_reply(400, error_xml("ExpiredToken"))}, {http_reply(200, "abc")}});
    int loads = 0;
    const auto credentials = credentials_from([&] {
        ++loads;
        return ExpiringCredentials{{"key" + std::to_string(loads), "secret", "token"}, 0};
    });
    EXPECT_EQ(store_at(server, credentials)->read_all("s3://bucket/k", 1000), "abc");
    EXPECT_EQ(loads, 2);
    EXPECT_NE(server.requests()[1].find("Credential=key2/"), std::string::npos);
}

TEST(S3Store, ConditionalPutsTellWhoWon) {
    ScriptedServer lost({{http_reply(412, error_xml("PreconditionFailed"))}});
    EXPECT_FALSE(store_at(lost)->put_if_absent("s3://bucket/k", as_bytes("abc")));
    EXPECT_NE(lost.requests()[0].find("If-None-Match: *\r\n"), std::string::npos);
    // The first try's reply is lost, though it has written: what is there is our own.
    ScriptedServer won(
        {{http_reply(500, "")}, {http_reply(412, error_xml("PreconditionFailed"))}, {http_reply(200, "abc")}});
    EXPECT_TRUE(store_at(won)->put_if_absent("s3://bucket/k", as_bytes("abc")));
    ScriptedServer not_ours(
        {{http_reply(500, "")}, {http_reply(412, error_xml("PreconditionFailed"))}, {http_reply(200, "abd")}});
    EXPECT_FALSE(store_at(not_ours)->put_if_absent("s3://bucket/k", as_bytes("abc")));
}

TEST(S3Store, UnsignedAndTokens) {
    ScriptedServer server({{http_reply(200, "abc")}});
    S3Options options;
    options.endpoint = {server.url(""), "us-east-1", S3Addressing::Path};
    std::make_shared<S3Store>(options)->read_all("s3://bucket/k", 10);
    EXPECT_EQ(server.requests()[0].find("Authorization"), std::string::npos);
    options.bearer_token = "t0ken";
    std::make_shared<S3Store>(options)->read_all("s3://bucket/k", 10);
    EXPECT_NE(server.requests()[1].find("Authorization: Bearer t0ken\r\n"), std::string::npos);
    options.credentials = fixed_credentials({"key", "secret", "session"});
    options.bearer_token.clear();
    std::make_shared<S3Store>(options)->read_all("s3://bucket/k", 10);
    EXPECT_NE(server.requests()[2].find("X-Amz-Security-Token: session\r\n"), std::string::npos);
}

TEST(Access, WhatATableMayNotReach) {
    StorageAccess access;
    access.s3 = {"http://127.0.0.1:1", "us-east-1", S3Addressing::Path};
    access.keys = {"key", "secret", ""};
    const auto store = open_storage(access);
    EXPECT_EQ(code_of([&] { store->read_all("/etc/passwd", 10); }), ErrorCode::ACCESS_DENIED);
    EXPECT_EQ(code_of([&] { store->read_all("http://elsewhere:1/bucket/k", 10); }), ErrorCode::ACCESS_DENIED);
    EXPECT_EQ(code_of([&] { store->read_all("ftp://h/k", 10); }), ErrorCode::NOT_IMPLEMENTED);
    EXPECT_EQ(open_storage(access), store);
    access.keys.secret_access_key = "other";
    EXPECT_NE(open_storage(access), store);
    EXPECT_NE(open_storage(access)->identity(), store->identity());
}

}  // namespace
}  // namespace firn::storage
