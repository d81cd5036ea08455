// Arrays made from arrays: arrayConcat, arraySlice, arrayDistinct, arrayReverse, range, hasAll, arrayIntersect.
#include <algorithm>
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/array_rows.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

using Arguments = std::span<const Argument>;
using Cast = std::function<VectorPtr(const VectorPtr&)>;

void add(FunctionRegistry& registry, const char* name, size_t least, size_t most,
         std::function<Overload(Arguments, const FunctionContext&)> resolve,
         NullHandling nulls = NullHandling::Custom) {
    Definition definition;
    definition.name = name;
    definition.nulls = nulls;
    definition.min_arguments = least;
    definition.max_arguments = most;
    definition.resolve = std::move(resolve);
    registry.add(std::move(definition));
}

/// A function of one array that only reorders, drops or repeats elements.
void add_picking(FunctionRegistry& registry, const char* name,
                 void (*pick)(const Vector& child, Range range, ElementPicker& out)) {
    add(registry, name, 1, 1, [=](Arguments arguments, const FunctionContext&) {
        element_type(arguments, 0, name);
        const TypePtr type = arguments[0].type;
        return Overload{type, [=](const KernelArguments& call) {
                            const VectorPtr array = flatten(call[0]);
                            ElementPicker out(call.rows);
                            for (size_t i = 0; i < call.rows; ++i) {
                                pick(*array->child(), range_at(*array, i), out);
                                out.end_row();
                            }
                            return out.finish(type, array->child());
                        }};
    });
}

void pick_reverse(const Vector&, Range range, ElementPicker& out) {
    for (uint32_t j = range.end; j > range.begin; --j) out.pick(j - 1);
}
void pick_but_last(const Vector&, Range range, ElementPicker& out) {
    for (uint32_t j = range.begin; j + 1 < range.end; ++j) out.pick(j);
}
void pick_but_first(const Vector&, Range range, ElementPicker& out) {
    for (uint32_t j = range.begin + 1; j < range.end; ++j) out.pick(j);
}
void pick_compact(const Vector& child, Range range, ElementPicker& out) {
    for (uint32_t j = range.begin; j < range.end; ++j)
        if (j == range.begin || !equal_values(child, j, child, j - 1)) out.pick(j);
}

/// Numbers of equal elements seen so far in the range: a hash table that is reset for each row.
class Seen {
public:
    Seen(const Vector& child, Range range) : child_(child), range_(range), hashes_(range.size()) {
        std::vector<uint32_t> rows(range.size());
        for (uint32_t j = 0; j < range.size(); ++j) rows[j] = range.begin + j;
        const VectorPtr alias(&child, [](const Vector*) {});
        const VectorPtr part = slice(alias, range.begin, range.size());
        hash_rows({&part, 1}, range.size(), hashes_.data());
        size_t size = 4;
        while (size < 2U * range.size()) size *= 2;
        slots_.assign(size, kNoRow);
    }
    /// The first element equal to element j (itself when it is the first).
    uint32_t first(uint32_t j) {
        size_t at = hashes_[j - range_.begin] & (slots_.size() - 1);
        while (slots_[at] != kNoRow && !equal_values(child_, slots_[at], child_, j))
            at = (at + 1) & (slots_.size() - 1);
        if (slots_[at] == kNoRow) slots_[at] = j;
        return slots_[at];
    }

private:
    const Vector& child_;
    Range range_;
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_;
};

/// Each element once, and none that is NULL.
Overload resolve_distinct(Arguments arguments, const FunctionContext&) {
    const TypePtr given = arguments[0].type;
    const TypePtr type = make_array(strip_nullable(element_type(arguments, 0, "arrayDistinct")));
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]);
                const Vector& child = *array->child();
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    Seen seen(child, range);
                    for (uint32_t j = range.begin; j < range.end; ++j)
                        if (!child.is_null(j) && seen.first(j) == j) out.pick(j);
                    out.end_row();
                }
                return retype(out.finish(given, array->child()), type);
            }};
}

