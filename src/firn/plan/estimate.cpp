// Guesses of row counts: from sources' counts and bounds, and rules of thumb where nothing is known.
#include <algorithm>
#include <cmath>

#include "firn/plan/rewrite.h"
#include "firn/vector/row_ops.h"

namespace firn::plan::rewrite {

namespace {

constexpr double kUnknownRows = 100000;
/// A range of whole numbers is taken to occur in full where there are so many rows for each.
constexpr double kRowsADenseValue = 2;

std::optional<double> as_number(const Vector& vector) {
    const Vector& flat = vector.flat_base();
    const size_t row = vector.base_row(0);
    if (flat.is_null(row)) return std::nullopt;
    const TypePtr type = unwrap(flat.type());
    std::optional<double> number;
    dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
        if constexpr (std::is_arithmetic_v<T>)
            number = static_cast<double>(flat.values<T>()[row]);
        else if constexpr (std::is_same_v<T, Int128>)
            number = static_cast<double>(flat.values<T>()[row]);
    });
    if (number && (type->id() == TypeId::Decimal || type->id() == TypeId::DateTime64))
        *number /= std::pow(10.0, type->scale());
    return number;
}

/// The scan and the number of its source's column that a column of `node` is, if it is one unchanged.
struct Origin {
    const ScanNode* scan = nullptr;
    size_t source_column = 0;
};

Origin origin_of(const Node& node, size_t column) {
    switch (node.kind) {
        case NodeKind::Scan: {
            const auto& scan = static_cast<const ScanNode&>(node);
            return {&scan, scan.request.columns[column]};
        }
        case NodeKind::Filter:
        case NodeKind::Sort:
        case NodeKind::Limit:
        case NodeKind::LimitBy:
        case NodeKind::Distinct:
            return origin_of(*node.children[0], column);
        case NodeKind::Project: {
            const Expression& expression = *static_cast<const ProjectNode&>(node).expressions[column];
            if (expression.kind == Expression::Kind::Column) return origin_of(*node.children[0], expression.index);
            if (is_call(expression, "CAST") && expression.arguments[0]->kind == Expression::Kind::Column)
                return origin_of(*node.children[0], expression.arguments[0]->index);
            return {};
        }
        case NodeKind::Aggregate: {
            const auto& keys = static_cast<const AggregateNode&>(node).keys;
            if (column < keys.size() && keys[column]->kind == Expression::Kind::Column)
                return origin_of(*node.children[0], keys[column]->index);
            return {};
        }
        case NodeKind::ArrayJoin:
        case NodeKind::Window:
            if (column < node.children[0]->output.size()) return origin_of(*node.children[0], column);
            return {};
        case NodeKind::Join: {
            const auto& join = static_cast<const JoinNode&>(node);
            if (join.join == JoinKind::RightSemi || join.join == JoinKind::RightAnti)
                return origin_of(*node.children[1], column);
            const size_t width = node.children[0]->output.size();
            if (column < width) return origin_of(*node.children[0], column);
            if (join.join == JoinKind::LeftSemi || join.join == JoinKind::LeftAnti || join.join == JoinKind::Mark)
                return {};
            return origin_of(*node.children[1], column - width);
        }
        case NodeKind::Cte:
            return origin_of(*static_cast<const CteNode&>(node).shared->plan, column);
        default:
            return {};
    }
}

double source_rows(const Source& source) {
    const auto rows = source.row_count_estimate();
    return rows ? static_cast<double>(*rows) : kUnknownRows;
}

