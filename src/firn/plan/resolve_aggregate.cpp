// Aggregate and window functions.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "firn/plan/analyzer_impl.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::plan::analysis {

namespace {

bool starts_with_count_distinct(const std::string& name) {
    constexpr std::string_view wanted = "countdistinct";
    if (name.size() < wanted.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i)
        if (std::tolower(static_cast<unsigned char>(name[i])) != wanted[i]) return false;
    return true;
}

/// count(DISTINCT x) is uniqExact(x); the suffix (If) stays.
std::string implementation_name(const std::string& name) {
    if (!starts_with_count_distinct(name)) return name;
    return "uniqExact" + name.substr(std::string_view("countDistinct").size());
}

bool window_only(const std::string& name) {
    static constexpr std::string_view kNames[] = {
        "row_number", "rank", "dense_rank", "denseRank",   "percent_rank", "percentRank", "cume_dist", "ntile",
        "lag",        "lead", "lagInFrame", "leadInFrame", "nth_value",    "first_value", "last_value"};
    return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view known) {
        return known.size() == name.size() && std::equal(known.begin(), known.end(), name.begin(), [](char a, char b) {
                   return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
               });
    });
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::vector<TypePtr> types_of(const std::vector<ExpressionPtr>& expressions) {
    std::vector<TypePtr> types;
    for (const ExpressionPtr& expression : expressions) types.push_back(expression->type);
    return types;
}

}  // namespace

std::vector<VectorPtr> Scope::resolve_aggregate_parameters(const sql::Expr& expr) {
    std::vector<VectorPtr> parameters;
    for (const sql::ExprPtr& parameter : expr.parameters) {
        const ExpressionPtr value = resolve_unaliased(*parameter);
        if (value->kind != Expression::Kind::Constant)
            fail(ErrorCode::BAD_ARGUMENTS, "Parameters of aggregate function {} must be constant", expr.name);
        parameters.push_back(value->constant);
    }
    return parameters;
}

namespace {

std::string parameters_text(const std::vector<VectorPtr>& parameters) {
    std::string text;
    for (const VectorPtr& parameter : parameters) text += "," + to_string(*make_constant(parameter));
    return text;
}

}  // namespace

/// x and c of x + c, c + x and x - c, for integers whose sums are of 64 bits; c is no NULL.
struct Shifted {
    ExpressionPtr value, constant;
    std::string_view function;
};
std::optional<Shifted> shifted_integer(const Expression& argument) {
    if (argument.kind != Expression::Kind::Call || argument.arguments.size() != 2) return std::nullopt;
    const std::string_view name = argument.function->name();
    if (name != "plus" && name != "minus") return std::nullopt;
    const auto is_integer_of_64 = [](const Expression& e) {
        const TypeId id = unwrap(e.type)->id();
        return is_integer(id) && integer_bits(id) <= 64;
    };
    ExpressionPtr value = argument.arguments[0], constant = argument.arguments[1];
    if (name == "plus" && value->kind == Expression::Kind::Constant) std::swap(value, constant);
    if (constant->kind != Expression::Kind::Constant || value->kind == Expression::Kind::Constant) return std::nullopt;
    if (!is_integer_of_64(argument) || !is_integer_of_64(*value) || !is_integer_of_64(*constant)) return std::nullopt;
    if (constant->constant->is_null(0) || accepts_null(*constant->type) || !is_deterministic(*value))
        return std::nullopt;
    return Shifted{value, constant, name};
}

