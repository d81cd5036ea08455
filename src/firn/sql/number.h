// Numbers in SQL text.
#pragma once

#include <string>
#include <string_view>

#include "firn/sql/ast.h"

namespace firn::sql {

/// A Number token (123, 1.5e3, 0xFF, 0x1.8p1, 0b11, 1_000) as a literal. False when it is none or does not fit Float64.
bool read_number(std::string_view token, bool negative, Literal& out);

/// The shortest digits that read back as the same number, always with a point or an exponent: "1.", "0.1", "1e21".
std::string format_float(double value);

}  // namespace firn::sql
