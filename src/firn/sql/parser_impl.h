// The recursive-descent parser. Inside the room only: others use parser.h.
//
// Every recursion passes a Nesting guard, so the stack is bounded by ParseOptions::max_parser_depth. What was looked
// for and not found at the furthest token is noted on the way and becomes "Expected one of: ..." of the error.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "firn/sql/lexer.h"
#include "firn/sql/parser.h"

namespace firn::sql {

class Parser {
public:
    Parser(std::string_view text, size_t begin, const ParseOptions& options);

    // ---- tokens
    const Token& peek(size_t ahead = 0);
    std::string_view token_text(size_t ahead = 0);
    bool at(TokenType type, size_t ahead = 0) { return peek(ahead).type == type; }
    bool accept(TokenType type, std::string_view name);
    void expect(TokenType type, std::string_view name);
    /// `keyword` may have several words: "GROUP BY". Upper case.
    bool at_keyword(std::string_view keyword, size_t ahead = 0);
    bool accept_keyword(std::string_view keyword);
    void expect_keyword(std::string_view keyword);
    /// One of several, "" when none.
    std::string_view accept_any(std::initializer_list<std::string_view> keywords);
    bool at_end() { return at(TokenType::End) || at(TokenType::Semicolon); }
    bool at_name(size_t ahead = 0) { return at(TokenType::BareWord, ahead) || at(TokenType::QuotedName, ahead); }
    size_t pos() { return peek().begin; }
    size_t token_index() const { return index_; }
    std::string_view text() const { return text_; }
    /// The end of the last token taken.
    size_t last_end() const { return index_ == 0 ? begin_ : tokens_[index_ - 1].end; }
    [[noreturn]] void syntax_error();
    [[noreturn]] void syntax_error(std::string_view message);
    void expected(std::string_view what);
    /// Moves behind the statement's semicolon, whatever stands before it; the byte offset there.
    size_t skip_statement();

    // ---- names, literals, types
    std::string parse_name(std::string_view what = "identifier");
    std::vector<std::string> parse_compound_name();
    TableName parse_table_name();
    std::string parse_string(std::string_view what = "string literal");
    TypeExprPtr parse_type();
    TypeArgument parse_type_argument(const TypeExpr& type);
    bool try_literal(Literal& out);
    Literal parse_setting_value();
    std::vector<SettingChange> parse_settings_list();

    // ---- expressions
    enum class Alias : uint8_t { None, WithAs, Any };
    ExprPtr parse_expr(Alias alias = Alias::None);
    std::vector<ExprPtr> parse_expr_list(Alias alias, bool trailing_comma = false);
    std::vector<ExprPtr> parse_parenthesized_names();
    std::vector<OrderByElement> parse_order_by_list();
    OrderByElement parse_order_by_element();
    WindowSpecPtr parse_window_spec();
    void parse_alias(Alias alias, std::string& out);
    ExprPtr parse_function_call();  // name(args) as of a table function or engine

    // ---- queries
    bool at_query(size_t ahead = 0);
    QueryPtr parse_query();
    QueryPtr parse_parenthesized_query();
    TableExpr parse_table_expr();

    // ---- statements
    StatementPtr parse_statement();
    /// Sets the depth, counts the element, checks the limits. Every node made passes here once it is complete.
    ExprPtr finish(ExprPtr expr);
    void count_elements(size_t count);
    void check_size(uint32_t depth, uint64_t nodes);

private:
    friend class Nesting;

    // expressions (parse_expr.cpp, parse_primary.cpp)
    struct BinaryOperator {
        std::string_view function;
        int precedence = 0;  // 0: none
        int tokens = 0;      // how many make the operator
        enum class Kind : uint8_t { Plain, Mergeable, Comparison, Postfix, Between, Ternary } kind = Kind::Plain;
        bool negated = false;
    };
    ExprPtr parse_operators(int min_precedence);
    void append_operand(Expr& chain, ExprPtr operand);
    BinaryOperator peek_operator();
    BinaryOperator peek_word_operator();
    ExprPtr parse_between(ExprPtr left, bool negated);
    ExprPtr parse_ternary(ExprPtr condition);
    ExprPtr compare_with_subquery(std::string_view function, ExprPtr left);
    ExprPtr parse_unary();
    ExprPtr parse_postfix(ExprPtr left);
    ExprPtr parse_primary();
    ExprPtr parse_lambda();
    bool at_bare_lambda();
    ExprPtr parse_bare_lambda();
    bool at_lambda();
    ExprPtr parse_number(bool negative);
    ExprPtr try_cast_of_literal();
    size_t cast_literal_tokens();
    size_t behind_bracket(size_t ahead);
    bool at_query_start(size_t ahead);
    bool try_literal_list(Literal& out);
    ExprPtr parse_round();
    ExprPtr parse_square();
    ExprPtr parse_parameter();
    ExprPtr parse_word();
    ExprPtr parse_identifier();
    ExprPtr parse_global_variable();
    ExprPtr parse_call(std::string name, size_t pos);
    void parse_arguments(Expr& call);
    void parse_call_suffix(Expr& call);
    ExprPtr parse_asterisk(std::vector<std::string> qualifier, size_t pos);
    ExprPtr parse_columns(std::vector<std::string> qualifier, size_t pos);
    void parse_transformers(Expr& expr);
    bool parse_transformer(Expr& expr);
    void parse_frame(WindowSpec& spec);
    FrameBound parse_frame_bound();
    ExprPtr subquery_expr(QueryPtr query, size_t pos);

