// CREATE and ATTACH, and the column definitions ALTER shares with them.
#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"

namespace firn::sql {

std::string Parser::parse_on_cluster() {
    if (!accept_keyword("ON CLUSTER")) return "";
    return at(TokenType::String) ? parse_string() : parse_name();
}

std::string Parser::parse_uuid() { return accept_keyword("UUID") ? parse_string() : ""; }

std::optional<std::string> Parser::parse_comment() {
    if (!accept_keyword("COMMENT")) return std::nullopt;
    return parse_string();
}

StatementPtr Parser::parse_create() {
    const std::string_view verb = accept_any({"CREATE", "REPLACE", "ATTACH"});
    const bool attach = verb == "ATTACH";
    const bool or_replace = !attach && verb == "CREATE" && accept_keyword("OR REPLACE");
    if (verb == "CREATE" && !or_replace && accept_keyword("NAMED COLLECTION"))
        return parse_named_collection(NamedCollectionStatement::Action::Create);
    const bool temporary = accept_keyword("TEMPORARY");
    if (accept_keyword("TABLE")) {
        auto create = std::make_shared<CreateTableStatement>();
        create->attach = attach;
        create->or_replace = or_replace;
        create->replace = verb == "REPLACE";
        create->temporary = temporary;
        return parse_create_table(std::move(create));
    }
    const bool materialized = accept_keyword("MATERIALIZED");
    if (accept_keyword("VIEW")) {
        auto create = std::make_shared<CreateViewStatement>();
        create->attach = attach;
        create->or_replace = or_replace;
        create->temporary = temporary;
        create->materialized = materialized;
        return parse_create_view(std::move(create));
    }
    if (!materialized && !temporary && !or_replace && accept_keyword("DATABASE")) {
        auto create = std::make_shared<CreateDatabaseStatement>();
        create->attach = attach;
        return parse_create_database(std::move(create));
    }
    if (at(TokenType::BareWord) && at_name(1)) {
        fail(ErrorCode::NOT_IMPLEMENTED, "{} {} is not supported", verb, token_text());
    }
    syntax_error();
}

StatementPtr Parser::parse_create_table(std::shared_ptr<CreateTableStatement> create) {
    create->if_not_exists = accept_keyword("IF NOT EXISTS");
    create->table = parse_table_name();
    create->uuid = parse_uuid();
    create->cluster = parse_on_cluster();
    if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
        parse_table_elements(create->columns, create.get());
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    }
    parse_storage(create->storage);
    create->comment = parse_comment();
    while (true) {
        if (accept_keyword("CLONE AS")) {
            create->clone = true;
            create->as_table = parse_table_name();
        } else if (at_keyword("EMPTY AS")) {
            index_ += 2;
            create->empty = true;
            create->as_query = parse_query();
        } else if (accept_keyword("AS")) {
            if (at_query()) {
                create->as_query = parse_query();
            } else if (at_name() && at(TokenType::OpenRound, 1)) {
                const size_t begin = pos();
                const std::string name = parse_name();
                create->as_function = finish_table_function(name, begin);
            } else {
                create->as_table = parse_table_name();
            }
        } else {
            break;
        }
        parse_storage(create->storage);
        if (!create->comment) create->comment = parse_comment();
    }
    return create;
}

StatementPtr Parser::parse_create_view(std::shared_ptr<CreateViewStatement> create) {
    create->if_not_exists = accept_keyword("IF NOT EXISTS");
    create->view = parse_table_name();
    create->uuid = parse_uuid();
    create->cluster = parse_on_cluster();
    if (accept_keyword("TO")) create->to = parse_table_name();
    if (accept(TokenType::OpenRound, "OpeningRoundBracket")) {
        parse_table_elements(create->columns, nullptr);
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    }
    if (!create->to && accept_keyword("TO")) create->to = parse_table_name();
    parse_storage(create->storage);
    create->populate = accept_keyword("POPULATE");
    create->comment = parse_comment();
    expect_keyword("AS");
    expected("SELECT query");
    if (!at_query()) syntax_error();
    create->query = parse_query();
    if (!create->comment) create->comment = parse_comment();
    return create;
}

