#include "firn/table/named_collections.h"

#include "firn/base/error.h"
#include "firn/sql/printer.h"
#include "firn/sql/secrets.h"

namespace firn::table {
namespace {

std::string value_text(const sql::Literal& literal) {
    switch (literal.kind) {
        case sql::Literal::Kind::String:
            return literal.text;
        case sql::Literal::Kind::Bool:
            return literal.boolean ? "1" : "0";
        default:
            return sql::format_literal(literal);
    }
}

/// <a><b>1</b></a> is the key a.b.
void add_values(const storage::ConfigurationNode& node, const std::string& prefix, NamedCollection& collection) {
    for (const auto& child : node.children) {
        const std::string key = prefix + child.name;
        if (!child.children.empty()) {
            add_values(child, key + ".", collection);
            continue;
        }
        NamedCollection::Value value{child.text, std::nullopt};
        if (const auto said = child.attributes.find("overridable"); said != child.attributes.end())
            value.overridable = said->second == "true" || said->second == "1";
        collection.values[key] = std::move(value);
    }
}

}  // namespace

std::string NamedCollection::create_query(const std::string& name) const {
    sql::NamedCollectionStatement statement;
    statement.name = name;
    for (const auto& [key, value] : values)
        statement.values.push_back({key, sql::Literal::from_string(std::string(sql::kHidden)), value.overridable});
    return sql::format_statement(statement, {.hide_secrets = true});
}

void NamedCollections::load(const storage::ConfigurationNode& configuration) {
    std::lock_guard lock(mutex_);
    for (const auto& node : configuration.children) {
        NamedCollection collection;
        collection.from_configuration = true;
        add_values(node, "", collection);
        collections_[node.name] = std::move(collection);
    }
}

void NamedCollections::apply(const sql::NamedCollectionStatement& statement) {
    if (!statement.cluster.empty())
        fail(ErrorCode::NOT_IMPLEMENTED, "Named collections ON CLUSTER are not there: firn is one process");
    std::lock_guard lock(mutex_);
    switch (statement.action) {
        case sql::NamedCollectionStatement::Action::Create:
            return create(statement);
        case sql::NamedCollectionStatement::Action::Alter:
            return alter(statement);
        case sql::NamedCollectionStatement::Action::Drop:
            return drop(statement);
    }
}

void NamedCollections::create(const sql::NamedCollectionStatement& statement) {
    if (collections_.contains(statement.name)) {
        if (statement.if_not_exists) return;
        fail(ErrorCode::NAMED_COLLECTION_ALREADY_EXISTS, "A named collection `{}` already exists", statement.name);
    }
    NamedCollection collection;
    for (const auto& value : statement.values)
        if (!collection.values.emplace(value.key, NamedCollection::Value{value_text(value.value), value.overridable})
                 .second)
            fail(ErrorCode::BAD_ARGUMENTS, "Named collection `{}` has the key `{}` twice", statement.name, value.key);
    collections_.emplace(statement.name, std::move(collection));
}

void NamedCollections::alter(const sql::NamedCollectionStatement& statement) {
    const auto found = collections_.find(statement.name);
    if (found == collections_.end()) {
        if (statement.if_exists) return;
        fail(ErrorCode::NAMED_COLLECTION_DOESNT_EXIST, "Cannot update collection `{}`, because it doesn't exist",
             statement.name);
    }
    if (found->second.from_configuration)
        fail(ErrorCode::NAMED_COLLECTION_IS_IMMUTABLE, "Collection `{}` is of the configuration and cannot be altered",
             statement.name);
    NamedCollection changed = found->second;
    for (const auto& value : statement.values)
        changed.values[value.key] = NamedCollection::Value{value_text(value.value), value.overridable};
    for (const auto& key : statement.deleted)
        if (changed.values.erase(key) == 0)
            fail(ErrorCode::BAD_ARGUMENTS, "Cannot delete key `{}` of collection `{}`: there is no such key", key,
                 statement.name);
    found->second = std::move(changed);
}

void NamedCollections::drop(const sql::NamedCollectionStatement& statement) {
    const auto found = collections_.find(statement.name);
    if (found == collections_.end()) {
        if (statement.if_exists) return;
        fail(ErrorCode::NAMED_COLLECTION_DOESNT_EXIST, "Cannot remove collection `{}`, because it doesn't exist",
             statement.name);
    }
    if (found->second.from_configuration)
        fail(ErrorCode::NAMED_COLLECTION_IS_IMMUTABLE, "Collection `{}` is of the configuration and cannot be dropped",
             statement.name);
    collections_.erase(found);
}

NamedCollection NamedCollections::get(const std::string& name) const {
    std::lock_guard lock(mutex_);
    const auto found = collections_.find(name);
    if (found == collections_.end())
        fail(ErrorCode::NAMED_COLLECTION_DOESNT_EXIST, "There is no named collection `{}`", name);
    return found->second;
}

bool NamedCollections::contains(const std::string& name) const {
    std::lock_guard lock(mutex_);
    return collections_.contains(name);
}

std::vector<std::pair<std::string, NamedCollection>> NamedCollections::all() const {
    std::lock_guard lock(mutex_);
    return {collections_.begin(), collections_.end()};
}

}  // namespace firn::table
