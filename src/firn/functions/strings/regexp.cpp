// Parts of strings that regular expressions match: extract, extractAll, extractGroups, countMatches, multiMatchAny.
#include "firn/functions/registration.h"
#include "firn/functions/strings/pattern_source.h"
#include "firn/functions/strings/text_loops.h"
#include "firn/vector/builder.h"

namespace firn::functions {

namespace {

using Groups = std::vector<re2::StringPiece>;

std::string_view view(const re2::StringPiece& part) {
    return part.data() ? std::string_view(part.data(), part.size()) : std::string_view();
}

/// Calls f(groups) for each match that is not empty, from left to right.
template <typename F>
void each_match(const RE2& pattern, std::string_view text, Groups& groups, F f) {
    size_t at = 0;
    while (at < text.size() && pattern.Match(piece(text), at, text.size(), RE2::UNANCHORED, groups.data(),
                                             static_cast<int>(groups.size()))) {
        if (groups[0].empty()) {
            at = static_cast<size_t>(groups[0].data() - text.data()) + 1;
            continue;
        }
        f(groups);
        at = static_cast<size_t>(groups[0].data() + groups[0].size() - text.data());
    }
}

/// A function of a text and a pattern; f(pattern, text, builder) adds a row.
template <typename F>
void declare_pattern(FunctionRegistry& registry, FunctionName name, TypePtr type, bool any_case, bool needs_groups,
                     F f) {
    const char* function = name.name;
    declare(registry, name, 2, 2, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, function);
        require_string(arguments, 1, function);
        const auto constant = constant_pattern(arguments[1], any_case);
        if (needs_groups && !constant)
            fail(ErrorCode::ILLEGAL_COLUMN, "Argument 2 of function {} must be a constant string", function);
        if (needs_groups && constant->NumberOfCapturingGroups() == 0)
            fail(ErrorCode::BAD_ARGUMENTS, "There are no groups in the regular expression '{}' of function {}",
                 constant->pattern(), function);
        return Overload{type, [=](const KernelArguments& call) {
                            const Reader<StringRef> text(call[0]), pattern(call[1]);
                            PatternSource source(constant, any_case);
                            VectorBuilder builder(type);
                            for (size_t i = 0; i < call.rows; ++i)
                                f(source.at(pattern[i].view()), text[i].view(), builder);
                            return builder.finish();
                        }};
    });
}

