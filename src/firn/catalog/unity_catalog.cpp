#include "firn/catalog/unity_catalog.h"

#include "firn/catalog/catalog_replies.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

constexpr std::string_view kPageSize = "100";

std::string without_slash(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

/// Address of its own API.
std::string own_api(const std::string& given) {
    std::string url = without_slash(given);
    for (const std::string_view end : {"/v1", "/iceberg-rest", "/iceberg"})
        if (url.ends_with(end)) url.resize(url.size() - end.size());
    return url;
}

/// Address of its Iceberg REST endpoint: as given, else /iceberg behind its own API.
std::string iceberg_api(const std::string& given) {
    const std::string url = without_slash(given);
    const bool said = url.find("/iceberg", own_api(given).size()) != url.npos;
    return said ? url : own_api(given) + "/iceberg";
}

}  // namespace

UnityCatalog::UnityCatalog(const CatalogOptions& options)
    : warehouse_(options.warehouse),
      url_(own_api(options.url)),
      requests_("Unity catalog " + storage::shown_url(url_), catalog_http_options(options)),
      iceberg_(options, iceberg_api(options.url)) {
    requests_.bearer = options.catalog_credential;
    add_header_lines(options.auth_header, requests_.headers);
}

Page<Namespace> UnityCatalog::list_namespaces(const Namespace& parent, const std::string& page) {
    if (!parent.empty()) return {};
    std::string url = url_ + "/schemas?catalog_name=" + storage::percent_encode(warehouse_) +
                      "&max_results=" + std::string(kPageSize);
    if (!page.empty()) url += "&page_token=" + storage::percent_encode(page);
    const auto reply = requests_.get(url);
    if (!reply.ok()) requests_.fail_reply(reply, "GET schemas");
    return parse_unity_schemas(reply.body, requests_.shown_name() + ", schemas");
}

Page<TableIdentifier> UnityCatalog::list_tables(const Namespace& levels, const std::string& page) {
    if (levels.size() != 1) return {};
    std::string url = url_ + "/tables?catalog_name=" + storage::percent_encode(warehouse_) +
                      "&schema_name=" + storage::percent_encode(levels[0]) + "&max_results=" + std::string(kPageSize);
    if (!page.empty()) url += "&page_token=" + storage::percent_encode(page);
    const auto reply = requests_.get(url);
    if (reply.status == 404) return {};
    if (!reply.ok()) requests_.fail_reply(reply, "GET tables");
    return parse_unity_tables(reply.body, requests_.shown_name() + ", tables", levels);
}

std::optional<LoadedTable> UnityCatalog::load_table(const TableIdentifier& table) {
    if (auto loaded = iceberg_.load_table(table)) return loaded;
    // Not there for Iceberg clients: its own API says whether it is there at all, and of what kind.
    const std::string full = warehouse_ + "." + table.display();
    const auto reply = requests_.get(url_ + "/tables/" + storage::percent_encode(full));
    if (reply.status == 404) return std::nullopt;
    if (!reply.ok()) requests_.fail_reply(reply, "GET table " + full);
    return parse_unity_table(reply.body, requests_.shown_name() + ", table " + full);
}

std::vector<VendedCredential> UnityCatalog::renew_credentials(const TableIdentifier& table) {
    return iceberg_.renew_credentials(table);
}

}  // namespace firn::catalog
