#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>

#include "firn/base/error.h"
#include "firn/functions/argument_types.h"
#include "firn/functions/function.h"
#include "firn/functions/registration.h"

namespace firn::functions {

struct FunctionRegistry::State {
    std::vector<std::unique_ptr<Definition>> definitions;
    std::unordered_map<std::string, const Definition*> exact;
    std::unordered_map<std::string, const Definition*> any_case;  // keys in lower case
};

namespace {

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

[[noreturn]] void fail_unknown(std::string_view name, const std::vector<std::string>& names) {
    const std::string wanted = lower_case(name);
    std::vector<std::pair<size_t, std::string>> near;
    if (name.size() <= 64)
        for (const auto& known : names) {
            const size_t distance = edit_distance(wanted, lower_case(known));
            if (distance <= 2) near.emplace_back(distance, known);
        }
    std::sort(near.begin(), near.end());
    std::string hint;
    for (size_t i = 0; i < near.size() && i < 2; ++i) hint += (i ? ", '" : "'") + near[i].second + "'";
    if (hint.empty()) fail(ErrorCode::UNKNOWN_FUNCTION, "Function with name '{}' does not exist", name);
    fail(ErrorCode::UNKNOWN_FUNCTION, "Function with name '{}' does not exist; maybe you meant: {}", name, hint);
}

void check_count(const Definition& definition, size_t count) {
    if (count >= definition.min_arguments && count <= definition.max_arguments) return;
    if (definition.min_arguments == definition.max_arguments)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes {} arguments, {} were given",
             definition.name, definition.min_arguments, count);
    if (count < definition.min_arguments)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes at least {} arguments, {} were given",
             definition.name, definition.min_arguments, count);
    fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes at most {} arguments, {} were given",
         definition.name, definition.max_arguments, count);
}

bool fits_low_cardinality(const DataType& type) {
    const TypeId id = type.is_nullable() ? type.child()->id() : type.id();
    return is_integer(id) || is_float(id) || is_string_like(id) || id == TypeId::Bool || id == TypeId::Date ||
           id == TypeId::Date32 || id == TypeId::DateTime || id == TypeId::UUID || id == TypeId::IPv4 ||
           id == TypeId::IPv6;
}

}  // namespace

const FunctionRegistry& FunctionRegistry::instance() {
    static const FunctionRegistry registry = [] {
        FunctionRegistry made;
        made.state_ = std::make_shared<State>();
#define FIRN_REGISTER_FAMILY(name) register_##name##_functions(made);
        FIRN_FUNCTION_FAMILIES(FIRN_REGISTER_FAMILY)
#undef FIRN_REGISTER_FAMILY
        return made;
    }();
    return registry;
}

void FunctionRegistry::add(Definition definition) {
    if (!state_) state_ = std::make_shared<State>();
    state_->definitions.push_back(std::make_unique<Definition>(std::move(definition)));
    const Definition* added = state_->definitions.back().get();
    state_->exact[added->name] = added;
    for (const auto& alias : added->aliases) state_->exact[alias] = added;
    if (!added->case_insensitive) return;
    state_->any_case[lower_case(added->name)] = added;
    for (const auto& alias : added->aliases) state_->any_case[lower_case(alias)] = added;
}

const Definition* FunctionRegistry::find(std::string_view name) const {
    if (const auto it = state_->exact.find(std::string(name)); it != state_->exact.end()) return it->second;
    const auto it = state_->any_case.find(lower_case(name));
    return it == state_->any_case.end() ? nullptr : it->second;
}

std::vector<std::string> FunctionRegistry::names() const {
    std::vector<std::string> names;
    for (const auto& [name, definition] : state_->exact) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

std::shared_ptr<const BoundFunction> FunctionRegistry::bind(std::string_view name, std::vector<Argument> arguments,
                                                            const FunctionContext& context) const {
    const Definition* definition = find(name);
    if (!definition) fail_unknown(name, names());
    check_count(*definition, arguments.size());
    auto bound = std::make_shared<BoundFunction>();
    bound->definition_ = definition;
    bound->arguments_ = arguments;

    bool low_cardinality = false, nullable = false;
    size_t full_low_cardinality = 0, full_ordinary = 0;
    for (auto& argument : arguments) {
        if (!argument.type || argument.type->id() == TypeId::Function) continue;
        if (!definition->low_cardinality_custom) {
            const bool is_low = argument.type->is_low_cardinality();
            low_cardinality |= is_low;
            if (!argument.constant) ++(is_low ? full_low_cardinality : full_ordinary);
            argument = {strip_low_cardinality_deep(argument.type), argument.constant};
            if (argument.constant) argument.constant = retype(argument.constant, argument.type);
        }
        if (definition->nulls == NullHandling::Propagate && accepts_null(*argument.type)) {
            nullable = true;
            if (unwrap(argument.type)->id() == TypeId::Nothing) bound->null_literal_ = true;
            argument.type = strip_nullable(argument.type);
            if (argument.constant) argument.constant = argument.constant->with_nulls(argument.type, nullptr);
        }
    }
    if (bound->null_literal_) {
        bound->result_ = bound->kernel_result_ = make_nullable(make_type(TypeId::Nothing));
        return bound;
    }
    Overload overload = nullable && definition->resolve_nullable ? definition->resolve_nullable(arguments, context)
                                                                 : definition->resolve(arguments, context);
    bound->kernel_ = std::move(overload.kernel);
    bound->kernel_result_ = overload.result;
    bound->result_ = nullable ? make_nullable(overload.result) : overload.result;
    if (low_cardinality && full_low_cardinality <= 1 && full_ordinary == 0 && fits_low_cardinality(*bound->result_))
        bound->result_ = make_low_cardinality(bound->result_);
    return bound;
}

Monotonic BoundFunction::monotonic(size_t which) const {
    if (!definition_->monotonic || null_literal_) return Monotonic::No;
    return definition_->monotonic(arguments_, which);
}

Monotonic BoundFunction::monotonic_between(size_t which, const Vector& low, const Vector& high) const {
    if (null_literal_) return Monotonic::No;
    if (!definition_->monotonic_between) return monotonic(which);
    return definition_->monotonic_between(arguments_, which, low, high);
}

}  // namespace firn::functions
