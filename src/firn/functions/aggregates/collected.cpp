// See collected.h.
#include <algorithm>
#include <cmath>
#include <map>

#include "firn/functions/aggregates/collected.h"
#include "firn/functions/overflow.h"
#include "firn/types/number.h"
#include "firn/vector/row_ops.h"
#include "firn/vector/vector_text.h"

namespace firn::functions {
void OfAllRows::merge_state(CollectedColumns& state, const CollectedColumns& other, Arena&) const {
    const Values values = snapshot(other);
    if (values.empty()) return;
    open(state);
    for (size_t i = 0; i < values.size(); ++i)
        for (size_t row = 0; row < values[i]->size(); ++row) state.builders[i]->append_from(*values[i], row);
}

VectorPtr OfAllRows::finish(char* const* states, size_t rows, size_t offset) const {
    VectorBuilder out(result_);
    for (size_t i = 0; i < rows; ++i) {
        Values values = snapshot(as_state(states[i] + offset));
        if (values.empty())
            for (const auto& type : types_) values.push_back(Vector::defaults(type, 0));
        compute_(values, values.empty() ? 0 : values[0]->size(), out);
    }
    return out.finish();
}

void OfAllRows::serialize(const char* state, std::string& out) const {
    const Values values = snapshot(as_state(state));
    const uint64_t rows = values.empty() ? 0 : values[0]->size();
    write_raw(out, rows);
    for (uint64_t row = 0; row < rows; ++row)
        for (const auto& value : values) write_value(out, *value, row);
}

void OfAllRows::deserialize(char* state, std::string_view& in, Arena&) const {
    const auto rows = read_raw<uint64_t>(in);
    for (uint64_t row = 0; row < rows; ++row) {
        open(as_state(state));
        for (size_t i = 0; i < types_.size(); ++i)
            as_state(state).builders[i]->append_from(*read_value(types_[i], in), 0);
    }
}

OfAllRows::Values OfAllRows::snapshot(const CollectedColumns& state) {
    Values values;
    for (const auto& builder : state.builders) {
        values.push_back(builder->finish());
        for (size_t i = 0; i < values.back()->size(); ++i) builder->append_from(*values.back(), i);
    }
    return values;
}

std::vector<double> numbers(const VectorPtr& column) {
    const VectorPtr flat = flatten(cast_vector(column, make_type(TypeId::Float64)));
    return {flat->values<double>(), flat->values<double>() + flat->size()};
}

void expect_numbers(std::string_view name, std::span<const TypePtr> types) {
    for (const auto& type : types)
        if (!is_number(type->id())) illegal_argument(name, type);
}

std::vector<size_t> sorted_rows(const Vector& column) {
    std::vector<size_t> order(column.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return compare_values(column, a, column, b) < 0; });
    return order;
}

void add_collected(AggregateRegistry& registry, std::string name, bool null_when_empty, MakeCollected make,
                   std::vector<std::string> aliases) {
    registry.add({.name = name,
                  .aliases = std::move(aliases),
                  .null_when_empty = null_when_empty,
                  .resolve = [name, make](std::span<const TypePtr> types, std::span<const VectorPtr> parameters) {
                      return make(name, types, parameters);
                  }});
}

