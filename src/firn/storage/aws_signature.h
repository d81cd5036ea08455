// AWS Signature Version 4: what S3, STS, Glue and S3-like services want of a request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "firn/storage/http.h"

namespace firn::storage {

struct AwsCredentials {
    std::string access_key_id;
    std::string secret_access_key;
    std::string session_token;  ///< empty: none

    bool empty() const { return access_key_id.empty(); }
    bool operator==(const AwsCredentials&) const = default;
};

/// SHA-256 of no bytes, in hex; and what S3 takes instead of a hash.
constexpr std::string_view kEmptySha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

std::string sha256_hex(std::span<const uint8_t> bytes);
std::string sha256_hex(std::string_view text);
/// 32 raw bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);
std::string base64_encode(std::string_view bytes);
/// BAD_ARGUMENTS where the text is not base64.
std::string base64_decode(std::string_view text);
/// 16 raw bytes: Content-MD5 of what S3 still wants it for.
std::string md5(std::string_view text);

struct AwsScope {
    std::string region;   ///< "us-east-1"
    std::string service;  ///< "s3", "sts", "glue"
};

/// Puts Host, X-Amz-Date, X-Amz-Security-Token, Authorization, and for S3 and S3 Tables X-Amz-Content-Sha256 into the request's headers;
/// all headers that the request has by then are signed, but User-Agent, Expect and hop-by-hop ones. The URL's path is taken
/// as written, already percent-encoded once; other services than S3 sign it encoded twice, as AWS says.
/// body_hash: hex SHA-256 of the body, or kUnsignedPayload. unix_seconds: now.
void sign_aws_v4(HttpRequest& request, const AwsCredentials& credentials, const AwsScope& scope,
                 std::string_view body_hash, int64_t unix_seconds);

}  // namespace firn::storage
