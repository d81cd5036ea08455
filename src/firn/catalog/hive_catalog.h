// The Hive metastore, over Thrift's binary protocol. A database is a namespace of one level; tables whose parameter
// table_type is ICEBERG are listed.
#pragma once

#include <memory>
#include <mutex>

#include "firn/catalog/hive_metastore.h"
#include "firn/catalog/lake_catalog.h"

namespace firn::catalog {

class HiveCatalog final : public LakeCatalog {
public:
    /// url: thrift://host:port, port 9083 where none is given. warehouse: the metastore's catalog, mostly empty ("hive").
    explicit HiveCatalog(const CatalogOptions& options);
    ~HiveCatalog() override;

    Page<Namespace> list_namespaces(const Namespace& parent, const std::string& page) override;
    Page<TableIdentifier> list_tables(const Namespace& levels, const std::string& page) override;
    std::optional<LoadedTable> load_table(const TableIdentifier& table) override;

private:
    std::unique_ptr<HiveMetastore> connect() const;
    /// Runs `work` on the connection, once more on a new one where it was cut meanwhile.
    template <typename Work>
    auto with_connection(Work&& work);

    std::string shown_name_, host_, catalog_name_;
    int port_ = 0;
    std::chrono::milliseconds timeout_;
    std::mutex mutex_;
    std::unique_ptr<HiveMetastore> connection_;
    /// Names of the database that is being listed.
    std::string listed_database_;
    std::vector<std::string> listed_names_;
};

}  // namespace firn::catalog
