// Values of vectors as text, and from text: what toString, CAST and the text formats share.
#pragma once

#include <string>
#include <string_view>

#include "firn/base/error.h"
#include "firn/types/time_zone.h"
#include "firn/vector/builder.h"
#include "firn/vector/vector.h"

namespace firn::functions {

struct TextOptions {
    const TimeZone* time_zone = &TimeZone::utc();  // of DateTime types that name none
    bool decimal_trailing_zeros = false;
};

/// As toString prints: strings and dates bare, NULL as "NULL"; inside arrays, maps and tuples as append_quoted.
void append_plain(std::string& out, const Vector& vector, size_t row, const TextOptions& options = {});
/// As in SQL text: 'it\'s', '2020-01-01', [1,2], {'a':1}, (1,'x'), NULL.
void append_quoted(std::string& out, const Vector& vector, size_t row, const TextOptions& options = {});
/// The bytes in single quotes, with backslash escapes.
void append_quoted_string(std::string& out, std::string_view bytes);

/// Appends the value that `text` is (all of it, as append_plain writes it) to a builder of that type. Returns kParsed or an
/// error's code; the builder may then hold half a row and is not to be used on.
ErrorCode parse_plain(std::string_view text, VectorBuilder& builder, const TimeZone& zone);

}  // namespace firn::functions
