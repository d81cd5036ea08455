// One store out of several, each for the paths below a prefix: where a catalog lends keys of their own for some of them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "firn/storage/object_store.h"

namespace firn::catalog {

/// Each path goes to the store of the longest prefix that it begins with, to `otherwise` where it has none. For the keys
/// of caches all are one, `otherwise`.
std::shared_ptr<storage::ObjectStore> stores_by_prefix(
    std::shared_ptr<storage::ObjectStore> otherwise,
    std::map<std::string, std::shared_ptr<storage::ObjectStore>> stores);

}  // namespace firn::catalog
