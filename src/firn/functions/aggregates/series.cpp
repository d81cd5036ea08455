// Regression, entropy, moving averages, quantiles of weighted values,
// intervals: computed from all rows of a group.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "firn/functions/aggregates/collected.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {
namespace {

using Types = std::span<const TypePtr>;
using Parameters = std::span<const VectorPtr>;
using Values = OfAllRows::Values;

double number_parameter(std::string_view name, Parameters parameters, size_t i) {
    if (i >= parameters.size())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {} requires {} parameter(s)", name,
             i + 1);
    if (!is_number(unwrap(parameters[i]->type())->id()))
        fail(ErrorCode::CANNOT_CONVERT_TYPE, "Parameter {} of aggregate function {} has to be a number, not {}", i + 1,
             name, parameters[i]->type()->name());
    return numbers(parameters[i])[0];
}

/// Each value fades by half in `half_decay` of time.
AggregatePtr exponential_average(const std::string& name, Types types, Parameters parameters) {
    expect_arguments(name, types, 2);
    expect_numbers(name, types);
    const double half_decay = number_parameter(name, parameters, 0);
    return std::make_shared<OfAllRows>(
        name, types, make_type(TypeId::Float64), [half_decay](const Values& columns, size_t, VectorBuilder& out) {
            const auto values = numbers(columns[0]), times = numbers(columns[1]);
            // The sum of values scaled to the latest time; the weights of all whole
            // steps before it add up to `total`.
            double sum = 0;
            const double last = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
            for (const size_t row : sorted_rows(*columns[1]))
                sum += values[row] * std::exp2((times[row] - last) / half_decay);
            const double total = 1 / (1 - std::exp2(-1 / half_decay));
            out.append<double>(values.empty() ? 0 : sum / total);
        });
}

AggregatePtr linear_regression(const std::string& name, Types types, Parameters) {
    expect_arguments(name, types, 2);
    expect_numbers(name, types);
    const TypePtr number = make_type(TypeId::Float64);
    return std::make_shared<OfAllRows>(name, types, make_tuple_type({number, number}, {"k", "b"}),
                                       [](const Values& columns, size_t rows, VectorBuilder& out) {
                                           const auto x = numbers(columns[0]), y = numbers(columns[1]);
                                           double sx = 0, sy = 0, sxx = 0, sxy = 0;
                                           for (size_t i = 0; i < rows; ++i) {
                                               sx += x[i];
                                               sy += y[i];
                                               sxx += x[i] * x[i];
                                               sxy += x[i] * y[i];
                                           }
                                           const auto n = static_cast<double>(rows);
                                           const double divisor = sxx * n - sx * sx;
                                           const double slope =
                                               divisor == 0 ? std::nan("") : (sxy * n - sx * sy) / divisor;
                                           out.element(0).append<double>(slope);
                                           out.element(1).append<double>((sy - slope * sx) / n);
                                           out.end_tuple();
                                       });
}

AggregatePtr entropy(const std::string& name, Types types, Parameters) {
    if (types.empty()) expect_arguments(name, types, 1);
    return std::make_shared<OfAllRows>(
        name, types, make_type(TypeId::Float64), [](const Values& columns, size_t rows, VectorBuilder& out) {
            std::map<std::string, size_t> counts;
            for (size_t row = 0; row < rows; ++row) {
                std::string key;
                for (const auto& column : columns) write_value(key, *column, row);
                ++counts[key];
            }
            double sum = 0;
            for (const auto& [key, count] : counts) {
                const double share = static_cast<double>(count) / static_cast<double>(rows);
                sum -= share * std::log2(share);
            }
            out.append<double>(std::max(0.0, sum));
        });
}

/// What one level gives from sorted values and their weights.
using Level = std::function<void(const Values& columns, const std::vector<size_t>& order,
                                 const std::vector<double>& weights, double level, VectorBuilder& out)>;

