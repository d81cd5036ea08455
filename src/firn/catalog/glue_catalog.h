// AWS Glue's Data Catalog, over its JSON API with signed requests. A database is a namespace of one level; tables whose
// parameter table_type is ICEBERG are listed.
#pragma once

#include "firn/catalog/catalog_requests.h"
#include "firn/catalog/lake_catalog.h"

namespace firn::catalog {

class GlueCatalog final : public LakeCatalog {
public:
    /// region: the setting, else the environment's. BAD_ARGUMENTS where neither a region nor a URL is given.
    explicit GlueCatalog(const CatalogOptions& options);

    Page<Namespace> list_namespaces(const Namespace& parent, const std::string& page) override;
    Page<TableIdentifier> list_tables(const Namespace& levels, const std::string& page) override;
    std::optional<LoadedTable> load_table(const TableIdentifier& table) override;

private:
    /// `fields`: the request's JSON without the braces. Nothing for EntityNotFoundException.
    std::optional<std::string> call(std::string_view operation, std::string fields) const;

    std::string url_, catalog_id_;
    CatalogRequests requests_;
};

}  // namespace firn::catalog
