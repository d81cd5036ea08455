// Aggregate functions that are computed from all rows of a group at the end:
// the state keeps the arguments.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/vector/builder.h"

namespace firn::functions {

struct CollectedColumns {
    std::vector<std::unique_ptr<VectorBuilder>> builders;
};

class OfAllRows : public StateAggregate<OfAllRows, CollectedColumns> {
public:
    using Values = std::vector<VectorPtr>;
    /// Appends one result to the builder; columns: the arguments, one row for
    /// each that came (none: no columns at all).
    using Compute = std::function<void(const Values& columns, size_t rows, VectorBuilder& out)>;

    OfAllRows(std::string name, std::span<const TypePtr> types, TypePtr result, Compute compute)
        : StateAggregate(std::move(name), std::move(result)),
          types_(types.begin(), types.end()),
          compute_(std::move(compute)) {}

    void add_row(CollectedColumns& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        open(state);
        for (size_t i = 0; i < types_.size(); ++i)
            state.builders[i]->append_from(arguments[i].flat(), arguments[i][row]);
    }
    void merge_state(CollectedColumns& state, const CollectedColumns& other, Arena&) const;
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override;
    void serialize(const char* state, std::string& out) const override;
    void deserialize(char* state, std::string_view& in, Arena&) const override;

private:
    void open(CollectedColumns& state) const {
        if (!state.builders.empty()) return;
        for (const auto& type : types_) state.builders.push_back(std::make_unique<VectorBuilder>(type));
    }
    /// The values so far; the builders go on with copies of them.
    static Values snapshot(const CollectedColumns& state);
    std::vector<TypePtr> types_;
    Compute compute_;
};

/// The column as doubles.
std::vector<double> numbers(const VectorPtr& column);
/// ILLEGAL_TYPE_OF_ARGUMENT unless all are numbers.
void expect_numbers(std::string_view name, std::span<const TypePtr> types);
/// Row numbers in ascending order of the values; equal ones as they came.
std::vector<size_t> sorted_rows(const Vector& column);

using MakeCollected = std::function<AggregatePtr(const std::string& name, std::span<const TypePtr> types,
                                                 std::span<const VectorPtr> parameters)>;
/// Adds a function that `make` makes for the types of its arguments; null_when_empty and aliases as in the registry.
void add_collected(AggregateRegistry& registry, std::string name, bool null_when_empty, MakeCollected make,
                   std::vector<std::string> aliases = {});

void register_collected(AggregateRegistry& registry);
void register_series(AggregateRegistry& registry);

}  // namespace firn::functions
