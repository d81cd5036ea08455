// Maps put together and filled up: mapAdd, mapConcat, mapUpdate, mapPopulateSeries; keys and values by LIKE;
// extractKeyValuePairs.
#include <algorithm>
#include <cstring>

#include "firn/functions/argument_types.h"
#include "firn/functions/arrays/array_rows.h"
#include "firn/functions/arrays/composed.h"
#include "firn/functions/cast.h"
#include "firn/functions/declare.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

using Cast = std::function<VectorPtr(const VectorPtr&)>;

/// A map, or a tuple of two arrays: keys and values of each row.
bool is_pair_of_arrays(const DataType& type) {
    return type.id() == TypeId::Tuple && type.children().size() == 2 && type.child(0)->id() == TypeId::Array &&
           type.child(1)->id() == TypeId::Array;
}
TypePtr key_type(const DataType& type) { return type.id() == TypeId::Map ? type.child(0) : type.child(0)->child(); }
TypePtr value_type(const DataType& type) { return type.id() == TypeId::Map ? type.child(1) : type.child(1)->child(); }

struct Sides {
    VectorPtr bounds;  // an array or map, whose offsets say where the rows' elements lie
    VectorPtr keys, values;
};
Sides sides_of(const VectorPtr& vector) {
    const VectorPtr flat = flatten(vector);
    if (flat->type()->id() == TypeId::Map) {
        const VectorPtr pairs = flatten(flat->child());
        return {flat, flatten(pairs->child(0)), flatten(pairs->child(1))};
    }
    const VectorPtr keys = flatten(flat->child(0)), values = flatten(flat->child(1));
    if (std::memcmp(keys->offsets(), values->offsets(), (flat->size() + 1) * sizeof(int64_t)) != 0)
        fail(ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH, "The arrays of keys and of values must have equal sizes");
    return {keys, flatten(keys->child()), flatten(values->child())};
}

TypePtr summed_type(const TypePtr& type, const char* name) {
    const TypeId id = type->id();
    if (is_float(id)) return make_type(TypeId::Float64);
    if (is_signed_integer(id)) return make_type(TypeId::Int64);
    if (is_unsigned_integer(id) || id == TypeId::Bool) return make_type(TypeId::UInt64);
    fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The values given to function {} have to be numbers, not {}", name,
         type->name());
}

