// Variances, covariances, correlation, skewness and kurtosis; bitwise aggregates.
#include <algorithm>
#include <cmath>

#include "firn/functions/aggregates/state_aggregate.h"

namespace firn::functions {
namespace {

/// A number of any argument type as a double.
double number_at(const Decoded& argument, size_t row) {
    const TypePtr& type = argument.flat().type();
    double value = 0;
    dispatch_fixed(type->physical(), [&]<typename T>() {
        if constexpr (std::is_same_v<T, Int256> || std::is_same_v<T, UInt256>)
            value = argument.value<T>(row).to_double();
        else
            value = static_cast<double>(argument.value<T>(row));
    });
    return type->scale() ? value / std::pow(10.0, type->scale()) : value;
}

/// Powers summed about zero, as ClickHouse's plain varPop and its like do.
template <typename T>
struct Moments {
    T n = 0, x = 0, x2 = 0, x3 = 0, x4 = 0, y = 0, y2 = 0, xy = 0;
};

enum class Statistic : uint8_t {
    VarPop,
    VarSamp,
    StddevPop,
    StddevSamp,
    CovarPop,
    CovarSamp,
    Corr,
    SkewPop,
    SkewSamp,
    KurtPop,
    KurtSamp
};

/// T: float where all arguments are Float32, as ClickHouse computes those.
template <typename T>
class MomentsAggregate : public StateAggregate<MomentsAggregate<T>, Moments<T>> {
    using State = Moments<T>;
    using Base = StateAggregate<MomentsAggregate<T>, State>;

public:
    MomentsAggregate(std::string name, Statistic statistic, bool two)
        : Base(std::move(name), make_type(sizeof(T) == 4 ? TypeId::Float32 : TypeId::Float64)),
          statistic_(statistic),
          two_(two) {}
    void add_row(State& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        const T x = static_cast<T>(number_at(arguments[0], row)),
                y = two_ ? static_cast<T>(number_at(arguments[1], row)) : 0;
        state.n += 1;
        state.x += x;
        state.x2 += x * x;
        state.x3 += x * x * x;
        state.x4 += x * x * x * x;
        state.y += y;
        state.y2 += y * y;
        state.xy += x * y;
    }
    void merge_state(State& state, const State& other, Arena&) const {
        state.n += other.n;
        state.x += other.x;
        state.x2 += other.x2;
        state.x3 += other.x3;
        state.x4 += other.x4;
        state.y += other.y;
        state.y2 += other.y2;
        state.xy += other.xy;
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<T>(this->result_, rows, [&](size_t i) { return value(Base::as_state(states[i] + offset)); });
    }
    void serialize(const char* state, std::string& out) const override { write_raw(out, Base::as_state(state)); }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        Base::as_state(state) = read_raw<State>(in);
    }

private:
    static T var_pop(const State& m) {
        return m.n == 0 ? static_cast<T>(NAN) : std::max<T>(0, (m.x2 - m.x * m.x / m.n) / m.n);
    }
    static T var_samp(const State& m) {
        return m.n <= 1 ? static_cast<T>(NAN) : std::max<T>(0, (m.x2 - m.x * m.x / m.n) / (m.n - 1));
    }
    static T third(const State& m) { return (m.x3 - (3 * m.x2 - 2 * m.x * m.x / m.n) * m.x / m.n) / m.n; }
    static T fourth(const State& m) {
        return (m.x4 - (4 * m.x3 - (6 * m.x2 - 3 * m.x * m.x / m.n) * m.x / m.n) * m.x / m.n) / m.n;
    }
    T value(const State& m) const {
        switch (statistic_) {
            case Statistic::VarPop:
                return var_pop(m);
            case Statistic::VarSamp:
                return var_samp(m);
            case Statistic::StddevPop:
                return std::sqrt(var_pop(m));
            case Statistic::StddevSamp:
                return std::sqrt(var_samp(m));
            case Statistic::CovarPop:
                return m.n == 0 ? static_cast<T>(NAN) : (m.xy - m.x * m.y / m.n) / m.n;
            case Statistic::CovarSamp:
                return m.n <= 1 ? static_cast<T>(NAN) : (m.xy - m.x * m.y / m.n) / (m.n - 1);
            case Statistic::Corr:
                return (m.n * m.xy - m.x * m.y) / std::sqrt((m.n * m.x2 - m.x * m.x) * (m.n * m.y2 - m.y * m.y));
            case Statistic::SkewPop:
                return third(m) / std::pow(var_pop(m), T(1.5));
            case Statistic::SkewSamp:
                return third(m) / std::pow(var_samp(m), T(1.5));
            case Statistic::KurtPop:
                return fourth(m) / std::pow(var_pop(m), T(2));
            case Statistic::KurtSamp:
                return fourth(m) / std::pow(var_samp(m), T(2));
        }
        return 0;
    }
    Statistic statistic_;
    bool two_;
};

enum class Bitwise : uint8_t { And, Or, Xor };

template <typename T>
class Bits : public StateAggregate<Bits<T>, T> {
    using Base = StateAggregate<Bits<T>, T>;

public:
    Bits(std::string name, TypePtr result, Bitwise op) : Base(std::move(name), std::move(result)), op_(op) {}
    void create(char* state) const override {
        Base::as_state(state) = op_ == Bitwise::And ? static_cast<T>(~T{}) : T{};
    }
    void add_row(T& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        join(state, arguments[0].template value<T>(row));
    }
    void merge_state(T& state, const T& other, Arena&) const { join(state, other); }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<T>(this->result_, rows, [&](size_t i) { return Base::as_state(states[i] + offset); });
    }
    void serialize(const char* state, std::string& out) const override { write_raw(out, Base::as_state(state)); }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        Base::as_state(state) = read_raw<T>(in);
    }

