// The syntax tree of an SQL expression and query, in ClickHouse's dialect.
//
// The parser lowers operators and special forms to ClickHouse's function names (`a + 1` is plus(a, 1), `CASE` multiIf
// or caseWithExpression, `BETWEEN` an and() of two comparisons, `x::T` CAST(x, 'T'), `INTERVAL 1 DAY` toIntervalDay(1),
// `count(DISTINCT x)` countDistinct(x), `count() FILTER (WHERE c)` countIf(c)), so whoever reads the tree knows
// functions only. Nothing is resolved here: names, aliases, types and settings are the analyzer's.
//
// Nodes are shared_ptr and are not changed once parsing has returned; who wants to change one clones it first. The tree
// is no deeper than ParseOptions::max_ast_depth, so walking it by recursion is safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::sql {

struct Expr;
struct Query;
struct SelectQuery;
using ExprPtr = std::shared_ptr<Expr>;
using QueryPtr = std::shared_ptr<Query>;
using SelectPtr = std::shared_ptr<SelectQuery>;

/// A constant as written. Numbers: an integer that fits UInt64 is UInt64; a negative one that fits Int64 is Int64;
/// every other number (1.5, 1e3, inf, nan, 18446744073709551616) is Float64. The smallest SQL type (UInt8, Int16 ...)
/// is chosen by the analyzer. `text` keeps the digits as written for UInt64, Int64 and Float64 (with the sign, without
/// underscores), so that a cast to Decimal or Int256 loses nothing; for String it holds the bytes, unescaped.
/// Array and Tuple occur where all elements are literals ([1, 2], (1, 'x')); otherwise these are functions array() and
/// tuple(). Map occurs as a setting's value only ({'a': 1}; elements are key, value, key, value).
struct Literal {
    enum class Kind : uint8_t { Null, Bool, UInt64, Int64, Float64, String, Array, Tuple, Map };

    Kind kind = Kind::Null;
    union {
        bool boolean;
        uint64_t uint64 = 0;
        int64_t int64;
        double float64;
    };
    std::string text;
    std::vector<Literal> elements;

    static Literal null() { return {}; }
    static Literal from_bool(bool value);
    static Literal from_uint64(uint64_t value);
    static Literal from_int64(int64_t value);
    static Literal from_float64(double value);
    static Literal from_string(std::string bytes);
};

enum class NullsAction : uint8_t { Default, Respect, Ignore };

struct FrameBound {
    enum class Kind : uint8_t { CurrentRow, Unbounded, Offset };
    Kind kind = Kind::Unbounded;
    bool preceding = true;  // else FOLLOWING; means nothing for CurrentRow
    ExprPtr offset;         // Kind::Offset only
};

struct OrderByElement;

/// What stands after OVER in parentheses, or after `WINDOW name AS`.
struct WindowSpec {
    enum class FrameType : uint8_t { Rows, Groups, Range };

    std::string parent;  // the named window it starts from, "" = none
    std::vector<ExprPtr> partition_by;
    std::vector<OrderByElement> order_by;
    bool has_frame = false;  // else RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    FrameType frame_type = FrameType::Range;
    FrameBound begin{FrameBound::Kind::Unbounded, true, nullptr};
    FrameBound end{FrameBound::Kind::CurrentRow, false, nullptr};
};
using WindowSpecPtr = std::shared_ptr<WindowSpec>;

/// One step after `*` or COLUMNS: EXCEPT (a, b), EXCEPT 'regexp', REPLACE (x + 1 AS x), APPLY f / APPLY (x -> ...).
struct ColumnsTransformer {
    enum class Kind : uint8_t { Except, Replace, Apply };

    Kind kind = Kind::Except;
    bool strict = false;                                        // EXCEPT STRICT, REPLACE STRICT: every name must exist
    std::vector<std::string> except_names;                      // Except by name (a compound name joined by dots)
    std::optional<std::string> except_pattern;                  // Except by regular expression
    std::vector<std::pair<std::string, ExprPtr>> replacements;  // Replace: column, expression
    std::string function;                                       // Apply by function name ...
    std::vector<ExprPtr> parameters;                            // ... with its parameters: quantile(0.5)
    ExprPtr lambda;                                             // Apply by lambda; then `function` is empty
    std::string column_name_prefix;                             // Apply(f, 'prefix')
};

/// A data type as written: name and arguments, not checked against the types there are.
struct TypeExpr;
using TypeExprPtr = std::shared_ptr<TypeExpr>;

