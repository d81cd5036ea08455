#include "firn/storage/azure_store.h"

#include <algorithm>
#include <ctime>
#include <map>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/aws_signature.h"
#include "firn/storage/renewal.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"

namespace firn::storage {

namespace {

constexpr std::string_view kApiVersion = "2021-12-02";
constexpr size_t kBlocksInFlight = 8;
constexpr size_t kDeletesInFlight = 32;

std::string code_of(const HttpReply& reply) {
    if (const auto code = reply.headers.get("x-ms-error-code")) return std::string(*code);
    try {
        return std::string(parse_xml(reply.body, "Azure reply").child_text("Code"));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

AzureBlob split_azure_path(std::string_view path) {
    const Url url = parse_url(path);
    // Names are as they stand: nothing in them is percent-encoded.
    std::string_view rest = path.substr(path.find("://") + 3);
    const size_t slash = std::min(rest.find('/'), rest.size());
    AzureBlob out;
    std::string authority(rest.substr(0, slash));
    if (const size_t at = authority.find('@'); at != std::string::npos) {
        out.account = authority.substr(at + 1, authority.find('.', at) - at - 1);
        authority.resize(at);
    }
    out.container = authority;
    out.blob = rest.substr(std::min(slash + 1, rest.size()));
    if (out.container.empty())
        fail(ErrorCode::BAD_ARGUMENTS, "'{}' names no container: abfss://container@account.dfs.core.windows.net/path",
             shown_url(path));
    return out;
}

void apply_connection_string(std::string_view text, AzureOptions& options) {
    std::string protocol = "https", suffix = "core.windows.net";
    while (!text.empty()) {
        const size_t end = std::min(text.find(';'), text.size());
        const std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const size_t equals = part.find('=');
        if (equals == part.npos) continue;
        const std::string_view name = part.substr(0, equals), value = part.substr(equals + 1);
        if (name == "AccountName") options.account_name = value;
        if (name == "AccountKey") options.account_key = value;
        if (name == "BlobEndpoint") options.account_url = value;
        if (name == "SharedAccessSignature") options.sas_token = value;
        if (name == "DefaultEndpointsProtocol") protocol = value;
        if (name == "EndpointSuffix") suffix = value;
        if (name == "UseDevelopmentStorage" && value == "true") {
            options.account_name = "devstoreaccount1";
            options.account_key =
                "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
            options.account_url = "http://127.0.0.1:10000/devstoreaccount1";
        }
    }
    if (options.account_url.empty() && options.account_name.empty())
        fail(ErrorCode::BAD_ARGUMENTS, "The Azure connection string names neither AccountName nor BlobEndpoint");
    if (options.account_url.empty())
        options.account_url = fmt::format("{}://{}.blob.{}", protocol, options.account_name, suffix);
}

void sign_azure_shared_key(HttpRequest& request, std::string_view account, std::string_view key, int64_t unix_seconds) {
    const std::time_t seconds = unix_seconds;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char date[64];
    std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    request.headers.set("x-ms-date", date);
    const auto header = [&](const char* name) { return std::string(request.headers.get(name).value_or("")); };
    const size_t length = request.body_view.empty() ? request.body.size() : request.body_view.size();
    std::string text = request.method + "\n";
    text += header("Content-Encoding") + "\n" + header("Content-Language") + "\n";
    text += (length ? std::to_string(length) : "") + "\n";
    text += header("Content-MD5") + "\n" + header("Content-Type") + "\n\n";  // Date: x-ms-date stands for it
    text += header("If-Modified-Since") + "\n" + header("If-Match") + "\n" + header("If-None-Match") + "\n";
    text += header("If-Unmodified-Since") + "\n" + header("Range") + "\n";
    std::map<std::string, std::string> own;
    for (const auto& [name, value] : request.headers) {
        std::string lowered(name);
        std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        if (lowered.starts_with("x-ms-")) own[lowered] = value;
    }
    for (const auto& [name, value] : own) text += name + ":" + value + "\n";
    const Url url = parse_url(request.url);
    text += fmt::format("/{}{}", account, url.path);
    std::map<std::string, std::string> parameters;
    std::string_view query = url.query;
    while (!query.empty()) {
        const size_t end = std::min(query.find('&'), query.size());
        const std::string_view one = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        const size_t equals = std::min(one.find('='), one.size());
        parameters[percent_decode(one.substr(0, equals))] =
            percent_decode(one.substr(std::min(equals + 1, one.size())));
    }
    for (const auto& [name, value] : parameters) text += "\n" + name + ":" + value;
    request.headers.set("Authorization",
                        fmt::format("SharedKey {}:{}", account, base64_encode(hmac_sha256(key, text))));
}

AzureStore::AzureStore(AzureOptions options, std::string identity)
    : RemoteStore(options.http, std::move(identity)), options_(std::move(options)) {
    while (options_.account_url.ends_with('/')) options_.account_url.pop_back();
    while (options_.sas_token.starts_with('?')) options_.sas_token.erase(0, 1);
    if (options_.account_url.empty() && options_.account_name.empty())
        fail(ErrorCode::BAD_ARGUMENTS, "Azure storage needs an account: its URL, its name or a connection string");
    if (options_.account_url.empty())
        options_.account_url = fmt::format("https://{}.blob.core.windows.net", options_.account_name);
    if (options_.account_name.empty()) {
        const Url url = parse_url(options_.account_url);
        options_.account_name = url.path.size() > 1 ? url.path.substr(1) : url.host.substr(0, url.host.find('.'));
    }
    if (!options_.account_key.empty()) key_ = base64_decode(options_.account_key);
}

std::string AzureStore::account_url(const std::string& account) const {
    if (account.empty() || account == options_.account_name) return options_.account_url;
    // Keys are of one account; a token may serve several.
    if (!key_.empty() || !options_.sas_token.empty() || options_.token_is_sas)
        fail(ErrorCode::ACCESS_DENIED, "Azure account '{}' is not '{}', for which there are credentials", account,
             options_.account_name);
    return fmt::format("https://{}.blob.core.windows.net", account);
}

void AzureStore::authorize(HttpRequest& request) const {
    if (!key_.empty()) {
        sign_azure_shared_key(request, options_.account_name, key_, std::time(nullptr));
        return;
    }
    if (!options_.sas_token.empty() || !options_.token) return;
    std::lock_guard lock(mutex_);
    if ((token_.bearer.empty() && token_.sas.empty()) || (token_.expires_s && std::time(nullptr) >= renew_at_s_)) {
        token_ = options_.token();
        renew_at_s_ = renewal_s(token_.expires_s);
    }
    if (!token_.sas.empty()) request.url += (request.url.find('?') == std::string::npos ? "?" : "&") + token_.sas;
    if (!token_.bearer.empty()) request.headers.set("Authorization", "Bearer " + token_.bearer);
}

HttpRequest AzureStore::request(std::string method, std::string_view path, std::string query, bool of_container) const {
    const AzureBlob blob = split_azure_path(path);
    HttpRequest request;
    request.method = std::move(method);
    request.url = account_url(blob.account) + "/" + percent_encode(blob.container);
    if (!of_container) request.url += "/" + percent_encode(blob.blob, true);
    if (key_.empty() && !options_.sas_token.empty()) query += (query.empty() ? "" : "&") + options_.sas_token;
    if (!query.empty()) request.url += "?" + query;
    request.headers.set("x-ms-version", kApiVersion);
    const auto self = std::static_pointer_cast<const AzureStore>(shared_from_this());
    request.before_attempt = [self, url = request.url](HttpRequest& r, unsigned) {
        r.url = url;
        self->authorize(r);
    };
    return request;
}

HttpRequest AzureStore::read_request(std::string_view path, std::optional<ByteRange> range,
                                     std::string_view etag) const {
    HttpRequest out = request("GET", path);
    if (range) out.headers.set("Range", fmt::format("bytes={}-{}", range->offset, range->offset + range->length - 1));
    if (!etag.empty()) out.headers.set("If-Match", etag);
    count_event(ProfileEvent::AzureGetObject);
    return out;
}

void AzureStore::fail_reply(const HttpReply& reply, std::string_view path, std::string_view doing) const {
    const std::string code = code_of(reply);
    if (reply.status == 412)
        fail(ErrorCode::S3_OBJECT_CHANGED_DURING_READ, "{} was replaced while it was read: its etag is another now",
             path);
    if (reply.status == 404 && code != "ContainerNotFound" && code != "ResourceNotFound")
        fail(ErrorCode::FILE_DOESNT_EXIST, "{} does not exist", path);
    std::string message;
    try {
        message = parse_xml(reply.body, "Azure reply").child_text("Message");
        message = message.substr(0, message.find('\n'));
    } catch (const Error&) {
        // the code and the status say it
    }
    fail(ErrorCode::AZURE_BLOB_STORAGE_ERROR, "Cannot {} {}: {} {} (HTTP status {}{})", doing, path, code, message,
         reply.status, reply.attempts > 1 ? fmt::format(", {} tries", reply.attempts) : "");
}

void AzureStore::count_read(uint64_t bytes, uint64_t microseconds) const {
    count_event(ProfileEvent::ReadBufferFromAzureBytes, bytes);
    count_event(ProfileEvent::ReadBufferFromAzureMicroseconds, microseconds);
}

std::string AzureStore::shown_path(std::string_view path) const {
    const AzureBlob blob = split_azure_path(path);
    return blob.container + "/" + blob.blob;
}

std::optional<ObjectInfo> AzureStore::try_stat(std::string_view path) const {
    count_event(ProfileEvent::AzureGetProperties);
    const HttpReply reply = send(request("HEAD", path), path, "look at");
    if (reply.status == 404) return std::nullopt;
    if (!reply.ok()) fail_reply(reply, path, "look at");
    return info_of(path, reply);
}

std::vector<ObjectInfo> AzureStore::list(std::string_view prefix, bool recursive) const {
    std::string folder = split_azure_path(prefix).blob;
    if (!folder.empty() && folder.back() != '/') folder += '/';
    const std::string root(prefix.substr(0, prefix.find('/', prefix.find("://") + 3)));
    std::vector<ObjectInfo> out;
    std::string marker;
    do {
        check_cancelled();
        std::string query = "restype=container&comp=list&include=metadata";
        if (!folder.empty()) query += "&prefix=" + percent_encode(folder);
        if (!recursive) query += "&delimiter=%2F";
        if (!marker.empty()) query += "&marker=" + percent_encode(marker);
        count_event(ProfileEvent::AzureListObjects);
        const HttpReply reply = send(request("GET", prefix, query, true), prefix, "list");
        if (!reply.ok()) fail_reply(reply, prefix, "list");
        const XmlElement page = parse_xml(reply.body, prefix);
        const XmlElement* blobs = page.child("Blobs");
        if (!blobs) fail(ErrorCode::AZURE_BLOB_STORAGE_ERROR, "Cannot list {}: the reply is no list of blobs", prefix);
        for (const XmlElement& blob : blobs->children) {
            if (blob.name != "Blob") continue;
            const XmlElement* properties = blob.child("Properties");
            const XmlElement* metadata = blob.child("Metadata");
            // Folders of a hierarchical account are blobs of no bytes.
            if (metadata && metadata->child_text("hdi_isfolder") == "true") continue;
            if (!properties || properties->child_text("ResourceType") == "directory") continue;
            ObjectInfo info;
            info.path = root + "/" + std::string(blob.child_text("Name"));
            info.size = std::strtoull(std::string(properties->child_text("Content-Length")).c_str(), nullptr, 10);
            info.modified_us = http_date_us(properties->child_text("Last-Modified"));
            info.etag = properties->child_text("Etag");
            if (!info.etag.empty() && info.etag[0] != '"') info.etag = "\"" + info.etag + "\"";  // as GET spells it
            out.push_back(std::move(info));
        }
        const std::string next(page.child_text("NextMarker"));
        if (!next.empty() && next == marker)
            fail(ErrorCode::AZURE_BLOB_STORAGE_ERROR, "Cannot list {}: the service gives one page again and again",
                 prefix);
        marker = next;
    } while (!marker.empty());
    std::sort(out.begin(), out.end(), [](const ObjectInfo& a, const ObjectInfo& b) { return a.path < b.path; });
    return out;
}

void AzureStore::upload_blocks(std::string_view path, std::span<const uint8_t> bytes, std::string& list) {
    const size_t blocks = (bytes.size() + options_.block_bytes - 1) / options_.block_bytes;
    std::vector<std::unique_ptr<HttpExchange>> exchanges(blocks);
    const auto begin_block = [&](size_t i) {
        const std::string id = base64_encode(fmt::format("block{:08}", i));
        list += "<Latest>" + id + "</Latest>";
        HttpRequest put = request("PUT", path, "comp=block&blockid=" + percent_encode(id));
        put.body_view = bytes.subspan(i * options_.block_bytes,
                                      std::min<size_t>(options_.block_bytes, bytes.size() - i * options_.block_bytes));
        exchanges[i] = start(std::move(put));
    };
    for (size_t i = 0; i < std::min(blocks, kBlocksInFlight); ++i) begin_block(i);
    for (size_t i = 0; i < blocks; ++i) {
        const HttpReply reply = finish(*exchanges[i], path, "write");
        if (!reply.ok()) fail_reply(reply, path, "write");
        exchanges[i].reset();
        if (i + kBlocksInFlight < blocks) begin_block(i + kBlocksInFlight);
    }
}

bool AzureStore::upload(std::string_view path, std::span<const uint8_t> bytes, bool only_if_absent) {
    std::string list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    HttpRequest put;
    if (bytes.size() <= options_.block_bytes * 2) {
        put = request("PUT", path);
        put.headers.set("x-ms-blob-type", "BlockBlob");
        put.headers.set("Content-Type", "application/octet-stream");
        put.body_view = bytes;
    } else {
        upload_blocks(path, bytes, list);
        put = request("PUT", path, "comp=blocklist");
        put.headers.set("Content-Type", "text/plain; charset=UTF-8");
        put.body = list + "</BlockList>";
    }
    if (only_if_absent) put.headers.set("If-None-Match", "*");
    count_event(ProfileEvent::AzureUpload);
    const HttpReply reply = send(std::move(put), path, "write");
    if (only_if_absent && (reply.status == 409 || reply.status == 412)) {
        if (reply.attempts < 2) return false;
        // The first try may have written what the second found.
        const std::string there = read_all(path, bytes.size() + 1);
        return std::equal(there.begin(), there.end(), bytes.begin(), bytes.end(),
                          [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
    }
    if (!reply.ok()) fail_reply(reply, path, "write");
    return true;
}

void AzureStore::put(std::string_view path, std::span<const uint8_t> bytes) { upload(path, bytes, false); }

bool AzureStore::put_if_absent(std::string_view path, std::span<const uint8_t> bytes) {
    return upload(path, bytes, true);
}

bool AzureStore::remove(std::string_view path) {
    count_event(ProfileEvent::AzureDeleteObjects);
    const HttpReply reply = send(request("DELETE", path), path, "remove");
    if (reply.status == 404) return reply.attempts > 1;
    if (!reply.ok()) fail_reply(reply, path, "remove");
    return true;
}

void AzureStore::remove_all(std::span<const std::string> paths) {
    std::vector<std::unique_ptr<HttpExchange>> exchanges(paths.size());
    const auto begin = [&](size_t i) {
        count_event(ProfileEvent::AzureDeleteObjects);
        exchanges[i] = start(request("DELETE", paths[i]));
    };
    for (size_t i = 0; i < std::min(paths.size(), kDeletesInFlight); ++i) begin(i);
    for (size_t i = 0; i < paths.size(); ++i) {
        const HttpReply reply = finish(*exchanges[i], paths[i], "remove");
        if (!reply.ok() && reply.status != 404) fail_reply(reply, paths[i], "remove");
        exchanges[i].reset();
        if (i + kDeletesInFlight < paths.size()) begin(i + kDeletesInFlight);
    }
}

}  // namespace firn::storage