/// Where the middles of the values' weights lie on the way to all of them, and
/// a line between neighbours.
void interpolated_weighted(const Values& columns, const std::vector<size_t>& order, const std::vector<double>& weights,
                           double level, VectorBuilder& out) {
    const auto values = numbers(columns[0]);
    double total = 0;
    for (const double weight : weights) total += weight;
    double below = 0, previous_place = 0, previous_value = 0, result = 0;
    bool found = false;
    for (size_t i = 0; i < order.size() && !found; ++i) {
        const size_t row = order[i];
        below += weights[row];
        const double place = (below - weights[row] / 2) / total;
        if (place >= level || i + 1 == order.size()) {
            found = true;
            result = i == 0 || place < level
                         ? values[row]
                         : previous_value +
                               (level - previous_place) * (values[row] - previous_value) / (place - previous_place);
        }
        previous_place = place;
        previous_value = values[row];
    }
    const VectorPtr number = make_value<double>(make_type(TypeId::Float64), result);
    out.append_from(*flatten(cast_vector(number, out.type())), 0);
}

/// The least value at which the weights so far make up the level.
void exact_weighted(const Values& columns, const std::vector<size_t>& order, const std::vector<double>& weights,
                    double level, VectorBuilder& out) {
    double total = 0, seen = 0;
    for (const double weight : weights) total += weight;
    const double wanted = std::ceil(total * level);
    for (const size_t row : order) {
        seen += weights[row];
        if (seen < wanted || weights[row] <= 0) continue;
        return out.append_from(*columns[0], row);
    }
    out.append_from(*columns[0], order.back());
}

/// The element that is at least `level` of the way: 5 of 1 … 10 for 0.5.
void rank(const Values& columns, const std::vector<size_t>& order, const std::vector<double>&, double level,
          VectorBuilder& out) {
    const double place = std::ceil(level * static_cast<double>(order.size()));
    const size_t at = place < 1 ? 0 : static_cast<size_t>(place) - 1;
    out.append_from(*columns[0], order[std::min(at, order.size() - 1)]);
}

double as_bfloat16(double value) {
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value)) & 0xFFFF0000u;
    return std::bit_cast<float>(bits);
}
void bfloat16(const Values& columns, const std::vector<size_t>& order, const std::vector<double>& weights, double level,
              VectorBuilder& out) {
    const auto values = numbers(columns[0]);
    double total = 0, seen = 0;
    for (const size_t row : order) total += weights.empty() ? 1 : weights[row];
    for (const size_t row : order) {
        seen += weights.empty() ? 1 : weights[row];
        if (seen >= total * level) return out.append<double>(as_bfloat16(values[row]));
    }
    out.append<double>(as_bfloat16(values[order.back()]));
}

/// The value at a place counted from 0, on the line between its neighbours.
double value_at(const std::vector<double>& values, const std::vector<size_t>& order, double place) {
    if (place < 0) return values[order.front()];
    const auto below = static_cast<size_t>(place);
    if (below + 1 >= order.size()) return values[order.back()];
    const double from = values[order[below]], to = values[order[below + 1]];
    return from + (place - static_cast<double>(below)) * (to - from);
}
/// At level * (n + 1), counted from 1.
void exclusive(const Values& columns, const std::vector<size_t>& order, const std::vector<double>&, double level,
               VectorBuilder& out) {
    if (level == 0 || level == 1)
        fail(ErrorCode::BAD_ARGUMENTS, "quantileExactExclusive cannot take the levels 0 and 1");
    out.append<double>(value_at(numbers(columns[0]), order, level * (static_cast<double>(order.size()) + 1) - 1));
}
/// The second argument of quantileDeterministic, no weight, only decides which rows a sample takes: here all are taken.
void inclusive(const Values& columns, const std::vector<size_t>& order, const std::vector<double>&, double level,
               VectorBuilder& out) {
    out.append<double>(value_at(numbers(columns[0]), order, level * (static_cast<double>(order.size()) - 1)));
}