namespace {

using Values = OfAllRows::Values;
using Types = std::span<const TypePtr>;
using Parameters = std::span<const VectorPtr>;

uint64_t count_parameter(std::string_view name, Parameters parameters, size_t i, uint64_t otherwise) {
    if (i >= parameters.size()) return otherwise;
    const VectorPtr value = cast_vector(parameters[i], make_type(TypeId::Int64));
    const int64_t number = value->flat_base().values<int64_t>()[value->base_row(0)];
    if (number <= 0) fail(ErrorCode::BAD_ARGUMENTS, "Parameter of aggregate function {} should be positive", name);
    return static_cast<uint64_t>(number);
}

size_t different_rows(const Vector& column) {
    const auto order = sorted_rows(column);
    size_t different = order.empty() ? 0 : 1;
    for (size_t i = 1; i < order.size(); ++i) different += compare_values(column, order[i - 1], column, order[i]) != 0;
    return different;
}

TypePtr moving_type(std::string_view name, const TypePtr& type) {
    if (is_float(type->id())) return make_type(TypeId::Float64);
    if (is_signed_integer(type->id())) return make_type(TypeId::Int64);
    if (is_unsigned_integer(type->id()) || type->id() == TypeId::Bool) return make_type(TypeId::UInt64);
    illegal_argument(name, type);
}

AggregatePtr group_array_sorted(const std::string& name, Types types, Parameters parameters) {
    expect_arguments(name, types, 1);
    const uint64_t most = count_parameter(name, parameters, 0, UINT64_MAX);
    return std::make_shared<OfAllRows>(name, types, make_array(types[0]),
                                       [most](const Values& columns, size_t, VectorBuilder& out) {
                                           const auto order = sorted_rows(*columns[0]);
                                           for (size_t i = 0; i < std::min<uint64_t>(most, order.size()); ++i)
                                               out.element().append_from(*columns[0], order[i]);
                                           out.end_array();
                                       });
}

/// Sums of the last `window` values at each row; the average divides by the
/// window, or by all rows where there is none.
AggregatePtr moving(const std::string& name, bool average, Types types, Parameters parameters) {
    expect_arguments(name, types, 1);
    const uint64_t window = count_parameter(name, parameters, 0, 0);
    const TypePtr sum = moving_type(name, types[0]);
    const TypePtr result = average ? make_type(TypeId::Float64) : sum;
    return std::make_shared<OfAllRows>(
        name, types, make_array(result), [=](const Values& columns, size_t rows, VectorBuilder& out) {
            const VectorPtr values = flatten(cast_vector(columns[0], sum));
            const auto run = [&]<typename T>() {
                T total = 0;
                for (size_t i = 0; i < rows; ++i) {
                    total += values->values<T>()[i];
                    if (window && i >= window) total -= values->values<T>()[i - window];
                    if (average)
                        out.element().append<double>(static_cast<double>(total) /
                                                     static_cast<double>(window ? window : rows));
                    else
                        out.element().append<T>(total);
                }
            };
            if (sum->id() == TypeId::Float64)
                run.operator()<double>();
            else
                run.operator()<uint64_t>();  // wraps alike for signed numbers
            out.end_array();
        });
}

AggregatePtr group_array_insert_at(const std::string& name, Types types, Parameters parameters) {
    expect_arguments(name, types, 2);
    constexpr uint64_t kMost = 1 << 24;
    if (!is_unsigned_integer(types[1]->id())) illegal_argument(name, types[1]);
    const uint64_t size = count_parameter(name, parameters, 1, 0);
    if (size > kMost) fail(ErrorCode::TOO_LARGE_ARRAY_SIZE, "Too large array size given to {}", name);
    const VectorPtr missing = parameters.empty() ? Vector::defaults(types[0], 1) : cast_vector(parameters[0], types[0]);
    return std::make_shared<OfAllRows>(
        name, types, make_array(types[0]), [=](const Values& columns, size_t rows, VectorBuilder& out) {
            const VectorPtr places = flatten(cast_vector(columns[1], make_type(TypeId::UInt64)));
            std::map<uint64_t, size_t> at;
            for (size_t i = 0; i < rows; ++i) {
                const uint64_t place = places->values<uint64_t>()[i];
                if (place >= kMost)
                    fail(ErrorCode::TOO_LARGE_ARRAY_SIZE, "Too large array size: position {} in {}", place, name);
                if (!size || place < size) at.emplace(place, i);
            }
            const uint64_t length = size ? size : at.empty() ? 0 : at.rbegin()->first + 1;
            for (uint64_t i = 0; i < length; ++i) {
                const auto found = at.find(i);
                if (found == at.end())
                    out.element().append_from(*missing, 0);
                else
                    out.element().append_from(*columns[0], found->second);
            }
            out.end_array();
        });
}

/// Of the first array's elements those that every array has, each once.
AggregatePtr group_array_intersect(const std::string& name, Types types, Parameters) {
    expect_arguments(name, types, 1);
    if (types[0]->id() != TypeId::Array) illegal_argument(name, types[0]);
    return std::make_shared<OfAllRows>(
        name, types, types[0], [](const Values& columns, size_t rows, VectorBuilder& out) {
            if (rows == 0) return out.end_array();
            const VectorPtr arrays = flatten(columns[0]);
            const int64_t* offsets = arrays->offsets();
            const auto first = static_cast<size_t>(offsets[0]);
            const VectorPtr elements =
                flatten(slice(arrays->child(), first, static_cast<size_t>(offsets[rows]) - first));
            std::vector<size_t> row_of(elements->size());
            for (size_t row = 0; row < rows; ++row)
                std::fill(row_of.begin() + (offsets[row] - offsets[0]),
                          row_of.begin() + (offsets[row + 1] - offsets[0]), row);
            // Equal elements lie together, in the order of their rows.
            const auto order = sorted_rows(*elements);
            std::vector<size_t> everywhere;
            for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
                size_t met = 1;
                for (end = begin + 1;
                     end < order.size() && compare_values(*elements, order[begin], *elements, order[end]) == 0; ++end)
                    met += row_of[order[end]] != row_of[order[end - 1]];
                if (met == rows) everywhere.push_back(order[begin]);
            }
            std::sort(everywhere.begin(), everywhere.end());
            for (const size_t element : everywhere) out.element().append_from(*elements, element);
            out.end_array();
        });
}

