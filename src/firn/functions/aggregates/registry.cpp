// Finding aggregate functions by name, combinators included, and applying the rules about NULL.
#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "firn/functions/aggregates/collected.h"
#include "firn/functions/aggregates/combinators.h"
#include "firn/functions/aggregates/state_aggregate.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
    return out;
}

constexpr std::string_view kCombinators[] = {"If",         "Array", "Distinct", "OrNull",  "OrDefault",
                                             "MergeState", "State", "Merge",    "ForEach", "Resample"};

}  // namespace

struct AggregateRegistry::State {
    std::vector<std::unique_ptr<AggregateDefinition>> definitions;
    std::unordered_map<std::string, const AggregateDefinition*> exact;
    std::unordered_map<std::string, const AggregateDefinition*> folded;

    const AggregateDefinition* find(std::string_view name) const {
        if (const auto found = exact.find(std::string(name)); found != exact.end()) return found->second;
        const auto found = folded.find(lower(name));
        return found == folded.end() ? nullptr : found->second;
    }

    /// "sumOrNullIf" as sum and {OrNull, If}: the last is the outermost.
    const AggregateDefinition* split(std::string_view name, std::vector<std::string_view>& combinators) const {
        if (const auto* definition = find(name)) return definition;
        for (const auto combinator : kCombinators) {
            if (!name.ends_with(combinator) || name.size() == combinator.size()) continue;
            if (const auto* definition = split(name.substr(0, name.size() - combinator.size()), combinators)) {
                combinators.push_back(combinator);
                return definition;
            }
        }
        return nullptr;
    }
};

namespace {

/// The function over these arguments, which may be Nullable.
AggregatePtr bind_plain(const AggregateDefinition& definition, std::span<const TypePtr> arguments,
                        std::span<const VectorPtr> parameters) {
    if (definition.sees_nulls) return definition.resolve(arguments, parameters);
    std::vector<TypePtr> plain;
    bool nullable = false;
    for (const auto& type : arguments) {
        if (type->is_nullable() && type->child()->id() == TypeId::Nothing) {
            if (definition.null_when_empty || definition.name.starts_with("groupArray") ||
                definition.name.starts_with("groupUniq"))
                return always_null(definition.name);
            // count(NULL) is 0: no row is ever added.
        }
        nullable = nullable || type->is_nullable();
        plain.push_back(strip_nullable(type));
    }
    AggregatePtr made = definition.resolve(plain, parameters);
    // An array cannot be NULL: groupArray and its like stay as they are.
    return nullable ? skip_nulls(std::move(made), arguments, definition.null_when_empty) : made;
}

TypePtr element_of(std::string_view name, const TypePtr& type) {
    if (type->id() == TypeId::Array) return type->child();
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
         "Illegal type {} of argument for aggregate function {} with Array suffix. Must be array.", type->name(), name);
}

AggregatePtr bind_combined(const AggregateDefinition& definition, std::span<const std::string_view> combinators,
                           std::vector<TypePtr> arguments, std::span<const VectorPtr> parameters) {
    if (combinators.empty()) return bind_plain(definition, arguments, parameters);
    const std::string_view outer = combinators.back();
    const auto rest = combinators.first(combinators.size() - 1);
    if (outer == "If") {
        if (arguments.empty())
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {}If requires at least one argument",
                 definition.name);
        const TypeId id = unwrap(arguments.back())->id();
        if (id != TypeId::UInt8 && id != TypeId::Bool && id != TypeId::Nothing)
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                 "Illegal type {} of the last argument of an aggregate function with the If suffix: the last argument "
                 "is the condition and must be UInt8",
                 arguments.back()->name());
        arguments.pop_back();
        return only_if(bind_combined(definition, rest, std::move(arguments), parameters));
    }
    if (outer == "Array") {
        for (auto& type : arguments) type = element_of(definition.name, type);
        return of_elements(bind_combined(definition, rest, std::move(arguments), parameters));
    }
    std::string name = definition.name;
    for (const auto combinator : rest) name += combinator;
    if (outer == "State")
        return to_state(bind_combined(definition, rest, arguments, parameters), name, parameters, arguments);
    if (outer == "Merge") return from_states(name, arguments);
    if (outer == "MergeState") {
        AggregatePtr inner = from_states(name, arguments);
        const auto& state = *arguments[0];
        return to_state(std::move(inner), state.text(), {}, state.children());
    }
    if (outer == "ForEach") {
        for (auto& type : arguments) type = element_of(definition.name, type);
        return of_each(bind_combined(definition, rest, std::move(arguments), parameters));
    }
    if (outer == "Resample") {
        constexpr size_t kParameters = 3;
        if (parameters.size() < kParameters || arguments.empty())
            fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                 "Aggregate function {}Resample takes the parameters begin, end and step, and a key as its last "
                 "argument",
                 name);
        const TypePtr key = arguments.back();
        arguments.pop_back();
        const auto own = parameters.first(parameters.size() - kParameters);
        return resampled(bind_combined(definition, rest, std::move(arguments), own), parameters.last(kParameters), key);
    }
    if (outer == "Distinct") {
        AggregatePtr inner = bind_combined(definition, rest, arguments, parameters);
        return of_different(std::move(inner), std::move(arguments));
    }
    AggregatePtr inner = bind_combined(definition, rest, std::move(arguments), parameters);
    return or_empty(std::move(inner), outer == "OrNull");
}

}  // namespace

