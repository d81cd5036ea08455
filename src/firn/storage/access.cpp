#include "firn/storage/access.h"

#include <cstdlib>
#include <list>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/storage/routed_store.h"
#include "firn/storage/s3_store.h"
#include "firn/storage/url.h"

namespace firn::storage {

namespace {

constexpr size_t kSharedStores = 64;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::shared_ptr<ObjectStore> make_s3(const StorageAccess& access, const std::string& identity) {
    S3Options options;
    options.endpoint = access.s3;
    options.http = access.http;
    if (options.endpoint.origin.empty()) {
        for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
            std::string url = environment(name);
            while (url.ends_with('/')) url.pop_back();
            if (options.endpoint.origin.empty() && !url.empty()) {
                options.endpoint.origin = url;
                options.endpoint.addressing = S3Addressing::Path;
            }
        }
    }
    if (options.http.ca_file.empty()) options.http.ca_file = environment("AWS_CA_BUNDLE");
    options.credentials = aws_credentials_for(access);
    return std::make_shared<S3Store>(std::move(options), identity);
}

std::shared_ptr<ObjectStore> make_gcs(const StorageAccess& access, const std::string& identity) {
    static const auto google = std::make_shared<GoogleTokens>();  // one token for the process
    S3Options options;
    options.scheme = "gs";
    options.http = access.http;
    options.endpoint = access.s3;
    std::string emulator = environment("STORAGE_EMULATOR_HOST");
    while (emulator.ends_with('/')) emulator.pop_back();
    if (options.endpoint.origin.empty())
        options.endpoint = {emulator.empty() ? "https://storage.googleapis.com" : emulator, "auto", S3Addressing::Path};
    options.bearer_token = access.gcs_token;
    const auto make = [&] { return std::make_shared<S3Store>(std::move(options), identity); };
    if (!options.bearer_token.empty()) return make();
    const bool own = access.environment_keys && access.sign && access.keys.empty() && !access.credentials;
    if (own && GoogleTokens::in_environment()) {
        options.google = google;
        return make();
    }
    options.credentials = aws_credentials_for(access);
    // Where there are no keys either, the machine may be one of Google's.
    if (own && emulator.empty() && options.credentials->get().empty()) options.google = google;
    return make();
}

std::shared_ptr<ObjectStore> make_azure(const StorageAccess& access, const std::string& identity,
                                        std::string_view path) {
    AzureOptions options = access.azure;
    options.http = access.http;
    if (options.account_url.empty() && options.account_name.empty()) {
        options.account_name = split_azure_path(path).account;
        if (options.account_name.empty()) options.account_name = environment("AZURE_STORAGE_ACCOUNT");
    }
    if (options.account_key.empty() && options.sas_token.empty() && !options.token && access.environment_keys) {
        if (const std::string text = environment("AZURE_STORAGE_CONNECTION_STRING"); !text.empty()) {
            AzureOptions from;
            apply_connection_string(text, from);
            if (options.account_name.empty() || options.account_name == from.account_name) {
                options.account_name = from.account_name;
                options.account_key = from.account_key;
                options.sas_token = from.sas_token;
                if (options.account_url.empty()) options.account_url = from.account_url;
            }
        }
        if (options.account_key.empty()) options.account_key = environment("AZURE_STORAGE_KEY");
        if (options.account_key.empty()) options.sas_token = environment("AZURE_STORAGE_SAS_TOKEN");
        if (options.account_key.empty() && options.sas_token.empty() && access.sign)
            options.token = azure_environment_token();
    }
    return std::make_shared<AzureStore>(std::move(options), identity);
}

std::shared_ptr<ObjectStore> make_hdfs(const StorageAccess& access, const std::string& identity,
                                       std::string_view path) {
    HdfsOptions options = access.hdfs;
    options.http = access.http;
    if (options.endpoints.empty()) options.endpoints = webhdfs_endpoints(path);
    return std::make_shared<HdfsStore>(std::move(options), identity);
}

/// Each path goes to the store of its scheme.
class Router final : public RoutedStore {
public:
    explicit Router(StorageAccess access) : access_(std::move(access)) {
        // One that is not shared with any other has a name that none before it had: caches outlive stores.
        const std::string key = access_.sharing_key();
        identity_ = key.empty() ? unshared_identity() : "storage " + sha256_hex(key).substr(0, 32);
    }

    std::string identity() const override { return identity_; }

private:
    ObjectStore& at(std::string_view path) const override {
        std::string scheme(path.substr(0, std::min(path.find("://"), path.size())));
        if (scheme.size() == path.size()) scheme.clear();
        if (scheme == "s3a" || scheme == "s3n" || scheme == "http" || scheme == "https") {
            if (scheme[0] == 'h') check_endpoint(path);
            scheme = "s3";
        }
        if (scheme == "gcs") scheme = "gs";
        std::string key = scheme;
        if (scheme == "hdfs" || scheme == "webhdfs" || scheme == "swebhdfs") {
            // Each cluster has a store, unless the table's own is the only one known.
            key = access_.hdfs.endpoints.empty() ? parse_url(path).origin() : "hdfs";
        }
        std::lock_guard lock(mutex_);
        std::shared_ptr<ObjectStore>& store = stores_[key];
        if (!store) store = make(scheme, path);
        return *store;
    }

