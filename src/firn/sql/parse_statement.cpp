// Statements other than CREATE and ALTER.
#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"
#include "firn/sql/printer.h"

namespace firn::sql {

StatementPtr Parser::parse_statement() {
    StatementPtr statement = parse_statement_body();
    const bool data = statement->kind == StatementKind::Insert && static_cast<InsertStatement&>(*statement).has_data;
    if (!data) parse_output(*statement);
    return statement;
}

StatementPtr Parser::parse_statement_body() {
    Nesting nesting(*this);
    struct Start {
        std::string_view keyword;
        StatementPtr (Parser::*parse)();
    };
    static constexpr Start starts[] = {
        {"EXPLAIN", &Parser::parse_explain},
        {"DESCRIBE", &Parser::parse_describe},
        {"DESC", &Parser::parse_describe},
        {"SHOW", &Parser::parse_show},
        {"SET", &Parser::parse_set},
        {"USE", &Parser::parse_use},
        {"INSERT INTO", &Parser::parse_insert},
        {"OPTIMIZE", &Parser::parse_optimize},
        {"ALTER", &Parser::parse_alter},
        {"DELETE", &Parser::parse_delete},
        {"UPDATE", &Parser::parse_update},
        {"RENAME", &Parser::parse_rename},
        {"EXCHANGE", &Parser::parse_rename},
        {"KILL", &Parser::parse_kill},
        {"SYSTEM", &Parser::parse_system},
        {"CHECK", &Parser::parse_check},
        {"CREATE", &Parser::parse_create},
        {"REPLACE", &Parser::parse_create},
        {"ATTACH", &Parser::parse_create},
        {"DROP", &Parser::parse_drop},
        {"DETACH", &Parser::parse_drop},
        {"TRUNCATE", &Parser::parse_drop},
        {"INSERT", &Parser::parse_insert},
    };
    // `set(1)`, `show + 1` and the like are expressions where a SELECT need not be spelled out.
    const bool word_follows =
        at_name(1) || at(TokenType::End, 1) || at(TokenType::Semicolon, 1) || at(TokenType::OpenRound, 1);
    if (at(TokenType::BareWord)) {
        for (const Start& start : starts) {
            if (word_follows && at_keyword(start.keyword)) return (this->*start.parse)();
            expected(start.keyword);
        }
        if (at_keyword("EXISTS") && at_name(1)) return parse_exists_statement();
    }
    return parse_query_statement();
}

StatementPtr Parser::parse_query_statement() {
    auto statement = std::make_shared<QueryStatement>();
    if (at_keyword("WITH")) {
        // WITH x AS (...) INSERT INTO t SELECT ... FROM x
        const size_t start = index_;
        const size_t elements = elements_;
        SelectQuery with;
        parse_with(with);
        if (at_keyword("INSERT")) {
            StatementPtr insert = parse_insert();
            QueryPtr query = static_cast<InsertStatement&>(*insert).query;
            if (!query) syntax_error("INSERT behind WITH must have a SELECT");
            while (!query->select) query = query->operands[0];
            std::vector<WithElement>& own = query->select->with;
            own.insert(own.begin(), with.with.begin(), with.with.end());
            query->select->with_recursive = query->select->with_recursive || with.with_recursive;
            return insert;
        }
        index_ = start;
        elements_ = elements;
    }
    if (at_query() || !options_.implicit_select || at_keyword("SELECT")) {
        statement->query = parse_query();
        return statement;
    }
    auto query = std::make_shared<Query>();
    query->pos = pos();
    query->select = std::make_shared<SelectQuery>();
    query->select->pos = query->pos;
    std::vector<ExprPtr> distinct_on = parse_select_list(*query->select);
    parse_from(*query->select);
    parse_select_tail(*query->select);
    lower_distinct_on(*query->select, std::move(distinct_on));
    query->depth = query_depth_ + 2;
    query->nodes = static_cast<uint32_t>(elements_) + 1;
    statement->query = std::move(query);
    return statement;
}

// ---- what may follow a statement

bool Parser::parse_outfile(Statement& statement) {
    if (!accept_keyword("INTO OUTFILE")) return false;
    statement.out_file = parse_string();
    if (accept_keyword("APPEND")) {
        statement.out_append = true;
    } else if (accept_keyword("TRUNCATE")) {
        statement.out_truncate = true;
    }
    if (accept_keyword("AND STDOUT")) statement.out_and_stdout = true;
    if (accept_keyword("COMPRESSION")) {
        statement.out_compression = parse_string();
        if (accept_keyword("LEVEL")) {
            Literal level;
            if (!try_literal(level) || level.kind != Literal::Kind::UInt64) syntax_error();
            statement.out_compression_level = static_cast<int64_t>(level.uint64);
        }
    }
    return true;
}

void Parser::parse_output(Statement& statement) {
    bool file = false, format = false, settings = false;
    while (true) {
        if (!file && parse_outfile(statement)) {
            file = true;
        } else if (!format && accept_keyword("FORMAT")) {
            statement.format = parse_name();
            format = true;
        } else if (!settings && accept_keyword("SETTINGS")) {
            for (SettingChange& change : parse_settings_list()) statement.settings.push_back(std::move(change));
            settings = true;
        } else {
            return;
        }
    }
}

// ---- SET, USE

namespace {

/// A parameter's value in text, as it is parsed by the parameter's type.
std::string parameter_text(const Literal& value) {
    switch (value.kind) {
        case Literal::Kind::String:
            return value.text;
        case Literal::Kind::Null:
            return "\\N";
        default:
            return format_literal(value);
    }
}

}  // namespace

StatementPtr Parser::parse_set() {
    auto set = std::make_shared<SetStatement>();
    ++index_;
    for (SettingChange& change : parse_settings_list()) {
        if (change.name.starts_with("param_") && !change.is_default) {
            set->parameters.emplace_back(change.name.substr(6), parameter_text(change.value));
        } else {
            set->changes.push_back(std::move(change));
        }
    }
    return set;
}

StatementPtr Parser::parse_use() {
    auto use = std::make_shared<UseStatement>();
    ++index_;
    if (at_name(1)) accept_keyword("DATABASE");
    use->database = parse_name();
    return use;
}

// ---- INSERT

StatementPtr Parser::parse_insert() {
    auto insert = std::make_shared<InsertStatement>();
    expect_keyword("INSERT");
    accept_keyword("INTO");
    if (at_name(1) || at(TokenType::OpenRound, 2)) accept_keyword("TABLE");
    if (at_keyword("FUNCTION") && at_name(1)) {
        ++index_;
        const size_t begin = pos();
        const std::string name = parse_name();
        insert->function = finish_table_function(name, begin);
        if (accept_keyword("PARTITION BY")) insert->partition_by = parse_expr();
    } else {
        expected("table");
        insert->table = parse_table_name();
    }
    if (at(TokenType::OpenRound) && !at_query(1)) {
        ++index_;
        insert->has_columns = true;
        while (!at(TokenType::CloseRound)) {
            insert->columns.push_back(parse_insert_column());
            if (!accept(TokenType::Comma, "Comma")) break;
        }
        expect(TokenType::CloseRound, "ClosingRoundBracket");
    }
    if (accept_keyword("FROM INFILE")) {
        insert->in_file = parse_string();
        if (accept_keyword("COMPRESSION")) insert->in_compression = parse_string();
    }
    if (accept_keyword("SETTINGS")) insert->settings = parse_settings_list();
    parse_insert_source(*insert);
    return insert;
}

ExprPtr Parser::parse_insert_column() {
    const size_t begin = pos();
    if (at(TokenType::Asterisk)) {
        ++index_;
        return parse_asterisk({}, begin);
    }
    if (at_keyword("COLUMNS") && at(TokenType::OpenRound, 1)) {
        ++index_;
        if (ExprPtr columns = parse_columns({}, begin)) return columns;
    }
    return finish(make_identifier(parse_compound_name(), begin));
}

void Parser::parse_insert_source(InsertStatement& insert) {
    if (insert.in_file) {
        if (accept_keyword("FORMAT")) insert.format = parse_name();
        return;
    }
    const bool values = at_keyword("VALUES");
    expected("VALUES");
    if (values || at_keyword("FORMAT")) {
        if (!values) ++index_;
        insert.format = values ? "Values" : parse_name();
        if (values) ++index_;
        insert.has_data = true;
        take_insert_data(insert);
        return;
    }
    expected("SELECT query");
    if (!at_query()) syntax_error();
    insert.query = parse_query();
}

/// The data begin behind the last token and are not tokens themselves.
void Parser::take_insert_data(InsertStatement& insert) {
    size_t begin = last_end();
    auto at_char = [&](std::string_view any) {
        return begin < text_.size() && any.find(text_[begin]) != std::string_view::npos;
    };
    if (equal_ignoring_case(insert.format, "Values")) {
        // Up to the semicolon that is not inside a string.
        Lexer lexer(text_, begin, 0);
        Token token = lexer.next();
        while (token.type != TokenType::End && token.type != TokenType::Semicolon) {
            if (token.type == TokenType::Error && token.end >= text_.size()) break;
            token = lexer.next();
        }
        const size_t end = token.type == TokenType::Semicolon ? token.begin : text_.size();
        insert.data = text_.substr(begin, end - begin);
        insert.data_pos = begin;
        insert.end = token.type == TokenType::Semicolon ? token.end : text_.size();
        return;
    }
    while (at_char(" \t\f")) ++begin;
    if (at_char(";")) {  // the data come from elsewhere
        insert.data_pos = begin;
        insert.end = begin + 1;
        return;
    }
    if (at_char("\r")) ++begin;
    if (at_char("\n")) ++begin;
    // An empty line ends the data where other statements follow.
    size_t line_end = text_.find('\n', begin);
    size_t end = text_.size(), behind = text_.size();
    while (line_end != std::string_view::npos) {
        size_t next = line_end + 1;
        if (next < text_.size() && text_[next] == '\r') ++next;
        if (next < text_.size() && text_[next] == '\n') {
            end = line_end + 1;
            behind = next + 1;
            break;
        }
        line_end = text_.find('\n', line_end + 1);
    }
    insert.data = text_.substr(begin, end - begin);
    insert.data_pos = begin;
    insert.end = behind;
}

// ---- DROP, OPTIMIZE, DELETE ...

StatementPtr Parser::parse_drop() {
    auto drop = std::make_shared<DropStatement>();
    using Target = DropStatement::Target;
    const std::string_view action = accept_any({"DROP", "DETACH", "TRUNCATE"});
    drop->action = action == "DROP"     ? DropStatement::Action::Drop
                   : action == "DETACH" ? DropStatement::Action::Detach
                                        : DropStatement::Action::Truncate;
    if (action == "DROP" && accept_keyword("NAMED COLLECTION"))
        return parse_named_collection(NamedCollectionStatement::Action::Drop);
    drop->temporary = at_keyword("TABLE", 1) && accept_keyword("TEMPORARY");
    const std::string_view target = at_name(1) ? accept_any({"TABLE", "VIEW", "DATABASE", "DICTIONARY"}) : "";
    if (target.empty() && drop->action != DropStatement::Action::Truncate) {
        expected("TABLE");
        expected("VIEW");
        expected("DATABASE");
        if (at(TokenType::BareWord) && at_name(1)) {
            fail(ErrorCode::NOT_IMPLEMENTED, "{} {} is not supported", action, token_text());
        }
        syntax_error();
    }
    if (target == "VIEW") drop->target = Target::View;
    if (target == "DATABASE") drop->target = Target::Database;
    if (target == "DICTIONARY") drop->target = Target::Dictionary;
    drop->if_exists = accept_keyword("IF EXISTS");
    drop->if_empty = accept_keyword("IF EMPTY");
    do {
        if (drop->target == Target::Database) {
            TableName name;
            name.pos = pos();
            for (const std::string& part : parse_compound_name())
                name.database += (name.database.empty() ? "" : ".") + part;
            drop->tables.push_back(std::move(name));
        } else {
            drop->tables.push_back(parse_table_name());
        }
    } while (accept(TokenType::Comma, "Comma"));
    drop->cluster = parse_on_cluster();
    drop->permanently = accept_keyword("PERMANENTLY");
    if (accept_keyword("SYNC") || accept_keyword("NO DELAY")) drop->sync = true;
    return drop;
}

StatementPtr Parser::parse_optimize() {
    auto optimize = std::make_shared<OptimizeStatement>();
    ++index_;
    expect_keyword("TABLE");
    optimize->table = parse_table_name();
    optimize->cluster = parse_on_cluster();
    if (accept_keyword("PARTITION")) {
        if (at_keyword("ID") && at(TokenType::String, 1)) {
            ++index_;
            optimize->partition_id = parse_string();
        } else {
            optimize->partition = parse_expr();
        }
    }
    while (true) {
        if (accept_keyword("MANIFEST")) {
            optimize->manifest = true;
        } else if (accept_keyword("FINAL") || accept_keyword("FORCE")) {
            optimize->final = true;
        } else if (accept_keyword("CLEANUP")) {
            optimize->cleanup = true;
        } else if (accept_keyword("DRY RUN")) {
            optimize->dry_run = true;
        } else {
            break;
        }
    }
    if (accept_keyword("DEDUPLICATE")) {
        optimize->deduplicate = true;
        if (accept_keyword("BY")) optimize->deduplicate_by = parse_expr_list(Alias::None);
    }
    return optimize;
}

std::vector<std::pair<std::string, ExprPtr>> Parser::parse_assignments() {
    std::vector<std::pair<std::string, ExprPtr>> list;
    do {
        std::string column;
        for (const std::string& part : parse_compound_name()) column += (column.empty() ? "" : ".") + part;
        expect(TokenType::Equals, "Equals");
        list.emplace_back(std::move(column), parse_expr());
    } while (accept(TokenType::Comma, "Comma"));
    return list;
}

StatementPtr Parser::parse_delete() {
    auto statement = std::make_shared<DeleteStatement>();
    ++index_;
    expect_keyword("FROM");
    statement->table = parse_table_name();
    statement->cluster = parse_on_cluster();
    if (accept_keyword("IN PARTITION")) statement->partition = parse_expr();
    expect_keyword("WHERE");
    statement->where = parse_expr();
    return statement;
}

StatementPtr Parser::parse_update() {
    auto statement = std::make_shared<UpdateStatement>();
    ++index_;
    statement->table = parse_table_name();
    statement->cluster = parse_on_cluster();
    expect_keyword("SET");
    statement->assignments = parse_assignments();
    expect_keyword("WHERE");
    statement->where = parse_expr();
    return statement;
}

StatementPtr Parser::parse_rename() {
    auto rename = std::make_shared<RenameStatement>();
    rename->exchange = at_keyword("EXCHANGE");
    ++index_;
    if (rename->exchange) {
        expect_keyword("TABLES");
    } else if (accept_keyword("DATABASE")) {
        rename->databases = true;
    } else {
        expect_keyword("TABLE");
    }
    rename->if_exists = accept_keyword("IF EXISTS");
    auto name = [&] {
        TableName table = parse_table_name();
        if (rename->databases) table = TableName{table.table, "", table.pos};
        return table;
    };
    do {
        TableName from = name();
        expect_keyword(rename->exchange ? "AND" : "TO");
        rename->pairs.emplace_back(std::move(from), name());
    } while (accept(TokenType::Comma, "Comma"));
    rename->cluster = parse_on_cluster();
    return rename;
}

StatementPtr Parser::parse_kill() {
    auto kill = std::make_shared<OtherStatement>(StatementKind::Kill);
    ++index_;
    const std::string_view what = accept_any({"QUERY", "MUTATION"});
    if (what.empty()) syntax_error();
    kill->command = what;
    expect_keyword("WHERE");
    kill->where = parse_expr();
    const std::string_view mode = accept_any({"SYNC", "ASYNC", "TEST"});
    kill->sync = mode == "SYNC";
    kill->test = mode == "TEST";
    return kill;
}

StatementPtr Parser::parse_system() {
    auto system = std::make_shared<OtherStatement>(StatementKind::System);
    ++index_;
    while (at(TokenType::BareWord) && !at_keyword("FORMAT") && !at_keyword("SETTINGS")) {
        if (!system->command.empty()) system->command += ' ';
        for (char c : token_text()) system->command += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
        ++index_;
    }
    expected("SYSTEM command");
    if (system->command.empty()) syntax_error();
    if (at(TokenType::String)) system->argument = parse_string();
    return system;
}

StatementPtr Parser::parse_check() {
    auto check = std::make_shared<OtherStatement>(StatementKind::Check);
    ++index_;
    expect_keyword("TABLE");
    check->command = "TABLE";
    check->table = parse_table_name();
    return check;
}

}  // namespace firn::sql
