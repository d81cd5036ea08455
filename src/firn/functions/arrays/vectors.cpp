// Norms, distances, products and rankings of arrays of numbers.
#include "firn/functions/arrays/vectors.h"

#include <algorithm>
#include <cmath>

#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/array_rows.h"
#include "firn/functions/arrays/composed.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

/// The arrays' elements as doubles, a row at a time.
class NumberRows {
public:
    explicit NumberRows(const KernelArguments& call, size_t count) {
        for (size_t n = 0; n < count; ++n) {
            arrays_.push_back(flatten(call[n]));
            values_.push_back(as_float64(flatten(arrays_.back()->child())));
        }
    }
    std::span<const double> row(size_t array, size_t i) const {
        const Range range = range_at(*arrays_[array], i);
        return {values_[array]->values<double>() + range.begin, range.size()};
    }

private:
    std::vector<VectorPtr> arrays_, values_;
};

void require_numbers(ArgumentList arguments, size_t i, const char* name) {
    const TypePtr& element = element_type(arguments, i, name);
    if (!is_number(element->id()) || element->id() == TypeId::Decimal) fail_argument(name, *arguments[i].type, i);
}

bool all_float32(ArgumentList arguments, size_t count) {
    return std::all_of(arguments.begin(), arguments.begin() + static_cast<long>(count),
                       [](const Argument& a) { return a.type->child()->id() == TypeId::Float32; });
}

VectorPtr as_result(std::vector<double> values, const TypePtr& type) {
    const VectorPtr doubles = make_vector<double>(make_type(TypeId::Float64), values);
    return type->id() == TypeId::Float64 ? doubles : flatten(cast_vector(doubles, type));
}

double norm_of(std::span<const double> values, VectorNorm which, double power) {
    double sum = 0;
    for (const double value : values) {
        switch (which) {
            case VectorNorm::L1:
                sum += std::fabs(value);
                break;
            case VectorNorm::L2:
            case VectorNorm::L2Squared:
                sum += value * value;
                break;
            case VectorNorm::Linf:
                sum = std::max(sum, std::fabs(value));
                break;
            case VectorNorm::Lp:
                sum += std::pow(std::fabs(value), power);
        }
    }
    return which == VectorNorm::L2 ? std::sqrt(sum) : which == VectorNorm::Lp ? std::pow(sum, 1 / power) : sum;
}

/// f(row a[, row b]) -> double
template <typename F>
Overload over_rows(ArgumentList arguments, size_t count, const char* name, F f) {
    for (size_t i = 0; i < count; ++i) require_numbers(arguments, i, name);
    const TypePtr type = make_type(all_float32(arguments, count) ? TypeId::Float32 : TypeId::Float64);
    return {type, [=](const KernelArguments& call) {
                const NumberRows rows(call, count);
                std::vector<double> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const auto a = rows.row(0, i), b = rows.row(count - 1, i);
                    if (a.size() != b.size())
                        fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH, "The arrays of function {} must have equal sizes",
                             name);
                    out[i] = f(a, b);
                }
                return as_result(std::move(out), type);
            }};
}

double power_of(ArgumentList arguments, size_t position, const char* name) {
    const auto power = constant_float(arguments[position]);
    if (!power) fail(ErrorCode::ILLEGAL_COLUMN, "The power given to function {} has to be a constant number", name);
    if (!(*power >= 1)) fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The power of function {} has to be 1 or more", name);
    return *power;
}

