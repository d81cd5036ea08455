// Ranges of a column from comparisons of a monotonic function of it, found by bisection: the function is asked, not
// inverted, so that every monotonic function serves.
#include <array>
#include <limits>

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

constexpr int64_t kDay1900 = -25567;
constexpr int64_t kDay2300 = 120529;
constexpr int64_t kSecondsPerDay = 86400;
constexpr size_t kSamples = 65;

std::optional<Window> window_of(TypeKind kind) {
    switch (kind) {
        case TypeKind::Int: return Window{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
        case TypeKind::Long: return Window{-(int64_t{1} << 62), int64_t{1} << 62};
        case TypeKind::Date: return Window{kDay1900, kDay2300};
        case TypeKind::Timestamp:
        case TypeKind::TimestampTz: return Window{kDay1900 * kSecondsPerDay * 1'000'000, kDay2300 * kSecondsPerDay * 1'000'000};
        case TypeKind::TimestampNs:
        case TypeKind::TimestampTzNs:
            // The int64 of nanoseconds ends in 2262.
            return Window{kDay1900 * kSecondsPerDay * 1'000'000'000, std::numeric_limits<int64_t>::max() - 1};
        default: return std::nullopt;
    }
}

/// 1 increasing, -1 decreasing, 0 neither: of the whole chain of calls.
int direction_of(const Expression& expression) {
    if (expression.kind == Expression::Kind::Column) return 1;
    for (size_t i = 0; i < expression.arguments.size(); ++i) {
        if (expression.arguments[i]->kind == Expression::Kind::Constant) continue;
        const int inner = direction_of(*expression.arguments[i]);
        switch (expression.function->monotonic(i)) {
            case functions::Monotonic::Increasing: return inner;
            case functions::Monotonic::Decreasing: return -inner;
            case functions::Monotonic::No: return 0;
        }
    }
    return 0;
}

VectorPtr evaluate(const Expression& expression, const VectorPtr& column) {
    switch (expression.kind) {
        case Expression::Kind::Column: return column;
        case Expression::Kind::Constant: return Vector::constant(expression.constant, column->size());
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

PredicatePtr monotonic_predicate(const Expression& call, const iceberg::NestedField& field, PredicateOp op,
                                 const Vector& value) {
    const auto window = window_of(field.type->kind);
    const int direction = window ? direction_of(call) : 0;
    if (direction == 0) return nullptr;
    try {
        const Question question(call, field, value);
        const bool rising = direction > 0;
        // Rising: f(x) >= c from `reach` on, f(x) > c from `pass` on. Falling: until there.
        const auto reach = first(question, false, rising, *window);
        const auto pass = first(question, true, rising, *window);
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
            case PredicateOp::GtEq: inside = rising ? from(*reach) : before(*reach); break;
            case PredicateOp::Gt: inside = rising ? from(*pass) : before(*pass); break;
            case PredicateOp::Lt: inside = rising ? before(*reach) : from(*reach); break;
            case PredicateOp::LtEq: inside = rising ? before(*pass) : from(*pass); break;
            default: return nullptr;
        }
        if (field.type->kind == TypeKind::Int) return inside;
        return Predicate::disjunction({std::move(inside), before(window->least),
                                       Predicate::term(PredicateOp::Gt, field.id, {literal(window->greatest)})});
    } catch (const Error&) {
        return nullptr;
    }
}

}  // namespace firn::table
