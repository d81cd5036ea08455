// A catalog that speaks the Iceberg REST protocol (the specification's rest-catalog-open-api): the reference server, Nessie,
// Polaris, Lakekeeper, Gravitino, Unity's and SeaweedFS's own, S3 Tables and others.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "firn/catalog/catalog_requests.h"
#include "firn/catalog/lake_catalog.h"

namespace firn::catalog {

class RestCatalog final : public LakeCatalog {
public:
    /// url: with or without the last /v1. A Nessie branch is part of it: http://host/iceberg/branch.
    RestCatalog(const CatalogOptions& options, const std::string& url);

    bool nested_namespaces() const override { return !options_.flat_namespaces; }
    Page<Namespace> list_namespaces(const Namespace& parent, const std::string& page) override;
    Page<TableIdentifier> list_tables(const Namespace& levels, const std::string& page) override;
    std::optional<LoadedTable> load_table(const TableIdentifier& table) override;
    std::vector<VendedCredential> renew_credentials(const TableIdentifier& table) override;

private:
    /// What GET /config said, asked once it is needed; a failure is asked again.
    struct Config {
        std::string base;       ///< "https://host/v1"
        std::string prefix;     ///< "" or "/prefix", encoded
        std::string separator;  ///< between levels of a namespace in a URL, encoded
        std::map<std::string, std::string> properties;
        std::vector<std::string> endpoints;  ///< "GET /v1/{prefix}/namespaces"; empty: not said
    };
    Config config();
    void use_properties(Config& config);
    std::string namespace_path(const Config& config, const Namespace& levels) const;
    std::string table_path(const Config& config, const TableIdentifier& table) const;

    CatalogOptions options_;
    std::string url_;
    CatalogRequests requests_;
    std::mutex mutex_;
    std::optional<Config> config_;
};

}  // namespace firn::catalog
