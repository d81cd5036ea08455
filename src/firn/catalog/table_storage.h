// The storage of a catalog's table: where it is, and with whose keys.
#pragma once

#include <memory>
#include <string>

#include "firn/catalog/lake_catalog.h"
#include "firn/storage/http.h"
#include "firn/storage/object_store.h"

namespace firn::catalog {

/// A store for the files of the table at `location` (canonical). Keys, in this order: those the catalog lent for the
/// longest prefix of the file's path, renewed through the catalog before they expire; the database's user and password; its
/// AWS settings; the environment's. NOT_IMPLEMENTED for a scheme that firn does not know.
std::shared_ptr<storage::ObjectStore> open_table_storage(const std::shared_ptr<LakeCatalog>& catalog,
                                                         const CatalogOptions& options, const TableIdentifier& table,
                                                         const LoadedTable& loaded, const std::string& location,
                                                         const storage::HttpOptions& http);

/// Whether both were lent keys for the same places, so that a store made for the one serves the other.
bool lent_for_same_places(const LoadedTable& a, const LoadedTable& b);

}  // namespace firn::catalog
