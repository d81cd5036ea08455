// Asterisks, COLUMNS(), untuple(), and the names of result columns.
#include <algorithm>

#include <re2/re2.h>

#include "firn/plan/analyzer_impl.h"

namespace firn::plan::analysis {

namespace {

sql::ExprPtr identifier_of(const std::string& name) { return sql::make_identifier({name}); }

sql::Literal field_of(const Vector& vector, size_t row) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    if (flat.is_null(at)) return sql::Literal::null();
    switch (flat.type()->physical()) {
        case Physical::UInt8:
            return sql::Literal::from_uint64(flat.values<uint8_t>()[at]);
        case Physical::UInt16:
            return sql::Literal::from_uint64(flat.values<uint16_t>()[at]);
        case Physical::UInt32:
            return sql::Literal::from_uint64(flat.values<uint32_t>()[at]);
        case Physical::UInt64:
            return sql::Literal::from_uint64(flat.values<uint64_t>()[at]);
        case Physical::Int8:
            return sql::Literal::from_int64(flat.values<int8_t>()[at]);
        case Physical::Int16:
            return sql::Literal::from_int64(flat.values<int16_t>()[at]);
        case Physical::Int32:
            return sql::Literal::from_int64(flat.values<int32_t>()[at]);
        case Physical::Int64:
            return sql::Literal::from_int64(flat.values<int64_t>()[at]);
        case Physical::Float32:
            return sql::Literal::from_float64(flat.values<float>()[at]);
        case Physical::Float64:
            return sql::Literal::from_float64(flat.values<double>()[at]);
        case Physical::Str:
            return sql::Literal::from_string(std::string(flat.values<StringRef>()[at].view()));
        case Physical::Array: {
            sql::Literal list;
            list.kind = sql::Literal::Kind::Array;
            for (auto i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i)
                list.elements.push_back(field_of(*flat.child(), static_cast<size_t>(i)));
            return list;
        }
        case Physical::Tuple: {
            sql::Literal list;
            list.kind = sql::Literal::Kind::Tuple;
            for (const VectorPtr& child : flat.children()) list.elements.push_back(field_of(*child, at));
            return list;
        }
        default:
            return sql::Literal::null();
    }
}

}  // namespace

/// The column's name as a user would write it: short where that means this column, else qualified.
std::string Scope::short_name(const ScopeColumn& column) {
    if (column.table >= tables.size()) return column.name;
    const ScopeColumn* first = nullptr;
    size_t count = 0;
    for (const ScopeColumn& other : columns) {
        if (other.name != column.name || other.table == kNoPlace) continue;
        if (!first) first = &other;
        ++count;
    }
    if (count <= 1 || (tables.size() <= 2 && first == &column)) return column.name;
    const ScopeTable& table = tables[column.table];
    const std::string& qualifier = table.alias.empty() ? table.name : table.alias;
    return qualifier.empty() ? column.name : qualifier + "." + column.name;
}

std::vector<SelectItem> Scope::matcher_columns(const sql::Expr& expr) {
    std::vector<SelectItem> items;
    const auto item_of = [&](const ScopeColumn& column) {
        return SelectItem{column.expression, column.name, identifier_of(short_name(column))};
    };
    if (expr.is(sql::ExprKind::Columns) && !expr.args.empty()) {
        for (const sql::ExprPtr& argument : expr.args)
            items.push_back({resolve_unaliased(*argument), projection_name(argument), argument});
    } else {
        std::optional<size_t> qualifier;
        if (!expr.parts.empty()) {
            for (size_t i = 0; i < tables.size() && !qualifier; ++i) {
                const std::string& name = tables[i].alias.empty() ? tables[i].name : tables[i].alias;
                if (expr.parts.back() == name && (expr.parts.size() == 1 || expr.parts[0] == tables[i].database))
                    qualifier = i;
            }
            if (!qualifier) {  // a tuple's elements
                auto base = find_identifier(expr.parts);
                if (!base || unwrap((*base)->type)->id() != TypeId::Tuple)
                    fail(ErrorCode::UNKNOWN_IDENTIFIER, "Qualified matcher {}.* does not find a table",
                         expr.joined_name());
                const TypePtr type = unwrap((*base)->type);
                for (size_t i = 0; i < type->children().size(); ++i) {
                    const std::string element = type->names().empty() ? std::to_string(i + 1) : type->names()[i];
                    items.push_back({*subcolumn(*base, element), expr.joined_name() + "." + element,
                                     identifier_of(expr.joined_name() + "." + element)});
                }
            }
        } else if (tables.empty() && columns.empty()) {
            fail(ErrorCode::UNSUPPORTED_METHOD, "* stands in a query without FROM");
        }
        if (expr.parts.empty() || qualifier) {
            std::unique_ptr<RE2> pattern;
            if (expr.pattern) {
                pattern = std::make_unique<RE2>(*expr.pattern, RE2::Quiet);
                if (!pattern->ok())
                    fail(ErrorCode::CANNOT_COMPILE_REGEXP, "COLUMNS pattern '{}': {}", *expr.pattern, pattern->error());
            }
            for (const ScopeColumn& column : columns) {
                if (column.hidden) continue;
                if (qualifier ? column.table != *qualifier : column.merged) continue;
                if (pattern && !RE2::PartialMatch(column.name, *pattern)) continue;
                items.push_back(item_of(column));
            }
        }
    }
    apply_transformers(expr, items);
    return items;
}

