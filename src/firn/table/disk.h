// Disks of the configuration: where SETTINGS disk = '…' reads from.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "firn/storage/configuration.h"

namespace firn::table {

struct Disk {
    enum class Kind : uint8_t { Local, S3, Azure, Hdfs };

    std::string name;
    Kind kind = Kind::Local;
    /// Its options as written: path, endpoint, access_key_id, secret_access_key, region, account_name …
    std::map<std::string, std::string, std::less<>> options;

    /// A child of <storage_configuration><disks>. Types local, s3, s3_plain, azure_blob_storage, hdfs, or object_storage
    /// with object_storage_type. BAD_ARGUMENTS for another type, or where the place is missing.
    static Disk of(const storage::ConfigurationNode& node);
    /// The table function that reads Iceberg tables there.
    std::string table_function() const;
    /// The root that paths are relative to: `path` of a local disk, `endpoint` of others.
    const std::string& root() const;
    /// What of a path, given from the root or whole, is below the root, without a slash before it; BAD_ARGUMENTS for one
    /// that climbs out.
    std::string_view relative(std::string_view path) const;
    /// A path inside the disk, as the table function takes it; BAD_ARGUMENTS for one that climbs out.
    std::string inside(std::string_view path) const;
};

}  // namespace firn::table
