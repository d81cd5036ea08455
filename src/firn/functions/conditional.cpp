// if, multiIf, caseWithExpression, ifNull, coalesce, greatest, least: one of several values a row.
#include <cmath>
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/registration.h"
#include "firn/functions/selection.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

using Cast = std::function<VectorPtr(const VectorPtr&)>;

VectorPtr plain_or_constant(const VectorPtr& vector) { return vector->is_constant() ? vector : flatten(vector); }

template <typename T>
void copy_fixed(std::span<const VectorPtr> sources, const uint32_t* choice, size_t rows, char* out) {
    std::vector<const T*> values;
    std::vector<size_t> steps;
    for (const auto& source : sources) {
        values.push_back(source->flat_base().values<T>());
        steps.push_back(source->is_constant() ? 0 : 1);
    }
    auto* to = reinterpret_cast<T*>(out);
    for (size_t i = 0; i < rows; ++i) to[i] = values[choice[i]][steps[choice[i]] * i];
}

BufferPtr chosen_nulls(std::span<const VectorPtr> sources, const uint32_t* choice, size_t rows) {
    bool any = false;
    for (const auto& source : sources) any |= source->flat_base().nulls() != nullptr;
    if (!any) return nullptr;
    auto flags = Buffer::allocate(rows);
    auto* out = flags->mutable_as<uint8_t>();
    for (size_t i = 0; i < rows; ++i) {
        const Vector& source = *sources[choice[i]];
        const uint8_t* nulls = source.flat_base().nulls();
        out[i] = nulls ? nulls[source.is_constant() ? 0 : i] : 0;
    }
    return flags;
}

VectorPtr select_nested(const TypePtr& type, std::span<const VectorPtr> sources, const uint32_t* choice, size_t rows) {
    std::vector<VectorPtr> flat;
    std::vector<size_t> start;
    size_t total = 0;
    for (const auto& source : sources) {
        flat.push_back(retype(source->is_constant() ? source->base() : source, type));
        start.push_back(total);
        total += flat.back()->size();
    }
    const VectorPtr all = concat(type, flat);
    std::vector<uint32_t> rows_of(rows);
    for (size_t i = 0; i < rows; ++i)
        rows_of[i] = static_cast<uint32_t>(start[choice[i]] + (sources[choice[i]]->is_constant() ? 0 : i));
    return flatten(gather(all, rows_of));
}

/// Which rows a condition holds for; NULL is no.
void truth_of(const VectorPtr& condition, size_t rows, std::vector<uint8_t>& out) {
    out.assign(rows, 0);
    if (condition->flat_base().type()->physical() == Physical::None) return;
    for (const uint32_t row : selected_rows(condition)) out[row] = 1;
}

void check_condition(const Argument& argument, std::string_view name, size_t position) {
    const TypeId id = unwrap(argument.type)->id();
    if (id != TypeId::UInt8 && id != TypeId::Bool && id != TypeId::Nothing)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "Illegal type {} of argument {} (condition) of function {}: must be UInt8", argument.type->name(),
             position + 1, name);
}

struct Branches {
    TypePtr type;
    std::vector<Cast> casts;

    Branches(const std::vector<TypePtr>& types, const FunctionContext& context) : type(common_type(types)) {
        for (const auto& each : types) casts.push_back(same_type(each, type) ? Cast{} : make_cast(each, type, context));
    }
    VectorPtr get(size_t n, const VectorPtr& vector) const {
        return plain_or_constant(casts[n] ? casts[n](vector) : vector);
    }
};

