// Strings taken apart and put together: concat, format, splitByChar, arrayStringConcat, regular expressions.
#include <cctype>
#include <memory>

#include <re2/re2.h>

#include "firn/functions/argument_types.h"
#include "firn/functions/cast.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/functions/strings/row_calls.h"
#include "firn/functions/substring_search.h"

namespace firn::functions {

namespace {

using Arguments = std::span<const Argument>;

void add(FunctionRegistry& registry, const char* name, size_t least, size_t most,
         std::function<Overload(Arguments, const FunctionContext&)> resolve, std::vector<std::string> aliases = {},
         bool any_case = false) {
    Definition definition;
    definition.name = name;
    definition.aliases = std::move(aliases);
    definition.case_insensitive = any_case;
    definition.min_arguments = least;
    definition.max_arguments = most;
    definition.resolve = std::move(resolve);
    registry.add(std::move(definition));
}

/// Arguments of any type as String columns.
std::vector<std::function<VectorPtr(const VectorPtr&)>> text_casts(Arguments arguments,
                                                                   const FunctionContext& context) {
    std::vector<std::function<VectorPtr(const VectorPtr&)>> casts;
    for (const auto& argument : arguments)
        casts.push_back(is_string_like(argument.type->id())
                            ? std::function<VectorPtr(const VectorPtr&)>{}
                            : make_cast(argument.type, make_type(TypeId::String), context));
    return casts;
}

Overload resolve_concat(Arguments arguments, const FunctionContext& context, bool separated) {
    if (!separated && !arguments.empty() && arguments[0].type->id() == TypeId::Array)
        return FunctionRegistry::instance().find("arrayConcat")->resolve(arguments, context);
    const TypePtr type = make_type(TypeId::String);
    return {type, [=, casts = text_casts(arguments, context)](const KernelArguments& call) {
                std::vector<VectorPtr> texts;
                std::vector<Reader<StringRef>> readers;
                for (size_t n = 0; n < call.size(); ++n) {
                    texts.push_back(casts[n] ? casts[n](call[n]) : call[n]);
                    readers.emplace_back(texts.back());
                }
                StringOutput out(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const size_t first = separated ? 1 : 0;
                    size_t size = 0;
                    for (size_t n = first; n < readers.size(); ++n)
                        size += readers[n][i].size + (separated && n > first ? readers[0][i].size : 0);
                    char* place = out.allocate(size);
                    char* at = place;
                    const auto append = [&](const StringRef& text) {
                        if (text.size) std::memcpy(at, text.data, text.size);
                        at += text.size;
                    };
                    for (size_t n = first; n < readers.size(); ++n) {
                        if (separated && n > first) append(readers[0][i]);
                        append(readers[n][i]);
                    }
                    out.set_view(i, {place, size});
                }
                return out.finish(type);
            }};
}

/// Pieces of literal text and numbers of arguments between them.
struct Format {
    std::vector<std::string> literals;
    std::vector<size_t> arguments;
};

Format parse_format(const std::string& pattern, size_t count) {
    Format format;
    format.literals.emplace_back();
    size_t next = 0;
    bool numbered = false;
    for (size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
            format.literals.back().push_back(c);
            ++i;
        } else if (c == '{') {
            size_t index = 0, digits = 0;
            while (i + 1 < pattern.size() && std::isdigit(static_cast<unsigned char>(pattern[i + 1])) && digits < 6) {
                index = index * 10 + static_cast<size_t>(pattern[++i] - '0');
                ++digits;
            }
            if (i + 1 >= pattern.size() || pattern[++i] != '}')
                fail(ErrorCode::BAD_ARGUMENTS, "Invalid format string '{}'", pattern);
            numbered |= digits > 0;
            if (!digits) index = next++;
            if (numbered && next > 0)
                fail(ErrorCode::BAD_ARGUMENTS, "Format string '{}' has both numbered and unnumbered places", pattern);
            if (index >= count)
                fail(ErrorCode::BAD_ARGUMENTS, "Format string '{}' names argument {} of {}", pattern, index, count);
            format.arguments.push_back(index);
            format.literals.emplace_back();
        } else if (c == '}') {
            fail(ErrorCode::BAD_ARGUMENTS, "Invalid format string '{}'", pattern);
        } else {
            format.literals.back().push_back(c);
        }
    }
    return format;
}

Overload resolve_format(Arguments arguments, const FunctionContext& context) {
    const Format format = parse_format(require_text(arguments[0], "format", 0), arguments.size() - 1);
    const TypePtr type = make_type(TypeId::String);
    return {type, [=, casts = text_casts(arguments, context)](const KernelArguments& call) {
                std::vector<VectorPtr> texts;
                for (size_t n = 1; n < call.size(); ++n) texts.push_back(casts[n] ? casts[n](call[n]) : call[n]);
                StringOutput out(call.rows);
                std::string text;
                for (size_t i = 0; i < call.rows; ++i) {
                    text = format.literals[0];
                    for (size_t n = 0; n < format.arguments.size(); ++n) {
                        text += Reader<StringRef>(texts[format.arguments[n]])[i].view();
                        text += format.literals[n + 1];
                    }
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

Overload resolve_array_concat(Arguments arguments, const FunctionContext& context) {
    if (arguments[0].type->id() != TypeId::Array) fail_argument("arrayStringConcat", *arguments[0].type, 0);
    const TypePtr element = arguments[0].type->child(), type = make_type(TypeId::String),
                  text_type = accepts_null(*element) ? make_nullable(type) : type;
    auto cast = make_cast(element, text_type, context);
    return {type, [=](const KernelArguments& call) {
                const VectorPtr array = flatten(call[0]);
                const Decoded elements(cast(array->child()));
                StringOutput out(call.rows);
                std::string text;
                for (size_t i = 0; i < call.rows; ++i) {
                    text.clear();
                    bool first = true;
                    for (auto j = static_cast<size_t>(array->offsets()[i]);
                         j < static_cast<size_t>(array->offsets()[i + 1]); ++j) {
                        if (elements.is_null(j)) continue;
                        if (!first && call.size() > 1) text += Reader<StringRef>(call[1])[i].view();
                        first = false;
                        text += elements.value<StringRef>(j).view();
                    }
                    out.set(i, text);
                }
                return out.finish(type);
            }};
}

void split(std::string_view text, std::string_view delimiter, size_t most, std::vector<std::string_view>& out) {
    if (delimiter.empty()) {
        for (size_t at = 0; at < text.size();) {
            const size_t size = utf8_prefix(text.substr(at), 1);
            out.push_back(text.substr(at, size));
            at += size;
        }
        return;
    }
    size_t at = 0;
    for (size_t n = 0;; ++n) {
        const size_t found = find_substring(text, delimiter, at);
        if (found == std::string_view::npos) {
            out.push_back(text.substr(at));
            return;
        }
        out.push_back(text.substr(at, found - at));
        if (most && n + 1 >= most) return;
        at = found + delimiter.size();
    }
}
void split_by_char(const Row& row, std::vector<std::string_view>& out) {
    if (row.text[0].size() != 1) fail(ErrorCode::BAD_ARGUMENTS, "The separator of splitByChar must be one character");
    split(row.text[1], row.text[0], row.count > 2 && row.number[2] > 0 ? static_cast<size_t>(row.number[2]) : 0, out);
}
void split_by_string(const Row& row, std::vector<std::string_view>& out) {
    split(row.text[1], row.text[0], row.count > 2 && row.number[2] > 0 ? static_cast<size_t>(row.number[2]) : 0, out);
}

template <bool (*kInside)(char)>
void words(const Row& row, std::vector<std::string_view>& out) {
    const std::string_view text = row.text[0];
    for (size_t at = 0; at < text.size();) {
        while (at < text.size() && !kInside(text[at])) ++at;
        const size_t start = at;
        while (at < text.size() && kInside(text[at])) ++at;
        if (at > start) out.push_back(text.substr(start, at - start));
    }
}
bool is_dark(char c) { return !std::isspace(static_cast<unsigned char>(c)); }
bool is_word(char c) {
    return !std::isspace(static_cast<unsigned char>(c)) && !std::ispunct(static_cast<unsigned char>(c));
}
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)); }

std::shared_ptr<const RE2> compile(const std::string& pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);
    auto made = std::make_shared<RE2>(pattern, options);
    if (!made->ok())
        fail(ErrorCode::CANNOT_COMPILE_REGEXP, "Cannot compile regular expression '{}': {}", pattern, made->error());
    return made;
}

using Pieces = std::vector<re2::StringPiece>;

/// The first match at or after `at`, with its groups; false where there is none.
bool next_match(const RE2& regexp, std::string_view text, size_t at, Pieces& groups) {
    groups.resize(static_cast<size_t>(regexp.NumberOfCapturingGroups()) + 1);
    return regexp.Match({text.data(), text.size()}, at, text.size(), RE2::UNANCHORED, groups.data(),
                        static_cast<int>(groups.size()));
}
std::string_view view(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }
size_t end_of(std::string_view text, const re2::StringPiece& piece) {
    return static_cast<size_t>(piece.data() - text.data()) + piece.size();
}

void append_substituted(std::string& out, std::string_view replacement, const Pieces& groups) {
    for (size_t i = 0; i < replacement.size(); ++i) {
        if (replacement[i] != '\\' || i + 1 >= replacement.size()) {
            out.push_back(replacement[i]);
            continue;
        }
        const char next = replacement[++i];
        if (next >= '0' && next <= '9') {
            const auto group = static_cast<size_t>(next - '0');
            if (group < groups.size() && groups[group].data()) out += view(groups[group]);
        } else {
            if (next != '\\') out.push_back('\\');
            out.push_back(next);
        }
    }
}

/// BAD_ARGUMENTS where the replacement names a group that the pattern does not have.
void check_substitutions(std::string_view replacement, const RE2& regexp) {
    for (size_t i = 0; i + 1 < replacement.size(); ++i) {
        if (replacement[i] != '\\') continue;
        const char group = replacement[++i];
        if (group >= '0' && group <= '9' && group - '0' > regexp.NumberOfCapturingGroups())
            fail(ErrorCode::BAD_ARGUMENTS,
                 "Substitution '\\{}' in the replacement is invalid: the regular expression has {} capturing groups",
                 group, regexp.NumberOfCapturingGroups());
    }
}

Overload resolve_replace_regexp(Arguments arguments, const FunctionContext&, bool all, const char* name) {
    for (size_t i = 0; i < 3; ++i)
        if (!is_string_like(arguments[i].type->id())) fail_argument(name, *arguments[i].type, i);
    const auto regexp = compile(require_text(arguments[1], name, 1));
    if (const auto replacement = constant_text(arguments[2])) check_substitutions(*replacement, *regexp);
    const TypePtr type = make_type(TypeId::String);
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]), replacements(call[2]);
                StringOutput out(call.rows);
                std::string result;
                Pieces groups;
                const bool matches_nothing = regexp->pattern().empty();
                for (size_t i = 0; i < call.rows; ++i) {
                    const std::string_view text = texts[i].view();
                    result.clear();
                    size_t at = 0;
                    while (!matches_nothing && at <= text.size() && next_match(*regexp, text, at, groups)) {
                        const size_t end = end_of(text, groups[0]), begin = end - groups[0].size();
                        result += text.substr(at, begin - at);
                        append_substituted(result, replacements[i].view(), groups);
                        at = end;
                        if (!all) break;
                        if (groups[0].size() == 0) {  // an empty match: go one character on
                            if (at >= text.size()) break;
                            const size_t step = utf8_prefix(text.substr(at), 1);
                            result += text.substr(at, step);
                            at += step;
                            if (at >= text.size()) break;
                        }
                    }
                    if (at < text.size()) result += text.substr(at);
                    out.set(i, result);
                }
                return out.finish(type);
            }};
}

