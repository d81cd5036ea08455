// Text to tokens. Blanks and comments (-- ..., # ..., #! ..., /* ... */) are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace firn::sql {

enum class TokenType : uint8_t {
    End,
    Error,       // what is wrong is in Lexer::error_text()
    BareWord,    // keyword or plain identifier
    QuotedName,  // `a`, "a"
    String,      // 'a', x'41', b'0100', $tag$a$tag$
    Number,
    OpenRound,
    CloseRound,
    OpenSquare,
    CloseSquare,
    OpenCurly,
    CloseCurly,
    Comma,
    Semicolon,
    Dot,
    Asterisk,
    Plus,
    Minus,
    Slash,
    Percent,
    Arrow,  // ->
    Question,
    Colon,
    DoubleColon,  // ::
    Caret,
    Equals,     // = and ==
    NotEquals,  // != and <>
    Less,
    Greater,
    LessOrEquals,
    GreaterOrEquals,
    Spaceship,  // <=>
    Concat,     // ||
    At,
    DoubleAt,
};

enum class TokenError : uint8_t {
    None,
    Unrecognized,
    StringNotClosed,
    NameNotClosed,
    CommentNotClosed,
    WrongNumber,
    QueryTooBig,
};

struct Token {
    TokenType type = TokenType::End;
    TokenError error = TokenError::None;
    size_t begin = 0, end = 0;  // byte offsets
};

/// What ClickHouse says of such a token: "Single quoted string is not closed".
std::string_view token_error_text(TokenError error);

class Lexer {
public:
    /// Reads `text` from `begin`. Tokens that would end after `begin` + `max_size` are errors (0 = no limit).
    Lexer(std::string_view text, size_t begin, size_t max_size);

    /// The next token. End again and again at the end of the text; after an Error the lexer stands behind it.
    Token next();

private:
    Token scan();
    bool skip_blanks(Token& error);
    Token number(size_t begin);
    Token quoted(size_t begin, size_t content, std::string_view close, TokenType type, TokenError error);
    Token word_or_heredoc(size_t begin);
    Token punctuation(size_t begin);
    Token make(TokenType type, size_t begin, size_t end);
    Token fail(TokenError error, size_t begin, size_t end);
    bool starts_with(std::string_view wanted) const { return text_.substr(pos_).starts_with(wanted); }
    char at(size_t pos) const { return pos < text_.size() ? text_[pos] : '\0'; }

    std::string_view text_;
    size_t pos_;
    size_t limit_;
    TokenType previous_ = TokenType::End;
};

/// The bytes a String token stands for. False when its escapes are malformed ('\x4').
bool decode_string(std::string_view token, std::string& out);
/// The name a BareWord or QuotedName token stands for. False as above, or when it is empty.
bool decode_name(std::string_view token, std::string& out);

bool is_word_char(char c);  // ASCII letter, digit, underscore
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace firn::sql
