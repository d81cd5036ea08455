// Addresses of S3 and services like it: from what a user writes to bucket, key and endpoint, and back to request URLs.
#pragma once

#include <string>
#include <string_view>

namespace firn::storage {

enum class S3Addressing { Auto, Path, VirtualHost };

/// Where a bucket's service listens.
struct S3Endpoint {
    std::string origin;  ///< "https://host:port"; empty: AWS's own, by region
    std::string region;  ///< empty: not said
    /// Auto: virtual hosts on AWS, paths elsewhere.
    S3Addressing addressing = S3Addressing::Auto;

    bool is_aws() const { return origin.empty(); }
};

struct S3Location {
    S3Endpoint endpoint;
    std::string bucket;
    std::string key;         ///< decoded, without a slash before it
    std::string version_id;  ///< of the URL's versionId
};

/// s3://, s3a://, s3n:// and gs:// bucket/key; http(s)://bucket.s3.region.amazonaws.com/key and its dual-stack, dash and
/// legacy forms; http(s)://bucket.storage.googleapis.com/key; any other http(s) URL as endpoint/bucket/key. `style` is the
/// setting s3_uri_style: "auto", "path", "virtual_hosted". BAD_ARGUMENTS for what is none of these.
S3Location parse_s3_url(std::string_view url, std::string_view style = "auto");

struct S3Object {
    std::string bucket;
    std::string key;
};
/// Bucket and key of a store's path, "s3://bucket/key", or of an http(s) address.
S3Object split_s3_path(std::string_view path);

/// The URL of an object, or with an empty key of the bucket, without a query.
std::string s3_request_url(const S3Endpoint& endpoint, std::string_view region, std::string_view bucket,
                           std::string_view key);

}  // namespace firn::storage
