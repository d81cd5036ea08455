// A catalog of Iceberg tables: what it holds, and where a table's present metadata is.
//
// Thread-safe. Nothing is asked before the first call. Errors: DATALAKE_DATABASE_ERROR (what the service says, with its own
// type, or an answer that makes no sense), AUTHENTICATION_FAILED, ACCESS_DENIED, and those of the HTTP client
// (NETWORK_ERROR, DNS_ERROR, SOCKET_TIMEOUT), each naming the catalog and never a secret.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/catalog/catalog_options.h"
#include "firn/iceberg/metadata.h"

namespace firn::catalog {

/// Levels, outermost first.
using Namespace = std::vector<std::string>;

struct TableIdentifier {
    Namespace levels;
    std::string table;

    /// "a.b.table", as SQL names it inside the database.
    std::string display() const;
    bool operator==(const TableIdentifier&) const = default;
};

/// What a name inside the database may stand for, the likeliest first: the last dot parts the namespace from the table,
/// each dot before it two levels; but levels and tables may hold dots themselves.
std::vector<TableIdentifier> readings_of(std::string_view name, bool nested_namespaces);

/// Keys to storage that the catalog lends, for the paths below a prefix; properties are named as Iceberg's FileIO names
/// them (s3.access-key-id, adls.sas-token.account …).
struct VendedCredential {
    std::string prefix;  ///< empty: for all of the table
    std::map<std::string, std::string> properties;
    /// Milliseconds since 1970; nothing where the catalog does not say.
    std::optional<int64_t> expires_ms() const;
};

struct LoadedTable {
    /// Of the metadata file; with `metadata` it is only a name and may be no path.
    std::string metadata_location;
    /// As the catalog's reply holds it; null where it lies at metadata_location only.
    std::shared_ptr<const iceberg::TableMetadata> metadata;
    /// The table's folder; empty: the metadata's.
    std::string location;
    std::map<std::string, std::string> config;
    std::vector<VendedCredential> credentials;
    /// What a commit must find unchanged, in the catalog's own terms (Glue's VersionId, an ETag); may be empty.
    std::string version;
};

template <typename Item>
struct Page {
    std::vector<Item> items;
    std::string next;  ///< token of the page behind it; empty: this is the last
};

/// One commit of a table. A catalog that checks by itself (REST) is sent requirements and updates; one that only points to
/// a file (Glue, Hive) puts new_metadata_location in the place of base_metadata_location, where it still stands.
struct TableCommit {
    TableIdentifier table;
    std::string requirements;  ///< JSON arrays of the REST specification
    std::string updates;
    std::string base_metadata_location;  ///< empty: the table is new
    std::string new_metadata_location;
    std::string base_version;  ///< LoadedTable::version
};
/// Unknown: the reply was lost, the commit may have happened; nothing it refers to may be deleted.
enum class CommitOutcome : uint8_t { Done, Conflict, Unknown };

class LakeCatalog {
public:
    virtual ~LakeCatalog() = default;
    LakeCatalog() = default;
    LakeCatalog(const LakeCatalog&) = delete;
    LakeCatalog& operator=(const LakeCatalog&) = delete;

    /// Whether namespaces have namespaces in them.
    virtual bool nested_namespaces() const { return false; }
    /// Those right below `parent`, one page; page "" is the first.
    virtual Page<Namespace> list_namespaces(const Namespace& parent, const std::string& page) = 0;
    virtual Page<TableIdentifier> list_tables(const Namespace& levels, const std::string& page) = 0;
    /// Nothing where there is no such table.
    virtual std::optional<LoadedTable> load_table(const TableIdentifier& table) = 0;
    /// Fresh keys of a table that was loaded, where they can be had without loading it again; none: they cannot.
    virtual std::vector<VendedCredential> renew_credentials(const TableIdentifier& table);
    virtual CommitOutcome commit(const TableCommit& commit);

    /// Every table, namespace by namespace, page by page; stops when `visit` gives false.
    void each_table(const std::function<bool(const TableIdentifier&)>& visit);
};

using TableParameters = std::map<std::string, std::string>;
/// Of catalogs that only point to a metadata file (Glue, Hive): whether these are of an Iceberg table.
bool is_iceberg(const TableParameters& parameters);
/// The metadata file. DATALAKE_DATABASE_ERROR, with `where`, for a table of another kind and for one that names none.
std::string metadata_location(const TableParameters& parameters, const std::string& where);

/// The catalog that the options name. Asks nothing of it yet. BAD_ARGUMENTS for options that do not fit together.
std::unique_ptr<LakeCatalog> make_catalog(const CatalogOptions& options);

}  // namespace firn::catalog
