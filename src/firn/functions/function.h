// Scalar functions: how one is declared, found, typed and called.
//
// A family of functions is one file with one `register_<family>(FunctionRegistry&)`. A Definition says its name, its number
// of arguments and, given the arguments' types, the overload: a result type and a kernel. Everything that is the same for
// all functions is done once, in BoundFunction: number of arguments, NULL, LowCardinality, constants, encodings.
//
// What a kernel gets (unless its Definition says otherwise):
//   - arguments without Nullable and LowCardinality, in vectors and in the types that `resolve` sees; rows where any argument
//     is NULL are computed on default values and thrown away, and the result becomes Nullable;
//   - never all-constant arguments (BoundFunction computes one row and repeats it);
//   - Flat or Constant vectors; a Dictionary or RunLength argument, where it is the only one that is not constant, is
//     computed on its base alone and the result given the same codes; otherwise it is flattened.
// Kernels are pure and thread-safe: state that depends on constants (a compiled pattern, a set) is made in `resolve`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/types/data_type.h"
#include "firn/vector/vector.h"

namespace firn::functions {

/// What functions may know of the session that calls them.
struct FunctionContext {
    std::string time_zone = "UTC";  // of DateTime types that name none
    int64_t now_us = 0;             // the statement's start, microseconds since the epoch
    std::string current_database = "default";
    std::string current_user = "default";
    bool cast_keep_nullable = false;
    bool join_use_nulls = false;
    /// Any other setting by name; null or empty when not given.
    std::function<std::optional<std::string>(std::string_view)> setting;
};

/// An argument as it is known before any row is: its type and, when the expression is constant, its value.
struct Argument {
    TypePtr type;
    VectorPtr constant;  // one row, Flat; null when not constant
};

/// A lambda passed to a higher-order function (arrayMap). Its captured columns have the outer batch's rows.
class Lambda {
public:
    virtual ~Lambda() = default;
    virtual const TypePtr& result_type() const = 0;
    /// arguments: one vector for each parameter, of outer_rows.size() rows; outer_rows[i]: the row of the outer batch that
    /// row i belongs to (for captured columns).
    virtual VectorPtr call(std::span<const VectorPtr> arguments, std::span<const uint32_t> outer_rows) const = 0;
};

struct KernelArguments {
    std::span<const VectorPtr> vectors;      // null at the places of lambdas
    std::span<const Lambda* const> lambdas;  // null at the places of vectors; empty when the call has none
    size_t rows = 0;

    const VectorPtr& operator[](size_t i) const { return vectors[i]; }
    size_t size() const { return vectors.size(); }
};

using Kernel = std::function<VectorPtr(const KernelArguments&)>;

struct Overload {
    TypePtr result;
    Kernel kernel;
};

/// How a function behaves over the ordered values of one argument, the others constant; for pruning.
enum class Monotonic : uint8_t { No, Increasing, Decreasing };  // not strictly: equal results are allowed

enum class NullHandling : uint8_t {
    Propagate,  // any NULL argument makes NULL; a NULL literal makes Nullable(Nothing)
    Custom,     // the kernel and resolve see Nullable types and vectors
};

struct Definition {
    std::string name;
    std::vector<std::string> aliases;
    bool case_insensitive = false;
    size_t min_arguments = 0;
    size_t max_arguments = SIZE_MAX;
    NullHandling nulls = NullHandling::Propagate;
    bool low_cardinality_custom = false;  // resolve and kernel see LowCardinality types
    bool takes_encoded = false;           // the kernel takes Dictionary and RunLength vectors as they are
    bool deterministic = true;            // false: a value a row even for constant arguments (rand), or by time (now)
    bool fold_constants = true;           // false: stays a call though all arguments are constant (materialize, rand)
    /// Gives result type and kernel, or throws (ILLEGAL_TYPE_OF_ARGUMENT …). Lambdas come with type Function.
    std::function<Overload(std::span<const Argument>, const FunctionContext&)> resolve;
    /// The same where an argument (without it by now) is Nullable, for functions that then do something else with what they
    /// cannot compute: toInt32 of a Nullable(String) that is no number is NULL. Optional.
    std::function<Overload(std::span<const Argument>, const FunctionContext&)> resolve_nullable;
    /// For higher-order functions: parameter types of the lambda at argument 0, given the other arguments (argument 0's
    /// type is null). Empty function: takes no lambda. `parameters`: how many the lambda has.
    std::function<std::vector<TypePtr>(std::span<const Argument>, size_t parameters)> lambda_parameters;
    /// Of argument `which`; default No.
    std::function<Monotonic(std::span<const Argument>, size_t which)> monotonic;
    /// The same for values between two (one row each, of the argument's type without NULL), where the function may be
    /// monotonic though it is not everywhere: toDate of a DateTime64 wraps around outside of Date's range. Optional.
    std::function<Monotonic(std::span<const Argument>, size_t which, const Vector& low, const Vector& high)>
        monotonic_between;
};

/// A function with its argument types settled: what expressions hold. Immutable, thread-safe.
class BoundFunction {
public:
    const std::string& name() const noexcept { return definition_->name; }
    const TypePtr& result_type() const noexcept { return result_; }
    const Definition& definition() const noexcept { return *definition_; }

    /// Vectors are of the bound types and of `rows` rows each. `lambdas` as in KernelArguments.
    VectorPtr execute(std::span<const VectorPtr> arguments, size_t rows,
                      std::span<const Lambda* const> lambdas = {}) const;

    Monotonic monotonic(size_t which) const;
    /// For values of argument `which` from low to high, one row each; what pruning should ask.
    Monotonic monotonic_between(size_t which, const Vector& low, const Vector& high) const;
    const std::vector<Argument>& arguments() const noexcept { return arguments_; }

private:
    friend class FunctionRegistry;
    const Definition* definition_ = nullptr;
    std::vector<Argument> arguments_;
    TypePtr result_;         // as SQL sees it
    TypePtr kernel_result_;  // before Nullable and LowCardinality are put back
    Kernel kernel_;
    bool null_literal_ = false;  // an argument is Nullable(Nothing): the result is NULL
};

class FunctionRegistry {
public:
    /// All functions of firn.
    static const FunctionRegistry& instance();

    void add(Definition definition);
    /// Null when there is none by that name.
    const Definition* find(std::string_view name) const;
    /// UNKNOWN_FUNCTION (with what it may have meant), NUMBER_OF_ARGUMENTS_DOESNT_MATCH, and what resolve throws.
    std::shared_ptr<const BoundFunction> bind(std::string_view name, std::vector<Argument> arguments,
                                              const FunctionContext& context) const;
    std::vector<std::string> names() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// The least type that holds all values of both, as ClickHouse finds it for array(), if(), UNION; NO_COMMON_TYPE if none.
TypePtr common_type(std::span<const TypePtr> types);
/// As CAST(vector AS type): in `cast.cpp`; used wherever values have to become another type.
VectorPtr cast_vector(const VectorPtr& vector, const TypePtr& type, const FunctionContext& context = {});
/// "DateTime64(6, 'UTC')" as a type; UNKNOWN_TYPE and others as ClickHouse.
TypePtr parse_type_name(std::string_view text);

}  // namespace firn::functions
