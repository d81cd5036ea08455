// WITH x -> x + 1 AS inc SELECT inc(1): a lambda with a name is put in the place of its calls.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/plan/analyzer_impl.h"

namespace firn::plan::analysis {
namespace {

/// A copy of `expr` in which the names stand for the arguments. Names that an inner lambda takes are its own.
sql::ExprPtr with_arguments(const sql::ExprPtr& expr, const std::vector<std::string>& names,
                            const std::vector<sql::ExprPtr>& arguments) {
    if (expr->is(sql::ExprKind::Identifier) && expr->parts.size() == 1)
        for (size_t i = 0; i < names.size(); ++i)
            if (names[i] == expr->parts[0]) return arguments[i];
    auto copy = std::make_shared<sql::Expr>(*expr);
    for (auto& argument : copy->args) {
        if (!expr->is(sql::ExprKind::Lambda)) {
            argument = with_arguments(argument, names, arguments);
            continue;
        }
        std::vector<std::string> outer;
        std::vector<sql::ExprPtr> values;
        for (size_t i = 0; i < names.size(); ++i) {
            const auto& own = expr->lambda_args;
            if (std::find(own.begin(), own.end(), names[i]) != own.end()) continue;
            outer.push_back(names[i]);
            values.push_back(arguments[i]);
        }
        argument = with_arguments(argument, outer, values);
    }
    return copy;
}

}  // namespace

sql::ExprPtr Scope::named_lambda(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->parent) {
        const auto alias = scope->aliases.find(name);
        if (alias != scope->aliases.end() && alias->second.expr && alias->second.expr->is(sql::ExprKind::Lambda))
            return alias->second.expr;
    }
    return nullptr;
}

ExpressionPtr Scope::call_lambda(const sql::Expr& lambda, const sql::Expr& call) {
    if (call.args.size() != lambda.lambda_args.size())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes {} arguments, {} were given", call.name,
             lambda.lambda_args.size(), call.args.size());
    return resolve_unaliased(*with_arguments(lambda.args[0], lambda.lambda_args, call.args));
}

}  // namespace firn::plan::analysis