/// Sums (or differences) of the values of equal keys, in the order of the keys.
Overload resolve_sum(ArgumentList arguments, const FunctionContext& context, const char* name, bool subtract) {
    if (arguments.size() < 2)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH, "Function {} takes at least two maps", name);
    const DataType& first = *arguments[0].type;
    std::vector<TypePtr> values;
    for (const auto& argument : arguments) {
        const DataType& type = *argument.type;
        if (type.id() != first.id() || (type.id() != TypeId::Map && !is_pair_of_arrays(type)))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function {} takes maps, or tuples of two arrays, not {}", name,
                 type.name());
        if (!same_type(key_type(type), key_type(first)))
            fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function {} expects the same type for all keys, not {} and {}",
                 name, key_type(first)->name(), key_type(type)->name());
        values.push_back(value_type(type));
    }
    const TypePtr value = summed_type(common_type(values), name), key = key_type(first);
    const bool is_map = first.id() == TypeId::Map;
    const TypePtr type = is_map ? make_map(key, value) : make_tuple_type({make_array(key), make_array(value)});
    std::vector<Cast> casts;
    for (const auto& each : values) casts.push_back(make_cast(each, value, context));
    return {type, [=](const KernelArguments& call) {
                std::vector<Sides> sides;
                std::vector<VectorPtr> keys, numbers;
                std::vector<uint32_t> start;
                uint32_t total = 0;
                for (size_t n = 0; n < call.size(); ++n) {
                    sides.push_back(sides_of(call[n]));
                    keys.push_back(sides[n].keys);
                    numbers.push_back(flatten(casts[n](sides[n].values)));
                    start.push_back(total);
                    total += static_cast<uint32_t>(keys.back()->size());
                }
                const VectorPtr all_keys = concat(key, keys), all_numbers = concat(value, numbers);
                std::vector<uint32_t> kept, entries;
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                offsets->mutable_as<int64_t>()[0] = 0;
                VectorPtr sums;
                dispatch_fixed(value->physical(), [&]<typename T>() {
                    std::vector<T> out;
                    for (size_t i = 0; i < call.rows; ++i) {
                        entries.clear();
                        for (size_t n = 0; n < sides.size(); ++n) {
                            const Range range = range_at(*sides[n].bounds, i);
                            for (uint32_t j = range.begin; j < range.end; ++j) entries.push_back(start[n] + j);
                        }
                        std::stable_sort(entries.begin(), entries.end(), [&](uint32_t a, uint32_t b) {
                            return compare_values(*all_keys, a, *all_keys, b) < 0;
                        });
                        const uint32_t first_end = start.size() > 1 ? start[1] : total;
                        for (size_t j = 0; j < entries.size(); ++j) {
                            const T number = all_numbers->values<T>()[entries[j]];
                            const T change =
                                subtract && entries[j] >= first_end ? static_cast<T>(T{} - number) : number;
                            if (j && compare_values(*all_keys, entries[j - 1], *all_keys, entries[j]) == 0) {
                                out.back() = static_cast<T>(out.back() + change);
                                continue;
                            }
                            kept.push_back(entries[j]);
                            out.push_back(change);
                        }
                        offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(kept.size());
                    }
                    sums = make_vector<T>(value, out);
                });
                const VectorPtr picked = flatten(gather(all_keys, kept));
                if (is_map)
                    return Vector::array(type, call.rows, std::move(offsets),
                                         Vector::tuple(make_tuple_type({key, value}), kept.size(), {picked, sums}));
                const BufferPtr shared = std::move(offsets);
                return Vector::tuple(type, call.rows,
                                     {Vector::array(type->child(0), call.rows, shared, picked),
                                      Vector::array(type->child(1), call.rows, shared, sums)});
            }};
}

/// mapConcat: the entries one after another. update: entries of the second in the places of the first's equal keys.
Overload resolve_join(ArgumentList arguments, const FunctionContext& context, const char* name, bool update) {
    std::vector<TypePtr> types;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].type->id() != TypeId::Map) fail_argument(name, *arguments[i].type, i);
        types.push_back(arguments[i].type);
    }
    if (update && !same_type(types[0], types[1]))
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "Function {} takes two maps of one type, not {} and {}", name,
             types[0]->name(), types[1]->name());
    const TypePtr type = common_type(types);
    std::vector<Cast> casts;
    for (const auto& each : types) casts.push_back(make_cast(each, type, context));
    return {type, [=](const KernelArguments& call) {
                std::vector<VectorPtr> maps, children;
                std::vector<uint32_t> start;
                uint32_t total = 0;
                for (size_t n = 0; n < call.size(); ++n) {
                    maps.push_back(flatten(casts[n](call[n])));
                    children.push_back(flatten(maps.back()->child()));
                    start.push_back(total);
                    total += static_cast<uint32_t>(children.back()->size());
                }
                const VectorPtr all = flatten(concat(children[0]->type(), children));
                const Vector& keys = *all->child(0);
                ElementPicker out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    std::vector<uint32_t> row;
                    for (size_t n = 0; n < maps.size(); ++n) {
                        const Range range = range_at(*maps[n], i);
                        for (uint32_t j = start[n] + range.begin; j < start[n] + range.end; ++j) {
                            const auto same = [&](uint32_t k) { return equal_values(keys, k, keys, j); };
                            const auto old = update && n ? std::find_if(row.begin(), row.end(), same) : row.end();
                            if (old == row.end())
                                row.push_back(j);
                            else
                                *old = j;
                        }
                    }
                    for (const uint32_t j : row) out.pick(j);
                    out.end_row();
                }
                return out.finish(type, all);
            }};
}

