// equals, notEquals, less, lessOrEquals, greater, greaterOrEquals: which values are compared as what.
#include "firn/functions/comparison.h"

#include <algorithm>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/registration.h"
#include "firn/types/number.h"
#include "firn/types/value_parse.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"
#include "firn/vector/uuid_order.h"

namespace firn::functions {

namespace {

using Cast = std::function<VectorPtr(const VectorPtr&)>;

struct Comparison {
    Compare op;
    std::string name;
    const FunctionContext* context;
};

Overload resolve_pair(const Comparison& comparison, Argument a, Argument b);

[[noreturn]] void fail_types(const Comparison& comparison, const DataType& a, const DataType& b) {
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal types of arguments ({}, {}) of function {}", a.name(), b.name(),
         comparison.name);
}

TypePtr boolean() { return make_type(TypeId::UInt8); }

/// Both sides converted (an empty cast leaves a side as it is), then one loop.
Overload compare_as(Cast left, Cast right, CompareLoop loop, bool swap = false) {
    return {boolean(),
            [left = std::move(left), right = std::move(right), loop, swap](const KernelArguments& arguments) {
                const VectorPtr a = left ? left(arguments[0]) : arguments[0];
                const VectorPtr b = right ? right(arguments[1]) : arguments[1];
                return swap ? loop(b, a, arguments.rows) : loop(a, b, arguments.rows);
            }};
}

Cast cast_or_nothing(const TypePtr& from, const TypePtr& to, const FunctionContext& context) {
    if (same_type(from, to)) return {};
    return make_cast(from, to, context);
}

Overload compare_in(const Comparison& comparison, const TypePtr& a, const TypePtr& b, const TypePtr& common) {
    return compare_as(cast_or_nothing(a, common, *comparison.context), cast_or_nothing(b, common, *comparison.context),
                      compare_loop(common->physical(), comparison.op));
}

VectorPtr as_ordered_uuids(const VectorPtr& values) {
    const VectorPtr flat = flatten(values);
    auto out = Buffer::allocate(flat->size() * sizeof(UInt128));
    for (size_t i = 0; i < flat->size(); ++i) out->mutable_as<UInt128>()[i] = uuid_order(flat->values<UInt128>()[i]);
    return Vector::flat(flat->type(), flat->size(), std::move(out));
}

Overload always(bool value) {
    return {boolean(), [value](const KernelArguments& arguments) {
                return Vector::constant(make_value<uint8_t>(boolean(), value), arguments.rows);
            }};
}

/// The overload with one side replaced by a constant.
Overload with_constant(Overload overload, size_t side, VectorPtr value) {
    return {overload.result,
            [kernel = std::move(overload.kernel), side, value = std::move(value)](const KernelArguments& arguments) {
                std::vector<VectorPtr> replaced(arguments.vectors.begin(), arguments.vectors.end());
                replaced[side] = Vector::constant(value, arguments.rows);
                return kernel({replaced, {}, arguments.rows});
            }};
}

/// A value of text as one of a type: for literals such as the '2020-01-01' beside a Date column.
VectorPtr literal_value(const std::string& text, const TypePtr& type, const FunctionContext& context) {
    if (is_integer(type->id())) {  // may be out of the column's range: then it equals nothing, but it has an order
        Int256 value;
        bool overflow = false;
        const ErrorCode code = parse_integer(text, is_signed_integer(type->id()), 256, value, overflow);
        if (code == ErrorCode::CANNOT_PARSE_TEXT)
            fail(ErrorCode::TYPE_MISMATCH, "Cannot convert string '{}' to type {}", text, type->name());
        if (code != kParsed) fail(code, "Cannot convert string '{}' to type {}", text, type->name());
        if (number_fits<int64_t>(value)) return make_value(make_type(TypeId::Int64), number_cast<int64_t>(value));
        return make_value(make_type(TypeId::Int256), value);
    }
    if (type->physical() == Physical::Array || type->physical() == Physical::Tuple)
        return flatten(cast_vector(make_string_value(make_type(TypeId::String), text), type, context));
    alignas(32) char value[32];
    const ErrorCode code = parse_value(text, *type, TimeZone::find(context.time_zone), ParseMode::Strict, value);
    if (code == ErrorCode::CANNOT_PARSE_TEXT)
        fail(ErrorCode::TYPE_MISMATCH, "Cannot convert string '{}' to type {}", text, type->name());
    if (code != kParsed) fail(code, "Cannot convert string '{}' to type {}", text, type->name());
    auto buffer = Buffer::allocate(type->value_size());
    std::memcpy(buffer->mutable_data(), value, type->value_size());
    return Vector::flat(type, 1, std::move(buffer));
}

bool is_enum(TypeId id) { return id == TypeId::Enum8 || id == TypeId::Enum16; }

Overload compare_with_text(const Comparison& comparison, const Argument& a, const Argument& b, size_t text_side) {
    const Argument& text_argument = text_side == 0 ? a : b;
    const TypePtr& type = (text_side == 0 ? b : a).type;
    if (is_enum(type->id()) && !text_argument.constant)
        return compare_in(comparison, a.type, b.type, make_type(TypeId::String));
    const auto text = constant_text(text_argument);
    if (!text) {
        if (is_number(type->id()) || is_date_or_time(type->id()) || type->id() == TypeId::UUID ||
            type->id() == TypeId::IPv4 || type->id() == TypeId::IPv6)
            fail(ErrorCode::NO_COMMON_TYPE, "Only a constant string can be compared with {} by function {}",
                 type->name(), comparison.name);
        fail_types(comparison, *a.type, *b.type);
    }
    if (is_enum(type->id())) {
        const auto& values = type->enum_values();
        const bool known =
            std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.first == *text; });
        if (!known) return always(comparison.op == Compare::NotEqual);
    }
    const VectorPtr value = literal_value(*text, type, *comparison.context);
    const Argument literal{value->type(), value};
    return with_constant(text_side == 0 ? resolve_pair(comparison, literal, b) : resolve_pair(comparison, a, literal),
                         text_side, value);
}