StatementPtr Parser::parse_create_database(std::shared_ptr<CreateDatabaseStatement> create) {
    create->if_not_exists = accept_keyword("IF NOT EXISTS");
    create->database = parse_name();
    create->uuid = parse_uuid();
    create->cluster = parse_on_cluster();
    parse_storage(create->storage);
    create->comment = parse_comment();
    if (create->comment) parse_storage(create->storage);
    return create;
}

void Parser::parse_table_elements(std::vector<ColumnDefinition>& columns, CreateTableStatement* table) {
    while (!at(TokenType::CloseRound)) {
        const bool named = at_name(1) && !at_keyword("CHECK", 2) && !at_keyword("ASSUME", 2);
        if (table && at_keyword("CONSTRAINT") && !named) {
            ++index_;
            std::string name = parse_name();
            const std::string_view kind = accept_any({"CHECK", "ASSUME"});
            if (kind.empty()) syntax_error();
            table->constraints.emplace_back(std::move(name), parse_expr());
        } else if (table && at_keyword("PRIMARY KEY")) {
            index_ += 2;
            table->primary_key = parse_expr();
        } else if ((at_keyword("INDEX") || at_keyword("PROJECTION")) && at_name(1) &&
                   (at_name(2) || at(TokenType::OpenRound, 2)) && !at_keyword("DEFAULT", 2) &&
                   !at_keyword("COMMENT", 2) && !at_keyword("NULL", 2) && !at_keyword("NOT", 2)) {
            fail(ErrorCode::NOT_IMPLEMENTED, "{} in a table definition is not supported", token_text());
        } else {
            columns.push_back(parse_column_definition(false));
        }
        if (!accept(TokenType::Comma, "Comma")) break;
    }
}

ColumnDefinition Parser::parse_column_definition(bool compound_name) {
    ColumnDefinition column;
    column.pos = pos();
    if (compound_name) {
        for (const std::string& part : parse_compound_name()) column.name += (column.name.empty() ? "" : ".") + part;
    } else {
        column.name = parse_name();
    }
    static constexpr std::string_view no_type[] = {"DEFAULT", "MATERIALIZED", "EPHEMERAL",   "ALIAS", "COMMENT",
                                                   "CODEC",   "TTL",          "PRIMARY KEY", "NULL",  "NOT NULL",
                                                   "FIRST",   "AFTER",        "SETTINGS",    "REMOVE"};
    bool has_type = at_name();
    for (std::string_view word : no_type) has_type = has_type && !at_keyword(word);
    if (has_type) column.type = parse_type();
    parse_column_attributes(column);
    return column;
}

void Parser::parse_column_attributes(ColumnDefinition& column) {
    using Default = ColumnDefinition::Default;
    while (true) {
        if (accept_keyword("NOT NULL")) {
            column.nullable = false;
        } else if (accept_keyword("NULL")) {
            column.nullable = true;
        } else if (accept_keyword("DEFAULT")) {
            column.default_kind = Default::Default;
            column.default_expr = parse_expr();
        } else if (accept_keyword("MATERIALIZED")) {
            column.default_kind = Default::Materialized;
            column.default_expr = parse_expr();
        } else if (accept_keyword("ALIAS")) {
            column.default_kind = Default::Alias;
            column.default_expr = parse_expr();
        } else if (accept_keyword("EPHEMERAL")) {
            column.default_kind = Default::Ephemeral;
            if (!at(TokenType::Comma) && !at(TokenType::CloseRound) && !at_end() && !at_keyword("COMMENT") &&
                !at_keyword("CODEC")) {
                column.default_expr = parse_expr();
            }
        } else if (at_keyword("COMMENT") && at(TokenType::String, 1)) {
            ++index_;
            column.comment = parse_string();
        } else if (at_keyword("CODEC") && at(TokenType::OpenRound, 1)) {
            column.codec = parse_function_call();
            column.codec->name = "CODEC";
        } else if (accept_keyword("TTL")) {
            column.ttl = parse_expr();
        } else if (accept_keyword("PRIMARY KEY")) {
            column.primary_key = true;
        } else if (at_keyword("SETTINGS") && at(TokenType::OpenRound, 1)) {
            index_ += 2;
            column.settings = parse_settings_list();
            expect(TokenType::CloseRound, "ClosingRoundBracket");
        } else {
            break;
        }
    }
    if (column.nullable && !column.type) {
        fail(ErrorCode::SYNTAX_ERROR, "NULL / NOT NULL modifier requires an explicit column type");
    }
}