ExpressionPtr Scope::resolve_aggregate(const sql::Expr& expr) {
    if (!lambdas.empty())
        fail(ErrorCode::UNSUPPORTED_METHOD, "Aggregate function {} cannot be called inside of a lambda", expr.name);
    std::string name = implementation_name(expr.name);
    if (const std::string seeing = name + "_respect_nulls";
        expr.nulls_action == sql::NullsAction::Respect && functions::AggregateRegistry::instance().is_aggregate(seeing))
        name = seeing;
    AggregateEntry entry;
    const bool counts_rows = expr.args.size() == 1 && expr.args[0]->is(sql::ExprKind::Asterisk) &&
                             expr.args[0]->parts.empty() && expr.args[0]->transformers.empty() &&
                             lower_case(name) == "count";
    if (!counts_rows) entry.call.arguments = resolve_list(expr.args);
    for (const ExpressionPtr& argument : entry.call.arguments) {
        if (mentions(*argument, slots, Slot::Kind::Aggregate))
            fail(ErrorCode::ILLEGAL_AGGREGATION, "Aggregate function {} is found inside another aggregate function",
                 sql::column_name(expr));
        if (mentions(*argument, slots, Slot::Kind::Window))
            fail(ErrorCode::ILLEGAL_AGGREGATION, "Window function is found inside an aggregate function {}",
                 sql::column_name(expr));
    }
    const auto parameters = resolve_aggregate_parameters(expr);
    entry.call.function =
        functions::AggregateRegistry::instance().bind(name, types_of(entry.call.arguments), parameters);
    entry.call.name = sql::column_name(expr);
    entry.call.key = std::string(name) + parameters_text(parameters);
    if (lower_case(name) == "sum" && parameters.empty() && entry.call.arguments.size() == 1)
        if (ExpressionPtr sum = sum_of_shifted(entry)) return sum;
    return add_aggregate(std::move(entry));
}

/// sum(x + c) as sum(x) + c * count(x), which share their work with other sums of x. Wraps around as the sum itself does.
ExpressionPtr Scope::sum_of_shifted(const AggregateEntry& entry) {
    const auto shifted = shifted_integer(*entry.call.arguments[0]);
    if (!shifted) return nullptr;
    const auto aggregate = [&](const char* name) {
        AggregateEntry made;
        made.call.arguments = {shifted->value};
        made.call.function = functions::AggregateRegistry::instance().bind(name, types_of(made.call.arguments), {});
        made.call.name = fmt::format("{}({})", name, to_string(*shifted->value));
        made.call.key = name;
        return made;
    };
    AggregateEntry sum = aggregate("sum"), count = aggregate("count");
    const TypePtr& type = entry.call.function->result_type();
    const auto shift = [&](const ExpressionPtr& total, const ExpressionPtr& rows) {
        return call(shifted->function, {total, call("multiply", {shifted->constant, rows})});
    };
    // The types first, without leaving aggregates behind where they do not fit.
    const ExpressionPtr trial = shift(make_constant(Vector::defaults(sum.call.function->result_type(), 1)),
                                      make_constant(Vector::defaults(count.call.function->result_type(), 1)));
    if (!same_type(trial->type, type)) return nullptr;
    const ExpressionPtr total = add_aggregate(std::move(sum));
    return shift(total, add_aggregate(std::move(count)));
}

/// The aggregate's slot: that of an equal one, where there is one.
ExpressionPtr Scope::add_aggregate(AggregateEntry entry) {
    for (const AggregateEntry& known : aggregates) {
        if (known.call.key != entry.call.key || known.call.arguments.size() != entry.call.arguments.size()) continue;
        bool same = true;
        for (size_t i = 0; i < known.call.arguments.size(); ++i)
            same = same && same_expression(*known.call.arguments[i], *entry.call.arguments[i]) &&
                   is_deterministic(*known.call.arguments[i]);
        if (same) return column(known.slot);
    }
    Slot slot;
    slot.kind = Slot::Kind::Aggregate;
    slot.type = entry.call.function->result_type();
    slot.name = entry.call.name;
    entry.slot = add_slot(std::move(slot));
    aggregates.push_back(std::move(entry));
    return column(aggregates.back().slot);
}

