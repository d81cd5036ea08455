// count, sum, avg and their like.
#include <array>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/functions/grouped_rows.h"
#include "firn/functions/overflow.h"

namespace firn::functions {
namespace {

class Count : public StateAggregate<Count, uint64_t> {
public:
    Count() : StateAggregate("count", make_type(TypeId::UInt64)) {}
    void create(char* state) const override { as_state(state) = 0; }
    void add_row(uint64_t& state, const std::vector<Decoded>&, size_t, Arena&) const { ++state; }
    void add(std::span<const VectorPtr>, size_t rows, char* const* states, size_t offset, Arena&) const override {
        for (size_t i = 0; i < rows; ++i) ++as_state(states[i] + offset);
    }
    void add_all(std::span<const VectorPtr>, size_t rows, char* state, Arena&) const override {
        as_state(state) += rows;
    }
    bool has_grouped_way() const override { return true; }
    bool add_grouped(std::span<const VectorPtr>, GroupedRows& rows, size_t offset, Arena&) const override {
        for (size_t g = 0; g < rows.groups(); ++g) as_state(rows.state(g) + offset) += rows.count(g);
        return true;
    }
    void merge_state(uint64_t& state, const uint64_t& other, Arena&) const { state += other; }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<uint64_t>(result_, rows, [&](size_t i) { return as_state(states[i] + offset); });
    }
    void serialize(const char* state, std::string& out) const override { write_raw(out, as_state(state)); }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        as_state(state) = read_raw<uint64_t>(in);
    }
};

/// a * b, wrapping around.
template <typename Sum>
Sum times(const Sum& a, const Sum& b) {
    if constexpr (std::is_same_v<Sum, int64_t>)
        return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (std::is_same_v<Sum, Int128>)
        return static_cast<Int128>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
    else
        return a * b;
}

/// Sum of a whole batch. 64-bit integers into 128 bits without carries in the loop: halves are added apart.
template <typename Sum, typename T>
Sum sum_flat(const T* values, size_t rows) {
    if constexpr (std::is_same_v<Sum, Int128> && std::is_same_v<T, int64_t>) {
        constexpr size_t kBlock = size_t{1} << 20;
        Int128 total = 0;
        for (size_t begin = 0; begin < rows; begin += kBlock) {
            const size_t end = std::min(rows, begin + kBlock);
            int64_t high = 0;
            uint64_t low = 0;
            for (size_t i = begin; i < end; ++i) {
                high += values[i] >> 32;
                low += static_cast<uint32_t>(values[i]);
            }
            total += (static_cast<Int128>(high) << 32) + static_cast<Int128>(low);
        }
        return total;
    } else if constexpr (std::is_same_v<Sum, Int128> && std::is_integral_v<T> && sizeof(T) <= 4) {
        constexpr size_t kBlock = size_t{1} << 30;
        Int128 total = 0;
        for (size_t begin = 0; begin < rows; begin += kBlock) {
            const size_t end = std::min(rows, begin + kBlock);
            int64_t part = 0;
            for (size_t i = begin; i < end; ++i) part += values[i];
            total += part;
        }
        return total;
    } else if constexpr (std::is_same_v<Sum, double>) {
        // Four partial sums: the compiler may not reorder additions of floats itself.
        std::array<double, 4> partial{};
        size_t i = 0;
        for (; i + 4 <= rows; i += 4)
            for (size_t k = 0; k < 4; ++k) partial[k] += static_cast<double>(values[i + k]);
        for (; i < rows; ++i) partial[0] += static_cast<double>(values[i]);
        return (partial[0] + partial[1]) + (partial[2] + partial[3]);
    } else if constexpr (std::is_integral_v<Sum> && sizeof(Sum) <= 8) {
        constexpr size_t kBlock = 256;  // of a fixed size: vectorized
        Sum total{};
        size_t i = 0;
        for (; i + kBlock <= rows; i += kBlock)
            for (size_t k = 0; k < kBlock; ++k) total = add_wrapping(total, static_cast<Sum>(values[i + k]));
        for (; i < rows; ++i) total = add_wrapping(total, static_cast<Sum>(values[i]));
        return total;
    } else {
        Sum total{};
        for (size_t i = 0; i < rows; ++i) total = add_wrapping(total, Sum(values[i]));
        return total;
    }
}

/// Adds value(i) to the state's Sum for each row.
template <typename T, typename Add>
void each_value(const Decoded& decoded, size_t rows, Add&& add) {
    const T* values = decoded.values<T>();
    if (decoded.is_identity())
        for (size_t i = 0; i < rows; ++i) add(i, values[i]);
    else
        for (size_t i = 0; i < rows; ++i) add(i, values[decoded[i]]);
}

