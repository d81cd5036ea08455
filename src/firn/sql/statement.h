// Statements: what a text holds between semicolons.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/sql/ast.h"

namespace firn::sql {

enum class StatementKind : uint8_t {
    Query,  // SELECT ..., set operations
    Explain,
    Describe,
    CreateTable,
    CreateView,
    CreateDatabase,
    Drop,  // DROP, DETACH, TRUNCATE, UNDROP
    Show,
    Exists,
    Set,
    Use,
    Insert,
    Optimize,
    Alter,
    Delete,
    Update,
    Rename,  // RENAME TABLE, EXCHANGE TABLES
    Kill,
    System,
    Check,
    NamedCollection,  // CREATE, ALTER, DROP NAMED COLLECTION
};

/// "t" or "db.t" (database empty = the session's); of a.b.c the database is a, the table b.c.
struct TableName {
    std::string database;
    std::string table;
    size_t pos = 0;

    /// With quotes where needed.
    std::string display() const;
};

struct Statement {
    explicit Statement(StatementKind kind) : kind(kind) {}
    virtual ~Statement() = default;

    StatementKind kind;
    size_t pos = 0;  // byte offsets in the whole text
    size_t end = 0;

    // What may follow any statement that has a result.
    std::string format;                   // FORMAT name, "" = none
    std::optional<std::string> out_file;  // INTO OUTFILE 'f'
    bool out_append = false, out_truncate = false, out_and_stdout = false;
    std::string out_compression;  // COMPRESSION 'gzip'
    std::optional<int64_t> out_compression_level;
    std::vector<SettingChange> settings;  // SETTINGS at the end. For a plain SELECT they are in SelectQuery::settings,
                                          // except those that follow FORMAT or INTO OUTFILE.
};
using StatementPtr = std::shared_ptr<Statement>;

struct QueryStatement : Statement {
    QueryStatement() : Statement(StatementKind::Query) {}
    QueryPtr query;
};

enum class ExplainKind : uint8_t {
    Plan,
    Ast,
    Syntax,
    QueryTree,
    Pipeline,
    Estimate,
    TableOverride,
    CurrentTransaction
};

struct ExplainStatement : Statement {
    ExplainStatement() : Statement(StatementKind::Explain) {}
    ExplainKind explain = ExplainKind::Plan;
    bool kind_given = false;             // EXPLAIN PLAN as against EXPLAIN
    std::vector<SettingChange> options;  // EXPLAIN PLAN actions = 1, indexes = 1
    StatementPtr statement;              // mostly a QueryStatement
};

struct DescribeStatement : Statement {
    DescribeStatement() : Statement(StatementKind::Describe) {}
    TableExpr table;  // a name, a function, or a subquery
};

struct ColumnDefinition {
    enum class Default : uint8_t { None, Default, Materialized, Ephemeral, Alias };

