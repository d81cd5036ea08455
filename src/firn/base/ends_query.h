// Errors that nothing may take for less than they are.
#pragma once

#include "firn/base/error.h"

namespace firn {

/// Whether the query is to end: it was cancelled, or has no time or memory left. What is tried, estimated or left out where it
/// fails passes such errors on.
inline bool ends_query(const Error& error) {
    return error.code() == ErrorCode::QUERY_WAS_CANCELLED || error.code() == ErrorCode::TIMEOUT_EXCEEDED ||
           error.code() == ErrorCode::MEMORY_LIMIT_EXCEEDED;
}

}  // namespace firn
