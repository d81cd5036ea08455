#include "firn/plan/expression.h"

#include "firn/base/error.h"
#include "firn/types/value_text.h"
#include "firn/vector/row_ops.h"

namespace firn::plan {

using functions::BoundFunction;
using functions::FunctionContext;

ExpressionPtr make_column(size_t index, TypePtr type) {
    auto expression = std::make_shared<Expression>();
    expression->kind = Expression::Kind::Column;
    expression->index = index;
    expression->type = std::move(type);
    return expression;
}

ExpressionPtr make_constant(VectorPtr value) {
    auto expression = std::make_shared<Expression>();
    expression->kind = Expression::Kind::Constant;
    expression->type = value->type();
    if (value->size() != 1 || !value->is_flat()) value = flatten(slice(value, 0, 1));
    expression->constant = std::move(value);
    return expression;
}

ExpressionPtr make_call(std::shared_ptr<const BoundFunction> function, std::vector<ExpressionPtr> arguments) {
    auto expression = std::make_shared<Expression>();
    expression->kind = Expression::Kind::Call;
    expression->type = function->result_type();
    bool all_constant = function->definition().fold_constants;
    for (const ExpressionPtr& argument : arguments)
        all_constant = all_constant && argument->kind == Expression::Kind::Constant;
    if (all_constant) {
        std::vector<VectorPtr> values;
        values.reserve(arguments.size());
        for (const ExpressionPtr& argument : arguments) values.push_back(argument->constant);
        try {
            VectorPtr value = function->execute(values, 1);
            if (value->size() >= 1) return make_constant(std::move(value));
        } catch (const Error&) {
            // The call stays: it fails when, and only if, a row is computed with it (if() may never ask for it).
        }
    }
    expression->function = std::move(function);
    expression->arguments = std::move(arguments);
    return expression;
}

ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> arguments, const FunctionContext& context) {
    std::vector<functions::Argument> described;
    described.reserve(arguments.size());
    for (const ExpressionPtr& argument : arguments)
        described.push_back(
            {argument->type, argument->kind == Expression::Kind::Constant ? argument->constant : nullptr});
    auto function = functions::FunctionRegistry::instance().bind(name, std::move(described), context);
    return make_call(std::move(function), std::move(arguments));
}

bool is_deterministic(const Expression& expression) {
    if (expression.kind == Expression::Kind::Call && !expression.function->definition().deterministic) return false;
    for (const ExpressionPtr& argument : expression.arguments)
        if (!is_deterministic(*argument)) return false;
    return true;
}

bool same_expression(const Expression& a, const Expression& b) {
    if (&a == &b) return true;
    if (a.kind != b.kind || a.arguments.size() != b.arguments.size()) return false;
    if (a.type && b.type && !same_type(a.type, b.type)) return false;
    switch (a.kind) {
        case Expression::Kind::Column:
            if (a.index != b.index) return false;
            break;
        case Expression::Kind::Parameter:
            if (a.index != b.index || a.depth != b.depth) return false;
            break;
        case Expression::Kind::Constant:
            if (a.constant->is_null(0) != b.constant->is_null(0)) return false;
            return equal_values(*a.constant, 0, *b.constant, 0);
        case Expression::Kind::Call:
            if (a.function->name() != b.function->name()) return false;
            break;
        case Expression::Kind::Lambda:
            if (a.parameter_types.size() != b.parameter_types.size()) return false;
            for (size_t i = 0; i < a.parameter_types.size(); ++i)
                if (!same_type(a.parameter_types[i], b.parameter_types[i])) return false;
            break;
    }
    for (size_t i = 0; i < a.arguments.size(); ++i)
        if (!same_expression(*a.arguments[i], *b.arguments[i])) return false;
    return true;
}

void mark_columns(const Expression& expression, std::vector<bool>& used) {
    if (expression.kind == Expression::Kind::Column) {
        if (expression.index >= used.size())
            fail(ErrorCode::LOGICAL_ERROR, "column {} of {} in a resolved expression", expression.index, used.size());
        used[expression.index] = true;
    }
    for (const ExpressionPtr& argument : expression.arguments) mark_columns(*argument, used);
}