template <typename Sum, typename T>
Sum sum_batch(const VectorPtr& vector, size_t rows) {
    const Decoded decoded(vector);
    const T* values = decoded.values<T>();
    if (decoded.is_identity()) return sum_flat<Sum>(values, rows);
    if constexpr (!std::is_same_v<Sum, double>)
        if (decoded.is_constant()) return rows ? times(Sum(values[0]), Sum(static_cast<Int128>(rows))) : Sum{};
    // In portions that stay in the cache: picked out, then summed as flat values.
    constexpr size_t kPortion = 1024;
    std::array<T, kPortion> portion;
    const uint32_t* codes = vector->encoding() == Encoding::Dictionary ? vector->codes() : nullptr;
    Sum total{};
    for (size_t begin = 0; begin < rows; begin += kPortion) {
        const size_t count = std::min(kPortion, rows - begin);
        if (codes)
            for (size_t i = 0; i < count; ++i) portion[i] = values[codes[begin + i]];
        else
            for (size_t i = 0; i < count; ++i) portion[i] = values[decoded[begin + i]];
        total = add_wrapping(total, sum_flat<Sum>(portion.data(), count));
    }
    return total;
}

/// Whether GroupedRows sums values of T, for a sum of this type.
template <typename T, typename Sum>
constexpr bool kSummedByGroup = std::is_integral_v<T> && sizeof(T) <= 8 &&
                                (std::is_same_v<Sum, Int128> || (std::is_integral_v<Sum> && sizeof(Sum) == 8));

template <typename T, typename SumType>
class Sum : public StateAggregate<Sum<T, SumType>, SumType> {
    using Base = StateAggregate<Sum<T, SumType>, SumType>;

public:
    using Base::Base;
    void add_row(SumType& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        state = add_wrapping(state, SumType(arguments[0].template value<T>(row)));
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena&) const override {
        each_value<T>(Decoded(arguments[0]), rows, [&](size_t i, const T& value) {
            SumType& state = Base::as_state(states[i] + offset);
            state = add_wrapping(state, SumType(value));
        });
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena&) const override {
        SumType& total = Base::as_state(state);
        total = add_wrapping(total, sum_batch<SumType, T>(arguments[0], rows));
    }
    bool has_grouped_way() const override { return kSummedByGroup<T, SumType>; }
    bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset, Arena&) const override {
        if constexpr (kSummedByGroup<T, SumType>) {
            const auto& sums = rows.sums(arguments[0]);
            for (size_t g = 0; g < rows.groups(); ++g) {
                SumType& state = Base::as_state(rows.state(g) + offset);
                state = add_wrapping(state, static_cast<SumType>(sums[g]));
            }
            return true;
        }
        return false;
    }
    void merge_state(SumType& state, const SumType& other, Arena&) const { state = add_wrapping(state, other); }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<SumType>(this->result_, rows, [&](size_t i) { return Base::as_state(states[i] + offset); });
    }
    void serialize(const char* state, std::string& out) const override { write_raw(out, Base::as_state(state)); }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        Base::as_state(state) = read_raw<SumType>(in);
    }
};

template <typename SumType>
struct AvgState {
    SumType sum{};
    uint64_t count = 0;
};

template <typename T>
double to_double(const T& value) {
    if constexpr (std::is_class_v<T>)
        return value.to_double();
    else
        return static_cast<double>(value);
}

template <typename T, typename SumType>
class Avg : public StateAggregate<Avg<T, SumType>, AvgState<SumType>> {
    using State = AvgState<SumType>;
    using Base = StateAggregate<Avg<T, SumType>, State>;

public:
    /// divisor: 10^scale of a decimal.
    Avg(std::string name, TypePtr result, double divisor)
        : Base(std::move(name), std::move(result)), divisor_(divisor) {}
    void add_row(State& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        state.sum = add_wrapping(state.sum, SumType(arguments[0].template value<T>(row)));
        ++state.count;
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena&) const override {
        each_value<T>(Decoded(arguments[0]), rows, [&](size_t i, const T& value) {
            State& state = Base::as_state(states[i] + offset);
            state.sum = add_wrapping(state.sum, SumType(value));
            ++state.count;
        });
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* place, Arena&) const override {
        State& state = Base::as_state(place);
        state.sum = add_wrapping(state.sum, sum_batch<SumType, T>(arguments[0], rows));
        state.count += rows;
    }
    bool has_grouped_way() const override { return kSummedByGroup<T, SumType>; }
    bool add_grouped(std::span<const VectorPtr> arguments, GroupedRows& rows, size_t offset, Arena&) const override {
        if constexpr (kSummedByGroup<T, SumType>) {
            const auto& sums = rows.sums(arguments[0]);
            for (size_t g = 0; g < rows.groups(); ++g) {
                State& state = Base::as_state(rows.state(g) + offset);
                state.sum = add_wrapping(state.sum, static_cast<SumType>(sums[g]));
                state.count += rows.count(g);
            }
            return true;
        }
        return false;
    }
    void merge_state(State& state, const State& other, Arena&) const {
        state.sum = add_wrapping(state.sum, other.sum);
        state.count += other.count;
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<double>(this->result_, rows, [&](size_t i) {
            const State& state = Base::as_state(states[i] + offset);
            return to_double(state.sum) / divisor_ / static_cast<double>(state.count);
        });
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw(out, Base::as_state(state).sum);
        write_raw(out, Base::as_state(state).count);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        Base::as_state(state).sum = read_raw<SumType>(in);
        Base::as_state(state).count = read_raw<uint64_t>(in);
    }

private:
    double divisor_;
};

