// Making and taking apart arrays, tuples and maps: array, tuple, map, arrayElement, tupleElement, length, has, mapKeys.
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

using Cast = std::function<VectorPtr(const VectorPtr&)>;

void add(FunctionRegistry& registry, const char* name, size_t least, size_t most, NullHandling nulls,
         std::function<Overload(std::span<const Argument>, const FunctionContext&)> resolve,
         std::vector<std::string> aliases = {}, bool any_case = false) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = any_case;
    definition.nulls = nulls;
    definition.min_arguments = least;
    definition.max_arguments = most;
    definition.resolve = std::move(resolve);
    registry.add(std::move(definition));
}

/// Rows of several vectors in turn: a[0], b[0], c[0], a[1], …
VectorPtr interleave(const TypePtr& type, const std::vector<VectorPtr>& columns, size_t rows) {
    std::vector<VectorPtr> flat;
    std::vector<uint32_t> start, order;
    size_t total = 0;
    for (const auto& column : columns) {
        flat.push_back(retype(column->is_constant() ? column->base() : flatten(column), type));
        start.push_back(static_cast<uint32_t>(total));
        total += flat.back()->size();
    }
    order.reserve(rows * columns.size());
    for (size_t i = 0; i < rows; ++i)
        for (size_t n = 0; n < columns.size(); ++n)
            order.push_back(start[n] + (columns[n]->is_constant() ? 0 : static_cast<uint32_t>(i)));
    if (columns.size() == 1 && !columns[0]->is_constant()) return flat[0];
    return flatten(gather(concat(type, flat), order));
}

BufferPtr even_offsets(size_t rows, size_t width) {
    auto offsets = Buffer::allocate((rows + 1) * sizeof(int64_t));
    for (size_t i = 0; i <= rows; ++i) offsets->mutable_as<int64_t>()[i] = static_cast<int64_t>(i * width);
    return offsets;
}

std::vector<Cast> casts_to(const std::vector<TypePtr>& types, const TypePtr& common, const FunctionContext& context) {
    std::vector<Cast> casts;
    for (const auto& type : types) casts.push_back(same_type(type, common) ? Cast{} : make_cast(type, common, context));
    return casts;
}

Overload resolve_array(std::span<const Argument> arguments, const FunctionContext& context) {
    std::vector<TypePtr> types;
    for (const auto& argument : arguments) types.push_back(argument.type);
    const TypePtr element = common_type(types);
    const TypePtr type = make_array(element);
    return {type, [=, casts = casts_to(types, element, context)](const KernelArguments& call) -> VectorPtr {
                if (casts.empty())
                    return Vector::array(type, call.rows, even_offsets(call.rows, 0), flatten(concat(element, {})));
                std::vector<VectorPtr> columns;
                for (size_t n = 0; n < casts.size(); ++n) columns.push_back(casts[n] ? casts[n](call[n]) : call[n]);
                return Vector::array(type, call.rows, even_offsets(call.rows, casts.size()),
                                     interleave(element, columns, call.rows));
            }};
}

Overload resolve_map(std::span<const Argument> arguments, const FunctionContext& context) {
    if (arguments.size() % 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
             "Function map takes an even number of arguments, {} were given", arguments.size());
    std::vector<TypePtr> keys, values;
    for (size_t i = 0; i < arguments.size(); i += 2) {
        keys.push_back(arguments[i].type);
        values.push_back(arguments[i + 1].type);
    }
    const TypePtr key = common_type(keys), value = common_type(values);
    const TypePtr type = make_map(key, value), entry = make_tuple_type({key, value});
    return {type,
            [=, key_casts = casts_to(keys, key, context),
             value_casts = casts_to(values, value, context)](const KernelArguments& call) -> VectorPtr {
                const size_t pairs = key_casts.size();
                if (pairs == 0)
                    return Vector::array(type, call.rows, even_offsets(call.rows, 0), flatten(concat(entry, {})));
                std::vector<VectorPtr> key_columns, value_columns;
                for (size_t n = 0; n < pairs; ++n) {
                    key_columns.push_back(key_casts[n] ? key_casts[n](call[2 * n]) : call[2 * n]);
                    value_columns.push_back(value_casts[n] ? value_casts[n](call[2 * n + 1]) : call[2 * n + 1]);
                }
                VectorPtr entries = Vector::tuple(
                    entry, call.rows * pairs,
                    {interleave(key, key_columns, call.rows), interleave(value, value_columns, call.rows)});
                return Vector::array(type, call.rows, even_offsets(call.rows, pairs), std::move(entries));
            }};
}