/// The first group of the first match, or the match.
Overload resolve_extract(Arguments arguments, const FunctionContext&) {
    for (size_t i = 0; i < 2; ++i)
        if (!is_string_like(arguments[i].type->id())) fail_argument("extract", *arguments[i].type, i);
    const auto regexp = compile(require_text(arguments[1], "extract", 1));
    const TypePtr type = make_type(TypeId::String);
    return {type, [=](const KernelArguments& call) {
                const Reader<StringRef> texts(call[0]);
                StringOutput out(call.rows);
                out.keep(call[0]);
                Pieces groups;
                for (size_t i = 0; i < call.rows; ++i) {
                    const bool found = next_match(*regexp, texts[i].view(), 0, groups);
                    out.set_view(i, found ? view(groups[groups.size() > 1 ? 1 : 0]) : std::string_view());
                }
                return out.finish(type);
            }};
}

enum class Take : uint8_t { Matches, FirstGroups, Between, Count };

Overload resolve_all_matches(Arguments arguments, Take take, size_t pattern_at, const char* name) {
    for (size_t i = 0; i < 2; ++i)
        if (!is_string_like(arguments[i].type->id())) fail_argument(name, *arguments[i].type, i);
    const std::string pattern = require_text(arguments[pattern_at], name, pattern_at);
    const auto regexp = compile(pattern);
    const TypePtr element = make_type(TypeId::String),
                  type = take == Take::Count ? make_type(TypeId::UInt64) : make_array(element);
    return {type, [=](const KernelArguments& call) -> VectorPtr {
                const VectorPtr source = call[1 - pattern_at];
                const Reader<StringRef> texts(source);
                std::vector<std::string_view> pieces;
                Pieces groups;
                auto offsets = Buffer::allocate((call.rows + 1) * sizeof(int64_t));
                auto* ends = offsets->mutable_as<int64_t>();
                ends[0] = 0;
                Output<uint64_t> counts(call.rows);
                for (size_t i = 0; i < call.rows; ++i) {
                    const std::string_view text = texts[i].view();
                    counts[i] = 0;
                    if (take == Take::Between && pattern.empty()) {
                        split(text, "", 0, pieces);
                        ends[i + 1] = static_cast<int64_t>(pieces.size());
                        continue;
                    }
                    size_t at = 0, last = 0;
                    while (at <= text.size() && next_match(*regexp, text, at, groups)) {
                        const size_t end = end_of(text, groups[0]);
                        if (groups[0].size() == 0) {
                            at = end + 1;
                            continue;
                        }
                        ++counts[i];
                        if (take == Take::Between)
                            pieces.push_back(text.substr(last, end - groups[0].size() - last));
                        else if (take == Take::Matches)
                            pieces.push_back(view(groups[groups.size() > 1 ? 1 : 0]));
                        else if (take == Take::FirstGroups) {
                            for (size_t g = 1; g < groups.size(); ++g) pieces.push_back(view(groups[g]));
                            break;
                        }
                        at = last = end;
                    }
                    if (take == Take::Between) pieces.push_back(text.substr(last));
                    ends[i + 1] = static_cast<int64_t>(pieces.size());
                }
                if (take == Take::Count) return counts.finish(type);
                StringOutput out(pieces.size());
                out.keep(source);
                for (size_t i = 0; i < pieces.size(); ++i) out.set_view(i, pieces[i]);
                return Vector::array(type, call.rows, std::move(offsets), out.finish(element));
            }};
}

}  // namespace

