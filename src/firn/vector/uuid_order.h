// The order of UUIDs, which is not that of their text.
#pragma once

#include "firn/types/data_type.h"

namespace firn {

/// SQL orders UUIDs by their second half first, each half unsigned: a number that orders as the UUID does.
inline UInt128 uuid_order(UInt128 value) { return value << 64 | value >> 64; }

inline bool is_uuid(const TypePtr& type) { return unwrap(type)->id() == TypeId::UUID; }

}  // namespace firn
