// Where strings are in strings: position, countSubstrings, multiSearch*, hasToken, startsWith.
#include <algorithm>

#include "firn/functions/registration.h"
#include "firn/functions/strings/character_case.h"
#include "firn/functions/strings/text_loops.h"
#include "firn/functions/substring_search.h"
#include "firn/vector/builder.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

/// How texts are compared: byte by byte, or without regard to case, and whether positions count characters.
struct Look {
    bool any_case = false;
    bool utf8 = false;
};

/// The text as it is looked at; `own` holds it where it had to be changed.
std::string_view seen(std::string_view text, Look look, std::string& own) {
    if (!look.any_case) return text;
    own = look.utf8 ? lower_utf8(text) : lower_ascii(text);
    return own;
}

/// Position (1 = the first) of the needle at or after `from`; 0 where it is not.
uint64_t position_of(std::string_view haystack, std::string_view needle, uint64_t from, Look look) {
    if (from > 0) --from;
    const size_t units = look.utf8 ? utf8_count(haystack) : haystack.size();
    if (from > units) return 0;
    const size_t start = look.utf8 ? utf8_offset(haystack, from) : from;
    const size_t found = find_substring(haystack, needle, start);
    if (found == std::string_view::npos) return 0;
    return (look.utf8 ? utf8_count(haystack.substr(0, found)) : found) + 1;
}

uint64_t count_of(std::string_view haystack, std::string_view needle, uint64_t from, Look look) {
    if (needle.empty()) return 0;
    if (from > 0) --from;
    size_t at = look.utf8 ? utf8_offset(haystack, from) : from;
    uint64_t count = 0;
    while (at < haystack.size()) {
        at = find_substring(haystack, needle, at);
        if (at == std::string_view::npos) break;
        ++count;
        at += needle.size();
    }
    return count;
}

using Search = uint64_t (*)(std::string_view haystack, std::string_view needle, uint64_t from, Look look);

void declare_search(FunctionRegistry& registry, FunctionName name, Search search, Look look,
                    bool needle_first = false) {
    const char* function = name.name;
    declare(registry, name, 2, 3, [=](ArgumentList arguments, const FunctionContext& context) {
        for (size_t i = 0; i < 2; ++i)
            if (arguments[i].type->id() != TypeId::Enum8 && arguments[i].type->id() != TypeId::Enum16)
                require_string(arguments, i, function);
        if (arguments.size() > 2 && !is_unsigned_integer(arguments[2].type->id()))
            fail_argument(function, *arguments[2].type, 2);
        return Overload{make_type(TypeId::UInt64), [=](const KernelArguments& call) {
                            const VectorPtr texts = as_text(call[needle_first ? 1 : 0], context),
                                            parts = as_text(call[needle_first ? 0 : 1], context);
                            const VectorPtr starts = call.size() > 2 ? as_int64(call[2]) : nullptr;
                            const Reader<StringRef> haystack(texts), needle(parts);
                            const int64_t* start = starts ? starts->flat_base().values<int64_t>() : nullptr;
                            const bool one_start = starts && starts->is_constant();
                            Output<uint64_t> out(call.rows);
                            std::string own_haystack, own_needle;
                            for (size_t i = 0; i < call.rows; ++i)
                                out[i] = search(seen(haystack[i].view(), look, own_haystack),
                                                seen(needle[i].view(), look, own_needle),
                                                start ? static_cast<uint64_t>(start[one_start ? 0 : i]) : 0, look);
                            return out.finish(make_type(TypeId::UInt64));
                        }};
    });
}

enum class Multi : uint8_t { Any, FirstIndex, FirstPosition, AllPositions };

uint64_t search_many(std::string_view haystack, const std::vector<std::string>& needles, Multi what, Look look) {
    uint64_t least = 0;
    for (size_t k = 0; k < needles.size(); ++k) {
        const uint64_t at = position_of(haystack, needles[k], 0, look);
        if (at == 0) continue;
        if (what == Multi::Any) return 1;
        if (what == Multi::FirstIndex) return k + 1;
        if (least == 0 || at < least) least = at;
    }
    return least;
}