/// conditions and values in turn, the last value for the rows that none holds for.
Overload resolve_multi_if(std::span<const Argument> arguments, const FunctionContext& context, std::string_view name) {
    if (arguments.size() < 3 || arguments.size() % 2 == 0)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes an odd number of arguments, 3 at least",
             name);
    std::vector<TypePtr> types;
    for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
        check_condition(arguments[i], name, i);
        types.push_back(arguments[i + 1].type);
    }
    types.push_back(arguments.back().type);
    Branches branches(types, context);
    return {branches.type, [branches](const KernelArguments& call) -> VectorPtr {
                const size_t rows = call.rows, count = branches.casts.size();
                std::vector<uint32_t> choice(rows, static_cast<uint32_t>(count - 1));
                std::vector<uint8_t> truth;
                for (size_t n = count - 1; n-- > 0;) {
                    truth_of(call[2 * n], rows, truth);
                    for (size_t i = 0; i < rows; ++i)
                        if (truth[i]) choice[i] = static_cast<uint32_t>(n);
                }
                std::vector<VectorPtr> sources;
                for (size_t n = 0; n < count; ++n)
                    sources.push_back(branches.get(n, call[n + 1 == count ? 2 * n : 2 * n + 1]));
                return select_rows(branches.type, sources, choice.data(), rows);
            }};
}

/// CASE x WHEN v THEN r … ELSE e END: (x, v, r, …, e).
Overload resolve_case(std::span<const Argument> arguments, const FunctionContext& context) {
    if (arguments.size() < 4 || arguments.size() % 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
             "Function caseWithExpression takes an even number of arguments, 4 at least");
    std::vector<std::shared_ptr<const BoundFunction>> tests;
    std::vector<TypePtr> types;
    for (size_t i = 1; i + 1 < arguments.size(); i += 2) {
        tests.push_back(FunctionRegistry::instance().bind("isNotDistinctFrom", {arguments[0], arguments[i]}, context));
        types.push_back(arguments[i + 1].type);
    }
    types.push_back(arguments.back().type);
    Branches branches(types, context);
    return {branches.type, [branches, tests](const KernelArguments& call) -> VectorPtr {
                const size_t rows = call.rows, count = branches.casts.size();
                std::vector<uint32_t> choice(rows, static_cast<uint32_t>(count - 1));
                std::vector<uint8_t> truth;
                for (size_t n = count - 1; n-- > 0;) {
                    const VectorPtr pair[] = {call[0], call[2 * n + 1]};
                    truth_of(tests[n]->execute(pair, rows), rows, truth);
                    for (size_t i = 0; i < rows; ++i)
                        if (truth[i]) choice[i] = static_cast<uint32_t>(n);
                }
                std::vector<VectorPtr> sources;
                for (size_t n = 0; n < count; ++n)
                    sources.push_back(branches.get(n, call[n + 1 == count ? 2 * n + 1 : 2 * n + 2]));
                return select_rows(branches.type, sources, choice.data(), rows);
            }};
}

/// The first value that is not NULL.
Overload resolve_coalesce(std::span<const Argument> arguments, const FunctionContext& context) {
    std::vector<TypePtr> types;
    std::vector<size_t> used;
    bool nullable = true;
    for (size_t i = 0; i < arguments.size() && nullable; ++i) {
        if (unwrap(arguments[i].type)->id() == TypeId::Nothing && accepts_null(*arguments[i].type)) continue;
        nullable = accepts_null(*arguments[i].type);
        types.push_back(strip_nullable(arguments[i].type));
        used.push_back(i);
    }
    if (used.empty()) {
        const TypePtr null = make_nullable(make_type(TypeId::Nothing));
        return {null, [null](const KernelArguments& call) { return Vector::defaults(null, call.rows); }};
    }
    const TypePtr common = common_type(types);
    const TypePtr type = nullable ? make_nullable(common) : common;
    const TypePtr inside = make_nullable(common);
    std::vector<Cast> casts;
    for (const size_t i : used) {
        const TypePtr to = accepts_null(*arguments[i].type) ? inside : common;
        casts.push_back(same_type(arguments[i].type, to) ? Cast{} : make_cast(arguments[i].type, to, context));
    }
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const size_t rows = call.rows;
                std::vector<VectorPtr> sources;
                for (size_t n = 0; n < used.size(); ++n)
                    sources.push_back(plain_or_constant(casts[n] ? casts[n](call[used[n]]) : call[used[n]]));
                std::vector<uint32_t> choice(rows, static_cast<uint32_t>(used.size() - 1));
                for (size_t n = used.size() - 1; n-- > 0;) {
                    const uint8_t* nulls = sources[n]->flat_base().nulls();
                    for (size_t i = 0; i < rows; ++i)
                        if (!nulls || !nulls[sources[n]->is_constant() ? 0 : i]) choice[i] = static_cast<uint32_t>(n);
                }
                return select_rows(type, sources, choice.data(), rows);
            }};
}

