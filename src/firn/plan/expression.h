// Resolved expressions: every name is a column number, every function bound, every type known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/functions/function.h"
#include "firn/types/data_type.h"
#include "firn/vector/vector.h"

namespace firn::plan {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Expression {
    enum class Kind : uint8_t {
        Column,     // column `index` of the input batch
        Constant,   // `constant`, one row
        Call,       // `function` of `arguments`
        Lambda,     // body = arguments[0]; parameters of parameter_types; only as an argument of a Call
        Parameter,  // parameter `index` of the lambda `depth` levels out (0 = the innermost)
    };
    Kind kind = Kind::Constant;
    TypePtr type;
    size_t index = 0;
    size_t depth = 0;
    VectorPtr constant;
    std::shared_ptr<const functions::BoundFunction> function;
    std::vector<ExpressionPtr> arguments;
    std::vector<TypePtr> parameter_types;
};

ExpressionPtr make_column(size_t index, TypePtr type);
ExpressionPtr make_constant(VectorPtr value);
/// Folds to a Constant where all arguments are constant and the function allows it.
ExpressionPtr make_call(std::shared_ptr<const functions::BoundFunction> function, std::vector<ExpressionPtr> arguments);

/// Binds and calls: make_call of the function `name` over the arguments' types.
ExpressionPtr call(std::string_view name, std::vector<ExpressionPtr> arguments,
                   const functions::FunctionContext& context);

bool is_deterministic(const Expression& expression);
/// Same computation: kinds, columns, constants (by value and type), functions by name and types.
bool same_expression(const Expression& a, const Expression& b);
/// Marks used[i] for each column i that the expression reads; used must be large enough.
void mark_columns(const Expression& expression, std::vector<bool>& used);
/// A copy in which column i becomes mapping[i].
ExpressionPtr remap_columns(const ExpressionPtr& expression, const std::vector<size_t>& mapping);
/// A copy in which column i becomes replacements[i].
ExpressionPtr substitute_columns(const ExpressionPtr& expression, const std::vector<ExpressionPtr>& replacements);
/// The conjuncts of nested `and` calls.
void split_conjuncts(const ExpressionPtr& expression, std::vector<ExpressionPtr>& out);
/// "plus(#0, 1)" for EXPLAIN; `names` of the input columns, when given, instead of numbers.
std::string to_string(const Expression& expression, const std::vector<std::string>* names = nullptr);

}  // namespace firn::plan
