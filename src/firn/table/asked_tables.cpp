#include "firn/table/asked_tables.h"

#include "firn/exec/filter.h"
#include "firn/iceberg/schema.h"
#include "firn/table/filter_predicate.h"
#include "firn/vector/builder.h"

namespace firn::table {
namespace {

constexpr size_t kDatabase = 0;
constexpr size_t kTable = 1;

/// The values of `column = text` and `column IN (texts)`, also as one of several conjuncts.
std::optional<std::set<std::string>> compared_texts(const iceberg::Predicate& predicate) {
    using Kind = iceberg::Predicate::Kind;
    using Op = iceberg::PredicateOp;
    if (predicate.kind == Kind::And) {
        for (const auto& child : predicate.children)
            if (auto texts = compared_texts(*child)) return texts;
        return std::nullopt;
    }
    if (predicate.kind != Kind::Term || (predicate.op != Op::Eq && predicate.op != Op::In)) return std::nullopt;
    std::set<std::string> out;
    for (const auto& literal : predicate.values) out.emplace(literal.datum.view());
    return out;
}

std::set<std::string> common(const std::set<std::string>& left, const std::set<std::string>& right) {
    std::set<std::string> out;
    for (const auto& text : left)
        if (right.contains(text)) out.insert(text);
    return out;
}

}  // namespace

AskedTables::AskedTables(const plan::ScanRequest& request) : request_(request) {
    iceberg::NestedField table;
    table.id = 1;
    table.name = "table";
    table.required = true;
    table.type = iceberg::Type::primitive(iceberg::TypeKind::String);
    for (const auto& filter : request.filters) {
        std::vector<bool> used(request.columns.size());
        plan::mark_columns(*filter, used);
        bool reads_database = false, reads_table = false, reads_more = false;
        for (size_t i = 0; i < used.size(); ++i) {
            if (!used[i]) continue;
            const size_t column = request.columns[i];
            (column == kDatabase ? reads_database : column == kTable ? reads_table : reads_more) = true;
        }
        if (reads_more) continue;
        if (reads_database && !reads_table) of_database_.push_back(filter);
        if (reads_database || reads_table) of_names_.push_back(filter);
        if (!reads_table || reads_database) continue;
        const auto field = [&](size_t column) { return request.columns[column] == kTable ? &table : nullptr; };
        if (auto texts = compared_texts(*filter_predicate(*filter, field).predicate))
            named_ = named_ ? common(*named_, *texts) : std::move(*texts);
    }
}

bool AskedTables::wants_database(const std::string& database) const {
    return !passing(database, {""}, of_database_).empty();
}

std::vector<std::string> AskedTables::wanted(const std::string& database,
                                             const std::vector<std::string>& tables) const {
    return passing(database, tables, of_names_);
}

std::vector<std::string> AskedTables::passing(const std::string& database, const std::vector<std::string>& tables,
                                              const std::vector<plan::ExpressionPtr>& filters) const {
    if (filters.empty() || tables.empty()) return tables;
    const auto text = make_type(TypeId::String);
    Batch batch;
    batch.rows = tables.size();
    for (const size_t column : request_.columns) {
        if (column == kDatabase)
            batch.columns.push_back(make_string_vector(text, std::vector<std::string>(tables.size(), database)));
        else
            batch.columns.push_back(column == kTable ? make_string_vector(text, tables) : nullptr);
    }
    std::vector<std::string> out;
    exec::Filter filter(filters);
    for (const uint32_t row : filter.select(batch)) out.push_back(tables[row]);
    return out;
}

}  // namespace firn::table