AggregatePtr group_concat(const std::string& name, Types types, Parameters parameters) {
    expect_arguments(name, types, 1);
    std::string delimiter;
    if (!parameters.empty()) append_text(delimiter, *parameters[0], 0);
    const uint64_t most = count_parameter(name, parameters, 1, UINT64_MAX);
    return std::make_shared<OfAllRows>(name, types, make_type(TypeId::String),
                                       [=](const Values& columns, size_t rows, VectorBuilder& out) {
                                           std::string text;
                                           for (size_t i = 0; i < std::min<uint64_t>(rows, most); ++i) {
                                               if (i) text += delimiter;
                                               append_text(text, *columns[0], i);
                                           }
                                           out.append_string(text);
                                       });
}

AggregatePtr single_value_or_null(const std::string& name, Types types, Parameters) {
    expect_arguments(name, types, 1);
    return std::make_shared<OfAllRows>(name, types, make_nullable(types[0]),
                                       [](const Values& columns, size_t rows, VectorBuilder& out) {
                                           if (rows && different_rows(*columns[0]) == 1)
                                               out.append_from(*columns[0], 0);
                                           else
                                               out.append_default();
                                       });
}

AggregatePtr uniq_up_to(const std::string& name, Types types, Parameters parameters) {
    expect_arguments(name, types, 1);
    const uint64_t most = count_parameter(name, parameters, 0, 10);
    if (most > 100) fail(ErrorCode::BAD_ARGUMENTS, "Too large parameter for aggregate function {}. Maximum: 100", name);
    return std::make_shared<OfAllRows>(
        name, types, make_type(TypeId::UInt64), [most](const Values& columns, size_t, VectorBuilder& out) {
            out.append<uint64_t>(std::min<uint64_t>(different_rows(*columns[0]), most + 1));
        });
}

/// How many different integers: of their own type, as the cardinality of a
/// bitmap.
AggregatePtr group_bitmap(const std::string& name, Types types, Parameters) {
    expect_arguments(name, types, 1);
    const TypePtr type = types[0];
    if (!is_integer(type->id()) || integer_bits(type->id()) > 64) illegal_argument(name, type);
    return std::make_shared<OfAllRows>(name, types, type, [type](const Values& columns, size_t, VectorBuilder& out) {
        const uint64_t different = different_rows(*columns[0]);
        dispatch_fixed(type->physical(), [&]<typename T>() {
            if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) out.append<T>(static_cast<T>(different));
        });
    });
}

/// Sum of the rises from row to row, in the order given or (by_time) of the
/// second argument.
AggregatePtr delta_sum(const std::string& name, bool by_time, Types types, Parameters) {
    expect_arguments(name, types, by_time ? 2 : 1);
    const TypePtr type = types[0];
    if ((!is_integer(type->id()) || integer_bits(type->id()) > 64) && !is_float(type->id()) &&
        !(by_time && is_date_or_time(type->id())))
        illegal_argument(name, type);
    return std::make_shared<OfAllRows>(name, types, type, [=](const Values& columns, size_t rows, VectorBuilder& out) {
        std::vector<size_t> order = by_time ? sorted_rows(*columns[1]) : std::vector<size_t>(rows);
        if (!by_time)
            for (size_t i = 0; i < rows; ++i) order[i] = i;
        const VectorPtr values = flatten(columns[0]);
        dispatch_fixed(type->physical(), [&]<typename T>() {
            if constexpr (std::is_arithmetic_v<T>) {
                T total = 0;
                for (size_t i = 1; i < rows; ++i) {
                    const T before = values->values<T>()[order[i - 1]], now = values->values<T>()[order[i]];
                    if (now > before) total = add_wrapping(total, subtract_wrapping(now, before));
                }
                out.append<T>(total);
            }
        });
    });
}

using Formula = double (*)(const std::vector<double>& x, const std::vector<double>& y);

double bounding_ratio(const std::vector<double>& x, const std::vector<double>& y) {
    if (x.empty()) return std::nan("");
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    return (y[static_cast<size_t>(high - x.begin())] - y[static_cast<size_t>(low - x.begin())]) / (*high - *low);
}

