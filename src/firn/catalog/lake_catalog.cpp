#include "firn/catalog/lake_catalog.h"

#include <charconv>
#include <set>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/catalog/glue_catalog.h"
#include "firn/catalog/hive_catalog.h"
#include "firn/catalog/rest_catalog.h"
#include "firn/catalog/unity_catalog.h"

namespace firn::catalog {
namespace {

constexpr size_t kMaxNamespaceDepth = 32;
constexpr size_t kMaxReadings = 32;

Namespace split_levels(std::string_view text) {
    Namespace levels;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t dot = std::min(text.find('.', begin), text.size());
        levels.emplace_back(text.substr(begin, dot - begin));
        begin = dot + 1;
    }
    return levels;
}

/// Goes on to the page that a reply names; false at the end. A service that names one again would have no end.
bool next_page(std::string& page, std::set<std::string>& pages, std::string next) {
    page = std::move(next);
    if (page.empty()) return false;
    if (!pages.insert(page).second)
        fail(ErrorCode::DATALAKE_DATABASE_ERROR, "The catalog's list has no end: it names the page '{}' again", page);
    return true;
}

/// Goes through a namespace and those in it; false once `visit` has had enough.
bool visit_namespace(LakeCatalog& catalog, const Namespace& levels,
                     const std::function<bool(const TableIdentifier&)>& visit) {
    std::string page;
    std::set<std::string> pages;
    bool more = false;
    do {
        check_cancelled();
        auto tables = catalog.list_tables(levels, page);
        for (const auto& table : tables.items)
            if (!visit(table)) return false;
        more = next_page(page, pages, std::move(tables.next));
    } while (more);
    return true;
}

bool visit_below(LakeCatalog& catalog, const Namespace& parent, std::set<Namespace>& seen,
                 const std::function<bool(const TableIdentifier&)>& visit) {
    std::string page;
    std::set<std::string> pages;
    bool more = false;
    do {
        check_cancelled();
        auto children = catalog.list_namespaces(parent, page);
        for (const auto& child : children.items) {
            if (!seen.insert(child).second) continue;
            if (!visit_namespace(catalog, child, visit)) return false;
            if (catalog.nested_namespaces() && child.size() < kMaxNamespaceDepth &&
                !visit_below(catalog, child, seen, visit))
                return false;
        }
        more = next_page(page, pages, std::move(children.next));
    } while (more);
    return true;
}

}  // namespace

std::string TableIdentifier::display() const {
    std::string out;
    for (const auto& level : levels) out += level + ".";
    return out + table;
}

std::vector<TableIdentifier> readings_of(std::string_view name, bool nested_namespaces) {
    std::vector<TableIdentifier> out;
    for (size_t dot = name.rfind('.'); dot != name.npos && out.size() < kMaxReadings;
         dot = dot == 0 ? name.npos : name.rfind('.', dot - 1)) {
        const std::string_view space = name.substr(0, dot);
        const std::string_view table = name.substr(dot + 1);
        if (space.empty() || table.empty()) continue;
        if (nested_namespaces && space.find('.') != space.npos)
            out.push_back({split_levels(space), std::string(table)});
        out.push_back({{std::string(space)}, std::string(table)});
    }
    return out;
}

std::optional<int64_t> VendedCredential::expires_ms() const {
    for (const auto& [key, value] : properties) {
        const bool says = key == "s3.session-token-expires-at-ms" || key == "gcs.oauth2.token-expires-at" ||
                          key == "expiration-time" || key.starts_with("adls.sas-token-expires-at-ms");
        int64_t ms = 0;
        if (says && std::from_chars(value.data(), value.data() + value.size(), ms).ec == std::errc()) return ms;
    }
    return std::nullopt;
}

std::vector<VendedCredential> LakeCatalog::renew_credentials(const TableIdentifier&) { return {}; }

CommitOutcome LakeCatalog::commit(const TableCommit& commit) {
    fail(ErrorCode::NOT_IMPLEMENTED, "firn only reads tables of catalogs yet: {} cannot be changed",
         commit.table.display());
}

void LakeCatalog::each_table(const std::function<bool(const TableIdentifier&)>& visit) {
    std::set<Namespace> seen;
    visit_below(*this, {}, seen, visit);
}

bool is_iceberg(const TableParameters& parameters) {
    const auto type = parameters.find("table_type");
    if (type == parameters.end()) return false;
    std::string upper = type->second;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return upper == "ICEBERG";
}

std::string metadata_location(const TableParameters& parameters, const std::string& where) {
    if (!is_iceberg(parameters))
        fail(ErrorCode::DATALAKE_DATABASE_ERROR, "{} is no Iceberg table: its parameter table_type is not ICEBERG",
             where);
    const auto location = parameters.find("metadata_location");
    if (location == parameters.end() || location->second.empty())
        fail(ErrorCode::DATALAKE_DATABASE_ERROR, "{} has no parameter metadata_location", where);
    return location->second;
}

std::unique_ptr<LakeCatalog> make_catalog(const CatalogOptions& options) {
    switch (options.type) {
        case CatalogType::Rest:
            return std::make_unique<RestCatalog>(options, options.url);
        case CatalogType::Glue:
            return std::make_unique<GlueCatalog>(options);
        case CatalogType::Unity:
            return std::make_unique<UnityCatalog>(options);
        case CatalogType::Hive:
            return std::make_unique<HiveCatalog>(options);
    }
    fail(ErrorCode::LOGICAL_ERROR, "No such type of catalog");
}

}  // namespace firn::catalog