struct TypeArgument {
    enum class Kind : uint8_t { Type, NamedType, Literal, EnumValue, Setting };

    Kind kind = Kind::Type;
    std::string name;  // NamedType: the element's (a of `a Int32`); EnumValue: the string; Setting: max_types of
                       // max_types=3 JSON's SKIP a.b and SKIP REGEXP 'x' are NamedType "SKIP", "SKIP REGEXP" without
                       // type, the path in literal
    TypeExprPtr type;  // Type, NamedType. A bare word such as `quantile(0.5)` in AggregateFunction(...) is a Type too.
    Literal literal;   // Literal; EnumValue (Null when it has no number); Setting
};

struct TypeExpr {
    std::string name;            // as written, several words joined by one blank ("DOUBLE PRECISION", "INT UNSIGNED")
    bool has_arguments = false;  // Tuple() as against Tuple
    std::vector<TypeArgument> arguments;
    size_t pos = 0;
};

enum class ExprKind : uint8_t {
    Literal,     // literal
    Identifier,  // parts: a.b.c
    Function,    // name, parameters, args, nulls_action, window
    Lambda,      // lambda_args, args[0] the body
    Asterisk,    // transformers; parts: the qualifier of t.* or db.t.*, empty for *
    Columns,     // COLUMNS('regexp'): pattern; COLUMNS(a, b): args; parts: the qualifier; transformers
    Subquery,    // query: (SELECT ...), also as an argument of in(), exists()
    Parameter,   // {name:Type}: name, type_text
};

struct Expr {
    ExprKind kind = ExprKind::Literal;
    size_t pos = 0;      // byte offset in the statement's text
    std::string alias;   // AS alias or implicit; "" = none
    uint32_t depth = 1;  // levels of this subtree, at most ParseOptions::max_ast_depth. A function counts two, as in
                         // ClickHouse, where its argument list is a level
    uint32_t nodes = 1;  // of this subtree, one for each literal; a shared node counts each time
    bool parenthesized = false;  // stood in parentheses: (a + b) * c. Matters to the printer only

    Literal literal;
    std::vector<std::string> parts;
    std::string name;  // Function: as written for calls, ClickHouse's name for operators; Parameter: the parameter's
    std::vector<ExprPtr> args;

    std::vector<ExprPtr> parameters;  // quantile(0.5)(x)
    bool has_parameters = false;      // quantile()(x)
    NullsAction nulls_action = NullsAction::Default;
    bool is_window = false;                                 // has OVER
    WindowSpecPtr window;                                   // OVER (...); null for OVER name
    std::string window_name;                                // OVER name
    bool is_operator = false;                               // came from an operator or a bracket form: printed as one
    std::vector<std::pair<std::string, Literal>> settings;  // f(args, SETTINGS a = 1)

    std::vector<std::string> lambda_args;
    std::optional<std::string> pattern;
    std::vector<ColumnsTransformer> transformers;
    QueryPtr query;
    std::string type_text;  // Parameter: UInt8 of {x:UInt8}, canonical spelling

    bool is(ExprKind wanted) const { return kind == wanted; }
    bool is_function(std::string_view wanted) const { return kind == ExprKind::Function && name == wanted; }
    /// The whole compound name, "a.b.c", unquoted.
    std::string joined_name() const;
};

ExprPtr make_literal(Literal value, size_t pos = 0);
ExprPtr make_identifier(std::vector<std::string> parts, size_t pos = 0);
ExprPtr make_function(std::string name, std::vector<ExprPtr> args, size_t pos = 0);

/// A deep copy. Subqueries and windows are copied too.
ExprPtr clone(const Expr& expr);
QueryPtr clone(const Query& query);
/// Same tree: aliases count, positions and `text` of numbers do not.
bool equal(const Expr& a, const Expr& b);

/// The name ClickHouse gives a result column that has no alias: "plus(1, 2)", "sum(multiply(x, 2))", "[1, 2]",
/// "CAST('1', 'UInt8')", "count()". The alias of `expr` itself is not looked at; those inside count (plus(a AS x, 1)
/// gives plus(x, 1)).
std::string column_name(const Expr& expr);

/// "name = value" of SETTINGS and SET. `name = DEFAULT` has is_default.
struct SettingChange {
    std::string name;
    Literal value;
    bool is_default = false;
    bool name_alone = false;  // SETTINGS a: the value is 1
    size_t pos = 0;
};

struct OrderByElement {
    ExprPtr expr;
    bool descending = false;
    std::optional<bool> nulls_first;  // as written; default: NULLS LAST for both directions
    std::string collation;            // COLLATE 'en', "" = none
    bool with_fill = false;
    ExprPtr fill_from, fill_to, fill_step, fill_staleness;
};