    std::shared_ptr<ObjectStore> make(const std::string& scheme, std::string_view path) const {
        if (scheme == "s3") return make_s3(access_, identity_);
        if (scheme == "gs") return make_gcs(access_, identity_);
        if (scheme == "abfss" || scheme == "abfs" || scheme == "wasb" || scheme == "wasbs" || scheme == "az")
            return make_azure(access_, identity_, path);
        if (scheme == "hdfs" || scheme == "webhdfs" || scheme == "swebhdfs") return make_hdfs(access_, identity_, path);
        if (scheme.empty())
            fail(ErrorCode::ACCESS_DENIED, "Path {} is of the local disk: a table elsewhere may not name it", path);
        fail(ErrorCode::NOT_IMPLEMENTED, "Path {} is of a storage that firn does not know: '{}'", path, scheme);
    }

    /// Keys of one service are not sent to another.
    void check_endpoint(std::string_view path) const {
        const std::string origin = parse_s3_url(path).endpoint.origin;
        if (origin != access_.s3.origin)
            fail(ErrorCode::ACCESS_DENIED, "{} is on another service than the table", shown_url(path));
    }

    StorageAccess access_;
    std::string identity_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, std::shared_ptr<ObjectStore>> stores_;
};

struct SharedStores {
    std::mutex mutex;
    std::list<std::pair<std::string, std::shared_ptr<ObjectStore>>> stores;  // most recently used first
};

SharedStores& shared_stores() {
    static SharedStores stores;
    return stores;
}

}  // namespace

AwsCredentialsPtr aws_credentials_for(const StorageAccess& access) {
    if (!access.sign) return nullptr;
    if (access.credentials) return access.credentials;
    if (access.keys.empty() && !access.environment_keys) {
        if (access.role_arn.empty()) return nullptr;
        fail(ErrorCode::AUTHENTICATION_FAILED,
             "Role {} cannot be assumed without keys, and none of the environment may be used", access.role_arn);
    }
    AwsCredentialsPtr base =
        access.keys.empty() ? default_credentials(access.s3.is_aws()) : fixed_credentials(access.keys);
    if (access.role_arn.empty()) return base;
    AssumeRole role;
    role.role_arn = access.role_arn;
    role.session_name = access.role_session_name;
    role.external_id = access.external_id;
    role.region = access.s3.region.empty() ? configured_region() : access.s3.region;
    role.http = access.http;
    role.sts_endpoint = access.sts_endpoint;
    // Services of one's own have their STS where their S3 is.
    if (role.sts_endpoint.empty() && environment("AWS_ENDPOINT_URL_STS").empty()) role.sts_endpoint = access.s3.origin;
    return assumed_role(std::move(role), std::move(base));
}

std::string StorageAccess::sharing_key() const {
    if (credentials || azure.token) return {};
    std::string key;
    for (const std::string& part : {s3.origin,
                                    s3.region,
                                    std::to_string(static_cast<int>(s3.addressing)),
                                    std::to_string(sign),
                                    std::to_string(environment_keys),
                                    keys.access_key_id,
                                    keys.secret_access_key,
                                    keys.session_token,
                                    role_arn,
                                    role_session_name,
                                    external_id,
                                    sts_endpoint,
                                    gcs_token,
                                    azure.account_url,
                                    azure.account_name,
                                    azure.account_key,
                                    azure.sas_token,
                                    hdfs.user,
                                    hdfs.delegation_token,
                                    http.ca_file,
                                    std::to_string(http.connect_timeout.count()),
                                    std::to_string(http.idle_timeout.count()),
                                    std::to_string(http.attempts)})
        key += part + '\n';
    for (const std::string& endpoint : hdfs.endpoints) key += endpoint + '\n';
    return key;
}

std::shared_ptr<ObjectStore> open_storage(const StorageAccess& access) {
    const std::string key = access.sharing_key();
    if (key.empty()) return std::make_shared<Router>(access);
    SharedStores& shared = shared_stores();
    std::lock_guard lock(shared.mutex);
    for (auto it = shared.stores.begin(); it != shared.stores.end(); ++it) {
        if (it->first != key) continue;
        shared.stores.splice(shared.stores.begin(), shared.stores, it);
        return it->second;
    }
    shared.stores.emplace_front(key, std::make_shared<Router>(access));
    if (shared.stores.size() > kSharedStores) shared.stores.pop_back();
    return shared.stores.front().second;
}

}  // namespace firn::storage
