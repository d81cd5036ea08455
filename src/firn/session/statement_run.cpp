#include "firn/session/statement_run.h"
#include "firn/session/spill_settings.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "firn/base/error.h"
#include "firn/file/parquet/page_cache.h"
#include "firn/plan/optimizer.h"
#include "firn/session/cache_statements.h"
#include "firn/sql/printer.h"
#include "firn/table/catalog.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::session {
namespace {

constexpr size_t kMaxBatchRows = 16384;

std::string literal_text(const sql::Literal& literal) {
    switch (literal.kind) {
        case sql::Literal::Kind::String:
            return literal.text;
        case sql::Literal::Kind::Bool:
            return literal.boolean ? "1" : "0";
        default:
            return sql::format_literal(literal);
    }
}

/// SETTINGS of a query: those of its first SELECT hold for all of it (table reading, limits, output).
const std::vector<sql::SettingChange>* settings_of(const sql::Query& query) {
    const sql::Query* at = &query;
    while (!at->select && !at->operands.empty()) at = at->operands.back().get();
    return at->select ? &at->select->settings : nullptr;
}

bool matches_like(std::string_view text, std::string_view pattern, bool ignore_case) {
    const auto same = [&](char a, char b) { return ignore_case ? std::tolower(a) == std::tolower(b) : a == b; };
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '%') {
        for (size_t i = 0; i <= text.size(); ++i)
            if (matches_like(text.substr(i), pattern.substr(1), ignore_case)) return true;
        return false;
    }
    if (text.empty()) return false;
    if (pattern[0] != '_' && !same(text[0], pattern[0])) return false;
    return matches_like(text.substr(1), pattern.substr(1), ignore_case);
}

/// The least and the greatest value of each column of a result; NULL and NaN count only where there is nothing else.
class Extremes {
public:
    explicit Extremes(size_t columns) : least_(columns), greatest_(columns) {}
    void add(const Batch& batch) {
        for (size_t i = 0; i < batch.columns.size(); ++i)
            for (size_t row = 0; row < batch.rows; ++row) {
                take(least_[i], *batch.columns[i], row, -1);
                take(greatest_[i], *batch.columns[i], row, 1);
            }
    }
    Batch rows() const {
        Batch batch;
        batch.rows = 2;
        for (size_t i = 0; i < least_.size(); ++i) {
            VectorBuilder builder(least_[i]->type());
            builder.append_from(*least_[i], 0);
            builder.append_from(*greatest_[i], 0);
            batch.columns.push_back(builder.finish());
        }
        return batch;
    }

private:
    static bool is_missing(const Vector& vector, size_t row) {
        if (vector.is_null(row)) return true;
        const Vector& flat = vector.flat_base();
        const size_t at = vector.base_row(row);
        if (flat.type()->physical() == Physical::Float64) return std::isnan(flat.values<double>()[at]);
        if (flat.type()->physical() == Physical::Float32) return std::isnan(flat.values<float>()[at]);
        return false;
    }
    static void take(VectorPtr& kept, const Vector& vector, size_t row, int direction) {
        if (kept && is_missing(vector, row)) return;
        if (kept && !is_missing(*kept, 0) && compare_values(vector, row, *kept, 0) * direction <= 0) return;
        VectorBuilder builder(vector.type());
        builder.append_from(vector, row);
        kept = builder.finish();
    }
    std::vector<VectorPtr> least_, greatest_;
};

}  // namespace

StatementRun::StatementRun(Session& session, const sql::Statement& statement,
                           std::function<void(std::string_view)> write, StatementReport& report)
    : session_(session),
      statement_(statement),
      write_(std::move(write)),
      report_(report),
      settings_(session.settings_) {}

void StatementRun::apply_settings(const std::vector<sql::SettingChange>& changes) {
    for (const auto& change : changes) {
        if (change.is_default)
            settings_.reset(change.name);
        else
            settings_.set(change.name, literal_text(change.value));
    }
}

