#include "firn/catalog/table_storage.h"

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "firn/base/error.h"
#include "firn/catalog/catalog_requests.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/storage/access.h"
#include "firn/storage/local_store.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

using Properties = std::map<std::string, std::string>;

constexpr int64_t kMillisPerSecond = 1000;

std::string property(const Properties& properties, const std::string& name) {
    const auto found = properties.find(name);
    return found == properties.end() ? "" : found->second;
}

/// The value of the first property whose name begins so:
/// adls.sas-token.ACCOUNT.
std::string property_with_prefix(const Properties& properties, const std::string& prefix) {
    const auto found = properties.lower_bound(prefix);
    return found == properties.end() || !found->first.starts_with(prefix) ? "" : found->second;
}

/// Of the lent credentials the one with the longest prefix that the location
/// has; null where there is none.
const VendedCredential* credential_for(const std::vector<VendedCredential>& credentials, const std::string& location) {
    const VendedCredential* best = nullptr;
    size_t best_size = 0;
    for (const auto& credential : credentials) {
        const std::string prefix = credential.prefix.empty() ? "" : iceberg::canonical_path(credential.prefix);
        if (!prefix.empty() && location.substr(0, prefix.size()) != prefix) continue;
        if (best && prefix.size() < best_size) continue;
        best = &credential;
        best_size = prefix.size();
    }
    return best;
}

storage::AwsCredentials lent_keys(const Properties& properties) {
    return {property(properties, "s3.access-key-id"), property(properties, "s3.secret-access-key"),
            property(properties, "s3.session-token")};
}

storage::ExpiringCredentials expiring_keys(const VendedCredential& credential) {
    return {lent_keys(credential.properties), credential.expires_ms().value_or(0) / kMillisPerSecond};
}

std::string lent_sas(const Properties& properties) {
    const std::string sas = property_with_prefix(properties, "adls.sas-token.");
    return sas.starts_with('?') ? sas.substr(1) : sas;
}

storage::AzureToken expiring_sas(const VendedCredential& credential) {
    return {"", lent_sas(credential.properties), credential.expires_ms().value_or(0) / kMillisPerSecond};
}

/// What the catalog lent with the table, and each time after that what it lends anew.
using Lender = std::function<VendedCredential()>;

Lender lender(const std::shared_ptr<LakeCatalog>& catalog, const TableIdentifier& table, const std::string& location,
              VendedCredential first) {
    struct State {
        std::mutex mutex;
        std::optional<VendedCredential> first;
    };
    auto state = std::make_shared<State>();
    state->first = std::move(first);
    return [catalog, table, location, state]() -> VendedCredential {
        {
            std::lock_guard lock(state->mutex);
            if (state->first) return *std::exchange(state->first, std::nullopt);
        }
        const auto credentials = catalog->renew_credentials(table);
        const VendedCredential* credential = credential_for(credentials, location);
        if (!credential)
            fail(ErrorCode::AUTHENTICATION_FAILED, "The catalog of table {} lends no more keys for {}", table.display(),
                 location);
        return *credential;
    };
}

void use_s3(storage::StorageAccess& access, const Properties& properties, const CatalogOptions& options) {
    const std::string endpoint =
        options.storage_endpoint.empty() ? property(properties, "s3.endpoint") : options.storage_endpoint;
    if (!endpoint.empty()) access.s3.origin = storage::parse_url(endpoint).origin();
    access.s3.region = options.region;
    for (const char* name : {"client.region", "s3.region"})
        if (access.s3.region.empty()) access.s3.region = property(properties, name);
    if (property(properties, "s3.path-style-access") == "true") access.s3.addressing = storage::S3Addressing::Path;
    if (!options.user.empty())
        access.keys = {options.user, options.password, ""};
    else if (!options.aws_access_key_id.empty())
        access.keys = {options.aws_access_key_id, options.aws_secret_access_key, options.aws_session_token};
    access.role_arn = options.aws_role_arn;
    access.role_session_name = options.aws_role_session_name;
    access.external_id = options.aws_external_id;
}

void use_azure(storage::StorageAccess& access, const Properties& properties, const CatalogOptions& options) {
    const std::string connection = property_with_prefix(properties, "adls.connection-string.");
    if (!connection.empty()) storage::apply_connection_string(connection, access.azure);
    const std::string key = property(properties, "adls.auth.shared-key.account.key");
    if (!key.empty()) {
        access.azure.account_name = property(properties, "adls.auth.shared-key.account.name");
        access.azure.account_key = key;
    }
    if (!options.user.empty()) {
        access.azure.account_name = options.user;
        access.azure.account_key = options.password;
    }
    if (!options.storage_endpoint.empty()) access.azure.account_url = options.storage_endpoint;
}

}  // namespace

std::map<std::string, std::string> storage_properties(const LoadedTable& loaded, const std::string& location) {
    Properties properties = loaded.config;
    if (const VendedCredential* credential = credential_for(loaded.credentials, location))
        for (const auto& [name, value] : credential->properties) properties[name] = value;
    return properties;
}

std::shared_ptr<storage::ObjectStore> open_table_storage(const std::shared_ptr<LakeCatalog>& catalog,
                                                         const CatalogOptions& options, const TableIdentifier& table,
                                                         const LoadedTable& loaded, const std::string& location) {
    const std::string_view scheme = iceberg::path_scheme(location);
    if (scheme.empty()) return std::make_shared<storage::LocalStore>();
    const Properties properties = storage_properties(loaded, location);
    storage::StorageAccess access;
    access.http = catalog_http_options();
    use_s3(access, properties, options);
    use_azure(access, properties, options);
    access.gcs_token = property(properties, "gcs.oauth2.token");
    access.hdfs.user = options.user;
    const VendedCredential* best = credential_for(loaded.credentials, location);
    // The table's own configuration where the prefix's says nothing.
    const auto lent = [&](const auto& keys_of) {
        const bool own = best && !keys_of(best->properties).empty();
        return lender(catalog, table, location, own ? *best : VendedCredential{"", properties});
    };
    if (options.vended_credentials && !lent_keys(properties).empty())
        access.credentials = storage::credentials_from([lend = lent(lent_keys)] { return expiring_keys(lend()); });
    if (!lent_sas(properties).empty() && options.user.empty()) {
        access.azure.token = [lend = lent(lent_sas)] { return expiring_sas(lend()); };
        access.azure.token_is_sas = true;
    }
    return storage::open_storage(access);
}

}  // namespace firn::catalog
