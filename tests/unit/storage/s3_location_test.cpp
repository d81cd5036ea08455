#include "firn/storage/s3_location.h"

#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/storage/azure_store.h"
#include "firn/storage/hdfs_store.h"

namespace firn::storage {
namespace {

struct Wanted {
    std::string bucket, key, origin, region;
};

void expect(const std::string& url, const Wanted& wanted, const std::string& style = "auto") {
    const S3Location at = parse_s3_url(url, style);
    EXPECT_EQ(at.bucket, wanted.bucket) << url;
    EXPECT_EQ(at.key, wanted.key) << url;
    EXPECT_EQ(at.endpoint.origin, wanted.origin) << url;
    EXPECT_EQ(at.endpoint.region, wanted.region) << url;
}

TEST(S3Location, Schemes) {
    expect("s3://bucket/a/b", {"bucket", "a/b", "", ""});
    expect("s3a://bucket/a%20b?x", {"bucket", "a%20b?x", "", ""});
    expect("s3n://bucket", {"bucket", "", "", ""});
    expect("gs://bucket/k", {"bucket", "k", "https://storage.googleapis.com", "auto"});
}

TEST(S3Location, Aws) {
    expect("https://bucket.s3.eu-west-1.amazonaws.com/a/b", {"bucket", "a/b", "", "eu-west-1"});
    expect("https://my.bucket.s3.amazonaws.com/a", {"my.bucket", "a", "", "us-east-1"});
    expect("https://bucket.s3-us-west-2.amazonaws.com/a", {"bucket", "a", "", "us-west-2"});
    expect("https://s3.eu-central-1.amazonaws.com/bucket/a", {"bucket", "a", "", "eu-central-1"});
    expect("https://s3-x.s3.eu-west-1.amazonaws.com/a", {"s3-x", "a", "", "eu-west-1"});
    expect("https://bucket.s3.dualstack.eu-west-1.amazonaws.com/a",
           {"bucket", "a", "https://s3.dualstack.eu-west-1.amazonaws.com", "eu-west-1"});
    expect("https://bucket.s3.cn-north-1.amazonaws.com.cn/a",
           {"bucket", "a", "https://s3.cn-north-1.amazonaws.com.cn", "cn-north-1"});
}

TEST(S3Location, OtherServices) {
    expect("http://127.0.0.1:9000/bucket/a%20b/c", {"bucket", "a b/c", "http://127.0.0.1:9000", ""});
    expect("http://minio:9000/bucket/", {"bucket", "", "http://minio:9000", ""});
    expect("https://bucket.storage.googleapis.com/a", {"bucket", "a", "https://storage.googleapis.com", ""});
    expect("https://bucket.oss-eu-central-1.aliyuncs.com/a",
           {"bucket", "a", "https://oss-eu-central-1.aliyuncs.com", ""});
    expect("http://bucket.localhost:9000/a", {"bucket", "a", "http://localhost:9000", ""}, "virtual_hosted");
    EXPECT_EQ(parse_s3_url("http://h/bucket/k?versionId=a%2Fb").version_id, "a/b");
}

TEST(S3Location, Refusals) {
    for (const std::string url :
         {"ftp://bucket/k", "bucket/k", "s3://b/k", "http://host/", "s3://bu cket/k", "http://h:1/ab/k"})
        EXPECT_THROW(parse_s3_url(url), Error) << url;
    EXPECT_THROW(parse_s3_url("http://localhost/a", "virtual_hosted"), Error);
    EXPECT_THROW(parse_s3_url("http://localhost/bucket/a", "sideways"), Error);
}

TEST(S3Location, RequestUrls) {
    EXPECT_EQ(s3_request_url({}, "eu-west-1", "bucket", "a b/ü"),
              "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/%C3%BC");
    EXPECT_EQ(s3_request_url({}, "us-east-1", "my.bucket", "k"), "https://s3.us-east-1.amazonaws.com/my.bucket/k");
    EXPECT_EQ(s3_request_url({"http://h:1", "", S3Addressing::Path}, "", "bucket", ""), "http://h:1/bucket");
    EXPECT_EQ(s3_request_url({"http://h:1", "", S3Addressing::VirtualHost}, "", "bucket", "k"), "http://bucket.h:1/k");
}

TEST(AzurePath, Parts) {
    const AzureBlob blob = split_azure_path("abfss://box@account.dfs.core.windows.net/a/b%20c");
    EXPECT_EQ(blob.container, "box");
    EXPECT_EQ(blob.account, "account");
    EXPECT_EQ(blob.blob, "a/b%20c");
    EXPECT_EQ(split_azure_path("az://box/a").account, "");
    EXPECT_THROW(split_azure_path("abfss://@account/a"), Error);
}

TEST(AzureConnectionString, Parts) {
    AzureOptions options;
    apply_connection_string(
        "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=a2V5==;EndpointSuffix=core.windows.net", options);
    EXPECT_EQ(options.account_url, "https://me.blob.core.windows.net");
    EXPECT_EQ(options.account_key, "a2V5==");
    AzureOptions other;
    apply_connection_string("BlobEndpoint=http://127.0.0.1:1/acc;SharedAccessSignature=sv=1&sig=x", other);
    EXPECT_EQ(other.account_url, "http://127.0.0.1:1/acc");
    EXPECT_EQ(other.sas_token, "sv=1&sig=x");
    try {
        apply_connection_string("AccountKey=secret", other = {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.message().find("secret"), std::string::npos);
    }
}

TEST(WebHdfs, Endpoints) {
    EXPECT_EQ(webhdfs_endpoints("hdfs://node:8020/t").at(0), "http://node:9870");
    EXPECT_EQ(webhdfs_endpoints("webhdfs://node:1234/t").at(0), "http://node:1234");
    EXPECT_EQ(webhdfs_endpoints("swebhdfs://node/t").at(0), "https://node:9871");
}

}  // namespace
}  // namespace firn::storage
