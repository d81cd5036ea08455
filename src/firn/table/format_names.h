// Which words stand for a format of files among a table function's arguments.
#pragma once

#include <string_view>

namespace firn::table {

/// Whether ClickHouse has a format of this name, in whatever case, or it is "auto". Most of them firn does not read.
bool is_format_name(std::string_view text);

}  // namespace firn::table
