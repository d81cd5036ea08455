#include "firn/exec/evaluator.h"

#include <algorithm>

#include "firn/base/ends_query.h"
#include "firn/base/error.h"
#include "firn/exec/frame.h"
#include "firn/exec/program.h"

namespace firn::exec {

using plan::Expression;

/// The value of a node over the dictionary that its only varying argument had last.
struct Evaluator::DictionaryResult {
    VectorPtr base;
    VectorPtr result;  // flat, base->size() rows; null while not computed
    size_t seen_rows = 0;
    bool failed = false;  // an entry that perhaps no row uses makes the function fail
};

class BodyOfLambda : public functions::Lambda {
public:
    BodyOfLambda(Evaluator& evaluator, Frame& outer, const Program::Node& lambda)
        : evaluator_(evaluator), outer_(outer), lambda_(lambda) {}
    const TypePtr& result_type() const override { return lambda_.expression->arguments[0]->type; }
    VectorPtr call(std::span<const VectorPtr> arguments, std::span<const uint32_t> outer_rows) const override {
        Frame frame;
        frame.outer = &outer_;
        frame.rows = outer_rows;
        frame.parameters = &arguments;
        frame.size = outer_rows.size();
        frame.known.resize(outer_.known.size());
        return evaluator_.value(lambda_.arguments[0], frame);
    }

private:
    Evaluator& evaluator_;
    Frame& outer_;
    const Program::Node& lambda_;
};

Evaluator::Evaluator() : Evaluator(std::vector<plan::ExpressionPtr>{}) {}
Evaluator::Evaluator(const std::vector<plan::ExpressionPtr>& expressions)
    : program_(std::make_shared<Program>(expressions)), dictionary_results_(program_->nodes.size()) {}
Evaluator::Evaluator(const Evaluator& other) : program_(other.program_), dictionary_results_(program_->nodes.size()) {}
Evaluator& Evaluator::operator=(const Evaluator& other) {
    program_ = other.program_;
    dictionary_results_.assign(program_->nodes.size(), {});
    return *this;
}
Evaluator::~Evaluator() = default;

std::vector<VectorPtr> Evaluator::evaluate(const Batch& batch) {
    Frame frame;
    frame.batch = &batch;
    frame.size = batch.rows;
    frame.known.resize(program_->nodes.size());
    std::vector<VectorPtr> values;
    values.reserve(program_->roots.size());
    for (const uint32_t root : program_->roots) values.push_back(value(root, frame));
    return values;
}

VectorPtr Evaluator::evaluate_one(const Batch& batch) {
    Frame frame;
    frame.batch = &batch;
    frame.size = batch.rows;
    frame.known.resize(program_->nodes.size());
    return value(program_->roots[0], frame);
}

VectorPtr Evaluator::value(uint32_t node, Frame& frame) {
    if (frame.known[node]) return frame.known[node];
    // What an outer frame has computed already is gathered; what reads a lambda's parameters means something else there.
    if (frame.outer && frame.outer->known[node] && (!frame.parameters || program_->nodes[node].parameter_depth < 0))
        return frame.known[node] = gather(frame.outer->known[node], frame.rows);
    return frame.known[node] = compute(node, frame);
}

VectorPtr Evaluator::compute(uint32_t node, Frame& frame) {
    const Expression& expression = *program_->nodes[node].expression;
    switch (expression.kind) {
        case Expression::Kind::Column:
            return frame.column(expression.index);
        case Expression::Kind::Constant:
            return Vector::constant(expression.constant, frame.size);
        case Expression::Kind::Parameter:
            return frame.parameter(expression.depth, expression.index);
        case Expression::Kind::Call:
            return program_->nodes[node].lazy == LazyCall::None ? call(node, frame) : call_lazily(node, frame);
        case Expression::Kind::Lambda:
            break;
    }
    fail(ErrorCode::LOGICAL_ERROR, "A lambda stands where a value is wanted");
}

VectorPtr Evaluator::call(uint32_t node, Frame& frame) {
    const Program::Node& call = program_->nodes[node];
    std::vector<VectorPtr> arguments(call.arguments.size());
    std::vector<std::unique_ptr<BodyOfLambda>> bodies;
    std::vector<const functions::Lambda*> lambdas;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Program::Node& argument = program_->nodes[call.arguments[i]];
        if (argument.expression->kind == Expression::Kind::Lambda) {
            bodies.push_back(std::make_unique<BodyOfLambda>(*this, frame, argument));
            lambdas.resize(arguments.size());
            lambdas[i] = bodies.back().get();
        } else {
            arguments[i] = value(call.arguments[i], frame);
        }
    }
    if (lambdas.empty()) return apply(node, std::move(arguments), frame.size);
    for (auto& argument : arguments)
        if (argument && !argument->is_constant()) argument = flatten(argument);
    return call.expression->function->execute(arguments, frame.size, lambdas);
}

VectorPtr Evaluator::apply(uint32_t node, std::vector<VectorPtr> arguments, size_t rows) {
    const auto& function = *program_->nodes[node].expression->function;
    size_t varying = 0, which = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i]->is_constant()) continue;
        ++varying;
        which = i;
    }
    if (varying == 1 && arguments[which]->encoding() == Encoding::Dictionary && function.definition().deterministic &&
        !function.definition().takes_encoded)
        return apply_to_dictionary(node, arguments, which, rows);
    // Entries that no row uses must not make a function fail, nor cost more than the rows do.
    if (!function.definition().takes_encoded)
        for (auto& argument : arguments)
            if (argument->encoding() == Encoding::Dictionary) argument = flatten(argument);
    return function.execute(arguments, rows);
}

VectorPtr Evaluator::apply_to_dictionary(uint32_t node, std::vector<VectorPtr>& arguments, size_t which, size_t rows) {
    const auto& function = *program_->nodes[node].expression->function;
    DictionaryResult& known = dictionary_results_[node];
    const VectorPtr vector = arguments[which];
    if (known.base != vector->base()) known = DictionaryResult{vector->base(), nullptr, 0, false};
    known.seen_rows += rows;
    const size_t entries = known.base->size();
    if (!known.result && !known.failed && entries <= 2 * known.seen_rows) {
        std::vector<VectorPtr> over_base;
        for (size_t i = 0; i < arguments.size(); ++i)
            over_base.push_back(i == which ? known.base : Vector::constant(arguments[i]->base(), entries));
        try {
            known.result = flatten(function.execute(over_base, entries));
        } catch (const Error& error) {
            if (ends_query(error)) throw;
            known.failed = true;
        }
    }
    if (known.result) return Vector::dictionary(known.result, rows, vector->values_buffer());
    arguments[which] = flatten(vector);
    return function.execute(arguments, rows);
}

}  // namespace firn::exec
