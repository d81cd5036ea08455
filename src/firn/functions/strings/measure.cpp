// What strings are like: lengthUTF8, ascii, isValidUTF8, distances; and toValidUTF8.
#include <algorithm>
#include <vector>

#include "firn/functions/registration.h"
#include "firn/functions/strings/character_case.h"
#include "firn/functions/strings/text_loops.h"

namespace firn::functions {

namespace {

bool is_ascii(std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

bool is_valid_utf8(std::string_view s) {
    size_t bytes = 1;
    for (size_t at = 0; at < s.size(); at += bytes)
        if (decode_utf8(s, at, bytes) == 0xFFFFFFFF) return false;
    return true;
}

/// Runs of bytes that are no UTF-8 become one U+FFFD each.
void append_valid_utf8(std::string_view s, std::string& out) {
    bool bad = false;
    size_t bytes = 1;
    for (size_t at = 0; at < s.size(); at += bytes) {
        if (decode_utf8(s, at, bytes) == 0xFFFFFFFF) {
            if (!bad) out += "\xEF\xBF\xBD";
            bad = true;
        } else {
            out.append(s.substr(at, bytes));
            bad = false;
        }
    }
}

constexpr size_t kMaxDistanceCells = 1 << 26;

/// Least number of insertions, deletions and replacements (with `swaps`, of neighbours swapped too).
template <typename Characters>
uint64_t edit_distance(const Characters& a, const Characters& b, bool swaps) {
    if (a.size() && b.size() > kMaxDistanceCells / a.size())
        fail(ErrorCode::TOO_LARGE_STRING_SIZE,
             "The strings are too long to compute the distance between: {} and {} characters", a.size(), b.size());
    std::vector<uint32_t> older(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<uint32_t>(j);
    for (size_t i = 1; i <= a.size(); ++i) {
        current[0] = static_cast<uint32_t>(i);
        for (size_t j = 1; j <= b.size(); ++j) {
            current[j] =
                std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (swaps && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], older[j - 2] + 1);
        }
        std::swap(older, previous);
        std::swap(previous, current);
    }
    return previous[b.size()];
}

std::vector<uint32_t> characters(std::string_view s) {
    std::vector<uint32_t> out;
    size_t bytes = 1;
    for (size_t at = 0; at < s.size(); at += bytes) {
        out.push_back(decode_utf8(s, at, bytes));
        if (out.back() == 0xFFFFFFFF) fail(ErrorCode::BAD_ARGUMENTS, "Function editDistanceUTF8 takes UTF-8 text only");
    }
    return out;
}

uint64_t hamming_distance(std::string_view a, std::string_view b) {
    if (a.size() != b.size())
        fail(ErrorCode::BAD_ARGUMENTS,
             "Function byteHammingDistance takes strings of equal length, not of {} and {} bytes", a.size(), b.size());
    uint64_t count = 0;
    for (size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
    return count;
}

void append_soundex(std::string_view s, std::string& out) {
    constexpr std::string_view kCodes = "01230120022455012623010202";
    char last = 0;
    for (const char given : s) {
        const char c = ascii_upper(given);
        if (c < 'A' || c > 'Z') continue;
        const char code = kCodes[static_cast<size_t>(c - 'A')];
        if (out.empty())
            out.push_back(c);
        else if (code != '0' && code != last)
            out.push_back(code);
        if (c != 'H' && c != 'W') last = code;
        if (out.size() == 4) return;
    }
    if (!out.empty()) out.append(4 - out.size(), '0');
}

}  // namespace

void register_text_measure_functions(FunctionRegistry& registry) {
    declare_measure<uint8_t>(registry, {"isASCII", {}, true}, TypeId::UInt8, is_ascii);
    declare_measure<uint8_t>(registry, {"isValidUTF8"}, TypeId::UInt8, is_valid_utf8);
    declare_text(registry, {"toValidUTF8"}, append_valid_utf8);
    declare_text(registry, {"soundex", {}, true}, append_soundex);
    declare_pair_measure<uint64_t>(registry, {"editDistance", {"levenshteinDistance"}}, TypeId::UInt64,
                                   [](std::string_view a, std::string_view b) { return edit_distance(a, b, false); });
    declare_pair_measure<uint64_t>(
        registry, {"editDistanceUTF8", {"levenshteinDistanceUTF8"}}, TypeId::UInt64,
        [](std::string_view a, std::string_view b) { return edit_distance(characters(a), characters(b), false); });
    declare_pair_measure<uint64_t>(registry, {"damerauLevenshteinDistance"}, TypeId::UInt64,
                                   [](std::string_view a, std::string_view b) { return edit_distance(a, b, true); });
    declare_pair_measure<uint64_t>(registry, {"byteHammingDistance", {"mismatches"}}, TypeId::UInt64, hamming_distance);
}

}  // namespace firn::functions
