// HDFS through WebHDFS: no JVM, no library of Hadoop's.
//
// Paths are "hdfs://namenode:port/path" or "webhdfs://namenode:port/path" (swebhdfs: over TLS). An hdfs:// address names
// the RPC port; the HTTP address is that of HADOOP_CONF_DIR's dfs.namenode.http-address, else the same host's port 9870.
// Errors: FILE_DOESNT_EXIST, HDFS_ERROR.
#pragma once

#include <atomic>

#include "firn/storage/remote_store.h"

namespace firn::storage {

struct HdfsOptions {
    /// "http://namenode:9870"; several where there are standby nodes: the next is asked where one is not active or does not
    /// answer. Empty: found from the path.
    std::vector<std::string> endpoints;
    std::string user;              ///< user.name of requests; empty: HADOOP_USER_NAME, else the process's user
    std::string delegation_token;  ///< instead of a user; empty: HADOOP_DELEGATION_TOKEN
    HttpOptions http;
};

/// HTTP addresses of the name nodes of an hdfs:// or (s)webhdfs:// path.
std::vector<std::string> webhdfs_endpoints(std::string_view path);

class HdfsStore final : public RemoteStore {
public:
    explicit HdfsStore(HdfsOptions options, std::string identity = {});

    std::optional<ObjectInfo> try_stat(std::string_view path) const override;
    std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const override;
    void put(std::string_view path, std::span<const uint8_t> bytes) override;
    bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) override;
    bool remove(std::string_view path) override;

    HttpRequest read_request(std::string_view path, std::optional<ByteRange> range,
                             std::string_view etag) const override;
    [[noreturn]] void fail_reply(const HttpReply& reply, std::string_view path, std::string_view doing) const override;
    void count_read(uint64_t bytes, uint64_t microseconds) const override;
    ErrorCode error_code() const override { return ErrorCode::HDFS_ERROR; }
    std::string service() const override { return "hdfs " + options_.endpoints[0] + " " + options_.user; }

private:
    HttpRequest request(std::string method, std::string_view path, std::string_view operation) const;
    void list_folder(const std::string& folder, bool recursive, int depth, std::vector<ObjectInfo>& out) const;
    void drop_temporary(const std::string& temporary) noexcept;
    std::string write_temporary(std::string_view path, std::span<const uint8_t> bytes);
    bool rename(const std::string& from, std::string_view to, bool overwrite);

    HdfsOptions options_;
    mutable std::atomic<size_t> active_{0};  ///< the endpoint that answered last
};

}  // namespace firn::storage
