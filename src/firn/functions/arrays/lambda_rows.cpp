#include "firn/functions/arrays/lambda_rows.h"

#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

VectorPtr compact_array(const VectorPtr& vector) {
    const VectorPtr array = flatten(vector);
    const int64_t* offsets = array->offsets();
    const auto begin = static_cast<size_t>(offsets[0]), end = static_cast<size_t>(offsets[array->size()]);
    if (begin == 0 && end == array->child()->size()) return array;
    auto moved = Buffer::allocate((array->size() + 1) * sizeof(int64_t));
    for (size_t i = 0; i <= array->size(); ++i) moved->mutable_as<int64_t>()[i] = offsets[i] - offsets[0];
    return Vector::array(array->type(), array->size(), std::move(moved),
                         flatten(slice(array->child(), begin, end - begin)));
}

VectorPtr call_lambda(const Lambda& lambda, const Vector& array, const std::vector<VectorPtr>& arguments) {
    std::vector<uint32_t> outer(arguments[0]->size());
    if (outer.empty()) return concat(lambda.result_type(), {});
    for (size_t i = 0; i < array.size(); ++i) {
        const Range range = range_at(array, i);
        for (uint32_t j = range.begin; j < range.end; ++j) outer[j] = static_cast<uint32_t>(i);
    }
    return flatten(lambda.call(arguments, outer));
}

Elements elements_of(const KernelArguments& call, size_t first_array, const char* name) {
    Elements out;
    std::vector<VectorPtr> children;
    for (size_t n = first_array; n < call.size(); ++n) {
        const VectorPtr array = compact_array(call[n]);
        if (!out.array)
            out.array = array;
        else if (std::memcmp(array->offsets(), out.array->offsets(), (call.rows + 1) * sizeof(int64_t)) != 0)
            fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH, "Arrays passed to {} must have equal size", name);
        children.push_back(array->child());
    }
    const bool has_lambda = !call.lambdas.empty() && call.lambdas[0];
    out.values = has_lambda ? call_lambda(*call.lambdas[0], *out.array, children) : flatten(children[0]);
    return out;
}

std::vector<uint8_t> truth_of(const VectorPtr& values) {
    std::vector<uint8_t> out(values->size(), 0);
    if (values->type()->physical() != Physical::None)
        for (const uint32_t row : selected_rows(values)) out[row] = 1;
    return out;
}

std::vector<TypePtr> lambda_parameters_of(ArgumentList arguments, size_t first_array, size_t parameters,
                                          const char* name) {
    std::vector<TypePtr> types;
    for (size_t i = first_array; i < arguments.size(); ++i) types.push_back(element_type(arguments, i, name));
    if (types.size() == parameters) return types;
    // One array of tuples for a lambda of several parameters.
    if (types.size() == 1 && unwrap(types[0])->id() == TypeId::Tuple &&
        unwrap(types[0])->children().size() == parameters)
        fail(ErrorCode::NOT_IMPLEMENTED, "A lambda of {} parameters over an array of tuples is not supported yet",
             parameters);
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The lambda of function {} has {} parameters for {} arrays", name,
         parameters, types.size());
}

}  // namespace firn::functions