/// A constant number as a value of the other side's type, where it is one exactly: then the column stays as it is.
VectorPtr exact_constant(const Argument& constant, const TypePtr& type, const FunctionContext& context) {
    if (!constant.constant || same_type(constant.type, type)) return nullptr;
    if (is_float(constant.type->id()) != is_float(type->id())) return nullptr;
    if (is_float(type->id())) return nullptr;  // Float32 against Float64 compares as Float64
    try {
        CastRule rule;
        rule.accurate = true;
        const VectorPtr value = flatten(make_cast(constant.type, type, context, rule)(constant.constant));
        const VectorPtr back = flatten(make_cast(type, constant.type, context, rule)(value));
        return compare_values(*back, 0, *constant.constant, 0) == 0 ? value : nullptr;
    } catch (const Error&) {
        return nullptr;
    }
}

TypePtr common_decimal(const TypePtr& a, const TypePtr& b) {
    const auto digits = [](const TypePtr& type) {
        if (type->id() == TypeId::Decimal) return type->precision() - type->scale();
        constexpr int kDigits[] = {3, 5, 10, 20, 39, 77};
        int step = 0;
        while ((8 << step) < (type->id() == TypeId::Bool ? 8 : integer_bits(type->id()))) ++step;
        return kDigits[step];
    };
    const auto scale_of = [](const TypePtr& type) { return type->id() == TypeId::Decimal ? type->scale() : 0; };
    const int scale = std::max(scale_of(a), scale_of(b));
    // Values may fill the storage of their type beyond its precision: count the storage's digits.
    const int needed = std::min(76, std::max(digits(a), digits(b)) + scale);
    return make_decimal(needed <= 18 ? 18 : needed <= 38 ? 38 : 76, scale);
}

