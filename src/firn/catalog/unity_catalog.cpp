#include "firn/catalog/unity_catalog.h"

#include "firn/base/error.h"
#include "firn/iceberg/json_fields.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

using iceberg::JsonDocument;
using iceberg::JsonFields;

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

/// What Iceberg clients may read: Iceberg tables, and Delta tables that carry Iceberg's metadata (UniForm).
bool is_readable(const JsonFields& table) {
    return table.text_or_nothing("data_source_format").value_or("") != "VIEW" &&
           table.text_or_nothing("table_type").value_or("") != "VIEW";
}

}  // namespace

UnityCatalog::UnityCatalog(const CatalogOptions& options)
    : warehouse_(options.warehouse),
      url_(own_api(options.url)),
      requests_("Unity catalog " + storage::shown_url(url_)),
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
    const std::string where = requests_.shown_name() + ", schemas";
    const JsonDocument document(reply.body, where);
    const JsonFields root(document.root(), where);
    Page<Namespace> out;
    size_t index = 0;
    if (const auto schemas = root.array_or_nothing("schemas"))
        for (const auto item : *schemas) {
            const JsonFields schema(item, root.item_place("schemas", index++));
            out.items.push_back({std::string(schema.required_text("name"))});
        }
    out.next = std::string(root.text_or_nothing("next_page_token").value_or(""));
    return out;
}

Page<TableIdentifier> UnityCatalog::list_tables(const Namespace& levels, const std::string& page) {
    if (levels.size() != 1) return {};
    std::string url = url_ + "/tables?catalog_name=" + storage::percent_encode(warehouse_) +
                      "&schema_name=" + storage::percent_encode(levels[0]) + "&max_results=" + std::string(kPageSize);
    if (!page.empty()) url += "&page_token=" + storage::percent_encode(page);
    const auto reply = requests_.get(url);
    if (reply.status == 404) return {};
    if (!reply.ok()) requests_.fail_reply(reply, "GET tables");
    const std::string where = requests_.shown_name() + ", tables";
    const JsonDocument document(reply.body, where);
    const JsonFields root(document.root(), where);
    Page<TableIdentifier> out;
    size_t index = 0;
    if (const auto tables = root.array_or_nothing("tables"))
        for (const auto item : *tables) {
            const JsonFields table(item, root.item_place("tables", index++));
            if (is_readable(table)) out.items.push_back({levels, std::string(table.required_text("name"))});
        }
    // Some versions give the last name as token even behind the last page; a page with no tables of any kind ends it.
    out.next = index == 0 ? "" : std::string(root.text_or_nothing("next_page_token").value_or(""));
    return out;
}

std::optional<LoadedTable> UnityCatalog::load_table(const TableIdentifier& table) {
    if (auto loaded = iceberg_.load_table(table)) return loaded;
    // Not there for Iceberg clients: its own API says whether it is there at all, and of what kind.
    const std::string full = warehouse_ + "." + table.display();
    const auto reply = requests_.get(url_ + "/tables/" + storage::percent_encode(full));
    if (reply.status == 404) return std::nullopt;
    if (!reply.ok()) requests_.fail_reply(reply, "GET table " + full);
    const std::string where = requests_.shown_name() + ", table " + full;
    const JsonDocument document(reply.body, where);
    const JsonFields root(document.root(), where);
    std::string location;
    if (const auto uniform = root.object_or_nothing("delta_uniform_iceberg"))
        location = std::string(uniform->text_or_nothing("metadata_location").value_or(""));
    const auto properties = root.text_map("properties");
    if (const auto found = properties.find("metadata_location"); location.empty() && found != properties.end())
        location = found->second;
    if (location.empty())
        fail(ErrorCode::ICEBERG_CATALOG_ERROR,
             "{} is a {} table without Iceberg metadata (UniForm): firn reads Iceberg tables only", where,
             root.text_or_nothing("data_source_format").value_or("foreign"));
    LoadedTable loaded;
    loaded.metadata_location = std::move(location);
    loaded.location = std::string(root.text_or_nothing("storage_location").value_or(""));
    return loaded;
}

std::vector<VendedCredential> UnityCatalog::renew_credentials(const TableIdentifier& table) {
    return iceberg_.renew_credentials(table);
}

}  // namespace firn::catalog