    // special forms (parse_special.cpp): null when the words turn out to be an ordinary name
    ExprPtr try_special(std::string_view word);
    ExprPtr parse_case();
    ExprPtr parse_cast();
    ExprPtr parse_extract();
    ExprPtr parse_trim(std::string_view function);
    ExprPtr parse_substring();
    ExprPtr parse_position();
    ExprPtr parse_overlay();
    ExprPtr parse_exists();
    ExprPtr try_interval();
    ExprPtr interval_of_string(size_t pos);
    ExprPtr parse_date_arithmetic(std::string_view function);
    ExprPtr parse_date_diff();
    /// The unit at the current token ("Day"), "" when it is none. Does not take it.
    std::string_view peek_interval_unit();
    std::vector<ExprPtr> parse_rest_of_arguments();

    ExprPtr operator_call(std::string_view function, std::vector<ExprPtr> args, size_t pos);
    ExprPtr string_literal(std::string bytes, size_t pos);

    // queries (parse_select.cpp, parse_from.cpp)
    QueryPtr parse_set_operand();
    QueryPtr combine(SetOperator op, QueryPtr left, QueryPtr right);
    QueryPtr parse_intersect_chain();
    SelectPtr parse_select();
    void parse_with(SelectQuery& select);
    WithElement parse_with_element();
    bool at_cte();
    std::vector<ExprPtr> parse_select_list(SelectQuery& select);  // what DISTINCT ON names
    void lower_distinct_on(SelectQuery& select, std::vector<ExprPtr> columns);
    void parse_group_by(SelectQuery& select);
    void parse_order_by(SelectQuery& select);
    void parse_limits(SelectQuery& select);
    void parse_select_tail(SelectQuery& select);
    ExprPtr finish_table_function(std::string_view name, size_t pos);
    void parse_limit_clause(SelectQuery& select, bool has_top);
    void parse_fetch(SelectQuery& select);
    void parse_from(SelectQuery& select);
    bool parse_join(FromElement& element);
    bool parse_array_join(FromElement& element);
    void parse_join_condition(FromElement& element);
    QueryPtr select_all_from(std::vector<FromElement> from, size_t pos);
    std::vector<FromElement> parse_from_elements();

    // statements (parse_statement.cpp, parse_ddl.cpp, parse_alter.cpp)
    StatementPtr parse_query_statement();
    StatementPtr parse_explain();
    StatementPtr parse_describe();
    StatementPtr parse_show();
    StatementPtr parse_exists_statement();
    StatementPtr parse_set();
    StatementPtr parse_use();
    StatementPtr parse_insert();
    void parse_insert_source(InsertStatement& insert);
    ExprPtr parse_insert_column();
    void take_insert_data(InsertStatement& insert);
    StatementPtr parse_statement_body();
    StatementPtr parse_optimize();
    StatementPtr parse_alter();
    AlterCommand parse_alter_command();
    void parse_alter_add(AlterCommand& command);
    void parse_alter_place(AlterCommand& command);
    void take_other_command(AlterCommand& command);
    void parse_storage_order(StorageDefinition& storage);
    bool peek_operator_at(size_t ahead);
    void parse_alter_modify(AlterCommand& command);
    std::vector<std::pair<std::string, ExprPtr>> parse_assignments();
    StatementPtr parse_delete();
    StatementPtr parse_update();
    StatementPtr parse_rename();
    StatementPtr parse_kill();
    StatementPtr parse_system();
    StatementPtr parse_check();
    StatementPtr parse_drop();
    StatementPtr parse_create();
    StatementPtr parse_create_table(std::shared_ptr<CreateTableStatement> create);
    StatementPtr parse_create_view(std::shared_ptr<CreateViewStatement> create);
    StatementPtr parse_create_database(std::shared_ptr<CreateDatabaseStatement> create);
    StatementPtr parse_named_collection(NamedCollectionStatement::Action action);
    void parse_collection_values(NamedCollectionStatement& statement);
    void parse_table_elements(std::vector<ColumnDefinition>& columns, CreateTableStatement* table);
    ColumnDefinition parse_column_definition(bool compound_name);
    void parse_column_attributes(ColumnDefinition& column);
    bool parse_storage_clause(StorageDefinition& storage);
    void parse_storage(StorageDefinition& storage);
    std::optional<std::string> parse_comment();
    std::string parse_on_cluster();
    std::string parse_uuid();
    void parse_output(Statement& statement);
    bool parse_outfile(Statement& statement);

    std::string_view text_;
    size_t begin_;
    const ParseOptions& options_;
    Lexer lexer_;
    std::vector<Token> tokens_;
    size_t index_ = 0;

    size_t nesting_ = 0, max_nesting_;
    uint32_t max_depth_;
    size_t elements_ = 0, max_elements_;
    size_t backtracks_ = 0;
    size_t open_calls_ = 0;
    uint32_t query_depth_ = 1;  // of the deepest expression met in the query being parsed

    std::unordered_map<size_t, size_t> closing_;  // of an opening bracket's token: the index behind its closing one

    std::unordered_set<size_t> not_literals_, not_cast_literals_;  // opening brackets' tokens

    size_t furthest_ = 0;
    std::vector<std::string_view> expected_;
};

/// Counts a level of nesting while it lives; `cost` as a nested construct weighs in stack.
class Nesting {
public:
    explicit Nesting(Parser& parser, size_t cost = 1);
    ~Nesting() { parser_.nesting_ -= cost_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

private:
    Parser& parser_;
    size_t cost_;
};

}  // namespace firn::sql
