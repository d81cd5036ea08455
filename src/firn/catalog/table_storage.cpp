#include "firn/catalog/table_storage.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "firn/base/error.h"
#include "firn/catalog/stores_by_prefix.h"
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

using HasKeys = bool (*)(const Properties&);

/// Ends in a slash where the catalog's did: then it is one of whole names.
std::string canonical_prefix(const VendedCredential& credential) {
    if (credential.prefix.empty()) return "";
    std::string prefix = iceberg::canonical_path(credential.prefix);
    if (credential.prefix.ends_with('/') && !prefix.ends_with('/') && !iceberg::path_scheme(prefix).empty())
        prefix += '/';
    return prefix;
}

bool has_prefix(const std::string& location, const std::string& prefix) { return (location + '/').starts_with(prefix); }

/// Of those that have keys the one with the longest prefix that the location has, the table's own configuration coming
/// last; nothing where there is none.
std::optional<VendedCredential> credential_for(const std::vector<VendedCredential>& credentials,
                                               const Properties& config, const std::string& location,
                                               HasKeys has_keys) {
    const VendedCredential* best = nullptr;
    size_t best_size = 0;
    for (const auto& credential : credentials) {
        const std::string prefix = canonical_prefix(credential);
        if (!has_prefix(location, prefix) || !has_keys(credential.properties)) continue;
        if (best && prefix.size() < best_size) continue;
        best = &credential;
        best_size = prefix.size();
    }
    if (best) return *best;
    if (has_keys(config)) return VendedCredential{"", config};
    return std::nullopt;
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

bool has_s3_keys(const Properties& properties) { return !lent_keys(properties).empty(); }
bool has_sas(const Properties& properties) { return !lent_sas(properties).empty(); }

/// Whose files, and where.
struct Lent {
    std::shared_ptr<LakeCatalog> catalog;
    TableIdentifier table;
    std::string location;
};

VendedCredential lend_anew(const Lent& lent, HasKeys has_keys) {
    if (auto found = credential_for(lent.catalog->renew_credentials(lent.table), {}, lent.location, has_keys))
        return *std::move(found);
    const auto loaded = lent.catalog->load_table(lent.table);
    if (!loaded) fail(ErrorCode::UNKNOWN_TABLE, "Table {} is no longer in its catalog", lent.table.display());
    if (auto found = credential_for(loaded->credentials, loaded->config, lent.location, has_keys))
        return *std::move(found);
    fail(ErrorCode::AUTHENTICATION_FAILED, "The catalog of table {} lends no more keys for {}", lent.table.display(),
         lent.location);
}

/// What the catalog lent with the table, and each time after that what it lends anew.
using Lender = std::function<VendedCredential()>;

Lender lender(Lent lent, VendedCredential first, HasKeys has_keys) {
    struct State {
        std::mutex mutex;
        std::optional<VendedCredential> first;
    };
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    auto state = std::make_shared<State>();
    if (first.expires_ms().value_or(INT64_MAX) > now.count())
        state->first = std::move(first);  // it may be from long ago
    return [lent = std::move(lent), state, has_keys]() -> VendedCredential {
        {
            std::lock_guard lock(state->mutex);
            if (state->first) return *std::exchange(state->first, std::nullopt);
        }
        return lend_anew(lent, has_keys);
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

/// The lent properties that serve a location, over the table's configuration.
Properties storage_properties(const LoadedTable& loaded, const std::string& location) {
    Properties properties = loaded.config;
    const auto any = [](const Properties&) { return true; };
    if (const auto credential = credential_for(loaded.credentials, {}, location, any))
        for (const auto& [name, value] : credential->properties) properties[name] = value;
    return properties;
}

/// With what is lent for one place.
std::shared_ptr<storage::ObjectStore> open_place(const Lent& lent, const CatalogOptions& options,
                                                 const LoadedTable& loaded, const storage::HttpOptions& http) {
    const Properties properties = storage_properties(loaded, lent.location);
    storage::StorageAccess access;
    access.http = http;
    use_s3(access, properties, options);
    use_azure(access, properties, options);
    access.gcs_token = property(properties, "gcs.oauth2.token");
    access.hdfs.user = options.user;
    const auto keys = credential_for(loaded.credentials, loaded.config, lent.location, has_s3_keys);
    if (options.vended_credentials && keys)
        access.credentials =
            storage::credentials_from([lend = lender(lent, *keys, has_s3_keys)] { return expiring_keys(lend()); });
    const auto sas = credential_for(loaded.credentials, loaded.config, lent.location, has_sas);
    if (sas && options.user.empty()) {
        access.azure.token = [lend = lender(lent, *sas, has_sas)] { return expiring_sas(lend()); };
        access.azure.token_is_sas = true;
    }
    return storage::open_storage(access);
}

}  // namespace

std::shared_ptr<storage::ObjectStore> open_table_storage(const std::shared_ptr<LakeCatalog>& catalog,
                                                         const CatalogOptions& options, const TableIdentifier& table,
                                                         const LoadedTable& loaded, const std::string& location,
                                                         const storage::HttpOptions& http) {
    if (iceberg::path_scheme(location).empty()) return std::make_shared<storage::LocalStore>();
    auto own = open_place({catalog, table, location}, options, loaded, http);
    std::set<std::string> prefixes;
    for (const auto& credential : loaded.credentials) prefixes.insert(canonical_prefix(credential));
    std::string of_location;  // the longest, which `own` is for
    for (const std::string& prefix : prefixes)
        if (has_prefix(location, prefix)) of_location = prefix;
    std::map<std::string, std::shared_ptr<storage::ObjectStore>> places;
    for (const std::string& prefix : prefixes)
        if (!iceberg::path_scheme(prefix).empty())
            places[prefix] = prefix == of_location ? own : open_place({catalog, table, prefix}, options, loaded, http);
    const bool elsewhere = std::any_of(places.begin(), places.end(), [&](const auto& p) { return p.second != own; });
    return elsewhere ? stores_by_prefix(std::move(own), std::move(places)) : own;
}

bool lent_for_same_places(const LoadedTable& a, const LoadedTable& b) {
    const auto places = [](const LoadedTable& table) {
        std::multiset<std::pair<std::string, bool>> all;
        for (const auto& credential : table.credentials)
            all.emplace(canonical_prefix(credential), credential.properties.empty());
        return all;
    };
    return places(a) == places(b);
}

}  // namespace firn::catalog