struct QuantileKind {
    std::string name;
    bool weighted;
    bool to_double;
    size_t skipped_parameters;  // those before the levels
    Level level;
};

AggregatePtr make_levels(const QuantileKind& kind, const std::string& name, bool many, Types types,
                         Parameters parameters) {
    expect_arguments(name, types, kind.weighted ? 2 : 1);
    expect_numbers(name, types.first(1));
    if (kind.weighted && !is_unsigned_integer(types[1]->id())) illegal_argument(name, types[1]);
    for (size_t i = 0; i < kind.skipped_parameters; ++i)
        if (i >= parameters.size() || !is_integer(unwrap(parameters[i]->type())->id()))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Aggregate function {} requires an integer as its parameter {}",
                 name, i + 1);
    std::vector<double> levels;
    for (size_t i = kind.skipped_parameters; i < parameters.size(); ++i) {
        levels.push_back(number_parameter(name, parameters, i));
        if (!(levels.back() >= 0 && levels.back() <= 1))
            fail(ErrorCode::PARAMETER_OUT_OF_BOUND, "Quantile level is out of range [0..1] for aggregate function {}",
                 name);
    }
    if (levels.empty()) levels.push_back(0.5);
    const TypePtr one = kind.to_double ? make_type(TypeId::Float64) : types[0];
    return std::make_shared<OfAllRows>(
        name, types, many ? make_array(one) : one, [=](const Values& columns, size_t rows, VectorBuilder& out) {
            const auto weights = kind.weighted ? numbers(columns[1]) : std::vector<double>{};
            const auto order = sorted_rows(*columns[0]);
            for (const double level : levels) {
                VectorBuilder& to = many ? out.element() : out;
                if (rows == 0 && is_float(one->id()))
                    to.append_from(*flatten(cast_vector(make_value(make_type(TypeId::Float64), std::nan("")), one)), 0);
                else if (rows == 0)
                    to.append_default();
                else
                    kind.level(columns, order, weights, level, to);
            }
            if (many) out.end_array();
        });
}

/// The type of both ends of an interval: ILLEGAL_TYPE_OF_ARGUMENT unless both are one, a number of at most 64 bits, a
/// date or a time.
TypePtr interval_type(const std::string& name, Types types) {
    expect_arguments(name, types, 2);
    const TypeId id = types[0]->id();
    const bool narrow = is_integer(id) && integer_bits(id) <= 64;
    if (!narrow && !is_float(id) && !is_date_or_time(id) && id != TypeId::Bool) illegal_argument(name, types[0]);
    if (!same_type(types[0], types[1])) illegal_argument(name, types[1]);
    return types[0];
}

/// Calls f with the intervals that are not empty, pairs of values of the type's own C++ type, in the order of where they
/// begin.
template <typename F>
void with_intervals(const Values& columns, size_t rows, const F& f) {
    const VectorPtr begins = flatten(columns[0]), ends = flatten(columns[1]);
    dispatch_fixed(begins->type()->physical(), [&]<typename T>() {
        if constexpr (std::is_arithmetic_v<T>) {
            std::vector<std::pair<T, T>> intervals;
            for (size_t i = 0; i < rows; ++i) {
                const T begin = begins->values<T>()[i], end = ends->values<T>()[i];
                if (begin < end) intervals.emplace_back(begin, end);
            }
            std::sort(intervals.begin(), intervals.end());
            f(intervals);
        }
    });
}