/// Keys from a first one on, and in which row of the values each is found (kNoRow: nowhere).
struct Series {
    std::vector<int64_t> keys;  // the bits of UInt64 keys, too
    std::vector<uint32_t> rows;

    /// Appends all keys from the least of `given` to its greatest or to `most`; of equal keys the first counts.
    /// keys: as Int64 bits, of which `flip` makes numbers in the order of the keys.
    void append(const int64_t* keys_given, Range given, const int64_t* most, uint64_t flip) {
        constexpr uint64_t kMostKeys = 1 << 24;  // of all rows of a batch, which are in memory together
        if (given.size() == 0) return;
        sorted_.clear();
        for (uint32_t j = given.begin; j < given.end; ++j)
            sorted_.emplace_back(static_cast<uint64_t>(keys_given[j]) ^ flip, j);
        std::sort(sorted_.begin(), sorted_.end());
        const uint64_t least = sorted_.front().first;
        const uint64_t last = most ? static_cast<uint64_t>(*most) ^ flip : sorted_.back().first;
        if (last < least) return;
        const uint64_t steps = last - least;
        if (steps >= kMostKeys - std::min<uint64_t>(kMostKeys, keys.size()))
            fail(ErrorCode::TOO_LARGE_ARRAY_SIZE, "mapPopulateSeries would make more than {} keys", kMostKeys);
        size_t at = 0;
        for (uint64_t step = 0; step <= steps; ++step) {
            const uint64_t key = least + step;
            while (at < sorted_.size() && sorted_[at].first < key) ++at;
            keys.push_back(static_cast<int64_t>(key ^ flip));
            rows.push_back(at < sorted_.size() && sorted_[at].first == key ? sorted_[at].second : kNoRow);
        }
    }

private:
    std::vector<std::pair<uint64_t, uint32_t>> sorted_;  // the keys of one row, with their places
};

/// All keys from the least to the greatest (or `max`), those that were missing with the value's default.
Overload resolve_populate(ArgumentList arguments, const FunctionContext& context) {
    const bool is_map = arguments[0].type->id() == TypeId::Map;
    const size_t maps = is_map ? 1 : 2;
    if (arguments.size() < maps || arguments.size() > maps + 1)
        fail(ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
             "Function mapPopulateSeries takes a map, or two arrays, and a key");
    if (!is_map)
        for (size_t i = 0; i < 2; ++i) element_type(arguments, i, "mapPopulateSeries");
    const TypePtr key = is_map ? arguments[0].type->child(0) : arguments[0].type->child();
    const TypePtr value = is_map ? arguments[0].type->child(1) : arguments[1].type->child();
    if (!is_integer(key->id()) || integer_bits(key->id()) > 64)
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The keys given to mapPopulateSeries have to be integers, not {}",
             key->name());
    const bool has_most = arguments.size() > maps;
    const TypePtr type = is_map ? arguments[0].type : make_tuple_type({arguments[0].type, arguments[1].type});
    auto to_key = make_cast(make_type(TypeId::Int64), key, context);
    CastRule exact;
    exact.accurate = true;
    const Cast most_to_key = has_most ? Cast(make_cast(arguments[maps].type, key, context, exact)) : Cast();
    return {type, [=](const KernelArguments& call) {
                const VectorPtr pair = is_map ? nullptr
                                              : Vector::tuple(make_tuple_type({call[0]->type(), call[1]->type()}),
                                                              call.rows, {flatten(call[0]), flatten(call[1])});
                const Sides sides = sides_of(is_map ? call[0] : pair);
                const VectorPtr keys = flatten(as_int64(sides.keys)),
                                most = has_most ? flatten(as_int64(flatten(most_to_key(call[maps])))) : nullptr;
                const uint64_t flip = is_unsigned_integer(key->id()) ? 0 : uint64_t{1} << 63;
                Series series;
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                offsets->mutable_as<int64_t>()[0] = 0;
                for (size_t i = 0; i < call.rows; ++i) {
                    series.append(keys->values<int64_t>(), range_at(*sides.bounds, i),
                                  most ? most->values<int64_t>() + i : nullptr, flip);
                    offsets->mutable_as<int64_t>()[i + 1] = static_cast<int64_t>(series.keys.size());
                }
                const VectorPtr all_keys = flatten(to_key(make_vector<int64_t>(make_type(TypeId::Int64), series.keys)));
                const VectorPtr all_values = flatten(gather_or_default(sides.values, series.rows));
                if (is_map)
                    return Vector::array(
                        type, call.rows, std::move(offsets),
                        Vector::tuple(make_tuple_type({key, value}), series.rows.size(), {all_keys, all_values}));
                const BufferPtr shared = std::move(offsets);
                return Vector::tuple(type, call.rows,
                                     {Vector::array(type->child(0), call.rows, shared, all_keys),
                                      Vector::array(type->child(1), call.rows, shared, all_values)});
            }};
}

