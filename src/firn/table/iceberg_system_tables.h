// system.iceberg_history, iceberg_snapshots, iceberg_refs, iceberg_manifests, iceberg_files, iceberg_partitions: what the
// metadata of the session's Iceberg tables says.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/settings.h"
#include "firn/plan/source.h"

namespace firn::table {

class Catalog;

/// Null where there is none by that name. The catalog must outlive the source.
std::shared_ptr<const plan::Source> iceberg_system_table(std::string_view name, const Catalog& catalog,
                                                         const Settings& settings);
std::vector<std::string> iceberg_system_table_names();

}  // namespace firn::table
