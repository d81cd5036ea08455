#include "firn/iceberg/predicate.h"

#include <algorithm>

#include <fmt/format.h>

namespace firn::iceberg {
namespace {

bool is_less(std::partial_ordering order) { return order == std::partial_ordering::less; }
bool is_greater(std::partial_ordering order) { return order == std::partial_ordering::greater; }
bool is_equal(std::partial_ordering order) { return order == std::partial_ordering::equivalent; }

/// Whether `value` surely lies outside the range's bounds.
bool outside(const Datum& value, const ValueRange& range) {
    if (range.lower && is_less(compare_sql(value, *range.lower))) return true;
    if (range.upper && is_greater(compare_sql(value, *range.upper))) return true;
    for (const auto& hashed : range.hashed) {
        if (hashed.lower.is_null() || hashed.upper.is_null()) continue;
        const Datum bucket = hashed.transform.apply(value);
        if (is_less(compare(bucket, hashed.lower)) || is_greater(compare(bucket, hashed.upper))) return true;
    }
    return false;
}

/// Whether the truncated values that are known lie all below `value`, so that no value reaches it.
bool prefixes_below(const Datum& value, const ValueRange& range) {
    for (const auto& hashed : range.hashed) {
        if (!hashed.transform.preserves_order() || hashed.upper.is_null()) continue;
        if (is_greater(compare(hashed.transform.apply(value), hashed.upper))) return true;
    }
    return false;
}

/// The same for what begins with `prefix`.
bool prefixes_before(const Datum& prefix, const ValueRange& range) {
    for (const auto& hashed : range.hashed) {
        if (!hashed.transform.preserves_order() || !hashed.upper.is_bytes()) continue;
        const std::string_view cut = hashed.transform.apply(prefix).view();
        if (hashed.upper.view().substr(0, cut.size()) < cut) return true;
    }
    return false;
}

/// Whether every value surely equals `value`.
bool only_value(const Datum& value, const ValueRange& range) {
    return range.lower && range.upper && is_equal(compare_sql(*range.lower, value)) &&
           is_equal(compare_sql(*range.upper, value));
}

/// A value that compares with nothing (NaN literals; kinds that are not related) proves nothing.
bool incomparable(const Datum& value, const ValueRange& range) {
    if (value.is_nan()) return true;
    return (range.lower && compare_sql(value, *range.lower) == std::partial_ordering::unordered) ||
           (range.upper && compare_sql(value, *range.upper) == std::partial_ordering::unordered);
}

bool is_float_literal(const Literal& value) { return value.datum.is_floating(); }

/// Rows that are neither NULL nor NaN: whether some may, and whether all surely do, stand in the relation to the literal.
Verdict judge_values(const Predicate& term, const ValueRange& range) {
    const auto& values = term.values;
    const bool any_incomparable = std::any_of(values.begin(), values.end(),
                                              [&](const Literal& value) { return incomparable(value.datum, range); });
    if (any_incomparable) return {};
    const auto below = [&](const std::optional<Datum>& bound) {
        return bound ? compare_sql(*bound, values[0].datum) : std::partial_ordering::unordered;
    };
    const auto lower = values.size() == 1 ? below(range.lower) : std::partial_ordering::unordered;
    const auto upper = values.size() == 1 ? below(range.upper) : std::partial_ordering::unordered;
    switch (term.op) {
        case PredicateOp::Lt:
            return {!(is_greater(lower) || is_equal(lower)), is_less(upper)};
        case PredicateOp::LtEq:
            return {!is_greater(lower), is_less(upper) || is_equal(upper)};
        case PredicateOp::Gt:
            return {!(is_less(upper) || is_equal(upper)) && !prefixes_below(values[0].datum, range), is_greater(lower)};
        case PredicateOp::GtEq:
            return {!is_less(upper) && !prefixes_below(values[0].datum, range), is_greater(lower) || is_equal(lower)};
        case PredicateOp::Eq:
        case PredicateOp::In: {
            Verdict verdict{false, false};
            for (const auto& value : values) {
                if (!outside(value.datum, range)) verdict.might = true;
                if (only_value(value.datum, range)) verdict.all = true;
            }
            return verdict;
        }
        case PredicateOp::NotEq:
        case PredicateOp::NotIn: {
            Verdict verdict{true, true};
            for (const auto& value : values) {
                if (!outside(value.datum, range)) verdict.all = false;
                if (only_value(value.datum, range)) verdict.might = false;
            }
            return verdict;
        }
        case PredicateOp::StartsWith:
        case PredicateOp::NotStartsWith: {
            const std::string_view prefix = values[0].datum.view();
            const bool above = range.lower && range.lower->view().substr(0, prefix.size()) > prefix;
            const bool under = range.upper && range.upper->view().substr(0, prefix.size()) < prefix;
            const bool inside = range.lower && range.upper && range.lower->view().starts_with(prefix) &&
                                range.upper->view().starts_with(prefix);
            if (term.op == PredicateOp::StartsWith)
                return {!(above || under || prefixes_before(values[0].datum, range)), inside};
            return {!inside, above || under};
        }
        default:
            return {};
    }
}

bool passes_nan(PredicateOp op) {
    return op == PredicateOp::NotEq || op == PredicateOp::NotIn || op == PredicateOp::IsNaN ||
           op == PredicateOp::NotNull;
}

}  // namespace

std::partial_ordering compare_sql(const Datum& left, const Datum& right) {
    if (left.is_floating() && right.is_floating() && left.real() == right.real())
        return std::partial_ordering::equivalent;
    return compare(left, right);
}

void ValueRange::intersect(const ValueRange& other) {
    if (other.lower && (!lower || is_greater(compare_sql(*other.lower, *lower)))) lower = other.lower;
    if (other.upper && (!upper || is_less(compare_sql(*other.upper, *upper)))) upper = other.upper;
    may_be_null = may_be_null && other.may_be_null;
    may_be_nan = may_be_nan && other.may_be_nan;
    may_be_value = may_be_value && other.may_be_value;
    hashed.insert(hashed.end(), other.hashed.begin(), other.hashed.end());
    owners.insert(owners.end(), other.owners.begin(), other.owners.end());
}

Verdict judge_term(const Predicate& term, const ValueRange& range) {
    switch (term.op) {
        case PredicateOp::IsNull:
            return {range.may_be_null, !range.may_be_value && !range.may_be_nan};
        case PredicateOp::NotNull:
            return {range.may_be_value || range.may_be_nan, !range.may_be_null};
        case PredicateOp::IsNaN:
            return {range.may_be_nan, !range.may_be_null && !range.may_be_value};
        default:
            break;
    }
    Verdict verdict = range.may_be_value ? judge_values(term, range) : Verdict{false, true};
    const bool floats = !term.values.empty() && is_float_literal(term.values[0]);
    if (range.may_be_nan && floats) {
        if (passes_nan(term.op))
            verdict.might = true;
        else
            verdict.all = false;
    }
    if (range.may_be_null) verdict.all = false;
    if (!range.may_be_value && !(range.may_be_nan && floats)) verdict = {false, false};
    return verdict;
}

Verdict judge(const Predicate& predicate, const KnownRanges& ranges) {
    switch (predicate.kind) {
        case Predicate::Kind::True:
            return {true, true};
        case Predicate::Kind::Maybe:
            return {true, false};
        case Predicate::Kind::False:
            return {false, false};
        case Predicate::Kind::And: {
            Verdict verdict{true, true};
            for (const auto& child : predicate.children) {
                const Verdict one = judge(*child, ranges);
                verdict.might = verdict.might && one.might;
                verdict.all = verdict.all && one.all;
                if (!verdict.might) return {false, false};
            }
            return verdict;
        }
        case Predicate::Kind::Or: {
            Verdict verdict{false, false};
            for (const auto& child : predicate.children) {
                const Verdict one = judge(*child, ranges);
                verdict.might = verdict.might || one.might;
                verdict.all = verdict.all || one.all;
            }
            return verdict;
        }
        case Predicate::Kind::Term:
            return judge_term(predicate, ranges(predicate.field_id));
    }
    return {};
}

PredicatePtr Predicate::constant(Kind kind) {
    auto predicate = std::make_shared<Predicate>();
    predicate->kind = kind;
    return predicate;
}

PredicatePtr Predicate::conjunction(std::vector<PredicatePtr> children) {
    std::erase_if(children, [](const PredicatePtr& child) { return child->kind == Kind::True; });
    if (children.empty()) return constant(Kind::True);
    if (children.size() == 1) return children[0];
    auto predicate = std::make_shared<Predicate>();
    predicate->kind = Kind::And;
    predicate->children = std::move(children);
    return predicate;
}

PredicatePtr Predicate::disjunction(std::vector<PredicatePtr> children) {
    std::erase_if(children, [](const PredicatePtr& child) { return child->kind == Kind::False; });
    if (children.empty()) return constant(Kind::False);
    if (children.size() == 1) return children[0];
    auto predicate = std::make_shared<Predicate>();
    predicate->kind = Kind::Or;
    predicate->children = std::move(children);
    return predicate;
}

PredicatePtr Predicate::term(PredicateOp op, int32_t field_id, std::vector<Literal> values) {
    auto predicate = std::make_shared<Predicate>();
    predicate->kind = Kind::Term;
    predicate->op = op;
    predicate->field_id = field_id;
    predicate->values = std::move(values);
    return predicate;
}

std::vector<int32_t> fields_of(const Predicate& predicate) {
    std::vector<int32_t> ids;
    if (predicate.kind == Predicate::Kind::Term) ids.push_back(predicate.field_id);
    for (const auto& child : predicate.children) {
        const auto more = fields_of(*child);
        ids.insert(ids.end(), more.begin(), more.end());
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::string to_string(const Predicate& predicate, const std::function<std::string(int32_t)>& name) {
    constexpr size_t kShownValues = 10;
    constexpr std::string_view ops[] = {
        "is null",     "is not null",        "is nan", "<", "<=", ">", ">=", "=", "!=", "in", "not in",
        "starts with", "does not start with"};
    switch (predicate.kind) {
        case Predicate::Kind::True:
            return "true";
        case Predicate::Kind::Maybe:
            return "unknown";
        case Predicate::Kind::False:
            return "false";
        case Predicate::Kind::And:
        case Predicate::Kind::Or: {
            std::string out;
            for (const auto& child : predicate.children) {
                if (!out.empty()) out += predicate.kind == Predicate::Kind::And ? " and " : " or ";
                const bool nested = child->kind == Predicate::Kind::And || child->kind == Predicate::Kind::Or;
                out += nested ? "(" + to_string(*child, name) + ")" : to_string(*child, name);
            }
            return out;
        }
        case Predicate::Kind::Term:
            break;
    }
    std::string out = name(predicate.field_id) + " " + std::string(ops[static_cast<size_t>(predicate.op)]);
    if (predicate.op == PredicateOp::In || predicate.op == PredicateOp::NotIn) {
        out += " (";
        for (size_t i = 0; i < std::min(predicate.values.size(), kShownValues); ++i)
            out += (i ? ", " : "") + predicate.values[i].datum.to_string();
        out += predicate.values.size() > kShownValues ? fmt::format(", … {} values)", predicate.values.size()) : ")";
    } else if (!predicate.values.empty()) {
        out += " " + predicate.values[0].datum.to_string();
    }
    return out;
}

}  // namespace firn::iceberg
