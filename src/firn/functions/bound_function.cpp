// What is the same for all functions: constants, encodings, NULL.
#include <algorithm>
#include <cstring>

#include "firn/base/error.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/function.h"

namespace firn::functions {

namespace {

VectorPtr resized(const VectorPtr& constant, size_t rows) {
    return constant->size() == rows ? constant : Vector::constant(constant, rows);
}

/// Null flags of all arguments together; null where no row is NULL.
BufferPtr merged_nulls(std::span<const VectorPtr> arguments, size_t rows) {
    MutableBufferPtr merged;
    BufferPtr only;
    for (const auto& argument : arguments) {
        if (!argument) continue;
        const Vector& flat = argument->flat_base();
        if (!flat.nulls()) continue;
        if (argument->is_constant()) {
            if (!flat.nulls()[0]) continue;
            merged = Buffer::allocate(rows);
            std::memset(merged->mutable_data(), 1, rows);
            return merged;
        }
        if (!only && !merged) {
            only = flat.nulls_buffer();
            continue;
        }
        if (!merged) {
            merged = Buffer::allocate(rows);
            std::memcpy(merged->mutable_data(), only->data(), rows);
        }
        auto* to = merged->mutable_as<uint8_t>();
        const uint8_t* from = flat.nulls();
        for (size_t i = 0; i < rows; ++i) to[i] |= from[i];
    }
    if (merged) return merged;
    if (only && std::memchr(only->data(), 1, rows)) return only;
    return nullptr;
}

/// The argument without Nullable, as the kernel takes it.
VectorPtr without_nulls(const VectorPtr& argument) {
    if (!argument || !accepts_null(*argument->type())) return argument;
    const TypePtr type = strip_nullable(argument->type());
    if (argument->is_constant()) return Vector::constant(argument->base()->with_nulls(type, nullptr), argument->size());
    return argument->with_nulls(type, nullptr);
}

/// Runs the kernel on the rows without NULL alone; for kernels that refuse what lies under a NULL.
VectorPtr compute_rest(const Kernel& kernel, std::span<const VectorPtr> arguments,
                       std::span<const Lambda* const> lambdas, const uint8_t* nulls, size_t rows,
                       const TypePtr& result) {
    std::vector<uint32_t> kept, place(rows, kNoRow);
    for (size_t i = 0; i < rows; ++i)
        if (!nulls[i]) {
            place[i] = static_cast<uint32_t>(kept.size());
            kept.push_back(static_cast<uint32_t>(i));
        }
    if (kept.empty()) return flatten(Vector::defaults(result, rows));
    std::vector<VectorPtr> rest;
    for (const auto& argument : arguments)
        rest.push_back(!argument                 ? argument
                       : argument->is_constant() ? resized(argument, kept.size())
                                                 : gather(argument, kept));
    return flatten(gather_or_default(flatten(kernel({rest, lambdas, kept.size()})), place));
}

bool all_constant(std::span<const VectorPtr> arguments) {
    return std::all_of(arguments.begin(), arguments.end(), [](const auto& a) { return a && a->is_constant(); });
}

/// The encoding and codes that all arguments which are not constant share; null where they do not.
const Vector* shared_encoding(std::span<const VectorPtr> arguments, size_t rows) {
    const Vector* first = nullptr;
    for (const auto& argument : arguments) {
        if (argument->is_constant()) continue;
        if (argument->is_flat() || argument->base()->size() > rows) return nullptr;
        if (!first)
            first = argument.get();
        else if (first->encoding() != argument->encoding() || first->values_buffer() != argument->values_buffer() ||
                 first->base()->size() != argument->base()->size())
            return nullptr;
    }
    return first;
}

}  // namespace

VectorPtr BoundFunction::execute(std::span<const VectorPtr> arguments, size_t rows,
                                 std::span<const Lambda* const> lambdas) const {
    if (null_literal_) return Vector::defaults(result_, rows);
    if (rows == 0) return concat(result_, {});
    std::vector<VectorPtr> taken(arguments.begin(), arguments.end());
    if (!definition_->low_cardinality_custom)
        for (auto& argument : taken)
            if (argument) argument = retype(argument, strip_low_cardinality_deep(argument->type()));

    const auto call = [&](const std::vector<VectorPtr>& vectors, size_t count) -> VectorPtr {
        if (definition_->nulls == NullHandling::Custom) return kernel_({vectors, lambdas, count});
        const BufferPtr nulls = merged_nulls(vectors, count);
        std::vector<VectorPtr> plain;
        for (const auto& vector : vectors) plain.push_back(without_nulls(vector));
        VectorPtr result;
        if (!nulls) {
            result = kernel_({plain, lambdas, count});
        } else {
            try {
                result = kernel_({plain, lambdas, count});
            } catch (const Error&) {
                if (!lambdas.empty()) throw;
                result = compute_rest(kernel_, plain, lambdas, nulls->as<uint8_t>(), count, kernel_result_);
            }
        }
        const TypePtr type = strip_low_cardinality(result_);
        if (!accepts_null(*type) || !nulls) return result->type() == type ? result : retype(result, type);
        result = flatten(result);
        if (const uint8_t* own = result->nulls()) {  // the function makes NULLs itself
            auto merged = Buffer::allocate(count);
            for (size_t i = 0; i < count; ++i) merged->mutable_as<uint8_t>()[i] = own[i] | nulls->as<uint8_t>()[i];
            return result->with_nulls(type, std::move(merged));
        }
        return result->with_nulls(type, nulls);
    };

    VectorPtr result;
    if (lambdas.empty() && definition_->deterministic && all_constant(taken)) {
        for (auto& argument : taken) argument = argument->base();
        result = Vector::constant(flatten(call(taken, 1)), rows);
    } else {
        const Vector* shared = nullptr;
        if (lambdas.empty() && definition_->deterministic && !definition_->takes_encoded)
            shared = shared_encoding(taken, rows);
        if (shared) {
            const size_t entries = shared->base()->size();
            std::vector<VectorPtr> bases;
            for (const auto& argument : taken)
                bases.push_back(argument->is_constant() ? resized(argument, entries) : argument->base());
            try {
                VectorPtr base = flatten(call(bases, entries));
                result = shared->encoding() == Encoding::Dictionary
                             ? Vector::dictionary(base, rows, shared->values_buffer())
                             : Vector::run_length(base, rows, shared->values_buffer());
            } catch (const Error&) {
                // An entry that no row uses may be what failed: the rows decide.
            }
        }
        if (!result) {
            if (!definition_->takes_encoded)
                for (auto& argument : taken)
                    if (argument && !argument->is_constant()) argument = flatten(argument);
            result = call(taken, rows);
        }
    }
    return result->type() == result_ ? result : retype(result, result_);
}

}  // namespace firn::functions