/// Entries whose key (side 0) or value (side 1) is LIKE a pattern: those entries, or whether there is one.
Overload resolve_like(ArgumentList arguments, const FunctionContext& context, const char* name, size_t side,
                      bool extract) {
    if (arguments[0].type->id() != TypeId::Map) fail_argument(name, *arguments[0].type, 0);
    const TypePtr map = arguments[0].type;
    if (!is_string_like(map->child(side)->id()))
        fail(ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT, "The {} of the map given to function {} have to be strings, not {}",
             side ? "values" : "keys", name, map->child(side)->name());
    require_string(arguments, 1, name);
    const auto like = FunctionRegistry::instance().bind("like", {{map->child(side), nullptr}, arguments[1]}, context);
    const TypePtr type = extract ? map : make_type(TypeId::UInt8);
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const VectorPtr flat = flatten(call[0]);
                const VectorPtr pairs = flatten(flat->child());
                std::vector<uint32_t> outer(pairs->size());
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*flat, i);
                    for (uint32_t j = range.begin; j < range.end; ++j) outer[j] = static_cast<uint32_t>(i);
                }
                const VectorPtr patterns = call[1]->is_constant() ? Vector::constant(call[1]->base(), outer.size())
                                                                  : flatten(gather(call[1], outer));
                const VectorPtr found =
                    outer.empty() ? nullptr : call_bound(like, {flatten(pairs->child(side)), patterns}, outer.size());
                ElementPicker picked(call.rows);
                Output<uint8_t> any(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const Range range = range_at(*flat, i);
                    any[i] = 0;
                    for (uint32_t j = range.begin; j < range.end; ++j) {
                        if (!found->values<uint8_t>()[j]) continue;
                        any[i] = 1;
                        picked.pick(j);
                    }
                    picked.end_row();
                }
                return extract ? picked.finish(type, flat->child()) : any.finish(type);
            }};
}

struct PairSyntax {
    char key_end = ':';
    std::string pair_ends = " ,;";
    char quote = '"';
    bool escapes = false;
};

/// Reads name:value pairs, either part in quotes or not; what is no pair is passed over.
class PairReader {
public:
    PairReader(std::string_view text, const PairSyntax& syntax) : text_(text), syntax_(syntax) {}

    bool next(std::string& key, std::string& value) {
        while (at_ < text_.size()) {
            if (ends_pair(text_[at_])) {
                ++at_;
                continue;
            }
            key.clear();
            value.clear();
            if (!part(key, true)) return false;
            if (at_ >= text_.size() || text_[at_] != syntax_.key_end || key.empty()) {
                while (at_ < text_.size() && !ends_pair(text_[at_])) ++at_;
                continue;
            }
            ++at_;
            if (!part(value, false)) return false;
            return true;
        }
        return false;
    }

private:
    bool ends_pair(char c) const { return syntax_.pair_ends.find(c) != std::string::npos; }
    void take_escaped(std::string& out) {
        constexpr std::string_view kFrom = "nrtbf0av", kTo("\n\r\t\b\f\0\a\v", 8);
        const char c = text_[++at_];
        const size_t which = kFrom.find(c);
        out.push_back(which == std::string_view::npos ? c : kTo[which]);
        ++at_;
    }
    /// False where a quote does not end.
    bool part(std::string& out, bool is_key) {
        const bool quoted = at_ < text_.size() && text_[at_] == syntax_.quote;
        at_ += quoted;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (syntax_.escapes && c == '\\' && at_ + 1 < text_.size()) {
                take_escaped(out);
                continue;
            }
            if (quoted && c == syntax_.quote) {
                ++at_;
                return true;
            }
            if (!quoted && (ends_pair(c) || (is_key && c == syntax_.key_end))) return true;
            out.push_back(c);
            ++at_;
        }
        return !quoted;
    }
    std::string_view text_;
    const PairSyntax& syntax_;
    size_t at_ = 0;
};

