// Tables that have columns and row counts but no rows, by name, as icebergLocal('…/name') and as numbers().
#pragma once

#include <map>
#include <memory>
#include <string>

#include "firn/plan/analyzer.h"
#include "firn/plan/optimizer.h"
#include "firn/sql/parser.h"

namespace firn::plan::test {

class FakeSource : public Source {
public:
    FakeSource(std::string name, std::vector<SourceColumn> columns, std::optional<uint64_t> rows)
        : name_(std::move(name)), columns_(std::move(columns)), rows_(rows) {}
    const std::vector<SourceColumn>& columns() const override { return columns_; }
    std::optional<uint64_t> row_count_estimate() const override { return rows_; }
    ColumnEstimate column_estimate(size_t column) const override {
        const auto known = distinct_.find(columns_[column].name);
        ColumnEstimate estimate;
        if (known != distinct_.end()) estimate.distinct = known->second;
        return estimate;
    }
    std::unique_ptr<Scan> scan(const ScanRequest&) const override { return nullptr; }
    std::string description() const override { return name_; }
    std::map<std::string, double> distinct_;

private:
    std::string name_;
    std::vector<SourceColumn> columns_;
    std::optional<uint64_t> rows_;
};

class FakeTables : public TableResolver {
public:
    /// Reads tables.tsv: name[:rows], then "column Type" fields.
    FakeTables();
    std::optional<ResolvedTable> resolve_table(const std::string& database, const std::string& table) override;
    std::shared_ptr<const Source> resolve_table_function(
        const sql::Expr& call, const std::vector<TableFunctionArgument>& arguments,
        const std::function<std::optional<std::string>(std::string_view)>& setting) override;

private:
    std::map<std::string, std::shared_ptr<FakeSource>> tables_;
};

struct Planner {
    Planner();
    AnalyzedQuery analyze(const std::string& text);
    /// Analyzed and optimized.
    NodePtr plan(const std::string& text);
    /// One line a column: "name Type"; or "Code NAME" of the error.
    std::string header(const std::string& text);

    FakeTables tables;
    functions::FunctionContext functions;
    std::map<std::string, std::string, std::less<>> settings, parameters;
};

/// Throws std::runtime_error where an expression reads a column that its input does not have, or of another type.
void check_plan(const Node& node);
std::vector<const Node*> nodes_of(const Node& plan, NodeKind kind);

}  // namespace firn::plan::test