    std::string name;              // a compound one joined by dots
    TypeExprPtr type;              // null when left out
    std::optional<bool> nullable;  // NULL / NOT NULL as written
    Default default_kind = Default::None;
    ExprPtr default_expr;
    std::optional<std::string> comment;
    ExprPtr codec;  // CODEC(ZSTD(1)) as a function
    ExprPtr ttl;
    std::vector<SettingChange> settings;
    bool primary_key = false;
    size_t pos = 0;
};

/// ENGINE and the clauses after it.
struct StorageDefinition {
    ExprPtr engine;                                               // a function: name, args; null when not given
    ExprPtr partition_by, order_by, primary_key, sample_by, ttl;  // several columns are tuple(...)
    std::vector<OrderByElement> sort_elements;                    // ORDER BY again, column by column with its direction
    std::vector<SettingChange> settings;
};

struct CreateTableStatement : Statement {
    CreateTableStatement() : Statement(StatementKind::CreateTable) {}
    bool attach = false, or_replace = false, replace = false, temporary = false, if_not_exists = false;
    TableName table;
    std::string uuid, cluster;
    std::vector<ColumnDefinition> columns;
    ExprPtr primary_key;                                       // PRIMARY KEY (a) among the columns
    std::vector<std::pair<std::string, ExprPtr>> constraints;  // name, CHECK expression
    StorageDefinition storage;
    QueryPtr as_query;                  // AS SELECT
    std::optional<TableName> as_table;  // AS other, CLONE AS other
    ExprPtr as_function;                // AS f(...)
    bool empty = false;                 // EMPTY AS SELECT
    bool clone = false;                 // CLONE AS other
    std::optional<std::string> comment;
};

struct CreateViewStatement : Statement {
    CreateViewStatement() : Statement(StatementKind::CreateView) {}
    bool attach = false, or_replace = false, materialized = false, if_not_exists = false, populate = false;
    bool temporary = false;
    TableName view;
    std::string uuid, cluster;
    std::optional<TableName> to;
    std::vector<ColumnDefinition> columns;
    StorageDefinition storage;
    QueryPtr query;
    std::optional<std::string> comment;
};

struct CreateDatabaseStatement : Statement {
    CreateDatabaseStatement() : Statement(StatementKind::CreateDatabase) {}
    bool attach = false, if_not_exists = false;
    std::string database, uuid, cluster;
    StorageDefinition storage;
    std::optional<std::string> comment;
};

struct DropStatement : Statement {
    DropStatement() : Statement(StatementKind::Drop) {}
    enum class Action : uint8_t { Drop, Detach, Truncate };
    enum class Target : uint8_t { Table, View, Database, Dictionary };

    Action action = Action::Drop;
    Target target = Target::Table;
    bool temporary = false, if_exists = false, if_empty = false, sync = false, permanently = false;
    std::vector<TableName> tables;  // Database: the name is in `database`, `table` is empty
    std::string cluster;
};

struct ShowStatement : Statement {
    ShowStatement() : Statement(StatementKind::Show) {}
    enum class What : uint8_t {
        Tables,
        Databases,
        CreateTable,
        CreateView,
        CreateDatabase,
        Columns,
        Settings,
        Functions,
        Engines,
        Processlist,
        Dictionaries,
        Clusters,
        Setting,
        Indexes
    };

    What what = What::Tables;
    bool temporary = false, full = false, extended = false, changed = false;
    std::string database;  // FROM db
    TableName table;       // CreateTable, CreateView, Columns, Indexes; CreateDatabase: `database` above
    std::string setting;   // SHOW SETTING name
    std::optional<std::string> like;
    bool not_like = false, case_insensitive = false;
    ExprPtr where, limit;
};

struct ExistsStatement : Statement {
    ExistsStatement() : Statement(StatementKind::Exists) {}
    DropStatement::Target target = DropStatement::Target::Table;
    bool temporary = false;
    TableName table;  // Database: as in DropStatement
};

struct SetStatement : Statement {
    SetStatement() : Statement(StatementKind::Set) {}
    std::vector<SettingChange> changes;
    std::vector<std::pair<std::string, std::string>> parameters;  // SET param_x = 5: x, "5" (text form)
};

struct UseStatement : Statement {
    UseStatement() : Statement(StatementKind::Use) {}
    std::string database;
};

struct InsertStatement : Statement {
    InsertStatement() : Statement(StatementKind::Insert) {}
    TableName table;
    ExprPtr function;      // INSERT INTO FUNCTION f(...): then `table` is empty
    ExprPtr partition_by;  // INSERT INTO FUNCTION f(...) PARTITION BY expr
    bool has_columns = false;
    std::vector<ExprPtr> columns;        // identifiers, * and COLUMNS with EXCEPT
    QueryPtr query;                      // INSERT ... SELECT
    std::optional<std::string> in_file;  // FROM INFILE 'f'
    std::string in_compression;
    // INSERT ... VALUES and INSERT ... FORMAT x: Statement::format is "Values" or x; `data` is what follows in the
    // text: for Values up to the statement's semicolon, for others up to the first empty line or the end of the text.
    // has_data is true for all of these, `data` empty when nothing follows: then the data come from elsewhere (stdin).
    bool has_data = false;
    std::string data;
    size_t data_pos = 0;
};

struct OptimizeStatement : Statement {
    OptimizeStatement() : Statement(StatementKind::Optimize) {}
    TableName table;
    std::string cluster;
    ExprPtr partition;         // PARTITION expr
    std::string partition_id;  // PARTITION ID 'x'
    bool final = false, manifest = false, deduplicate = false, cleanup = false, dry_run = false;
    std::vector<ExprPtr> deduplicate_by;
};

struct AlterCommand {
    enum class Kind : uint8_t {
        AddColumn,
        DropColumn,
        ModifyColumn,
        RenameColumn,
        CommentColumn,
        ClearColumn,
        ModifyComment,
        ModifyOrderBy,
        ModifySetting,
        ResetSetting,
        DropPartition,
        Delete,
        Update,
        Execute,
        ModifyQuery,
        Other
    };