Overload resolve_uniq(Arguments arguments, const FunctionContext&) {
    element_type(arguments, 0, "arrayUniq");
    const TypePtr type = make_type(TypeId::UInt32);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]);
                Output<uint32_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    Seen seen(*array->child(), range);
                    out[i] = 0;
                    for (uint32_t j = range.begin; j < range.end; ++j) out[i] += seen.first(j) == j;
                }
                return out.finish(type);
            }};
}

/// arrayEnumerate: 1, 2, 3 …; arrayEnumerateUniq: how often the element was there so far; arrayEnumerateDense: its number.
Overload resolve_enumerate(Arguments arguments, int kind) {
    element_type(arguments, 0, "arrayEnumerate");
    const TypePtr element = make_type(TypeId::UInt32), type = make_array(element);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]);
                const size_t total = static_cast<size_t>(array->offsets()[call.rows]);
                Output<uint32_t> out(std::max(total, array->child()->size()));
                std::memset(out.data(), 0, std::max(total, array->child()->size()) * sizeof(uint32_t));
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    if (kind == 0) {
                        for (uint32_t j = range.begin; j < range.end; ++j) out[j] = j - range.begin + 1;
                        continue;
                    }
                    Seen seen(*array->child(), range);
                    std::vector<uint32_t> count(range.size(), 0);
                    uint32_t distinct = 0;
                    for (uint32_t j = range.begin; j < range.end; ++j) {
                        const uint32_t first = seen.first(j) - range.begin;
                        if (kind == 1)
                            out[j] = ++count[first];
                        else
                            out[j] = count[first] ? count[first] : (count[first] = ++distinct);
                    }
                }
                return Vector::array(type, call.rows, array->offsets_buffer(), out.finish(element));
            }};
}

/// Several arrays as one type, their children one after another: what concat and intersect work on.
struct Joined {
    TypePtr type;  // Array of the common element
    std::vector<Cast> casts;

    Joined(Arguments arguments, const FunctionContext& context, std::string_view name) {
        std::vector<TypePtr> types;
        for (size_t i = 0; i < arguments.size(); ++i) {
            element_type(arguments, i, name);
            types.push_back(arguments[i].type);
        }
        type = common_type(types);
        for (const auto& each : types) casts.push_back(same_type(each, type) ? Cast{} : make_cast(each, type, context));
    }
    VectorPtr get(const KernelArguments& call, size_t n) const {
        return flatten(casts[n] ? casts[n](call[n]) : call[n]);
    }
};

Overload resolve_concat(Arguments arguments, const FunctionContext& context) {
    const Joined joined(arguments, context, "arrayConcat");
    return {joined.type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> arrays, children;
                std::vector<uint32_t> start;
                uint32_t total = 0;
                for (size_t n = 0; n < call.size(); ++n) {
                    arrays.push_back(joined.get(call, n));
                    children.push_back(flatten(arrays.back()->child()));
                    start.push_back(total);
                    total += static_cast<uint32_t>(children.back()->size());
                }
                const VectorPtr all = concat(joined.type->child(), children);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    for (size_t n = 0; n < arrays.size(); ++n) {
                        const Range range = range_at(*arrays[n], i);
                        for (uint32_t j = range.begin; j < range.end; ++j) out.pick(start[n] + j);
                    }
                    out.end_row();
                }
                return out.finish(joined.type, all);
            }};
}

