// Finding a needle in bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace firn::functions {

/// Position of the first occurrence at or after `from`; npos where there is none. An empty needle is found at once.
size_t find_substring(std::string_view haystack, std::string_view needle, size_t from = 0);

}  // namespace firn::functions
