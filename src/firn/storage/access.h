// The one place that knows which store serves a path: by its scheme, with the access that a statement, a named collection
// or a catalog has given.
//
// Errors: ACCESS_DENIED for a path of the local disk or of another service where the table is not from there,
// NOT_IMPLEMENTED for a scheme that firn does not know.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "firn/storage/aws_credentials.h"
#include "firn/storage/azure_store.h"
#include "firn/storage/hdfs_store.h"
#include "firn/storage/object_store.h"
#include "firn/storage/s3_location.h"

namespace firn::storage {

struct StorageAccess {
    // S3 and Google Cloud Storage
    S3Endpoint s3;
    bool sign = true;              ///< false: NOSIGN
    AwsCredentials keys;           ///< empty: those of the environment
    bool environment_keys = true;  ///< false: keys and tokens of the environment are not used, of Azure neither
    std::string role_arn, role_session_name, external_id, sts_endpoint;
    AwsCredentialsPtr credentials;  ///< instead of keys and role: a catalog that vends them
    std::string gcs_token;          ///< OAuth2 token for gs://; empty: keys as HMAC keys

    AzureOptions azure;
    HdfsOptions hdfs;

    HttpOptions http;

    /// Of the store that was made for the same access before; empty: one of its own. May hold secrets.
    std::string sharing_key() const;
};

/// A store of all schemes, those made at first use. Stores for equal access are shared, with what they know of regions
/// and credentials.
std::shared_ptr<ObjectStore> open_storage(const StorageAccess& access);

/// Who signs requests to AWS's services: given credentials, else keys or those of the environment, with the role that they
/// may assume. Null: nobody. AUTHENTICATION_FAILED for a role that there are no keys for.
AwsCredentialsPtr aws_credentials_for(const StorageAccess& access);

}  // namespace firn::storage