/// What avg keeps, as it is: (sum, count).
template <typename T, typename SumType>
class SumCount : public Avg<T, SumType> {
public:
    SumCount(std::string name, TypePtr result) : Avg<T, SumType>(std::move(name), std::move(result), 1) {}
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        const auto state = [&](size_t i) -> const AvgState<SumType>& { return this->as_state(states[i] + offset); };
        const TypePtr& type = this->result_;
        return Vector::tuple(type, rows,
                             {vector_of<SumType>(type->child(0), rows, [&](size_t i) { return state(i).sum; }),
                              vector_of<uint64_t>(type->child(1), rows, [&](size_t i) { return state(i).count; })});
    }
};

struct WeightedState {
    double sum = 0, weight = 0;
};

class AvgWeighted : public StateAggregate<AvgWeighted, WeightedState> {
public:
    AvgWeighted() : StateAggregate("avgWeighted", make_type(TypeId::Float64)) {}
    /// Of numbers that are doubles.
    void add_row(WeightedState& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        const double weight = arguments[1].value<double>(row);
        state.sum += arguments[0].value<double>(row) * weight;
        state.weight += weight;
    }
    void add(std::span<const VectorPtr> arguments, size_t rows, char* const* states, size_t offset,
             Arena& arena) const override {
        StateAggregate::add(doubles(arguments), rows, states, offset, arena);
    }
    void add_all(std::span<const VectorPtr> arguments, size_t rows, char* state, Arena& arena) const override {
        StateAggregate::add_all(doubles(arguments), rows, state, arena);
    }
    void merge_state(WeightedState& state, const WeightedState& other, Arena&) const {
        state.sum += other.sum;
        state.weight += other.weight;
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        return vector_of<double>(result_, rows, [&](size_t i) {
            const WeightedState& state = as_state(states[i] + offset);
            return state.sum / state.weight;
        });
    }
    void serialize(const char* state, std::string& out) const override { write_raw(out, as_state(state)); }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        as_state(state) = read_raw<WeightedState>(in);
    }

private:
    std::vector<VectorPtr> doubles(std::span<const VectorPtr> arguments) const {
        return {cast_vector(arguments[0], result_), cast_vector(arguments[1], result_)};
    }
};

/// An aggregate of values of T whose sum has this type: Sum or SumCount.
template <template <typename, typename> class Made, typename T>
AggregatePtr of_sum(const std::string& name, const TypePtr& sum, const TypePtr& result) {
    switch (sum->physical()) {
        case Physical::UInt64:
            if constexpr (std::is_integral_v<T>) return std::make_shared<Made<T, uint64_t>>(name, result);
            break;
        case Physical::Int64:
            if constexpr (std::is_integral_v<T>) return std::make_shared<Made<T, int64_t>>(name, result);
            break;
        case Physical::Int128:
            if constexpr (std::is_integral_v<T> || std::is_same_v<T, Int128>)
                return std::make_shared<Made<T, Int128>>(name, result);
            break;
        case Physical::UInt128:
            if constexpr (std::is_same_v<T, UInt128>) return std::make_shared<Made<T, UInt128>>(name, result);
            break;
        case Physical::UInt256:
            if constexpr (std::is_same_v<T, UInt256>) return std::make_shared<Made<T, UInt256>>(name, result);
            break;
        case Physical::Int256:
            if constexpr (std::is_same_v<T, Int256>) return std::make_shared<Made<T, Int256>>(name, result);
            break;
        case Physical::Float64:
            if constexpr (std::is_floating_point_v<T>) return std::make_shared<Made<T, double>>(name, result);
            break;
        default:
            break;
    }
    fail(ErrorCode::LOGICAL_ERROR, "{} has no sum of type {}", name, sum->name());
}

