// What the catalogs' HTTP services answer: JSON that is not trusted.
//
// `where` names catalog and request in errors: INCORRECT_DATA for what is no JSON, ICEBERG_SPECIFICATION_VIOLATION for a field
// that is missing or of a wrong type, DATALAKE_DATABASE_ERROR for a table that is of no use.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "firn/catalog/lake_catalog.h"

namespace firn::catalog {

// The Iceberg REST protocol.

struct RestConfig {
    std::map<std::string, std::string> properties;  ///< the defaults, and over them the overrides
    std::vector<std::string> endpoints;             ///< "GET /v1/{prefix}/namespaces"; empty: not said
};
RestConfig parse_rest_config(std::string_view body, const std::string& where);
Page<Namespace> parse_rest_namespaces(std::string_view body, const std::string& where);
Page<TableIdentifier> parse_rest_tables(std::string_view body, const std::string& where);
/// `properties`: the catalog's, over which the table's own stand.
LoadedTable parse_rest_table(std::string_view body, const std::string& where,
                             const std::map<std::string, std::string>& properties);
std::vector<VendedCredential> parse_rest_credentials(std::string_view body, const std::string& where);

// AWS Glue.

Page<Namespace> parse_glue_databases(std::string_view body, const std::string& where);
Page<TableIdentifier> parse_glue_tables(std::string_view body, const std::string& where, const Namespace& levels);
LoadedTable parse_glue_table(std::string_view body, const std::string& where);

// Unity Catalog's own API.

Page<Namespace> parse_unity_schemas(std::string_view body, const std::string& where);
Page<TableIdentifier> parse_unity_tables(std::string_view body, const std::string& where, const Namespace& levels);
LoadedTable parse_unity_table(std::string_view body, const std::string& where);

}  // namespace firn::catalog