void Scope::apply_transformers(const sql::Expr& expr, std::vector<SelectItem>& items) {
    // The name of an item after EXCEPT or REPLACE has looked for it: the column's own, not the qualified one.
    for (const sql::ColumnsTransformer& transformer : expr.transformers) {
        using Kind = sql::ColumnsTransformer::Kind;
        if (transformer.kind == Kind::Except) {
            for (const std::string& name : transformer.except_names) {
                const auto end = std::remove_if(items.begin(), items.end(),
                                                [&](const SelectItem& item) { return item.name == name; });
                if (end == items.end() && transformer.strict)
                    fail(ErrorCode::BAD_ARGUMENTS, "Columns transformer EXCEPT expects column {} to exist", name);
                items.erase(end, items.end());
            }
            if (transformer.except_pattern) {
                const RE2 pattern(*transformer.except_pattern, RE2::Quiet);
                if (!pattern.ok())
                    fail(ErrorCode::CANNOT_COMPILE_REGEXP, "EXCEPT pattern '{}': {}", *transformer.except_pattern,
                         pattern.error());
                std::erase_if(items, [&](const SelectItem& item) { return RE2::PartialMatch(item.name, pattern); });
            }
        } else if (transformer.kind == Kind::Replace) {
            for (const auto& [name, replacement] : transformer.replacements) {
                bool found = false;
                for (SelectItem& item : items) {
                    if (item.name != name) continue;
                    item.expression = resolve_unaliased(*replacement);
                    item.expr = identifier_of(name);
                    found = true;
                }
                if (!found && transformer.strict)
                    fail(ErrorCode::BAD_ARGUMENTS, "Columns transformer REPLACE expects column {} to exist", name);
            }
        } else {
            for (SelectItem& item : items) {
                // What stands so far is bound to a name that the function's call refers to.
                const std::string bound = "\x01item";
                Alias alias;
                alias.resolved = item.expression;
                alias.expr = item.expr;
                aliases[bound] = std::move(alias);
                sql::ExprPtr called, shown;
                if (!transformer.function.empty()) {
                    const auto make = [&](sql::ExprPtr argument) {
                        auto function = sql::make_function(transformer.function, {std::move(argument)});
                        function->parameters = transformer.parameters;
                        function->has_parameters = !transformer.parameters.empty();
                        return function;
                    };
                    called = make(identifier_of(bound));
                    shown = make(item.expr);
                } else {
                    if (!transformer.lambda || transformer.lambda->lambda_args.size() != 1)
                        fail(ErrorCode::BAD_ARGUMENTS, "APPLY takes a lambda of one parameter");
                    const std::string parameter = transformer.lambda->lambda_args[0];
                    const std::function<sql::ExprPtr(const sql::ExprPtr&, const sql::ExprPtr&)> substitute =
                        [&](const sql::ExprPtr& from, const sql::ExprPtr& by) -> sql::ExprPtr {
                        if (from->is(sql::ExprKind::Identifier) && from->parts.size() == 1 &&
                            from->parts[0] == parameter)
                            return by;
                        auto copy = std::make_shared<sql::Expr>(*from);
                        for (sql::ExprPtr& argument : copy->args) argument = substitute(argument, by);
                        return copy;
                    };
                    called = substitute(transformer.lambda->args[0], identifier_of(bound));
                    shown = substitute(transformer.lambda->args[0], item.expr);
                }
                item.expression = resolve_unaliased(*called);
                item.expr = shown;
                aliases.erase(bound);
                if (!transformer.column_name_prefix.empty()) {
                    item.name = transformer.column_name_prefix + item.name;
                    item.expr = identifier_of(item.name);
                }
            }
        }
    }
}