Overload resolve_push(Arguments arguments, const FunctionContext& context, bool front) {
    const TypePtr types[] = {element_type(arguments, 0, "arrayPush"), arguments[1].type};
    const TypePtr element = common_type(types), type = make_array(element);
    auto cast_array = make_cast(arguments[0].type, type, context),
         cast_value = make_cast(arguments[1].type, element, context);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(cast_array(call[0]));
                const VectorPtr values = cast_value(call[1]);
                const VectorPtr parts[] = {flatten(array->child()), flatten(values)};
                const VectorPtr all = concat(element, parts);
                const auto start = static_cast<uint32_t>(parts[0]->size());
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    if (front) out.pick(start + static_cast<uint32_t>(i));
                    for (uint32_t j = range.begin; j < range.end; ++j) out.pick(j);
                    if (!front) out.pick(start + static_cast<uint32_t>(i));
                    out.end_row();
                }
                return out.finish(type, all);
            }};
}

VectorPtr ints(const VectorPtr& vector) { return convert_numbers(make_type(TypeId::Int64), flatten(vector)); }

void check_int(Arguments arguments, size_t position, const char* name) {
    const TypeId id = unwrap(arguments[position].type)->id();
    if (!is_integer(id) && id != TypeId::Bool && id != TypeId::Nothing)
        fail_argument(name, *arguments[position].type, position);
}

Overload resolve_slice(Arguments arguments, const FunctionContext&) {
    element_type(arguments, 0, "arraySlice");
    for (size_t i = 1; i < arguments.size(); ++i) check_int(arguments, i, "arraySlice");
    const TypePtr type = arguments[0].type;
    const bool has_length = arguments.size() > 2 && unwrap(arguments[2].type)->id() != TypeId::Nothing;
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]), offsets = ints(call[1]),
                                lengths = has_length ? ints(call[2]) : nullptr;
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    const auto size = static_cast<int64_t>(range.size());
                    const int64_t offset = offsets->values<int64_t>()[i];
                    int64_t begin = offset > 0 ? offset - 1 : offset == 0 ? size : size + offset;
                    int64_t end = size;
                    if (lengths) {
                        const int64_t length = lengths->values<int64_t>()[i];
                        end = length >= 0 ? (length > size - begin ? size : begin + length) : size + length;
                    }
                    begin = std::clamp<int64_t>(begin, 0, size);
                    end = std::clamp<int64_t>(end, begin, size);
                    for (int64_t j = begin; j < end; ++j) out.pick(range.begin + static_cast<uint32_t>(j));
                    out.end_row();
                }
                return out.finish(type, array->child());
            }};
}

constexpr int64_t kMaxArray = 1000000000;

Overload resolve_resize(Arguments arguments, const FunctionContext& context) {
    TypePtr element = element_type(arguments, 0, "arrayResize");
    check_int(arguments, 1, "arrayResize");
    if (arguments.size() > 2) {
        const TypePtr types[] = {element, arguments[2].type};
        element = common_type(types);
    }
    const TypePtr type = make_array(element);
    auto cast = make_cast(arguments[0].type, type, context);
    Cast fill = arguments.size() > 2 ? make_cast(arguments[2].type, element, context) : Cast{};
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(cast(call[0])), sizes = ints(call[1]);
                VectorPtr child = flatten(array->child());
                const auto start = static_cast<uint32_t>(child->size());
                if (fill) {
                    const VectorPtr parts[] = {child, flatten(fill(call[2]))};
                    child = concat(element, parts);
                }
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*array, i);
                    const int64_t wanted = sizes->values<int64_t>()[i], size = wanted < 0 ? -wanted : wanted;
                    if (size > kMaxArray)
                        fail(ErrorCode::TOO_LARGE_ARRAY_SIZE, "Size {} of arrayResize is too large", wanted);
                    const auto kept = static_cast<uint32_t>(std::min<int64_t>(size, range.size()));
                    const uint32_t missing = static_cast<uint32_t>(size) - kept,
                                   filler = fill ? start + static_cast<uint32_t>(i) : kNoRow;
                    if (wanted < 0)
                        for (uint32_t j = 0; j < missing; ++j) out.pick(filler);
                    for (uint32_t j = 0; j < kept; ++j) out.pick(wanted < 0 ? range.end - kept + j : range.begin + j);
                    if (wanted > 0)
                        for (uint32_t j = 0; j < missing; ++j) out.pick(filler);
                    out.end_row();
                }
                return out.finish(type, child);
            }};
}

