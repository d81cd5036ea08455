// Evaluating expressions over batches.
//
// Expressions that are given together share common parts. Arguments that only some rows need (branches of `if`, `multiIf`,
// later operands of `and`, `or`, `coalesce`) and that may fail are computed on those rows alone. A function of one dictionary
// vector is computed on the dictionary, once as long as batches share it, when that is less work.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "firn/plan/expression.h"
#include "firn/vector/vector.h"

namespace firn::exec {

struct Program;
struct Frame;

/// Not thread-safe: each worker has a copy, which shares what is immutable.
class Evaluator {
public:
    Evaluator();
    explicit Evaluator(const std::vector<plan::ExpressionPtr>& expressions);
    Evaluator(const Evaluator& other);
    Evaluator& operator=(const Evaluator& other);
    ~Evaluator();

    /// One vector for each expression, of the batch's rows, in any encoding.
    std::vector<VectorPtr> evaluate(const Batch& batch);
    /// The only expression.
    VectorPtr evaluate_one(const Batch& batch);

private:
    friend class BodyOfLambda;
    struct DictionaryResult;
    VectorPtr value(uint32_t node, Frame& frame);
    VectorPtr compute(uint32_t node, Frame& frame);
    VectorPtr call(uint32_t node, Frame& frame);
    VectorPtr call_lazily(uint32_t node, Frame& frame);
    VectorPtr call_if(uint32_t node, Frame& frame);
    VectorPtr call_multi_if(uint32_t node, Frame& frame);
    VectorPtr call_chain(uint32_t node, Frame& frame);
    VectorPtr value_of_rows(uint32_t node, Frame& frame, std::span<const uint32_t> rows);
    VectorPtr apply(uint32_t node, std::vector<VectorPtr> arguments, size_t rows);
    VectorPtr apply_to_dictionary(uint32_t node, std::vector<VectorPtr>& arguments, size_t which, size_t rows);

    std::shared_ptr<const Program> program_;
    std::vector<DictionaryResult> dictionary_results_;  // one a node of the program
};

/// Whether an expression can fail or is costly for some values, so that it has to be kept from rows that do not need it.
bool may_fail(const plan::Expression& expression);

}  // namespace firn::exec