TypePtr sum_type(const std::string& name, const TypePtr& argument) {
    const TypeId id = argument->id();
    if (id == TypeId::Bool) return make_type(TypeId::UInt64);
    if (is_unsigned_integer(id)) return integer_type(std::max(64, integer_bits(id)), false);
    if (is_signed_integer(id)) return integer_type(std::max(64, integer_bits(id)), true);
    if (is_float(id)) return make_type(TypeId::Float64);
    if (id == TypeId::Decimal) return make_decimal(argument->precision() <= 38 ? 38 : 76, argument->scale());
    if (id == TypeId::Interval) return argument;
    illegal_argument(name, argument);
}

AggregatePtr make_sum(const std::string& name, std::span<const TypePtr> arguments) {
    expect_arguments(name, arguments, 1);
    const TypePtr result = name == "sumWithOverflow" ? arguments[0] : sum_type(name, arguments[0]);
    AggregatePtr made;
    dispatch_fixed(arguments[0]->physical(), [&]<typename T>() {
        if (name != "sumWithOverflow")
            made = of_sum<Sum, T>(name, result, result);
        else if constexpr (std::is_arithmetic_v<T>)
            made = std::make_shared<Sum<T, T>>(name, result);
    });
    if (!made) illegal_argument(name, arguments[0]);
    return made;
}

AggregatePtr make_sum_count(std::span<const TypePtr> arguments) {
    const std::string name = "sumCount";
    expect_arguments(name, arguments, 1);
    if (!is_number(arguments[0]->id())) illegal_argument(name, arguments[0]);
    const TypePtr sum = sum_type(name, arguments[0]), result = make_tuple_type({sum, make_type(TypeId::UInt64)});
    AggregatePtr made;
    dispatch_fixed(arguments[0]->physical(), [&]<typename T>() { made = of_sum<SumCount, T>(name, sum, result); });
    if (!made) illegal_argument(name, arguments[0]);
    return made;
}

AggregatePtr make_avg_weighted(std::span<const TypePtr> arguments) {
    expect_arguments("avgWeighted", arguments, 2);
    for (const auto& type : arguments)
        if (!is_number(type->id())) illegal_argument("avgWeighted", type);
    return std::make_shared<AvgWeighted>();
}

AggregatePtr make_avg(std::span<const TypePtr> arguments) {
    expect_arguments("avg", arguments, 1);
    const TypePtr& type = arguments[0];
    if (!is_number(type->id())) illegal_argument("avg", type);
    const TypePtr result = make_type(TypeId::Float64);
    double divisor = 1;
    for (int i = 0; i < type->scale(); ++i) divisor *= 10;
    AggregatePtr made;
    dispatch_fixed(type->physical(), [&]<typename T>() {
        if constexpr (std::is_floating_point_v<T>)
            made = std::make_shared<Avg<T, double>>("avg", result, divisor);
        else if constexpr (std::is_same_v<T, UInt256> || std::is_same_v<T, Int256>)
            made = std::make_shared<Avg<T, Int256>>("avg", result, divisor);
        else
            made = std::make_shared<Avg<T, Int128>>("avg", result, divisor);
    });
    return made;
}

}  // namespace

void register_count_sum(AggregateRegistry& registry) {
    registry.add({.name = "count",
                  .case_insensitive = true,
                  .null_when_empty = false,
                  .resolve = [](std::span<const TypePtr> arguments, std::span<const VectorPtr>) -> AggregatePtr {
                      if (arguments.size() > 1)
                          fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                               "Aggregate function count requires zero or one argument");
                      return std::make_shared<Count>();
                  }});
    for (const std::string name : {"sum", "sumWithOverflow", "sumKahan"})
        registry.add({.name = name,
                      .case_insensitive = name == "sum",
                      .resolve = [name](std::span<const TypePtr> arguments, std::span<const VectorPtr>) {
                          return make_sum(name, arguments);
                      }});
    registry.add({.name = "avg",
                  .case_insensitive = true,
                  .resolve = [](std::span<const TypePtr> arguments, std::span<const VectorPtr>) {
                      return make_avg(arguments);
                  }});
    registry.add({.name = "sumCount",
                  .null_when_empty = false,
                  .resolve = [](std::span<const TypePtr> arguments, std::span<const VectorPtr>) {
                      return make_sum_count(arguments);
                  }});
    registry.add({.name = "avgWeighted", .resolve = [](std::span<const TypePtr> arguments, std::span<const VectorPtr>) {
                      return make_avg_weighted(arguments);
                  }});
}

}  // namespace firn::functions