Overload compare_numbers(const Comparison& comparison, const Argument& a, const Argument& b) {
    const FunctionContext& context = *comparison.context;
    const TypeId x = a.type->id(), y = b.type->id();
    if (same_type(a.type, b.type)) return compare_as({}, {}, compare_loop(a.type->physical(), comparison.op));
    if (const VectorPtr value = exact_constant(b, a.type, context))
        return with_constant(compare_as({}, {}, compare_loop(a.type->physical(), comparison.op)), 1, value);
    if (const VectorPtr value = exact_constant(a, b.type, context))
        return with_constant(compare_as({}, {}, compare_loop(b.type->physical(), comparison.op)), 0, value);
    if (is_float(x) || is_float(y)) {
        const auto exact = [](const TypePtr& type) { return is_integer(type->id()) && integer_bits(type->id()) == 64; };
        const TypePtr float64 = make_type(TypeId::Float64);
        if (exact(a.type))
            return compare_as({}, cast_or_nothing(b.type, float64, context),
                              compare_integer_float_loop(a.type->physical(), comparison.op));
        if (exact(b.type))
            return compare_as(cast_or_nothing(a.type, float64, context), {},
                              compare_integer_float_loop(b.type->physical(), mirrored(comparison.op)), true);
        return compare_in(comparison, a.type, b.type, float64);
    }
    if (x == TypeId::Decimal || y == TypeId::Decimal)
        return compare_in(comparison, a.type, b.type, common_decimal(a.type, b.type));
    const auto bits = [](const TypePtr& type) { return static_cast<int>(type->value_size() * 8); };
    const auto is_signed = [](const TypePtr& type) {
        return type->physical() >= Physical::Int8 && type->physical() <= Physical::Int256;
    };
    int width = std::max(bits(a.type), bits(b.type));
    const bool any_signed = is_signed(a.type) || is_signed(b.type);
    if (any_signed && std::max(is_signed(a.type) ? 0 : bits(a.type), is_signed(b.type) ? 0 : bits(b.type)) == width)
        width = std::min(256, width * 2);
    return compare_in(comparison, a.type, b.type, integer_type(width, any_signed));
}

