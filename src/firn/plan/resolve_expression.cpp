// Expressions: literals, calls, lambdas; calls that the analyzer answers itself are dispatched from here.
#include <algorithm>
#include <cctype>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"

namespace firn::plan::analysis {

namespace {

constexpr size_t kMaxDepth = 3000;

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string_view clause_name(Clause clause) {
    switch (clause) {
        case Clause::Where:
            return "WHERE";
        case Clause::Prewhere:
            return "PREWHERE";
        case Clause::GroupBy:
            return "GROUP BY";
        case Clause::JoinOn:
            return "JOIN ON";
        case Clause::ArrayJoin:
            return "ARRAY JOIN";
        case Clause::Having:
            return "HAVING";
        case Clause::OrderBy:
            return "ORDER BY";
        case Clause::Qualify:
            return "QUALIFY";
        case Clause::Window:
            return "WINDOW";
        case Clause::Limit:
            return "LIMIT";
        case Clause::Select:
            break;
    }
    return "SELECT";
}

}  // namespace

bool mentions(const Expression& expression, const std::vector<Slot>& slots, Slot::Kind kind) {
    bool found = false;
    for_each_column(expression, [&](const Expression& column) {
        const Slot& slot = slots[column.index];
        found = found || slot.kind == kind;
        if (slot.kind == Slot::Kind::ArrayJoin || slot.kind == Slot::Kind::InQuery)
            for (const ExpressionPtr& argument : slot.arguments) found = found || mentions(*argument, slots, kind);
    });
    return found;
}

size_t tree_size(const Expression& expression, size_t cap) {
    size_t size = 1;
    for (const ExpressionPtr& argument : expression.arguments) {
        if (size >= cap) break;
        size += tree_size(*argument, cap - size);
    }
    return size;
}

ExpressionPtr transform(const ExpressionPtr& expression, const std::function<ExpressionPtr(const ExpressionPtr&)>& f,
                        const functions::FunctionContext& context) {
    if (ExpressionPtr replaced = f(expression)) return replaced;
    if (expression->arguments.empty()) return expression;
    std::vector<ExpressionPtr> arguments;
    bool changed = false, retyped = false;
    for (const ExpressionPtr& argument : expression->arguments) {
        arguments.push_back(transform(argument, f, context));
        changed = changed || arguments.back() != argument;
        retyped =
            retyped || !same_type(arguments.back()->type, argument->type) ||
            (arguments.back()->kind == Expression::Kind::Constant && argument->kind != Expression::Kind::Constant);
    }
    if (!changed) return expression;
    if (retyped && expression->kind == Expression::Kind::Call &&
        std::none_of(arguments.begin(), arguments.end(),
                     [](const ExpressionPtr& argument) { return argument->kind == Expression::Kind::Lambda; }))
        return call(expression->function->name(), std::move(arguments), context);
    auto copy = std::make_shared<Expression>(*expression);
    copy->arguments = std::move(arguments);
    if (copy->kind == Expression::Kind::Lambda)
        copy->type = make_function(copy->parameter_types, copy->arguments[0]->type);
    return copy;
}

ExpressionPtr Scope::resolve(const sql::ExprPtr& expr, Clause clause) {
    const Clause before = clause_;
    clause_ = clause;
    ExpressionPtr resolved = resolve_unaliased(*expr);
    if (!expr->alias.empty()) {
        const auto alias = aliases.find(expr->alias);
        if (alias != aliases.end() && alias->second.expr == expr && !alias->second.resolved)
            alias->second.resolved = resolved;
    }
    clause_ = before;
    const bool no_aggregates = clause == Clause::Where || clause == Clause::Prewhere || clause == Clause::GroupBy ||
                               clause == Clause::JoinOn || clause == Clause::ArrayJoin;
    if (no_aggregates && mentions(*resolved, slots, Slot::Kind::Aggregate))
        fail(ErrorCode::ILLEGAL_AGGREGATION, "Aggregate function is found in {}, where there are no groups yet: {}",
             clause_name(clause), sql::column_name(*expr));
    if ((no_aggregates || clause == Clause::Having) && mentions(*resolved, slots, Slot::Kind::Window))
        fail(ErrorCode::ILLEGAL_AGGREGATION, "Window function is found in {}, which is computed before windows are: {}",
             clause_name(clause), sql::column_name(*expr));
    return resolved;
}

VectorPtr Scope::resolve_constant(const sql::ExprPtr& expr, Clause clause, std::string_view what) {
    const ExpressionPtr resolved = resolve(expr, clause);
    if (resolved->kind != Expression::Kind::Constant)
        fail(clause == Clause::Limit ? ErrorCode::INVALID_LIMIT_EXPRESSION : ErrorCode::BAD_ARGUMENTS,
             "{} must be a constant expression, not {}", what, sql::column_name(*expr));
    return resolved->constant;
}

ExpressionPtr Scope::resolve_unaliased(const sql::Expr& expr) {
    if (++session.depth > kMaxDepth) fail(ErrorCode::TOO_DEEP_RECURSION, "Expressions and aliases are nested too deep");
    struct Leave {
        size_t& depth;
        ~Leave() { --depth; }
    } leave{session.depth};
    // An alias inside of an expression is resolved once, and known as being resolved meanwhile: `x + 1 AS x` means the
    // column.
    if (!expr.alias.empty() && lambdas.empty()) {
        const auto alias = aliases.find(expr.alias);
        if (alias != aliases.end() && alias->second.expr.get() == &expr && !alias->second.resolving)
            return resolve_alias(expr.alias, alias->second);
    }
    switch (expr.kind) {
        case sql::ExprKind::Literal:
            return make_constant(literal_value(expr.literal));
        case sql::ExprKind::Identifier:
            return resolve_identifier(expr);
        case sql::ExprKind::Parameter:
            return resolve_parameter(expr);
        case sql::ExprKind::Subquery:
            return resolve_scalar_subquery(expr);
        case sql::ExprKind::Function:
            return resolve_function(expr);
        case sql::ExprKind::Lambda:
            fail(ErrorCode::UNSUPPORTED_METHOD, "A lambda stands where a value is wanted: {}", sql::column_name(expr));
        case sql::ExprKind::Asterisk:
        case sql::ExprKind::Columns: {
            const auto items = matcher_columns(expr);
            if (items.size() == 1) return items[0].expression;
            fail(ErrorCode::UNSUPPORTED_METHOD, "{} gives {} columns where one value is wanted", sql::column_name(expr),
                 items.size());
        }
    }
    fail(ErrorCode::LOGICAL_ERROR, "Unknown kind of expression");
}

std::vector<ExpressionPtr> Scope::resolve_list(const std::vector<sql::ExprPtr>& list) {
    std::vector<ExpressionPtr> out;
    for (const sql::ExprPtr& expr : list) {
        if (expr->is(sql::ExprKind::Asterisk) || expr->is(sql::ExprKind::Columns) || expr->is_function("untuple")) {
            for (SelectItem& item : expand_matcher(expr)) out.push_back(std::move(item.expression));
        } else {
            out.push_back(resolve_unaliased(*expr));
        }
    }
    return out;
}

ExpressionPtr Scope::resolve_function(const sql::Expr& expr) {
    const std::string lower = lower_case(expr.name);
    if (expr.is_window) return resolve_window(expr);
    if (lower == "in" || lower == "globalin") return resolve_in(expr, false);
    if (lower == "notin" || lower == "globalnotin") return resolve_in(expr, true);
    if (lower == "exists" && expr.args.size() == 1 && expr.args[0]->is(sql::ExprKind::Subquery))
        return resolve_exists(expr);
    if (expr.name == "arrayJoin") return resolve_array_join(expr);
    if (lower == "grouping") return resolve_grouping(expr);
    if (expr.name == "untuple") {
        const auto list = resolve_list({std::make_shared<sql::Expr>(expr)});
        if (list.size() == 1) return list[0];
        fail(ErrorCode::UNSUPPORTED_METHOD, "untuple gives {} columns where one value is wanted", list.size());
    }
    const auto& registry = functions::FunctionRegistry::instance();
    const functions::Definition* definition = registry.find(expr.name);
    if (!definition) {
        const auto& aggregates_known = functions::AggregateRegistry::instance();
        if (aggregates_known.is_aggregate(expr.name)) return resolve_aggregate(expr);
        if (lower == "countdistinct" || lower == "countdistinctif") return resolve_aggregate(expr);
        if (const sql::ExprPtr lambda = named_lambda(expr.name)) return call_lambda(*lambda, expr);
    }
    if (expr.has_parameters && definition) fail(ErrorCode::BAD_ARGUMENTS, "Function {} takes no parameters", expr.name);
    if (definition && definition->lambda_parameters) return resolve_higher_order(expr, *definition);
    return resolve_plain_call(expr);
}

ExpressionPtr Scope::resolve_plain_call(const sql::Expr& expr) {
    for (const sql::ExprPtr& argument : expr.args)
        if (argument->is(sql::ExprKind::Lambda))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function {} takes no lambda", expr.name);
    return call(expr.name, resolve_list(expr.args));
}

ExpressionPtr Scope::resolve_lambda(const sql::Expr& lambda, std::vector<TypePtr> types) {
    if (types.size() != lambda.lambda_args.size())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "The lambda has {} parameters, {} are given to it",
             lambda.lambda_args.size(), types.size());
    lambdas.push_back({lambda.lambda_args, types});
    ExpressionPtr body;
    try {
        body = resolve_unaliased(*lambda.args[0]);
    } catch (...) {
        lambdas.pop_back();
        throw;
    }
    lambdas.pop_back();
    auto resolved = std::make_shared<Expression>();
    resolved->kind = Expression::Kind::Lambda;
    resolved->type = make_function(types, body->type);
    resolved->parameter_types = std::move(types);
    resolved->arguments = {std::move(body)};
    return resolved;
}

