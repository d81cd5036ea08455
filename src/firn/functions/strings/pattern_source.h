// Regular expressions as function arguments: constants compiled once, others when they change.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <re2/re2.h>

#include "firn/base/error.h"
#include "firn/functions/argument_types.h"

namespace firn::functions {

inline re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

/// `.` matches line feeds too. `code` where it does not compile.
inline std::shared_ptr<const RE2> compile_pattern(std::string_view text, bool any_case = false,
                                                  ErrorCode code = ErrorCode::CANNOT_COMPILE_REGEXP) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_dot_nl(true);
    options.set_case_sensitive(!any_case);
    auto made = std::make_shared<RE2>(piece(text), options);
    if (!made->ok()) fail(code, "Cannot compile regular expression '{}': {}", text, made->error());
    return made;
}

/// The pattern of each row.
class PatternSource {
public:
    explicit PatternSource(std::shared_ptr<const RE2> constant, bool any_case = false)
        : current_(std::move(constant)), fixed_(current_ != nullptr), any_case_(any_case) {}
    const RE2& at(std::string_view text) {
        if (!fixed_ && (!current_ || text_ != text)) {
            current_ = compile_pattern(text, any_case_);
            text_ = text;
        }
        return *current_;
    }

private:
    std::shared_ptr<const RE2> current_;
    bool fixed_;
    bool any_case_;
    std::string text_;
};

/// Compiled where the argument is constant, else null.
inline std::shared_ptr<const RE2> constant_pattern(const Argument& argument, bool any_case = false) {
    const auto text = constant_text(argument);
    return text ? compile_pattern(*text, any_case) : nullptr;
}

}  // namespace firn::functions