void register_string_piece_functions(FunctionRegistry& registry) {
    add(
        registry, "concat", 0, SIZE_MAX,
        [](Arguments a, const FunctionContext& c) { return resolve_concat(a, c, false); }, {"concatAssumeInjective"},
        true);
    add(
        registry, "concatWithSeparator", 1, SIZE_MAX,
        [](Arguments a, const FunctionContext& c) { return resolve_concat(a, c, true); },
        {"concat_ws", "concatWithSeparatorAssumeInjective"}, true);
    add(registry, "format", 1, SIZE_MAX, resolve_format);
    add(registry, "arrayStringConcat", 1, 2, resolve_array_concat, {"array_to_string"});
    add_pieces_call(registry, {"splitByChar", "ss|i"}, split_by_char);
    add_pieces_call(registry, {"splitByString", "ss|i"}, split_by_string);
    add_pieces_call(registry, {"splitByWhitespace", "s|i"}, words<is_dark>);
    add_pieces_call(registry, {"splitByNonAlpha", "s|i"}, words<is_word>);
    add_pieces_call(registry, {"alphaTokens", "s|i", {"splitByAlpha"}}, words<is_letter>);
    add(registry, "replaceRegexpOne", 3, 3,
        [](Arguments a, const FunctionContext& c) { return resolve_replace_regexp(a, c, false, "replaceRegexpOne"); });
    add(
        registry, "replaceRegexpAll", 3, 3,
        [](Arguments a, const FunctionContext& c) { return resolve_replace_regexp(a, c, true, "replaceRegexpAll"); },
        {"REGEXP_REPLACE"}, true);
    add(registry, "extract", 2, 2, resolve_extract);
    add(registry, "extractAll", 2, 2,
        [](Arguments a, const FunctionContext&) { return resolve_all_matches(a, Take::Matches, 1, "extractAll"); });
    add(registry, "extractGroups", 2, 2, [](Arguments a, const FunctionContext&) {
        return resolve_all_matches(a, Take::FirstGroups, 1, "extractGroups");
    });
    add(registry, "countMatches", 2, 2,
        [](Arguments a, const FunctionContext&) { return resolve_all_matches(a, Take::Count, 1, "countMatches"); });
    add(registry, "splitByRegexp", 2, 3,
        [](Arguments a, const FunctionContext&) { return resolve_all_matches(a, Take::Between, 0, "splitByRegexp"); });
}

}  // namespace firn::functions
