// Amazon S3 and services that speak its API, Google Cloud Storage's XML API among them.
//
// Paths are "s3://bucket/key" (s3a, s3n and http(s) addresses of the same service are understood too), of any bucket.
// Errors: FILE_DOESNT_EXIST (no such key), S3_ERROR (whatever else the service says, or that it cannot be reached),
// S3_OBJECT_CHANGED_DURING_READ, AUTHENTICATION_FAILED (no credentials could be had).
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "firn/storage/aws_credentials.h"
#include "firn/storage/google_token.h"
#include "firn/storage/remote_store.h"
#include "firn/storage/s3_location.h"

namespace firn::storage {

struct S3Options {
    S3Endpoint endpoint;
    /// Of the paths that listings give: "s3" or "gs".
    std::string scheme = "s3";
    /// Null: requests go unsigned.
    AwsCredentialsPtr credentials;
    /// Sent as "Authorization: Bearer" instead of a signature: Google Cloud Storage.
    std::string bearer_token;
    std::shared_ptr<GoogleTokens> google;  ///< not null: its tokens, where it has any
    HttpOptions http;
    /// Parts of an upload; smaller objects are put by one request.
    uint64_t part_bytes = uint64_t{16} << 20;
    /// Keys that one list request asks for.
    unsigned list_page = 1000;
};

class S3Store final : public RemoteStore {
public:
    explicit S3Store(S3Options options, std::string identity = {});

    std::optional<ObjectInfo> try_stat(std::string_view path) const override;
    std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const override;
    void put(std::string_view path, std::span<const uint8_t> bytes) override;
    bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) override;
    bool remove(std::string_view path) override;
    void remove_all(std::span<const std::string> paths) override;
    std::string shown_path(std::string_view path) const override;

    HttpRequest read_request(std::string_view path, std::optional<ByteRange> range,
                             std::string_view etag) const override;
    std::optional<HttpRequest> tail_request(std::string_view path, uint64_t length) const override;
    [[noreturn]] void fail_reply(const HttpReply& reply, std::string_view path, std::string_view doing) const override;
    void count_read(uint64_t bytes, uint64_t microseconds) const override;
    ErrorCode error_code() const override { return ErrorCode::S3_ERROR; }
    std::string service() const override { return options_.scheme + " " + options_.endpoint.origin; }

private:
    /// A request that signs itself at each try, follows the bucket to its region and renews expired credentials.
    HttpRequest request(std::string method, const S3Object& object, std::string query = {}) const;
    std::string path_of(const S3Object& object) const;
    std::string region_of(const std::string& bucket) const;
    bool try_again(const std::string& bucket, const HttpReply& reply, unsigned attempt) const;
    void list_page(const S3Object& folder, bool recursive, std::string& token, std::vector<ObjectInfo>& out) const;
    /// False where `only_if_absent` and there is such an object.
    bool upload(std::string_view path, std::span<const uint8_t> bytes, bool only_if_absent);
    bool upload_parts(std::string_view path, std::span<const uint8_t> bytes, bool only_if_absent);
    bool was_ours(std::string_view path, std::span<const uint8_t> bytes) const;

    S3Options options_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, std::string> regions_;  // of buckets that said so
    mutable std::atomic<int64_t> clock_offset_s_{0};
};

}  // namespace firn::storage