void StatementRun::build_context() {
    const double timeout = settings_.get_float("max_execution_time");
    if (timeout > 0)
        report_.context->set_deadline(begin_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                   std::chrono::duration<double>(timeout)));
    file::pq::PageCache::instance().begin_statement(settings_.get_bool("use_uncompressed_cache"));
    report_.context->filesystem_cache = filesystem_cache_of(settings_);
    report_.context->filesystem_cache_read_only =
        settings_.get_bool("read_from_filesystem_cache_if_exists_otherwise_bypass_cache");
    const std::string zone = settings_.get_string("session_timezone");
    functions_.time_zone = zone.empty() ? "UTC" : zone;
    functions_.now_us =
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    functions_.current_database = session_.catalog_->current_database;
    functions_.cast_keep_nullable = settings_.get_bool("cast_keep_nullable");
    functions_.join_use_nulls = settings_.get_bool("join_use_nulls");
    functions_.setting = [this](std::string_view name) -> std::optional<std::string> {
        if (!find_setting(name)) return std::nullopt;
        return settings_.get_string(name);
    };
    tables_ = session_.catalog_->resolver(settings_);
    context_.reset(new plan::AnalyzerContext{.tables = *tables_,
                                             .functions = functions_,
                                             .settings = {settings_.changed().begin(), settings_.changed().end()},
                                             .parameters = {session_.parameters_.begin(), session_.parameters_.end()},
                                             .run_subquery = [this](plan::NodePtr plan) {
                                                 plan = optimized(std::move(plan));
                                                 auto options = execution_options();
                                                 options.keep_groups = true;
                                                 return exec::collect(*plan, options);
                                             }});
}

exec::ExecutionOptions StatementRun::execution_options() const {
    exec::ExecutionOptions options;
    options.threads = settings_.get_uint("max_threads");
    if (options.threads == 0) options.threads = std::max(1u, std::thread::hardware_concurrency());
    options.batch_rows = std::clamp<size_t>(settings_.get_uint("max_block_size"), 1, kMaxBatchRows);
    options.force_flat = settings_.get_bool("firn_force_flat_vectors");
    set_spill_options(settings_, options);
    options.kept_groups = kept_groups_;
    return options;
}

plan::NodePtr StatementRun::optimized(plan::NodePtr plan) const {
    plan::optimize(plan, plan::OptimizerOptions{.functions = functions_});
    return plan;
}

void StatementRun::run() {
    apply_settings(statement_.settings);
    if (const auto* query = dynamic_cast<const sql::QueryStatement*>(&statement_))
        if (const auto* changes = settings_of(*query->query)) apply_settings(*changes);
    report_.context->memory()->set_limit(
        static_cast<int64_t>(std::min<uint64_t>(settings_.get_uint("max_memory_usage"), INT64_MAX)));
    build_context();
    switch (statement_.kind) {
        case sql::StatementKind::Query:
            return run_query(*static_cast<const sql::QueryStatement&>(statement_).query);
        case sql::StatementKind::Explain:
            return run_explain(static_cast<const sql::ExplainStatement&>(statement_));
        case sql::StatementKind::Describe:
            return run_describe(static_cast<const sql::DescribeStatement&>(statement_));
        case sql::StatementKind::Show:
            return run_show(static_cast<const sql::ShowStatement&>(statement_));
        case sql::StatementKind::Drop:
            return run_drop(static_cast<const sql::DropStatement&>(statement_));
        case sql::StatementKind::Exists:
            return run_exists(static_cast<const sql::ExistsStatement&>(statement_));
        case sql::StatementKind::Set:
            return run_set(static_cast<const sql::SetStatement&>(statement_));
        case sql::StatementKind::CreateTable:
            return run_create_table(static_cast<const sql::CreateTableStatement&>(statement_));
        case sql::StatementKind::CreateView:
            return session_.catalog_->create_view(static_cast<const sql::CreateViewStatement&>(statement_));
        case sql::StatementKind::CreateDatabase: {
            return session_.catalog_->create_database(static_cast<const sql::CreateDatabaseStatement&>(statement_),
                                                      *context_);
        }
        case sql::StatementKind::NamedCollection:
            return session_.catalog_->collections().apply(
                static_cast<const sql::NamedCollectionStatement&>(statement_));
        case sql::StatementKind::Use: {
            const auto& name = static_cast<const sql::UseStatement&>(statement_).database;
            if (!session_.catalog_->has_database(name))
                fail(ErrorCode::UNKNOWN_DATABASE, "Database {} does not exist", name);
            session_.catalog_->current_database = name;
            return;
        }
        case sql::StatementKind::System:
            return run_system(static_cast<const sql::OtherStatement&>(statement_), *session_.catalog_);
        default:
            fail(ErrorCode::NOT_IMPLEMENTED, "firn only reads tables yet: this statement is not supported: {}",
                 sql::format_statement(statement_, {.hide_secrets = true}));
    }
}