/// Nothing where the source knows nothing of the column.
std::optional<double> source_distinct(const Origin& origin) {
    const double rows = std::max(1.0, source_rows(*origin.scan->source));
    const ColumnEstimate estimate = origin.scan->source->column_estimate(origin.source_column);
    if (estimate.distinct) return std::max(1.0, std::min(*estimate.distinct, rows));
    const TypePtr type = unwrap(origin.scan->source->columns()[origin.source_column].type);
    if (type->id() == TypeId::Bool) return 2;
    if (type->id() == TypeId::UInt8 || type->id() == TypeId::Int8) return std::min(rows, 256.0);
    if (estimate.min && estimate.max &&
        (is_integer(type->id()) || type->id() == TypeId::Date || type->id() == TypeId::Date32)) {
        // Only where rows fill the range: of a wide one nobody knows how much of it occurs.
        const auto low = as_number(*estimate.min), high = as_number(*estimate.max);
        if (low && high && *high >= *low && (*high - *low + 1) * kRowsADenseValue <= rows) return *high - *low + 1;
    }
    return std::nullopt;
}

double guessed_distinct(const Origin& origin) {
    const double rows = std::max(1.0, source_rows(*origin.scan->source));
    const TypePtr type = unwrap(origin.scan->source->columns()[origin.source_column].type);
    if (is_string_like(type->id())) return std::min(rows, 20 + std::sqrt(rows) * 10);
    return std::max(1.0, rows / 10);
}

/// Share of rows in which an expression has one given value. Without statistics few distinct values are the safer
/// guess: a condition taken for too selective makes bad joins.
double equality_share(const Expression& expression, const Node& input) {
    constexpr double kTextShare = 0.05, kNumberShare = 0.02;
    if (const auto known = known_distinct(expression, input)) return 1 / *known;
    if (expression.kind == Expression::Kind::Column) {
        const Origin origin = origin_of(input, expression.index);
        const double rows = origin.scan ? source_rows(*origin.scan->source) : kUnknownRows;
        return std::max(is_string_like(unwrap(expression.type)->id()) ? kTextShare : kNumberShare,
                        1 / std::max(1.0, rows));
    }
    return 1 / std::max(1.0, distinct_values(expression, input));
}

double comparison_selectivity(const std::string& name, const Expression& column, const Expression& value,
                              const Node& input) {
    if (name == "equals") return equality_share(column, input);
    if (name == "notEquals") return 0.95;
    const Origin origin = column.kind == Expression::Kind::Column ? origin_of(input, column.index) : Origin{};
    if (origin.scan && value.kind == Expression::Kind::Constant) {
        const ColumnEstimate estimate = origin.scan->source->column_estimate(origin.source_column);
        if (estimate.min && estimate.max && same_type(unwrap(estimate.min->type()), unwrap(column.type))) {
            VectorPtr same;
            try {
                same = flatten(functions::cast_vector(value.constant, unwrap(column.type)));
            } catch (const Error&) {
                return 0.3;
            }
            const auto low = as_number(*estimate.min), high = as_number(*estimate.max), at = as_number(*same);
            if (low && high && at) {
                const double span = std::max(*high - *low, 1e-9);
                const double below = std::clamp((*at - *low) / span, 0.0, 1.0);
                return std::clamp(name == "less" || name == "lessOrEquals" ? below : 1 - below, 0.001, 1.0);
            }
        }
    }
    return 0.3;
}

double list_size(const Expression& set) {
    if (set.kind != Expression::Kind::Constant) return 5;
    const Vector& flat = *set.constant;
    if (flat.type()->physical() == Physical::Array) return static_cast<double>(flat.offsets()[1] - flat.offsets()[0]);
    if (flat.type()->physical() == Physical::Tuple) return static_cast<double>(flat.children().size());
    return 1;
}

}  // namespace

std::optional<double> known_distinct(const Expression& expression, const Node& node) {
    if (expression.kind == Expression::Kind::Constant) return 1;
    if (expression.kind == Expression::Kind::Column) {
        const Origin origin = origin_of(node, expression.index);
        return origin.scan ? source_distinct(origin) : std::nullopt;
    }
    if (expression.kind == Expression::Kind::Call && expression.function->name() == "CAST" &&
        !expression.arguments.empty())
        return known_distinct(*expression.arguments[0], node);
    return std::nullopt;
}

