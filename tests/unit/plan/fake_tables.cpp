#include "tests/unit/plan/fake_tables.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "firn/base/error.h"

namespace firn::plan::test {

FakeTables::FakeTables() {
    std::ifstream file(std::string(FIRN_SOURCE_DIR) + "/tests/unit/plan/tables.tsv");
    std::string line;
    while (std::getline(file, line)) {
        std::stringstream fields(line);
        std::string name, field;
        std::getline(fields, name, '\t');
        std::optional<uint64_t> rows;
        if (const size_t colon = name.find(':'); colon != std::string::npos) {
            rows = std::stoull(name.substr(colon + 1));
            name.resize(colon);
        }
        std::vector<SourceColumn> columns;
        while (std::getline(fields, field, '\t')) {
            const size_t space = field.find(' ');
            columns.push_back({field.substr(0, space), functions::parse_type_name(field.substr(space + 1)), false, ""});
        }
        columns.push_back({"_path", functions::parse_type_name("LowCardinality(String)"), true, ""});
        auto source = std::make_shared<FakeSource>(name, std::move(columns), rows);
        static const std::map<std::string, double> kDistinct = {
            {"l_orderkey", 1500000}, {"l_partkey", 200000},  {"l_suppkey", 10000},
            {"o_custkey", 100000},   {"c_nationkey", 25},    {"s_nationkey", 25},
            {"n_regionkey", 5},      {"ps_partkey", 200000}, {"ps_suppkey", 10000}};
        source->distinct_ = kDistinct;
        tables_[name] = std::move(source);
    }
}

std::optional<ResolvedTable> FakeTables::resolve_table(const std::string& database, const std::string& table) {
    if (!database.empty() && database != "default" && database != "system")
        fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", database);
    if (database == "system") {
        if (table == "numbers")
            return ResolvedTable{
                std::make_shared<FakeSource>(
                    "numbers", std::vector<SourceColumn>{{"number", make_type(TypeId::UInt64), false, ""}},
                    std::nullopt),
                nullptr};
        if (table == "one")
            return ResolvedTable{
                std::make_shared<FakeSource>(
                    "one", std::vector<SourceColumn>{{"dummy", make_type(TypeId::UInt8), false, ""}}, 1),
                nullptr};
    }
    const auto found = tables_.find(table);
    if (found == tables_.end()) return std::nullopt;
    return ResolvedTable{found->second, nullptr};
}

std::shared_ptr<const Source> FakeTables::resolve_table_function(
    const sql::Expr& call, const std::vector<TableFunctionArgument>& arguments,
    const std::function<std::optional<std::string>(std::string_view)>&) {
    if (call.name == "numbers" || call.name == "numbers_mt" || call.name == "generate_series") {
        const std::string column = call.name == "generate_series" ? "generate_series" : "number";
        return std::make_shared<FakeSource>(
            "numbers", std::vector<SourceColumn>{{column, make_type(TypeId::UInt64), false, ""}}, 10);
    }
    if (call.name != "icebergLocal") return nullptr;
    const std::string path(arguments.at(0).value->values<StringRef>()[0].view());
    const auto found = tables_.find(path.substr(path.rfind('/') + 1));
    if (found == tables_.end()) fail(ErrorCode::FILE_DOESNT_EXIST, "No table at {}", path);
    return found->second;
}

Planner::Planner() {
    functions.now_us = 1700000000000000;
    functions.setting = [this](std::string_view name) -> std::optional<std::string> {
        const auto found = settings.find(name);
        if (found == settings.end()) return std::nullopt;
        return found->second;
    };
}

AnalyzedQuery Planner::analyze(const std::string& text) {
    const auto statement = sql::parse_statement(text);
    if (statement->kind != sql::StatementKind::Query) throw std::runtime_error("not a query: " + text);
    // Nothing is run: a subquery gives one row of defaults.
    const SubqueryRunner runner = [](NodePtr plan) {
        Batch batch;
        batch.rows = 1;
        for (const OutputColumn& column : plan->output) batch.columns.push_back(Vector::defaults(column.type, 1));
        return std::vector<Batch>{std::move(batch)};
    };
    const AnalyzerContext context{tables, functions, settings, parameters, runner};
    return plan::analyze(*static_cast<sql::QueryStatement&>(*statement).query, context);
}

NodePtr Planner::plan(const std::string& text) {
    NodePtr plan = std::move(analyze(text).plan);
    check_plan(*plan);
    optimize(plan, {functions});
    check_plan(*plan);
    return plan;
}

std::string Planner::header(const std::string& text) {
    try {
        const AnalyzedQuery query = analyze(text);
        std::string out;
        for (const OutputColumn& column : query.columns) out += column.name + " " + column.type->name() + "\n";
        check_plan(*query.plan);
        return out;
    } catch (const Error& error) {
        return std::to_string(static_cast<int>(error.code())) + " " + std::string(error_name(error.code()));
    }
}

namespace {

void check_expression(const Expression& expression, const std::vector<OutputColumn>& input, const Node& node) {
    if (expression.kind == Expression::Kind::Column) {
        if (expression.index >= input.size())
            throw std::runtime_error(
                fmt::format("column {} of {} in node {}", expression.index, input.size(), static_cast<int>(node.kind)));
        if (!same_type(expression.type, input[expression.index].type))
            throw std::runtime_error(fmt::format("column {} is {}, read as {} in node {}", expression.index,
                                                 input[expression.index].type->name(), expression.type->name(),
                                                 static_cast<int>(node.kind)));
    }
    for (const ExpressionPtr& argument : expression.arguments) check_expression(*argument, input, node);
}

}  // namespace

void check_plan(const Node& node) {
    std::vector<OutputColumn> input;
    for (const NodePtr& child : node.children) {
        check_plan(*child);
        input.insert(input.end(), child->output.begin(), child->output.end());
    }
    const auto check = [&](const std::vector<ExpressionPtr>& expressions, const std::vector<OutputColumn>& over) {
        for (const ExpressionPtr& expression : expressions) check_expression(*expression, over, node);
    };
    switch (node.kind) {
        case NodeKind::Scan:
            check(static_cast<const ScanNode&>(node).request.filters, node.output);
            break;
        case NodeKind::Project:
            check(static_cast<const ProjectNode&>(node).expressions, input);
            break;
        case NodeKind::Filter:
            check(static_cast<const FilterNode&>(node).conjuncts, input);
            break;
        case NodeKind::Aggregate:
            check(static_cast<const AggregateNode&>(node).keys, input);
            for (const AggregateCall& call : static_cast<const AggregateNode&>(node).aggregates)
                check(call.arguments, input);
            break;
        case NodeKind::Join: {
            const auto& join = static_cast<const JoinNode&>(node);
            check(join.left_keys, node.children[0]->output);
            check(join.right_keys, node.children[1]->output);
            check(join.residual, input);
            if (join.left_keys.size() != join.right_keys.size())
                throw std::runtime_error("keys of a join are not in pairs");
            for (size_t i = 0; i < join.left_keys.size(); ++i)
                if (!same_type(join.left_keys[i]->type, join.right_keys[i]->type))
                    throw std::runtime_error("keys of a join differ in type");
            break;
        }
        case NodeKind::Sort:
            for (const SortKey& key : static_cast<const SortNode&>(node).keys) check({key.expression}, input);
            break;
        case NodeKind::Cte:
            check_plan(*static_cast<const CteNode&>(node).shared->plan);
            if (static_cast<const CteNode&>(node).shared->plan->output.size() != node.output.size())
                throw std::runtime_error("columns of a shared plan");
            break;
        default:
            break;
    }
}

std::vector<const Node*> nodes_of(const Node& plan, NodeKind kind) {
    std::vector<const Node*> found;
    if (plan.kind == kind) found.push_back(&plan);
    for (const NodePtr& child : plan.children)
        for (const Node* node : nodes_of(*child, kind)) found.push_back(node);
    return found;
}

}  // namespace firn::plan::test