    Kind kind = Kind::Other;
    size_t pos = 0;
    bool if_exists = false, if_not_exists = false;
    std::string column, new_name;  // a compound name joined by dots; RENAME COLUMN a TO b: b
    std::vector<std::string> column_parts;
    ColumnDefinition definition;                               // Add, Modify
    bool first = false;                                        // FIRST
    std::string after;                                         // AFTER column
    std::string remove;                                        // MODIFY COLUMN c REMOVE DEFAULT|COMMENT|...: the word
    std::optional<std::string> comment;                        // CommentColumn, ModifyComment
    ExprPtr expr;                                              // ORDER BY, PARTITION
    std::vector<OrderByElement> sort_elements;                 // ORDER BY, column by column
    ExprPtr where;                                             // DELETE WHERE, UPDATE ... WHERE
    std::vector<std::pair<std::string, ExprPtr>> assignments;  // UPDATE a = expr
    std::vector<SettingChange> settings;                       // MODIFY SETTING, names alone for RESET
    ExprPtr execute;                                           // EXECUTE name(args) as a function
    QueryPtr query;
    std::string text;  // Other: the command as written
};

struct AlterStatement : Statement {
    AlterStatement() : Statement(StatementKind::Alter) {}
    TableName table;
    std::string cluster;
    std::vector<AlterCommand> commands;
};

struct DeleteStatement : Statement {
    DeleteStatement() : Statement(StatementKind::Delete) {}
    TableName table;
    std::string cluster;
    ExprPtr partition;
    ExprPtr where;
};

struct UpdateStatement : Statement {
    UpdateStatement() : Statement(StatementKind::Update) {}
    TableName table;
    std::string cluster;
    std::vector<std::pair<std::string, ExprPtr>> assignments;
    ExprPtr where;
};

struct RenameStatement : Statement {
    RenameStatement() : Statement(StatementKind::Rename) {}
    bool exchange = false, databases = false, if_exists = false;
    std::vector<std::pair<TableName, TableName>> pairs;
    std::string cluster;
};

/// CREATE NAMED COLLECTION c AS a = 1 NOT OVERRIDABLE; ALTER NAMED COLLECTION c SET a = 2 DELETE b; DROP NAMED COLLECTION c.
struct NamedCollectionStatement : Statement {
    NamedCollectionStatement() : Statement(StatementKind::NamedCollection) {}
    enum class Action : uint8_t { Create, Alter, Drop };
    struct Value {
        std::string key;
        Literal value;
        std::optional<bool> overridable;  // as written
    };

    Action action = Action::Create;
    bool if_exists = false, if_not_exists = false;
    std::string name, cluster;
    std::vector<Value> values;         // Create, and SET of Alter
    std::vector<std::string> deleted;  // DELETE of Alter
};

/// KILL QUERY WHERE ..., SYSTEM ..., CHECK TABLE ...: kept as words.
struct OtherStatement : Statement {
    explicit OtherStatement(StatementKind kind) : Statement(kind) {}
    std::string command;  // "DROP QUERY CACHE" of SYSTEM DROP QUERY CACHE: upper case, one blank between words
    std::optional<std::string> argument;  // 'name' of SYSTEM DROP FILESYSTEM CACHE 'name'
    TableName table;
    ExprPtr where;
    bool sync = false, test = false;
};

}  // namespace firn::sql