double equality_join_share(const Expression& a, const Node& left, double left_rows, const Expression& b,
                           const Node& right, double right_rows) {
    const auto known_a = known_distinct(a, left), known_b = known_distinct(b, right);
    if (known_a && known_b) return 1 / std::max({1.0, *known_a, *known_b});
    if (known_a || known_b) return 1 / std::max(1.0, known_a ? *known_a : *known_b);
    return 1 / std::max(1.0, std::min(left_rows, right_rows));  // the smaller side's column is taken for its key
}

double distinct_values(const Expression& expression, const Node& node) {
    if (expression.kind == Expression::Kind::Constant) return 1;
    if (expression.kind == Expression::Kind::Column) {
        const Origin origin = origin_of(node, expression.index);
        if (origin.scan) return source_distinct(origin).value_or(guessed_distinct(origin));
        return std::max(1.0, node.estimated_rows.value_or(kUnknownRows));
    }
    if (expression.kind == Expression::Kind::Call) {
        const std::string& name = expression.function->name();
        if (name == "toYear") return 10;
        if (name == "CAST" && !expression.arguments.empty()) return distinct_values(*expression.arguments[0], node);
    }
    const TypePtr type = unwrap(expression.type);
    if (type->id() == TypeId::UInt8 || type->id() == TypeId::Bool) return 10;
    double product = 1;
    for_each_column(expression, [&](const Expression& column) { product *= distinct_values(column, node); });
    return std::max(1.0, std::min(product, node.estimated_rows.value_or(kUnknownRows)));
}

double selectivity(const Expression& condition, const Node& input) {
    if (condition.kind == Expression::Kind::Constant) return is_true(condition) ? 1 : 0;
    if (condition.kind != Expression::Kind::Call) return 0.5;
    const std::string& name = condition.function->name();
    const auto& arguments = condition.arguments;
    if (name == "and") {
        double product = 1;
        for (const ExpressionPtr& argument : arguments) product *= selectivity(*argument, input);
        return product;
    }
    if (name == "or") {
        double none = 1;
        for (const ExpressionPtr& argument : arguments) none *= 1 - selectivity(*argument, input);
        return 1 - none;
    }
    if (name == "not") return 1 - selectivity(*arguments[0], input);
    if (name == "equals" || name == "notEquals" || name == "less" || name == "lessOrEquals" || name == "greater" ||
        name == "greaterOrEquals") {
        if (arguments[1]->kind == Expression::Kind::Constant)
            return comparison_selectivity(name, *arguments[0], *arguments[1], input);
        if (arguments[0]->kind == Expression::Kind::Constant) {
            const std::string flipped = name == "less"              ? "greater"
                                        : name == "lessOrEquals"    ? "greaterOrEquals"
                                        : name == "greater"         ? "less"
                                        : name == "greaterOrEquals" ? "lessOrEquals"
                                                                    : name;
            return comparison_selectivity(flipped, *arguments[1], *arguments[0], input);
        }
        if (name == "equals")
            return 1 / std::max({1.0, distinct_values(*arguments[0], input), distinct_values(*arguments[1], input)});
        return name == "notEquals" ? 0.9 : 0.4;
    }
    if (name == "in" && arguments.size() == 2)
        return std::min(0.9, list_size(*arguments[1]) * equality_share(*arguments[0], input));
    if (name == "notIn") return 0.9;
    if (name == "like" || name == "ilike" || name == "match" || name == "startsWith") return 0.08;
    if (name == "notLike" || name == "notILike") return 0.92;
    if (name == "isNull") return 0.05;
    if (name == "isNotNull") return 0.95;
    return 0.3;
}

