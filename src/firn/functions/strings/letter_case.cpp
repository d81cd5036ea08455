// Letters' case by Unicode's tables; initcapUTF8.
#include <locale.h>
#include <clocale>
#include <cwctype>

#include "firn/functions/registration.h"
#include "firn/functions/strings/character_case.h"
#include "firn/functions/strings/text_loops.h"

namespace firn::functions {

namespace {

/// The C library's Unicode tables; null where it has none, and then only ASCII letters change.
locale_t unicode_locale() {
    static const locale_t locale = [] {
        for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"})
            if (const locale_t made = newlocale(LC_CTYPE_MASK, name, nullptr)) return made;
        return locale_t{};
    }();
    return locale;
}

uint32_t map_character(uint32_t c, bool upper) {
    if (c < 0x80)
        return static_cast<uint8_t>(upper ? ascii_upper(static_cast<char>(c)) : ascii_lower(static_cast<char>(c)));
    const locale_t locale = unicode_locale();
    if (!locale) return c;
    return static_cast<uint32_t>(upper ? towupper_l(static_cast<wint_t>(c), locale)
                                       : towlower_l(static_cast<wint_t>(c), locale));
}

void append_mapped(std::string& out, std::string_view text, bool upper) {
    for (size_t at = 0; at < text.size();) {
        size_t bytes = 1;
        const uint32_t c = decode_utf8(text, at, bytes);
        if (c == 0xFFFFFFFF)
            out.push_back(text[at]);
        else if (upper && c == 0xDF)
            out += "SS";
        else if (!upper && c == 0x130)
            out += "i\xCC\x87";
        else
            append_utf8(out, map_character(c, upper));
        at += bytes;
    }
}

bool is_letter_or_digit(uint32_t c) {
    if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const locale_t locale = unicode_locale();
    return locale && iswalnum_l(static_cast<wint_t>(c), locale);
}

/// Words begin with an upper case letter and go on in lower case.
void append_capitalized(std::string_view text, std::string& out) {
    bool inside = false;
    for (size_t at = 0; at < text.size();) {
        size_t bytes = 1;
        const uint32_t c = decode_utf8(text, at, bytes);
        const bool word = c != 0xFFFFFFFF && is_letter_or_digit(c);
        if (word)
            append_utf8(out, map_character(c, !inside));
        else
            out.append(text.substr(at, bytes));
        inside = word;
        at += bytes;
    }
}

}  // namespace

uint32_t decode_utf8(std::string_view text, size_t at, size_t& bytes) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
    bytes = 1;
    const uint8_t first = byte(0);
    if (first < 0x80) return first;
    const size_t length = first >= 0xF0 && first < 0xF5   ? 4
                          : first >= 0xE0 && first < 0xF0 ? 3
                          : first >= 0xC2 && first < 0xE0 ? 2
                                                          : 0;
    if (length == 0 || text.size() - at < length) return 0xFFFFFFFF;
    uint32_t c = first & (0xFF >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0xFFFFFFFF;
        c = (c << 6) | (byte(i) & 0x3F);
    }
    if ((length == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) || (length == 4 && (c < 0x10000 || c > 0x10FFFF)))
        return 0xFFFFFFFF;
    bytes = length;
    return c;
}

void append_utf8(std::string& out, uint32_t c) {
    const auto push = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (c < 0x80) return push(c);
    if (c < 0x800) {
        push(0xC0 | (c >> 6));
    } else {
        if (c < 0x10000) {
            push(0xE0 | (c >> 12));
        } else {
            push(0xF0 | (c >> 18));
            push(0x80 | ((c >> 12) & 0x3F));
        }
        push(0x80 | ((c >> 6) & 0x3F));
    }
    push(0x80 | (c & 0x3F));
}

void append_lower_utf8(std::string& out, std::string_view text) { append_mapped(out, text, false); }
void append_upper_utf8(std::string& out, std::string_view text) { append_mapped(out, text, true); }
std::string lower_utf8(std::string_view text) {
    std::string out;
    append_mapped(out, text, false);
    return out;
}
std::string lower_ascii(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = ascii_lower(c);
    return out;
}

void register_letter_case_functions(FunctionRegistry& registry) {
    declare_text(registry, {"initcapUTF8"}, append_capitalized);
}

}  // namespace firn::functions
