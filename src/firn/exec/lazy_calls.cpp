// Calls whose later arguments are computed on the rows that need them: the function itself then gets whole vectors, with
// defaults on the other rows, which it does not look at.
#include <algorithm>

#include "firn/exec/evaluator.h"
#include "firn/exec/frame.h"
#include "firn/exec/program.h"

namespace firn::exec {
namespace {

/// Row rows[i] of the result is row i of values; all others are defaults.
VectorPtr scatter(const VectorPtr& values, std::span<const uint32_t> rows, size_t size) {
    if (rows.size() == size) return values;
    if (rows.empty()) return Vector::defaults(values->type(), size);
    std::vector<uint32_t> from(size, kNoRow);
    for (size_t i = 0; i < rows.size(); ++i) from[rows[i]] = static_cast<uint32_t>(i);
    return gather_or_default(values, from);
}

/// The members of `rows` whose index is not in `picked` (ascending indices into rows).
Selection without(const Selection& rows, const Selection& picked) {
    Selection rest;
    rest.reserve(rows.size() - picked.size());
    size_t next = 0;
    for (uint32_t i = 0; i < rows.size(); ++i) {
        if (next < picked.size() && picked[next] == i)
            ++next;
        else
            rest.push_back(rows[i]);
    }
    return rest;
}

Selection compose(const Selection& rows, const Selection& picked) {
    Selection out;
    out.reserve(picked.size());
    for (const uint32_t i : picked) out.push_back(rows[i]);
    return out;
}

Selection all_rows(size_t size) {
    Selection rows(size);
    for (size_t i = 0; i < size; ++i) rows[i] = static_cast<uint32_t>(i);
    return rows;
}

/// Of an operand's rows, those for which the chain goes on to its next operand.
Selection undecided(LazyCall kind, const VectorPtr& operand) {
    const Selection truthy = kind == LazyCall::Coalesce ? Selection{} : selected_rows(operand);
    Selection rest;
    size_t next = 0;
    for (uint32_t i = 0; i < operand->size(); ++i) {
        const bool is_true = next < truthy.size() && truthy[next] == i;
        if (is_true) ++next;
        const bool goes_on = kind == LazyCall::And  ? is_true || operand->is_null(i)
                             : kind == LazyCall::Or ? !is_true
                                                    : operand->is_null(i);
        if (goes_on) rest.push_back(i);
    }
    return rest;
}

}  // namespace

VectorPtr Evaluator::value_of_rows(uint32_t node, Frame& frame, std::span<const uint32_t> rows) {
    if (rows.size() == frame.size) return value(node, frame);
    if (rows.empty()) return Vector::defaults(program_->nodes[node].expression->type, 0);
    Frame inner;
    inner.outer = &frame;
    inner.rows = rows;
    inner.size = rows.size();
    inner.known.resize(frame.known.size());
    return value(node, inner);
}

VectorPtr Evaluator::call_lazily(uint32_t node, Frame& frame) {
    switch (program_->nodes[node].lazy) {
        case LazyCall::If:
            return call_if(node, frame);
        case LazyCall::MultiIf:
            return call_multi_if(node, frame);
        default:
            return call_chain(node, frame);
    }
}

VectorPtr Evaluator::call_if(uint32_t node, Frame& frame) {
    const auto& arguments = program_->nodes[node].arguments;
    const auto condition = value(arguments[0], frame);
    const Selection yes = selected_rows(condition);
    const Selection no = without(all_rows(frame.size), yes);
    return apply(node,
                 {condition, scatter(value_of_rows(arguments[1], frame, yes), yes, frame.size),
                  scatter(value_of_rows(arguments[2], frame, no), no, frame.size)},
                 frame.size);
}

VectorPtr Evaluator::call_multi_if(uint32_t node, Frame& frame) {
    const auto& arguments = program_->nodes[node].arguments;
    Selection open = all_rows(frame.size);
    std::vector<VectorPtr> values;
    size_t i = 0;
    for (; i + 1 < arguments.size(); i += 2) {
        const auto condition = value_of_rows(arguments[i], frame, open);
        const Selection picked = selected_rows(condition);
        const Selection yes = compose(open, picked);
        values.push_back(scatter(condition, open, frame.size));
        values.push_back(scatter(value_of_rows(arguments[i + 1], frame, yes), yes, frame.size));
        open = without(open, picked);
    }
    for (; i < arguments.size(); ++i)
        values.push_back(scatter(value_of_rows(arguments[i], frame, open), open, frame.size));
    return apply(node, std::move(values), frame.size);
}

VectorPtr Evaluator::call_chain(uint32_t node, Frame& frame) {
    const auto& call = program_->nodes[node];
    Selection open = all_rows(frame.size);
    std::vector<VectorPtr> values;
    for (const uint32_t argument : call.arguments) {
        const auto operand = value_of_rows(argument, frame, open);
        values.push_back(scatter(operand, open, frame.size));
        open = compose(open, undecided(call.lazy, operand));
    }
    return apply(node, std::move(values), frame.size);
}

}  // namespace firn::exec
