// Named collections: arguments of table functions, engines and catalogs kept under a name, from the configuration or from
// CREATE NAMED COLLECTION.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/sql/statement.h"
#include "firn/storage/configuration.h"

namespace firn::table {

struct NamedCollection {
    struct Value {
        std::string text;
        std::optional<bool> overridable;  // nothing said: allow_named_collection_override_by_default
    };
    bool from_configuration = false;  // cannot be altered or dropped
    std::map<std::string, Value, std::less<>> values;

    /// As CREATE NAMED COLLECTION, all values hidden.
    std::string create_query(const std::string& name) const;
};

/// Thread-safe. Errors: NAMED_COLLECTION_ALREADY_EXISTS, NAMED_COLLECTION_DOESNT_EXIST, NAMED_COLLECTION_IS_IMMUTABLE,
/// BAD_ARGUMENTS.
class NamedCollections {
public:
    /// The children of <named_collections>.
    void load(const storage::ConfigurationNode& configuration);
    /// CREATE, ALTER, DROP.
    void apply(const sql::NamedCollectionStatement& statement);
    NamedCollection get(const std::string& name) const;
    bool contains(const std::string& name) const;
    std::vector<std::pair<std::string, NamedCollection>> all() const;

private:
    void create(const sql::NamedCollectionStatement& statement);
    void alter(const sql::NamedCollectionStatement& statement);
    void drop(const sql::NamedCollectionStatement& statement);

    mutable std::mutex mutex_;
    std::map<std::string, NamedCollection> collections_;
};

}  // namespace firn::table
