// Tables of database system that tell what was counted and what is cached: events, metrics, filesystem_cache,
// filesystem_cache_settings.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/plan/source.h"
#include "firn/table/catalog.h"

namespace firn::table {

/// Null where there is none by that name. `catalog` must outlive it.
std::shared_ptr<const plan::Source> cache_system_table(std::string_view name, const Catalog& catalog,
                                                       const Settings& settings);
std::vector<std::string> cache_system_table_names();

}  // namespace firn::table
