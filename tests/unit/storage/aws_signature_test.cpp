// The examples that AWS publishes for Signature Version 4: of the S3 manual, of the signing test suite, of IAM.
#include "firn/storage/aws_signature.h"

#include <gtest/gtest.h>

namespace firn::storage {
namespace {

constexpr int64_t k20130524 = 1369353600;         // 2013-05-24T00:00:00Z
constexpr int64_t k20150830_123600 = 1440938160;  // 2015-08-30T12:36:00Z

std::string signature_of(const HttpRequest& request) {
    const std::string authorization(request.headers.get("Authorization").value_or(""));
    const size_t at = authorization.find("Signature=");
    return at == authorization.npos ? authorization : authorization.substr(at + 10);
}

std::string sign_s3(HttpRequest& request) {
    const AwsCredentials credentials{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
    sign_aws_v4(request, credentials, {"us-east-1", "s3"}, sha256_hex(request.body), k20130524);
    return signature_of(request);
}

std::string sign_suite(HttpRequest& request, const std::string& service = "service", const std::string& token = "") {
    const AwsCredentials credentials{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token};
    sign_aws_v4(request, credentials, {"us-east-1", service}, sha256_hex(request.body), k20150830_123600);
    return signature_of(request);
}

TEST(AwsSignature, S3GetWithRange) {
    HttpRequest request;
    request.url = "https://examplebucket.s3.amazonaws.com/test.txt";
    request.headers.set("Range", "bytes=0-9");
    EXPECT_EQ(sign_s3(request), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    EXPECT_TRUE(
        request.headers.get("Authorization")
            ->starts_with("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature="));
}

TEST(AwsSignature, S3Put) {
    HttpRequest request;
    request.method = "PUT";
    request.url = "https://examplebucket.s3.amazonaws.com/test%24file.text";
    request.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
    request.body = "Welcome to Amazon S3.";
    EXPECT_EQ(sign_s3(request), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(AwsSignature, S3QueryWithoutValue) {
    HttpRequest request;
    request.url = "https://examplebucket.s3.amazonaws.com/?lifecycle";
    EXPECT_EQ(sign_s3(request), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(AwsSignature, S3List) {
    HttpRequest request;
    request.url = "https://examplebucket.s3.amazonaws.com/?prefix=J&max-keys=2";
    EXPECT_EQ(sign_s3(request), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(AwsSignature, SuiteGetVanilla) {
    HttpRequest request;
    request.url = "https://example.amazonaws.com/";
    EXPECT_EQ(sign_suite(request), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(AwsSignature, SuiteQueryOrder) {
    HttpRequest request;
    request.url = "https://example.amazonaws.com/?Param2=value2&Param1=value1";
    EXPECT_EQ(sign_suite(request), "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(AwsSignature, SuitePathIsNormalized) {
    HttpRequest request;
    request.url = "https://example.amazonaws.com//example/..//./";
    EXPECT_EQ(sign_suite(request), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(AwsSignature, SuitePostVanilla) {
    HttpRequest request;
    request.method = "POST";
    request.url = "https://example.amazonaws.com/";
    EXPECT_EQ(sign_suite(request), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

TEST(AwsSignature, IamListUsers) {
    HttpRequest request;
    request.url = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08";
    request.headers.set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
    EXPECT_EQ(sign_suite(request, "iam"), "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

TEST(AwsSignature, SessionTokenIsSigned) {
    HttpRequest request;
    request.url = "https://example.amazonaws.com/";
    sign_suite(request, "service", "token");
    EXPECT_EQ(request.headers.get("x-amz-security-token"), "token");
    EXPECT_NE(request.headers.get("Authorization")->find("x-amz-date;x-amz-security-token"), std::string_view::npos);
}

TEST(AwsSignature, SigningAgainReplacesTheSignature) {
    HttpRequest request;
    request.url = "https://example.amazonaws.com/";
    sign_suite(request, "service", "token");
    EXPECT_EQ(sign_suite(request), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(AwsSignature, Base64) {
    for (const std::string text : {"", "f", "fo", "foo", "foob"}) EXPECT_EQ(base64_decode(base64_encode(text)), text);
    EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
    EXPECT_EQ(base64_decode("Zm9vYg"), "foob");
    EXPECT_ANY_THROW(base64_decode("***"));
}

}  // namespace
}  // namespace firn::storage