ExpressionPtr Scope::resolve_higher_order(const sql::Expr& expr, const functions::Definition& definition) {
    if (expr.args.empty() || !expr.args[0]->is(sql::ExprKind::Lambda)) {
        if (!expr.args.empty() && expr.args[0]->is(sql::ExprKind::Identifier) && expr.args[0]->parts.size() == 1)
            if (const sql::ExprPtr lambda = named_lambda(expr.args[0]->parts[0])) {
                sql::Expr rewritten = expr;
                rewritten.args[0] = lambda;
                return resolve_higher_order(rewritten, definition);
            }
        const bool names_function = !expr.args.empty() && expr.args[0]->is(sql::ExprKind::Identifier) &&
                                    expr.args[0]->parts.size() == 1 && expr.args.size() > 1 &&
                                    !find_identifier(expr.args[0]->parts) &&
                                    functions::FunctionRegistry::instance().find(expr.args[0]->parts[0]);
        if (!names_function) return resolve_plain_call(expr);
        // arrayMap(toString, x) is arrayMap(p -> toString(p), x)
        auto lambda = std::make_shared<sql::Expr>();
        lambda->kind = sql::ExprKind::Lambda;
        std::vector<sql::ExprPtr> arguments;
        for (size_t i = 1; i < expr.args.size(); ++i) {
            lambda->lambda_args.push_back("p" + std::to_string(i));
            arguments.push_back(sql::make_identifier({lambda->lambda_args.back()}));
        }
        lambda->args = {sql::make_function(expr.args[0]->parts[0], std::move(arguments))};
        sql::Expr rewritten = expr;
        rewritten.args[0] = lambda;
        return resolve_higher_order(rewritten, definition);
    }
    if (expr.args.size() < definition.min_arguments || expr.args.size() < 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} needs a lambda and at least one more argument",
             expr.name);
    std::vector<ExpressionPtr> arguments(1);
    std::vector<functions::Argument> described(1);
    for (ExpressionPtr& argument : resolve_list({expr.args.begin() + 1, expr.args.end()})) {
        described.push_back(
            {argument->type, argument->kind == Expression::Kind::Constant ? argument->constant : nullptr});
        arguments.push_back(std::move(argument));
    }
    const sql::Expr& lambda = *expr.args[0];
    arguments[0] = resolve_lambda(lambda, definition.lambda_parameters(described, lambda.lambda_args.size()));
    described[0].type = arguments[0]->type;
    auto function = functions::FunctionRegistry::instance().bind(expr.name, std::move(described), functions());
    return make_call(std::move(function), std::move(arguments));
}

