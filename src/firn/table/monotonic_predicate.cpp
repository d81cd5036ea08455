// Ranges of a column from comparisons of a monotonic function of it, found by bisection: the function is asked, not
// inverted, so that every monotonic function serves.
#include <limits>
#include <optional>
#include <vector>

#include "firn/base/error.h"
#include "firn/functions/function.h"
#include "firn/table/iceberg_types.h"
#include "firn/table/monotonic_range.h"

namespace firn::table {
namespace {

using iceberg::Datum;
using iceberg::Literal;
using iceberg::Predicate;
using iceberg::PredicateOp;
using iceberg::PredicatePtr;
using iceberg::TypeKind;
using plan::Expression;

/// Where functions are asked; nothing is claimed of values outside.
struct Window {
    int64_t least;
    int64_t greatest;
};

constexpr int64_t kLeastInt = std::numeric_limits<int32_t>::min();
constexpr int64_t kGreatestInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kDay1900 = -25567;
constexpr int64_t kDay2300 = 120529;
constexpr int64_t kDay2105 = 49308;
constexpr int64_t kSecondsPerDay = 86400;
constexpr size_t kSamples = 65;

/// Wide ones first: a function that wraps around in the first may be monotonic in the next.
std::vector<Window> windows_of(TypeKind kind) {
    const auto days = [](int64_t unit) {
        return std::vector<Window>{{kDay1900 * unit, kDay2300 * unit}, {unit, kDay2105 * unit}};
    };
    constexpr int64_t kMicros = kSecondsPerDay * 1'000'000;
    switch (kind) {
        case TypeKind::Int:
            return {{kLeastInt, kGreatestInt}, {kLeastInt + 1, kGreatestInt}};
        case TypeKind::Long:
            return {{-(int64_t{1} << 62), int64_t{1} << 62}};
        case TypeKind::Date:
            return days(1);
        case TypeKind::Timestamp:
        case TypeKind::TimestampTz:
            return days(kMicros);
        case TypeKind::TimestampNs:
        case TypeKind::TimestampTzNs:
            // The int64 of nanoseconds ends in 2262.
            return {{kDay1900 * kMicros * 1000, std::numeric_limits<int64_t>::max() - 1},
                    {kMicros * 1000, kDay2105 * kMicros * 1000}};
        default:
            return {};
    }
}

VectorPtr evaluate(const Expression& expression, const VectorPtr& column);

/// 1 increasing, -1 decreasing, 0 neither: of the whole chain of calls over the two values of `ends`, low and high.
int direction_of(const Expression& expression, const VectorPtr& ends) {
    if (expression.kind == Expression::Kind::Column) return 1;
    for (size_t i = 0; i < expression.arguments.size(); ++i) {
        if (expression.arguments[i]->kind == Expression::Kind::Constant) continue;
        const int inner = direction_of(*expression.arguments[i], ends);
        if (inner == 0) return 0;
        const VectorPtr values = flatten(evaluate(*expression.arguments[i], ends));
        const VectorPtr low = slice(values, inner > 0 ? 0 : 1, 1), high = slice(values, inner > 0 ? 1 : 0, 1);
        switch (expression.function->monotonic_between(i, *low, *high)) {
            case functions::Monotonic::Increasing:
                return inner;
            case functions::Monotonic::Decreasing:
                return -inner;
            case functions::Monotonic::No:
                return 0;
        }
    }
    return 0;
}

VectorPtr evaluate(const Expression& expression, const VectorPtr& column) {
    switch (expression.kind) {
        case Expression::Kind::Column:
            return column;
        case Expression::Kind::Constant:
            return Vector::constant(expression.constant, column->size());
        default: {
            std::vector<VectorPtr> arguments;
            for (const auto& argument : expression.arguments) arguments.push_back(evaluate(*argument, column));
            return expression.function->execute(arguments, column->size());
        }
    }
}

const Expression& column_in(const Expression& expression) {
    if (expression.kind == Expression::Kind::Column) return expression;
    for (const auto& argument : expression.arguments)
        if (argument->kind != Expression::Kind::Constant) return column_in(*argument);
    fail(ErrorCode::LOGICAL_ERROR, "An expression without a column has no range");
}

/// call(x) compared with the constant, for values x of the column.
class Question {
public:
    Question(const Expression& call, const iceberg::NestedField& field, const Vector& value)
        : call_(call), field_(field), column_type_(column_in(call).type) {
        VectorPtr constant = value.with_type(value.type());
        const std::vector<functions::Argument> arguments{{call.type, nullptr}, {constant->type(), flatten(constant)}};
        const auto& registry = functions::FunctionRegistry::instance();
        reaches_ = registry.bind("greaterOrEquals", arguments, {});
        exceeds_ = registry.bind("greater", arguments, {});
        constant_ = flatten(constant);
    }

