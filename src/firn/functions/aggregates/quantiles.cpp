// quantile, quantiles, median and their exact forms: all are computed from all values.
#include <algorithm>
#include <cmath>

#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/vector/builder.h"

namespace firn::functions {
namespace {

enum class Rule : uint8_t {
    Interpolated,  // between the neighbours at level * (n - 1); Float64
    Exact,         // the element at level * n; the argument's type
    ExactLow,      // of a median of an even number: the lower
    ExactHigh,     // ... the higher
};

template <typename T>
class Quantile : public StateAggregate<Quantile<T>, TrackedVector<T>> {
    using State = TrackedVector<T>;
    using Base = StateAggregate<Quantile<T>, State>;

public:
    Quantile(std::string name, TypePtr value_type, TypePtr result, std::vector<double> levels, Rule rule, bool many)
        : Base(std::move(name), std::move(result)),
          value_type_(std::move(value_type)),
          levels_(std::move(levels)),
          rule_(rule),
          many_(many) {}

    void add_row(State& state, const std::vector<Decoded>& arguments, size_t row, Arena&) const {
        const T value = arguments[0].template value<T>(row);
        if constexpr (std::is_floating_point_v<T>)
            if (std::isnan(value)) return;
        state.push_back(value);
    }
    void merge_state(State& state, const State& other, Arena&) const {
        state.insert(state.end(), other.begin(), other.end());
    }
    VectorPtr finish(char* const* states, size_t rows, size_t offset) const override {
        VectorBuilder builder(this->result_);
        for (size_t i = 0; i < rows; ++i) {
            State values = Base::as_state(states[i] + offset);
            std::sort(values.begin(), values.end());
            for (const double level : levels_) append(many_ ? builder.element() : builder, values, level);
            if (many_) builder.end_array();
        }
        return builder.finish();
    }
    void serialize(const char* state, std::string& out) const override {
        write_raw<uint64_t>(out, Base::as_state(state).size());
        for (const T& value : Base::as_state(state)) write_raw(out, value);
    }
    void deserialize(char* state, std::string_view& in, Arena&) const override {
        const auto size = read_raw<uint64_t>(in);
        for (uint64_t i = 0; i < size; ++i) Base::as_state(state).push_back(read_raw<T>(in));
    }

private:
    double number(const T& value) const {
        double scaled = 0;
        if constexpr (std::is_same_v<T, Int256> || std::is_same_v<T, UInt256>)
            scaled = value.to_double();
        else
            scaled = static_cast<double>(value);
        return scaled / std::pow(10.0, value_type_->scale());
    }
    void append(VectorBuilder& out, const State& values, double level) const {
        if (rule_ == Rule::Interpolated) {
            if (values.empty()) return out.append<double>(std::nan(""));
            const double place = level * static_cast<double>(values.size() - 1);
            const auto below = static_cast<size_t>(place);
            const size_t above = std::min(below + 1, values.size() - 1);
            const double part = place - static_cast<double>(below);
            return out.append<double>(number(values[below]) * (1 - part) + number(values[above]) * part);
        }
        if (values.empty()) {
            if constexpr (std::is_floating_point_v<T>)
                return out.append<T>(static_cast<T>(std::nan("")));
            else
                return out.append<T>(T{});
        }
        return out.append<T>(values[place_of(level, values.size())]);
    }
    size_t place_of(double level, size_t size) const {
        const auto n = static_cast<double>(size);
        size_t place = 0;
        if (level == 0.5 && rule_ == Rule::ExactLow)
            place = size % 2 ? size / 2 : size / 2 - 1;
        else if (level == 0.5 && rule_ == Rule::ExactHigh)
            place = size / 2;
        else
            place = static_cast<size_t>(level * n);
        return std::min(place, size - 1);
    }
    TypePtr value_type_;
    std::vector<double> levels_;
    Rule rule_;
    bool many_;
};

std::vector<double> levels_of(const std::string& name, std::span<const VectorPtr> parameters, bool many) {
    std::vector<double> levels;
    for (const auto& parameter : parameters) {
        if (is_string_like(unwrap(parameter->type())->id()))
            fail(ErrorCode::CANNOT_CONVERT_TYPE, "The level of aggregate function {} has to be a number", name);
        const VectorPtr value = cast_vector(parameter, make_type(TypeId::Float64));
        levels.push_back(value->flat_base().values<double>()[value->base_row(0)]);
        if (!(levels.back() >= 0 && levels.back() <= 1))
            fail(ErrorCode::PARAMETER_OUT_OF_BOUND, "Quantile level is out of range [0..1] for aggregate function {}",
                 name);
    }
    if (many && levels.empty())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {} requires at least one parameter",
             name);
    if (!many && levels.size() > 1)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {} requires one parameter or less", name);
    if (levels.empty()) levels.push_back(0.5);
    return levels;
}

AggregatePtr make_quantile(const std::string& name, Rule rule, bool many, std::span<const TypePtr> arguments,
                           std::span<const VectorPtr> parameters) {
    expect_arguments(name, arguments, 1);
    const TypePtr& type = arguments[0];
    if (!is_number(type->id()) && !is_date_or_time(type->id())) illegal_argument(name, type);
    // Moments keep their type: the interpolation is of ticks.
    const bool exact = rule != Rule::Interpolated || is_date_or_time(type->id());
    const Rule used = exact && rule == Rule::Interpolated ? Rule::Exact : rule;
    const TypePtr one = exact ? type : make_type(TypeId::Float64);
    AggregatePtr made;
    dispatch_fixed(type->physical(), [&]<typename T>() {
        made = std::make_shared<Quantile<T>>(name, type, many ? make_array(one) : one,
                                             levels_of(name, parameters, many), used, many);
    });
    return made;
}

}  // namespace

void register_quantiles(AggregateRegistry& registry) {
    const std::pair<std::string, Rule> families[] = {
        {"", Rule::Interpolated},     {"Deterministic", Rule::Interpolated},  {"TDigest", Rule::Interpolated},
        {"DD", Rule::Interpolated},   {"ExactInclusive", Rule::Interpolated}, {"Exact", Rule::Exact},
        {"ExactLow", Rule::ExactLow}, {"ExactHigh", Rule::ExactHigh},         {"Timing", Rule::Exact}};
    for (const auto& [suffix, rule] : families) {
        const auto add = [&, rule = rule](std::string name, bool many, std::vector<std::string> aliases) {
            registry.add({.name = name,
                          .aliases = std::move(aliases),
                          .resolve = [name, rule, many](std::span<const TypePtr> arguments,
                                                        std::span<const VectorPtr> parameters) {
                              return make_quantile(name, rule, many, arguments, parameters);
                          }});
        };
        add("quantile" + suffix, false, {"median" + suffix});
        add("quantiles" + suffix, true, {});
    }
}

}  // namespace firn::functions
