// Functions made of others: a bound function called on vectors.
#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "firn/functions/function.h"

namespace firn::functions {

/// The function `name` for arguments of these types, of which none is constant.
inline std::shared_ptr<const BoundFunction> bind_types(const char* name, std::initializer_list<TypePtr> types,
                                                       const FunctionContext& context) {
    std::vector<Argument> arguments;
    for (const auto& type : types) arguments.push_back({type, nullptr});
    return FunctionRegistry::instance().bind(name, std::move(arguments), context);
}
inline VectorPtr call_bound(const std::shared_ptr<const BoundFunction>& function,
                            std::initializer_list<VectorPtr> vectors, size_t rows) {
    return flatten(function->execute(std::vector<VectorPtr>(vectors), rows));
}

}  // namespace firn::functions
