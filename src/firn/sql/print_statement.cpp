// Statements as text.
#include "firn/sql/lexer.h"
#include "firn/sql/printer_impl.h"
#include "firn/sql/secrets.h"

namespace firn::sql {
namespace {

/// Of an output format: any word will do, Values too.
std::string format_name(const std::string& name) {
    for (char c : name) {
        if (!is_word_char(c)) return quote_identifier(name);
    }
    return name;
}

}  // namespace

std::string Printer::dotted(std::string_view name) {
    std::string out;
    for (size_t begin = 0; begin <= name.size();) {
        const size_t dot = std::min(name.find('.', begin), name.size());
        if (begin > 0) out += '.';
        out += quote_identifier(name.substr(begin, dot - begin));
        begin = dot + 1;
    }
    return out;
}

std::string Printer::back_quoted(std::string_view name) {
    std::string quoted = quote_identifier(name);
    return quoted.starts_with('`') ? quoted : "`" + quoted + "`";
}

std::string format_statement(const Statement& statement, const PrintOptions& options) {
    Printer printer(options);
    printer.statement(statement);
    return printer.take();
}

void Printer::statement(const Statement& statement) {
    body(statement);
    if (statement.kind != StatementKind::Insert) output(statement);
}

void Printer::body(const Statement& statement) {
    switch (statement.kind) {
        case StatementKind::Query:
            query(*static_cast<const QueryStatement&>(statement).query);
            break;
        case StatementKind::Explain:
            explain(static_cast<const ExplainStatement&>(statement));
            break;
        case StatementKind::Describe:
            describe(static_cast<const DescribeStatement&>(statement));
            break;
        case StatementKind::CreateTable:
            create_table(static_cast<const CreateTableStatement&>(statement));
            break;
        case StatementKind::CreateView:
            create_view(static_cast<const CreateViewStatement&>(statement));
            break;
        case StatementKind::CreateDatabase:
            create_database(static_cast<const CreateDatabaseStatement&>(statement));
            break;
        case StatementKind::Drop:
            drop(static_cast<const DropStatement&>(statement));
            break;
        case StatementKind::Show:
            show(static_cast<const ShowStatement&>(statement));
            break;
        case StatementKind::Exists: {
            const auto& exists = static_cast<const ExistsStatement&>(statement);
            *this << "EXISTS " << (exists.temporary ? "TEMPORARY " : "");
            using Target = DropStatement::Target;
            if (exists.target == Target::Database) {
                *this << "DATABASE " << quote_identifier(exists.table.database);
            } else {
                *this << (exists.target == Target::View         ? "VIEW "
                          : exists.target == Target::Dictionary ? "DICTIONARY "
                                                                : "TABLE ")
                      << table_name(exists.table);
            }
            break;
        }
        case StatementKind::Set:
            set(static_cast<const SetStatement&>(statement));
            break;
        case StatementKind::Use:
            *this << "USE " << quote_identifier(static_cast<const UseStatement&>(statement).database);
            break;
        case StatementKind::Insert:
            insert(static_cast<const InsertStatement&>(statement));
            break;
        case StatementKind::Optimize:
            optimize(static_cast<const OptimizeStatement&>(statement));
            break;
        case StatementKind::Alter:
            alter(static_cast<const AlterStatement&>(statement));
            break;
        case StatementKind::Delete: {
            const auto& del = static_cast<const DeleteStatement&>(statement);
            *this << "DELETE FROM " << table_name(del.table);
            cluster(del.cluster);
            if (del.partition) {
                *this << " IN PARTITION ";
                operand(*del.partition);
            }
            *this << " WHERE ";
            expr(*del.where);
            break;
        }
        case StatementKind::Update: {
            const auto& update = static_cast<const UpdateStatement&>(statement);
            *this << "UPDATE " << table_name(update.table);
            cluster(update.cluster);
            *this << " SET ";
            assignments(update.assignments);
            *this << " WHERE ";
            expr(*update.where);
            break;
        }
        case StatementKind::NamedCollection:
            named_collection(static_cast<const NamedCollectionStatement&>(statement));
            break;
        case StatementKind::Rename:
            rename(static_cast<const RenameStatement&>(statement));
            break;
        case StatementKind::Kill:
        case StatementKind::System:
        case StatementKind::Check:
            other(static_cast<const OtherStatement&>(statement));
            break;
    }
}

std::string Printer::table_name(const TableName& name) {
    return name.database.empty() ? dotted(name.table) : quote_identifier(name.database) + "." + dotted(name.table);
}

void Printer::output(const Statement& statement) {
    if (statement.out_file) {
        line();
        *this << "INTO OUTFILE " << quote_string(*statement.out_file);
        if (statement.out_append) *this << " APPEND";
        if (statement.out_truncate) *this << " TRUNCATE";
        if (statement.out_and_stdout) *this << " AND STDOUT";
        if (!statement.out_compression.empty()) *this << " COMPRESSION " << quote_string(statement.out_compression);
        if (statement.out_compression_level) *this << " LEVEL " << std::to_string(*statement.out_compression_level);
    }
    if (!statement.format.empty()) {
        line();
        *this << "FORMAT " << format_name(statement.format);
    }
    if (!statement.settings.empty()) {
        line();
        *this << "SETTINGS ";
        settings(statement.settings);
    }
}

void Printer::cluster(const std::string& name) {
    if (!name.empty()) *this << " ON CLUSTER " << quote_identifier(name);
}

void Printer::explain(const ExplainStatement& statement) {
    *this << "EXPLAIN";
    switch (statement.explain) {
        case ExplainKind::Plan:
        case ExplainKind::TableOverride:
            break;
        case ExplainKind::Ast:
            *this << " AST";
            break;
        case ExplainKind::Syntax:
            *this << " SYNTAX";
            break;
        case ExplainKind::QueryTree:
            *this << " QUERY TREE";
            break;
        case ExplainKind::Pipeline:
            *this << " PIPELINE";
            break;
        case ExplainKind::Estimate:
            *this << " ESTIMATE";
            break;
        case ExplainKind::CurrentTransaction:
            *this << " CURRENT TRANSACTION";
            break;
    }
    if (!statement.options.empty()) {
        out_ += ' ';
        settings(statement.options);
    }
    if (!statement.statement) return;
    line();
    body(*statement.statement);
}

void Printer::describe(const DescribeStatement& statement) {
    *this << "DESCRIBE TABLE";
    table_expr(statement.table);
}

// ---- DROP, SHOW, SET ...

void Printer::drop(const DropStatement& statement) {
    using Action = DropStatement::Action;
    using Target = DropStatement::Target;
    *this << (statement.action == Action::Drop     ? "DROP "
              : statement.action == Action::Detach ? "DETACH "
                                                   : "TRUNCATE ");
    if (statement.temporary) *this << "TEMPORARY ";
    switch (statement.target) {
        case Target::Table:
            *this << "TABLE ";
            break;
        case Target::View:
            *this << "VIEW ";
            break;
        case Target::Database:
            *this << "DATABASE ";
            break;
        case Target::Dictionary:
            *this << "DICTIONARY ";
            break;
    }
    if (statement.if_exists) *this << "IF EXISTS ";
    if (statement.if_empty) *this << "IF EMPTY ";
    for (size_t i = 0; i < statement.tables.size(); ++i) {
        if (i > 0) out_ += ", ";
        const TableName& name = statement.tables[i];
        *this << (statement.target == Target::Database ? dotted(name.database) : table_name(name));
    }
    cluster(statement.cluster);
    if (statement.permanently) *this << " PERMANENTLY";
    if (statement.sync) *this << " SYNC";
}

namespace {

std::string_view show_word(ShowStatement::What what) {
    using What = ShowStatement::What;
    switch (what) {
        case What::Tables:
            return "TABLES";
        case What::Databases:
            return "DATABASES";
        case What::CreateTable:
            return "CREATE TABLE";
        case What::CreateView:
            return "CREATE VIEW";
        case What::CreateDatabase:
            return "CREATE DATABASE";
        case What::Columns:
            return "COLUMNS";
        case What::Settings:
            return "SETTINGS";
        case What::Functions:
            return "FUNCTIONS";
        case What::Engines:
            return "ENGINES";
        case What::Processlist:
            return "PROCESSLIST";
        case What::Dictionaries:
            return "DICTIONARIES";
        case What::Clusters:
            return "CLUSTERS";
        case What::Setting:
            return "SETTING";
        case What::Indexes:
            return "INDEXES";
    }
    return "";
}

}  // namespace

void Printer::show(const ShowStatement& statement) {
    using What = ShowStatement::What;
    *this << "SHOW ";
    if (statement.extended) *this << "EXTENDED ";
    if (statement.full) *this << "FULL ";
    if (statement.temporary && statement.what != What::CreateTable) *this << "TEMPORARY ";
    if (statement.changed) *this << "CHANGED ";
    if (statement.what == What::CreateTable && statement.temporary) {
        *this << "CREATE TEMPORARY TABLE";
    } else {
        *this << show_word(statement.what);
    }
    switch (statement.what) {
        case What::CreateTable:
        case What::CreateView:
            *this << " " << table_name(statement.table);
            break;
        case What::CreateDatabase:
            *this << " " << quote_identifier(statement.database);
            break;
        case What::Setting:
            *this << " " << quote_identifier(statement.setting);
            break;
        case What::Columns:
        case What::Indexes:
            *this << " FROM " << dotted(statement.table.table);
            if (!statement.table.database.empty()) *this << " FROM " << quote_identifier(statement.table.database);
            break;
        default:
            if (!statement.database.empty()) *this << " FROM " << dotted(statement.database);
    }
    if (statement.like) {
        *this << (statement.not_like ? " NOT" : "") << (statement.case_insensitive ? " ILIKE " : " LIKE ")
              << quote_string(*statement.like);
    }
    if (statement.where) {
        *this << " WHERE ";
        expr(*statement.where);
    }
    if (statement.limit) {
        *this << " LIMIT ";
        expr(*statement.limit);
    }
}

void Printer::set(const SetStatement& statement) {
    *this << "SET ";
    settings(statement.changes);
    bool first = statement.changes.empty();
    for (const auto& [name, value] : statement.parameters) {
        *this << (first ? "" : ", ") << quote_identifier("param_" + name) << " = " << quote_string(value);
        first = false;
    }
}

void Printer::insert(const InsertStatement& statement) {
    *this << "INSERT INTO ";
    if (statement.function) {
        *this << "FUNCTION ";
        call(*statement.function);
        if (statement.partition_by) {
            *this << " PARTITION BY ";
            expr(*statement.partition_by);
        }
    } else {
        *this << table_name(statement.table);
    }
    if (statement.has_columns) {
        *this << " (";
        list(statement.columns);
        out_ += ')';
    }
    if (statement.in_file) {
        *this << " FROM INFILE " << quote_string(*statement.in_file);
        if (!statement.in_compression.empty()) *this << " COMPRESSION " << quote_string(statement.in_compression);
    }
    if (!statement.settings.empty()) {
        line();
        *this << "SETTINGS ";
        settings(statement.settings);
    }
    if (statement.query) {
        *this << " ";
        query(*statement.query);
    }
    if (!statement.format.empty()) *this << " FORMAT " << format_name(statement.format);
}

void Printer::optimize(const OptimizeStatement& statement) {
    *this << "OPTIMIZE TABLE " << table_name(statement.table);
    cluster(statement.cluster);
    if (statement.partition) {
        *this << " PARTITION ";
        operand(*statement.partition);
    } else if (!statement.partition_id.empty()) {
        *this << " PARTITION ID " << quote_string(statement.partition_id);
    }
    if (statement.manifest) *this << " MANIFEST";
    if (statement.final) *this << " FINAL";
    if (statement.cleanup) *this << " CLEANUP";
    if (statement.dry_run) *this << " DRY RUN";
    if (!statement.deduplicate) return;
    *this << " DEDUPLICATE";
    if (statement.deduplicate_by.empty()) return;
    *this << " BY ";
    list(statement.deduplicate_by);
}

void Printer::rename(const RenameStatement& statement) {
    *this << (statement.exchange ? "EXCHANGE TABLES " : statement.databases ? "RENAME DATABASE " : "RENAME TABLE ");
    if (statement.if_exists) *this << "IF EXISTS ";
    for (size_t i = 0; i < statement.pairs.size(); ++i) {
        const auto& [from, to] = statement.pairs[i];
        if (i > 0) out_ += ", ";
        const auto name = [&](const TableName& table) {
            return statement.databases ? quote_identifier(table.database) : table_name(table);
        };
        *this << name(from) << (statement.exchange ? " AND " : " TO ") << name(to);
    }
    cluster(statement.cluster);
}

void Printer::named_collection(const NamedCollectionStatement& statement) {
    using Action = NamedCollectionStatement::Action;
    *this << (statement.action == Action::Create  ? "CREATE"
              : statement.action == Action::Alter ? "ALTER"
                                                  : "DROP")
          << " NAMED COLLECTION " << (statement.if_exists ? "IF EXISTS " : "")
          << (statement.if_not_exists ? "IF NOT EXISTS " : "") << quote_identifier(statement.name);
    cluster(statement.cluster);
    if (!statement.values.empty()) *this << (statement.action == Action::Create ? " AS" : " SET");
    bool first = true;
    for (const auto& value : statement.values) {
        *this << (first ? " " : ", ") << quote_identifier(value.key) << " = ";
        if (hide_secrets_)
            *this << quote_string(kHidden);
        else
            literal(value.value);
        if (value.overridable) *this << (*value.overridable ? " OVERRIDABLE" : " NOT OVERRIDABLE");
        first = false;
    }
    if (!statement.deleted.empty()) *this << " DELETE";
    first = true;
    for (const auto& key : statement.deleted) {
        *this << (first ? " " : ", ") << quote_identifier(key);
        first = false;
    }
}

void Printer::other(const OtherStatement& statement) {
    if (statement.kind == StatementKind::Check) {
        *this << "CHECK TABLE " << table_name(statement.table);
    } else if (statement.kind == StatementKind::System) {
        *this << "SYSTEM " << statement.command;
        if (statement.argument) *this << " " << quote_string(*statement.argument);
    } else {
        *this << "KILL " << statement.command << " WHERE ";
        expr(*statement.where);
        if (statement.sync) *this << " SYNC";
        if (statement.test) *this << " TEST";
    }
}

}  // namespace firn::sql
