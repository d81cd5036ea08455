#include "firn/catalog/rest_catalog.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/catalog/catalog_replies.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

constexpr std::string_view kUnitSeparator = "%1F";
constexpr int kPageSize = 1000;

std::string with_version(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url.ends_with("/v1") ? url : url + "/v1";
}

/// A prefix as a path has it: what servers have encoded already stays, what no URL may hold is encoded.
std::string path_text(std::string_view prefix) {
    constexpr std::string_view kept = "-._~/%!$&'()*+,;=:@";
    std::string out;
    for (const char c : prefix) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out += word || kept.find(c) != kept.npos ? std::string(1, c) : storage::percent_encode(std::string_view(&c, 1));
    }
    return out;
}

std::string property(const std::map<std::string, std::string>& properties, const std::string& name,
                     std::string otherwise) {
    const auto found = properties.find(name);
    return found == properties.end() ? otherwise : found->second;
}

/// Whether the reply says that there is no such thing, as against no such page.
bool is_not_found(const storage::HttpReply& reply) { return reply.status == 404 && service_error(reply).is_json; }

}  // namespace

RestCatalog::RestCatalog(const CatalogOptions& options, const std::string& url)
    : options_(options),
      url_(with_version(url)),
      requests_("Catalog " + storage::shown_url(url_), catalog_http_options(options)) {
    if (options.type == CatalogType::Unity) {
        requests_.bearer = options.catalog_credential;
    } else if (!options.catalog_credential.empty()) {
        const std::string token_url =
            options.oauth_server_uri.empty() ? url_ + "/oauth/tokens" : options.oauth_server_uri;
        requests_.oauth = std::make_shared<OAuthToken>(token_url, options.catalog_credential, options.auth_scope,
                                                       options.oauth_server_use_request_body);
    }
    add_header_lines(options.auth_header, requests_.headers);
    if (options.vended_credentials) requests_.headers.add("X-Iceberg-Access-Delegation", "vended-credentials");
    if (options.rest_sigv4_enabled) {
        requests_.aws = aws_credentials_of(options);
        requests_.aws_scope = {options.rest_signing_region.empty() ? options.region : options.rest_signing_region,
                               options.rest_signing_name.empty() ? "execute-api" : options.rest_signing_name};
    }
}

/// What of the server's properties changes how it is asked.
void RestCatalog::use_properties(Config& config) {
    const auto& properties = config.properties;
    if (const std::string uri = property(properties, "uri", ""); !uri.empty()) config.base = with_version(uri);
    if (const std::string prefix = property(properties, "prefix", ""); !prefix.empty())
        config.prefix = "/" + path_text(prefix);
    config.separator = property(properties, "namespace-separator", std::string(kUnitSeparator));
    for (const auto& [name, value] : properties)
        if (name.starts_with("header.") && !requests_.headers.get(name.substr(7)))
            requests_.headers.add(name.substr(7), value);
    if (const std::string token = property(properties, "token", ""); !token.empty() && !requests_.oauth)
        requests_.bearer = token;
    if (property(properties, "rest.sigv4-enabled", "false") == "true" && !requests_.aws) {
        requests_.aws = aws_credentials_of(options_);
        requests_.aws_scope = {property(properties, "rest.signing-region", options_.region),
                               property(properties, "rest.signing-name", "execute-api")};
    }
}

RestCatalog::Config RestCatalog::config() {
    std::lock_guard lock(mutex_);
    if (config_) return *config_;
    std::string url = url_ + "/config";
    if (!options_.warehouse.empty()) url += "?warehouse=" + storage::percent_encode(options_.warehouse);
    const auto reply = requests_.get(url);
    if (!reply.ok()) requests_.fail_reply(reply, "GET config");
    auto said = parse_rest_config(reply.body, requests_.shown_name() + ", config");
    Config config;
    config.base = url_;
    config.properties = std::move(said.properties);
    config.endpoints = std::move(said.endpoints);
    use_properties(config);
    config_ = std::move(config);
    return *config_;
}

std::string RestCatalog::namespace_path(const Config& config, const Namespace& levels) const {
    std::string joined;
    for (size_t i = 0; i < levels.size(); ++i)
        joined += (i == 0 ? "" : config.separator) + storage::percent_encode(levels[i]);
    return config.base + config.prefix + "/namespaces/" + joined;
}

std::string RestCatalog::table_path(const Config& config, const TableIdentifier& table) const {
    return namespace_path(config, table.levels) + "/tables/" + storage::percent_encode(table.table);
}

Page<Namespace> RestCatalog::list_namespaces(const Namespace& parent, const std::string& page) {
    const Config config = this->config();
    std::string url = config.base + config.prefix + "/namespaces?pageToken=" + storage::percent_encode(page) +
                      "&pageSize=" + std::to_string(kPageSize);
    if (!parent.empty()) {
        std::string joined;
        for (size_t i = 0; i < parent.size(); ++i)
            joined += (i == 0 ? "" : config.separator) + storage::percent_encode(parent[i]);
        url += "&parent=" + joined;
    }
    const auto reply = requests_.get(url);
    if (!parent.empty() && (is_not_found(reply) || reply.status == 400)) return {};  // flat namespaces only
    if (!reply.ok()) requests_.fail_reply(reply, "GET namespaces");
    auto out = parse_rest_namespaces(reply.body, requests_.shown_name() + ", namespaces");
    // Servers that do not know `parent` give the same list again.
    std::erase_if(out.items, [&](const Namespace& levels) {
        return levels.size() != parent.size() + 1 || !std::equal(parent.begin(), parent.end(), levels.begin());
    });
    return out;
}

Page<TableIdentifier> RestCatalog::list_tables(const Namespace& levels, const std::string& page) {
    const Config config = this->config();
    const auto reply =
        requests_.get(namespace_path(config, levels) + "/tables?pageToken=" + storage::percent_encode(page) +
                      "&pageSize=" + std::to_string(kPageSize));
    if (is_not_found(reply)) return {};  // dropped meanwhile
    if (!reply.ok()) requests_.fail_reply(reply, "GET tables");
    return parse_rest_tables(reply.body, requests_.shown_name() + ", tables");
}

std::optional<LoadedTable> RestCatalog::load_table(const TableIdentifier& table) {
    const Config config = this->config();
    const auto reply = requests_.get(table_path(config, table));
    if (is_not_found(reply)) return std::nullopt;
    if (!reply.ok()) requests_.fail_reply(reply, "GET table " + table.display());
    auto loaded =
        parse_rest_table(reply.body, requests_.shown_name() + ", table " + table.display(), config.properties);
    if (const auto etag = reply.headers.get("ETag")) loaded.version = std::string(*etag);
    return loaded;
}

std::vector<VendedCredential> RestCatalog::renew_credentials(const TableIdentifier& table) {
    const Config config = this->config();
    const bool offered =
        std::find(config.endpoints.begin(), config.endpoints.end(),
                  "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials") != config.endpoints.end();
    if (!offered) return {};
    const auto reply = requests_.get(table_path(config, table) + "/credentials");
    if (!reply.ok()) return {};
    return parse_rest_credentials(reply.body, requests_.shown_name() + ", credentials of " + table.display());
}

}  // namespace firn::catalog
