// Finding a needle in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "firn/vector/string_ref.h"

namespace firn::functions {

/// Position of the first occurrence at or after `from`; npos where there is none. An empty needle is found at once.
size_t find_substring(std::string_view haystack, std::string_view needle, size_t from = 0);

/// out[i] = 1 where texts[i] holds the needle, else 0.
void mark_containing(const StringRef* texts, size_t rows, std::string_view needle, uint8_t* out);
/// The same without instructions beyond the baseline; what tests compare with.
void mark_containing_portable(const StringRef* texts, size_t rows, std::string_view needle, uint8_t* out);

}  // namespace firn::functions