struct InterpolateElement {
    std::string column;
    ExprPtr expr;  // INTERPOLATE (a) is (a AS a)
};

/// WITH element. Either `name AS (SELECT ...)` or `expr AS name` (then name is expr->alias).
struct WithElement {
    std::string name;
    std::vector<std::string> column_names;  // WITH t(a, b) AS (...)
    QueryPtr query;
    ExprPtr expr;
    bool materialized = false;
    size_t pos = 0;
};

struct TableExpr {
    enum class Kind : uint8_t { Table, Function, Subquery, Parameter };

    Kind kind = Kind::Table;
    std::vector<std::string> parts;  // Table: t, or db.t; more parts as written
    ExprPtr function;                // Function; Parameter: {t:Identifier}
    QueryPtr query;                  // Subquery
    std::string alias;
    std::vector<std::string> column_aliases;  // AS t(a, b)
    bool final = false;
    ExprPtr sample, sample_offset;  // SAMPLE 1/10 OFFSET 1/2: numbers or divisions
    size_t pos = 0;
};

enum class JoinKind : uint8_t { Inner, Left, Right, Full, Cross, Comma, Paste };
enum class JoinStrictness : uint8_t { Unspecified, Any, All, Asof, Semi, Anti };

/// One element of FROM. The first has no join; every further one joins, or unfolds, all that stands before it.
struct FromElement {
    enum class Kind : uint8_t { First, Join, ArrayJoin };

    Kind kind = Kind::First;
    TableExpr table;  // First, Join. In `SELECT 1 ARRAY JOIN [1]` the ArrayJoin is the only element.

    JoinKind join_kind = JoinKind::Inner;
    JoinStrictness strictness = JoinStrictness::Unspecified;
    bool global = false;
    ExprPtr on;
    bool has_using = false;
    bool using_all = false;  // USING *
    std::vector<ExprPtr> using_columns;

    bool left_array_join = false;
    std::vector<ExprPtr> array_join;  // with their aliases
    size_t pos = 0;
};

enum class GroupByModifier : uint8_t { None, Rollup, Cube, GroupingSets };

struct SelectQuery {
    size_t pos = 0;

    bool with_recursive = false;
    std::vector<WithElement> with;

    bool distinct = false;  // DISTINCT ON (a, b) is lowered to LIMIT 1 BY a, b
    std::vector<ExprPtr> select;
    std::vector<FromElement> from;
    ExprPtr prewhere, where;

    bool group_by_all = false;
    GroupByModifier group_by_modifier = GroupByModifier::None;
    bool with_totals = false;
    std::vector<ExprPtr> group_by;                    // also under Rollup and Cube
    std::vector<std::vector<ExprPtr>> grouping_sets;  // GroupingSets only

    ExprPtr having;
    std::vector<std::pair<std::string, WindowSpecPtr>> windows;
    ExprPtr qualify;

    bool order_by_all = false;  // then order_by has one element without expr, for direction and NULLS
    std::vector<OrderByElement> order_by;
    bool has_interpolate = false;  // INTERPOLATE without a list: every column
    std::vector<InterpolateElement> interpolate;

    ExprPtr limit_by_length, limit_by_offset;
    bool limit_by_all = false;
    std::vector<ExprPtr> limit_by;
    ExprPtr limit, offset;  // LIMIT, TOP, FETCH
    bool limit_with_ties = false;

    std::vector<SettingChange> settings;
};

enum class SetOperator : uint8_t {
    None,          // the node is a SELECT
    UnionDefault,  // neither ALL nor DISTINCT: union_default_mode decides (an error when it is empty)
    UnionAll,
    UnionDistinct,
    IntersectDefault,
    IntersectAll,
    IntersectDistinct,
    ExceptDefault,
    ExceptAll,
    ExceptDistinct,
};

/// A SELECT, or two or more queries joined by one set operator, leftmost first. INTERSECT binds tighter than UNION and
/// EXCEPT, which are equal and associate to the left: `a UNION ALL b EXCEPT c` is Except(UnionAll(a, b), c).
struct Query {
    SetOperator op = SetOperator::None;
    SelectPtr select;                // None
    std::vector<QueryPtr> operands;  // otherwise
    bool parenthesized = false;      // stood in parentheses as an operand
    uint32_t depth = 1, nodes = 1;   // as in Expr
    size_t pos = 0;
};

}  // namespace firn::sql
