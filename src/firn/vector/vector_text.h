// A vector's values as ClickHouse's text: what toString() gives, and what stands inside arrays, tuples and maps.
#pragma once

#include <string>
#include <string_view>

#include "firn/types/time_zone.h"
#include "firn/vector/vector.h"

namespace firn {

struct TextOptions {
    const TimeZone* zone = &TimeZone::utc();  // of DateTime types that name none
    bool decimal_trailing_zeros = false;
};

/// The value without quotes: abc, 2020-01-01, [1,'a'], NULL.
void append_text(std::string& out, const Vector& vector, size_t row, const TextOptions& options = {});
/// As it stands inside an array or tuple: strings and dates in single quotes, with escapes.
void append_quoted_text(std::string& out, const Vector& vector, size_t row, const TextOptions& options = {});

}  // namespace firn