double condition_cost(const Expression& condition) {
    double cost = 0;
    for (const ExpressionPtr& argument : condition.arguments) cost += condition_cost(*argument);
    if (condition.kind == Expression::Kind::Column) {
        const Physical physical = condition.type->physical();
        return physical == Physical::Str ? 3 : physical == Physical::Array || physical == Physical::Tuple ? 6 : 1;
    }
    if (condition.kind == Expression::Kind::Lambda) return cost * 10;
    if (condition.kind != Expression::Kind::Call) return cost;
    const std::string& name = condition.function->name();
    if (name == "like" || name == "ilike" || name == "notLike" || name == "notILike") return cost + 10;
    if (name == "match") return cost + 30;
    return cost + 1;
}

namespace {

double join_rows(JoinNode& join, double left, double right) {
    double selected = 1;
    double product = 1;
    for (size_t i = 0; i < join.left_keys.size(); ++i)
        product *= equality_join_share(*join.left_keys[i], *join.children[0], left, *join.right_keys[i],
                                       *join.children[1], right);
    if (!join.left_keys.empty()) selected = std::max(product, 1 / std::max({1.0, left, right}));
    for (size_t i = 0; i < join.residual.size(); ++i) selected *= 0.4;
    double inner = left * right * selected;
    if (join.strictness != JoinStrictness::All) inner = std::min(inner, left);
    switch (join.join) {
        case JoinKind::Inner:
        case JoinKind::Cross:
            return inner;
        case JoinKind::Left:
            return std::max(left, inner);
        case JoinKind::Right:
            return std::max(right, inner);
        case JoinKind::Full:
            return std::max({left, right, inner});
        case JoinKind::Mark:
            return left;
        case JoinKind::LeftSemi:
        case JoinKind::LeftAnti:
        case JoinKind::RightSemi:
        case JoinKind::RightAnti: {
            const bool right_side = join.join == JoinKind::RightSemi || join.join == JoinKind::RightAnti;
            const double kept = right_side ? right : left, other = right_side ? left : right;
            double share = 0.5;
            if (!join.left_keys.empty()) {
                const auto keys = right_side ? known_distinct(*join.right_keys[0], *join.children[1])
                                             : known_distinct(*join.left_keys[0], *join.children[0]);
                share = std::min(1.0, other / std::max(1.0, keys.value_or(kept)));
            }
            for (size_t i = 0; i < join.residual.size(); ++i) share *= 0.7;
            const bool anti = join.join == JoinKind::LeftAnti || join.join == JoinKind::RightAnti;
            return kept * (anti ? std::max(0.05, 1 - share) : share);
        }
    }
    return inner;
}

}  // namespace

