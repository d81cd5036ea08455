// EXPLAIN, DESCRIBE, SHOW, EXISTS.
#include "firn/base/error.h"
#include "firn/sql/parser_impl.h"

namespace firn::sql {

StatementPtr Parser::parse_explain() {
    auto explain = std::make_shared<ExplainStatement>();
    ++index_;
    struct Kind {
        std::string_view keyword;
        ExplainKind kind;
    };
    static constexpr Kind kinds[] = {
        {"AST", ExplainKind::Ast},
        {"SYNTAX", ExplainKind::Syntax},
        {"QUERY TREE", ExplainKind::QueryTree},
        {"PIPELINE", ExplainKind::Pipeline},
        {"ESTIMATE", ExplainKind::Estimate},
        {"PLAN", ExplainKind::Plan},
        {"CURRENT TRANSACTION", ExplainKind::CurrentTransaction},
    };
    for (const Kind& kind : kinds) {
        if (!accept_keyword(kind.keyword)) continue;
        explain->explain = kind.kind;
        explain->kind_given = true;
        break;
    }
    if (explain->explain == ExplainKind::CurrentTransaction) return explain;
    if (at_name() && at(TokenType::Equals, 1)) explain->options = parse_settings_list();
    explain->statement = parse_statement_body();
    return explain;
}

StatementPtr Parser::parse_describe() {
    auto describe = std::make_shared<DescribeStatement>();
    ++index_;
    if (at_keyword("TABLE") && (at_name(1) || at(TokenType::OpenRound, 1) || at(TokenType::String, 1))) ++index_;
    if (at_query() && !at(TokenType::OpenRound)) {
        describe->table.kind = TableExpr::Kind::Subquery;
        describe->table.pos = pos();
        describe->table.query = parse_query();
    } else {
        describe->table = parse_table_expr();
    }
    return describe;
}

namespace {

using What = ShowStatement::What;
struct ShowWord {
    std::string_view keyword;
    What what;
};
constexpr ShowWord kShowLists[] = {
    {"TABLES", What::Tables},
    {"DATABASES", What::Databases},
    {"SETTINGS", What::Settings},
    {"FUNCTIONS", What::Functions},
    {"ENGINES", What::Engines},
    {"PROCESSLIST", What::Processlist},
    {"DICTIONARIES", What::Dictionaries},
    {"CLUSTERS", What::Clusters},
    {"COLUMNS", What::Columns},
    {"FIELDS", What::Columns},
    {"INDEXES", What::Indexes},
    {"INDEX", What::Indexes},
    {"INDICES", What::Indexes},
    {"KEYS", What::Indexes},
};

}  // namespace

StatementPtr Parser::parse_show() {
    auto show = std::make_shared<ShowStatement>();
    ++index_;
    if (accept_keyword("CREATE")) {
        show->temporary = accept_keyword("TEMPORARY");
        show->what = What::CreateTable;
        if (at_name(1)) {
            if (accept_keyword("DATABASE")) {
                show->what = What::CreateDatabase;
                show->database = parse_name();
                return show;
            }
            if (accept_keyword("VIEW")) {
                show->what = What::CreateView;
            } else {
                accept_keyword("TABLE");
            }
        }
        show->table = parse_table_name();
        return show;
    }
    if (at_keyword("SETTING") && at_name(1)) {
        ++index_;
        show->what = What::Setting;
        show->setting = parse_name();
        return show;
    }
    show->extended = accept_keyword("EXTENDED");
    show->full = accept_keyword("FULL");
    show->temporary = accept_keyword("TEMPORARY");
    show->changed = accept_keyword("CHANGED");
    bool found = false;
    for (const ShowWord& word : kShowLists) {
        if (!accept_keyword(word.keyword)) continue;
        show->what = word.what;
        found = true;
        break;
    }
    if (!found) syntax_error();
    const bool of_table = show->what == What::Columns || show->what == What::Indexes;
    if (!accept_any({"FROM", "IN"}).empty()) {
        if (of_table) {
            show->table = parse_table_name();
            if (!accept_any({"FROM", "IN"}).empty()) show->table.database = parse_name();
        } else {
            std::string database;
            for (const std::string& part : parse_compound_name()) database += (database.empty() ? "" : ".") + part;
            show->database = std::move(database);
        }
    } else if (of_table) {
        syntax_error();
    }
    if (at_keyword("NOT LIKE") || at_keyword("NOT ILIKE")) show->not_like = accept_keyword("NOT");
    const std::string_view like = accept_any({"LIKE", "ILIKE"});
    if (!like.empty()) {
        show->case_insensitive = like == "ILIKE";
        show->like = parse_string();
    } else if (accept_keyword("WHERE")) {
        show->where = parse_expr();
    }
    if (accept_keyword("LIMIT")) show->limit = parse_expr();
    return show;
}

StatementPtr Parser::parse_exists_statement() {
    auto exists = std::make_shared<ExistsStatement>();
    ++index_;
    exists->temporary = at_name(1) && accept_keyword("TEMPORARY");
    if (at_name(1)) {
        if (accept_keyword("DATABASE")) {
            exists->target = DropStatement::Target::Database;
            exists->table.pos = pos();
            exists->table.database = parse_name();
            return exists;
        }
        if (accept_keyword("VIEW")) {
            exists->target = DropStatement::Target::View;
        } else if (accept_keyword("DICTIONARY")) {
            exists->target = DropStatement::Target::Dictionary;
        } else {
            accept_keyword("TABLE");
        }
    }
    exists->table = parse_table_name();
    return exists;
}

}  // namespace firn::sql
