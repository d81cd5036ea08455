// Bytes as they stand between quotes: with backslash escapes as SQL and tab-separated text have them, and as JSON's.
#pragma once

#include <string>
#include <string_view>

namespace firn {

/// Backslash escapes of \b \f \r \n \t \0 \\ and, for `quote`, of that sign too (0: none). Adds no quotes itself.
void append_escaped(std::string& out, std::string_view text, char quote);

enum class JsonSlash { Bare, Escaped };  // "/" or "\/"

/// A JSON string, quotes included: control characters are escaped, all other bytes stay (UTF-8 or not).
void append_json_string(std::string& out, std::string_view text, JsonSlash slash = JsonSlash::Bare);

}  // namespace firn
