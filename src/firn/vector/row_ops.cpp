#include "firn/vector/row_ops.h"

#include <algorithm>
#include <cmath>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "firn/vector/uuid_order.h"

namespace firn {
namespace {

constexpr uint64_t kNullHash = 0x9ae16a3b2f90404fULL;

template <typename T>
int compare_fixed(T a, T b, int nulls_direction) {
    if constexpr (std::is_floating_point_v<T>) {
        const bool nan_a = std::isnan(a), nan_b = std::isnan(b);
        if (nan_a || nan_b) return nan_a && nan_b ? 0 : (nan_a ? nulls_direction : -nulls_direction);
    }
    return a < b ? -1 : (b < a ? 1 : 0);
}

int compare_arrays(const Vector& a, size_t at_a, const Vector& b, size_t at_b, int nulls_direction) {
    const int64_t begin_a = a.offsets()[at_a], begin_b = b.offsets()[at_b];
    const int64_t size_a = a.offsets()[at_a + 1] - begin_a, size_b = b.offsets()[at_b + 1] - begin_b;
    for (int64_t i = 0; i < std::min(size_a, size_b); ++i) {
        const int order = compare_values(*a.child(), static_cast<size_t>(begin_a + i), *b.child(),
                                         static_cast<size_t>(begin_b + i), nulls_direction);
        if (order) return order;
    }
    return size_a < size_b ? -1 : (size_a > size_b ? 1 : 0);
}

/// One hash for each row of a flat vector.
void hash_flat(const Vector& flat, uint64_t* out) {
    const size_t rows = flat.size();
    if (dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
            const T* values = flat.values<T>();
            for (size_t i = 0; i < rows; ++i) out[i] = hash_value(values[i]);
        })) {
    } else if (flat.type()->physical() == Physical::Str) {
        const StringRef* values = flat.values<StringRef>();
        for (size_t i = 0; i < rows; ++i) out[i] = hash_value(values[i]);
    } else if (flat.type()->physical() == Physical::Tuple) {
        hash_rows(flat.children(), rows, out);
    } else if (flat.type()->physical() == Physical::Array) {
        std::vector<uint64_t> elements(flat.child()->size());
        hash_rows(flat.children(), elements.size(), elements.data());
        for (size_t i = 0; i < rows; ++i) {
            uint64_t hash = static_cast<uint64_t>(flat.offsets()[i + 1] - flat.offsets()[i]);
            for (int64_t at = flat.offsets()[i]; at < flat.offsets()[i + 1]; ++at)
                hash = mix_hash(hash * 31 + elements[static_cast<size_t>(at)]);
            out[i] = hash;
        }
    } else {
        std::fill_n(out, rows, kNullHash);
    }
    if (const uint8_t* nulls = flat.nulls())
        for (size_t i = 0; i < rows; ++i)
            if (nulls[i]) out[i] = kNullHash;
}

}  // namespace

uint64_t hash_bytes(const char* data, size_t size) { return XXH3_64bits(data, size); }

int compare_values(const Vector& a, size_t row_a, const Vector& b, size_t row_b, int nulls_direction) {
    const Vector& flat_a = a.flat_base();
    const Vector& flat_b = b.flat_base();
    const size_t at_a = a.base_row(row_a), at_b = b.base_row(row_b);
    const bool null_a = flat_a.nulls() && flat_a.nulls()[at_a], null_b = flat_b.nulls() && flat_b.nulls()[at_b];
    if (null_a || null_b) return null_a && null_b ? 0 : (null_a ? nulls_direction : -nulls_direction);
    int order = 0;
    if (dispatch_fixed(flat_a.type()->physical(), [&]<typename T>() {
            if constexpr (std::is_same_v<T, UInt128>) {
                if (is_uuid(flat_a.type())) {
                    order = compare_fixed(uuid_order(flat_a.values<T>()[at_a]), uuid_order(flat_b.values<T>()[at_b]),
                                          nulls_direction);
                    return;
                }
            }
            order = compare_fixed(flat_a.values<T>()[at_a], flat_b.values<T>()[at_b], nulls_direction);
        }))
        return order;
    switch (flat_a.type()->physical()) {
        case Physical::Str: {
            const auto result = flat_a.values<StringRef>()[at_a] <=> flat_b.values<StringRef>()[at_b];
            return result < 0 ? -1 : (result > 0 ? 1 : 0);
        }
        case Physical::Array:
            return compare_arrays(flat_a, at_a, flat_b, at_b, nulls_direction);
        case Physical::Tuple:
            for (size_t i = 0; i < flat_a.children().size(); ++i) {
                order = compare_values(*flat_a.child(i), at_a, *flat_b.child(i), at_b, nulls_direction);
                if (order) return order;
            }
            return 0;
        default:
            return 0;
    }
}

bool equal_values(const Vector& a, size_t row_a, const Vector& b, size_t row_b) {
    return compare_values(a, row_a, b, row_b) == 0;
}

void hash_rows(std::span<const VectorPtr> columns, size_t rows, uint64_t* hashes) {
    if (columns.empty()) {
        std::fill_n(hashes, rows, 0);
        return;
    }
    std::vector<uint64_t> base;
    for (size_t c = 0; c < columns.size(); ++c) {
        const Decoded decoded(columns[c]);
        if (c == 0 && decoded.is_identity()) {
            hash_flat(decoded.flat(), hashes);
            continue;
        }
        base.resize(decoded.flat().size());
        hash_flat(decoded.flat(), base.data());
        if (c == 0)
            for (size_t i = 0; i < rows; ++i) hashes[i] = base[decoded[i]];
        else
            for (size_t i = 0; i < rows; ++i) hashes[i] = mix_hash(hashes[i] * 31 + base[decoded[i]]);
    }
}

bool may_have_null(const Vector& vector) {
    const Vector& base = vector.flat_base();
    if (!base.nulls() || vector.size() == 0) return false;
    const size_t entries = base.size();
    const void* const found = std::memchr(base.nulls(), 1, entries);
    if (!found) return false;
    const auto entry = static_cast<size_t>(static_cast<const uint8_t*>(found) - base.nulls());
    if (vector.encoding() != Encoding::Dictionary || entry + 1 != entries) return true;
    constexpr size_t kBlock = 256;  // of a fixed size: vectorized
    const uint32_t* codes = vector.codes();
    uint32_t greatest = 0;
    size_t i = 0;
    for (; i + kBlock <= vector.size(); i += kBlock)
        for (size_t k = 0; k < kBlock; ++k) greatest = std::max(greatest, codes[i + k]);
    for (; i < vector.size(); ++i) greatest = std::max(greatest, codes[i]);
    return greatest == entry;
}

}  // namespace firn