namespace {

WindowFrame::Bound frame_bound(const sql::FrameBound& bound) {
    using Kind = sql::FrameBound::Kind;
    using Bound = WindowFrame::Bound;
    if (bound.kind == Kind::CurrentRow) return Bound::Current;
    if (bound.kind == Kind::Unbounded) return bound.preceding ? Bound::UnboundedPreceding : Bound::UnboundedFollowing;
    return bound.preceding ? Bound::Preceding : Bound::Following;
}

/// BAD_ARGUMENTS for a frame that ends before it begins, and for a negative offset.
void check_frame(const WindowFrame& frame) {
    using Bound = WindowFrame::Bound;
    for (const VectorPtr& offset : {frame.start_offset, frame.end_offset}) {
        if (!offset) continue;
        if (!is_number(unwrap(offset->type())->id()) || offset->is_null(0))
            fail(ErrorCode::BAD_ARGUMENTS, "Window frame offset must be a number, not {}", offset->type()->name());
        if (compare_values(*flatten(functions::cast_vector(offset, make_type(TypeId::Float64))), 0,
                           *make_value<double>(make_type(TypeId::Float64), 0.0), 0) < 0)
            fail(ErrorCode::BAD_ARGUMENTS, "Window frame offset must not be negative");
    }
    if (frame.start == Bound::UnboundedFollowing || frame.end == Bound::UnboundedPreceding)
        fail(ErrorCode::BAD_ARGUMENTS, "Window frame starts behind its partition or ends before it");
    const auto number = [](const VectorPtr& offset) {
        return flatten(functions::cast_vector(offset, make_type(TypeId::Float64)))->values<double>()[0];
    };
    const auto place = [&](Bound bound, const VectorPtr& offset) {
        constexpr double kFar = 1e300;
        switch (bound) {
            case Bound::UnboundedPreceding:
                return -kFar;
            case Bound::Preceding:
                return -number(offset);
            case Bound::Current:
                return 0.0;
            case Bound::Following:
                return number(offset);
            case Bound::UnboundedFollowing:
                return kFar;
        }
        return 0.0;
    };
    if (place(frame.start, frame.start_offset) > place(frame.end, frame.end_offset))
        fail(ErrorCode::BAD_ARGUMENTS, "Window frame ends before it begins");
}

TypePtr window_result_type(const std::string& lower, const std::vector<ExpressionPtr>& arguments,
                           const functions::FunctionContext&) {
    if (lower == "row_number" || lower == "rank" || lower == "dense_rank" || lower == "denserank" || lower == "ntile")
        return make_type(TypeId::UInt64);
    if (lower == "percent_rank" || lower == "percentrank" || lower == "cume_dist") return make_type(TypeId::Float64);
    if (arguments.empty())
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Window function {} needs an argument", lower);
    TypePtr type = arguments[0]->type;
    if (arguments.size() >= 3) type = functions::common_type(std::vector<TypePtr>{type, arguments[2]->type});
    return type;  // beside the frame there is no row: the type's default
}

}  // namespace