void StatementRun::run_query(const sql::Query& query) {
    plan::AnalyzedQuery analyzed = plan::analyze(query, *context_);
    plan::NodePtr plan = optimized(std::move(analyzed.plan));
    plan::NodePtr totals;
    if (analyzed.totals) totals = optimized(std::move(analyzed.totals));
    output_plan(*plan, totals.get());
}

format::ResultStatistics StatementRun::statistics() const {
    format::ResultStatistics statistics;
    statistics.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    statistics.rows_read = report_.context->count(ProfileEvent::SelectedRows);
    statistics.bytes_read = report_.context->count(ProfileEvent::ReadBytesFromStorage);
    return statistics;
}

void StatementRun::open_out_file() {
    if (!statement_.out_compression.empty() && statement_.out_compression != "none")
        fail(ErrorCode::NOT_IMPLEMENTED,
             "INTO OUTFILE with COMPRESSION is not there yet: pipe the output through a compressor");
    const auto mode = statement_.out_append     ? OutFile::Mode::Append
                      : statement_.out_truncate ? OutFile::Mode::Truncate
                                                : OutFile::Mode::New;
    out_file_ = std::make_unique<OutFile>(*statement_.out_file, mode);
    write_ = [file = out_file_.get(), also = statement_.out_and_stdout
                                                 ? write_
                                                 : std::function<void(std::string_view)>()](std::string_view bytes) {
        file->write(bytes);
        if (also) also(bytes);
    };
}

std::string StatementRun::output_format() const {
    if (!statement_.format.empty()) return statement_.format;
    if (!statement_.out_file) return session_.options_.default_format;
    return format_of_file(*statement_.out_file, statement_.out_compression.empty());
}

std::unique_ptr<format::Output> StatementRun::open_output(std::vector<format::Column> columns) {
    format::OutputContext context;
    context.settings = &settings_;
    context.zone = &TimeZone::find(functions_.time_zone);
    context.color = session_.options_.color;
    context.terminal_width = session_.options_.terminal_width;
    auto output = format::make_output(output_format(), std::move(columns), context,
                                      [this](std::string_view bytes) { write_(bytes); });
    if (statement_.out_file) open_out_file();
    return output;
}

void StatementRun::end_output(format::Output& output) {
    output.end(statistics());
    if (out_file_) out_file_->finish();
}

void StatementRun::output_plan(const plan::Node& plan, const plan::Node* totals) {
    std::vector<format::Column> columns;
    for (const auto& column : plan.output) columns.push_back({column.name, column.type});
    const auto output = open_output(std::move(columns));
    output->begin();
    const bool with_extremes = settings_.get_bool("extremes");
    Extremes extremes(plan.output.size());
    exec::execute(plan, execution_options(), [&](Batch&& batch) {
        report_.rows_out += batch.rows;
        if (with_extremes) extremes.add(batch);
        output->write(batch);
        return true;
    });
    if (totals) {
        for (const auto& batch : exec::collect(*totals, execution_options())) output->write_totals(batch);
    }
    if (with_extremes && report_.rows_out > 0) output->write_extremes(extremes.rows());
    end_output(*output);
}

