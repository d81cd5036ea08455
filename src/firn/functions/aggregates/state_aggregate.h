// What aggregate functions share: a state that is one C++ object, and loops over vectors in any encoding.
#pragma once

#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "firn/base/error.h"
#include "firn/functions/aggregate.h"

namespace firn::functions {

/// CRTP base. Derived has `void add_row(State&, const std::vector<Decoded>&, size_t row, Arena&) const`, and
/// `merge_state`, `finish_states`, `write_state`, `read_state`; it may hide add and add_all with faster ones.
template <typename Derived, typename State>
class StateAggregate : public AggregateFunction {
public:
    StateAggregate(std::string name, TypePtr result) : name_(std::move(name)), result_(std::move(result)) {}

    std::string_view name() const override { return name_; }
    const TypePtr& result_type() const override { return result_; }
    size_t state_size() const override { return sizeof(State); }
    void create(char* state) const override { new (state) State(); }
    bool has_destructor() const override { return !std::is_trivially_destructible_v<State>; }
    void destroy(char* state) const noexcept override { as_state(state).~State(); }

    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        const auto decoded = decode(arguments);
        for (size_t i = 0; i < rows; ++i) derived().add_row(as_state(states[i] + offset), decoded, i, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        const auto decoded = decode(arguments);
        for (size_t i = 0; i < rows; ++i) derived().add_row(as_state(state), decoded, i, arena);
    }
    void merge(char* state, const char* other, Arena& arena) const override {
        derived().merge_state(as_state(state), *reinterpret_cast<const State*>(other), arena);
    }

protected:
    static State& as_state(char* place) { return *std::launder(reinterpret_cast<State*>(place)); }
    static const State& as_state(const char* place) { return *std::launder(reinterpret_cast<const State*>(place)); }
    static std::vector<Decoded> decode(std::span<const VectorPtr> arguments) {
        std::vector<Decoded> decoded;
        decoded.reserve(arguments.size());
        for (const auto& argument : arguments) decoded.emplace_back(argument);
        return decoded;
    }
    const Derived& derived() const { return static_cast<const Derived&>(*this); }

    std::string name_;
    TypePtr result_;
};

template <typename T>
void write_raw(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// INCORRECT_DATA where the bytes end too early: a damaged spill file.
template <typename T>
T read_raw(std::string_view& in) {
    if (in.size() < sizeof(T)) fail(ErrorCode::INCORRECT_DATA, "An aggregate state ends too early");
    T value;
    std::memcpy(&value, in.data(), sizeof(T));
    in.remove_prefix(sizeof(T));
    return value;
}

inline void write_bytes(std::string& out, std::string_view bytes) {
    write_raw<uint64_t>(out, bytes.size());
    out.append(bytes);
}
inline std::string_view read_bytes(std::string_view& in) {
    const auto size = read_raw<uint64_t>(in);
    if (in.size() < size) fail(ErrorCode::INCORRECT_DATA, "An aggregate state ends too early");
    const std::string_view bytes = in.substr(0, size);
    in.remove_prefix(size);
    return bytes;
}

/// A flat vector of T made by value(i) for each state.
template <typename T, typename F>
VectorPtr vector_of(const TypePtr& type, size_t rows, F&& value) {
    auto buffer = Buffer::allocate(rows * sizeof(T));
    T* out = buffer->template mutable_as<T>();
    for (size_t i = 0; i < rows; ++i) out[i] = value(i);
    return Vector::flat(type, rows, std::move(buffer));
}

/// One row of a vector to bytes and back, for states that hold values of any type.
void write_value(std::string& out, const Vector& vector, size_t row);
VectorPtr read_value(const TypePtr& type, std::string_view& in);

[[noreturn]] void illegal_argument(std::string_view function, const TypePtr& type);
void expect_arguments(std::string_view function, std::span<const TypePtr> arguments, size_t count);

// One family a file.
void register_count_sum(AggregateRegistry& registry);
void register_min_max(AggregateRegistry& registry);
void register_uniq(AggregateRegistry& registry);
void register_arrays(AggregateRegistry& registry);
void register_quantiles(AggregateRegistry& registry);
void register_moments(AggregateRegistry& registry);
void register_map_aggregates(AggregateRegistry& registry);

}  // namespace firn::functions