void add_norms(FunctionRegistry& registry, const char* prefix, VectorNorm which) {
    const bool powered = which == VectorNorm::Lp;
    const std::string names[] = {std::string(prefix) + "Norm", std::string(prefix) + "Distance",
                                 std::string(prefix) + "Normalize"};
    const auto add = [&](const std::string& name, std::string alias, size_t arguments, auto resolve) {
        Definition definition;
        definition.name = name;
        definition.aliases = {std::move(alias)};
        definition.min_arguments = definition.max_arguments = arguments + powered;
        definition.resolve = [=](ArgumentList given, const FunctionContext& context) {
            const double power = powered ? power_of(given, arguments, name.c_str()) : 2;
            return resolve(given.first(arguments), power, name, context);
        };
        registry.add(std::move(definition));
    };
    add(names[0], "norm" + std::string(prefix), 1,
        [=](ArgumentList arguments, double power, const std::string& name, const FunctionContext& context) {
            if (is_tuple_call(arguments)) return tuple_norm(arguments, which, power, context);
            return over_rows(arguments, 1, name.c_str(), [=](std::span<const double> a, std::span<const double>) {
                return norm_of(a, which, power);
            });
        });
    add(names[1], "distance" + std::string(prefix), 2,
        [=](ArgumentList arguments, double power, const std::string& name, const FunctionContext& context) {
            if (is_tuple_call(arguments)) return tuple_distance(arguments, which, power, name.c_str(), context);
            return over_rows(arguments, 2, names[1].c_str(), [=](std::span<const double> a, std::span<const double> b) {
                std::vector<double> difference(a.size());
                for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
                return norm_of(difference, which, power);
            });
        });
    if (which == VectorNorm::L2Squared) return;
    add(names[2], "normalize" + std::string(prefix), 1,
        [=](ArgumentList arguments, double power, const std::string& name, const FunctionContext& context) {
            if (is_tuple_call(arguments)) return tuple_normalize(arguments, which, power, context);
            require_numbers(arguments, 0, name.c_str());
            const TypePtr element = make_type(all_float32(arguments, 1) ? TypeId::Float32 : TypeId::Float64);
            const TypePtr type = make_array(element);
            return Overload{type, [=](const KernelArguments& call) {
                                const NumberRows rows(call, 1);
                                std::vector<double> out;
                                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                                offsets->mutable_as<int64_t>()[0] = 0;
                                for (size_t i = 0; i < call.rows; ++i) {
                                    const double length = norm_of(rows.row(0, i), which, power);
                                    for (const double value : rows.row(0, i)) out.push_back(value / length);
                                    offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(out.size());
                                }
                                return Vector::array(type, call.rows, std::move(offsets), as_result(out, element));
                            }};
        });
}

/// Sums of products, in the products' type.
Overload resolve_dot_product(ArgumentList arguments, const FunctionContext& context, const char* name) {
    if (is_tuple_call(arguments)) return tuple_dot_product(arguments, name, context);
    for (size_t i = 0; i < 2; ++i) require_numbers(arguments, i, name);
    const auto multiply = bind_types("multiply", {arguments[0].type->child(), arguments[1].type->child()}, context);
    const bool single = all_float32(arguments, 2);
    const TypePtr type = single ? make_type(TypeId::Float32) : multiply->result_type();
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const VectorPtr a = flatten(call[0]), b = flatten(call[1]);
                std::vector<uint32_t> left, right;
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range x = range_at(*a, i), y = range_at(*b, i);
                    if (x.size() != y.size())
                        fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH, "The arrays of function {} must have equal sizes",
                             name);
                    for (uint32_t j = 0; j < x.size(); ++j) {
                        left.push_back(x.begin + j);
                        right.push_back(y.begin + j);
                    }
                }
                const VectorPtr products =
                    left.empty()
                        ? nullptr
                        : call_bound(multiply, {flatten(gather(a->child(), left)), flatten(gather(b->child(), right))},
                                     left.size());
                VectorPtr out;
                dispatch_fixed(multiply->result_type()->physical(), [&]<typename T>() {
                    Output<T> sums(call.rows);
                    size_t at = 0;
                    for (size_t i = 0; i < call.rows; ++i) {
                        T sum{};
                        for (uint32_t left_over = range_at(*a, i).size(); left_over > 0; --left_over)
                            sum = static_cast<T>(sum + products->values<T>()[at++]);
                        sums[i] = sum;
                    }
                    out = sums.finish(multiply->result_type());
                });
                return single ? flatten(cast_vector(out, type)) : out;
            }};
}

double cosine_distance(std::span<const double> a, std::span<const double> b) {
    double product = 0;
    for (size_t i = 0; i < a.size(); ++i) product += a[i] * b[i];
    return 1 - product / (norm_of(a, VectorNorm::L2, 2) * norm_of(b, VectorNorm::L2, 2));
}

/// Indices in descending order of the values, those of NaN last.
std::vector<size_t> descending(std::span<const double> values) {
    std::vector<size_t> order(values.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return less_nan_last(-values[a], -values[b]); });
    return order;
}

/// Called behind each group of equal scores with how many positives and negatives there were so far and in the group.
template <typename F>
void over_ties(std::span<const double> scores, std::span<const double> labels, F f) {
    double positives = 0, negatives = 0;
    const auto order = descending(scores);
    for (size_t i = 0; i < order.size();) {
        double more_positives = 0, more_negatives = 0;
        const double score = scores[order[i]];
        do  // a NaN does not even equal itself
            (labels[order[i++]] > 0 ? more_positives : more_negatives) += 1;
        while (i < order.size() && scores[order[i]] == score);
        f(positives, negatives, more_positives, more_negatives);
        positives += more_positives;
        negatives += more_negatives;
    }
}