double estimate_rows(Node& node) {
    if (node.estimated_rows) return *node.estimated_rows;
    std::vector<double> inputs;
    for (const NodePtr& child : node.children) inputs.push_back(estimate_rows(*child));
    const double input = inputs.empty() ? 0 : inputs[0];
    double rows = input;
    switch (node.kind) {
        case NodeKind::Scan: {
            auto& scan = static_cast<ScanNode&>(node);
            const double all = source_rows(*scan.source);
            rows = all;
            for (const ExpressionPtr& filter : scan.request.filters) rows *= selectivity(*filter, node);
            if (all > 0) rows = std::max(rows, 1.0);
            break;
        }
        case NodeKind::Values: {
            rows = 0;
            for (const Batch& batch : static_cast<const ValuesNode&>(node).batches)
                rows += static_cast<double>(batch.rows);
            break;
        }
        case NodeKind::Filter:
            for (const ExpressionPtr& conjunct : static_cast<const FilterNode&>(node).conjuncts)
                rows *= selectivity(*conjunct, *node.children[0]);
            rows = std::max(rows, std::min(input, 1.0));
            break;
        case NodeKind::Aggregate: {
            auto& aggregate = static_cast<AggregateNode&>(node);
            if (aggregate.keys.empty()) {
                rows = 1;
                break;
            }
            double groups = 1;
            bool known = true;
            for (const ExpressionPtr& key : aggregate.keys) {
                groups *= distinct_values(*key, *node.children[0]);
                known = known && known_distinct(*key, *node.children[0]).has_value();
            }
            rows = std::max(1.0, std::min(groups, input));
            aggregate.expected_groups = known ? static_cast<uint64_t>(std::min(rows, 1e12)) : 0;
            break;
        }
        case NodeKind::Join: {
            auto& join = static_cast<JoinNode&>(node);
            rows = join_rows(join, inputs[0], inputs[1]);
            join.expected_build_rows = static_cast<uint64_t>(std::min(inputs[1], 1e12));
            break;
        }
        case NodeKind::Sort:
            if (static_cast<const SortNode&>(node).limit)
                rows = std::min(rows, static_cast<double>(*static_cast<const SortNode&>(node).limit));
            break;
        case NodeKind::Limit:
            if (static_cast<const LimitNode&>(node).limit)
                rows = std::min(rows, static_cast<double>(*static_cast<const LimitNode&>(node).limit));
            break;
        case NodeKind::Distinct:
            rows = std::max(1.0, input * 0.5);
            break;
        case NodeKind::LimitBy:
            rows = std::max(1.0, input * 0.5);
            break;
        case NodeKind::Union:
            rows = 0;
            for (const double each : inputs) rows += each;
            break;
        case NodeKind::ArrayJoin:
            rows = input * 3;
            break;
        case NodeKind::Cte:
            rows = estimate_rows(*static_cast<CteNode&>(node).shared->plan);
            break;
        default:
            break;
    }
    node.estimated_rows = rows;
    return rows;
}

bool may_fail(const Expression& expression) {
    if (expression.kind == Expression::Kind::Call) {
        const std::string& name = expression.function->name();
        static constexpr std::string_view kExact[] = {"intDiv", "modulo", "positiveModulo", "throwIf", "moduloLegacy",
                                                      "gcd",    "lcm",    "range"};
        if (std::find(std::begin(kExact), std::end(kExact), name) != std::end(kExact)) return true;
        const bool converts =
            name == "CAST" || name.starts_with("to") || name.starts_with("parse") || name.starts_with("accurateCast");
        if (converts && !expression.arguments.empty() && is_string_like(unwrap(expression.arguments[0]->type)->id()))
            return true;
    }
    return std::any_of(expression.arguments.begin(), expression.arguments.end(),
                       [](const ExpressionPtr& a) { return may_fail(*a); });
}

bool is_true(const Expression& expression) {
    return expression.kind == Expression::Kind::Constant && !selected_rows(expression.constant).empty();
}

namespace {

bool is_always_null(const Expression& expression) {
    if (expression.kind == Expression::Kind::Constant) return expression.constant->is_null(0);
    if (expression.kind != Expression::Kind::Call) return false;
    const bool propagates = expression.function->definition().nulls == functions::NullHandling::Propagate;
    if (!propagates && expression.function->name() != "CAST") return false;
    return std::any_of(expression.arguments.begin(), expression.arguments.end(),
                       [](const ExpressionPtr& a) { return is_always_null(*a); });
}

}  // namespace

bool is_never_true(const Expression& expression) {
    if (is_always_null(expression)) return true;
    if (expression.kind == Expression::Kind::Constant) {
        const TypeId id = unwrap(expression.type)->id();
        return (is_number(id) || id == TypeId::Nothing) && selected_rows(expression.constant).empty();
    }
    if (accepts_null(*expression.type) && unwrap(expression.type)->id() == TypeId::Nothing) return true;
    if (is_call(expression, "and"))
        return std::any_of(expression.arguments.begin(), expression.arguments.end(),
                           [](const ExpressionPtr& a) { return is_never_true(*a); });
    if (is_call(expression, "or"))
        return std::all_of(expression.arguments.begin(), expression.arguments.end(),
                           [](const ExpressionPtr& a) { return is_never_true(*a); });
    return false;
}

}  // namespace firn::plan::rewrite
