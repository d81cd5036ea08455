// S3Store's writing: single puts, uploads in parts, conditional puts, removing.
#include <algorithm>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/s3_store.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"

namespace firn::storage {

namespace {

constexpr size_t kPartsInFlight = 8;
constexpr size_t kDeleteBatch = 1000;
constexpr uint64_t kMaxParts = 10'000;

std::string xml_escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                if (static_cast<uint8_t>(c) < 0x20) {
                    out += fmt::format("&#{};", static_cast<int>(c));
                } else {
                    out += c;
                }
        }
    }
    return out;
}

/// Whether a conditional put lost: there is an object, or another writer was at it at the same moment.
bool lost(const HttpReply& reply) { return reply.status == 412 || reply.status == 409; }

}  // namespace

/// A put that was repeated may have failed on what its own first try wrote.
bool S3Store::was_ours(std::string_view path, std::span<const uint8_t> bytes) const {
    const std::string there = read_all(path, bytes.size() + 1);
    return there.size() == bytes.size() && std::equal(there.begin(), there.end(), bytes.begin(),
                                                      [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

bool S3Store::upload(std::string_view path, std::span<const uint8_t> bytes, bool only_if_absent) {
    count_event(ProfileEvent::WriteBufferFromS3Bytes, bytes.size());
    if (bytes.size() > options_.part_bytes * 2) return upload_parts(path, bytes, only_if_absent);
    HttpRequest put = request("PUT", split_s3_path(path));
    put.body_view = bytes;
    if (only_if_absent) put.headers.set("If-None-Match", "*");
    count_event(ProfileEvent::S3PutObject);
    const HttpReply reply = send(std::move(put), path, "write");
    if (only_if_absent && lost(reply)) return reply.attempts > 1 && was_ours(path, bytes);
    if (!reply.ok()) fail_reply(reply, path, "write");
    return true;
}

bool S3Store::upload_parts(std::string_view path, std::span<const uint8_t> bytes, bool only_if_absent) {
    const S3Object object = split_s3_path(path);
    HttpRequest create = request("POST", object, "uploads=");
    create.repeatable = true;
    count_event(ProfileEvent::S3CreateMultipartUpload);
    const HttpReply created = send(std::move(create), path, "write");
    if (!created.ok()) fail_reply(created, path, "write");
    const std::string upload_id(parse_xml(created.body, path).child_text("UploadId"));
    if (upload_id.empty()) fail(ErrorCode::S3_ERROR, "Cannot write {}: the service gave no UploadId", path);
    const std::string id_query = "uploadId=" + percent_encode(upload_id);
    try {
        const uint64_t part_bytes = std::max(options_.part_bytes, bytes.size() / kMaxParts + 1);
        const size_t parts = (bytes.size() + part_bytes - 1) / part_bytes;
        std::vector<std::unique_ptr<HttpExchange>> exchanges(parts);
        std::string list = "<CompleteMultipartUpload>";
        const auto begin_part = [&](size_t i) {
            HttpRequest put = request("PUT", object, fmt::format("partNumber={}&{}", i + 1, id_query));
            put.body_view = bytes.subspan(i * part_bytes, std::min<size_t>(part_bytes, bytes.size() - i * part_bytes));
            count_event(ProfileEvent::S3UploadPart);
            exchanges[i] = start(std::move(put));
        };
        for (size_t i = 0; i < std::min(parts, kPartsInFlight); ++i) begin_part(i);
        for (size_t i = 0; i < parts; ++i) {
            const HttpReply reply = finish(*exchanges[i], path, "write");
            if (!reply.ok()) fail_reply(reply, path, "write");
            exchanges[i].reset();
            if (i + kPartsInFlight < parts) begin_part(i + kPartsInFlight);
            list += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1,
                                xml_escape(reply.headers.get("etag").value_or("")));
        }
        HttpRequest complete = request("POST", object, id_query);
        complete.body = list + "</CompleteMultipartUpload>";
        if (only_if_absent) complete.headers.set("If-None-Match", "*");
        count_event(ProfileEvent::S3CompleteMultipartUpload);
        const HttpReply reply = send(std::move(complete), path, "write");
        // An error may come in a reply of status 200 here.
        const bool failed = !reply.ok() || parse_xml(reply.body, path).name == "Error";
        if (!failed) return true;
        if (!(only_if_absent && lost(reply))) fail_reply(reply, path, "write");
    } catch (...) {
        count_event(ProfileEvent::S3AbortMultipartUpload);
        try {
            send(request("DELETE", object, id_query), path, "give up writing");
        } catch (const Error&) {
            // the first error is the one to tell; a bucket's rules clean up what is left
        }
        throw;
    }
    count_event(ProfileEvent::S3AbortMultipartUpload);
    send(request("DELETE", object, id_query), path, "give up writing");
    return false;
}

void S3Store::put(std::string_view path, std::span<const uint8_t> bytes) { upload(path, bytes, false); }

bool S3Store::put_if_absent(std::string_view path, std::span<const uint8_t> bytes) { return upload(path, bytes, true); }

bool S3Store::remove(std::string_view path) {
    if (!try_stat(path)) return false;  // the service does not say whether there was one
    count_event(ProfileEvent::S3DeleteObjects);
    const HttpReply reply = send(request("DELETE", split_s3_path(path)), path, "remove");
    if (!reply.ok() && reply.status != 404) fail_reply(reply, path, "remove");
    return true;
}

void S3Store::remove_all(std::span<const std::string> paths) {
    std::map<std::string, std::vector<std::string>> by_bucket;
    for (const std::string& path : paths) {
        S3Object object = split_s3_path(path);
        by_bucket[object.bucket].push_back(std::move(object.key));
    }
    for (const auto& [bucket, keys] : by_bucket) {
        for (size_t begin = 0; begin < keys.size(); begin += kDeleteBatch) {
            std::string body = "<Delete><Quiet>true</Quiet>";
            for (size_t i = begin; i < std::min(keys.size(), begin + kDeleteBatch); ++i)
                body += "<Object><Key>" + xml_escape(keys[i]) + "</Key></Object>";
            body += "</Delete>";
            HttpRequest post = request("POST", {bucket, ""}, "delete=");
            post.headers.set("Content-MD5", base64_encode(md5(body)));
            post.body = std::move(body);
            post.repeatable = true;
            count_event(ProfileEvent::S3DeleteObjects);
            const std::string path = path_of({bucket, ""});
            const HttpReply reply = send(std::move(post), path, "remove objects of");
            if (!reply.ok()) fail_reply(reply, path, "remove objects of");
            const XmlElement root = parse_xml(reply.body, path);
            if (const XmlElement* error = root.child("Error")) {
                fail(ErrorCode::S3_ERROR, "Cannot remove {}: {}: {}",
                     path_of({bucket, std::string(error->child_text("Key"))}), error->child_text("Code"),
                     error->child_text("Message"));
            }
        }
    }
}

}  // namespace firn::storage