std::vector<SelectItem> Scope::expand_matcher(const sql::ExprPtr& expr) {
    std::vector<SelectItem> items;
    if (expr->is_function("untuple")) {
        if (expr->args.size() != 1)
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function untuple takes one argument, {} were given",
                 expr->args.size());
        const ExpressionPtr base = resolve_unaliased(*expr->args[0]);
        const TypePtr type = unwrap(base->type);
        if (type->id() != TypeId::Tuple)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function untuple takes a tuple, not {}", base->type->name());
        const std::string shown = projection_name(expr->args[0]);
        for (size_t i = 0; i < type->children().size(); ++i) {
            const std::string element = type->names().empty() ? std::to_string(i + 1) : type->names()[i];
            std::string name = fmt::format("tupleElement({}, '{}')", shown, element);
            if (!expr->alias.empty()) name = expr->alias + "." + element;
            items.push_back({*subcolumn(base, std::to_string(i + 1)), std::move(name), nullptr});
        }
        return items;
    }
    items = matcher_columns(*expr);
    for (SelectItem& item : items) {
        if (item.expr)
            item.name =
                item.expr->is(sql::ExprKind::Identifier) ? item.expr->joined_name() : projection_name(item.expr);
        item.expr = nullptr;
    }
    return items;
}

std::string Scope::projection_name(const sql::ExprPtr& expr) {
    const std::function<sql::ExprPtr(const sql::ExprPtr&)> rewrite = [&](const sql::ExprPtr& node) -> sql::ExprPtr {
        if (node->is(sql::ExprKind::Subquery)) {
            const auto named = session.subquery_names.find(node.get());
            if (named == session.subquery_names.end()) return node;
            auto copy = identifier_of(named->second);
            copy->alias = node->alias;
            return copy;
        }
        if (node->is_function("exists") && session.subquery_names.contains(node.get())) {
            auto literal =
                sql::make_literal(sql::Literal::from_uint64(session.subquery_names[node.get()] == "1" ? 1 : 0));
            literal->alias = node->alias;
            return literal;
        }
        if (node->is(sql::ExprKind::Parameter)) {
            const ExpressionPtr value = resolve_unaliased(*node);
            if (value->kind != Expression::Kind::Constant)
                return identifier_of(session.context.parameters.find(node->name)->second);
            if (node->type_text == "String") return sql::make_literal(field_of(*value->constant, 0));
            sql::Literal text = field_of(*value->constant, 0);
            if (unwrap(value->type)->id() == TypeId::Decimal)
                text = sql::Literal::from_string(session.context.parameters.find(node->name)->second);
            return sql::make_function(
                "_CAST", {sql::make_literal(text), sql::make_literal(sql::Literal::from_string(node->type_text))});
        }
        if (node->is(sql::ExprKind::Identifier) && node->parts.size() > 1 && lambdas.empty()) {
            // t.column: the table's name is left out where the column is found without it.
            for (size_t table = 0; table < tables.size(); ++table) {
                const std::string& qualifier = tables[table].alias.empty() ? tables[table].name : tables[table].alias;
                size_t prefix = 0;
                if (!qualifier.empty() && node->parts[0] == qualifier)
                    prefix = 1;
                else if (node->parts.size() > 2 && !tables[table].name.empty() && node->parts[1] == tables[table].name)
                    prefix = 2;
                if (prefix == 0) continue;
                for (size_t end = node->parts.size(); end > prefix; --end) {
                    std::string name;
                    for (size_t i = prefix; i < end; ++i) name += (i > prefix ? "." : "") + node->parts[i];
                    for (const ScopeColumn& column : columns) {
                        if (column.table != table || column.name != name) continue;
                        std::string shown = short_name(column);
                        for (size_t i = end; i < node->parts.size(); ++i) shown += "." + node->parts[i];
                        auto copy = identifier_of(shown);
                        copy->alias = node->alias;
                        return copy;
                    }
                }
            }
            return node;
        }
        if (node->args.empty() && node->parameters.empty()) return node;
        auto copy = std::make_shared<sql::Expr>(*node);
        std::vector<sql::ExprPtr> arguments;
        for (const sql::ExprPtr& argument : node->args) {
            const bool expands =
                (argument->is(sql::ExprKind::Asterisk) || argument->is(sql::ExprKind::Columns)) &&
                !(node->is(sql::ExprKind::Function) && node->args.size() == 1 && argument->is(sql::ExprKind::Asterisk));
            if (!expands) {
                arguments.push_back(rewrite(argument));
                continue;
            }
            for (const SelectItem& item : expand_matcher(argument)) arguments.push_back(identifier_of(item.name));
        }
        copy->args = std::move(arguments);
        return copy;
    };
    auto shown = rewrite(expr);
    if (shown->is(sql::ExprKind::Identifier)) return shown->joined_name();
    return sql::column_name(*shown);
}

}  // namespace firn::plan::analysis
