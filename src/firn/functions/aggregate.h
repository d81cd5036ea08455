// Aggregate functions: states in memory that rows are added to, that merge, and that end in a value.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/memory.h"
#include "firn/functions/function.h"

namespace firn::functions {

class GroupedRows;

/// An aggregate function with its argument types settled. Immutable, thread-safe; the states are the caller's.
/// A state is `state_size()` bytes, 16-byte aligned. What a state needs beyond that comes from the arena it was given
/// (and dies with it) or, where has_destructor(), is freed by destroy().
class AggregateFunction {
public:
    virtual ~AggregateFunction() = default;

    virtual std::string_view name() const = 0;
    virtual const TypePtr& result_type() const = 0;

    virtual size_t state_size() const = 0;
    virtual void create(char* state) const = 0;
    virtual bool has_destructor() const { return false; }
    virtual void destroy(char* state) const noexcept {}

    /// Row i goes to the state at states[i] + offset. Arguments in any encoding.
    virtual void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
                     Arena& arena) const = 0;
    /// All rows go to one state: the form for aggregation without keys, worth a fast path (constants, dictionaries).
    virtual void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const = 0;
    /// Row i goes to the state at rows.state(its group) + offset, where the function has a fast way for few groups. False,
    /// with nothing added, where it has none: then the rows are to come by add or add_all.
    virtual bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset,
                             Arena& arena) const {
        return false;
    }
    /// Whether add_grouped adds arguments that have no NULLs.
    virtual bool has_grouped_way() const { return false; }
    /// Adds what `other` holds to `state`; `other` may be destroyed afterwards, its arena may not outlive... the caller keeps
    /// both arenas alive until the end.
    virtual void merge(char* state, const char* other, Arena& arena) const = 0;
    /// Results of the states at states[i] + offset, one row each.
    virtual VectorPtr finish(char* const* states, size_t rows, size_t offset) const = 0;

    /// For spilling: appends a state's bytes to `out`; restores one from the front of `in`, which it advances.
    virtual void serialize(const char* state, std::string& out) const = 0;
    virtual void deserialize(char* state, std::string_view& in, Arena& arena) const = 0;
};

using AggregatePtr = std::shared_ptr<const AggregateFunction>;

struct AggregateDefinition {
    std::string name;
    std::vector<std::string> aliases{};
    bool case_insensitive = false;
    /// parameters: the constants of quantile(0.5)(x). Types come without LowCardinality; Nullable is left out too unless
    /// `sees_nulls` (then nothing is skipped): by default rows with a NULL argument are skipped, and a result that has no
    /// row is NULL where the argument is Nullable (but 0 for count).
    bool sees_nulls = false;
    /// Result over Nullable arguments is Nullable (sum, min, avg), or not (count, uniq, groupArray).
    bool null_when_empty = true;
    std::function<AggregatePtr(std::span<const TypePtr> arguments, std::span<const VectorPtr> parameters)> resolve;
};

class AggregateRegistry {
public:
    static const AggregateRegistry& instance();
    void add(AggregateDefinition definition);
    /// True for "sum", and for names with combinators: "sumIf", "countDistinct", "avgOrNull", "uniqArrayIf".
    bool is_aggregate(std::string_view name) const;
    /// Applies combinators (If, Array, Distinct, OrNull, OrDefault, State, Merge, ForEach … as far as supported) and the rules for
    /// NULL. UNKNOWN_AGGREGATE_FUNCTION, NUMBER_OF_ARGUMENTS_DOESNT_MATCH, ILLEGAL_TYPE_OF_ARGUMENT …
    AggregatePtr bind(std::string_view name, std::span<const TypePtr> arguments, std::span<const VectorPtr> parameters,
                      bool distinct = false) const;
    std::vector<std::string> names() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace firn::functions
