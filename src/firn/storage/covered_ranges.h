// Which bytes of an object a cache has: segments that do not overlap, by their offsets.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "firn/storage/object_store.h"

namespace firn::storage {

/// A part of a range that one segment has, or none.
struct CoveredPart {
    ByteRange range;
    bool there = false;
};

/// Cuts `wanted` at the borders of segments: offset -> anything whose length `length_of` tells.
template <typename Segments, typename LengthOf>
std::vector<CoveredPart> covered_parts(const Segments& segments, ByteRange wanted, const LengthOf& length_of) {
    std::vector<CoveredPart> parts;
    const uint64_t end = wanted.offset + wanted.length;
    auto next = segments.upper_bound(wanted.offset);
    if (next != segments.begin()) --next;
    for (uint64_t at = wanted.offset; at < end;) {
        while (next != segments.end() && next->first + length_of(next->second) <= at) ++next;
        if (next == segments.end() || next->first >= end) {
            parts.push_back({{at, end - at}, false});
            break;
        }
        if (next->first > at) parts.push_back({{at, next->first - at}, false});
        const uint64_t begin = std::max(at, next->first);
        at = std::min(end, next->first + length_of(next->second));
        parts.push_back({{begin, at - begin}, true});
    }
    return parts;
}

}  // namespace firn::storage