bool is_nan(const Vector& vector, size_t row) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    if (flat.type()->physical() == Physical::Float64) return std::isnan(flat.values<double>()[at]);
    return flat.type()->physical() == Physical::Float32 && std::isnan(flat.values<float>()[at]);
}

/// greatest and least skip NULL; NULL only where all are.
Overload resolve_extreme(std::span<const Argument> arguments, const FunctionContext& context, int direction) {
    std::vector<TypePtr> types;
    for (const auto& argument : arguments) types.push_back(argument.type);
    Branches branches(types, context);
    return {branches.type, [branches, direction](const KernelArguments& call) -> VectorPtr {
                std::vector<VectorPtr> sources;
                for (size_t n = 0; n < call.size(); ++n) sources.push_back(branches.get(n, call[n]));
                std::vector<uint32_t> choice(call.rows, 0);
                for (size_t n = 1; n < sources.size(); ++n)
                    for (size_t i = 0; i < call.rows; ++i) {
                        const Vector& best = *sources[choice[i]];
                        if (sources[n]->is_null(i)) continue;
                        // As `best > next ? best : next` gives it: a comparison with NaN is false.
                        if (best.is_null(i) || is_nan(best, i) || is_nan(*sources[n], i) ||
                            compare_values(best, i, *sources[n], i) * direction <= 0)
                            choice[i] = static_cast<uint32_t>(n);
                    }
                return select_rows(branches.type, sources, choice.data(), call.rows);
            }};
}

}  // namespace

VectorPtr select_rows(const TypePtr& type, std::span<const VectorPtr> sources, const uint32_t* choice, size_t rows) {
    const Physical physical = type->physical();
    if (physical == Physical::None) return Vector::defaults(type, rows);
    if (physical == Physical::Array || physical == Physical::Tuple) return select_nested(type, sources, choice, rows);
    const size_t width = type->value_size();
    auto values = Buffer::allocate(rows * width);
    Owners owners;
    if (physical == Physical::Str) {
        copy_fixed<StringRef>(sources, choice, rows, values->mutable_data());
        for (const auto& source : sources) owners.push_back(source);
    } else {
        dispatch_fixed(physical, [&]<typename T>() { copy_fixed<T>(sources, choice, rows, values->mutable_data()); });
    }
    return Vector::flat(type, rows, std::move(values),
                        accepts_null(*type) ? chosen_nulls(sources, choice, rows) : nullptr, std::move(owners));
}

void register_conditional_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, size_t least, size_t most, bool any_case, auto resolve,
                         std::vector<std::string> aliases = {}) {
        Definition definition;
        definition.name = name;
        definition.aliases = std::move(aliases);
        definition.case_insensitive = any_case;
        definition.nulls = NullHandling::Custom;
        definition.min_arguments = least;
        definition.max_arguments = most;
        definition.resolve = resolve;
        registry.add(std::move(definition));
    };
    add("if", 3, 3, true,
        [](std::span<const Argument> a, const FunctionContext& c) { return resolve_multi_if(a, c, "if"); });
    add("multiIf", 0, SIZE_MAX, true,
        [](std::span<const Argument> a, const FunctionContext& c) { return resolve_multi_if(a, c, "multiIf"); },
        {"caseWithoutExpression", "caseWithoutExpr"});
    add("caseWithExpression", 0, SIZE_MAX, false, resolve_case, {"caseWithExpr"});
    add("coalesce", 1, SIZE_MAX, true, resolve_coalesce);
    add("ifNull", 2, 2, true, resolve_coalesce, {"nvl"});
    add("greatest", 1, SIZE_MAX, true,
        [](std::span<const Argument> a, const FunctionContext& c) { return resolve_extreme(a, c, 1); });
    add("least", 1, SIZE_MAX, true,
        [](std::span<const Argument> a, const FunctionContext& c) { return resolve_extreme(a, c, -1); });
}

}  // namespace firn::functions
