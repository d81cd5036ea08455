// FROM: tables, subqueries, CTEs, table functions and ARRAY JOIN, from left to right.
#include <algorithm>

#include "firn/plan/analyzer_impl.h"

namespace firn::plan::analysis {

NodePtr one_row() {
    Batch batch;
    batch.rows = 1;
    std::vector<Batch> batches;
    batches.push_back(std::move(batch));
    return make_values({}, std::move(batches));
}

NodePtr make_values(std::vector<OutputColumn> columns, std::vector<Batch> batches) {
    auto node = std::make_unique<ValuesNode>();
    node->output = std::move(columns);
    node->batches = std::move(batches);
    return node;
}

NodePtr make_project(NodePtr child, std::vector<ExpressionPtr> expressions, std::vector<std::string> names) {
    auto node = std::make_unique<ProjectNode>();
    for (size_t i = 0; i < expressions.size(); ++i) node->output.push_back({std::move(names[i]), expressions[i]->type});
    node->expressions = std::move(expressions);
    node->children.push_back(std::move(child));
    return node;
}

NodePtr make_filter(NodePtr child, const ExpressionPtr& condition) {
    auto node = std::make_unique<FilterNode>();
    node->output = child->output;
    split_conjuncts(condition, node->conjuncts);
    node->children.push_back(std::move(child));
    return node;
}

NodePtr cast_columns(NodePtr plan, const std::vector<TypePtr>& types, const functions::FunctionContext& context) {
    bool same = true;
    for (size_t i = 0; i < types.size(); ++i) same = same && same_type(types[i], plan->output[i].type);
    if (same && types.size() == plan->output.size()) return plan;
    std::vector<ExpressionPtr> expressions;
    std::vector<std::string> names;
    for (size_t i = 0; i < types.size(); ++i) {
        ExpressionPtr column = make_column(i, plan->output[i].type);
        if (!same_type(types[i], plan->output[i].type))
            column = call("CAST", {column, make_constant(literal_value(sql::Literal::from_string(types[i]->name())))},
                          context);
        expressions.push_back(std::move(column));
        names.push_back(plan->output[i].name);
    }
    return make_project(std::move(plan), std::move(expressions), std::move(names));
}

size_t Scope::add_base_slot(const OutputColumn& column, size_t place) {
    Slot slot;
    slot.kind = Slot::Kind::Base;
    slot.type = column.type;
    slot.name = column.name;
    const size_t number = add_slot(std::move(slot));
    from_places.resize(slots.size(), kNoPlace);
    from_places[number] = place;
    return number;
}

ExpressionPtr Scope::lower_from(const ExpressionPtr& expression) const {
    for_each_column(*expression, [&](const Expression& column) {
        if (column.index >= from_places.size() || from_places[column.index] == kNoPlace)
            fail(ErrorCode::NOT_IMPLEMENTED,
                 "A subquery, arrayJoin or column of an outer query in a JOIN's condition is not supported");
    });
    return remap_columns(expression, from_places);
}

Cte* Scope::find_cte(const std::string& name) {
    for (Scope* scope = this; scope; scope = scope->parent) {
        const auto found = scope->ctes.find(name);
        if (found != scope->ctes.end() && (!found->second.resolving || found->second.recursive_ready))
            return &found->second;
    }
    return nullptr;
}

NodePtr Scope::query_plan(const sql::Query& query, Scope* around) {
    ResolvedQuery resolved = resolve_query(session, query, around, true);
    if (resolved.correlated())
        fail(ErrorCode::NOT_IMPLEMENTED, "A subquery in FROM that uses columns of an outer query is not supported");
    return std::move(resolved.plan);
}

NodePtr Scope::cte_plan(Cte& cte) {
    if (cte.recursive_ready) return make_values(cte.recursive_columns, cte.recursive_rows);
    cte.resolving = true;
    NodePtr plan;
    try {
        plan = cte.recursive ? recursive_cte_plan(cte) : query_plan(*cte.element->query, cte.scope);
    } catch (...) {
        cte.resolving = false;
        throw;
    }
    cte.resolving = false;
    const auto& names = cte.element->column_names;
    if (!names.empty()) {
        if (names.size() != plan->output.size())
            fail(ErrorCode::BAD_ARGUMENTS, "CTE {} names {} columns, its query has {}", cte.element->name, names.size(),
                 plan->output.size());
        for (size_t i = 0; i < names.size(); ++i) plan->output[i].name = names[i];
    }
    return plan;
}

Scope::TableRows Scope::scan_of(std::shared_ptr<const Source> source) const {
    TableRows rows;
    auto scan = std::make_unique<ScanNode>();
    const auto& source_columns = source->columns();
    for (size_t i = 0; i < source_columns.size(); ++i) {
        scan->request.columns.push_back(i);
        scan->output.push_back({source_columns[i].name, source_columns[i].type});
        rows.hidden.push_back(source_columns[i].is_virtual);
    }
    scan->source = std::move(source);
    rows.plan = std::move(scan);
    return rows;
}

Scope::TableRows Scope::resolve_named_table(const sql::TableExpr& table) {
    // Of a.b.c the database is a, the table b.c: catalogs have namespaces in their tables' names.
    std::string name = table.parts.size() > 1 ? table.parts[1] : table.parts[0];
    for (size_t i = 2; i < table.parts.size(); ++i) name += "." + table.parts[i];
    const std::string database = table.parts.size() > 1 ? table.parts[0] : std::string();
    TableRows rows;
    if (table.parts.size() == 1) {
        if (Cte* cte = find_cte(name)) {
            rows.plan = cte_plan(*cte);
            rows.named.name = name;
            return rows;
        }
    }
    auto resolved = session.context.tables.resolve_table(database, name);
    if (!resolved) {
        std::string hint;
        for (const std::string& similar : session.context.tables.similar_tables(name))
            hint += (hint.empty() ? "" : ", ") + similar;
        fail(ErrorCode::UNKNOWN_TABLE, "Unknown table expression identifier '{}'{}",
             database.empty() ? name : database + "." + name, hint.empty() ? "" : ". Maybe you meant " + hint);
    }
    if (resolved->source)
        rows = scan_of(std::move(resolved->source));
    else
        rows.plan = std::move(resolve_query(session, *resolved->view, nullptr, false).plan);
    rows.named.name = name;
    rows.named.database = database;
    return rows;
}

Scope::TableRows Scope::resolve_table_function(const sql::TableExpr& table) {
    const sql::Expr& function = *table.function;
    TableRows rows;
    if (function.name == "values") {
        rows.plan = values_function(function);
        return rows;
    }
    if (function.name == "view") {
        if (function.args.size() != 1 || !function.args[0]->is(sql::ExprKind::Subquery))
            fail(ErrorCode::BAD_ARGUMENTS, "Table function view takes one argument, a query");
        rows.plan = query_plan(*function.args[0]->query, this);
        return rows;
    }
    std::vector<TableFunctionArgument> arguments;
    for (const sql::ExprPtr& argument : function.args) {
        TableFunctionArgument described{argument, nullptr};
        // name = value: the value is what is evaluated.
        const bool named = argument->is_function("equals") && argument->args.size() == 2 &&
                           argument->args[0]->is(sql::ExprKind::Identifier) && !find_alias(argument->args[0]->parts);
        const sql::Expr& given = named ? *argument->args[1] : *argument;
        const bool word = given.is(sql::ExprKind::Identifier);
        if (!word || find_alias(given.parts)) {
            const bool names_only = given.is(sql::ExprKind::Function) &&
                                    functions::FunctionRegistry::instance().find(given.name) == nullptr;
            if (!names_only) {
                const ExpressionPtr value = resolve_unaliased(given);
                if (value->kind != Expression::Kind::Constant)
                    fail(ErrorCode::BAD_ARGUMENTS, "Argument {} of table function {} must be constant",
                         arguments.size() + 1, function.name);
                described.value = value->constant;
            }
        }
        arguments.push_back(std::move(described));
    }
    auto source = session.context.tables.resolve_table_function(
        function, arguments, [this](std::string_view name) { return setting(name); });
    if (!source) fail(ErrorCode::UNKNOWN_FUNCTION, "Unknown table function {}", function.name);
    return scan_of(std::move(source));
}

Scope::TableRows Scope::resolve_table(const sql::TableExpr& table) {
    // A CTE that uses another twice, and that one yet another: each use is planned anew.
    constexpr size_t kMostTables = 5000;
    if (++session.tables > kMostTables)
        fail(ErrorCode::TOO_DEEP_SUBQUERIES, "The query refers to more than {} tables, CTEs and views expanded",
             kMostTables);
    TableRows rows;
    switch (table.kind) {
        case sql::TableExpr::Kind::Table:
            rows = resolve_named_table(table);
            break;
        case sql::TableExpr::Kind::Function:
            rows = resolve_table_function(table);
            break;
        case sql::TableExpr::Kind::Subquery:
            rows.plan = query_plan(*table.query, this);
            rows.named.is_subquery = true;
            break;
        case sql::TableExpr::Kind::Parameter: {
            const auto& parameters = session.context.parameters;
            const auto found = parameters.find(table.function->name);
            if (found == parameters.end())
                fail(ErrorCode::UNKNOWN_QUERY_PARAMETER, "Substitution {{{}:{}}} is not set", table.function->name,
                     table.function->type_text);
            sql::TableExpr named = table;
            named.kind = sql::TableExpr::Kind::Table;
            named.parts = {found->second};
            rows = resolve_named_table(named);
            break;
        }
    }
    if (table.final && table.kind != sql::TableExpr::Kind::Table)
        fail(ErrorCode::UNSUPPORTED_METHOD, "FINAL stands behind something that is no table");
    if (table.final) fail(ErrorCode::ILLEGAL_FINAL, "Storage doesn't support FINAL");
    if (table.sample) fail(ErrorCode::NOT_IMPLEMENTED, "SAMPLE is not supported");
    rows.named.alias = table.alias;
    if (!table.column_aliases.empty()) {
        if (table.column_aliases.size() > rows.plan->output.size())
            fail(ErrorCode::BAD_ARGUMENTS, "{} names {} columns, it has {}", table.alias, table.column_aliases.size(),
                 rows.plan->output.size());
        for (size_t i = 0; i < table.column_aliases.size(); ++i) rows.plan->output[i].name = table.column_aliases[i];
    }
    if (rows.plan->kind == NodeKind::Scan) static_cast<ScanNode&>(*rows.plan).alias = table.alias;
    return rows;
}

/// A joined subquery or table function without a name could not be told from others.
static void check_aliases(const sql::SelectQuery& select) {
    for (const sql::FromElement& element : select.from) {
        if (element.kind == sql::FromElement::Kind::ArrayJoin || !element.table.alias.empty()) continue;
        if (element.table.kind == sql::TableExpr::Kind::Subquery ||
            element.table.kind == sql::TableExpr::Kind::Function)
            fail(ErrorCode::ALIAS_REQUIRED,
                 "JOIN has no alias for subquery or table function (set joined_subquery_requires_alias = 0 to disable "
                 "restriction)");
    }
}

void Scope::resolve_from() {
    const auto joined = std::count_if(select->from.begin(), select->from.end(),
                                      [](const sql::FromElement& e) { return e.kind == sql::FromElement::Kind::Join; });
    if (joined > 0 && flag("joined_subquery_requires_alias", true)) check_aliases(*select);
    for (const sql::FromElement& element : select->from) {
        if (element.kind == sql::FromElement::Kind::ArrayJoin) {
            if (!from) fail(ErrorCode::SYNTAX_ERROR, "ARRAY JOIN needs a table before it");
            resolve_array_join_element(element);
        } else if (element.kind == sql::FromElement::Kind::Join) {
            resolve_join(element);
        } else {
            TableRows rows = resolve_table(element.table);
            tables.push_back(rows.named);
            for (size_t i = 0; i < rows.plan->output.size(); ++i) {
                const size_t slot = add_base_slot(rows.plan->output[i], i);
                ScopeColumn scope_column{rows.plan->output[i].name, column(slot), 0, false, false};
                scope_column.hidden = i < rows.hidden.size() && rows.hidden[i];
                columns.push_back(std::move(scope_column));
            }
            from = std::move(rows.plan);
        }
    }
    if (!from) from = one_row();
}

void Scope::resolve_array_join_element(const sql::FromElement& element) {
    auto node = std::make_unique<ArrayJoinNode>();
    node->left = element.left_array_join;
    node->output = from->output;
    struct Element {
        const ScopeColumn* replaced = nullptr;
        std::string name;
        TypePtr type;
    };
    std::vector<Element> elements;
    for (const sql::ExprPtr& expr : element.array_join) {
        if (expr->is(sql::ExprKind::Asterisk) || expr->is(sql::ExprKind::Columns))
            fail(ErrorCode::NOT_IMPLEMENTED, "Matchers in ARRAY JOIN are not supported");
        const ExpressionPtr array = resolve(expr, Clause::ArrayJoin);
        const TypePtr plain = unwrap(array->type);
        if (plain->id() != TypeId::Array && plain->id() != TypeId::Map)
            fail(ErrorCode::TYPE_MISMATCH, "ARRAY JOIN requires array argument. {} is of type {}",
                 sql::column_name(*expr), array->type->name());
        Element made;
        made.type = plain->id() == TypeId::Array
                        ? plain->child()
                        : make_tuple_type({plain->child(0), plain->child(1)}, {"keys", "values"});
        made.name = !expr->alias.empty() ? expr->alias : sql::column_name(*expr);
        const std::string own = expr->is(sql::ExprKind::Identifier) ? expr->parts.back() : "";
        if (expr->is(sql::ExprKind::Identifier) && (expr->alias.empty() || expr->alias == own)) {
            made.name = own;
            for (const ScopeColumn& candidate : columns)
                if (!made.replaced && (candidate.name == own || candidate.name == expr->joined_name()) &&
                    same_expression(*candidate.expression, *array))
                    made.replaced = &candidate;
        }
        node->arrays.push_back(lower_from(array));
        node->output.push_back({made.name, made.type});
        elements.push_back(std::move(made));
    }
    const size_t width = from->output.size();
    node->children.push_back(std::move(from));
    std::vector<std::pair<size_t, ScopeColumn>> made_columns;
    for (size_t i = 0; i < elements.size(); ++i) {
        const size_t slot = add_base_slot({elements[i].name, elements[i].type}, width + i);
        if (elements[i].replaced) {
            const_cast<ScopeColumn*>(elements[i].replaced)->expression = column(slot);
        } else {
            ScopeColumn made{elements[i].name, column(slot), kNoPlace, true, false};
            made_columns.emplace_back(i, std::move(made));
        }
    }
    // An alias of ARRAY JOIN hides a column of that name.
    for (auto& [unused, made] : made_columns) {
        std::erase_if(columns, [&name = made.name](const ScopeColumn& other) {
            return other.name == name && other.table == kNoPlace;
        });
        columns.insert(columns.begin(), std::move(made));
    }
    from = std::move(node);
}

}  // namespace firn::plan::analysis
