#include "firn/catalog/stores_by_prefix.h"

#include <utility>

#include "firn/iceberg/path_resolver.h"
#include "firn/storage/routed_store.h"

namespace firn::catalog {
namespace {

using storage::ObjectStore;

class StoresByPrefix final : public storage::RoutedStore {
public:
    StoresByPrefix(std::shared_ptr<ObjectStore> otherwise, std::map<std::string, std::shared_ptr<ObjectStore>> stores)
        : otherwise_(std::move(otherwise)), stores_(std::move(stores)) {}

    std::string identity() const override { return otherwise_->identity(); }

private:
    ObjectStore& at(std::string_view path) const override {
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
