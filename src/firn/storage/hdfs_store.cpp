#include "firn/storage/hdfs_store.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <simdjson.h>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/storage/url.h"
#include "firn/storage/xml.h"

namespace firn::storage {

namespace {

constexpr int kMaxFolderDepth = 200;
constexpr unsigned kHttpPort = 9870;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// A property of HADOOP_CONF_DIR's hdfs-site.xml or core-site.xml; empty where it is not set.
std::string hadoop_property(const std::string& name) {
    std::string folder = environment("HADOOP_CONF_DIR");
    if (folder.empty() && !environment("HADOOP_HOME").empty()) folder = environment("HADOOP_HOME") + "/etc/hadoop";
    if (folder.empty()) return {};
    for (const char* file : {"/hdfs-site.xml", "/core-site.xml"}) {
        std::ifstream in(folder + file, std::ios::binary);
        if (!in) continue;
        std::stringstream text;
        text << in.rdbuf();
        const XmlElement root = parse_xml(text.str(), folder + file);
        for (const XmlElement& property : root.children) {
            if (property.child_text("name") == name) return std::string(property.child_text("value"));
        }
    }
    return {};
}

struct RemoteFailure {
    std::string exception;
    std::string message;
};

RemoteFailure failure_of(const HttpReply& reply) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    RemoteFailure out;
    if (parser.parse(reply.body).get(root) != simdjson::SUCCESS) return out;
    std::string_view text;
    if (root["RemoteException"]["exception"].get(text) == simdjson::SUCCESS) out.exception = text;
    if (root["RemoteException"]["message"].get(text) == simdjson::SUCCESS)
        out.message = text.substr(0, text.find('\n'));
    return out;
}

std::string text_of(simdjson::dom::element object, const char* key) {
    std::string_view text;
    return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

int64_t number_of(simdjson::dom::element object, const char* key) {
    int64_t value = 0;
    return object[key].get(value) == simdjson::SUCCESS ? value : 0;
}

ObjectInfo info_of_status(std::string path, simdjson::dom::element status) {
    constexpr int64_t kMicros = 1000;
    ObjectInfo info;
    info.path = std::move(path);
    info.size = static_cast<uint64_t>(std::max<int64_t>(0, number_of(status, "length")));
    info.modified_us = number_of(status, "modificationTime") * kMicros;
    info.etag = fmt::format("{}-{}-{}", number_of(status, "fileId"), info.size, number_of(status, "modificationTime"));
    return info;
}

/// What follows the authority, with its slash.
std::string_view path_inside(std::string_view path) {
    const size_t scheme = path.find("://");
    if (scheme == path.npos) return path;
    const size_t slash = path.find('/', scheme + 3);
    return slash == path.npos ? std::string_view("/") : path.substr(slash);
}

}  // namespace

std::vector<std::string> webhdfs_endpoints(std::string_view path) {
    const Url url = parse_url(path);
    if (url.scheme == "webhdfs" || url.scheme == "http")
        return {fmt::format("http://{}:{}", url.host, url.port ? url.port : kHttpPort)};
    if (url.scheme == "swebhdfs" || url.scheme == "https")
        return {fmt::format("https://{}:{}", url.host, url.port ? url.port : kHttpPort + 1)};
    if (hadoop_property("dfs.webhdfs.enabled") == "false")
        fail(ErrorCode::NOT_IMPLEMENTED,
             "HADOOP_CONF_DIR says dfs.webhdfs.enabled = false, and firn reads {} through WebHDFS only: it has neither "
             "Hadoop's own protocol nor libhdfs",
             path);
    std::string host = url.host;
    if (host.empty()) {
        const std::string fs = hadoop_property("fs.defaultFS");
        if (fs.empty())
            fail(ErrorCode::BAD_ARGUMENTS,
                 "'{}' names no name node, and HADOOP_CONF_DIR's core-site.xml no fs.defaultFS", path);
        host = parse_url(fs).host;
    }
    std::vector<std::string> out;
    if (const std::string nodes = hadoop_property("dfs.ha.namenodes." + host); !nodes.empty()) {
        std::istringstream names(nodes);
        for (std::string node; std::getline(names, node, ',');) {
            const std::string address = hadoop_property(fmt::format("dfs.namenode.http-address.{}.{}", host, node));
            if (!address.empty()) out.push_back("http://" + address);
        }
        if (!out.empty()) return out;
    }
    if (std::string address = hadoop_property("dfs.namenode.http-address"); !address.empty()) {
        // "0.0.0.0:9870" is what the node listens on, not where it is.
        if (address.starts_with("0.0.0.0")) address.replace(0, 7, host);
        return {"http://" + address};
    }
    return {fmt::format("http://{}:{}", host, kHttpPort)};
}

HdfsStore::HdfsStore(HdfsOptions options, std::string identity)
    : RemoteStore(options.http, std::move(identity)), options_(std::move(options)) {
    if (options_.endpoints.empty()) fail(ErrorCode::BAD_ARGUMENTS, "HDFS needs the address of a name node");
    if (options_.delegation_token.empty()) options_.delegation_token = environment("HADOOP_DELEGATION_TOKEN");
    if (options_.delegation_token.empty() && hadoop_property("hadoop.security.authentication") == "kerberos")
        fail(
            ErrorCode::NOT_IMPLEMENTED,
            "HADOOP_CONF_DIR says that HDFS at {} wants Kerberos, which firn does not speak: a delegation token may be "
            "given, by delegation_token = '…' or HADOOP_DELEGATION_TOKEN",
            options_.endpoints[0]);
    if (options_.user.empty()) options_.user = environment("HADOOP_USER_NAME");
    if (options_.user.empty()) {
        const passwd* entry = ::getpwuid(::geteuid());
        options_.user = entry ? entry->pw_name : "hdfs";
    }
}

HttpRequest HdfsStore::request(std::string method, std::string_view path, std::string_view operation) const {
    HttpRequest request;
    request.method = std::move(method);
    const std::string who = options_.delegation_token.empty()
                                ? "user.name=" + percent_encode(options_.user)
                                : "delegation=" + percent_encode(options_.delegation_token);
    const std::string rest =
        fmt::format("/webhdfs/v1{}?op={}&{}", percent_encode(path_inside(path), true), operation, who);
    request.redirects = 3;
    struct Asked {
        size_t node = 0;
        unsigned on_standby = 0;  // replies that said so
    };
    const auto self = std::static_pointer_cast<const HdfsStore>(shared_from_this());
    const auto asked = std::make_shared<Asked>();
    // Of many requests that meet the same node the first alone turns to the next.
    const auto turn = [self, asked] {
        size_t met = asked->node;
        self->active_.compare_exchange_strong(met, met + 1);
    };
    request.before_attempt = [self, asked, rest](HttpRequest& r, unsigned) {
        asked->node = self->active_;
        r.url = self->options_.endpoints[asked->node % self->options_.endpoints.size()] + rest;
    };
    request.retry_reply = [self, asked, turn](const HttpReply& reply, unsigned) {
        constexpr size_t kRounds = 3;  // others may turn in between, and back
        if (reply.status != 403 || asked->on_standby >= kRounds * self->options_.endpoints.size()) return false;
        if (failure_of(reply).exception != "StandbyException") return false;
        ++asked->on_standby;
        turn();
        return true;
    };
    request.no_reply = turn;
    return request;
}

HttpRequest HdfsStore::read_request(std::string_view path, std::optional<ByteRange> range, std::string_view) const {
    count_event(ProfileEvent::HDFSOpenRequests);
    // A part of a file is asked for by the query and comes as a reply of its own: 200, not 206.
    return request("GET", path,
                   range ? fmt::format("OPEN&offset={}&length={}", range->offset, range->length) : std::string("OPEN"));
}

void HdfsStore::fail_reply(const HttpReply& reply, std::string_view path, std::string_view doing) const {
    const RemoteFailure failure = failure_of(reply);
    if (reply.status == 404 || failure.exception == "FileNotFoundException")
        fail(ErrorCode::FILE_DOESNT_EXIST, "{} does not exist", path);
    if (reply.status == 401 && options_.delegation_token.empty())
        fail(ErrorCode::NOT_IMPLEMENTED,
             "Cannot {} {}: the name node wants Kerberos, which firn does not speak; a delegation token may be given",
             doing, path);
    fail(ErrorCode::HDFS_ERROR, "Cannot {} {}: {} {} (HTTP status {})", doing, path, failure.exception, failure.message,
         reply.status);
}

void HdfsStore::count_read(uint64_t bytes, uint64_t) const {
    count_event(ProfileEvent::ReadBufferFromHDFSBytes, bytes);
}

std::optional<ObjectInfo> HdfsStore::try_stat(std::string_view path) const {
    count_event(ProfileEvent::HDFSStatusRequests);
    const HttpReply reply = send(request("GET", path, "GETFILESTATUS"), path, "look at");
    if (reply.status == 404) return std::nullopt;
    if (!reply.ok()) fail_reply(reply, path, "look at");
    simdjson::dom::parser parser;
    simdjson::dom::element status;
    if (parser.parse(reply.body)["FileStatus"].get(status) != simdjson::SUCCESS)
        fail(ErrorCode::HDFS_ERROR, "Cannot look at {}: the reply is no FileStatus", path);
    if (text_of(status, "type") != "FILE") return std::nullopt;
    return info_of_status(std::string(path), status);
}

void HdfsStore::list_folder(const std::string& folder, bool recursive, int depth, std::vector<ObjectInfo>& out) const {
    if (depth > kMaxFolderDepth) fail(ErrorCode::TOO_DEEP_RECURSION, "Folder {} is nested too deep to list", folder);
    check_cancelled();
    count_event(ProfileEvent::HDFSStatusRequests);
    const HttpReply reply = send(request("GET", folder, "LISTSTATUS"), folder, "list");
    if (reply.status == 404) return;
    if (!reply.ok()) fail_reply(reply, folder, "list");
    simdjson::dom::parser parser;
    simdjson::dom::array entries;
    if (parser.parse(reply.body)["FileStatuses"]["FileStatus"].get(entries) != simdjson::SUCCESS)
        fail(ErrorCode::HDFS_ERROR, "Cannot list {}: the reply holds no FileStatuses", folder);
    for (const simdjson::dom::element entry : entries) {
        const std::string name = text_of(entry, "pathSuffix");
        if (name.empty()) continue;  // the path is a file itself
        std::string path = folder + (folder.ends_with('/') ? "" : "/") + name;
        if (text_of(entry, "type") == "FILE") {
            out.push_back(info_of_status(std::move(path), entry));
        } else if (recursive) {
            list_folder(path, recursive, depth + 1, out);
        }
    }
}

std::vector<ObjectInfo> HdfsStore::list(std::string_view prefix, bool recursive) const {
    std::vector<ObjectInfo> out;
    list_folder(std::string(prefix), recursive, 0, out);
    std::sort(out.begin(), out.end(), [](const ObjectInfo& a, const ObjectInfo& b) { return a.path < b.path; });
    return out;
}

std::string HdfsStore::write_temporary(std::string_view path, std::span<const uint8_t> bytes) {
    static std::atomic<uint64_t> counter{0};
    const size_t slash = path.rfind('/');
    const std::string temporary =
        fmt::format("{}/.firn-{}-{}.tmp", path.substr(0, slash), ::getpid(), counter.fetch_add(1));
    // The name node only says where: the bytes go to the data node that it names.
    HttpRequest create = request("PUT", temporary, "CREATE&overwrite=true&noredirect=true");
    create.redirects = 0;
    const HttpReply reply = send(std::move(create), path, "write");
    std::string location(reply.headers.get("location").value_or(""));
    if (location.empty() && reply.ok()) {
        simdjson::dom::parser parser;
        simdjson::dom::element root;
        if (parser.parse(reply.body).get(root) == simdjson::SUCCESS) location = text_of(root, "Location");
    }
    if (location.empty()) fail_reply(reply, path, "write");
    HttpRequest put;
    put.method = "PUT";
    put.url = location;
    put.body_view = bytes;
    put.headers.set("Content-Type", "application/octet-stream");
    try {
        const HttpReply written = send(std::move(put), path, "write");
        if (!written.ok()) fail_reply(written, path, "write");
    } catch (...) {
        drop_temporary(temporary);
        throw;
    }
    return temporary;
}

bool HdfsStore::rename(const std::string& from, std::string_view to, bool overwrite) {
    const HttpReply reply =
        send(request("PUT", from,
                     fmt::format("RENAME&destination={}&renameoptions={}", percent_encode(path_inside(to), true),
                                 overwrite ? "OVERWRITE" : "NONE")),
             to, "write");
    if (reply.ok()) return true;
    const RemoteFailure failure = failure_of(reply);
    if (!overwrite && failure.exception == "FileAlreadyExistsException") return false;
    // A rename that is repeated after a lost reply finds its source gone: the first try has done it.
    if (reply.attempts > 1 && failure.exception == "FileNotFoundException") return true;
    fail_reply(reply, to, "write");
}

void HdfsStore::put(std::string_view path, std::span<const uint8_t> bytes) {
    const std::string temporary = write_temporary(path, bytes);
    try {
        rename(temporary, path, true);
    } catch (...) {
        drop_temporary(temporary);
        throw;
    }
}

bool HdfsStore::put_if_absent(std::string_view path, std::span<const uint8_t> bytes) {
    const std::string temporary = write_temporary(path, bytes);
    bool renamed = false;
    try {
        renamed = rename(temporary, path, false);
    } catch (...) {
        drop_temporary(temporary);
        throw;
    }
    if (!renamed) drop_temporary(temporary);
    return renamed;
}

void HdfsStore::drop_temporary(const std::string& temporary) noexcept {
    try {
        remove(temporary);
    } catch (...) {  // what the write has to say matters more
    }
}

bool HdfsStore::remove(std::string_view path) {
    const HttpReply reply = send(request("DELETE", path, "DELETE"), path, "remove");
    if (reply.status == 404) return false;
    if (!reply.ok()) fail_reply(reply, path, "remove");
    return reply.body.find("true") != std::string::npos;
}

}  // namespace firn::storage
