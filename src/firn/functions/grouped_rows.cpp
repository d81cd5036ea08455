#include "firn/functions/grouped_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "firn/base/cpu_features.h"
#include "firn/base/error.h"
#include "firn/vector/gather_words.h"

namespace firn::functions {
namespace {

/// Values that are looked at together; a multiple of 64.
constexpr size_t kPortion = 1024;
/// Sums of a portion of values within ±2^53 stay within 64 bits.
constexpr int kSmallBits = 53;

/// All bits in which a value differs from its sign: below 2^k where all values are within ±2^k.
uint64_t bits_used(const int64_t* values, size_t count) {
    uint64_t bits = 0;
    constexpr size_t kBlock = 64;  // of a fixed size: vectorized
    size_t i = 0;
    for (; i + kBlock <= count; i += kBlock)
        for (size_t k = 0; k < kBlock; ++k) bits |= static_cast<uint64_t>(values[i + k] ^ (values[i + k] >> 63));
    for (; i < count; ++i) bits |= static_cast<uint64_t>(values[i] ^ (values[i] >> 63));
    return bits;
}

/// Several counters a group, so that rows of one group in a row do not wait for each other.
constexpr size_t kBanks = 4;

template <typename Add>
void add_in_banks(size_t begin, size_t count, size_t groups, uint64_t* totals, Add&& add) {
    std::array<std::array<uint64_t, GroupedRows::kMostGroups + 1>, kBanks> banks{};
    size_t i = begin;
    for (; i + kBanks <= begin + count; i += kBanks)
        for (size_t bank = 0; bank < kBanks; ++bank) add(banks[bank].data(), i + bank);
    for (; i < begin + count; ++i) add(banks[0].data(), i);
    for (size_t g = 0; g < groups; ++g)
        for (const auto& bank : banks) totals[g] += bank[g];
}

#ifdef __x86_64__

/// A bit a row for each of the groups, of whole 64 rows.
__attribute__((target("avx512f,avx512bw"))) void make_masks(const uint8_t* group, size_t rows, size_t groups,
                                                            uint8_t* masks, size_t mask_bytes) {
    for (size_t at = 0; at + 64 <= rows; at += 64) {
        const __m512i numbers = _mm512_loadu_si512(group + at);
        for (size_t g = 0; g < groups; ++g) {
            const uint64_t mask = _mm512_cmpeq_epi8_mask(numbers, _mm512_set1_epi8(static_cast<char>(g)));
            std::memcpy(masks + g * mask_bytes + at / 8, &mask, sizeof(mask));
        }
    }
}

/// Adds up the values of four groups, whose masks begin at the places given, wrapping around; count is a multiple of 8.
/// Returns bits_used of all values.
__attribute__((target("avx512f,avx512bw,avx512dq"))) uint64_t add_masked(const int64_t* values, size_t count,
                                                                         const uint8_t* const* masks,
                                                                         uint64_t* totals) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, bits = a;
    const uint8_t *in_a = masks[0], *in_b = masks[1], *in_c = masks[2], *in_d = masks[3];
    for (size_t i = 0; i < count; i += 8) {
        const __m512i eight = _mm512_loadu_si512(values + i);
        bits = _mm512_or_si512(bits, _mm512_xor_si512(eight, _mm512_srai_epi64(eight, 63)));
        a = _mm512_mask_add_epi64(a, in_a[i / 8], a, eight);
        b = _mm512_mask_add_epi64(b, in_b[i / 8], b, eight);
        c = _mm512_mask_add_epi64(c, in_c[i / 8], c, eight);
        d = _mm512_mask_add_epi64(d, in_d[i / 8], d, eight);
    }
    alignas(64) uint64_t lanes[4][8], used[8];
    _mm512_store_si512(lanes[0], a);
    _mm512_store_si512(lanes[1], b);
    _mm512_store_si512(lanes[2], c);
    _mm512_store_si512(lanes[3], d);
    _mm512_store_si512(used, bits);
    for (size_t g = 0; g < 4; ++g)
        for (const uint64_t lane : lanes[g]) totals[g] += lane;
    return std::accumulate(std::begin(used), std::end(used), uint64_t{0}, std::bit_or());
}

#endif

/// A portion of a column as 64-bit integers: in place where it lies so, else copied to `room`; codes: of a dictionary. Unsigned ones
/// from 2^63 on come out negative.
template <typename T>
const int64_t* portion_of(const Decoded& decoded, const uint32_t* codes, size_t begin, size_t count, int64_t* room) {
    const T* values = decoded.values<T>();
    if constexpr (std::is_same_v<T, int64_t>)
        if (decoded.is_identity()) return values + begin;
    if constexpr (sizeof(T) == sizeof(uint64_t))
        if (codes) {
            gather_words({reinterpret_cast<const uint64_t*>(values), decoded.flat().size()}, {codes + begin, count},
                         reinterpret_cast<uint64_t*>(room));
            return room;
        }
    if (decoded.is_identity())
        for (size_t i = 0; i < count; ++i) room[i] = static_cast<int64_t>(values[begin + i]);
    else if (codes)
        for (size_t i = 0; i < count; ++i) room[i] = static_cast<int64_t>(values[codes[begin + i]]);
    else
        for (size_t i = 0; i < count; ++i) room[i] = static_cast<int64_t>(values[decoded[begin + i]]);
    return room;
}

}  // namespace

