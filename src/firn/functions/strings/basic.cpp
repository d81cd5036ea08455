// Letter case, parts of strings, padding, trimming, searching.
#include <algorithm>
#include <cctype>
#include <clocale>
#include <cwctype>

#include "firn/functions/registration.h"
#include "firn/functions/strings/row_calls.h"
#include "firn/functions/substring_search.h"

namespace firn::functions {

namespace {

void lower(const Row& row, std::string& out) {
    out = row.text[0];
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
}
void upper(const Row& row, std::string& out) {
    out = row.text[0];
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
}

/// The next character; a byte that starts none is itself.
uint32_t next_character(std::string_view text, size_t& at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t size = lead < 0x80 ? 1 : (lead >> 5) == 6 ? 2 : (lead >> 4) == 14 ? 3 : (lead >> 3) == 30 ? 4 : 0;
    if (size <= 1 || at + size > text.size()) {
        ++at;
        return size == 1 ? lead : 0x110000U + lead;
    }
    uint32_t code = lead & (0xFFU >> (size + 1));
    for (size_t i = 1; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(text[at + i]);
        if ((byte & 0xC0) != 0x80) {
            ++at;
            return 0x110000U + lead;
        }
        code = (code << 6) | (byte & 0x3F);
    }
    at += size;
    return code;
}

void append_character(std::string& out, uint32_t code) {
    if (code >= 0x110000)
        out.push_back(static_cast<char>(code - 0x110000));
    else if (code < 0x80)
        out.push_back(static_cast<char>(code));
    else if (code < 0x800) {
        out.push_back(static_cast<char>(0xC0 | (code >> 6)));
        out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
    } else if (code < 0x10000) {
        out.push_back(static_cast<char>(0xE0 | (code >> 12)));
        out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
        out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
    } else {
        out.push_back(static_cast<char>(0xF0 | (code >> 18)));
        out.push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
        out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
        out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
    }
}

locale_t utf8_locale() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
}
uint32_t change_case(uint32_t code, bool up) {
    if (code >= 0x110000) return code;
    const locale_t locale = utf8_locale();
    if (!locale) return code;
    return static_cast<uint32_t>(up ? towupper_l(static_cast<wint_t>(code), locale)
                                    : towlower_l(static_cast<wint_t>(code), locale));
}
template <bool kUp>
void case_utf8(const Row& row, std::string& out) {
    for (size_t at = 0; at < row.text[0].size();)
        append_character(out, change_case(next_character(row.text[0], at), kUp));
}
void initcap(const Row& row, std::string& out) {
    out = row.text[0];
    bool start = true;
    for (char& c : out) {
        const bool word = std::isalnum(static_cast<unsigned char>(c));
        c = static_cast<char>(start ? std::toupper(static_cast<unsigned char>(c))
                                    : std::tolower(static_cast<unsigned char>(c)));
        start = !word;
    }
}

/// What substring(…, offset[, length]) takes out of `size` units: [begin, end).
std::pair<size_t, size_t> substring_range(size_t size, int64_t offset, bool has_length, int64_t length) {
    const auto total = static_cast<int64_t>(size);
    if (offset == 0) return {0, 0};
    int64_t begin = offset > 0 ? offset - 1 : total + offset;
    int64_t end = total;
    if (has_length) end = length >= 0 ? (length > total - begin ? total : begin + length) : total + length;
    begin = std::clamp<int64_t>(begin, 0, total);
    end = std::clamp<int64_t>(end, begin, total);
    return {static_cast<size_t>(begin), static_cast<size_t>(end)};
}

std::string_view substring(const Row& row) {
    const auto [begin, end] = substring_range(row.text[0].size(), row.number[1], row.count > 2, row.number[2]);
    return row.text[0].substr(begin, end - begin);
}
std::string_view cut_utf8(std::string_view text, size_t begin, size_t end) {
    const size_t first = utf8_prefix(text, begin);
    return text.substr(first, utf8_prefix(text.substr(first), end - begin));
}
std::string_view substring_utf8(const Row& row) {
    const auto [begin, end] = substring_range(utf8_length(row.text[0]), row.number[1], row.count > 2, row.number[2]);
    return cut_utf8(row.text[0], begin, end);
}
/// left(s, n): n units, or all but the last -n.
std::string_view left(const Row& row) {
    const auto size = static_cast<int64_t>(row.text[0].size());
    return row.text[0].substr(0, static_cast<size_t>(std::clamp<int64_t>(
                                     row.number[1] >= 0 ? row.number[1] : size + row.number[1], 0, size)));
}
std::string_view right(const Row& row) {
    const auto size = static_cast<int64_t>(row.text[0].size());
    const int64_t kept = std::clamp<int64_t>(row.number[1] >= 0 ? row.number[1] : size + row.number[1], 0, size);
    return row.text[0].substr(static_cast<size_t>(size - kept));
}
std::string_view left_utf8(const Row& row) {
    const auto size = static_cast<int64_t>(utf8_length(row.text[0]));
    return row.text[0].substr(
        0, utf8_prefix(row.text[0], static_cast<size_t>(std::clamp<int64_t>(
                                        row.number[1] >= 0 ? row.number[1] : size + row.number[1], 0, size))));
}
std::string_view right_utf8(const Row& row) {
    const auto size = static_cast<int64_t>(utf8_length(row.text[0]));
    const int64_t kept = std::clamp<int64_t>(row.number[1] >= 0 ? row.number[1] : size + row.number[1], 0, size);
    return row.text[0].substr(utf8_prefix(row.text[0], static_cast<size_t>(size - kept)));
}

constexpr bool in_set(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }
std::string_view trim_set(const Row& row) { return row.count > 1 ? row.text[1] : std::string_view(" "); }
std::string_view trim_left(const Row& row) {
    std::string_view text = row.text[0];
    while (!text.empty() && in_set(trim_set(row), text.front())) text.remove_prefix(1);
    return text;
}
std::string_view trim_right(const Row& row) {
    std::string_view text = row.text[0];
    while (!text.empty() && in_set(trim_set(row), text.back())) text.remove_suffix(1);
    return text;
}
std::string_view trim_both(const Row& row) {
    Row rest = row;
    rest.text[0] = trim_left(row);
    return trim_right(rest);
}

constexpr int64_t kMaxResult = int64_t{1} << 30;

[[noreturn]] void fail_size(const char* name) {
    fail(ErrorCode::TOO_LARGE_STRING_SIZE, "The result of function {} is too long", name);
}

void repeat(const Row& row, std::string& out) {
    if (row.number[1] <= 0) return;
    if (row.number[1] > 1000000 || static_cast<int64_t>(row.text[0].size()) * row.number[1] > kMaxResult)
        fail_size("repeat");
    for (int64_t i = 0; i < row.number[1]; ++i) out += row.text[0];
}
void space(const Row& row, std::string& out) {
    if (row.number[0] > kMaxResult) fail_size("space");
    if (row.number[0] > 0) out.assign(static_cast<size_t>(row.number[0]), ' ');
}

template <bool kLeft, bool kUtf8>
void pad(const Row& row, std::string& out) {
    if (row.number[1] < 0 || row.number[1] > kMaxResult) fail_size("pad");
    const auto wanted = static_cast<size_t>(row.number[1]);
    const std::string_view text = row.text[0];
    const size_t size = kUtf8 ? utf8_length(text) : text.size();
    if (size >= wanted) {
        out = text.substr(0, kUtf8 ? utf8_prefix(text, wanted) : wanted);
        return;
    }
    const std::string_view fill = row.count > 2 && !row.text[2].empty() ? row.text[2] : std::string_view(" ");
    const size_t fill_size = kUtf8 ? utf8_length(fill) : fill.size();
    if (!kLeft) out = text;
    for (size_t missing = wanted - size; missing > 0;) {
        const size_t taken = std::min(missing, fill_size);
        out += fill.substr(0, kUtf8 ? utf8_prefix(fill, taken) : taken);
        missing -= taken;
    }
    if (kLeft) out += text;
}

std::string lowered(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}
uint64_t position_in(std::string_view text, std::string_view needle, const Row& row) {
    if (row.count > 2 && row.number[2] > static_cast<int64_t>(text.size()) + 1) return 0;
    const size_t from = row.count > 2 && row.number[2] > 0 ? static_cast<size_t>(row.number[2] - 1) : 0;
    const size_t at = find_substring(text, needle, from);
    return at == std::string_view::npos ? 0 : at + 1;
}
uint64_t position(const Row& row) { return position_in(row.text[0], row.text[1], row); }
uint64_t position_any_case(const Row& row) { return position_in(lowered(row.text[0]), lowered(row.text[1]), row); }
uint64_t position_utf8(const Row& row) {
    const size_t from =
        row.count > 2 && row.number[2] > 0 ? utf8_prefix(row.text[0], static_cast<size_t>(row.number[2] - 1)) : 0;
    const size_t at = find_substring(row.text[0], row.text[1], from);
    return at == std::string_view::npos ? 0 : utf8_length(row.text[0].substr(0, at)) + 1;
}
uint64_t locate(const Row& row) { return position_in(row.text[1], row.text[0], row); }

void replace(const Row& row, std::string& out, bool all) {
    const std::string_view text = row.text[0], from = row.text[1], to = row.text[2];
    size_t at = 0;
    if (!from.empty())
        for (size_t found; (found = find_substring(text, from, at)) != std::string_view::npos;) {
            out += text.substr(at, found - at);
            out += to;
            at = found + from.size();
            if (!all) break;
        }
    out += text.substr(at);
}
void replace_all(const Row& row, std::string& out) { replace(row, out, true); }
void replace_one(const Row& row, std::string& out) { replace(row, out, false); }

void reverse_utf8(const Row& row, std::string& out) {
    for (size_t end = row.text[0].size(); end > 0;) {
        size_t begin = end - 1;
        while (begin > 0 && (static_cast<unsigned char>(row.text[0][begin]) & 0xC0) == 0x80) --begin;
        out += row.text[0].substr(begin, end - begin);
        end = begin;
    }
}
uint64_t count_substrings(const Row& row) {
    uint64_t count = 0;
    if (row.text[1].empty()) return 0;
    for (size_t at = row.count > 2 && row.number[2] > 0 ? static_cast<size_t>(row.number[2] - 1) : 0;
         (at = find_substring(row.text[0], row.text[1], at)) != std::string_view::npos; at += row.text[1].size())
        ++count;
    return count;
}
uint64_t ascii(const Row& row) {
    return row.text[0].empty() ? 0
                               : static_cast<uint64_t>(static_cast<int64_t>(static_cast<signed char>(row.text[0][0])));
}
void append_trailing(const Row& row, std::string& out) {
    out = row.text[0];
    if (row.text[1].size() != 1)
        fail(ErrorCode::BAD_ARGUMENTS,
             "Second argument of function appendTrailingCharIfAbsent must be a one-character string");
    if (!out.empty() && out.back() != row.text[1][0]) out += row.text[1];
}
std::string_view substring_index(const Row& row) {
    const std::string_view text = row.text[0], delimiter = row.text[1];
    if (delimiter.empty() || row.number[2] == 0) return text.substr(0, 0);
    if (row.number[2] > 0) {
        size_t at = 0;
        for (int64_t i = 0; i < row.number[2]; ++i) {
            const size_t found = find_substring(text, delimiter, at);
            if (found == std::string_view::npos) return text;
            if (i + 1 == row.number[2]) return text.substr(0, found);
            at = found + delimiter.size();
        }
    }
    size_t end = text.size();
    for (int64_t i = 0; i > row.number[2]; --i) {
        const size_t found =
            end < delimiter.size() ? std::string_view::npos : text.rfind(delimiter, end - delimiter.size());
        if (found == std::string_view::npos) return text;
        if (i - 1 == row.number[2]) return text.substr(found + delimiter.size());
        end = found;
    }
    return text;
}
void translate(const Row& row, std::string& out) {
    for (const char c : row.text[0]) {
        const size_t at = row.text[1].find(c);
        if (at == std::string_view::npos)
            out.push_back(c);
        else if (at < row.text[2].size())
            out.push_back(row.text[2][at]);
    }
}

}  // namespace

