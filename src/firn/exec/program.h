// Expressions as a graph in which equal parts are one node.
#pragma once

#include <vector>

#include "firn/plan/expression.h"

namespace firn::exec {

enum class LazyCall : uint8_t { None, If, MultiIf, And, Or, Coalesce };

struct Program {
    struct Node {
        const plan::Expression* expression = nullptr;
        std::vector<uint32_t> arguments;
        /// Levels of lambdas out to which it reads parameters: -1 = none.
        int parameter_depth = -1;
        bool may_fail = false;
        /// How it is evaluated when an argument that not all rows need may fail.
        LazyCall lazy = LazyCall::None;
    };
    std::vector<Node> nodes;
    std::vector<uint32_t> roots;
    std::vector<plan::ExpressionPtr> expressions;  // keeps them alive

    explicit Program(const std::vector<plan::ExpressionPtr>& expressions);

private:
    uint32_t add(const plan::Expression& expression);
    bool same(const Node& a, const Node& b) const;
};

}  // namespace firn::exec
