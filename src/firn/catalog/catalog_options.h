// How a catalog is reached: the arguments and settings of ENGINE = DataLakeCatalog.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::catalog {

enum class CatalogType : uint8_t { Rest, Glue, Unity, Hive };

struct CatalogOptions {
    CatalogType type = CatalogType::Rest;
    std::string url;             ///< "http://host/v1", "thrift://host:9083"; empty for Glue: AWS's own of the region
    std::string user, password;  ///< keys to the storage, where the catalog lends none
    std::string warehouse;  ///< as the catalog names it; Unity: its catalog; Glue: its catalog id; Hive: its catalog
    std::string catalog_credential;  ///< "id:secret" for OAuth2; Unity: a bearer token
    std::string auth_header;         ///< "Name: value" lines sent with each request
    std::string auth_scope = "PRINCIPAL_ROLE:ALL";
    std::string oauth_server_uri;  ///< empty: the catalog's own
    bool oauth_server_use_request_body = true;
    std::string storage_endpoint;    ///< of S3 and services like it
    bool flat_namespaces = false;    ///< REST: namespaces have no others in them, and are not asked for any
    bool vended_credentials = true;  ///< whether keys to storage are asked of the catalog
    std::string region;
    std::string aws_access_key_id, aws_secret_access_key, aws_session_token;
    std::string aws_role_arn, aws_role_session_name, aws_external_id;
    bool rest_sigv4_enabled = false;  ///< requests are signed as AWS wants it
    std::string rest_signing_name, rest_signing_region;
    /// No byte from the catalog for so long ends a request (catalog_timeout_ms), and none is begun again later than this
    /// after it was begun first.
    std::chrono::milliseconds timeout{15'000};

    /// `arguments`: url, user, password. `settings`: by name. BAD_ARGUMENTS for a missing or unknown catalog_type and for
    /// values that make no sense, UNKNOWN_SETTING for a name that is none of these.
    static CatalogOptions of(const std::vector<std::string>& arguments,
                             const std::vector<std::pair<std::string, std::string>>& settings);
};

}  // namespace firn::catalog