void register_string_functions(FunctionRegistry& registry) {
    add_text_call(registry, {"lower", "s", {"lcase"}, true}, lower);
    add_text_call(registry, {"upper", "s", {"ucase"}, true}, upper);
    add_text_call(registry, {"lowerUTF8", "s"}, case_utf8<false>);
    add_text_call(registry, {"upperUTF8", "s"}, case_utf8<true>);
    add_text_call(registry, {"initcap", "s", {}, true}, initcap);
    add_view_call(registry, {"substring", "si|i", {"substr", "mid", "byteSlice"}, true}, substring);
    add_view_call(registry, {"substringUTF8", "si|i", {"substrUTF8"}}, substring_utf8);
    add_view_call(registry, {"left", "si", {}, true}, left);
    add_view_call(registry, {"right", "si", {}, true}, right);
    add_view_call(registry, {"leftUTF8", "si"}, left_utf8);
    add_view_call(registry, {"rightUTF8", "si"}, right_utf8);
    add_view_call(registry, {"trimLeft", "s|s", {"ltrim"}, true}, trim_left);
    add_view_call(registry, {"trimRight", "s|s", {"rtrim"}, true}, trim_right);
    add_view_call(registry, {"trimBoth", "s|s", {"trim"}, true}, trim_both);
    add_text_call(registry, {"repeat", "si", {}, true}, repeat);
    add_text_call(registry, {"space", "i", {}, true}, space);
    add_text_call(registry, {"leftPad", "si|s", {"lpad"}, true}, pad<true, false>);
    add_text_call(registry, {"rightPad", "si|s", {"rpad"}, true}, pad<false, false>);
    add_text_call(registry, {"leftPadUTF8", "si|s"}, pad<true, true>);
    add_text_call(registry, {"rightPadUTF8", "si|s"}, pad<false, true>);
    add_number_call(registry, {"position", "ss|i", {"strpos", "instr"}, true}, TypeId::UInt64, position);
    add_number_call(registry, {"positionCaseInsensitive", "ss|i"}, TypeId::UInt64, position_any_case);
    add_number_call(registry, {"positionUTF8", "ss|i"}, TypeId::UInt64, position_utf8);
    add_number_call(registry, {"locate", "ss|i", {}, true}, TypeId::UInt64, locate);
    add_number_call(registry, {"startsWithUTF8", "ss"}, TypeId::UInt8,
                    [](const Row& row) -> uint64_t { return row.text[0].starts_with(row.text[1]); });
    add_number_call(registry, {"endsWithUTF8", "ss"}, TypeId::UInt8,
                    [](const Row& row) -> uint64_t { return row.text[0].ends_with(row.text[1]); });
    add_number_call(registry, {"startsWithCaseInsensitive", "ss"}, TypeId::UInt8,
                    [](const Row& row) -> uint64_t { return lowered(row.text[0]).starts_with(lowered(row.text[1])); });
    add_number_call(registry, {"endsWithCaseInsensitive", "ss"}, TypeId::UInt8,
                    [](const Row& row) -> uint64_t { return lowered(row.text[0]).ends_with(lowered(row.text[1])); });
    add_text_call(registry, {"replaceAll", "sss", {"replace"}, true}, replace_all);
    add_text_call(registry, {"replaceOne", "sss"}, replace_one);
    add_text_call(registry, {"reverseUTF8", "s"}, reverse_utf8);
    add_number_call(registry, {"lengthUTF8", "s", {"CHAR_LENGTH", "CHARACTER_LENGTH"}, true}, TypeId::UInt64,
                    [](const Row& row) -> uint64_t { return utf8_length(row.text[0]); });
    add_number_call(registry, {"countSubstrings", "ss|i", {}, true}, TypeId::UInt64, count_substrings);
    add_number_call(registry, {"ascii", "s", {}, true}, TypeId::Int32, ascii);
    add_text_call(registry, {"appendTrailingCharIfAbsent", "ss"}, append_trailing);
    add_view_call(registry, {"substringIndex", "ssi", {"SUBSTRING_INDEX"}, true}, substring_index);
    add_text_call(registry, {"translate", "sss"}, translate);
}

}  // namespace firn::functions
