// CREATE, ALTER and DROP NAMED COLLECTION.
#include "firn/sql/parser_impl.h"

namespace firn::sql {

StatementPtr Parser::parse_named_collection(NamedCollectionStatement::Action action) {
    using Action = NamedCollectionStatement::Action;
    auto statement = std::make_shared<NamedCollectionStatement>();
    statement->action = action;
    if (action == Action::Create)
        statement->if_not_exists = accept_keyword("IF NOT EXISTS");
    else
        statement->if_exists = accept_keyword("IF EXISTS");
    statement->name = parse_name();
    statement->cluster = parse_on_cluster();
    if (action == Action::Create) {
        expect_keyword("AS");
        parse_collection_values(*statement);
    } else if (action == Action::Alter) {
        if (accept_keyword("SET")) parse_collection_values(*statement);
        if (accept_keyword("DELETE")) {
            do {
                statement->deleted.push_back(parse_name());
            } while (accept(TokenType::Comma, "Comma"));
        }
        if (statement->values.empty() && statement->deleted.empty()) syntax_error();
    }
    return statement;
}

void Parser::parse_collection_values(NamedCollectionStatement& statement) {
    do {
        NamedCollectionStatement::Value value;
        value.key = parse_name();
        expect(TokenType::Equals, "Equals");
        value.value = parse_setting_value();
        if (accept_keyword("NOT OVERRIDABLE"))
            value.overridable = false;
        else if (accept_keyword("OVERRIDABLE"))
            value.overridable = true;
        statement.values.push_back(std::move(value));
    } while (accept(TokenType::Comma, "Comma"));
}

}  // namespace firn::sql