void extract_groups_vertical(const RE2& pattern, std::string_view text, VectorBuilder& out) {
    Groups groups(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
    each_match(pattern, text, groups, [&](const Groups& found) {
        for (size_t g = 1; g < found.size(); ++g) out.element().element().append_string(view(found[g]));
        out.element().end_array();
    });
    out.end_array();
}

void extract_groups_horizontal(const RE2& pattern, std::string_view text, VectorBuilder& out) {
    Groups groups(static_cast<size_t>(pattern.NumberOfCapturingGroups()) + 1);
    std::vector<std::vector<std::string_view>> columns(groups.size() - 1);
    each_match(pattern, text, groups, [&](const Groups& found) {
        for (size_t g = 1; g < found.size(); ++g) columns[g - 1].push_back(view(found[g]));
    });
    for (const auto& column : columns) {
        for (const std::string_view part : column) out.element().element().append_string(part);
        out.element().end_array();
    }
    out.end_array();
}

void count_matches(const RE2& pattern, std::string_view text, VectorBuilder& out) {
    Groups groups(1);
    uint64_t count = 0;
    each_match(pattern, text, groups, [&](const Groups&) { ++count; });
    out.append<uint64_t>(count);
}

Overload resolve_regexp_extract(ArgumentList arguments, const FunctionContext&) {
    require_string(arguments, 0, "regexpExtract");
    require_string(arguments, 1, "regexpExtract");
    if (arguments.size() > 2) require_integer(arguments, 2, "regexpExtract");
    const auto constant = compile_pattern(require_text(arguments[1], "regexpExtract", 1));
    return {make_type(TypeId::String), [=](const KernelArguments& call) {
                const VectorPtr numbers =
                    call.size() > 2 ? as_int64(call[2])
                                    : Vector::constant(make_value<int64_t>(make_type(TypeId::Int64), 1), call.rows);
                const Reader<int64_t> number(numbers);
                const int count = constant->NumberOfCapturingGroups();
                Groups groups(static_cast<size_t>(count) + 1);
                return cut_text(call[0], call.rows, [&](std::string_view text, size_t i) -> std::string_view {
                    // Without groups, group 1 is the whole match.
                    const int64_t group = call.size() < 3 && count == 0 ? 0 : number[i];
                    if (group < 0 || group > count)
                        fail(ErrorCode::INDEX_OF_POSITIONAL_ARGUMENT_IS_OUT_OF_RANGE,
                             "Group {} of the regular expression '{}' is out of range: it has {}", group,
                             constant->pattern(), count);
                    if (!constant->Match(piece(text), 0, text.size(), RE2::UNANCHORED, groups.data(), count + 1))
                        return {};
                    return view(groups[static_cast<size_t>(group)]);
                });
            }};
}

enum class MultiMatch : uint8_t { Any, AnyIndex, AllIndices };

void declare_multi_match(FunctionRegistry& registry, const char* name, MultiMatch what) {
    declare(registry, {name}, 2, 2, [=](ArgumentList arguments, const FunctionContext&) {
        require_string(arguments, 0, name);
        const TypePtr& list = arguments[1].type;
        if (list->id() != TypeId::Array || !is_string_like(list->child()->id())) fail_argument(name, *list, 1);
        if (!arguments[1].constant)
            fail(ErrorCode::ILLEGAL_COLUMN, "Argument 2 of function {} must be a constant array", name);
        const VectorPtr patterns = flatten(arguments[1].constant);
        auto compiled = std::make_shared<std::vector<std::shared_ptr<const RE2>>>();
        for (int64_t k = patterns->offsets()[0]; k < patterns->offsets()[1]; ++k)
            compiled->push_back(
                compile_pattern(patterns->child()->values<StringRef>()[k].view(), false, ErrorCode::BAD_ARGUMENTS));
        const TypePtr number = make_type(what == MultiMatch::Any ? TypeId::UInt8 : TypeId::UInt64);
        const TypePtr type = what == MultiMatch::AllIndices ? make_array(number) : number;
        return Overload{type, [=](const KernelArguments& call) {
                            const Reader<StringRef> text(call[0]);
                            VectorBuilder builder(type);
                            for (size_t i = 0; i < call.rows; ++i) {
                                uint64_t first = 0;
                                for (size_t k = 0;
                                     k < compiled->size() && (first == 0 || what == MultiMatch::AllIndices); ++k) {
                                    if (!RE2::PartialMatch(piece(text[i].view()), *(*compiled)[k])) continue;
                                    first = k + 1;
                                    if (what == MultiMatch::AllIndices) builder.element().append<uint64_t>(first);
                                }
                                if (what == MultiMatch::AllIndices)
                                    builder.end_array();
                                else if (what == MultiMatch::Any)
                                    builder.append<uint8_t>(first != 0);
                                else
                                    builder.append<uint64_t>(first);
                            }
                            return builder.finish();
                        }};
    });
}

}  // namespace

void register_regexp_functions(FunctionRegistry& registry) {
    const TypePtr string = make_type(TypeId::String), strings = make_array(string), count = make_type(TypeId::UInt64);
    declare_pattern(registry, {"extractAllGroupsVertical", {"extractAllGroups"}}, make_array(strings), false, true,
                    extract_groups_vertical);
    declare_pattern(registry, {"extractAllGroupsHorizontal"}, make_array(strings), false, true,
                    extract_groups_horizontal);
    declare_pattern(registry, {"countMatchesCaseInsensitive"}, count, true, false, count_matches);
    declare(registry, {"regexpExtract", {"REGEXP_EXTRACT"}, true}, 2, 3, resolve_regexp_extract);
    declare_multi_match(registry, "multiMatchAny", MultiMatch::Any);
    declare_multi_match(registry, "multiMatchAnyIndex", MultiMatch::AnyIndex);
    declare_multi_match(registry, "multiMatchAllIndices", MultiMatch::AllIndices);
    declare_text(registry, {"regexpQuoteMeta"}, [](std::string_view s, std::string& out) {
        for (const char c : s) {
            if (c == 0) {
                out += "\\0";
                continue;
            }
            if (std::string_view("\\()|[]{}^$.?*+:-").find(c) != std::string_view::npos) out.push_back('\\');
            out.push_back(c);
        }
    });
}

}  // namespace firn::functions