void declare_multi(FunctionRegistry& registry, const std::string& stem, Multi what, Look look) {
    const std::string full = stem + (look.any_case ? "CaseInsensitive" : "") + (look.utf8 ? "UTF8" : "");
    declare(registry, {full.c_str()}, 2, 2, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, full.c_str());
        const TypePtr& list = arguments[1].type;
        if (list->id() != TypeId::Array ||
            (!is_string_like(list->child()->id()) && list->child()->id() != TypeId::Nothing))
            fail_argument(full, *list, 1);
        const TypePtr number = make_type(what == Multi::Any ? TypeId::UInt8 : TypeId::UInt64);
        const TypePtr type = what == Multi::AllPositions ? make_array(number) : number;
        return Overload{
            type, [=](const KernelArguments& call) {
                const Decoded lists(call[1]);
                const Reader<StringRef> text(call[0]);
                VectorBuilder builder(type);
                std::vector<std::string> needles;
                size_t made = SIZE_MAX;
                std::string own;
                for (size_t i = 0; i < call.rows; ++i) {
                    const size_t row = lists[i];
                    if (made != row) {
                        needles.clear();
                        for (int64_t k = lists.flat().offsets()[row]; k < lists.flat().offsets()[row + 1]; ++k) {
                            const std::string_view needle = lists.flat().child()->values<StringRef>()[k].view();
                            needles.emplace_back(seen(needle, look, own));
                        }
                        made = row;
                    }
                    const std::string_view haystack = seen(text[i].view(), look, own);
                    if (what == Multi::AllPositions) {
                        for (const auto& needle : needles)
                            builder.element().append<uint64_t>(position_of(haystack, needle, 0, look));
                        builder.end_array();
                    } else if (what == Multi::Any) {
                        builder.append<uint8_t>(search_many(haystack, needles, what, look) != 0);
                    } else {
                        builder.append<uint64_t>(search_many(haystack, needles, what, look));
                    }
                }
                return builder.finish();
            }};
    });
}

/// Tokens are runs of ASCII letters and digits and of all bytes beyond ASCII.
bool is_token_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           static_cast<uint8_t>(c) >= 0x80;
}
bool is_token(std::string_view text) { return std::all_of(text.begin(), text.end(), is_token_byte); }

bool has_token(std::string_view text, std::string_view token) {
    if (token.empty()) return false;
    for (size_t at = 0;; ++at) {
        at = find_substring(text, token, at);
        if (at == std::string_view::npos) return false;
        const size_t end = at + token.size();
        if ((at == 0 || !is_token_byte(text[at - 1])) && (end == text.size() || !is_token_byte(text[end]))) return true;
    }
}

void declare_token(FunctionRegistry& registry, FunctionName name, bool any_case, bool or_null) {
    const char* function = name.name;
    declare(registry, name, 2, 2, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, function);
        std::string token = require_text(arguments[1], function, 1);
        if (any_case) token = lower_ascii(token);
        const bool valid = is_token(token);
        if (!valid && !or_null)
            fail(ErrorCode::BAD_ARGUMENTS,
                 "The needle of function {} must be one token, without spaces and punctuation: '{}'", function, token);
        const TypePtr number = make_type(TypeId::UInt8), type = or_null ? make_nullable(number) : number;
        return Overload{type, [=](const KernelArguments& call) {
                            if (!valid) return Vector::defaults(type, call.rows);
                            std::string own;
                            return map_unary<StringRef, uint8_t>(
                                call[0], call.rows, type, [&](const StringRef& s) -> uint8_t {
                                    return has_token(seen(s.view(), {any_case, false}, own), token);
                                });
                        }};
    });
}

bool has_subsequence(std::string_view text, std::string_view part) {
    size_t k = 0;
    for (const char c : text)
        if (k < part.size() && c == part[k]) ++k;
    return k == part.size();
}

void declare_pair_test(FunctionRegistry& registry, FunctionName name, Look look,
                       bool (*test)(std::string_view, std::string_view)) {
    declare_pair_measure<uint8_t>(registry, name, TypeId::UInt8, [=](std::string_view a, std::string_view b) {
        std::string own_a, own_b;
        return test(seen(a, look, own_a), seen(b, look, own_b));
    });
}

