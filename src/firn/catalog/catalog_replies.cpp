#include "firn/catalog/catalog_replies.h"

#include "firn/base/error.h"
#include "firn/iceberg/json_fields.h"

namespace firn::catalog {
namespace {

using iceberg::JsonDocument;
using iceberg::JsonFields;

std::string text(const JsonFields& fields, std::string_view name) {
    return std::string(fields.text_or_nothing(name).value_or(""));
}

Namespace levels_of(simdjson::dom::element element, const JsonFields& where) {
    Namespace levels;
    if (!element.is_array()) where.bad("namespace", "must be an array of text");
    const simdjson::dom::array array = element.get_array().value_unsafe();
    for (const auto level : array) {
        if (!level.is_string()) where.bad("namespace", "must be an array of text");
        levels.emplace_back(level.get_string().value_unsafe());
    }
    return levels;
}

std::vector<VendedCredential> credentials_of(const JsonFields& root) {
    std::vector<VendedCredential> out;
    root.each_object("storage-credentials", [&](const JsonFields& fields) {
        out.push_back({text(fields, "prefix"), fields.text_map("config")});
    });
    return out;
}

}  // namespace

RestConfig parse_rest_config(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    RestConfig config;
    config.properties = root.text_map("defaults");
    for (const auto& [name, value] : root.text_map("overrides")) config.properties[name] = value;
    if (const auto endpoints = root.array_or_nothing("endpoints"))
        for (const auto endpoint : *endpoints)
            if (endpoint.is_string()) config.endpoints.emplace_back(endpoint.get_string().value_unsafe());
    return config;
}

Page<Namespace> parse_rest_namespaces(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    Page<Namespace> out;
    for (const auto item : root.required_array("namespaces")) out.items.push_back(levels_of(item, root));
    out.next = text(root, "next-page-token");
    return out;
}

Page<TableIdentifier> parse_rest_tables(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    Page<TableIdentifier> out;
    root.each_required_object("identifiers", [&](const JsonFields& fields) {
        out.items.push_back(
            {levels_of(fields.required_element("namespace"), fields), std::string(fields.required_text("name"))});
    });
    out.next = text(root, "next-page-token");
    return out;
}

LoadedTable parse_rest_table(std::string_view body, const std::string& where,
                             const std::map<std::string, std::string>& properties) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    LoadedTable loaded;
    loaded.metadata_location = text(root, "metadata-location");
    loaded.metadata = iceberg::parse_table_metadata(simdjson::minify(root.required_element("metadata")), where);
    loaded.location = loaded.metadata->location;
    loaded.config = properties;
    for (const auto& [name, value] : root.text_map("config")) loaded.config[name] = value;
    loaded.credentials = credentials_of(root);
    return loaded;
}

std::vector<VendedCredential> parse_rest_credentials(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    return credentials_of(JsonFields(document.root(), where));
}

Page<Namespace> parse_glue_databases(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    Page<Namespace> out;
    root.each_required_object("DatabaseList", [&](const JsonFields& database) {
        out.items.push_back({std::string(database.required_text("Name"))});
    });
    out.next = text(root, "NextToken");
    return out;
}

Page<TableIdentifier> parse_glue_tables(std::string_view body, const std::string& where, const Namespace& levels) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    Page<TableIdentifier> out;
    root.each_required_object("TableList", [&](const JsonFields& table) {
        if (is_iceberg(table.text_map("Parameters")))
            out.items.push_back({levels, std::string(table.required_text("Name"))});
    });
    out.next = text(root, "NextToken");
    return out;
}

LoadedTable parse_glue_table(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    const auto found = root.object_or_nothing("Table");
    if (!found) root.bad("Table", "is missing");
    LoadedTable loaded;
    loaded.metadata_location = metadata_location(found->text_map("Parameters"), where);
    loaded.version = text(*found, "VersionId");
    if (const auto descriptor = found->object_or_nothing("StorageDescriptor"))
        loaded.location = text(*descriptor, "Location");
    return loaded;
}

Page<Namespace> parse_unity_schemas(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    Page<Namespace> out;
    root.each_object(
        "schemas", [&](const JsonFields& schema) { out.items.push_back({std::string(schema.required_text("name"))}); });
    out.next = text(root, "next_page_token");
    return out;
}

/// What Iceberg clients may read: Iceberg tables, and Delta tables that carry Iceberg's metadata (UniForm).
Page<TableIdentifier> parse_unity_tables(std::string_view body, const std::string& where, const Namespace& levels) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    Page<TableIdentifier> out;
    const size_t tables = root.each_object("tables", [&](const JsonFields& table) {
        if (text(table, "data_source_format") != "VIEW" && text(table, "table_type") != "VIEW")
            out.items.push_back({levels, std::string(table.required_text("name"))});
    });
    // Some versions give the last name as token even behind the last page; a page with no tables of any kind ends it.
    out.next = tables == 0 ? "" : text(root, "next_page_token");
    return out;
}

LoadedTable parse_unity_table(std::string_view body, const std::string& where) {
    const JsonDocument document(body, where);
    const JsonFields root(document.root(), where);
    std::string location;
    if (const auto uniform = root.object_or_nothing("delta_uniform_iceberg"))
        location = text(*uniform, "metadata_location");
    const auto properties = root.text_map("properties");
    if (const auto found = properties.find("metadata_location"); location.empty() && found != properties.end())
        location = found->second;
    if (location.empty())
        fail(ErrorCode::DATALAKE_DATABASE_ERROR,
             "{} is a {} table without Iceberg metadata (UniForm): firn reads Iceberg tables only", where,
             root.text_or_nothing("data_source_format").value_or("foreign"));
    LoadedTable loaded;
    loaded.metadata_location = std::move(location);
    loaded.location = text(root, "storage_location");
    return loaded;
}

}  // namespace firn::catalog
