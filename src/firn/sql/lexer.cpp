#include "firn/sql/lexer.h"

namespace firn::sql {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
unsigned hex_value(char c) {
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    return static_cast<unsigned>((c | 0x20) - 'a') + 10;
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Quotation marks of UTF-8 texts: ‘a’ is a string, “a” a name. The minus sign U+2212 is a minus.
constexpr std::string_view kOpenSingle = "\xE2\x80\x98", kCloseSingle = "\xE2\x80\x99";
constexpr std::string_view kOpenDouble = "\xE2\x80\x9C", kCloseDouble = "\xE2\x80\x9D";
constexpr std::string_view kMinusSign = "\xE2\x88\x92";
constexpr std::string_view kWideBlanks[] = {"\xC2\xA0", "\xE2\x80\x8B", "\xE3\x80\x80", "\xEF\xBB\xBF"};

}  // namespace

bool is_word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
        if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

std::string_view token_error_text(TokenError error) {
    switch (error) {
        case TokenError::None:
            return "";
        case TokenError::Unrecognized:
            return "Unrecognized token";
        case TokenError::StringNotClosed:
            return "Single quoted string is not closed";
        case TokenError::NameNotClosed:
            return "Quoted identifier is not closed";
        case TokenError::CommentNotClosed:
            return "Multiline comment is not closed";
        case TokenError::WrongNumber:
            return "Wrong number";
        case TokenError::QueryTooBig:
            return "Max query size exceeded (can be increased with the `max_query_size` setting)";
    }
    return "";
}

Lexer::Lexer(std::string_view text, size_t begin, size_t max_size) : text_(text), pos_(begin) {
    limit_ = max_size == 0 || max_size > text.size() - begin ? text.size() : begin + max_size;
}

Token Lexer::make(TokenType type, size_t begin, size_t end) {
    pos_ = end;
    return Token{type, TokenError::None, begin, end};
}

Token Lexer::fail(TokenError error, size_t begin, size_t end) {
    pos_ = end;
    return Token{TokenType::Error, error, begin, end};
}

Token Lexer::next() {
    Token token = scan();
    if (token.end > limit_ && token.type != TokenType::End)
        token = fail(TokenError::QueryTooBig, token.begin, token.end);
    previous_ = token.type;
    return token;
}

bool Lexer::skip_blanks(Token& error) {
    while (pos_ < text_.size()) {
        const char c = text_[pos_];
        if (is_blank(c)) {
            ++pos_;
        } else if (starts_with("--") || starts_with("# ") || starts_with("#!")) {
            const size_t line_end = text_.find('\n', pos_);
            pos_ = line_end == std::string_view::npos ? text_.size() : line_end + 1;
        } else if (starts_with("/*")) {
            const size_t close = text_.find("*/", pos_ + 2);
            if (close == std::string_view::npos) {
                error = fail(TokenError::CommentNotClosed, pos_, text_.size());
                return false;
            }
            pos_ = close + 2;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            bool skipped = false;
            for (std::string_view blank : kWideBlanks) {
                if (!starts_with(blank)) continue;
                pos_ += blank.size();
                skipped = true;
                break;
            }
            if (!skipped) return true;
        } else {
            return true;
        }
    }
    return true;
}

Token Lexer::scan() {
    Token error;
    if (!skip_blanks(error)) return error;
    if (pos_ >= text_.size()) return Token{TokenType::End, TokenError::None, text_.size(), text_.size()};
    const size_t begin = pos_;
    const char c = text_[begin];
    if (is_digit(c)) return number(begin);
    if (c == '\'') return quoted(begin, begin + 1, "'", TokenType::String, TokenError::StringNotClosed);
    if (c == '"') return quoted(begin, begin + 1, "\"", TokenType::QuotedName, TokenError::NameNotClosed);
    if (c == '`') return quoted(begin, begin + 1, "`", TokenType::QuotedName, TokenError::NameNotClosed);
    if (c == '.') {
        // `x.1` is an element of a tuple, `.1` after anything else a number.
        const bool after_operand = previous_ == TokenType::CloseRound || previous_ == TokenType::CloseSquare ||
                                   previous_ == TokenType::BareWord || previous_ == TokenType::QuotedName ||
                                   previous_ == TokenType::Number;
        if (is_digit(at(begin + 1)) && !after_operand) return number(begin);
        return make(TokenType::Dot, begin, begin + 1);
    }
    if (is_word_char(c) || c == '$') return word_or_heredoc(begin);
    if (static_cast<unsigned char>(c) >= 0x80) {
        if (starts_with(kOpenSingle)) {
            return quoted(begin, begin + 3, kCloseSingle, TokenType::String, TokenError::StringNotClosed);
        }
        if (starts_with(kOpenDouble)) {
            return quoted(begin, begin + 3, kCloseDouble, TokenType::QuotedName, TokenError::NameNotClosed);
        }
        if (starts_with(kMinusSign)) return make(TokenType::Minus, begin, begin + 3);
    }
    return punctuation(begin);
}

Token Lexer::number(size_t begin) {
    size_t pos = begin;
    if (previous_ == TokenType::Dot) {
        while (is_digit(at(pos))) ++pos;
    } else {
        bool hex = false;
        if (at(pos) == '0' && pos + 2 < text_.size() && (lower(at(pos + 1)) == 'x' || lower(at(pos + 1)) == 'b')) {
            hex = lower(at(pos + 1)) == 'x';
            pos += 2;
        }
        const size_t digits = pos;
        auto skip_digits = [&] {
            while (hex ? is_hex(at(pos)) : is_digit(at(pos))) {
                ++pos;
                // An underscore separates digits only between two of them.
                if (at(pos) == '_' && (hex ? is_hex(at(pos + 1)) : is_digit(at(pos + 1)))) ++pos;
            }
        };
        skip_digits();
        if (at(pos) == '.' && (pos > digits || begin == digits)) {
            ++pos;
            skip_digits();
        }
        const char exponent = lower(at(pos));
        const char after = at(pos + 1);
        if (exponent == (hex ? 'p' : 'e') &&
            (is_digit(after) || ((after == '-' || after == '+') && is_digit(at(pos + 2))))) {
            pos += 2;
            while (is_digit(at(pos))) ++pos;
        }
    }
    if (is_word_char(at(pos)) || at(pos) == '$') {
        if (at(pos) == '$') return make(TokenType::Number, begin, pos);
        while (is_word_char(at(pos))) ++pos;
        for (size_t i = begin; i < pos; ++i) {
            if (!is_word_char(text_[i])) return fail(TokenError::WrongNumber, begin, pos);
        }
        return make(TokenType::BareWord, begin, pos);
    }
    return make(TokenType::Number, begin, pos);
}

Token Lexer::quoted(size_t begin, size_t content, std::string_view close, TokenType type, TokenError error) {
    size_t pos = content;
    const bool ascii = close.size() == 1;
    while (pos < text_.size()) {
        if (ascii && text_[pos] == '\\') {
            pos += 2;
            continue;
        }
        if (text_.substr(pos, close.size()) == close) {
            if (ascii && at(pos + 1) == close[0]) {  // doubled
                pos += 2;
                continue;
            }
            return make(type, begin, pos + close.size());
        }
        ++pos;
    }
    return fail(error, begin, text_.size());
}

Token Lexer::word_or_heredoc(size_t begin) {
    const char c = text_[begin];
    if (c == '$') {
        size_t tag_end = begin + 1;
        while (is_word_char(at(tag_end))) ++tag_end;
        if (at(tag_end) == '$') {
            const std::string_view tag = text_.substr(begin, tag_end + 1 - begin);
            const size_t close = text_.find(tag, tag_end + 1);
            if (close != std::string_view::npos) return make(TokenType::String, begin, close + tag.size());
        }
    }
    if ((lower(c) == 'x' || lower(c) == 'b') && at(begin + 1) == '\'') {
        size_t pos = begin + 2;
        const bool hex = lower(c) == 'x';
        while (hex ? is_hex(at(pos)) : (at(pos) == '0' || at(pos) == '1')) ++pos;
        if (at(pos) != '\'') return fail(TokenError::StringNotClosed, begin, text_.size());
        return make(TokenType::String, begin, pos + 1);
    }
    size_t pos = begin + 1;
    while (is_word_char(at(pos)) || at(pos) == '$') ++pos;
    return make(TokenType::BareWord, begin, pos);
}

Token Lexer::punctuation(size_t begin) {
    struct Sign {
        std::string_view text;
        TokenType type;
    };
    // Longer ones first.
    static constexpr Sign signs[] = {
        {"<=>", TokenType::Spaceship},   {"->", TokenType::Arrow},
        {"::", TokenType::DoubleColon},  {"==", TokenType::Equals},
        {"!=", TokenType::NotEquals},    {"<>", TokenType::NotEquals},
        {"<=", TokenType::LessOrEquals}, {">=", TokenType::GreaterOrEquals},
        {"||", TokenType::Concat},       {"@@", TokenType::DoubleAt},
        {"(", TokenType::OpenRound},     {")", TokenType::CloseRound},
        {"[", TokenType::OpenSquare},    {"]", TokenType::CloseSquare},
        {"{", TokenType::OpenCurly},     {"}", TokenType::CloseCurly},
        {",", TokenType::Comma},         {";", TokenType::Semicolon},
        {"*", TokenType::Asterisk},      {"+", TokenType::Plus},
        {"-", TokenType::Minus},         {"/", TokenType::Slash},
        {"%", TokenType::Percent},       {"?", TokenType::Question},
        {":", TokenType::Colon},         {"^", TokenType::Caret},
        {"=", TokenType::Equals},        {"<", TokenType::Less},
        {">", TokenType::Greater},       {"@", TokenType::At},
    };
    for (const Sign& sign : signs) {
        if (starts_with(sign.text)) return make(sign.type, begin, begin + sign.text.size());
    }
    size_t end = begin + 1;  // a whole UTF-8 sequence
    while ((static_cast<unsigned char>(at(end)) & 0xC0) == 0x80) ++end;
    return fail(TokenError::Unrecognized, begin, end);
}

namespace {

/// One escape; `pos` stands behind the backslash and is moved behind the escape.
bool decode_escape(std::string_view text, size_t& pos, std::string& out) {
    if (pos >= text.size()) return false;
    const char c = text[pos++];
    switch (c) {
        case 'a':
            out += '\a';
            return true;
        case 'b':
            out += '\b';
            return true;
        case 'e':
            out += '\x1B';
            return true;
        case 'f':
            out += '\f';
            return true;
        case 'n':
            out += '\n';
            return true;
        case 'r':
            out += '\r';
            return true;
        case 't':
            out += '\t';
            return true;
        case 'v':
            out += '\v';
            return true;
        case '0':
            out += '\0';
            return true;
        case 'N':
            return true;
        case 'x':
            if (pos + 2 > text.size() || !is_hex(text[pos]) || !is_hex(text[pos + 1])) return false;
            out += static_cast<char>(hex_value(text[pos]) * 16 + hex_value(text[pos + 1]));
            pos += 2;
            return true;
        default:
            // An unknown escape keeps its backslash, so that regular expressions and LIKE patterns need not double it.
            if (c != '\\' && c != '\'' && c != '"' && c != '`' && c != '/' && c != '=') out += '\\';
            out += c;
            return true;
    }
}

bool decode_quoted(std::string_view token, std::string& out) {
    const char quote = token[0];
    size_t pos = 1;
    const size_t end = token.size() - 1;
    out.reserve(end);
    while (pos < end) {
        const char c = token[pos++];
        if (c == '\\') {
            if (!decode_escape(token.substr(0, end), pos, out)) return false;
        } else {
            out += c;
            if (c == quote) ++pos;  // doubled
        }
    }
    return true;
}

void decode_hex(std::string_view digits, std::string& out) {
    size_t pos = 0;
    if (digits.size() % 2 != 0) out += static_cast<char>(hex_value(digits[pos++]));
    for (; pos < digits.size(); pos += 2) {
        out += static_cast<char>(hex_value(digits[pos]) * 16 + hex_value(digits[pos + 1]));
    }
}

void decode_binary(std::string_view digits, std::string& out) {
    // The first byte takes what is left over of whole bytes.
    size_t pos = 0;
    while (pos < digits.size()) {
        const size_t count = (digits.size() - pos) % 8 == 0 ? 8 : (digits.size() - pos) % 8;
        unsigned byte = 0;
        for (size_t i = 0; i < count; ++i) byte = byte * 2 + static_cast<unsigned>(digits[pos + i] - '0');
        out += static_cast<char>(byte);
        pos += count;
    }
}

}  // namespace

bool decode_string(std::string_view token, std::string& out) {
    out.clear();
    if (token[0] == '\'') return decode_quoted(token, out);
    if (token[0] == '$') {
        const size_t tag = token.find('$', 1) + 1;
        out = token.substr(tag, token.size() - 2 * tag);
        return true;
    }
    if (token.starts_with(kOpenSingle)) {
        out = token.substr(3, token.size() - 6);
        return true;
    }
    const std::string_view digits = token.substr(2, token.size() - 3);
    if (lower(token[0]) == 'x') {
        decode_hex(digits, out);
    } else {
        decode_binary(digits, out);
    }
    return true;
}

bool decode_name(std::string_view token, std::string& out) {
    out.clear();
    if (token.starts_with(kOpenDouble)) {
        out = token.substr(3, token.size() - 6);
    } else if (token[0] == '`' || token[0] == '"') {
        if (!decode_quoted(token, out)) return false;
    } else {
        out = token;
    }
    return !out.empty();
}

}  // namespace firn::sql
