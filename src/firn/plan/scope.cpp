// Names: what an identifier means in a SELECT.
#include <algorithm>

#include "firn/plan/analyzer_impl.h"

namespace firn::plan::analysis {

namespace {

std::string join_parts(const std::vector<std::string>& parts, size_t begin, size_t end) {
    std::string name;
    for (size_t i = begin; i < end; ++i) {
        if (i > begin) name += '.';
        name += parts[i];
    }
    return name;
}

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

}  // namespace

Scope::Scope(Session& session_, Scope* parent_, const sql::SelectQuery* select_)
    : session(session_), parent(parent_), select(select_) {}
Scope::~Scope() = default;

size_t Scope::add_slot(Slot slot) {
    slots.push_back(std::move(slot));
    return slots.size() - 1;
}

std::optional<std::string> Scope::setting(std::string_view name) const {
    for (const Scope* scope = this; scope; scope = scope->parent) {
        if (!scope->select) continue;
        for (const sql::SettingChange& change : scope->select->settings)
            if (change.name == name && !change.is_default) {
                const sql::Literal& value = change.value;
                if (value.kind == sql::Literal::Kind::Bool) return value.boolean ? "1" : "0";
                return value.text;
            }
    }
    const auto found = session.context.settings.find(name);
    if (found != session.context.settings.end()) return found->second;
    return std::nullopt;
}

bool Scope::flag(std::string_view name, bool otherwise) const {
    const std::optional<std::string> value = setting(name);
    if (!value || value->empty()) return otherwise;
    return *value != "0" && *value != "false";
}

ExpressionPtr Scope::call(std::string_view name, std::vector<ExpressionPtr> arguments) {
    return plan::call(name, std::move(arguments), functions());
}

ExpressionPtr Scope::cast(const ExpressionPtr& expression, const TypePtr& type) {
    if (same_type(expression->type, type)) return expression;
    if (expression->kind == Expression::Kind::Constant)
        return make_constant(flatten(functions::cast_vector(expression->constant, type, functions())));
    const auto text = sql::Literal::from_string(type->name());
    return call("CAST", {expression, make_constant(literal_value(text))});
}

void Scope::collect_aliases(const sql::ExprPtr& expr) {
    if (!expr) return;
    if (!expr->alias.empty()) {
        const auto [entry, fresh] = aliases.try_emplace(expr->alias);
        if (fresh) {
            entry->second.expr = expr;
        } else if (!sql::equal(*entry->second.expr, *expr)) {
            entry->second.conflict = sql::column_name(*expr);
        }
    }
    if (expr->is(sql::ExprKind::Lambda)) return;
    for (const sql::ExprPtr& argument : expr->args) collect_aliases(argument);
}

std::optional<ExpressionPtr> Scope::find_alias(const std::vector<std::string>& parts) {
    for (size_t length = parts.size(); length > 0; --length) {
        const std::string name = join_parts(parts, 0, length);
        const auto found = aliases.find(name);
        if (found == aliases.end() || found->second.resolving) continue;
        if (found->second.conflict)
            fail(ErrorCode::MULTIPLE_EXPRESSIONS_FOR_ALIAS, "Multiple expressions {} and {} for alias {}",
                 sql::column_name(*found->second.expr), *found->second.conflict, name);
        const ExpressionPtr resolved = resolve_alias(name, found->second);
        auto accessed = access_elements(resolved, parts, length);
        if (accessed) return accessed;
    }
    return std::nullopt;
}

ExpressionPtr Scope::resolve_alias(const std::string&, Alias& alias) {
    if (alias.resolved) return alias.resolved;
    alias.resolving = true;
    std::vector<LambdaFrame> outside;
    lambdas.swap(outside);  // an alias means the same inside of a lambda as outside
    try {
        ExpressionPtr resolved = resolve_unaliased(*alias.expr);
        lambdas.swap(outside);
        alias.resolved = std::move(resolved);
    } catch (...) {
        lambdas.swap(outside);
        alias.resolving = false;
        throw;
    }
    alias.resolving = false;
    // Aliases of aliases of aliases grow without end: c0 = c1 + c1, c1 = c2 + c2, …
    constexpr size_t kMaxExpanded = 500000;
    if (tree_size(*alias.resolved, kMaxExpanded) >= kMaxExpanded)
        fail(ErrorCode::TOO_BIG_AST, "An expression with its aliases expanded has more than {} parts", kMaxExpanded);
    return alias.resolved;
}

std::optional<ExpressionPtr> Scope::subcolumn(const ExpressionPtr& base, const std::string& name) {
    const TypePtr plain = unwrap(base->type);
    if (name == "null" && accepts_null(*base->type)) return call("isNull", {base});
    if (plain->id() == TypeId::Tuple) {
        const auto& names = plain->names();
        const bool numeric =
            !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (std::find(names.begin(), names.end(), name) != names.end())
            return call("tupleElement", {base, make_constant(literal_value(sql::Literal::from_string(name)))});
        if (numeric && name.size() < 9) {
            const uint64_t index = std::stoull(name);
            if (index >= 1 && index <= plain->children().size())
                return call("tupleElement", {base, make_constant(literal_value(sql::Literal::from_uint64(index)))});
        }
        return std::nullopt;
    }
    if (plain->id() == TypeId::Array && name == "size0") return call("length", {base});
    if (plain->id() == TypeId::Array && unwrap(plain->child())->id() == TypeId::Tuple) {
        const auto& names = unwrap(plain->child())->names();
        if (std::find(names.begin(), names.end(), name) != names.end())
            return call("tupleElement", {base, make_constant(literal_value(sql::Literal::from_string(name)))});
    }
    if (plain->id() == TypeId::Map && name == "keys") return call("mapKeys", {base});
    if (plain->id() == TypeId::Map && name == "values") return call("mapValues", {base});
    return std::nullopt;
}

std::optional<ExpressionPtr> Scope::access_elements(ExpressionPtr base, const std::vector<std::string>& parts,
                                                    size_t from_part) {
    for (size_t i = from_part; i < parts.size(); ++i) {
        auto element = subcolumn(base, parts[i]);
        if (!element) return std::nullopt;
        base = *element;
    }
    return base;
}

std::optional<ExpressionPtr> Scope::find_column(const std::vector<std::string>& parts) {
    for (size_t length = parts.size(); length > 0; --length) {
        const std::string name = join_parts(parts, 0, length);
        const ScopeColumn* found = nullptr;
        bool ambiguous = false;
        for (const ScopeColumn& column : columns) {
            if (column.name != name || column.merged) continue;
            if (!found)
                found = &column;
            else if (found->table != column.table)
                ambiguous = true;
        }
        if (!found) continue;
        // Of two joined tables the left one's column is meant; of more, nobody can know.
        if (ambiguous && tables.size() > 2)
            fail(ErrorCode::AMBIGUOUS_IDENTIFIER,
                 "JOIN has ambiguous identifier {}: more than one table has such a column; qualify it", name);
        auto accessed = access_elements(found->expression, parts, length);
        if (accessed) return accessed;
    }
    return std::nullopt;
}

std::optional<ExpressionPtr> Scope::find_qualified(const std::vector<std::string>& parts) {
    for (size_t table = 0; table < tables.size(); ++table) {
        const ScopeTable& named = tables[table];
        size_t prefix = 0;
        if (!named.alias.empty() && parts[0] == named.alias)
            prefix = 1;
        else if (named.alias.empty() && !named.name.empty() && parts[0] == named.name)
            prefix = 1;
        else if (parts.size() > 2 && !named.name.empty() && parts[1] == named.name &&
                 (parts[0] == named.database || (named.database.empty() && parts[0] == functions().current_database)))
            prefix = 2;
        if (prefix == 0 || parts.size() <= prefix) continue;
        for (size_t end = parts.size(); end > prefix; --end) {
            const std::string name = join_parts(parts, prefix, end);
            for (const ScopeColumn& column : columns) {
                if (column.table != table || column.name != name) continue;
                auto accessed = access_elements(column.expression, parts, end);
                if (accessed) return accessed;
            }
        }
    }
    return std::nullopt;
}

std::optional<ExpressionPtr> Scope::find_identifier(const std::vector<std::string>& parts, bool from_inner) {
    if (from_inner && from_subquery) {
        // unreachable for tables of a FROM subquery's surroundings; handled by the caller
    }
    for (size_t i = lambdas.size(); i > 0; --i) {
        const LambdaFrame& frame = lambdas[i - 1];
        for (size_t j = 0; j < frame.names.size(); ++j) {
            if (frame.names[j] != parts[0]) continue;
            auto parameter = std::make_shared<Expression>();
            parameter->kind = Expression::Kind::Parameter;
            parameter->index = j;
            parameter->depth = lambdas.size() - i;
            parameter->type = frame.types[j];
            auto accessed = access_elements(parameter, parts, 1);
            if (accessed) return accessed;
        }
    }
    const bool column_first = flag("prefer_column_name_to_alias", false);
    if (!column_first)
        if (auto alias = find_alias(parts)) return alias;
    if (auto column = find_column(parts)) return column;
    if (parts.size() > 1)
        if (auto column = find_qualified(parts)) return column;
    if (column_first)
        if (auto alias = find_alias(parts)) return alias;
    return find_in_outer(parts);
}

std::optional<ExpressionPtr> Scope::find_in_outer(const std::vector<std::string>& parts) {
    if (!parent) return std::nullopt;
    std::optional<ExpressionPtr> found;
    if (from_subquery) {
        // Beside it in FROM nothing is visible, only the WITH expressions and what is around the whole query.
        if (auto alias = parent->aliases.find(parts[0]); alias != parent->aliases.end() && !alias->second.resolving) {
            bool declared = false;
            if (parent->select)
                for (const sql::WithElement& element : parent->select->with)
                    declared = declared || (element.expr && element.expr == alias->second.expr);
            if (declared) found = parent->find_alias(parts);
            if (found && (*found)->kind == Expression::Kind::Constant) return found;
            if (declared && alias->second.expr) return resolve_unaliased(*alias->second.expr);
            found.reset();
        }
        found = parent->find_in_outer(parts);
    } else {
        found = parent->find_identifier(parts, true);
    }
    if (!found) return std::nullopt;
    // In a FROM subquery the expression is over the grandparent's slots by way of the parent's Outer slots.
    return outer_reference(*found, join_parts(parts, 0, parts.size()));
}

ExpressionPtr Scope::outer_reference(ExpressionPtr outer, const std::string& name) {
    if (outer->kind == Expression::Kind::Constant) return outer;
    for (size_t i = 0; i < slots.size(); ++i)
        if (slots[i].kind == Slot::Kind::Outer && same_expression(*slots[i].arguments[0], *outer)) return column(i);
    Slot slot;
    slot.kind = Slot::Kind::Outer;
    slot.type = outer->type;
    slot.name = name;
    slot.arguments = {std::move(outer)};
    return column(add_slot(std::move(slot)));
}

ExpressionPtr Scope::resolve_identifier(const sql::Expr& expr) {
    if (auto found = find_identifier(expr.parts)) return *found;
    fail_unknown_identifier(expr.joined_name());
}

void Scope::fail_unknown_identifier(const std::string& name) {
    std::vector<std::pair<size_t, std::string>> near;
    const auto consider = [&](const std::string& candidate) {
        const size_t distance = name.size() <= 64 ? edit_distance(name, candidate) : SIZE_MAX;
        if (distance <= 2 && distance < name.size()) near.emplace_back(distance, candidate);
    };
    for (const ScopeColumn& column : columns) consider(column.name);
    for (const auto& [alias, unused] : aliases) consider(alias);
    std::sort(near.begin(), near.end());
    std::string hint;
    for (size_t i = 0; i < near.size() && i < 2; ++i)
        hint += (i ? ", '" : ". Maybe you meant: ['") + near[i].second + "'";
    if (!hint.empty()) hint += ']';
    fail(ErrorCode::UNKNOWN_IDENTIFIER, "Unknown expression identifier `{}`{}", name, hint);
}

}  // namespace firn::plan::analysis