// ---- ENGINE and what follows it

void Parser::parse_storage(StorageDefinition& storage) {
    while (parse_storage_clause(storage)) {
    }
}

bool Parser::parse_storage_clause(StorageDefinition& storage) {
    auto once = [&](const ExprPtr& clause) {
        if (clause) syntax_error();
    };
    if (accept_keyword("ENGINE")) {
        once(storage.engine);
        accept(TokenType::Equals, "Equals");
        const size_t begin = pos();
        ExprPtr engine = make_function(parse_name("storage engine"), {}, begin);
        if (at(TokenType::OpenRound)) parse_arguments(*engine);
        storage.engine = finish(std::move(engine));
    } else if (accept_keyword("PARTITION BY")) {
        once(storage.partition_by);
        storage.partition_by = parse_expr();
    } else if (accept_keyword("PRIMARY KEY")) {
        once(storage.primary_key);
        storage.primary_key = parse_expr();
    } else if (accept_keyword("ORDER BY")) {
        once(storage.order_by);
        parse_storage_order(storage);
    } else if (accept_keyword("SAMPLE BY")) {
        once(storage.sample_by);
        storage.sample_by = parse_expr();
    } else if (accept_keyword("TTL")) {
        once(storage.ttl);
        storage.ttl = parse_expr();
    } else if (storage.settings.empty() && accept_keyword("SETTINGS")) {
        storage.settings = parse_settings_list();
    } else {
        return false;
    }
    return true;
}

/// ORDER BY a, ORDER BY (a, b), ORDER BY (a DESC, b NULLS FIRST), ORDER BY tuple().
void Parser::parse_storage_order(StorageDefinition& storage) {
    const size_t begin = pos();
    const size_t start = index_;
    const size_t behind = at(TokenType::OpenRound) ? behind_bracket(0) : 0;
    // A bracket that goes on as an expression, (a + b) * c, is no list.
    const bool list = behind != 0 && peek_operator_at(behind) == false && !at(TokenType::CloseRound, 1) &&
                      !at(TokenType::Dot, behind) && !at(TokenType::OpenSquare, behind);
    if (list) {
        ++index_;
        storage.sort_elements = parse_order_by_list();
        expect(TokenType::CloseRound, "ClosingRoundBracket");
        std::vector<ExprPtr> columns;
        for (const OrderByElement& element : storage.sort_elements) columns.push_back(element.expr);
        if (columns.size() == 1) {
            storage.order_by = std::make_shared<Expr>(*columns[0]);  // the brackets are the list's
            storage.order_by->parenthesized = true;
        } else {
            storage.order_by = operator_call("tuple", std::move(columns), begin);
        }
        return;
    }
    index_ = start;
    OrderByElement element = parse_order_by_element();
    storage.order_by = element.expr;
    if (element.expr->is_function("tuple")) {
        for (const ExprPtr& column : element.expr->args) {
            OrderByElement part;
            part.expr = column;
            part.descending = element.descending;
            part.nulls_first = element.nulls_first;
            storage.sort_elements.push_back(std::move(part));
        }
    } else {
        storage.sort_elements.push_back(std::move(element));
    }
}

bool Parser::peek_operator_at(size_t ahead) {
    index_ += ahead;
    const bool is_operator = peek_operator().precedence != 0;
    index_ -= ahead;
    return is_operator;
}

}  // namespace firn::sql