Overload resolve_with_constant(Arguments arguments, const FunctionContext&) {
    check_int(arguments, 0, "arrayWithConstant");
    const TypePtr type = make_array(arguments[1].type);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr sizes = ints(call[0]), values = flatten(call[1]);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t size = sizes->values<int64_t>()[i];
                    if (size < 0 || size > kMaxArray)
                        fail(ErrorCode::TOO_LARGE_ARRAY_SIZE, "Size {} of arrayWithConstant is out of range", size);
                    for (int64_t j = 0; j < size; ++j) out.pick(static_cast<uint32_t>(i));
                    out.end_row();
                }
                return out.finish(type, values);
            }};
}

Overload resolve_range(Arguments arguments, const FunctionContext&) {
    std::vector<TypePtr> types;
    for (size_t i = 0; i < arguments.size(); ++i) {
        check_int(arguments, i, "range");
        types.push_back(arguments[i].type);
    }
    const TypePtr element = unwrap(common_type(types)), type = make_array(element);
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> columns;
                for (const auto& vector : call.vectors) columns.push_back(ints(vector));
                std::vector<int64_t> values;
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                offsets->mutable_as<int64_t>()[0] = 0;
                for (size_t i = 0; i < call.rows; ++i) {
                    const int64_t begin = columns.size() > 1 ? columns[0]->values<int64_t>()[i] : 0,
                                  end = columns[columns.size() > 1 ? 1 : 0]->values<int64_t>()[i];
                    const int64_t step = columns.size() > 2 ? columns[2]->values<int64_t>()[i] : 1;
                    if (columns.size() == 1 && end < 0)
                        fail(ErrorCode::ARGUMENT_OUT_OF_BOUND,
                             "The argument of function range must not be negative: {}", end);
                    if (step == 0) fail(ErrorCode::ARGUMENT_OUT_OF_BOUND, "The step of function range must not be 0");
                    for (int64_t v = begin; step > 0 ? v < end : v > end; v += step) {
                        if (values.size() >= 500000000)
                            fail(ErrorCode::ARGUMENT_OUT_OF_BOUND,
                                 "Function range would make more than 500000000 elements");
                        values.push_back(v);
                    }
                    offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(values.size());
                }
                Output<int64_t> out(values.size());
                if (!values.empty()) std::memcpy(out.data(), values.data(), values.size() * sizeof(int64_t));
                return Vector::array(type, call.rows, std::move(offsets),
                                     convert_numbers(element, out.finish(make_type(TypeId::Int64))));
            }};
}

Overload resolve_flatten(Arguments arguments, const FunctionContext&) {
    element_type(arguments, 0, "arrayFlatten");
    TypePtr type = arguments[0].type;
    size_t depth = 0;
    for (; type->child()->id() == TypeId::Array; ++depth) type = type->child();
    return {type, [=](const KernelArguments& call) {
                VectorPtr level = flatten(call[0]);
                std::vector<int64_t> ends(level->offsets(), level->offsets() + call.rows + 1);
                for (size_t d = 0; d < depth; ++d) {
                    level = flatten(level->child());
                    for (auto& end : ends) end = level->offsets()[end];
                }
                auto offsets = Buffer::allocate(ends.size() * sizeof(int64_t));
                std::memcpy(offsets->mutable_data(), ends.data(), ends.size() * sizeof(int64_t));
                return Vector::array(type, call.rows, std::move(offsets), flatten(level->child()));
            }};
}

