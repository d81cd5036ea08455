// One statement, from its tree to its output.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "firn/exec/execute.h"
#include "firn/exec/kept_groups.h"
#include "firn/format/output.h"
#include "firn/plan/analyzer.h"
#include "firn/session/out_file.h"
#include "firn/session/session.h"
#include "firn/sql/statement.h"

namespace firn::session {

/// The life of one statement inside a session: settings in force, analysis, execution, output. Used once.
class StatementRun {
public:
    StatementRun(Session& session, const sql::Statement& statement, std::function<void(std::string_view)> write,
                 StatementReport& report);
    void run();

private:
    void run_query(const sql::Query& query);
    void run_explain(const sql::ExplainStatement& statement);
    void run_describe(const sql::DescribeStatement& statement);
    void run_show(const sql::ShowStatement& statement);
    void run_drop(const sql::DropStatement& statement);
    void run_exists(const sql::ExistsStatement& statement);
    void run_set(const sql::SetStatement& statement);
    void run_create_table(const sql::CreateTableStatement& statement);

    void apply_settings(const std::vector<sql::SettingChange>& changes);
    void build_context();
    exec::ExecutionOptions execution_options() const;
    plan::NodePtr optimized(plan::NodePtr plan) const;
    void output_plan(const plan::Node& plan, const plan::Node* totals);
    /// A result made here: names, types and rows of text.
    void output_rows(std::vector<format::Column> columns, const std::vector<std::vector<std::string>>& rows);
    /// INTO OUTFILE: output goes to the file from here on.
    void open_out_file();
    std::string output_format() const;
    /// The last of a result; the file of INTO OUTFILE is there after it.
    void end_output(format::Output& output);
    std::unique_ptr<format::Output> open_output(std::vector<format::Column> columns);
    format::ResultStatistics statistics() const;

    Session& session_;
    const sql::Statement& statement_;
    std::function<void(std::string_view)> write_;
    std::unique_ptr<OutFile> out_file_;
    StatementReport& report_;
    Settings settings_;
    functions::FunctionContext functions_;
    std::unique_ptr<plan::TableResolver> tables_;
    std::unique_ptr<plan::AnalyzerContext> context_;
    std::shared_ptr<exec::KeptGroups> kept_groups_ = std::make_shared<exec::KeptGroups>();
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace firn::session