Overload compare_times(const Comparison& comparison, const Argument& a, const Argument& b) {
    const TypeId x = a.type->id(), y = b.type->id();
    const FunctionContext& context = *comparison.context;
    const auto is_day = [](TypeId id) { return id == TypeId::Date || id == TypeId::Date32; };
    if (is_date_or_time(x) && is_date_or_time(y)) {
        if (is_day(x) && is_day(y))
            return x == y ? compare_as({}, {}, compare_loop(a.type->physical(), comparison.op))
                          : compare_in(comparison, a.type, b.type, make_type(TypeId::Date32));
        if (x == TypeId::DateTime && y == TypeId::DateTime)
            return compare_as({}, {}, compare_loop(Physical::UInt32, comparison.op));
        if (x == y && a.type->scale() == b.type->scale())
            return compare_as({}, {}, compare_loop(Physical::Int64, comparison.op));
        // A constant that is no finer becomes a value of the column's type, and the column stays as it is.
        for (const size_t side : {size_t{0}, size_t{1}}) {
            const Argument &constant = side ? b : a, &column = side ? a : b;
            if (!constant.constant || column.type->id() != TypeId::DateTime64 ||
                (constant.type->id() == TypeId::DateTime64 && constant.type->scale() > column.type->scale()))
                continue;
            try {
                return with_constant(compare_as({}, {}, compare_loop(Physical::Int64, comparison.op)), side,
                                     flatten(cast_vector(constant.constant, column.type, context)));
            } catch (const Error&) {
                break;  // beyond the column's range
            }
        }
        // Ticks of the finer scale; a day is its midnight in the other's time zone. 128 bits, as days may be far away.
        const int scale =
            std::max(x == TypeId::DateTime64 ? a.type->scale() : 0, y == TypeId::DateTime64 ? b.type->scale() : 0);
        const std::string& zone = is_day(x) ? b.type->time_zone() : a.type->time_zone();
        const auto side = [&](const TypePtr& type) -> Cast {
            const TypePtr seconds = make_datetime64(type->id() == TypeId::DateTime64 ? type->scale() : 0,
                                                    is_day(type->id()) ? zone : type->time_zone());
            Cast first = cast_or_nothing(type, seconds, context);
            const TypePtr ticks = make_decimal(18, seconds->scale());
            Cast second = make_cast(ticks, make_decimal(38, scale), context);
            return [first, second, ticks](const VectorPtr& vector) {
                return second(retype(first ? first(vector) : vector, ticks));
            };
        };
        return compare_as(side(a.type), side(b.type), compare_loop(Physical::Int128, comparison.op));
    }
    // A time against a number: seconds. Days against numbers have no meaning.
    if (is_day(x) || is_day(y)) fail_types(comparison, *a.type, *b.type);
    const auto as_number = [](const Argument& argument) -> Argument {
        if (!is_date_or_time(argument.type->id())) return argument;
        const TypePtr type = argument.type->id() == TypeId::DateTime ? make_type(TypeId::UInt32)
                                                                     : make_decimal(18, argument.type->scale());
        return {type, argument.constant ? retype(argument.constant, type) : nullptr};
    };
    const Argument left = as_number(a), right = as_number(b);
    Overload overload = resolve_pair(comparison, left, right);
    return {overload.result, [kernel = overload.kernel, left, right](const KernelArguments& arguments) {
                const VectorPtr vectors[] = {retype(arguments[0], left.type), retype(arguments[1], right.type)};
                return kernel({vectors, {}, arguments.rows});
            }};
}

/// (a1, a2) < (b1, b2) is a1 < b1 or a1 = b1 and a2 < b2, with the three-valued logic of `and` and `or`.
Overload compare_tuples(const Comparison& comparison, const TypePtr& a, const TypePtr& b) {
    const size_t size = a->children().size();
    if (size != b->children().size()) fail_types(comparison, *a, *b);
    if (size == 0)
        return always(comparison.op == Compare::Equal || comparison.op == Compare::LessOrEqual ||
                      comparison.op == Compare::GreaterOrEqual);
    const FunctionRegistry& registry = FunctionRegistry::instance();
    const bool ordered = comparison.op != Compare::Equal && comparison.op != Compare::NotEqual;
    using Bound = std::shared_ptr<const BoundFunction>;
    std::vector<Bound> last, strict, equal, join_and, join_or;
    const std::string strict_name =
        comparison.op == Compare::LessOrEqual || comparison.op == Compare::Less ? "less" : "greater";
    TypePtr result;
    for (size_t n = size; n-- > 0;) {
        const std::vector<Argument> pair = {{a->child(n), nullptr}, {b->child(n), nullptr}};
        last.insert(last.begin(), registry.bind(comparison.name, pair, *comparison.context));
        if (ordered) {
            strict.insert(strict.begin(), registry.bind(strict_name, pair, *comparison.context));
            equal.insert(equal.begin(), registry.bind("equals", pair, *comparison.context));
        }
        if (n == size - 1) {
            result = last.front()->result_type();
            continue;
        }
        if (!ordered) {
            join_and.insert(join_and.begin(), registry.bind(comparison.op == Compare::Equal ? "and" : "or",
                                                            {{last.front()->result_type(), nullptr}, {result, nullptr}},
                                                            *comparison.context));
            result = join_and.front()->result_type();
        } else {
            join_and.insert(join_and.begin(),
                            registry.bind("and", {{equal.front()->result_type(), nullptr}, {result, nullptr}},
                                          *comparison.context));
            join_or.insert(join_or.begin(), registry.bind("or",
                                                          {{strict.front()->result_type(), nullptr},
                                                           {join_and.front()->result_type(), nullptr}},
                                                          *comparison.context));
            result = join_or.front()->result_type();
        }
    }
    return {result, [=](const KernelArguments& arguments) {
                const size_t rows = arguments.rows;
                const VectorPtr x = flatten(arguments[0]), y = flatten(arguments[1]);
                const auto run = [rows](const Bound& bound, VectorPtr left, VectorPtr right) {
                    const VectorPtr vectors[] = {std::move(left), std::move(right)};
                    return bound->execute(vectors, rows);
                };
                VectorPtr value = run(last[size - 1], x->child(size - 1), y->child(size - 1));
                for (size_t n = size - 1; n-- > 0;) {
                    if (!ordered) {
                        value = run(join_and[n], run(last[n], x->child(n), y->child(n)), value);
                    } else {
                        value = run(join_and[n], run(equal[n], x->child(n), y->child(n)), value);
                        value = run(join_or[n], run(strict[n], x->child(n), y->child(n)), value);
                    }
                }
                return value;
            }};
}

