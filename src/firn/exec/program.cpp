#include "firn/exec/program.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "firn/exec/evaluator.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

using plan::Expression;

/// Functions that never fail, whatever the values, and cost little. All others are kept from rows that do not need them.
bool never_fails(const Expression& call) {
    static const std::unordered_set<std::string_view> safe{
        "equals",       "notEquals",  "less",          "greater",    "lessOrEquals", "greaterOrEquals", "and",
        "or",           "xor",        "not",           "plus",       "minus",        "multiply",        "negate",
        "isNull",       "isNotNull",  "like",          "notLike",    "ilike",        "notILike",        "in",
        "notIn",        "length",     "empty",         "notEmpty",   "if",           "multiIf",         "coalesce",
        "ifNull",       "nullIf",     "assumeNotNull", "toNullable", "tuple",        "tupleElement",    "materialize",
        "identity",     "startsWith", "endsWith",      "lower",      "upper",        "toYear",          "toMonth",
        "toDayOfMonth", "abs",        "greatest",      "least",      "isNaN",        "between",         "position",
        "toUInt64",     "toInt64",    "toFloat64"};
    const std::string& name = call.function->name();
    if (name == "divide") return unwrap(call.type)->id() != TypeId::Decimal;
    if (name.starts_with("to")) {
        // Conversions fail on text, not on numbers.
        for (const auto& argument : call.arguments)
            if (is_string_like(unwrap(argument->type)->id())) return false;
    }
    return safe.contains(name);
}

LazyCall lazy_kind(std::string_view name, size_t arguments) {
    if (name == "if") return arguments == 3 ? LazyCall::If : LazyCall::None;
    if (name == "multiIf") return LazyCall::MultiIf;
    if (name == "and") return LazyCall::And;
    if (name == "or") return LazyCall::Or;
    if (name == "coalesce" || name == "ifNull") return LazyCall::Coalesce;
    return LazyCall::None;
}

}  // namespace

bool may_fail(const Expression& expression) {
    if (expression.kind == Expression::Kind::Call && !never_fails(expression)) return true;
    return std::any_of(expression.arguments.begin(), expression.arguments.end(),
                       [](const auto& argument) { return may_fail(*argument); });
}

Program::Program(const std::vector<plan::ExpressionPtr>& list) : expressions(list) {
    for (const auto& expression : list) roots.push_back(add(*expression));
}

bool Program::same(const Node& a, const Node& b) const {
    const Expression &x = *a.expression, &y = *b.expression;
    if (&x == &y) return true;
    if (x.kind != y.kind || a.arguments != b.arguments || !same_type(x.type, y.type)) return false;
    switch (x.kind) {
        case Expression::Kind::Column:
            return x.index == y.index;
        case Expression::Kind::Constant:
            return equal_values(*x.constant, 0, *y.constant, 0);
        case Expression::Kind::Call:
            return x.function == y.function || x.function->name() == y.function->name();
        case Expression::Kind::Parameter:
            return x.index == y.index && x.depth == y.depth;
        case Expression::Kind::Lambda:
            return true;  // same body over the same type of function
    }
    return false;
}

uint32_t Program::add(const Expression& expression) {
    Node node;
    node.expression = &expression;
    for (const auto& argument : expression.arguments) {
        node.arguments.push_back(add(*argument));
        const Node& child = nodes[node.arguments.back()];
        node.parameter_depth = std::max(node.parameter_depth, child.parameter_depth);
        node.may_fail |= child.may_fail;
    }
    switch (expression.kind) {
        case Expression::Kind::Parameter:
            node.parameter_depth = static_cast<int>(expression.depth);
            break;
        case Expression::Kind::Lambda:
            node.parameter_depth = std::max(-1, node.parameter_depth - 1);
            break;
        case Expression::Kind::Call: {
            node.may_fail |= !never_fails(expression);
            const LazyCall lazy = lazy_kind(expression.function->name(), node.arguments.size());
            const bool guarded =
                std::any_of(node.arguments.begin() + (node.arguments.empty() ? 0 : 1), node.arguments.end(),
                            [&](uint32_t argument) { return nodes[argument].may_fail; });
            if (guarded) node.lazy = lazy;
            break;
        }
        default:
            break;
    }
    for (uint32_t i = 0; i < nodes.size(); ++i)
        if (same(nodes[i], node)) return i;
    nodes.push_back(std::move(node));
    return static_cast<uint32_t>(nodes.size() - 1);
}

}  // namespace firn::exec
