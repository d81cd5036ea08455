// SYSTEM DROP … CACHE, and which caches a statement's settings and a configuration choose.
#pragma once

#include "firn/base/settings.h"
#include "firn/sql/statement.h"
#include "firn/storage/configuration.h"
#include "firn/table/catalog.h"

namespace firn::session {

/// SYSTEM DROP | CLEAR … CACHE. SYNTAX_ERROR for a cache that there is not, BAD_ARGUMENTS for an unknown cache on disk,
/// NOT_IMPLEMENTED for any other SYSTEM command.
void run_system(const sql::OtherStatement& statement, const table::Catalog& catalog);

/// The number of the cache on disk that the statement reads through; -1: none. BAD_ARGUMENTS where
/// filesystem_cache_name names none.
int filesystem_cache_of(const Settings& settings);

/// filesystem_caches and page_cache_max_size. BAD_ARGUMENTS.
void configure_caches(const storage::ConfigurationNode& configuration);

}  // namespace firn::session
