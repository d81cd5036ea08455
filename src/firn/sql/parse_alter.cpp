// ALTER TABLE.
#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"

namespace firn::sql {
namespace {

std::string joined(const std::vector<std::string>& parts) {
    std::string name;
    for (const std::string& part : parts) name += (name.empty() ? "" : ".") + part;
    return name;
}

}  // namespace

StatementPtr Parser::parse_alter() {
    auto alter = std::make_shared<AlterStatement>();
    ++index_;
    if (accept_keyword("NAMED COLLECTION")) return parse_named_collection(NamedCollectionStatement::Action::Alter);
    if (at(TokenType::BareWord) && !at_keyword("TABLE") && !at_keyword("TEMPORARY") && at_name(1)) {
        fail(ErrorCode::NOT_IMPLEMENTED, "ALTER {} is not supported", token_text());
    }
    accept_keyword("TEMPORARY");
    expect_keyword("TABLE");
    alter->table = parse_table_name();
    alter->cluster = parse_on_cluster();
    do {
        const bool brackets = accept(TokenType::OpenRound, "OpeningRoundBracket");
        alter->commands.push_back(parse_alter_command());
        if (brackets) expect(TokenType::CloseRound, "ClosingRoundBracket");
    } while (accept(TokenType::Comma, "Comma"));
    return alter;
}

AlterCommand Parser::parse_alter_command() {
    using Kind = AlterCommand::Kind;
    AlterCommand command;
    command.pos = pos();
    auto column_name = [&] {
        command.column_parts = parse_compound_name();
        command.column = joined(command.column_parts);
    };
    if (accept_keyword("ADD COLUMN")) {
        parse_alter_add(command);
    } else if (accept_keyword("RENAME COLUMN")) {
        command.kind = Kind::RenameColumn;
        command.if_exists = accept_keyword("IF EXISTS");
        column_name();
        expect_keyword("TO");
        command.new_name = joined(parse_compound_name());
    } else if (accept_keyword("DROP COLUMN") || accept_keyword("CLEAR COLUMN")) {
        command.kind = equal_ignoring_case(text_.substr(command.pos, 4), "DROP") ? Kind::DropColumn : Kind::ClearColumn;
        command.if_exists = accept_keyword("IF EXISTS");
        column_name();
        if (accept_keyword("IN PARTITION")) command.expr = parse_expr();
    } else if (accept_keyword("COMMENT COLUMN")) {
        command.kind = Kind::CommentColumn;
        command.if_exists = accept_keyword("IF EXISTS");
        column_name();
        command.comment = parse_string();
    } else if (accept_keyword("DROP PARTITION")) {
        command.kind = Kind::DropPartition;
        command.expr = parse_expr();
    } else if (accept_keyword("DELETE")) {
        command.kind = Kind::Delete;
        if (accept_keyword("IN PARTITION")) command.expr = parse_expr();
        expect_keyword("WHERE");
        command.where = parse_expr();
    } else if (accept_keyword("UPDATE")) {
        command.kind = Kind::Update;
        command.assignments = parse_assignments();
        if (accept_keyword("IN PARTITION")) command.expr = parse_expr();
        expect_keyword("WHERE");
        command.where = parse_expr();
    } else if (accept_keyword("EXECUTE")) {
        command.kind = Kind::Execute;
        command.execute = parse_function_call();
    } else if (accept_keyword("RESET SETTING")) {
        command.kind = Kind::ResetSetting;
        command.settings = parse_settings_list();
    } else {
        parse_alter_modify(command);
    }
    return command;
}

void Parser::parse_alter_place(AlterCommand& command) {
    if (accept_keyword("FIRST")) {
        command.first = true;
    } else if (accept_keyword("AFTER")) {
        command.after = joined(parse_compound_name());
    }
}

void Parser::parse_alter_add(AlterCommand& command) {
    command.kind = AlterCommand::Kind::AddColumn;
    command.if_not_exists = accept_keyword("IF NOT EXISTS");
    const size_t start = index_;
    command.column_parts = parse_compound_name();
    index_ = start;
    command.definition = parse_column_definition(true);
    command.column = command.definition.name;
    parse_alter_place(command);
}

void Parser::parse_alter_modify(AlterCommand& command) {
    using Kind = AlterCommand::Kind;
    const bool alter_column = accept_keyword("ALTER COLUMN");
    if (alter_column || accept_keyword("MODIFY COLUMN")) {
        command.kind = Kind::ModifyColumn;
        command.if_exists = accept_keyword("IF EXISTS");
        const size_t start = index_;
        command.column_parts = parse_compound_name();
        command.column = joined(command.column_parts);
        if (accept_keyword("REMOVE")) {
            const std::string_view what =
                accept_any({"DEFAULT", "MATERIALIZED", "ALIAS", "COMMENT", "CODEC", "TTL", "EPHEMERAL"});
            if (what.empty()) syntax_error();
            command.remove = what;
            return;
        }
        if (at_keyword("TYPE") && at_name(1)) {  // ALTER COLUMN a TYPE Int32
            ++index_;
            command.definition.pos = command.pos;
            command.definition.name = command.column;
            command.definition.type = parse_type();
            parse_column_attributes(command.definition);
        } else {
            index_ = start;
            command.definition = parse_column_definition(true);
        }
        parse_alter_place(command);
        return;
    }
    if (accept_keyword("MODIFY COMMENT")) {
        command.kind = Kind::ModifyComment;
        command.comment = parse_string();
    } else if (accept_keyword("MODIFY ORDER BY")) {
        command.kind = Kind::ModifyOrderBy;
        StorageDefinition storage;
        parse_storage_order(storage);
        command.expr = storage.order_by;
        command.sort_elements = std::move(storage.sort_elements);
    } else if (accept_keyword("MODIFY SETTING")) {
        command.kind = Kind::ModifySetting;
        command.settings = parse_settings_list();
    } else if (accept_keyword("MODIFY QUERY")) {
        command.kind = Kind::ModifyQuery;
        command.query = parse_query();
    } else {
        take_other_command(command);
    }
}

/// A command that is known to ClickHouse and not to firn: its words, up to the next comma outside of brackets.
void Parser::take_other_command(AlterCommand& command) {
    static constexpr std::string_view starts[] = {"ADD",    "DROP",   "MODIFY",  "MATERIALIZE", "CLEAR",  "ATTACH",
                                                  "DETACH", "MOVE",   "REPLACE", "FETCH",       "FREEZE", "UNFREEZE",
                                                  "REMOVE", "FORGET", "REWRITE", "APPLY",       "UNLOCK"};
    bool known = false;
    for (std::string_view word : starts) {
        known = known || at_keyword(word);
        expected(word);
    }
    if (!known) syntax_error();
    size_t open = 0;
    while (!at_end()) {
        if (at(TokenType::Error)) syntax_error();
        if (at(TokenType::CloseRound) && open == 0) break;
        if (open == 0 && (at(TokenType::Comma) || at_keyword("SETTINGS") || at_keyword("FORMAT"))) break;
        if (at(TokenType::OpenRound)) ++open;
        if (at(TokenType::CloseRound)) --open;
        // Token by token: blanks and comments between them are not kept.
        if (!command.text.empty()) command.text += ' ';
        command.text += token_text();
        ++index_;
    }
    if (open > 0) syntax_error();
    command.kind = AlterCommand::Kind::Other;
}

}  // namespace firn::sql