void illegal_argument(std::string_view function, const TypePtr& type) {
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal type {} of argument for aggregate function {}", type->name(),
         function);
}

void expect_arguments(std::string_view function, std::span<const TypePtr> arguments, size_t count) {
    if (arguments.size() != count)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Aggregate function {} requires {} argument{}, {} are given",
             function, count, count == 1 ? "" : "s", arguments.size());
}

void write_value(std::string& out, const Vector& vector, size_t row) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    const bool null = flat.nulls() && flat.nulls()[at];
    write_raw(out, null);
    if (null) return;
    switch (flat.type()->physical()) {
        case Physical::Str:
            return write_bytes(out, flat.values<StringRef>()[at].view());
        case Physical::Array: {
            write_raw<uint64_t>(out, static_cast<uint64_t>(flat.offsets()[at + 1] - flat.offsets()[at]));
            for (int64_t i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i)
                write_value(out, *flat.child(), static_cast<size_t>(i));
            return;
        }
        case Physical::Tuple:
            for (const auto& child : flat.children()) write_value(out, *child, at);
            return;
        default: {
            const size_t width = flat.type()->value_size();
            out.append(flat.values_buffer()->data() + at * width, width);
        }
    }
}

namespace {
void read_into(VectorBuilder& builder, std::string_view& in) {
    if (read_raw<bool>(in)) return builder.append_default();
    const TypePtr type = unwrap(builder.type());
    switch (type->physical()) {
        case Physical::Str:
            return builder.append_string(read_bytes(in));
        case Physical::Array: {
            const auto size = read_raw<uint64_t>(in);
            for (uint64_t i = 0; i < size; ++i) read_into(builder.element(), in);
            return builder.end_array();
        }
        case Physical::Tuple:
            for (size_t i = 0; i < type->children().size(); ++i) read_into(builder.element(i), in);
            return builder.end_tuple();
        case Physical::None:
            return builder.append_default();
        default:
            dispatch_fixed(type->physical(), [&]<typename T>() { builder.append<T>(read_raw<T>(in)); });
    }
}
}  // namespace

VectorPtr read_value(const TypePtr& type, std::string_view& in) {
    VectorBuilder builder(type);
    read_into(builder, in);
    return builder.finish();
}

const AggregateRegistry& AggregateRegistry::instance() {
    static const AggregateRegistry registry = [] {
        AggregateRegistry made;
        made.state_ = std::make_shared<State>();
        register_count_sum(made);
        register_min_max(made);
        register_uniq(made);
        register_arrays(made);
        register_quantiles(made);
        register_moments(made);
        register_map_aggregates(made);
        register_collected(made);
        register_series(made);
        return made;
    }();
    return registry;
}

void AggregateRegistry::add(AggregateDefinition definition) {
    state_->definitions.push_back(std::make_unique<AggregateDefinition>(std::move(definition)));
    const AggregateDefinition* kept = state_->definitions.back().get();
    state_->exact[kept->name] = kept;
    if (kept->case_insensitive) state_->folded[lower(kept->name)] = kept;
    for (const auto& alias : kept->aliases) {
        state_->exact[alias] = kept;
        state_->folded[lower(alias)] = kept;
    }
}

bool AggregateRegistry::is_aggregate(std::string_view name) const {
    std::vector<std::string_view> combinators;
    return state_->split(name, combinators) != nullptr;
}

AggregatePtr AggregateRegistry::bind(std::string_view name, std::span<const TypePtr> arguments,
                                     std::span<const VectorPtr> parameters, bool distinct) const {
    std::vector<std::string_view> combinators;
    const AggregateDefinition* definition = state_->split(name, combinators);
    if (!definition) fail(ErrorCode::UNKNOWN_AGGREGATE_FUNCTION, "Unknown aggregate function {}", name);
    std::vector<TypePtr> types;
    for (const auto& type : arguments) types.push_back(strip_low_cardinality(type));
    // count(DISTINCT x) is uniqExact(x); min and max are the same of different values.
    if (distinct && (definition->name == "min" || definition->name == "max")) distinct = false;
    const auto is_distinct = std::find(combinators.begin(), combinators.end(), "Distinct");
    if (definition->name == "count" && (distinct || is_distinct != combinators.end()) && !types.empty()) {
        definition = state_->find("uniqExact");
        if (is_distinct != combinators.end()) combinators.erase(is_distinct);
        distinct = false;
    }
    // DISTINCT stands inside -If: rows are picked first.
    if (distinct) combinators.insert(combinators.begin(), "Distinct");
    return bind_combined(*definition, combinators, std::move(types), parameters);
}

std::vector<std::string> AggregateRegistry::names() const {
    std::vector<std::string> out;
    for (const auto& definition : state_->definitions) out.push_back(definition->name);
    return out;
}

}  // namespace firn::functions