GroupedRows::GroupedRows(std::span<const uint8_t> group, std::span<char* const> states)
    : group_(group), states_(states) {
    size_t counted = 0;
#ifdef __x86_64__
    if (has_avx512() && rows() >= 64) {
        counted = rows() & ~size_t{63};
        mask_bytes_ = counted / 8;
        masks_.resize((groups() + 3) / 4 * 4 * mask_bytes_);
        make_masks(group_.data(), counted, groups(), masks_.data(), mask_bytes_);
        for (size_t g = 0; g < groups(); ++g)
            for (size_t at = 0; at < mask_bytes_; at += sizeof(uint64_t)) {
                uint64_t mask;
                std::memcpy(&mask, masks_.data() + g * mask_bytes_ + at, sizeof(mask));
                counts_[g] += static_cast<uint64_t>(__builtin_popcountll(mask));
            }
    }
#endif
    const uint8_t* const numbers = group_.data();
    add_in_banks(counted, rows() - counted, groups(), counts_.data(),
                 [numbers](uint64_t* bank, size_t row) { ++bank[numbers[row]]; });
}

void GroupedRows::add_portion(const int64_t* values, size_t begin, size_t count, Sums& sums) const {
    const uint8_t* const numbers = group_.data() + begin;
    std::array<uint64_t, kMostGroups + 1> totals{};
    uint64_t bits = 0;
    size_t done = 0;
#ifdef __x86_64__
    if (!masks_.empty()) {
        done = count & ~size_t{63};
        for (size_t g = 0; g < groups(); g += 4) {
            std::array<const uint8_t*, 4> masks;
            for (size_t k = 0; k < 4; ++k) masks[k] = masks_.data() + (g + k) * mask_bytes_ + begin / 8;
            bits |= add_masked(values, done, masks.data(), totals.data() + g);
        }
    }
#endif
    bits |= bits_used(values + done, count - done);
    if (bits >> kSmallBits) {  // the totals may have wrapped around
        for (size_t i = 0; i < count; ++i) sums[numbers[i]] += values[i];
        return;
    }
    add_in_banks(done, count - done, groups(), totals.data(), [numbers, values](uint64_t* bank, size_t row) {
        bank[numbers[row]] += static_cast<uint64_t>(values[row]);
    });
    for (size_t g = 0; g < groups(); ++g) sums[g] += static_cast<int64_t>(totals[g]);
}

const GroupedRows::Sums& GroupedRows::sums(const VectorPtr& vector) {
    const BufferPtr &values = vector->values_buffer(), &base = vector->flat_base().values_buffer();
    for (const auto& known : known_)
        if (known->values == values && known->base == base) return known->sums;
    known_.push_back(std::make_unique<Known>(Known{values, base, {}}));
    Sums& sums = known_.back()->sums;
    const Decoded decoded(vector);
    const uint32_t* const codes = vector->encoding() == Encoding::Dictionary ? vector->codes() : nullptr;
    std::array<int64_t, kPortion> room;
    const bool fixed = dispatch_fixed(decoded.flat().type()->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
            for (size_t begin = 0; begin < rows(); begin += kPortion) {
                const size_t count = std::min(kPortion, rows() - begin);
                const int64_t* portion = portion_of<T>(decoded, codes, begin, count, room.data());
                add_portion(portion, begin, count, sums);
                if constexpr (std::is_same_v<T, uint64_t>)  // those from 2^63 on were taken for negative numbers
                    for (size_t i = 0; i < count; ++i)
                        if (portion[i] < 0) sums[group_[begin + i]] += Int128{1} << 64;
            }
        } else {
            fail(ErrorCode::LOGICAL_ERROR, "Sums of groups are of integers of at most 64 bits");
        }
    });
    if (!fixed) fail(ErrorCode::LOGICAL_ERROR, "Sums of groups are of integers");
    return sums;
}

}  // namespace firn::functions
