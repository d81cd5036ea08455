#include "firn/storage/s3_store.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"

namespace firn::storage {

namespace {

struct S3Failure {
    std::string code;
    std::string message;
};

S3Failure failure_of(const HttpReply& reply) {
    S3Failure out;
    try {
        const XmlElement root = parse_xml(reply.body, "S3 reply");
        const XmlElement& error = root.name == "Error" || !root.child("Error") ? root : *root.child("Error");
        out = {std::string(error.child_text("Code")), std::string(error.child_text("Message"))};
    } catch (const Error&) {
        // HEAD replies and proxies say nothing more than the status
    }
    return out;
}

}  // namespace

S3Store::S3Store(S3Options options, std::string identity)
    : RemoteStore(options.http, std::move(identity)), options_(std::move(options)) {
    if (options_.endpoint.region.empty()) options_.endpoint.region = configured_region();
}

std::string S3Store::path_of(const S3Object& object) const {
    return fmt::format("{}://{}/{}", options_.scheme, object.bucket, object.key);
}

std::string S3Store::region_of(const std::string& bucket) const {
    std::lock_guard lock(mutex_);
    if (const auto found = regions_.find(bucket); found != regions_.end()) return found->second;
    return options_.endpoint.region.empty() ? "us-east-1" : options_.endpoint.region;
}

bool S3Store::try_again(const std::string& bucket, const HttpReply& reply, unsigned attempt) const {
    if (reply.ok() || reply.status == 404 || reply.status == 412 || attempt > 3) return false;
    // A bucket of another region says where it is.
    if (reply.status == 301 || reply.status == 307 || reply.status == 400) {
        std::string region(reply.headers.get("x-amz-bucket-region").value_or(""));
        if (region.empty() && reply.status == 400) {
            try {
                region = parse_xml(reply.body, "S3 reply").child_text("Region");
            } catch (const Error&) {
                // no XML, no region
            }
        }
        if (!region.empty() && region != region_of(bucket)) {
            std::lock_guard lock(mutex_);
            regions_[bucket] = region;
            return true;
        }
    }
    if (reply.status != 400 && reply.status != 401 && reply.status != 403) return false;
    if (reply.status == 401 && options_.google) {
        options_.google->invalidate();
        return attempt <= 2;
    }
    const std::string code = failure_of(reply).code;
    if (code == "RequestTimeout") return true;
    if ((code == "ExpiredToken" || code == "ExpiredTokenException" || code == "TokenRefreshRequired") &&
        options_.credentials) {
        options_.credentials->invalidate();
        return attempt <= 2;
    }
    if (code == "RequestTimeTooSkewed") {
        const int64_t server_s = http_date_us(reply.headers.get("date").value_or("")) / 1'000'000;
        if (server_s) clock_offset_s_ = server_s - std::time(nullptr);
        return server_s && attempt <= 2;
    }
    return false;
}

HttpRequest S3Store::request(std::string method, const S3Object& object, std::string query) const {
    HttpRequest request;
    request.method = std::move(method);
    const auto self = std::static_pointer_cast<const S3Store>(shared_from_this());
    request.before_attempt = [self, object, query = std::move(query)](HttpRequest& r, unsigned) {
        const std::string region = self->region_of(object.bucket);
        r.url = s3_request_url(self->options_.endpoint, region, object.bucket, object.key);
        if (!query.empty()) r.url += "?" + query;
        std::string bearer = self->options_.bearer_token;
        if (self->options_.google) bearer = self->options_.google->get(self->options_.http);
        if (!bearer.empty()) {
            r.headers.set("Authorization", "Bearer " + bearer);
            return;
        }
        const AwsCredentials credentials =
            self->options_.credentials ? self->options_.credentials->get() : AwsCredentials{};
        if (credentials.empty()) return;
        const bool has_body = !r.body.empty() || !r.body_view.empty();
        const bool encrypted = r.url.starts_with("https:");
        // Over TLS the body needs no second protection; hashing it would cost more than sending it.
        const std::string hash = !has_body              ? std::string(kEmptySha256)
                                 : encrypted            ? std::string(kUnsignedPayload)
                                 : !r.body_view.empty() ? sha256_hex(r.body_view)
                                                        : sha256_hex(std::string_view(r.body));
        sign_aws_v4(r, credentials, {region, "s3"}, hash, std::time(nullptr) + self->clock_offset_s_);
    };
    request.retry_reply = [self, bucket = object.bucket](const HttpReply& reply, unsigned attempt) {
        return self->try_again(bucket, reply, attempt);
    };
    return request;
}

HttpRequest S3Store::read_request(std::string_view path, std::optional<ByteRange> range, std::string_view etag) const {
    HttpRequest out = request("GET", split_s3_path(path));
    if (range) out.headers.set("Range", fmt::format("bytes={}-{}", range->offset, range->offset + range->length - 1));
    if (!etag.empty()) out.headers.set("If-Match", etag);
    count_event(ProfileEvent::S3GetObject);
    return out;
}

std::optional<HttpRequest> S3Store::tail_request(std::string_view path, uint64_t length) const {
    HttpRequest out = request("GET", split_s3_path(path));
    out.headers.set("Range", fmt::format("bytes=-{}", length));
    count_event(ProfileEvent::S3GetObject);
    return out;
}

void S3Store::fail_reply(const HttpReply& reply, std::string_view path, std::string_view doing) const {
    const S3Failure failure = failure_of(reply);
    if (reply.status == 412)
        fail(ErrorCode::S3_OBJECT_CHANGED_DURING_READ, "{} was replaced while it was read: its etag is another now",
             path);
    if (failure.code == "NoSuchKey" || (reply.status == 404 && failure.code != "NoSuchBucket"))
        fail(ErrorCode::FILE_DOESNT_EXIST, "{} does not exist", path);
    std::string why = failure.code.empty() ? "" : fmt::format("{}: {} ", failure.code, failure.message);
    if (reply.status == 403 && failure.code.empty()) why = "access denied ";
    const std::string tries = reply.attempts > 1 ? fmt::format(", {} tries", reply.attempts) : "";
    fail(ErrorCode::S3_ERROR, "Cannot {} {}: {}(HTTP status {}{})", doing, path, why, reply.status, tries);
}

void S3Store::count_read(uint64_t bytes, uint64_t microseconds) const {
    count_event(ProfileEvent::ReadBufferFromS3Bytes, bytes);
    count_event(ProfileEvent::ReadBufferFromS3Microseconds, microseconds);
}

std::string S3Store::shown_path(std::string_view path) const {
    const S3Object object = split_s3_path(path);
    return object.bucket + "/" + object.key;
}

std::optional<ObjectInfo> S3Store::try_stat(std::string_view path) const {
    count_event(ProfileEvent::S3HeadObject);
    const HttpReply reply = send(request("HEAD", split_s3_path(path)), path, "look at");
    if (reply.status == 404) return std::nullopt;
    if (!reply.ok()) fail_reply(reply, path, "look at");
    return info_of(path, reply);
}

void S3Store::list_page(const S3Object& folder, bool recursive, std::string& token,
                        std::vector<ObjectInfo>& out) const {
    std::string query = fmt::format("list-type=2&max-keys={}&encoding-type=url", options_.list_page);
    if (!folder.key.empty()) query += "&prefix=" + percent_encode(folder.key);
    if (!recursive) query += "&delimiter=%2F";
    if (!token.empty()) query += "&continuation-token=" + percent_encode(token);
    count_event(ProfileEvent::S3ListObjects);
    const std::string path = path_of(folder);
    const HttpReply reply = send(request("GET", {folder.bucket, ""}, query), path, "list");
    if (reply.status == 404 && failure_of(reply).code == "NoSuchKey") return;
    if (!reply.ok()) fail_reply(reply, path, "list");
    const XmlElement root = parse_xml(reply.body, path);
    const bool encoded = root.child_text("EncodingType") == "url";
    for (const XmlElement& child : root.children) {
        if (child.name != "Contents") continue;
        const std::string_view text = child.child_text("Key");
        const std::string key = encoded ? percent_decode(text) : std::string(text);
        if (key.empty() || key.back() == '/') continue;  // a folder's mark
        ObjectInfo info;
        info.path = path_of({folder.bucket, key});
        info.size = std::strtoull(std::string(child.child_text("Size")).c_str(), nullptr, 10);
        info.modified_us = iso_date_us(child.child_text("LastModified"));
        info.etag = child.child_text("ETag");
        // Some services list without the quotation marks that belong to it.
        if (!info.etag.empty() && !info.etag.ends_with('"')) info.etag = "\"" + info.etag + "\"";
        out.push_back(std::move(info));
    }
    const std::string next(root.child_text("NextContinuationToken"));
    if (root.child_text("IsTruncated") != "true") {
        token.clear();
    } else if (next.empty() || next == token) {
        fail(ErrorCode::S3_ERROR, "Cannot list {}: the service says that there is more, but not where", path);
    } else {
        token = next;
    }
}

std::vector<ObjectInfo> S3Store::list(std::string_view prefix, bool recursive) const {
    S3Object folder = split_s3_path(prefix);
    if (!folder.key.empty() && folder.key.back() != '/') folder.key += '/';
    std::vector<ObjectInfo> out;
    std::string token;
    do {
        check_cancelled();
        list_page(folder, recursive, token, out);
    } while (!token.empty());
    std::sort(out.begin(), out.end(), [](const ObjectInfo& a, const ObjectInfo& b) { return a.path < b.path; });
    return out;
}

}  // namespace firn::storage
