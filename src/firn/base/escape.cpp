#include "firn/base/escape.h"

namespace firn {
namespace {

/// The letter that stands behind a backslash for this control character in SQL and in JSON alike; 0: there is none.
char short_escape(char c) {
    switch (c) {
        case '\b':
            return 'b';
        case '\f':
            return 'f';
        case '\n':
            return 'n';
        case '\r':
            return 'r';
        case '\t':
            return 't';
        case '\\':
            return '\\';
        default:
            return 0;
    }
}

}  // namespace

void append_escaped(std::string& out, std::string_view text, char quote) {
    for (const char c : text) {
        if (const char letter = c == '\0' ? '0' : short_escape(c)) {
            out.push_back('\\');
            out.push_back(letter);
            continue;
        }
        if (quote && c == quote) out.push_back('\\');
        out.push_back(c);
    }
}

void append_json_string(std::string& out, std::string_view text, JsonSlash slash) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    out.push_back('"');
    for (const char c : text) {
        if (const char letter = short_escape(c)) {
            out.push_back('\\');
            out.push_back(letter);
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out.push_back(kHex[c >> 4]);
            out.push_back(kHex[c & 15]);
        } else {
            if (c == '"' || (c == '/' && slash == JsonSlash::Escaped)) out.push_back('\\');
            out.push_back(c);
        }
    }
    out.push_back('"');
}

}  // namespace firn