/// Places from 1 on; equal values share the mean of theirs. A NaN equals nothing, so each has a place of its own.
std::vector<double> ranks(const std::vector<double>& x) {
    std::vector<size_t> order(x.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return less_nan_last(x[a], x[b]); });
    std::vector<double> out(x.size());
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        end = begin + 1;
        while (end < order.size() && x[order[end]] == x[order[begin]]) ++end;
        for (size_t i = begin; i < end; ++i) out[order[i]] = static_cast<double>(begin + 1 + end) / 2;
    }
    return out;
}

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
    const auto a = ranks(x), b = ranks(y);
    const auto n = static_cast<double>(x.size());
    double squares = 0;
    for (size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return 1 - 6 * squares / (n * (n * n - 1));
}

AggregatePtr of_two(const std::string& name, Formula formula, Types types, Parameters) {
    expect_arguments(name, types, 2);
    expect_numbers(name, types);
    return std::make_shared<OfAllRows>(name, types, make_type(TypeId::Float64),
                                       [formula](const Values& columns, size_t, VectorBuilder& out) {
                                           out.append<double>(formula(numbers(columns[0]), numbers(columns[1])));
                                       });
}

/// How often values and pairs of values occur; all NaN are one value.
struct Contingency {
    struct Less {
        using Pair = std::pair<double, double>;
        bool operator()(double x, double y) const { return less_nan_last(x, y); }
        bool operator()(const Pair& x, const Pair& y) const {
            if (less_nan_last(x.first, y.first)) return true;
            return !less_nan_last(y.first, x.first) && less_nan_last(x.second, y.second);
        }
    };
    std::map<double, double, Less> a, b;
    std::map<std::pair<double, double>, double, Less> pairs;
    double n = 0;

    Contingency(const std::vector<double>& x, const std::vector<double>& y) : n(static_cast<double>(x.size())) {
        for (size_t i = 0; i < x.size(); ++i) {
            ++a[x[i]];
            ++b[y[i]];
            ++pairs[{x[i], y[i]}];
        }
    }
    double phi_squared() const {
        double sum = 0;
        for (const auto& [pair, count] : pairs) sum += count * count / (a.at(pair.first) * b.at(pair.second));
        return sum - 1;
    }
};

double cramers_v(const std::vector<double>& x, const std::vector<double>& y) {
    const Contingency table(x, y);
    const auto least = static_cast<double>(std::min(table.a.size(), table.b.size()));
    return std::sqrt(std::max(0.0, table.phi_squared()) / (least - 1));
}
double contingency(const std::vector<double>& x, const std::vector<double>& y) {
    const double phi = std::max(0.0, Contingency(x, y).phi_squared());
    return std::sqrt(phi / (phi + 1));
}
double theils_u(const std::vector<double>& x, const std::vector<double>& y) {
    const Contingency table(x, y);
    double entropy = 0, conditional = 0;
    for (const auto& [value, count] : table.a) entropy -= count / table.n * std::log(count / table.n);
    for (const auto& [pair, count] : table.pairs)
        conditional -= count / table.n * std::log(count / table.b.at(pair.second));
    return entropy == 0 ? 0 : (entropy - conditional) / entropy;
}

}  // namespace

void register_collected(AggregateRegistry& registry) {
    const auto two = [](Formula formula) -> MakeCollected {
        return [formula](const std::string& name, Types types, Parameters parameters) {
            return of_two(name, formula, types, parameters);
        };
    };
    add_collected(registry, "groupArraySorted", false, group_array_sorted);
    for (const bool average : {false, true})
        add_collected(registry, average ? "groupArrayMovingAvg" : "groupArrayMovingSum", false,
                      [average](const std::string& name, Types types, Parameters parameters) {
                          return moving(name, average, types, parameters);
                      });
    add_collected(registry, "groupArrayInsertAt", false, group_array_insert_at);
    add_collected(registry, "groupArrayIntersect", false, group_array_intersect);
    add_collected(registry, "groupConcat", true, group_concat, {"group_concat", "string_agg"});
    add_collected(registry, "singleValueOrNull", true, single_value_or_null);
    add_collected(registry, "uniqUpTo", false, uniq_up_to);
    add_collected(registry, "groupBitmap", false, group_bitmap);
    for (const bool by_time : {false, true})
        add_collected(registry, by_time ? "deltaSumTimestamp" : "deltaSum", true,
                      [by_time](const std::string& name, Types types, Parameters parameters) {
                          return delta_sum(name, by_time, types, parameters);
                      });
    add_collected(registry, "boundingRatio", true, two(bounding_ratio));
    add_collected(registry, "rankCorr", true, two(rank_correlation));
    add_collected(registry, "cramersV", true, two(cramers_v));
    add_collected(registry, "contingency", true, two(contingency));
    add_collected(registry, "theilsU", true, two(theils_u));
}

}  // namespace firn::functions
