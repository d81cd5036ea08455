// Bytes in other alphabets: base58, base32, base64 for URLs.
#include <algorithm>
#include <vector>

#include "firn/base/error.h"
#include "firn/functions/registration.h"
#include "firn/functions/strings/row_calls.h"

namespace firn::functions {

namespace {

constexpr std::string_view kBase58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A number of digits of base `from`, most significant first, as digits of base `to`, least significant first.
std::vector<uint8_t> change_base(const std::vector<uint8_t>& digits, unsigned from, unsigned to) {
    std::vector<uint8_t> out;
    for (const uint8_t digit : digits) {
        unsigned carry = digit;
        for (uint8_t& place : out) {
            carry += place * from;
            place = static_cast<uint8_t>(carry % to);
            carry /= to;
        }
        for (; carry > 0; carry /= to) out.push_back(static_cast<uint8_t>(carry % to));
    }
    return out;
}

void base58_encode(const Row& row, std::string& out) {
    const std::string_view text = row.text[0];
    const auto digits = change_base({text.begin(), text.end()}, 256, 58);
    for (size_t i = 0; i < text.size() && text[i] == '\0'; ++i) out.push_back(kBase58[0]);
    for (size_t i = digits.size(); i > 0; --i) out.push_back(kBase58[digits[i - 1]]);
}

bool decode58(std::string_view text, std::string& out) {
    std::vector<uint8_t> digits;
    for (const char c : text) {
        const size_t value = kBase58.find(c);
        if (value == std::string_view::npos) return false;
        digits.push_back(static_cast<uint8_t>(value));
    }
    const auto bytes = change_base(digits, 58, 256);
    for (size_t i = 0; i < digits.size() && digits[i] == 0; ++i) out.push_back('\0');
    for (size_t i = bytes.size(); i > 0; --i) out.push_back(static_cast<char>(bytes[i - 1]));
    return true;
}

/// Groups of `bits` bits, the last one filled up with zeros.
void append_groups(std::string_view text, int bits, std::string_view alphabet, std::string& out) {
    uint32_t held = 0;
    int count = 0;
    for (const char c : text) {
        held = held << 8 | static_cast<unsigned char>(c);
        for (count += 8; count >= bits; count -= bits)
            out.push_back(alphabet[held >> (count - bits) & ((1U << bits) - 1)]);
    }
    if (count) out.push_back(alphabet[held << (bits - count) & ((1U << bits) - 1)]);
}
bool read_groups(std::string_view text, int bits, std::string_view alphabet, std::string& out) {
    uint32_t held = 0;
    int count = 0;
    for (const char c : text) {
        const size_t value = alphabet.find(c);
        if (value == std::string_view::npos) return false;
        held = held << bits | static_cast<uint32_t>(value);
        count += bits;
        if (count < 8) continue;
        count -= 8;
        out.push_back(static_cast<char>(held >> count & 255));
    }
    return count < bits;  // no whole group too many
}
std::string_view without_padding(std::string_view text) {
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    return text;
}

void base32_encode(const Row& row, std::string& out) {
    append_groups(row.text[0], 5, kBase32, out);
    while (out.size() % 8) out.push_back('=');
}
bool decode32(std::string_view text, std::string& out) {
    return text.size() % 8 == 0 && read_groups(without_padding(text), 5, kBase32, out);
}

void base64_url_encode(const Row& row, std::string& out) { append_groups(row.text[0], 6, kBase64Url, out); }
bool decode64_url(std::string_view text, std::string& out) {
    return read_groups(without_padding(text), 6, kBase64Url, out);
}

template <bool (*decode)(std::string_view, std::string&)>
void decode_or_fail(const Row& row, std::string& out) {
    if (!decode(row.text[0], out))
        fail(ErrorCode::INCORRECT_DATA, "Invalid value ({}), cannot be decoded", row.text[0].substr(0, 60));
}
template <bool (*decode)(std::string_view, std::string&)>
void decode_or_nothing(const Row& row, std::string& out) {
    if (!decode(row.text[0], out)) out.clear();
}

template <bool (*decode)(std::string_view, std::string&)>
void add_code(FunctionRegistry& registry, const std::string& name, void (*encode)(const Row&, std::string&)) {
    add_text_call(registry, {name + "Encode", "s"}, encode);
    add_text_call(registry, {name + "Decode", "s"}, decode_or_fail<decode>);
    std::string title = name;
    title[0] = 'B';
    add_text_call(registry, {"try" + title + "Decode", "s"}, decode_or_nothing<decode>);
}

}  // namespace

void register_base_code_functions(FunctionRegistry& registry) {
    add_code<decode58>(registry, "base58", base58_encode);
    add_code<decode32>(registry, "base32", base32_encode);
    add_code<decode64_url>(registry, "base64URL", base64_url_encode);
}

}  // namespace firn::functions
