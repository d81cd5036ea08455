// Values of eight bytes picked out of others, the way most numbers come out of a dictionary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace firn {

/// out[i] = from[rows[i]], each row below from.size(). Small dictionaries are kept in registers where the machine can.
void gather_words(std::span<const uint64_t> from, std::span<const uint32_t> rows, uint64_t* out);

}  // namespace firn
