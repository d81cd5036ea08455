#include "firn/table/disk.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/storage/url.h"

namespace firn::table {
namespace {

Disk::Kind kind_of(const std::string& type, const std::string& disk) {
    if (type == "local" || type == "local_blob_storage") return Disk::Kind::Local;
    if (type == "s3" || type == "s3_plain" || type == "s3_plain_rewritable") return Disk::Kind::S3;
    if (type == "azure_blob_storage" || type == "azure") return Disk::Kind::Azure;
    if (type == "hdfs") return Disk::Kind::Hdfs;
    fail(ErrorCode::BAD_ARGUMENTS, "Disk {} has the type '{}'; known are local, s3, azure_blob_storage and hdfs", disk,
         type);
}

bool climbs_out(std::string_view path) {
    int depth = 0;
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        if (part == "..")
            --depth;
        else if (!part.empty() && part != ".")
            ++depth;
        if (depth < 0) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

Disk Disk::of(const storage::ConfigurationNode& node) {
    Disk disk;
    disk.name = node.name;
    for (const auto& child : node.children) disk.options[child.name] = child.text;
    std::string type = node.child_text("type", "local");
    if (type == "object_storage") type = node.child_text("object_storage_type", "local");
    disk.kind = kind_of(type, disk.name);
    if (disk.root().empty())
        fail(ErrorCode::BAD_ARGUMENTS, "Disk {} needs <{}>", disk.name, disk.kind == Kind::Local ? "path" : "endpoint");
    return disk;
}

std::string Disk::table_function() const {
    switch (kind) {
        case Kind::Local:
            return "icebergLocal";
        case Kind::S3:
            return "icebergS3";
        case Kind::Azure:
            return "icebergAzure";
        case Kind::Hdfs:
            return "icebergHDFS";
    }
    return "";
}

const std::string& Disk::root() const {
    static const std::string none;
    const auto find = [&](std::string_view key) -> const std::string& {
        const auto found = options.find(key);
        return found == options.end() ? none : found->second;
    };
    if (kind == Kind::Local) return find("path");
    if (kind == Kind::Azure && find("endpoint").empty()) return find("storage_account_url");
    return find("endpoint");
}

std::string_view Disk::relative(std::string_view path) const {
    const std::string_view given = path;
    std::string_view whole = root();
    while (whole.ends_with('/')) whole.remove_suffix(1);
    // A whole path below the root may be given too.
    if (path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '/'))
        path.remove_prefix(whole.size());
    // Addresses of services are decoded later.
    if (climbs_out(path) || (kind != Kind::Local && climbs_out(storage::percent_decode(path))))
        fail(ErrorCode::BAD_ARGUMENTS, "Path '{}' is not inside disk {}", given, name);
    while (path.starts_with('/')) path.remove_prefix(1);
    return path;
}

std::string Disk::inside(std::string_view path) const {
    path = relative(path);
    std::string whole = root();
    if (path.empty()) return whole;
    if (!whole.ends_with('/')) whole += '/';
    return whole.append(path);
}

}  // namespace firn::table
