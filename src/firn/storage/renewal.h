// When keys and tokens that expire are asked for anew.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace firn::storage {

/// Seconds before their end at which keys and tokens are renewed.
constexpr int64_t kRenewedBefore_s = 300;

/// The time (seconds since 1970) to renew what ends at expires_s: what lives shortly at half of it, and not at each request.
inline int64_t renewal_s(int64_t expires_s) {
    const int64_t now = std::time(nullptr), life = expires_s - now;
    return now + std::max({life / 2, life - kRenewedBefore_s, int64_t{1}});
}

}  // namespace firn::storage
