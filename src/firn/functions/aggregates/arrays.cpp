// groupArray, groupUniqArray, topK, sumMap: states that collect values.
#include <algorithm>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {
namespace {

struct Collected {
    std::unique_ptr<VectorBuilder> builder;
    uint64_t seen = 0;
};

/// A number given as parameter: groupArray(3)(x).
uint64_t number_parameter(std::string_view name, std::span<const VectorPtr> parameters, size_t i, uint64_t otherwise) {
    if (i >= parameters.size()) return otherwise;
    const VectorPtr value = cast_vector(parameters[i], make_type(TypeId::Int64));
    const int64_t number = value->flat_base().values<int64_t>()[value->base_row(0)];
    if (number <= 0) fail(ErrorCode::BAD_ARGUMENTS, "Parameter of aggregate function {} should be positive", name);
    return static_cast<uint64_t>(number);
}

class GroupArray : public StateAggregate<GroupArray, Collected> {
public:
    GroupArray(std::string name, TypePtr element, uint64_t limit, bool last)
        : StateAggregate(std::move(name), make_array(element)),
          element_(std::move(element)),
          limit_(limit),
          last_(last) {}

    void add_row(Collected& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        append(state, arguments[0].flat(), arguments[0][row]);
    }
    void merge_state(Collected& state, const Collected& other, Arena&) const {
        if (!other.builder) return;
        const VectorPtr values = snapshot(other);
        for (size_t i = 0; i < values->size(); ++i) append(state, *values, i);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(result_);
        for (size_t i = 0; i < rows; ++i) {
            const Collected& state = as_state(states[i] + offset);
            if (state.builder) {
                const VectorPtr values = snapshot(state);
                const size_t size = values->size();
                // The last values lie in a ring: the i-th of all is at place i % limit.
                const size_t kept = last_ ? std::min<size_t>(size, limit_) : size;
                for (size_t place = 0; place < kept; ++place) {
                    const size_t ring = (size - kept) % kept;
                    builder.element().append_from(*values,
                                                  kept == size ? place : size - kept + (place + kept - ring) % kept);
                }
            }
            builder.end_array();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        const Collected& collected = as_state(state);
        const VectorPtr values = collected.builder ? snapshot(collected) : Vector::defaults(element_, 0);
        write_raw<uint64_t>(out, values->size());
        for (size_t i = 0; i < values->size(); ++i) write_value(out, *values, i);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        const auto size = read_raw<uint64_t>(in);
        for (uint64_t i = 0; i < size; ++i) append(as_state(state), *read_value(element_, in), 0);
    }

private:
    void append(Collected& state, const Vector& source, size_t row) const {
        if (!last_ && state.seen >= limit_) return;
        if (!state.builder) state.builder = std::make_unique<VectorBuilder>(element_);
        state.builder->append_from(source, row);
        ++state.seen;
    }
    /// The values so far; the builder goes on with a copy of them.
    static VectorPtr snapshot(const Collected& state) {
        VectorPtr values = state.builder->finish();
        for (size_t i = 0; i < values->size(); ++i) state.builder->append_from(*values, i);
        return values;
    }
    TypePtr element_;
    uint64_t limit_;
    bool last_;
};

/// Different values with how often each came, in the order of their first coming.
struct Counted {
    std::unique_ptr<VectorBuilder> pending;
    std::vector<VectorPtr> values;  // one row each
    std::vector<uint64_t> counts;
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> slots;
};

class CountedValues {
public:
    explicit CountedValues(TypePtr type) : type_(std::move(type)) {}
    void add(Counted& state, const VectorPtr& one, uint64_t times) const {
        uint64_t hash = 0;
        hash_rows(std::span(&one, 1), 1, &hash);
        if ((state.values.size() + 1) * 2 > state.slots.size()) grow(state);
        size_t slot = hash & (state.slots.size() - 1);
        for (; state.slots[slot]; slot = (slot + 1) & (state.slots.size() - 1)) {
            const size_t at = state.slots[slot] - 1;
            if (state.hashes[at] == hash && equal_values(*state.values[at], 0, *one, 0)) {
                state.counts[at] += times;
                return;
            }
        }
        state.values.push_back(one);
        state.counts.push_back(times);
        state.hashes.push_back(hash);
        state.slots[slot] = static_cast<uint32_t>(state.values.size());
    }
    VectorPtr one_row(const Vector& source, size_t row) const {
        VectorBuilder builder(type_);
        builder.append_from(source, row);
        return builder.finish();
    }

private:
    static void grow(Counted& state) {
        state.slots.assign(std::max<size_t>(16, state.slots.size() * 2), 0);
        for (size_t i = 0; i < state.values.size(); ++i) {
            size_t slot = state.hashes[i] & (state.slots.size() - 1);
            while (state.slots[slot]) slot = (slot + 1) & (state.slots.size() - 1);
            state.slots[slot] = static_cast<uint32_t>(i + 1);
        }
    }
    TypePtr type_;
};

/// groupUniqArray: the values; topK: those that come most often.
class Different : public StateAggregate<Different, Counted> {
public:
    Different(std::string name, TypePtr element, uint64_t limit, bool top)
        : StateAggregate(std::move(name), make_array(element)),
          element_(element),
          set_(element),
          limit_(limit),
          top_(top) {}
    void add_row(Counted& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        if (!top_ && state.values.size() >= limit_) return;
        set_.add(state, set_.one_row(arguments[0].flat(), arguments[0][row]), 1);
    }
    void merge_state(Counted& state, const Counted& other, Arena&) const {
        for (size_t i = 0; i < other.values.size(); ++i)
            if (top_ || state.values.size() < limit_) set_.add(state, other.values[i], other.counts[i]);
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(result_);
        for (size_t i = 0; i < rows; ++i) {
            const Counted& state = as_state(states[i] + offset);
            std::vector<size_t> order(state.values.size());
            for (size_t k = 0; k < order.size(); ++k) order[k] = k;
            if (top_) {
                std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
                    if (state.counts[a] != state.counts[b]) return state.counts[a] > state.counts[b];
                    return compare_values(*state.values[a], 0, *state.values[b], 0) > 0;
                });
                if (order.size() > limit_) order.resize(limit_);
            }
            for (const size_t k : order) builder.element().append_from(*state.values[k], 0);
            builder.end_array();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        const Counted& counted = as_state(state);
        write_raw<uint64_t>(out, counted.values.size());
        for (size_t i = 0; i < counted.values.size(); ++i) {
            write_value(out, *counted.values[i], 0);
            write_raw(out, counted.counts[i]);
        }
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        const auto size = read_raw<uint64_t>(in);
        for (uint64_t i = 0; i < size; ++i) {
            const VectorPtr value = read_value(element_, in);
            set_.add(as_state(state), value, read_raw<uint64_t>(in));
        }
    }

private:
    TypePtr element_;
    CountedValues set_;
    uint64_t limit_;
    bool top_;
};

}  // namespace

void register_arrays(AggregateRegistry& registry) {
    for (const std::string name : {"groupArray", "groupArrayLast"})
        registry.add(
            {.name = name,
             .aliases = name == "groupArray" ? std::vector<std::string>{"array_agg"} : std::vector<std::string>{},
             .null_when_empty = false,
             .resolve = [name](std::span<const TypePtr> arguments,
                               std::span<const VectorPtr> parameters) -> AggregatePtr {
                 expect_arguments(name, arguments, 1);
                 return std::make_shared<GroupArray>(
                     name, arguments[0], number_parameter(name, parameters, 0, UINT64_MAX), name == "groupArrayLast");
             }});
    for (const std::string name : {"groupUniqArray", "topK"})
        registry.add({.name = name,
                      .null_when_empty = false,
                      .resolve = [name](std::span<const TypePtr> arguments,
                                        std::span<const VectorPtr> parameters) -> AggregatePtr {
                          expect_arguments(name, arguments, 1);
                          const bool top = name == "topK";
                          return std::make_shared<Different>(
                              name, arguments[0], number_parameter(name, parameters, 0, top ? 10 : UINT64_MAX), top);
                      }});
}

}  // namespace firn::functions
