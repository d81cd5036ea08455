// Where a table function or an engine finds its table or files: from arguments to a store and a path in it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/storage/access.h"
#include "firn/table/disk.h"
#include "firn/table/table_functions.h"

namespace firn::table {

enum class StorageKind { Local, S3, Azure, Hdfs };

/// The storage that a function of this name reads: icebergS3, iceberg, s3 …; nothing for other functions.
std::optional<StorageKind> storage_of_function(std::string_view name);

/// What arguments say, before any storage is asked.
struct LocationArguments {
    StorageKind kind = StorageKind::Local;
    std::string root;  ///< path of the table's folder, or of files (a pattern), as the store takes it
    storage::StorageAccess access;
    std::string format = "auto";       ///< of data files, as given
    std::string compression = "auto";  ///< as given
    std::string structure = "auto";    ///< of plain files
    std::string shown;                 ///< "icebergS3('s3://bucket/table')": the call without what is secret
};

/// All argument forms of the function's storage:
///   S3     (url [, NOSIGN | access_key_id, secret_access_key [, session_token]] [, format] [, compression] [, extra_credentials(…)])
///   Azure  (connection_string | account_url, container, path [, account_name, account_key] [, format] [, compression])
///   HDFS   (url [, format] [, compression]); local the same with a path
/// each with named ones besides or instead: url, access_key_id, secret_access_key, session_token, no_sign_request, region,
/// endpoint, role_arn, connection_string, storage_account_url, container, blob_path, account_name, account_key, path,
/// filename, format, structure, compression_method. Plain files take a structure after the format.
/// BAD_ARGUMENTS, NUMBER_OF_ARGUMENTS_DOESNT_MATCH; no message shows a secret.
LocationArguments parse_location(const TableCall& call, StorageKind kind);

/// The same of a path inside a disk of the configuration: the only argument, or left out for the disk's root.
LocationArguments location_on_disk(const TableCall& call, const Disk& disk);

/// Puts named values, as a named collection or named arguments have them, over `arguments`; `filename` is appended to the
/// address. BAD_ARGUMENTS for a name that the storage does not know, but for collections, which may serve others too.
enum class UnknownNames : uint8_t { Refused, PassedOver };
void apply_named(LocationArguments& arguments, const std::map<std::string, std::string>& values,
                 const Settings& settings, UnknownNames unknown = UnknownNames::Refused);

/// Time-outs and tries as the settings say.
storage::HttpOptions http_options(const Settings& settings, StorageKind kind);

/// Arguments of a call that have names: name = value.
std::optional<std::string> argument_name(const plan::TableFunctionArgument& argument);

}  // namespace firn::table