    std::vector<bool> ask(bool strictly, const std::vector<int64_t>& values) const {
        VectorBuilder builder(column_type_);
        for (const int64_t value : values) append_datum(builder, Datum::integral(field_.type->kind, value));
        const VectorPtr results = evaluate(call_, builder.finish());
        const std::vector<VectorPtr> arguments{results, Vector::constant(constant_, results->size())};
        const Selection yes = selected_rows((strictly ? exceeds_ : reaches_)->execute(arguments, results->size()));
        std::vector<bool> out(values.size(), false);
        for (const uint32_t row : yes) out[row] = true;
        return out;
    }

private:
    const Expression& call_;
    const iceberg::NestedField& field_;
    TypePtr column_type_;
    VectorPtr constant_;
    std::shared_ptr<const functions::BoundFunction> reaches_, exceeds_;
};

/// The least x of the window for which the answer is `wanted` and stays so to the end; greatest + 1 where there is none.
/// Nothing where the answers, at samples, are not of one change.
std::optional<__int128> first(const Question& question, bool strictly, bool wanted, const Window& window) {
    std::vector<int64_t> samples;
    const auto span = static_cast<__int128>(window.greatest) - window.least;
    for (size_t i = 0; i < kSamples; ++i)
        samples.push_back(static_cast<int64_t>(window.least + span * static_cast<__int128>(i) / (kSamples - 1)));
    const auto answers = question.ask(strictly, samples);
    size_t change = 0;
    while (change < kSamples && answers[change] != wanted) ++change;
    for (size_t i = change; i < kSamples; ++i)
        if (answers[i] != wanted) return std::nullopt;
    if (change == 0) return window.least;
    if (change == kSamples) return static_cast<__int128>(window.greatest) + 1;
    int64_t no = samples[change - 1], yes = samples[change];
    while (yes - no > 1) {
        const int64_t middle = no + (yes - no) / 2;
        (question.ask(strictly, {middle})[0] == wanted ? yes : no) = middle;
    }
    return yes;
}

}  // namespace

namespace {

VectorPtr column_values_at(const TypePtr& type, TypeKind kind, std::initializer_list<int64_t> values) {
    VectorBuilder builder(type);
    for (const int64_t value : values) append_datum(builder, Datum::integral(kind, value));
    return builder.finish();
}

/// Where f(x) op c inside of the window; null where it cannot be said.
PredicatePtr predicate_in(const Question& question, const iceberg::NestedField& field, PredicateOp op,
                          const Window& window, bool rising) {
    // Rising: f(x) >= c from `reach` on, f(x) > c from `pass` on. Falling: until there.
    const auto reach = first(question, false, rising, window);
    const auto pass = first(question, true, rising, window);
    if (!reach || !pass) return nullptr;
    const auto literal = [&](__int128 at) {
        return Literal::of(field.type, Datum::integral(field.type->kind, static_cast<int64_t>(at)));
    };
    const auto from = [&](__int128 at) { return Predicate::term(PredicateOp::GtEq, field.id, {literal(at)}); };
    const auto before = [&](__int128 at) { return Predicate::term(PredicateOp::Lt, field.id, {literal(at)}); };
    PredicatePtr inside;
    switch (op) {
        case PredicateOp::Eq:
            inside = rising ? Predicate::conjunction({from(*reach), before(*pass)})
                            : Predicate::conjunction({from(*pass), before(*reach)});
            break;
        case PredicateOp::GtEq:
            inside = rising ? from(*reach) : before(*reach);
            break;
        case PredicateOp::Gt:
            inside = rising ? from(*pass) : before(*pass);
            break;
        case PredicateOp::Lt:
            inside = rising ? before(*reach) : from(*reach);
            break;
        case PredicateOp::LtEq:
            inside = rising ? before(*pass) : from(*pass);
            break;
        default:
            return nullptr;
    }
    if (window.least == kLeastInt && window.greatest == kGreatestInt) return inside;
    return Predicate::disjunction({std::move(inside), before(window.least),
                                   Predicate::term(PredicateOp::Gt, field.id, {literal(window.greatest)})});
}

}  // namespace

PredicatePtr monotonic_predicate(const Expression& call, const iceberg::NestedField& field, PredicateOp op,
                                 const Vector& value) {
    for (const Window& window : windows_of(field.type->kind)) {
        try {
            const VectorPtr ends =
                column_values_at(column_in(call).type, field.type->kind, {window.least, window.greatest});
            const int direction = direction_of(call, ends);
            if (direction == 0) continue;
            if (auto predicate = predicate_in(Question(call, field, value), field, op, window, direction > 0))
                return predicate;
        } catch (const Error&) {
            // The function, or the comparison, fails for some value: nothing is said, and the filter itself will tell.
        }
    }
    return nullptr;
}

}  // namespace firn::table
