// Which metadata file is the table's present one, where no catalog says (spec: File System Tables, Metastore Tables).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "firn/storage/object_store.h"

namespace firn::iceberg {

struct MetadataLocationOptions {
    std::string metadata_file_path;   ///< iceberg_metadata_file_path: this file, relative to the table; wins over all
    std::string table_uuid;           ///< iceberg_metadata_table_uuid: only this table's files; letter case ignored
    bool by_last_updated_ms = false;  ///< iceberg_recent_metadata_file_by_last_updated_ms_field
    bool use_version_hint = false;    ///< iceberg_use_version_hint: metadata/version-hint.text decides
};

/// Version V of a name V.metadata.json, vV.metadata.json, V-uuid.metadata.json, plain or compressed
/// (.gz.metadata.json, .metadata.json.gz, the same with zstd and zst); nothing for any other name.
std::optional<uint64_t> metadata_version(std::string_view file_name);

/// The table's present metadata file, with what its listing says of it. One listing; candidates are read only where uuid or
/// last-updated-ms decide. FILE_DOESNT_EXIST when there is no candidate, BAD_ARGUMENTS for a file path that climbs out
/// of the table.
storage::ObjectInfo find_metadata_object(const storage::ObjectStore& store, std::string_view table_path,
                                         const MetadataLocationOptions& options);
/// Its path alone.
std::string find_metadata_file(const storage::ObjectStore& store, std::string_view table_path,
                               const MetadataLocationOptions& options);

}  // namespace firn::iceberg
