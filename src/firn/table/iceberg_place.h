// Where an Iceberg table lies that no catalog keeps, and its metadata as they are now, or were a moment ago.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "firn/base/settings.h"
#include "firn/iceberg/metadata_cache.h"
#include "firn/iceberg/metadata_location.h"
#include "firn/iceberg/table_files.h"
#include "firn/storage/object_store.h"

namespace firn::table {

struct IcebergPlace {
    std::shared_ptr<storage::ObjectStore> store;
    std::string root;  ///< the table's folder, as the store takes it
    iceberg::MetadataLocationOptions options;
    std::shared_ptr<iceberg::MetadataCache> cache;  ///< null: none

    /// Its newest metadata file is looked for, unless it was found no longer than `staleness` ago.
    iceberg::TableFiles open(std::chrono::milliseconds staleness) const;

    /// Looks for the newest metadata file and puts it, its present snapshot's manifest list and the manifests into the
    /// cache, those that are not there yet.
    void prefetch() const;
};

/// iceberg_metadata_staleness_ms; 0 where metadata are not cached.
std::chrono::milliseconds metadata_staleness(const Settings& settings);

}  // namespace firn::table