ExpressionPtr Scope::resolve_window(const sql::Expr& expr) {
    if (!lambdas.empty())
        fail(ErrorCode::UNSUPPORTED_METHOD, "Window function {} cannot be called inside of a lambda", expr.name);
    sql::WindowSpec spec;
    const auto named = [&](const std::string& name) -> const sql::WindowSpec& {
        const auto found = named_windows.find(name);
        if (found == named_windows.end()) fail(ErrorCode::BAD_ARGUMENTS, "Window '{}' does not exist", name);
        return *found->second;
    };
    if (expr.window)
        spec = *expr.window;
    else
        spec = named(expr.window_name);
    for (size_t hops = 0; !spec.parent.empty(); ++hops) {
        if (hops > 100) fail(ErrorCode::BAD_ARGUMENTS, "Windows are defined by each other");
        const sql::WindowSpec& parent_window = named(spec.parent);
        if (!spec.partition_by.empty())
            fail(ErrorCode::BAD_ARGUMENTS, "Derived window cannot override PARTITION BY of its parent");
        spec.partition_by = parent_window.partition_by;
        if (!parent_window.order_by.empty()) {
            if (!spec.order_by.empty())
                fail(ErrorCode::BAD_ARGUMENTS, "Derived window cannot override ORDER BY of its parent");
            spec.order_by = parent_window.order_by;
        }
        spec.parent = parent_window.parent;
    }
    WindowEntry entry;
    entry.partition = resolve_list(spec.partition_by);
    for (const sql::OrderByElement& element : spec.order_by) {
        SortKey key;
        key.expression = resolve_unaliased(*element.expr);
        key.descending = element.descending;
        key.nulls_first = element.nulls_first.value_or(false);
        key.collation = element.collation;
        entry.order.push_back(std::move(key));
    }
    const std::string name = implementation_name(expr.name);
    const std::string lower = lower_case(name);
    // By itself first_value skips NULL, as an aggregate function does.
    const bool picks = lower == "first_value" || lower == "last_value";
    const bool special = window_only(name) && (!picks || expr.nulls_action == sql::NullsAction::Respect);
    if (!(expr.args.size() == 1 && expr.args[0]->is(sql::ExprKind::Asterisk) && lower == "count"))
        entry.call.arguments = resolve_list(expr.args);
    if (spec.has_frame) {
        if (lower == "lag" || lower == "lead")
            fail(ErrorCode::BAD_ARGUMENTS, "Window function {} takes no frame", name);
        using Type = sql::WindowSpec::FrameType;
        entry.frame.unit = spec.frame_type == Type::Rows    ? WindowFrame::Unit::Rows
                           : spec.frame_type == Type::Range ? WindowFrame::Unit::Range
                                                            : WindowFrame::Unit::Groups;
        entry.frame.start = frame_bound(spec.begin);
        entry.frame.end = frame_bound(spec.end);
        if (spec.begin.offset)
            entry.frame.start_offset = resolve_constant(spec.begin.offset, Clause::Window, "A frame's bound");
        if (spec.end.offset)
            entry.frame.end_offset = resolve_constant(spec.end.offset, Clause::Window, "A frame's bound");
        check_frame(entry.frame);
    }
    entry.call.name = name;
    if (special) {
        entry.call.name = lower;
        if (expr.nulls_action == sql::NullsAction::Ignore) entry.call.name += "_ignore_nulls";
        entry.call.type = window_result_type(lower, entry.call.arguments, functions());
    } else {
        std::string aggregate = name;
        if (expr.nulls_action == sql::NullsAction::Respect) aggregate += "_respect_nulls";
        if (!functions::AggregateRegistry::instance().is_aggregate(aggregate))
            fail(ErrorCode::UNKNOWN_AGGREGATE_FUNCTION, "Aggregate function with name '{}' does not exist", expr.name);
        entry.call.function = functions::AggregateRegistry::instance().bind(aggregate, types_of(entry.call.arguments),
                                                                            resolve_aggregate_parameters(expr));
        entry.call.type = entry.call.function->result_type();
    }
    const auto no_windows = [&](const ExpressionPtr& argument) {
        if (mentions(*argument, slots, Slot::Kind::Window))
            fail(ErrorCode::ILLEGAL_AGGREGATION,
                 "Window function {} is found inside the definition of another window function",
                 sql::column_name(expr));
    };
    for (const ExpressionPtr& argument : entry.call.arguments) no_windows(argument);
    for (const ExpressionPtr& key : entry.partition) no_windows(key);
    for (const SortKey& key : entry.order) no_windows(key.expression);
    Slot slot;
    slot.kind = Slot::Kind::Window;
    slot.type = entry.call.type;
    slot.name = sql::column_name(expr);
    entry.slot = add_slot(std::move(slot));
    windows.push_back(std::move(entry));
    return column(windows.back().slot);
}

}  // namespace firn::plan::analysis