ExpressionPtr Scope::resolve_array_join(const sql::Expr& expr) {
    if (expr.args.size() != 1)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function arrayJoin takes one argument, {} were given",
             expr.args.size());
    if (!lambdas.empty()) fail(ErrorCode::NOT_IMPLEMENTED, "arrayJoin inside of a lambda is not supported");
    ExpressionPtr array = resolve_unaliased(*expr.args[0]);
    const TypePtr plain = unwrap(array->type);
    if (plain->id() != TypeId::Array && plain->id() != TypeId::Map)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Argument of function arrayJoin must be an Array or a Map, not {}",
             array->type->name());
    for (size_t i = 0; i < slots.size(); ++i)
        if (slots[i].kind == Slot::Kind::ArrayJoin && same_expression(*slots[i].arguments[0], *array)) return column(i);
    Slot slot;
    slot.kind = Slot::Kind::ArrayJoin;
    slot.type = plain->id() == TypeId::Array ? plain->child() : make_tuple_type({plain->child(0), plain->child(1)});
    slot.name = "arrayJoin";
    slot.arguments = {std::move(array)};
    return column(add_slot(std::move(slot)));
}

ExpressionPtr Scope::resolve_grouping(const sql::Expr& expr) {
    if (expr.args.empty())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function grouping needs at least one argument");
    if (!group_by_given)
        fail(ErrorCode::ILLEGAL_AGGREGATION, "Function grouping can be used in a query with GROUP BY only");
    std::vector<size_t> positions;
    for (const ExpressionPtr& argument : resolve_list(expr.args)) {
        size_t position = 0;
        while (position < grouping_keys.size() && !same_expression(*grouping_keys[position], *argument)) ++position;
        if (position == grouping_keys.size())
            fail(ErrorCode::BAD_ARGUMENTS, "Argument of function grouping is not a key of GROUP BY: {}",
                 to_string(*argument));
        positions.push_back(position);
    }
    const auto bits_of = [&](const std::vector<size_t>* kept) {
        uint64_t bits = 0;
        for (size_t i = 0; i < positions.size(); ++i) {
            const bool grouped = !kept || std::find(kept->begin(), kept->end(), positions[i]) != kept->end();
            bits = bits << 1 | (grouped ? 0 : 1);
        }
        return bits;
    };
    if (grouping_sets.empty()) return make_constant(make_value<uint64_t>(make_type(TypeId::UInt64), bits_of(nullptr)));
    size_t number = kNoPlace;
    for (size_t i = 0; i < slots.size(); ++i)
        if (slots[i].kind == Slot::Kind::GroupingSet) number = i;
    if (number == kNoPlace) {
        Slot slot;
        slot.kind = Slot::Kind::GroupingSet;
        slot.type = make_type(TypeId::UInt64);
        slot.name = "grouping_set";
        number = add_slot(std::move(slot));
    }
    std::vector<uint64_t> by_set;
    for (const auto& set : grouping_sets) by_set.push_back(bits_of(&set));
    const TypePtr type = make_type(TypeId::UInt64);
    VectorPtr offsets = make_vector<int64_t>(make_type(TypeId::Int64), {0, static_cast<int64_t>(by_set.size())});
    VectorPtr table = Vector::array(make_array(type), 1, offsets->values_buffer(), make_vector<uint64_t>(type, by_set));
    ExpressionPtr index =
        call("plus", {column(number), make_constant(make_value<uint8_t>(make_type(TypeId::UInt8), 1))});
    return call("arrayElement", {make_constant(table), index});
}

}  // namespace firn::plan::analysis