bool holds(Compare op, int order) {
    switch (op) {
        case Compare::Equal:
            return order == 0;
        case Compare::NotEqual:
            return order != 0;
        case Compare::Less:
            return order < 0;
        case Compare::LessOrEqual:
            return order <= 0;
        case Compare::Greater:
            return order > 0;
        default:
            return order >= 0;
    }
}

Overload compare_nested(const Comparison& comparison, const TypePtr& a, const TypePtr& b) {
    TypePtr common;
    try {
        const TypePtr both[] = {a, b};
        common = common_type(both);
    } catch (const Error&) {
        fail_types(comparison, *a, *b);
    }
    Cast left = cast_or_nothing(a, common, *comparison.context),
         right = cast_or_nothing(b, common, *comparison.context);
    return {boolean(), [left, right, op = comparison.op](const KernelArguments& arguments) {
                const VectorPtr x = left ? left(arguments[0]) : arguments[0],
                                y = right ? right(arguments[1]) : arguments[1];
                auto out = Buffer::allocate(arguments.rows);
                for (size_t i = 0; i < arguments.rows; ++i)
                    out->mutable_as<uint8_t>()[i] = holds(op, compare_values(*x, i, *y, i));
                return Vector::flat(boolean(), arguments.rows, std::move(out));
            }};
}

/// Aggregate states have no order, and equal ones may differ in their bytes.
bool holds_states(const DataType& type) {
    if (type.id() == TypeId::AggregateFunction) return true;
    const auto& children = type.children();
    return std::any_of(children.begin(), children.end(), [](const TypePtr& child) { return holds_states(*child); });
}