Overload resolve_zip(Arguments arguments, const FunctionContext&) {
    std::vector<TypePtr> elements;
    for (size_t i = 0; i < arguments.size(); ++i) elements.push_back(element_type(arguments, i, "arrayZip"));
    const TypePtr element = make_tuple_type(elements), type = make_array(element);
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> children;
                VectorPtr first;
                for (size_t n = 0; n < call.size(); ++n) {
                    const VectorPtr array = flatten(call[n]);
                    if (!first) first = array;
                    std::vector<uint32_t> rows;
                    for (size_t i = 0; i < call.rows; ++i) {
                        const Range range = range_at(*array, i);
                        if (range.size() != range_at(*first, i).size())
                            fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                                 "The arrays of function arrayZip must have the same size");
                        for (uint32_t j = range.begin; j < range.end; ++j) rows.push_back(j);
                    }
                    children.push_back(flatten(gather(array->child(), rows)));
                }
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                for (size_t i = 0; i <= call.rows; ++i)
                    offsets->mutable_as<int64_t>()[i] = first->offsets()[i] - first->offsets()[0];
                const size_t total = children[0]->size();
                return Vector::array(type, call.rows, std::move(offsets),
                                     Vector::tuple(element, total, std::move(children)));
            }};
}

/// A function of one array called on several as on one of tuples.
Overload of_zipped(Arguments arguments, const FunctionContext& context,
                   const std::function<Overload(Arguments, const FunctionContext&)>& resolve) {
    if (arguments.size() == 1) return resolve(arguments, context);
    const Overload zip = resolve_zip(arguments, context);
    const Argument zipped[] = {{zip.result, nullptr}};
    const Overload one = resolve(zipped, context);
    return {one.result, [=](const KernelArguments& call) {
                const VectorPtr vectors[] = {zip.kernel(call)};
                return one.kernel({vectors, {}, call.rows});
            }};
}

bool holds(const Vector& child, Range range, const Vector& other, uint32_t element) {
    for (uint32_t j = range.begin; j < range.end; ++j)
        if (equal_values(child, j, other, element)) return true;
    return false;
}

enum class Sets : uint8_t { All, Any, Substring };

Overload resolve_sets(Arguments arguments, const FunctionContext& context, Sets sets, const char* name) {
    const Joined joined(arguments, context, name);
    const TypePtr type = make_type(TypeId::UInt8);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr a = joined.get(call, 0), b = joined.get(call, 1);
                const Vector &x = *a->child(), &y = *b->child();
                Output<uint8_t> out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range left = range_at(*a, i), right = range_at(*b, i);
                    bool result = sets != Sets::Any;
                    if (sets == Sets::Substring) {
                        result = right.size() == 0;
                        for (uint32_t at = left.begin; !result && at + right.size() <= left.end; ++at) {
                            result = true;
                            for (uint32_t j = 0; j < right.size() && result; ++j)
                                result = equal_values(x, at + j, y, right.begin + j);
                        }
                    } else {
                        for (uint32_t j = right.begin; j < right.end && result == (sets == Sets::All); ++j)
                            result = holds(x, left, y, j);
                    }
                    out[i] = result;
                }
                return out.finish(type);
            }};
}

Overload resolve_intersect(Arguments arguments, const FunctionContext& context) {
    const Joined joined(arguments, context, "arrayIntersect");
    return {joined.type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> arrays;
                for (size_t n = 0; n < call.size(); ++n) arrays.push_back(joined.get(call, n));
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*arrays[0], i);
                    Seen seen(*arrays[0]->child(), range);
                    for (uint32_t j = range.begin; j < range.end; ++j) {
                        bool everywhere = seen.first(j) == j;
                        for (size_t n = 1; n < arrays.size() && everywhere; ++n)
                            everywhere = holds(*arrays[n]->child(), range_at(*arrays[n], i), *arrays[0]->child(), j);
                        if (everywhere) out.pick(j);
                    }
                    out.end_row();
                }
                return out.finish(joined.type, arrays[0]->child());
            }};
}

}  // namespace

