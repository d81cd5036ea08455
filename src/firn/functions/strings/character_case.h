// Letters' case.
#pragma once

#include <string>
#include <string_view>

namespace firn::functions {

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

/// Appends the text with every character in the other case as Unicode maps it (ß in upper case is SS). Bytes that are not
/// UTF-8 stay as they are.
void append_lower_utf8(std::string& out, std::string_view text);
void append_upper_utf8(std::string& out, std::string_view text);
std::string lower_utf8(std::string_view text);
std::string lower_ascii(std::string_view text);

/// The character at `at` and its bytes; 0xFFFFFFFF and 1 byte where there is no valid one.
uint32_t decode_utf8(std::string_view text, size_t at, size_t& bytes);
void append_utf8(std::string& out, uint32_t character);

}  // namespace firn::functions
