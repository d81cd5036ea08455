// Values from text as CAST reads it. The way out, values as text, is vector/vector_text.h.
#pragma once

#include <string_view>

#include "firn/base/error.h"
#include "firn/types/time_zone.h"
#include "firn/vector/builder.h"

namespace firn::functions {

/// Appends the value that `text` is (all of it, as append_text writes it) to a builder of that type. Returns kParsed or an
/// error's code; the builder may then hold half a row and is not to be used on.
ErrorCode parse_plain(std::string_view text, VectorBuilder& builder, const TimeZone& zone);

}  // namespace firn::functions