Overload resolve_tuple(std::span<const Argument> arguments, const FunctionContext&) {
    std::vector<TypePtr> types;
    for (const auto& argument : arguments) types.push_back(argument.type);
    const TypePtr type = make_tuple_type(types);
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> children;
                for (const auto& vector : call.vectors) children.push_back(flatten(vector));
                return Vector::tuple(type, call.rows, std::move(children));
            }};
}

/// Which element of a tuple a constant names; -1 where there is none.
int64_t element_index(const DataType& tuple, const Argument& which) {
    if (const auto name = constant_text(which)) {
        for (size_t i = 0; i < tuple.names().size(); ++i)
            if (tuple.names()[i] == *name) return static_cast<int64_t>(i);
        if (tuple.names().empty()) {  // unnamed elements are called by their number
            char* end = nullptr;
            const long number = std::strtol(name->c_str(), &end, 10);
            if (end && *end == '\0' && number >= 1 && number <= static_cast<long>(tuple.children().size()))
                return number - 1;
        }
        return -1;
    }
    const auto number = constant_int(which);
    if (!number)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Argument 2 of tupleElement must be a constant number or name");
    const auto size = static_cast<int64_t>(tuple.children().size());
    if (*number == 0) fail(ErrorCode::NOT_FOUND_COLUMN_IN_BLOCK, "Indices in tuples are 1-based");
    const int64_t index = *number > 0 ? *number - 1 : size + *number;
    return index >= 0 && index < size ? index : -1;
}

Overload resolve_tuple_element(std::span<const Argument> arguments, const FunctionContext&) {
    TypePtr type = arguments[0].type;
    size_t depth = 0;
    for (; type->id() == TypeId::Array; ++depth) type = type->child();
    if (type->id() != TypeId::Tuple)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
             "The first argument of tupleElement must be a tuple or an array of tuples, not {}",
             arguments[0].type->name());
    const int64_t index = element_index(*type, arguments[1]);
    if (index < 0) {
        if (arguments.size() > 2) return {arguments[2].type, [](const KernelArguments& call) { return call[2]; }};
        fail(constant_text(arguments[1]) ? ErrorCode::BAD_ARGUMENTS : ErrorCode::ARGUMENT_OUT_OF_BOUND,
             "Tuple {} has no such element", type->name());
    }
    TypePtr result = type->child(static_cast<size_t>(index));
    for (size_t i = 0; i < depth; ++i) result = make_array(result);
    return {result, [=](const KernelArguments& call) {
                std::function<VectorPtr(const VectorPtr&, const TypePtr&, size_t)> take =
                    [&](const VectorPtr& vector, const TypePtr& to, size_t level) -> VectorPtr {
                    const VectorPtr flat = flatten(vector);
                    if (level == 0) return flatten(flat->child(static_cast<size_t>(index)));
                    return Vector::array(to, flat->size(), flat->offsets_buffer(),
                                         take(flat->child(), to->child(), level - 1));
                };
                return take(call[0], result, depth);
            }};
}

/// arr[i]: counted from 1, or from the end when negative; the element's default outside.
Overload element_of_array(std::span<const Argument> arguments, const FunctionContext&, bool or_null) {
    const TypePtr element = arguments[0].type->child();
    const TypePtr index_type = unwrap(arguments[1].type);
    if (!is_integer(index_type->id()) && index_type->id() != TypeId::Bool)
        fail_argument("arrayElement", *arguments[1].type, 1);
    const TypePtr result = or_null || accepts_null(*arguments[1].type) ? make_nullable(element) : element;
    return {result, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]);
                const Vector& index = call[1]->flat_base();
                std::vector<uint32_t> rows(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const size_t at = call[1]->is_constant() ? 0 : i;
                    const int64_t begin = array->offsets()[i], size = array->offsets()[i + 1] - begin;
                    const int64_t wanted = int_at(index, at);
                    const bool is_null = index.nulls() && index.nulls()[at];
                    const int64_t place = wanted > 0 ? wanted - 1 : size + wanted;
                    rows[i] = wanted != 0 && place >= 0 && place < size && !is_null
                                  ? static_cast<uint32_t>(begin + place)
                                  : kNoRow;
                }
                return flatten(gather_or_default(retype(array->child(), result), rows));
            }};
}

