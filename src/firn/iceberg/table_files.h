// Reading a table's metadata from storage, through the cache: which files hold what, and where they are.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "firn/iceberg/manifest.h"
#include "firn/iceberg/manifest_list.h"
#include "firn/iceberg/metadata.h"
#include "firn/iceberg/metadata_cache.h"
#include "firn/iceberg/path_resolver.h"
#include "firn/storage/object_store.h"

namespace firn::iceberg {

/// A table as one metadata file describes it. Immutable, thread-safe; cheap to copy.
class TableFiles {
public:
    /// opened_at: the table's folder; empty: where the metadata say. metadata_file: as find_metadata_object gives it. cache: null = none.
    static TableFiles open(std::shared_ptr<storage::ObjectStore> store, std::string_view opened_at,
                           const storage::ObjectInfo& metadata_file, std::shared_ptr<MetadataCache> cache);
    /// With metadata that is parsed already: a catalog's reply.
    static TableFiles of(std::shared_ptr<storage::ObjectStore> store, std::string_view opened_at,
                         std::shared_ptr<const TableMetadata> metadata, std::shared_ptr<MetadataCache> cache);

    const TableMetadata& metadata() const { return *metadata_; }
    const std::shared_ptr<const TableMetadata>& metadata_ptr() const { return metadata_; }
    const PathResolver& paths() const { return *paths_; }
    storage::ObjectStore& store() const { return *store_; }
    const std::shared_ptr<storage::ObjectStore>& store_ptr() const { return store_; }
    const std::shared_ptr<MetadataCache>& cache() const { return cache_; }

    /// FILE_DOESNT_EXIST, naming the table's snapshot, when an expired snapshot's files are gone.
    std::shared_ptr<const ManifestList> manifest_list(const Snapshot& snapshot) const;
    std::shared_ptr<const Manifest> manifest(const ManifestFile& file) const;

private:
    std::shared_ptr<storage::ObjectStore> store_;
    std::shared_ptr<MetadataCache> cache_;
    std::shared_ptr<const TableMetadata> metadata_;
    std::shared_ptr<const PathResolver> paths_;
};

}  // namespace firn::iceberg