VectorPtr ElementPicker::finish(const TypePtr& array_type, const VectorPtr& child) {
    auto offsets = Buffer::allocate(ends_.size() * sizeof(int64_t));
    std::memcpy(offsets->mutable_data(), ends_.data(), ends_.size() * sizeof(int64_t));
    return Vector::array(array_type, ends_.size() - 1, std::move(offsets),
                         flatten(gather_or_default(flatten(child), elements_)));
}

const TypePtr& element_type(std::span<const Argument> arguments, size_t position, std::string_view name) {
    if (arguments[position].type->id() != TypeId::Array) fail_argument(name, *arguments[position].type, position);
    return arguments[position].type->child();
}

void register_array_functions(FunctionRegistry& registry) {
    add_picking(registry, "arrayReverse", pick_reverse);
    add_picking(registry, "arrayPopBack", pick_but_last);
    add_picking(registry, "arrayPopFront", pick_but_first);
    add_picking(registry, "arrayCompact", pick_compact);
    add(registry, "arrayDistinct", 1, 1, resolve_distinct);
    add(registry, "arrayUniq", 1, SIZE_MAX,
        [](Arguments a, const FunctionContext& c) { return of_zipped(a, c, resolve_uniq); });
    add(registry, "arrayEnumerate", 1, 1, [](Arguments a, const FunctionContext&) { return resolve_enumerate(a, 0); });
    add(registry, "arrayEnumerateUniq", 1, SIZE_MAX, [](Arguments a, const FunctionContext& c) {
        return of_zipped(a, c, [](Arguments one, const FunctionContext&) { return resolve_enumerate(one, 1); });
    });
    add(registry, "arrayEnumerateDense", 1, SIZE_MAX, [](Arguments a, const FunctionContext& c) {
        return of_zipped(a, c, [](Arguments one, const FunctionContext&) { return resolve_enumerate(one, 2); });
    });
    add(registry, "arrayConcat", 1, SIZE_MAX, resolve_concat);
    add(registry, "arrayPushBack", 2, 2,
        [](Arguments a, const FunctionContext& c) { return resolve_push(a, c, false); });
    add(registry, "arrayPushFront", 2, 2,
        [](Arguments a, const FunctionContext& c) { return resolve_push(a, c, true); });
    add(registry, "arraySlice", 2, 3, resolve_slice);
    add(registry, "arrayResize", 2, 3, resolve_resize);
    add(registry, "arrayWithConstant", 2, 2, resolve_with_constant);
    add(registry, "range", 1, 3, resolve_range, NullHandling::Propagate);
    add(registry, "arrayFlatten", 1, 1, resolve_flatten);
    add(registry, "arrayZip", 1, SIZE_MAX, resolve_zip);
    add(registry, "hasAll", 2, 2,
        [](Arguments a, const FunctionContext& c) { return resolve_sets(a, c, Sets::All, "hasAll"); });
    add(registry, "hasAny", 2, 2,
        [](Arguments a, const FunctionContext& c) { return resolve_sets(a, c, Sets::Any, "hasAny"); });
    add(registry, "hasSubstr", 2, 2,
        [](Arguments a, const FunctionContext& c) { return resolve_sets(a, c, Sets::Substring, "hasSubstr"); });
    add(registry, "arrayIntersect", 1, SIZE_MAX, resolve_intersect);
    for (const char* element : {"UInt8", "UInt16", "UInt32", "UInt64", "Int8", "Int16", "Int32", "Int64", "Float32",
                                "Float64", "Date", "DateTime", "String"})
        add(registry, (std::string("emptyArray") + element).c_str(), 0, 0,
            [element = std::string(element)](Arguments, const FunctionContext&) {
                const TypePtr type = make_array(parse_type_name(element));
                return Overload{type,
                                [type](const KernelArguments& call) { return Vector::defaults(type, call.rows); }};
            });
}

}  // namespace firn::functions
