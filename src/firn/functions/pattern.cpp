// like, notLike, ilike, notILike, match: strings against patterns.
#include <memory>

#include <re2/re2.h>

#include "firn/functions/argument_types.h"
#include "firn/functions/elementwise.h"
#include "firn/functions/registration.h"
#include "firn/functions/substring_search.h"

namespace firn::functions {

namespace {

enum class Dialect : uint8_t { Like, ILike, Regexp };

/// A compiled pattern; immutable, thread-safe.
class Pattern {
public:
    Pattern(std::string_view text, Dialect dialect) {
        if (dialect == Dialect::Like)
            compile_like(text);
        else if (dialect == Dialect::ILike)
            compile_regexp("(?i)" + like_regexp(text), true);
        else if (is_literal(text))
            pieces_ = {std::string(text)};
        else
            compile_regexp(std::string(text), false);
    }

    bool matches(std::string_view text) const {
        if (regexp_)
            return whole_ ? RE2::FullMatch({text.data(), text.size()}, *regexp_)
                          : RE2::PartialMatch({text.data(), text.size()}, *regexp_);
        if (anchored_front_ && anchored_back_ && pieces_.size() == 1) return text == pieces_[0];
        size_t at = 0, first = 0, last = pieces_.size();
        if (anchored_front_) {
            if (!text.starts_with(pieces_[0])) return false;
            at = pieces_[first++].size();
        }
        size_t end = text.size();
        if (anchored_back_) {
            const std::string& tail = pieces_[--last];
            if (end - at < tail.size() || !text.ends_with(tail)) return false;
            end -= tail.size();
        }
        for (; first < last; ++first) {
            at = find_substring(text.substr(0, end), pieces_[first], at);
            if (at == std::string_view::npos) return false;
            at += pieces_[first].size();
        }
        return true;
    }

    /// What a text has to hold anywhere to match, where that is all; else null.
    const std::string* needle() const {
        return !regexp_ && pieces_.size() == 1 && !anchored_front_ && !anchored_back_ ? &pieces_[0] : nullptr;
    }

private:
    static bool is_literal(std::string_view text) {
        return text.find_first_of("\\^$.|?*+()[]{}") == std::string_view::npos;
    }

    /// Literal pieces between % signs; anything with _ goes to a regular expression.
    void compile_like(std::string_view text) {
        std::vector<std::string> pieces(1);
        bool single = false;
        for (size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '%' || text[i + 1] == '_' || text[i + 1] == '\\'))
                pieces.back().push_back(text[++i]);
            else if (c == '\\')
                fail_escape(text, i);
            else if (c == '%')
                pieces.emplace_back();
            else if (c == '_')
                single = true;
            else
                pieces.back().push_back(c);
        }
        if (single) return compile_regexp(like_regexp(text), true);
        anchored_front_ = !pieces.front().empty();
        anchored_back_ = pieces.size() == 1 || !pieces.back().empty();
        if (pieces.size() == 1) anchored_front_ = true;
        for (auto& piece : pieces)
            if (!piece.empty() || pieces.size() == 1) pieces_.push_back(std::move(piece));
    }

    static void fail_escape(std::string_view text, size_t at) {
        if (at + 1 == text.size())
            fail(ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE, "Invalid escape sequence at the end of LIKE pattern '{}'",
                 text);
    }

    static std::string like_regexp(std::string_view text) {
        std::string out;
        for (size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (c == '%')
                out += ".*";
            else if (c == '_')
                out += ".";
            else if (c == '\\' && i + 1 < text.size()) {
                const char next = text[++i];
                if (next != '%' && next != '_' && next != '\\') out += "\\\\";
                append_literal(out, next);
            } else {
                if (c == '\\') fail_escape(text, i);
                append_literal(out, c);
            }
        }
        return out;
    }
    static void append_literal(std::string& out, char c) {
        if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out.push_back('\\');
        out.push_back(c);
    }

    void compile_regexp(const std::string& text, bool whole) {
        RE2::Options options;
        options.set_log_errors(false);
        options.set_dot_nl(true);
        regexp_ = std::make_unique<RE2>(text, options);
        if (!regexp_->ok())
            fail(ErrorCode::CANNOT_COMPILE_REGEXP, "Cannot compile regular expression '{}': {}", text,
                 regexp_->error());
        whole_ = whole;
    }

    std::vector<std::string> pieces_;
    bool anchored_front_ = false, anchored_back_ = false;
    std::unique_ptr<RE2> regexp_;
    bool whole_ = false;
};

VectorPtr match_rows(const VectorPtr& texts, const VectorPtr& patterns, size_t rows, const Pattern* compiled,
                     Dialect dialect, bool negated) {
    Output<uint8_t> out(rows);
    const Reader<StringRef> text(texts), pattern(patterns);
    const std::string* needle = compiled ? compiled->needle() : nullptr;
    if (needle && !text.is_constant()) {
        mark_containing(text.data(), rows, *needle, out.data());
        if (negated)
            for (size_t i = 0; i < rows; ++i) out[i] ^= 1;
        return out.finish(make_type(TypeId::UInt8));
    }
    std::unique_ptr<Pattern> own;
    StringRef last;
    for (size_t i = 0; i < rows; ++i) {
        if (!compiled && (!own || !(pattern[i] == last))) {
            last = pattern[i];
            own = std::make_unique<Pattern>(last.view(), dialect);
        }
        out[i] = (compiled ? *compiled : *own).matches(text[i].view()) != negated;
    }
    return out.finish(make_type(TypeId::UInt8));
}

}  // namespace

void register_pattern_functions(FunctionRegistry& registry) {
    const auto add = [&](const char* name, Dialect dialect, bool negated, std::vector<std::string> aliases = {}) {
        Definition definition;
        definition.name = name;
        definition.aliases = std::move(aliases);
        definition.case_insensitive = dialect == Dialect::Like && !negated;
        definition.min_arguments = definition.max_arguments = 2;
        definition.resolve = [=](std::span<const Argument> arguments, const FunctionContext& context) {
            const TypeId id = arguments[0].type->id();
            if (id == TypeId::Enum8 || id == TypeId::Enum16) {  // by its name
                const TypePtr string = make_type(TypeId::String);
                const auto inner = FunctionRegistry::instance().bind(name, {{string, nullptr}, arguments[1]}, context);
                return Overload{make_type(TypeId::UInt8), [=](const KernelArguments& call) {
                                    const VectorPtr vectors[] = {cast_vector(call[0], string), call[1]};
                                    return inner->execute(vectors, call.rows);
                                }};
            }
            for (size_t i = 0; i < 2; ++i)
                if (!is_string_like(arguments[i].type->id())) fail_argument(name, *arguments[i].type, i);
            std::shared_ptr<const Pattern> compiled;
            if (const auto text = constant_text(arguments[1])) compiled = std::make_shared<Pattern>(*text, dialect);
            return Overload{make_type(TypeId::UInt8), [=](const KernelArguments& call) {
                                return match_rows(call[0], call[1], call.rows, compiled.get(), dialect, negated);
                            }};
        };
        registry.add(std::move(definition));
    };
    add("like", Dialect::Like, false);
    add("notLike", Dialect::Like, true);
    add("ilike", Dialect::ILike, false);
    add("notILike", Dialect::ILike, true);
    add("match", Dialect::Regexp, false, {"REGEXP_MATCHES"});
}

}  // namespace firn::functions
