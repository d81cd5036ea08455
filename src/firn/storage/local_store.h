// The local disk as an object store. Paths are the system's own, absolute or relative to the working directory.
#pragma once

#include "firn/storage/object_store.h"

namespace firn::storage {

/// Stateless. A write goes to a hidden temporary file in the same folder, is synced, then renamed (put) or linked
/// (put_if_absent) into place, and the folder is synced. Missing folders are made. Etags are made from size,
/// modification time and inode.
class LocalStore final : public ObjectStore {
public:
    ObjectInfo stat(std::string_view path) const override;
    std::optional<ObjectInfo> try_stat(std::string_view path) const override;
    using ObjectStore::open;
    std::shared_ptr<const OpenFile> open(std::string_view path) const override;
    using ObjectStore::read_all;
    std::string read_all(std::string_view path, uint64_t limit) const override;
    std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const override;
    void put(std::string_view path, std::span<const uint8_t> bytes) override;
    bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) override;
    bool remove(std::string_view path) override;
};

/// The process's local store.
LocalStore& local_store();

}  // namespace firn::storage