namespace {

/// A copy with its columns replaced by what `replace` gives; shares subtrees in which nothing changes.
template <typename Replace>
ExpressionPtr rewrite_columns(const ExpressionPtr& expression, const Replace& replace) {
    if (expression->kind == Expression::Kind::Column) return replace(expression);
    if (expression->arguments.empty()) return expression;
    std::shared_ptr<Expression> copy;
    for (size_t i = 0; i < expression->arguments.size(); ++i) {
        ExpressionPtr argument = rewrite_columns(expression->arguments[i], replace);
        if (argument == expression->arguments[i]) continue;
        if (!copy) copy = std::make_shared<Expression>(*expression);
        copy->arguments[i] = std::move(argument);
    }
    return copy ? ExpressionPtr(std::move(copy)) : expression;
}

}  // namespace

ExpressionPtr remap_columns(const ExpressionPtr& expression, const std::vector<size_t>& mapping) {
    return rewrite_columns(expression, [&](const ExpressionPtr& column) -> ExpressionPtr {
        if (column->index >= mapping.size() || mapping[column->index] == SIZE_MAX)
            fail(ErrorCode::LOGICAL_ERROR, "column {} of a plan has no place after a rewrite", column->index);
        if (mapping[column->index] == column->index) return column;
        return make_column(mapping[column->index], column->type);
    });
}

ExpressionPtr substitute_columns(const ExpressionPtr& expression, const std::vector<ExpressionPtr>& replacements) {
    return rewrite_columns(expression, [&](const ExpressionPtr& column) -> ExpressionPtr {
        if (column->index >= replacements.size() || !replacements[column->index])
            fail(ErrorCode::LOGICAL_ERROR, "column {} of a plan has no replacement", column->index);
        return replacements[column->index];
    });
}

void split_conjuncts(const ExpressionPtr& expression, std::vector<ExpressionPtr>& out) {
    if (expression->kind == Expression::Kind::Call && expression->function->name() == "and") {
        for (const ExpressionPtr& argument : expression->arguments) split_conjuncts(argument, out);
        return;
    }
    out.push_back(expression);
}

namespace {

void print_value(const Vector& vector, size_t row, std::string& out) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    if (flat.is_null(at)) {
        out += "NULL";
        return;
    }
    const TypePtr type = unwrap(flat.type());
    const auto print_list = [&](const Vector& list, size_t begin, size_t end) {
        constexpr size_t kShown = 10;
        for (size_t i = begin; i < end; ++i) {
            if (i > begin) out += ", ";
            if (i - begin == kShown) {
                out += fmt::format("… {} in all", end - begin);
                break;
            }
            print_value(list, i, out);
        }
    };
    switch (flat.type()->physical()) {
        case Physical::Str:
            out += fmt::format("'{}'", flat.values<StringRef>()[at].view());
            return;
        case Physical::Array:
            out += '[';
            print_list(*flat.child(), static_cast<size_t>(flat.offsets()[at]),
                       static_cast<size_t>(flat.offsets()[at + 1]));
            out += ']';
            return;
        case Physical::Tuple:
            out += '(';
            for (size_t i = 0; i < flat.children().size(); ++i) {
                if (i > 0) out += ", ";
                print_value(*flat.child(i), at, out);
            }
            out += ')';
            return;
        case Physical::None:
            out += "nothing";
            return;
        default:
            break;
    }
    const bool quoted = is_date_or_time(type->id());
    if (quoted) out += '\'';
    append_value(out, *type, flat.values<char>() + at * type->value_size(), TimeZone::utc());
    if (quoted) out += '\'';
}

void print(const Expression& expression, const std::vector<std::string>* names, std::string& out) {
    switch (expression.kind) {
        case Expression::Kind::Column:
            if (names && expression.index < names->size())
                out += (*names)[expression.index];
            else
                out += fmt::format("#{}", expression.index);
            return;
        case Expression::Kind::Constant:
            print_value(*expression.constant, 0, out);
            return;
        case Expression::Kind::Parameter:
            out += fmt::format("${}.{}", expression.depth, expression.index);
            return;
        case Expression::Kind::Lambda:
            out += "lambda(";
            print(*expression.arguments[0], names, out);
            out += ')';
            return;
        case Expression::Kind::Call:
            out += expression.function->name();
            out += '(';
            for (size_t i = 0; i < expression.arguments.size(); ++i) {
                if (i > 0) out += ", ";
                print(*expression.arguments[i], names, out);
            }
            out += ')';
            return;
    }
}

}  // namespace

std::string to_string(const Expression& expression, const std::vector<std::string>* names) {
    std::string out;
    print(expression, names, out);
    return out;
}

}  // namespace firn::plan
