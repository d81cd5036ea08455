// Scalar functions of aggregate states: finalizeAggregation, initializeAggregation.
#include <memory>

#include "firn/functions/aggregates/around.h"
#include "firn/functions/aggregates/combinators.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/declare.h"
#include "firn/functions/registration.h"

namespace firn::functions {

namespace {

/// The results of states, one a row, that `fill` is given empty.
template <typename Fill>
VectorPtr finish_rows(const AggregateFunction& function, size_t rows, const Fill& fill) {
    Arena arena;
    const size_t bytes = padded_size(function);
    std::vector<char*> states;
    const auto destroy = [&](std::vector<char*>* all) {
        if (function.has_destructor())
            for (char* state : *all) function.destroy(state);
    };
    const std::unique_ptr<std::vector<char*>, decltype(destroy)> guard(&states, destroy);
    for (size_t i = 0; i < rows; ++i) {
        char* state = arena.allocate(bytes, 16);
        function.create(state);
        states.push_back(state);
    }
    fill(states.data(), arena);
    return copy_owned(function.finish(states.data(), rows, 0));
}

Overload resolve_finalize(ArgumentList arguments, const FunctionContext&) {
    const DataType& type = *arguments[0].type;
    if (type.id() != TypeId::AggregateFunction)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "The argument of function finalizeAggregation has to be an aggregate state, not {}", type.name());
    const AggregatePtr function = function_of_state(type);
    return {function->result_type(), [=](const KernelArguments& call) {
                const Decoded states(call[0]);
                return finish_rows(*function, call.rows, [&](char* const* rows, Arena& arena) {
                    for (size_t i = 0; i < call.rows; ++i) {
                        std::string_view bytes = states.value<StringRef>(i).view();
                        if (!bytes.empty()) function->deserialize(rows[i], bytes, arena);
                    }
                });
            }};
}

/// initializeAggregation('sum', x): the function over each row alone.
Overload resolve_initialize(ArgumentList arguments, const FunctionContext&) {
    const std::string name = require_text(arguments[0], "initializeAggregation", 0);
    std::vector<TypePtr> types;
    for (const auto& argument : arguments.subspan(1)) types.push_back(argument.type);
    const AggregatePtr function = AggregateRegistry::instance().bind(name, types, {});
    return {function->result_type(), [=](const KernelArguments& call) {
                return finish_rows(*function, call.rows, [&](char* const* rows, Arena& arena) {
                    function->add(call.vectors.subspan(1), call.rows, rows, 0, arena);
                });
            }};
}

}  // namespace

void register_aggregate_state_functions(FunctionRegistry& registry) {
    declare_seeing_nulls(registry, {"finalizeAggregation"}, 1, 1, resolve_finalize);
    declare_seeing_nulls(registry, {"initializeAggregation"}, 2, SIZE_MAX, resolve_initialize);
}

}  // namespace firn::functions