private:
    void join(T& state, T value) const {
        switch (op_) {
            case Bitwise::And:
                state = static_cast<T>(state & value);
                break;
            case Bitwise::Or:
                state = static_cast<T>(state | value);
                break;
            case Bitwise::Xor:
                state = static_cast<T>(state ^ value);
                break;
        }
    }
    Bitwise op_;
};

AggregatePtr make_bits(const std::string& name, Bitwise op, std::span<const TypePtr> arguments) {
    expect_arguments(name, arguments, 1);
    AggregatePtr made;
    if (is_integer(arguments[0]->id()))
        dispatch_fixed(arguments[0]->physical(), [&]<typename T>() {
            if constexpr (std::is_integral_v<T>) made = std::make_shared<Bits<T>>(name, arguments[0], op);
        });
    if (!made) illegal_argument(name, arguments[0]);
    return made;
}

}  // namespace

void register_moments(AggregateRegistry& registry) {
    struct Entry {
        const char* name;
        std::vector<std::string> aliases;
        Statistic statistic;
        bool two;
    };
    const Entry entries[] = {{"varPop", {"VAR_POP"}, Statistic::VarPop, false},
                             {"varSamp", {"VAR_SAMP"}, Statistic::VarSamp, false},
                             {"stddevPop", {"STDDEV_POP", "STD"}, Statistic::StddevPop, false},
                             {"stddevSamp", {"STDDEV_SAMP", "STDDEV"}, Statistic::StddevSamp, false},
                             {"covarPop", {"COVAR_POP"}, Statistic::CovarPop, true},
                             {"covarSamp", {"COVAR_SAMP"}, Statistic::CovarSamp, true},
                             {"corr", {}, Statistic::Corr, true},
                             {"varPopStable", {}, Statistic::VarPop, false},
                             {"varSampStable", {}, Statistic::VarSamp, false},
                             {"stddevPopStable", {}, Statistic::StddevPop, false},
                             {"stddevSampStable", {}, Statistic::StddevSamp, false},
                             {"covarPopStable", {}, Statistic::CovarPop, true},
                             {"covarSampStable", {}, Statistic::CovarSamp, true},
                             {"corrStable", {}, Statistic::Corr, true},
                             {"skewPop", {}, Statistic::SkewPop, false},
                             {"skewSamp", {}, Statistic::SkewSamp, false},
                             {"kurtPop", {}, Statistic::KurtPop, false},
                             {"kurtSamp", {}, Statistic::KurtSamp, false}};
    for (const auto& entry : entries)
        registry.add({.name = entry.name,
                      .aliases = entry.aliases,
                      .resolve = [name = std::string(entry.name), statistic = entry.statistic, two = entry.two](
                                     std::span<const TypePtr> arguments, std::span<const VectorPtr>) -> AggregatePtr {
                          expect_arguments(name, arguments, two ? 2 : 1);
                          for (const auto& type : arguments)
                              if (!is_number(type->id())) illegal_argument(name, type);
                          const bool single = !name.ends_with("Stable") &&
                                              std::all_of(arguments.begin(), arguments.end(), [](const TypePtr& type) {
                                                  return type->id() == TypeId::Float32;
                                              });
                          if (single) return std::make_shared<MomentsAggregate<float>>(name, statistic, two);
                          return std::make_shared<MomentsAggregate<double>>(name, statistic, two);
                      }});
    const std::pair<const char*, Bitwise> bits[] = {
        {"groupBitAnd", Bitwise::And}, {"groupBitOr", Bitwise::Or}, {"groupBitXor", Bitwise::Xor}};
    for (const auto& [name, op] : bits)
        registry.add({.name = name,
                      .resolve = [name = std::string(name), op = op](std::span<const TypePtr> arguments,
                                                                     std::span<const VectorPtr>) {
                          return make_bits(name, op, arguments);
                      }});
}

}  // namespace firn::functions