double roc_area(std::span<const double> scores, std::span<const double> labels, bool scale) {
    double area = 0, positives = 0, negatives = 0;
    over_ties(scores, labels, [&](double before, double, double more_positives, double more_negatives) {
        area += more_negatives * (before + more_positives / 2);
        positives += more_positives;
        negatives += more_negatives;
    });
    if (!scale) return area;
    return positives == 0 || negatives == 0 ? std::nan("") : area / (positives * negatives);
}

double precision_recall_area(std::span<const double> scores, std::span<const double> labels) {
    double area = 0, positives = 0;
    over_ties(scores, labels, [&](double before, double false_ones, double more_positives, double more_negatives) {
        const double found = before + more_positives;
        area += more_positives * found / (found + false_ones + more_negatives);
        positives += more_positives;
    });
    return positives == 0 ? std::nan("") : area / positives;
}

Overload resolve_area(ArgumentList arguments, const char* name, bool precision) {
    bool scale = true;
    if (arguments.size() > 2) scale = require_int(arguments[2], name, 2) != 0;
    for (size_t i = 0; i < 2; ++i) require_numbers(arguments, i, name);
    const TypePtr type = make_type(TypeId::Float64);
    return {type, [=](const KernelArguments& call) {
                const NumberRows rows(call, 2);
                std::vector<double> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const auto scores = rows.row(0, i), labels = rows.row(1, i);
                    if (scores.size() != labels.size())
                        fail(ErrorCode::BAD_ARGUMENTS,
                             "The first two arguments of function {} must be arrays of equal sizes", name);
                    if (std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); }))
                        out[i] = std::nan("");
                    else
                        out[i] = precision ? precision_recall_area(scores, labels) : roc_area(scores, labels, scale);
                }
                return as_result(std::move(out), type);
            }};
}

/// How far the labels, in descending order of what orders them, run ahead of an even spread.
double gini(std::span<const double> labels, const std::vector<size_t>& order) {
    double total = 0, sum = 0, area = 0;
    for (const double label : labels) total += label;
    const auto n = static_cast<double>(labels.size());
    for (size_t i = 0; i < order.size(); ++i) {
        sum += labels[order[i]];
        area += sum / total - static_cast<double>(i + 1) / n;
    }
    return area / n;
}

Overload resolve_gini(ArgumentList arguments, const FunctionContext&) {
    for (size_t i = 0; i < 2; ++i) require_numbers(arguments, i, "arrayNormalizedGini");
    const TypePtr number = make_type(TypeId::Float64), type = make_tuple_type({number, number, number});
    return {type, [=](const KernelArguments& call) {
                const NumberRows rows(call, 2);
                VectorBuilder out(type);
                for (size_t i = 0; i < call.rows; ++i) {
                    const auto predicted = rows.row(0, i), labels = rows.row(1, i);
                    if (predicted.size() != labels.size())
                        fail(ErrorCode::ILLEGAL_COLUMN,
                             "The arrays of function arrayNormalizedGini must have equal sizes");
                    const double own = gini(labels, descending(predicted)), best = gini(labels, descending(labels));
                    out.element(0).append(own);
                    out.element(1).append(best);
                    out.element(2).append(own / best);
                    out.end_tuple();
                }
                return out.finish();
            }};
}

}  // namespace

void register_vector_functions(FunctionRegistry& registry) {
    add_norms(registry, "L1", VectorNorm::L1);
    add_norms(registry, "L2", VectorNorm::L2);
    add_norms(registry, "L2Squared", VectorNorm::L2Squared);
    add_norms(registry, "Linf", VectorNorm::Linf);
    add_norms(registry, "Lp", VectorNorm::Lp);
    for (const char* name : {"dotProduct", "arrayDotProduct", "scalarProduct"})
        declare(registry, {name}, 2, 2, [=](ArgumentList arguments, const FunctionContext& context) {
            return resolve_dot_product(arguments, context, name);
        });
    declare(registry, {"cosineDistance", {"distanceCosine"}}, 2, 2,
            [](ArgumentList arguments, const FunctionContext& context) {
                if (is_tuple_call(arguments)) return tuple_cosine_distance(arguments, context);
                return over_rows(arguments, 2, "cosineDistance", cosine_distance);
            });
    declare(registry, {"arrayROCAUC", {"arrayAUC"}}, 2, 3, [](ArgumentList arguments, const FunctionContext&) {
        return resolve_area(arguments, "arrayROCAUC", false);
    });
    declare(registry, {"arrayAUCPR", {"arrayPRAUC"}}, 2, 2,
            [](ArgumentList arguments, const FunctionContext&) { return resolve_area(arguments, "arrayAUCPR", true); });
    declare(registry, {"arrayNormalizedGini"}, 2, 2, resolve_gini);
}

}  // namespace firn::functions