Overload element_of_map(std::span<const Argument> arguments, const FunctionContext& context, bool or_null) {
    const TypePtr key = arguments[0].type->child(0);
    const TypePtr value = arguments[0].type->child(1), result = or_null ? make_nullable(value) : value;
    const TypePtr both[] = {key, arguments[1].type};
    if (is_string_like(unwrap(key)->id()) != is_string_like(unwrap(arguments[1].type)->id()) &&
        unwrap(arguments[1].type)->id() != TypeId::Nothing)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Illegal types of arguments {} and {} of function arrayElement",
             arguments[0].type->name(), arguments[1].type->name());
    const TypePtr common = common_type(both);
    const auto casts = casts_to({key, arguments[1].type}, common, context);
    return {result, [=](const KernelArguments& call) {
                const VectorPtr map = flatten(call[0]);
                const VectorPtr entries = flatten(map->child());
                const VectorPtr keys = casts[0] ? casts[0](entries->child(0)) : entries->child(0),
                                wanted = casts[1] ? casts[1](call[1]) : call[1];
                std::vector<uint32_t> rows(call.rows, kNoRow);
                for (size_t i = 0; i < call.rows; ++i)
                    for (int64_t j = map->offsets()[i]; j < map->offsets()[i + 1]; ++j)
                        if (equal_values(*keys, static_cast<size_t>(j), *wanted, i)) {
                            rows[i] = static_cast<uint32_t>(j);
                            break;
                        }
                return flatten(gather_or_default(retype(flatten(entries->child(1)), result), rows));
            }};
}

Overload resolve_element(std::span<const Argument> arguments, const FunctionContext& context, bool or_null) {
    if (arguments[0].type->id() == TypeId::Array) return element_of_array(arguments, context, or_null);
    if (arguments[0].type->id() == TypeId::Map) return element_of_map(arguments, context, or_null);
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "First argument of arrayElement must be an array or a map, not {}",
         arguments[0].type->name());
}

bool has_length(const DataType& type) {
    return type.physical() == Physical::Str || type.id() == TypeId::Array || type.id() == TypeId::Map;
}

int64_t length_at(const Vector& flat, size_t row) {
    if (flat.type()->physical() == Physical::Str) return flat.values<StringRef>()[row].size;
    return flat.offsets()[row + 1] - flat.offsets()[row];
}

Overload resolve_length(std::span<const Argument> arguments, const FunctionContext&) {
    if (!has_length(*arguments[0].type)) fail_argument("length", *arguments[0].type, 0);
    const TypePtr type = make_type(TypeId::UInt64);
    return {type, [=](const KernelArguments& call) {
                Output<uint64_t> out(call.rows);
                const Vector& flat = *call[0];
                for (size_t i = 0; i < call.rows; ++i) out[i] = static_cast<uint64_t>(length_at(flat, i));
                return out.finish(type);
            }};
}

Overload resolve_empty(std::span<const Argument> arguments, bool wanted, const char* name) {
    const TypeId id = arguments[0].type->id();
    const bool number = id == TypeId::UUID || id == TypeId::IPv4 || id == TypeId::IPv6;
    if (!number && !has_length(*arguments[0].type)) fail_argument(name, *arguments[0].type, 0);
    const TypePtr type = make_type(TypeId::UInt8);
    return {type, [=](const KernelArguments& call) {
                Output<uint8_t> out(call.rows);
                const Vector& flat = *call[0];
                for (size_t i = 0; i < call.rows; ++i) {
                    bool is_empty;
                    if (number)
                        is_empty =
                            id == TypeId::IPv4 ? flat.values<uint32_t>()[i] == 0 : flat.values<UInt128>()[i] == 0;
                    else if (id == TypeId::FixedString) {
                        const std::string_view bytes = flat.values<StringRef>()[i].view();
                        is_empty = bytes.find_first_not_of('\0') == std::string_view::npos;
                    } else
                        is_empty = length_at(flat, i) == 0;
                    out[i] = is_empty == wanted;
                }
                return out.finish(type);
            }};
}

enum class Search : uint8_t { Has, IndexOf, CountEqual };

/// An element looked for in each row's array.
Overload resolve_search(std::span<const Argument> arguments, const FunctionContext& context, Search search,
                        const char* name) {
    if (arguments[0].type->id() == TypeId::Map && search == Search::Has)
        return FunctionRegistry::instance().find("mapContains")->resolve(arguments, context);
    if (arguments[0].type->id() != TypeId::Array) fail_argument(name, *arguments[0].type, 0);
    const TypePtr element = arguments[0].type->child();
    const TypePtr both[] = {element, arguments[1].type};
    TypePtr common;
    try {
        common = common_type(both);
    } catch (const Error&) {
        const TypeId x = unwrap(element)->id(), y = unwrap(arguments[1].type)->id();
        if (is_number(x) && is_number(y)) {
            common = make_type(TypeId::Float64);
            if (accepts_null(*element) || accepts_null(*arguments[1].type)) common = make_nullable(common);
        } else {
            fail(ErrorCode::NO_COMMON_TYPE,
                 "Types of array and 2nd argument of function {} must be identical up to nullability, not {} and {}",
                 name, arguments[0].type->name(), arguments[1].type->name());
        }
    }
    const auto casts = casts_to({element, arguments[1].type}, common, context);
    const TypePtr type = make_type(search == Search::Has ? TypeId::UInt8 : TypeId::UInt64);
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const VectorPtr array = flatten(call[0]);
                const VectorPtr elements = casts[0] ? casts[0](array->child()) : array->child(),
                                wanted = casts[1] ? casts[1](call[1]) : call[1];
                Output<uint64_t> found(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    uint64_t value = 0;
                    for (int64_t j = array->offsets()[i]; j < array->offsets()[i + 1]; ++j) {
                        if (!equal_values(*elements, static_cast<size_t>(j), *wanted, i)) continue;
                        if (search == Search::CountEqual) {
                            ++value;
                            continue;
                        }
                        value = search == Search::Has ? 1 : static_cast<uint64_t>(j - array->offsets()[i] + 1);
                        break;
                    }
                    found[i] = value;
                }
                const VectorPtr out = found.finish(make_type(TypeId::UInt64));
                return search == Search::Has ? convert_numbers(type, out) : out;
            }};
}

