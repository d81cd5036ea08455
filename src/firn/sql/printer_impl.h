// The printer's state. Inside the room only: others use printer.h.
#pragma once

#include <string>
#include <string_view>

#include "firn/sql/printer.h"

namespace firn::sql {

class Printer {
public:
    explicit Printer(const PrintOptions& options)
        : multi_line_(options.multi_line), hide_secrets_(options.hide_secrets) {}

    std::string take() { return std::move(out_); }

    // print_expr.cpp
    void expr(const Expr& expr);                   // with its alias, as an item of a list
    void operand(const Expr& expr);                // in brackets where it is an operator
    void list(const std::vector<ExprPtr>& exprs);  // a, b, c on one line
    void order_by_element(const OrderByElement& element);
    void window_spec(const WindowSpec& spec);
    void settings(const std::vector<SettingChange>& changes);
    void setting_value(std::string_view name, const Literal& value);
    void literal(const Literal& literal);

    // print_query.cpp
    void query(const Query& query);
    void bracketed_query(const Query& query);
    void table_expr(const TableExpr& table);

    // print_statement.cpp
    void statement(const Statement& statement);

private:
    Printer& operator<<(std::string_view text) {
        out_ += text;
        return *this;
    }
    /// A new line, or a blank.
    void line();
    /// Items on lines of their own when there are several, else behind the word.
    template <typename Items, typename Print>
    void items(const Items& list, Print print_one);

    void bare_expr(const Expr& expr);
    void function(const Expr& expr);
    void call(const Expr& expr);
    bool operator_form(const Expr& expr);
    void in_right_side(const Expr& expr);
    bool element_access(const Expr& expr);
    void expr_with_alias(const Expr& expr);
    void lambda(const Expr& expr);
    void transformers(const Expr& expr);
    void columns(const Expr& expr);
    void frame_bound(const FrameBound& bound);

    void select(const SelectQuery& select);
    void with(const SelectQuery& select);
    void from(const SelectQuery& select);
    void join(const FromElement& element);
    void operand_of_sample(const Expr& ratio);
    void group_by(const SelectQuery& select);
    void order_and_limit(const SelectQuery& select);
    void set_operand(const Query& query, bool first, SetOperator outer);

    void body(const Statement& statement);
    void output(const Statement& statement);
    void explain(const ExplainStatement& statement);
    void describe(const DescribeStatement& statement);
    void create_table(const CreateTableStatement& statement);
    void create_view(const CreateViewStatement& statement);
    void create_database(const CreateDatabaseStatement& statement);
    void column_list(const std::vector<ColumnDefinition>& columns, const CreateTableStatement* table);
    void column(const ColumnDefinition& column);
    void storage(const StorageDefinition& storage);
    void storage_order(const StorageDefinition& storage);
    void comment(const std::optional<std::string>& text, bool own_line);
    void drop(const DropStatement& statement);
    void show(const ShowStatement& statement);
    void set(const SetStatement& statement);
    void insert(const InsertStatement& statement);
    void optimize(const OptimizeStatement& statement);
    void alter(const AlterStatement& statement);
    void alter_command(const AlterCommand& command);
    void alter_column(const AlterCommand& command);
    void assignments(const std::vector<std::pair<std::string, ExprPtr>>& list);
    void rename(const RenameStatement& statement);
    void other(const OtherStatement& statement);
    void named_collection(const NamedCollectionStatement& statement);
    void cluster(const std::string& name);
    static std::string table_name(const TableName& name);
    /// A name whose dots part it: each part quoted where needed.
    static std::string dotted(std::string_view name);
    static std::string back_quoted(std::string_view name);

    std::string out_;
    bool multi_line_;
    bool hide_secrets_;
    size_t indent_ = 0;
};

template <typename Items, typename Print>
void Printer::items(const Items& list, Print print_one) {
    const bool lines = multi_line_ && list.size() > 1;
    if (lines) ++indent_;
    bool first = true;
    for (const auto& item : list) {
        if (!first) out_ += ',';
        if (lines) {
            line();
        } else {
            out_ += ' ';
        }
        first = false;
        print_one(item);
    }
    if (lines) --indent_;
}

}  // namespace firn::sql
