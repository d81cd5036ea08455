#include "firn/catalog/hive_catalog.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/storage/url.h"

namespace firn::catalog {
namespace {

constexpr int kDefaultPort = 9083;
constexpr size_t kNamesAtOnce = 300;

}  // namespace

HiveCatalog::HiveCatalog(const CatalogOptions& options) : catalog_name_(options.warehouse), timeout_(options.timeout) {
    const storage::Url url = storage::parse_url(options.url);
    host_ = url.host;
    port_ = url.port == 0 ? kDefaultPort : static_cast<int>(url.port);
    shown_name_ = "Hive metastore " + host_ + ":" + std::to_string(port_);
}

HiveCatalog::~HiveCatalog() = default;

std::unique_ptr<HiveMetastore> HiveCatalog::connect() const {
    return std::make_unique<HiveMetastore>(host_, port_, shown_name_, timeout_);
}

template <typename Work>
auto HiveCatalog::with_connection(Work&& work) {
    std::lock_guard lock(mutex_);
    const bool kept = connection_ != nullptr;
    if (!kept) connection_ = connect();
    try {
        return work(*connection_);
    } catch (const Error& error) {
        const bool broken = connection_->broken();
        if (broken) connection_.reset();
        if (!broken || !kept || error.code() == ErrorCode::SOCKET_TIMEOUT) throw;
    }
    connection_ = connect();
    return work(*connection_);
}

Page<Namespace> HiveCatalog::list_namespaces(const Namespace& parent, const std::string&) {
    if (!parent.empty()) return {};
    Page<Namespace> out;
    for (auto& name : with_connection([](HiveMetastore& metastore) { return metastore.databases(); }))
        out.items.push_back({std::move(name)});
    return out;
}

/// A page is a number of names, of which the Iceberg tables are kept; its token says where it begins.
Page<TableIdentifier> HiveCatalog::list_tables(const Namespace& levels, const std::string& page) {
    if (levels.size() != 1) return {};
    return with_connection([&](HiveMetastore& metastore) {
        if (page.empty() || listed_database_ != levels[0]) {
            listed_names_ = metastore.tables(levels[0]);
            listed_database_ = levels[0];
        }
        const size_t begin = page.empty() ? 0 : std::min<size_t>(std::stoull(page), listed_names_.size());
        const size_t end = std::min(begin + kNamesAtOnce, listed_names_.size());
        Page<TableIdentifier> out;
        if (begin == end) return out;
        const auto first = listed_names_.begin();
        const std::vector<std::string> names(first + static_cast<ptrdiff_t>(begin),
                                             first + static_cast<ptrdiff_t>(end));
        for (const auto& table : metastore.tables_by_name(levels[0], names, catalog_name_))
            if (is_iceberg(table.parameters)) out.items.push_back({levels, table.name});
        if (end < listed_names_.size()) out.next = std::to_string(end);
        return out;
    });
}

std::optional<LoadedTable> HiveCatalog::load_table(const TableIdentifier& table) {
    if (table.levels.size() != 1) return std::nullopt;
    const auto found = with_connection(
        [&](HiveMetastore& metastore) { return metastore.table(table.levels[0], table.table, catalog_name_); });
    if (!found) return std::nullopt;
    LoadedTable loaded;
    loaded.metadata_location = metadata_location(found->parameters, shown_name_ + ", table " + table.display());
    loaded.location = found->location;
    return loaded;
}

}  // namespace firn::catalog
