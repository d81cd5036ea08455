// Unity Catalog: its own API says what there is, its Iceberg REST endpoint gives the tables' metadata. The warehouse is the
// name of one of its catalogs, schemas are the namespaces.
#pragma once

#include "firn/catalog/catalog_requests.h"
#include "firn/catalog/lake_catalog.h"
#include "firn/catalog/rest_catalog.h"

namespace firn::catalog {

class UnityCatalog final : public LakeCatalog {
public:
    /// url: of its own API, ".../api/2.1/unity-catalog", with or without the Iceberg endpoint's /iceberg or /iceberg-rest
    /// behind it.
    explicit UnityCatalog(const CatalogOptions& options);

    Page<Namespace> list_namespaces(const Namespace& parent, const std::string& page) override;
    Page<TableIdentifier> list_tables(const Namespace& levels, const std::string& page) override;
    std::optional<LoadedTable> load_table(const TableIdentifier& table) override;
    std::vector<VendedCredential> renew_credentials(const TableIdentifier& table) override;

private:
    std::string warehouse_;
    std::string url_;
    CatalogRequests requests_;
    RestCatalog iceberg_;
};

}  // namespace firn::catalog
