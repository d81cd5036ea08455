#include "firn/catalog/stores_by_prefix.h"

#include <utility>

#include "firn/iceberg/path_resolver.h"

namespace firn::catalog {
namespace {

using storage::ObjectInfo;
using storage::ObjectStore;
using storage::OpenFile;

class StoresByPrefix final : public ObjectStore {
public:
    StoresByPrefix(std::shared_ptr<ObjectStore> otherwise, std::map<std::string, std::shared_ptr<ObjectStore>> stores)
        : otherwise_(std::move(otherwise)), stores_(std::move(stores)) {}

    ObjectInfo stat(std::string_view path) const override { return of(path).stat(path); }
    std::optional<ObjectInfo> try_stat(std::string_view path) const override { return of(path).try_stat(path); }
    std::shared_ptr<const OpenFile> open(std::string_view path) const override { return of(path).open(path); }
    std::shared_ptr<const OpenFile> open(std::string_view path, const ObjectInfo& known) const override {
        return of(path).open(path, known);
    }
    std::string identity() const override { return otherwise_->identity(); }
    void read(std::string_view path, uint64_t offset, std::span<uint8_t> out) const override {
        of(path).read(path, offset, out);
    }
    std::string read_all(std::string_view path, uint64_t limit) const override {
        return of(path).read_all(path, limit);
    }
    std::string read_all(const ObjectInfo& known, uint64_t limit) const override {
        return of(known.path).read_all(known, limit);
    }
    std::vector<ObjectInfo> list(std::string_view prefix, bool recursive) const override {
        return of(prefix).list(prefix, recursive);
    }
    void put(std::string_view path, std::span<const uint8_t> bytes) override { of(path).put(path, bytes); }
    bool put_if_absent(std::string_view path, std::span<const uint8_t> bytes) override {
        return of(path).put_if_absent(path, bytes);
    }
    bool remove(std::string_view path) override { return of(path).remove(path); }
    std::string shown_path(std::string_view path) const override { return of(path).shown_path(path); }

private:
    ObjectStore& of(std::string_view path) const {
        const std::pair<const std::string, std::shared_ptr<ObjectStore>>* best = nullptr;
        const std::string name = iceberg::canonical_path(path);  // as the prefixes are
        for (const auto& store : stores_)
            if (name.starts_with(store.first) && (!best || store.first.size() > best->first.size())) best = &store;
        return best ? *best->second : *otherwise_;
    }

    const std::shared_ptr<ObjectStore> otherwise_;
    const std::map<std::string, std::shared_ptr<ObjectStore>> stores_;
};

}  // namespace

std::shared_ptr<ObjectStore> stores_by_prefix(std::shared_ptr<ObjectStore> otherwise,
                                              std::map<std::string, std::shared_ptr<ObjectStore>> stores) {
    return std::make_shared<StoresByPrefix>(std::move(otherwise), std::move(stores));
}

}  // namespace firn::catalog