Overload resolve_pairs(ArgumentList arguments, const char* name, bool escapes) {
    for (size_t i = 0; i < arguments.size(); ++i) require_string(arguments, i, name);
    PairSyntax syntax;
    syntax.escapes = escapes;
    const auto one = [&](size_t i, char otherwise) {
        if (i >= arguments.size()) return otherwise;
        const std::string text = require_text(arguments[i], name, i);
        if (text.size() != 1)
            fail(ErrorCode::BAD_ARGUMENTS, "Argument {} of function {} has to be one character", i + 1, name);
        return text[0];
    };
    syntax.key_end = one(1, syntax.key_end);
    if (arguments.size() > 2) syntax.pair_ends = require_text(arguments[2], name, 2);
    syntax.quote = one(3, syntax.quote);
    const TypePtr text = make_type(TypeId::String), type = make_map(text, text);
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                VectorBuilder out(type);
                std::string key, value;
                for (size_t i = 0; i < call.rows; ++i) {
                    PairReader reader(texts[i].view(), syntax);
                    while (reader.next(key, value)) {
                        out.element().element(0).append_string(key);
                        out.element().element(1).append_string(value);
                        out.element().end_tuple();
                    }
                    out.end_array();
                }
                return out.finish();
            }};
}

}  // namespace

void register_map_merge_functions(FunctionRegistry& registry) {
    for (const bool subtract : {false, true}) {
        const char* name = subtract ? "mapSubtract" : "mapAdd";
        declare_seeing_nulls(registry, {name}, 0, SIZE_MAX,
                             [=](ArgumentList arguments, const FunctionContext& context) {
                                 return resolve_sum(arguments, context, name, subtract);
                             });
    }
    declare_seeing_nulls(registry, {"mapConcat"}, 1, SIZE_MAX,
                         [](ArgumentList arguments, const FunctionContext& context) {
                             return resolve_join(arguments, context, "mapConcat", false);
                         });
    declare_seeing_nulls(registry, {"mapUpdate"}, 2, 2, [](ArgumentList arguments, const FunctionContext& context) {
        return resolve_join(arguments, context, "mapUpdate", true);
    });
    declare_seeing_nulls(registry, {"mapPopulateSeries"}, 1, 3, resolve_populate);
    struct Like {
        const char* name;
        size_t side;
        bool extract;
    };
    for (const Like& like : {Like{"mapContainsKeyLike", 0, false}, Like{"mapExtractKeyLike", 0, true},
                             Like{"mapContainsValueLike", 1, false}, Like{"mapExtractValueLike", 1, true}})
        declare_seeing_nulls(registry, {like.name}, 2, 2,
                             [like](ArgumentList arguments, const FunctionContext& context) {
                                 return resolve_like(arguments, context, like.name, like.side, like.extract);
                             });
    for (const bool escapes : {false, true}) {
        const char* name = escapes ? "extractKeyValuePairsWithEscaping" : "extractKeyValuePairs";
        const std::vector<std::string> aliases =
            escapes ? std::vector<std::string>{} : std::vector<std::string>{"str_to_map", "mapFromString"};
        declare(registry, {name, aliases}, 1, 4, [=](ArgumentList arguments, const FunctionContext&) {
            return resolve_pairs(arguments, name, escapes);
        });
    }
}

}  // namespace firn::functions