bool rows_equal(const Vector& a, int64_t first_a, const Vector& b, int64_t first_b, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
        if (!equal_values(a, static_cast<size_t>(first_a + k), b, static_cast<size_t>(first_b + k))) return false;
    return true;
}

bool starts_with(std::string_view text, std::string_view part) { return text.starts_with(part); }
bool ends_with(std::string_view text, std::string_view part) { return text.ends_with(part); }

/// startsWith and endsWith take arrays too: both as strings of elements.
void declare_edge(FunctionRegistry& registry, const char* name, bool end) {
    declare(registry, {name}, 2, 2, [=](ArgumentList arguments, const FunctionContext& context) {
        const TypePtr type = make_type(TypeId::UInt8);
        if (arguments[0].type->id() != TypeId::Array) {
            require_string(arguments, 0, name);
            require_string(arguments, 1, name);
            return Overload{type, [=](const KernelArguments& call) {
                                return map_binary<StringRef, StringRef, uint8_t>(
                                    call[0], call[1], call.rows, type,
                                    [end](const StringRef& a, const StringRef& b) -> uint8_t {
                                        return end ? a.view().ends_with(b.view()) : a.view().starts_with(b.view());
                                    });
                            }};
        }
        if (arguments[1].type->id() != TypeId::Array) fail_argument(name, *arguments[1].type, 1);
        const TypePtr types[] = {arguments[0].type, arguments[1].type};
        const TypePtr wide = common_type(types);
        return Overload{type, [=](const KernelArguments& call) {
                            const VectorPtr a = flatten(cast_vector(call[0], wide, context)),
                                            b = flatten(cast_vector(call[1], wide, context));
                            Output<uint8_t> out(call.rows);
                            for (size_t i = 0; i < call.rows; ++i) {
                                const int64_t first = a->offsets()[i], size = a->offsets()[i + 1] - first;
                                const int64_t part = b->offsets()[i], length = b->offsets()[i + 1] - part;
                                out[i] = length <= size && rows_equal(*a->child(), first + (end ? size - length : 0),
                                                                      *b->child(), part, length);
                            }
                            return out.finish(type);
                        }};
    });
}

}  // namespace

void register_text_search_functions(FunctionRegistry& registry) {
    declare_search(registry, {"positionCaseInsensitiveUTF8"}, position_of, {true, true});
    declare_search(registry, {"countSubstringsCaseInsensitive"}, count_of, {true, false});
    declare_search(registry, {"countSubstringsCaseInsensitiveUTF8"}, count_of, {true, true});
    for (const Look look : {Look{false, false}, Look{true, false}, Look{false, true}, Look{true, true}}) {
        declare_multi(registry, "multiSearchAny", Multi::Any, look);
        declare_multi(registry, "multiSearchFirstIndex", Multi::FirstIndex, look);
        declare_multi(registry, "multiSearchFirstPosition", Multi::FirstPosition, look);
        declare_multi(registry, "multiSearchAllPositions", Multi::AllPositions, look);
    }
    declare_token(registry, {"hasToken"}, false, false);
    declare_token(registry, {"hasTokenOrNull"}, false, true);
    declare_token(registry, {"hasTokenCaseInsensitive"}, true, false);
    declare_token(registry, {"hasTokenCaseInsensitiveOrNull"}, true, true);
    declare_pair_test(registry, {"hasSubsequence"}, {}, has_subsequence);
    declare_pair_test(registry, {"hasSubsequenceUTF8"}, {}, has_subsequence);
    declare_pair_test(registry, {"hasSubsequenceCaseInsensitive"}, {true, false}, has_subsequence);
    declare_pair_test(registry, {"hasSubsequenceCaseInsensitiveUTF8"}, {true, true}, has_subsequence);
    declare_edge(registry, "startsWith", false);
    declare_edge(registry, "endsWith", true);
    declare_pair_test(registry, {"startsWithCaseInsensitiveUTF8"}, {true, true}, starts_with);
    declare_pair_test(registry, {"endsWithCaseInsensitiveUTF8"}, {true, true}, ends_with);
}

}  // namespace firn::functions
