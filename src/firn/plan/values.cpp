// The table function values(), and VALUES in FROM.
#include <algorithm>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::plan::analysis {

namespace {

/// "a UInt8, `b c` Array(String)": names and types.
std::vector<OutputColumn> parse_structure(std::string_view text) {
    std::vector<OutputColumn> columns;
    size_t at = 0;
    const auto skip = [&] {
        while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) ++at;
    };
    while (true) {
        skip();
        std::string name;
        if (at < text.size() && (text[at] == '`' || text[at] == '"')) {
            const char quote = text[at++];
            while (at < text.size() && text[at] != quote) name += text[at++];
            if (at < text.size()) ++at;
        } else {
            while (at < text.size() && text[at] != ' ' && text[at] != ',' && text[at] != '(') name += text[at++];
        }
        skip();
        const size_t begin = at;
        int depth = 0;
        bool quoted = false;
        while (at < text.size() && (quoted || depth > 0 || text[at] != ',')) {
            if (text[at] == '\\' && quoted)
                ++at;
            else if (text[at] == '\'')
                quoted = !quoted;
            else if (!quoted && text[at] == '(')
                ++depth;
            else if (!quoted && text[at] == ')')
                --depth;
            ++at;
        }
        if (at > text.size()) at = text.size();
        std::string_view type = text.substr(begin, at - begin);
        while (!type.empty() && (type.back() == ' ' || type.back() == '\n')) type.remove_suffix(1);
        if (name.empty() || type.empty())
            fail(ErrorCode::SYNTAX_ERROR, "Cannot parse the structure of a table: '{}'", text);
        columns.push_back({std::move(name), functions::parse_type_name(type)});
        if (at >= text.size()) return columns;
        ++at;
    }
}

bool is_structure(const sql::Expr& expr) {
    return expr.is(sql::ExprKind::Literal) && expr.literal.kind == sql::Literal::Kind::String &&
           expr.literal.text.find(' ') != std::string::npos;
}

/// ARGUMENT_OUT_OF_BOUND for a number that the column's type cannot hold.
void check_fits(const VectorPtr& value, const TypePtr& type, const functions::FunctionContext& context) {
    const TypeId from = unwrap(value->type())->id(), to = unwrap(type)->id();
    if (!is_integer(from) || !is_integer(to) || value->is_null(0)) return;
    const VectorPtr back = functions::cast_vector(functions::cast_vector(value, type, context), value->type(), context);
    if (compare_values(*flatten(back), 0, *value, 0) != 0)
        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "Value {} of values() does not fit into {}",
             to_string(*make_constant(value)), type->name());
}

/// The fields of one row: those of a tuple, or the value itself.
std::vector<VectorPtr> fields_of(const VectorPtr& value, size_t width) {
    if (value->type()->id() != TypeId::Tuple || (width == 1 && value->children().size() != 1)) return {value};
    std::vector<VectorPtr> fields;
    for (const VectorPtr& child : value->children()) fields.push_back(slice(child, 0, 1));
    return fields;
}

}  // namespace

NodePtr Scope::values_function(const sql::Expr& call) {
    if (call.args.empty())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Table function values needs at least one argument");
    std::vector<OutputColumn> named;
    size_t first = 0;
    if (is_structure(*call.args[0])) {
        named = parse_structure(call.args[0]->literal.text);
        first = 1;
    }
    std::vector<std::vector<VectorPtr>> rows;
    for (size_t i = first; i < call.args.size(); ++i) {
        const ExpressionPtr value = resolve_unaliased(*call.args[i]);
        if (value->kind != Expression::Kind::Constant)
            fail(ErrorCode::BAD_ARGUMENTS, "Argument {} of values is not constant", sql::column_name(*call.args[i]));
        rows.push_back(fields_of(value->constant, named.size()));
        const size_t width = named.empty() ? rows.front().size() : named.size();
        if (rows.back().size() != width)
            fail(ErrorCode::BAD_ARGUMENTS, "Values table function requires all rows to have {} fields, {} has {}",
                 width, sql::column_name(*call.args[i]), rows.back().size());
    }
    if (named.empty())
        for (size_t i = 0; i < rows.front().size(); ++i) {
            std::vector<TypePtr> types;
            for (const auto& row : rows) types.push_back(row[i]->type());
            named.push_back({"c" + std::to_string(i + 1), functions::common_type(types)});
        }
    Batch batch;
    batch.rows = rows.size();
    for (size_t i = 0; i < named.size(); ++i) {
        std::vector<VectorPtr> cells;
        for (const auto& row : rows) {
            check_fits(row[i], named[i].type, functions());
            const bool loses_null = row[i]->is_null(0) && !accepts_null(*named[i].type);
            cells.push_back(loses_null ? Vector::defaults(named[i].type, 1)
                                       : flatten(functions::cast_vector(row[i], named[i].type, functions())));
        }
        batch.columns.push_back(concat(named[i].type, cells));
    }
    std::vector<Batch> batches;
    if (batch.rows > 0) batches.push_back(std::move(batch));
    return make_values(std::move(named), std::move(batches));
}

}  // namespace firn::plan::analysis