Overload resolve_map_part(std::span<const Argument> arguments, size_t part, const char* name) {
    if (arguments[0].type->id() != TypeId::Map) fail_argument(name, *arguments[0].type, 0);
    const TypePtr type = make_array(arguments[0].type->child(part));
    return {type, [=](const KernelArguments& call) {
                const VectorPtr map = flatten(call[0]);
                return Vector::array(type, call.rows, map->offsets_buffer(),
                                     flatten(flatten(map->child())->child(part)));
            }};
}

Overload resolve_map_contains(std::span<const Argument> arguments, const FunctionContext& context, size_t part,
                              const char* name) {
    Overload inner = resolve_map_part(arguments, part, name);
    const Argument pair[] = {{inner.result, nullptr}, arguments[1]};
    Overload has = resolve_search(pair, context, Search::Has, name);
    return {has.result, [=](const KernelArguments& call) {
                const VectorPtr vectors[] = {inner.kernel({call.vectors.subspan(0, 1), {}, call.rows}), call[1]};
                return has.kernel({vectors, {}, call.rows});
            }};
}

}  // namespace

void register_structure_functions(FunctionRegistry& registry) {
    constexpr auto kCustom = NullHandling::Custom;
    constexpr auto kPropagate = NullHandling::Propagate;
    using Arguments = std::span<const Argument>;
    add(registry, "array", 0, SIZE_MAX, kCustom, resolve_array);
    add(registry, "map", 0, SIZE_MAX, kCustom, resolve_map);
    {
        Definition definition;
        definition.name = "tuple";
        definition.nulls = kCustom;
        definition.low_cardinality_custom = true;
        definition.resolve = resolve_tuple;
        registry.add(std::move(definition));
    }
    {
        Definition definition;
        definition.name = "tupleElement";
        definition.nulls = kCustom;
        definition.low_cardinality_custom = true;
        definition.min_arguments = 2;
        definition.max_arguments = 3;
        definition.resolve = resolve_tuple_element;
        registry.add(std::move(definition));
    }
    add(registry, "arrayElement", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_element(a, c, false); });
    add(registry, "arrayElementOrNull", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_element(a, c, true); });
    add(registry, "length", 1, 1, kPropagate, resolve_length, {"OCTET_LENGTH"}, true);
    add(registry, "empty", 1, 1, kPropagate,
        [](Arguments a, const FunctionContext&) { return resolve_empty(a, true, "empty"); });
    add(registry, "notEmpty", 1, 1, kPropagate,
        [](Arguments a, const FunctionContext&) { return resolve_empty(a, false, "notEmpty"); });
    add(registry, "has", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_search(a, c, Search::Has, "has"); });
    add(registry, "indexOf", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_search(a, c, Search::IndexOf, "indexOf"); });
    add(registry, "indexOfAssumeSorted", 2, 2, kCustom, [](Arguments a, const FunctionContext& c) {
        return resolve_search(a, c, Search::IndexOf, "indexOfAssumeSorted");
    });
    add(registry, "countEqual", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_search(a, c, Search::CountEqual, "countEqual"); });
    add(registry, "mapKeys", 1, 1, kPropagate,
        [](Arguments a, const FunctionContext&) { return resolve_map_part(a, 0, "mapKeys"); });
    add(registry, "mapValues", 1, 1, kPropagate,
        [](Arguments a, const FunctionContext&) { return resolve_map_part(a, 1, "mapValues"); });
    add(registry, "mapContains", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_map_contains(a, c, 0, "mapContains"); },
        {"mapContainsKey"});
    add(registry, "mapContainsValue", 2, 2, kCustom,
        [](Arguments a, const FunctionContext& c) { return resolve_map_contains(a, c, 1, "mapContainsValue"); });
}

}  // namespace firn::functions