void StatementRun::output_rows(std::vector<format::Column> columns, const std::vector<std::vector<std::string>>& rows) {
    Batch batch;
    batch.rows = rows.size();
    for (size_t i = 0; i < columns.size(); ++i) {
        VectorBuilder builder(columns[i].type);
        for (const auto& row : rows) {
            if (columns[i].type->id() == TypeId::UInt8)
                builder.append<uint8_t>(row[i] == "1");
            else
                builder.append_string(row[i]);
        }
        batch.columns.push_back(builder.finish());
    }
    report_.rows_out = rows.size();
    const auto output = open_output(std::move(columns));
    output->begin();
    if (batch.rows) output->write(batch);
    end_output(*output);
}

void StatementRun::run_explain(const sql::ExplainStatement& statement) {
    const TypePtr text = make_type(TypeId::String);
    std::vector<std::vector<std::string>> rows;
    const auto* query = dynamic_cast<const sql::QueryStatement*>(statement.statement.get());
    if (statement.explain == sql::ExplainKind::Syntax) {
        const std::string printed =
            sql::format_statement(*statement.statement, {.multi_line = true, .hide_secrets = true});
        for (size_t at = 0; at <= printed.size();) {
            const size_t end = std::min(printed.find('\n', at), printed.size());
            rows.push_back({printed.substr(at, end - at)});
            at = end + 1;
        }
        return output_rows({{"explain", text}}, rows);
    }
    if (!query || (statement.explain != sql::ExplainKind::Plan && statement.explain != sql::ExplainKind::Pipeline))
        fail(ErrorCode::NOT_IMPLEMENTED,
             "This kind of EXPLAIN is not there yet: EXPLAIN [PLAN] and EXPLAIN SYNTAX of a SELECT are");
    if (const auto* changes = settings_of(*query->query)) apply_settings(*changes);
    build_context();
    plan::AnalyzedQuery analyzed = plan::analyze(*query->query, *context_);
    const plan::NodePtr plan = optimized(std::move(analyzed.plan));
    for (auto& line : plan::explain(*plan)) rows.push_back({std::move(line)});
    output_rows({{"explain", text}}, rows);
}

void StatementRun::run_describe(const sql::DescribeStatement& statement) {
    std::vector<plan::OutputColumn> columns;
    std::vector<std::string> comments;
    const auto describe_source = [&](const plan::Source& source) {
        for (const auto& column : source.columns()) {
            if (column.is_virtual) continue;
            columns.push_back({column.name, column.type});
            comments.push_back(column.comment);
        }
    };
    switch (statement.table.kind) {
        case sql::TableExpr::Kind::Table: {
            const auto& parts = statement.table.parts;
            const auto first = parts.begin() + (parts.size() > 1 ? 1 : 0);
            const auto found = tables_->resolve_table(parts.size() > 1 ? parts[0] : "",
                                                      fmt::format("{}", fmt::join(first, parts.end(), ".")));
            if (!found) fail(ErrorCode::UNKNOWN_TABLE, "Table {} does not exist", fmt::join(parts, "."));
            if (found->source)
                describe_source(*found->source);
            else
                columns = plan::analyze(*found->view, *context_).columns;
            break;
        }
        case sql::TableExpr::Kind::Function: {
            const auto& function = *statement.table.function;
            const auto source =
                tables_->resolve_table_function(function, table::constant_arguments(function.args, *context_), {});
            if (!source) fail(ErrorCode::UNKNOWN_FUNCTION, "Unknown table function {}", function.name);
            describe_source(*source);
            break;
        }
        default:
            columns = plan::analyze(*statement.table.query, *context_).columns;
    }
    comments.resize(columns.size());
    const TypePtr text = make_type(TypeId::String);
    const bool compact = settings_.get_bool("describe_compact_output");
    std::vector<std::vector<std::string>> rows;
    for (size_t i = 0; i < columns.size(); ++i) {
        if (compact)
            rows.push_back({columns[i].name, pretty_name(*columns[i].type)});
        else
            rows.push_back({columns[i].name, pretty_name(*columns[i].type), "", "", comments[i], "", ""});
    }
    if (compact) return output_rows({{"name", text}, {"type", text}}, rows);
    output_rows({{"name", text},
                 {"type", text},
                 {"default_type", text},
                 {"default_expression", text},
                 {"comment", text},
                 {"codec_expression", text},
                 {"ttl_expression", text}},
                rows);
}

