// A store of stores: what is asked for goes to the one that a path is of.
#pragma once

#include <map>

#include "firn/storage/object_store.h"

namespace firn::storage {

class RoutedStore : public ObjectStore {
public:
    using ObjectStore::open;
    ObjectInfo stat(std::string_view path) const override { return at(path).stat(path); }
    std::optional<ObjectInfo> try_stat(std::string_view path) const override { return at(path).try_stat(path); }
    std::shared_ptr<const OpenFile> open(std::string_view path) const override { return at(path).open(path); }
    std::shared_ptr<const OpenFile> open(std::string_view path, const ObjectInfo& known) const override {
        return at(path).open(path, known);
    }
    void read(std::string_view path, uint64_t offset, std::span<uint8_t> out) const override {
        at(path).read(path, offset, out);
    }
    std::string read_all(std::string_view path, uint64_t limit) const override {
        return at(path).read_all(path, limit);
    }
    std::string read_all(const ObjectInfo& known, uint64_t limit) const override {
        return at(known.path).read_all(known, limit);
    }
    std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const override {
        return at(prefix).list(prefix, recursive);
    }
    void put(std::string_view path, std::span<const uint8_t> bytes) override { at(path).put(path, bytes); }
    bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) override {
        return at(path).put_if_absent(path, bytes);
    }
    bool remove(std::string_view path) override { return at(path).remove(path); }
    void remove_all(std::span<const std::string> paths) override {
        std::map<ObjectStore*, std::vector<std::string>> by_store;
        for (const std::string& path : paths) by_store[&at(path)].push_back(path);
        for (const auto& [store, own] : by_store) store->remove_all(own);
    }
    std::string shown_path(std::string_view path) const override { return at(path).shown_path(path); }

private:
    /// Lives as long as this store does.
    virtual ObjectStore& at(std::string_view path) const = 0;
};

}  // namespace firn::storage
