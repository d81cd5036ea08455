// (a AND b) OR (a AND c) is a AND (b OR c); and what an OR says of one table alone.
#include <algorithm>

#include "firn/plan/rewrite.h"

namespace firn::plan::rewrite {

namespace {

void split_disjuncts(const ExpressionPtr& expression, std::vector<ExpressionPtr>& out) {
    if (!is_call(*expression, "or")) {
        out.push_back(expression);
        return;
    }
    for (const ExpressionPtr& argument : expression->arguments) split_disjuncts(argument, out);
}

ExpressionPtr disjunction(std::vector<ExpressionPtr> parts, const functions::FunctionContext& context) {
    if (parts.size() == 1) return parts[0];
    return call("or", std::move(parts), context);
}

}  // namespace

ExpressionPtr conjunction(std::vector<ExpressionPtr> conjuncts, const functions::FunctionContext& context) {
    if (conjuncts.size() == 1) return conjuncts[0];
    return call("and", std::move(conjuncts), context);
}

std::vector<ExpressionPtr> factor_disjunctions(const std::vector<ExpressionPtr>& conjuncts,
                                               const functions::FunctionContext& context) {
    std::vector<ExpressionPtr> out;
    for (const ExpressionPtr& conjunct : conjuncts) {
        std::vector<ExpressionPtr> branches;
        split_disjuncts(conjunct, branches);
        if (branches.size() < 2) {
            out.push_back(conjunct);
            continue;
        }
        std::vector<std::vector<ExpressionPtr>> parts(branches.size());
        for (size_t i = 0; i < branches.size(); ++i) split_conjuncts(branches[i], parts[i]);
        std::vector<ExpressionPtr> shared;
        for (const ExpressionPtr& candidate : parts[0]) {
            const bool everywhere =
                is_deterministic(*candidate) && std::all_of(parts.begin() + 1, parts.end(), [&](const auto& branch) {
                    return std::any_of(branch.begin(), branch.end(),
                                       [&](const ExpressionPtr& other) { return same_expression(*candidate, *other); });
                });
            if (everywhere) shared.push_back(candidate);
        }
        if (shared.empty()) {
            out.push_back(conjunct);
            continue;
        }
        out.insert(out.end(), shared.begin(), shared.end());
        std::vector<ExpressionPtr> rest;
        bool trivial = false;  // a branch that has nothing else is true by then
        for (auto& branch : parts) {
            std::erase_if(branch, [&](const ExpressionPtr& part) {
                return std::any_of(shared.begin(), shared.end(),
                                   [&](const ExpressionPtr& s) { return same_expression(*s, *part); });
            });
            trivial = trivial || branch.empty();
            if (!branch.empty()) rest.push_back(conjunction(std::move(branch), context));
        }
        if (!trivial) out.push_back(disjunction(std::move(rest), context));
    }
    return out;
}

ExpressionPtr derive_condition(const ExpressionPtr& condition, const std::function<bool(const Expression&)>& own,
                               const functions::FunctionContext& context) {
    std::vector<ExpressionPtr> branches, derived;
    split_disjuncts(condition, branches);
    if (branches.size() < 2) return nullptr;
    for (const ExpressionPtr& branch : branches) {
        std::vector<ExpressionPtr> parts, kept;
        split_conjuncts(branch, parts);
        for (const ExpressionPtr& part : parts)
            if (is_deterministic(*part) && own(*part)) kept.push_back(part);
        if (kept.empty()) return nullptr;
        derived.push_back(conjunction(std::move(kept), context));
    }
    return disjunction(std::move(derived), context);
}

}  // namespace firn::plan::rewrite