AggregatePtr interval_length(const std::string& name, Types types, Parameters) {
    const TypePtr result = make_type(is_float(interval_type(name, types)->id()) ? TypeId::Float64 : TypeId::UInt64);
    return std::make_shared<OfAllRows>(name, types, result, [](const Values& columns, size_t rows, VectorBuilder& out) {
        with_intervals(columns, rows, [&]<typename T>(const std::vector<std::pair<T, T>>& intervals) {
            using Length = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
            Length length = 0;
            const T* reached = nullptr;
            for (const auto& [begin, end] : intervals) {
                if (reached && end <= *reached) continue;
                const T from = reached ? std::max(begin, *reached) : begin;
                length += static_cast<Length>(end) - static_cast<Length>(from);
                reached = &end;
            }
            out.append<Length>(length);
        });
    });
}

/// How many intervals hold one point at most; or the first such point.
AggregatePtr max_intersections(const std::string& name, bool position, Types types, Parameters) {
    const TypePtr type = interval_type(name, types), result = position ? type : make_type(TypeId::UInt64);
    return std::make_shared<OfAllRows>(
        name, types, result, [position](const Values& columns, size_t rows, VectorBuilder& out) {
            with_intervals(columns, rows, [&]<typename T>(const std::vector<std::pair<T, T>>& intervals) {
                std::map<T, int64_t> changes;
                for (const auto& [begin, end] : intervals) {
                    ++changes[begin];
                    --changes[end];
                }
                int64_t now = 0, most = 0;
                T where{};
                for (const auto& [point, change] : changes) {
                    now += change;
                    if (now <= most) continue;
                    most = now;
                    where = point;
                }
                if (position)
                    out.append<T>(where);
                else
                    out.append<uint64_t>(static_cast<uint64_t>(most));
            });
        });
}

/// 1 for the first condition where it ever holds, and for each other that holds
/// too, if the first does.
AggregatePtr retention(const std::string& name, Types types, Parameters) {
    if (types.size() < 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {} requires at least 2 arguments", name);
    for (const auto& type : types)
        if (type->id() != TypeId::UInt8 && type->id() != TypeId::Bool) illegal_argument(name, type);
    return std::make_shared<OfAllRows>(
        name, types, make_array(make_type(TypeId::UInt8)), [](const Values& columns, size_t, VectorBuilder& out) {
            bool first = false;
            for (size_t i = 0; i < columns.size(); ++i) {
                const auto values = numbers(columns[i]);
                const bool any = std::any_of(values.begin(), values.end(), [](double value) { return value != 0; });
                if (i == 0) first = any;
                out.element().append<uint8_t>(first && any);
            }
            out.end_array();
        });
}

}  // namespace

void register_series(AggregateRegistry& registry) {
    add_collected(registry, "exponentialMovingAverage", true, exponential_average);
    add_collected(registry, "simpleLinearRegression", true, linear_regression);
    add_collected(registry, "entropy", true, entropy);
    add_collected(registry, "intervalLengthSum", true, interval_length);
    for (const bool position : {false, true})
        add_collected(registry, position ? "maxIntersectionsPosition" : "maxIntersections", true,
                      [position](const std::string& name, Types types, Parameters parameters) {
                          return max_intersections(name, position, types, parameters);
                      });
    add_collected(registry, "retention", false, retention);
    const QuantileKind kinds[] = {{"InterpolatedWeighted", true, false, 0, interpolated_weighted},
                                  {"ExactWeighted", true, false, 0, exact_weighted},
                                  {"BFloat16", false, true, 0, bfloat16},
                                  {"BFloat16Weighted", true, true, 0, bfloat16},
                                  {"ExactExclusive", false, true, 0, exclusive},
                                  {"Deterministic", true, true, 0, inclusive},
                                  {"GK", false, false, 1, rank}};
    for (const auto& kind : kinds)
        for (const bool many : {false, true})
            add_collected(
                registry, (many ? "quantiles" : "quantile") + kind.name, true,
                [kind, many](const std::string& name, Types types, Parameters parameters) {
                    return make_levels(kind, name, many, types, parameters);
                },
                many ? std::vector<std::string>{} : std::vector<std::string>{"median" + kind.name});
}

}  // namespace firn::functions
