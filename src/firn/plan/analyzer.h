// From a query's syntax tree to a logical plan with every name, function and type resolved, by ClickHouse's rules.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/functions/function.h"
#include "firn/plan/logical.h"
#include "firn/plan/source.h"
#include "firn/sql/ast.h"

namespace firn::plan {

/// What a table's name stands for: rows, or a view's query.
struct ResolvedTable {
    std::shared_ptr<const Source> source;
    sql::QueryPtr view;  // when source is null
};

/// An argument of a table function. `value`: one row, where the argument is a constant expression; null where it is not
/// (a bare word such as a format's name, a query): look at `expr` then. Of `name = value` it is the value.
struct TableFunctionArgument {
    sql::ExprPtr expr;
    VectorPtr value;
};

/// How names in FROM become sources. Implemented by whoever knows the catalog.
class TableResolver {
public:
    virtual ~TableResolver() = default;
    /// database "" = the session's. Nothing when there is no such table; an unknown database may be an error at once.
    virtual std::optional<ResolvedTable> resolve_table(const std::string& database, const std::string& table) = 0;
    /// `call.name`, `call.settings`: as written; `settings`: those of the query (look up by name). Nothing when there
    /// is no function of that name. values(), view() and the like are answered by the analyzer and never asked for.
    virtual std::shared_ptr<const Source> resolve_table_function(
        const sql::Expr& call, const std::vector<TableFunctionArgument>& arguments,
        const std::function<std::optional<std::string>(std::string_view)>& setting) = 0;
    /// Names near to `name`, for the message of UNKNOWN_TABLE; may be empty.
    virtual std::vector<std::string> similar_tables(const std::string&) { return {}; }
};

/// Runs a plan to its end. Takes it as the analyzer left it: optimizes and executes.
using SubqueryRunner = std::function<std::vector<Batch>(NodePtr)>;

struct AnalyzerContext {
    TableResolver& tables;
    const functions::FunctionContext& functions;
    /// Query settings by name, in text; a name that is missing has its default. SETTINGS of SELECTs come on top.
    std::map<std::string, std::string, std::less<>> settings;
    /// {x:Type}: the text of x, as SET param_x or --param_x gave it.
    std::map<std::string, std::string, std::less<>> parameters;
    /// For scalar subqueries and EXISTS that depend on no outer column: run while planning, so that their values prune.
    SubqueryRunner run_subquery;
};

struct AnalyzedQuery {
    NodePtr plan;
    /// Names and types of the result; same as plan->output.
    std::vector<OutputColumn> columns;
    /// WITH TOTALS: a plan of the same columns that gives the one totals row; null otherwise.
    NodePtr totals;
};

/// Throws Error with ClickHouse's code for whatever is wrong with the query.
AnalyzedQuery analyze(const sql::Query& query, const AnalyzerContext& context);

/// A constant expression outside of a query (a setting, LIMIT, a table function's argument): its value, one row.
/// BAD_ARGUMENTS when it is not constant.
VectorPtr evaluate_constant(const sql::Expr& expr, const AnalyzerContext& context);

/// The expression over these columns (a row filter, a default, an INSERT's computed value): columns by number.
ExpressionPtr resolve_over_columns(const sql::Expr& expr, const std::vector<OutputColumn>& columns,
                                   const AnalyzerContext& context);

/// The SQL type and value of a literal.
VectorPtr literal_value(const sql::Literal& literal);

}  // namespace firn::plan