void StatementRun::run_show(const sql::ShowStatement& statement) {
    const TypePtr text = make_type(TypeId::String);
    const auto wanted = [&](const std::string& name) {
        return !statement.like || matches_like(name, *statement.like, statement.case_insensitive) != statement.not_like;
    };
    std::vector<std::vector<std::string>> rows;
    switch (statement.what) {
        case sql::ShowStatement::What::Tables:
            for (auto& name : session_.catalog_->tables(statement.database))
                if (wanted(name)) rows.push_back({name});
            return output_rows({{"name", text}}, rows);
        case sql::ShowStatement::What::Databases:
            for (auto& name : session_.catalog_->databases())
                if (wanted(name)) rows.push_back({name});
            return output_rows({{"name", text}}, rows);
        case sql::ShowStatement::What::CreateTable:
        case sql::ShowStatement::What::CreateView: {
            const auto created = session_.catalog_->create_query(statement.table, settings_);
            if (!created) fail(ErrorCode::UNKNOWN_TABLE, "Table {} does not exist", statement.table.display());
            return output_rows({{"statement", text}}, {{*created}});
        }
        case sql::ShowStatement::What::CreateDatabase:
            return output_rows({{"statement", text}}, {{session_.catalog_->create_database_query(statement.database)}});
        case sql::ShowStatement::What::Settings:
            for (const auto* setting : all_settings())
                if (wanted(std::string(setting->name)) && (!statement.changed || settings_.is_changed(setting->name)))
                    rows.push_back({std::string(setting->name), settings_.get_string(setting->name)});
            return output_rows({{"name", text}, {"value", text}}, rows);
        case sql::ShowStatement::What::Functions:
            for (auto& name : functions::FunctionRegistry::instance().names())
                if (wanted(name)) rows.push_back({name});
            return output_rows({{"name", text}}, rows);
        default:
            fail(ErrorCode::NOT_IMPLEMENTED,
                 "This kind of SHOW is not there yet: TABLES, DATABASES, CREATE TABLE, SETTINGS, FUNCTIONS are");
    }
}

void StatementRun::run_drop(const sql::DropStatement& statement) {
    if (statement.action == sql::DropStatement::Action::Truncate)
        fail(ErrorCode::NOT_IMPLEMENTED, "firn only reads tables yet: TRUNCATE is not supported");
    for (const auto& table : statement.tables) {
        if (statement.target == sql::DropStatement::Target::Database)
            session_.catalog_->drop_database(table.database, statement.if_exists);
        else
            session_.catalog_->drop_table(table, statement.if_exists,
                                          statement.target == sql::DropStatement::Target::View);
    }
}

void StatementRun::run_exists(const sql::ExistsStatement& statement) {
    const bool exists = statement.target == sql::DropStatement::Target::Database
                            ? session_.catalog_->has_database(statement.table.database)
                            : session_.catalog_->has_table(statement.table);
    output_rows({{"result", make_type(TypeId::UInt8)}}, {{exists ? "1" : "0"}});
}

void StatementRun::run_set(const sql::SetStatement& statement) {
    for (const auto& change : statement.changes) {
        if (change.is_default)
            session_.settings_.reset(change.name);
        else
            session_.settings_.set(change.name, literal_text(change.value));
    }
    for (const auto& [name, value] : statement.parameters) session_.parameters_[name] = value;
}

void StatementRun::run_create_table(const sql::CreateTableStatement& statement) {
    session_.catalog_->create_table(statement, settings_, *context_);
}

}  // namespace firn::session