Overload resolve_pair(const Comparison& comparison, Argument a, Argument b) {
    if (holds_states(*a.type) || holds_states(*b.type)) fail_types(comparison, *a.type, *b.type);
    const TypeId x = a.type->id(), y = b.type->id();
    const auto nested = [](TypeId id) { return id == TypeId::Array || id == TypeId::Map; };
    if (is_string_like(x) && is_string_like(y))
        return compare_as({}, {},
                          x == TypeId::String && y == TypeId::String ? compare_loop(Physical::Str, comparison.op)
                                                                     : compare_padded_loop(comparison.op));
    if (is_string_like(x)) return compare_with_text(comparison, a, b, 0);
    if (is_string_like(y)) return compare_with_text(comparison, a, b, 1);
    if (x == TypeId::Tuple && y == TypeId::Tuple) return compare_tuples(comparison, a.type, b.type);
    if (nested(x) && nested(y)) return compare_nested(comparison, a.type, b.type);
    if (is_date_or_time(x) || is_date_or_time(y)) {
        if ((is_date_or_time(x) || is_number(x)) && (is_date_or_time(y) || is_number(y)))
            return compare_times(comparison, a, b);
        fail_types(comparison, *a.type, *b.type);
    }
    if (is_number(x) && is_number(y)) return compare_numbers(comparison, a, b);
    const auto number_like = [](TypeId id) {
        return is_integer(id) || id == TypeId::Bool || is_enum(id) || id == TypeId::Interval || id == TypeId::IPv4 ||
               id == TypeId::Time || id == TypeId::Time64;
    };
    if (x == TypeId::IPv4 && y == TypeId::IPv6) return compare_in(comparison, a.type, b.type, b.type);
    if (x == TypeId::IPv6 && y == TypeId::IPv4) return compare_in(comparison, a.type, b.type, a.type);
    if (x == TypeId::UUID && y == TypeId::UUID && comparison.op != Compare::Equal && comparison.op != Compare::NotEqual)
        return compare_as(as_ordered_uuids, as_ordered_uuids, compare_loop(a.type->physical(), comparison.op));
    if (same_type(a.type, b.type) && a.type->physical() != Physical::None)
        return compare_as({}, {}, compare_loop(a.type->physical(), comparison.op));
    if (x == TypeId::Interval && y == TypeId::Interval) {
        const TypePtr both[] = {a.type, b.type};
        const TypePtr common = common_type(both);
        return compare_in(comparison, a.type, b.type, common);
    }
    if (number_like(x) && number_like(y)) return compare_numbers(comparison, a, b);
    fail_types(comparison, *a.type, *b.type);
}

/// x <=> y: NULL equals NULL and nothing else.
Overload resolve_distinct(std::span<const Argument> arguments, const FunctionContext& context, bool wanted) {
    const auto equals = FunctionRegistry::instance().bind("equals", {arguments[0], arguments[1]}, context);
    return {boolean(), [equals, wanted](const KernelArguments& call) {
                auto out = Buffer::allocate_zeroed(call.rows);
                auto* same = out->mutable_as<uint8_t>();
                const VectorPtr compared = equals->execute(call.vectors, call.rows);
                if (compared->flat_base().type()->physical() != Physical::None)
                    for (const uint32_t row : selected_rows(compared)) same[row] = 1;
                const auto is_null = [](const VectorPtr& vector, size_t row) {
                    return vector->flat_base().type()->physical() == Physical::None || vector->is_null(row);
                };
                for (size_t i = 0; i < call.rows; ++i) {
                    const bool left = is_null(call[0], i), right = is_null(call[1], i);
                    if (left || right) same[i] = left && right;
                    same[i] = (same[i] != 0) == wanted;
                }
                return Vector::flat(boolean(), call.rows, std::move(out));
            }};
}

}  // namespace

void register_comparison_functions(FunctionRegistry& registry) {
    const std::pair<const char*, Compare> functions[] = {
        {"equals", Compare::Equal},    {"notEquals", Compare::NotEqual},
        {"less", Compare::Less},       {"lessOrEquals", Compare::LessOrEqual},
        {"greater", Compare::Greater}, {"greaterOrEquals", Compare::GreaterOrEqual}};
    for (const auto& [name, op] : functions) {
        Definition definition;
        definition.name = name;
        definition.min_arguments = definition.max_arguments = 2;
        definition.resolve = [name = std::string(name), op = op](std::span<const Argument> arguments,
                                                                 const FunctionContext& context) {
            return resolve_pair({op, name, &context}, arguments[0], arguments[1]);
        };
        registry.add(std::move(definition));
    }
    for (const bool wanted : {true, false}) {
        Definition definition;
        definition.name = wanted ? "isNotDistinctFrom" : "isDistinctFrom";
        definition.nulls = NullHandling::Custom;
        definition.min_arguments = definition.max_arguments = 2;
        definition.resolve = [wanted](std::span<const Argument> arguments, const FunctionContext& context) {
            return resolve_distinct(arguments, context, wanted);
        };
        registry.add(std::move(definition));
    }
}

}  // namespace firn::functions
