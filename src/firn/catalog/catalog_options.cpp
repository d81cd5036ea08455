#include "firn/catalog/catalog_options.h"

#include <charconv>

#include "firn/base/error.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

CatalogType type_of(const std::string& name) {
    if (name == "rest" || name == "iceberg" || name == "nessie") return CatalogType::Rest;
    if (name == "glue") return CatalogType::Glue;
    if (name == "unity") return CatalogType::Unity;
    if (name == "hive" || name == "hms") return CatalogType::Hive;
    fail(ErrorCode::BAD_ARGUMENTS,
         "Unexpected value of DatabaseDataLakeCatalogType: '{}'. Must be one of ['rest', 'glue', 'unity', 'hive']",
         name);
}

bool flag_of(const std::string& name, const std::string& value) {
    if (value == "1" || value == "true") return true;
    if (value == "0" || value == "false") return false;
    fail(ErrorCode::BAD_ARGUMENTS, "Setting {} of DataLakeCatalog must be 0 or 1, not '{}'", name, value);
}

std::chrono::milliseconds milliseconds_of(const std::string& name, const std::string& value) {
    constexpr int64_t kLongest = int64_t{24} * 3600 * 1000;
    int64_t out = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (error != std::errc() || end != value.data() + value.size() || out < 1 || out > kLongest)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Setting {} of DataLakeCatalog must be a number of milliseconds from 1 to {}, not '{}'", name, kLongest,
             value);
    return std::chrono::milliseconds(out);
}

void check_url(const CatalogOptions& options) {
    if (options.url.empty()) {
        if (options.type != CatalogType::Glue)
            fail(ErrorCode::BAD_ARGUMENTS, "Engine `DataLakeCatalog` must have arguments: the catalog's URL");
        return;
    }
    const storage::Url url = storage::parse_url(options.url);
    const bool fits =
        options.type == CatalogType::Hive ? url.scheme == "thrift" : url.scheme == "http" || url.scheme == "https";
    if (!fits)
        fail(ErrorCode::BAD_ARGUMENTS,
             "URL {} does not fit the catalog: hive takes thrift://host:port, others http(s)://",
             storage::shown_url(options.url));
}

}  // namespace

CatalogOptions CatalogOptions::of(const std::vector<std::string>& arguments,
                                  const std::vector<std::pair<std::string, std::string>>& settings) {
    CatalogOptions options;
    if (arguments.size() > 3)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Engine `DataLakeCatalog` takes a URL, a user and a password, {} arguments are given", arguments.size());
    if (!arguments.empty()) options.url = arguments[0];
    if (arguments.size() > 1) options.user = arguments[1];
    if (arguments.size() > 2) options.password = arguments[2];
    const std::map<std::string_view, std::string*> texts{
        {"warehouse", &options.warehouse},
        {"catalog_credential", &options.catalog_credential},
        {"auth_header", &options.auth_header},
        {"auth_scope", &options.auth_scope},
        {"oauth_server_uri", &options.oauth_server_uri},
        {"storage_endpoint", &options.storage_endpoint},
        {"region", &options.region},
        {"aws_access_key_id", &options.aws_access_key_id},
        {"aws_secret_access_key", &options.aws_secret_access_key},
        {"aws_session_token", &options.aws_session_token},
        {"aws_role_arn", &options.aws_role_arn},
        {"aws_role_session_name", &options.aws_role_session_name},
        {"aws_external_id", &options.aws_external_id},
        {"rest_signing_name", &options.rest_signing_name},
        {"rest_signing_region", &options.rest_signing_region},
    };
    const std::map<std::string_view, bool*> flags{
        {"flat_namespaces", &options.flat_namespaces},
        {"vended_credentials", &options.vended_credentials},
        {"oauth_server_use_request_body", &options.oauth_server_use_request_body},
        {"rest_sigv4_enabled", &options.rest_sigv4_enabled},
    };
    bool has_type = false;
    for (const auto& [name, value] : settings) {
        if (name == "catalog_type") {
            options.type = type_of(value);
            has_type = true;
        } else if (const auto text = texts.find(name); text != texts.end()) {
            *text->second = value;
        } else if (const auto flag = flags.find(name); flag != flags.end()) {
            *flag->second = flag_of(name, value);
        } else if (name == "catalog_timeout_ms") {
            options.timeout = milliseconds_of(name, value);
        } else {
            fail(ErrorCode::UNKNOWN_SETTING, "Unknown setting '{}': for database engine DataLakeCatalog", name);
        }
    }
    if (!has_type)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Unspecified catalog type: SETTINGS catalog_type = 'rest' | 'glue' | 'unity' | 'hive'");
    check_url(options);
    if (options.type == CatalogType::Unity && options.warehouse.empty())
        fail(ErrorCode::BAD_ARGUMENTS,
             "`warehouse` setting cannot be empty for a Unity catalog: it is the catalog's name");
    return options;
}

}  // namespace firn::catalog
