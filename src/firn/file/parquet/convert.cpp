#include "firn/file/parquet/convert.h"

#include <bit>
#include <cstring>
#include <utility>

#include "firn/base/error.h"
#include "firn/base/wide_int.h"

namespace firn::file::pq {
namespace {

template <typename From, typename To>
void narrow(const char* raw, size_t n, char* out) {
    const auto* from = reinterpret_cast<const From*>(raw);
    auto* to = reinterpret_cast<To*>(out);
    for (size_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

[[noreturn]] void does_not_fit(const Leaf& leaf) {
    fail(ErrorCode::INCORRECT_DATA, "a value does not fit into {}", leaf.type->name());
}

template <typename From>
void integer_to_decimal(const Leaf& leaf, const char* raw, size_t n, char* out) {
    const auto* from = reinterpret_cast<const From*>(raw);
    switch (leaf.type->physical()) {
        case Physical::Int32:
            for (size_t i = 0; i < n; ++i) {
                if (from[i] != static_cast<int32_t>(from[i])) does_not_fit(leaf);
                reinterpret_cast<int32_t*>(out)[i] = static_cast<int32_t>(from[i]);
            }
            return;
        case Physical::Int64:
            return narrow<From, int64_t>(raw, n, out);
        case Physical::Int128:
            return narrow<From, Int128>(raw, n, out);
        default:
            for (size_t i = 0; i < n; ++i) reinterpret_cast<Int256*>(out)[i] = Int256(Int128{from[i]});
    }
}

/// Big-endian two's complement of any length as little-endian limbs of Bytes bytes.
template <size_t Bytes>
void from_big_endian(const Leaf& leaf, const uint8_t* bytes, size_t size, char* out) {
    const uint8_t fill = size && bytes[0] & 0x80 ? 0xFF : 0;
    while (size > Bytes) {
        // Leading bytes may only repeat the sign.
        if (*bytes != fill || ((bytes[1] & 0x80) != (fill & 0x80))) does_not_fit(leaf);
        ++bytes;
        --size;
    }
    uint8_t little[Bytes];
    std::memset(little, fill, Bytes);
    for (size_t i = 0; i < size; ++i) little[i] = bytes[size - 1 - i];
    std::memcpy(out, little, Bytes);
}

/// Big-endian two's complement of Length bytes, 1 … 16.
template <size_t Length>
Int128 read_big_endian(const char* bytes) {
    constexpr size_t kHigh = Length > 8 ? Length - 8 : Length;
    uint64_t high = 0;
    std::memcpy(reinterpret_cast<char*>(&high), bytes, kHigh);
    const auto top = static_cast<int64_t>(__builtin_bswap64(high)) >> (64 - 8 * kHigh);
    if constexpr (Length <= 8) return top;
    uint64_t low;
    std::memcpy(&low, bytes + kHigh, 8);
    return static_cast<Int128>(static_cast<UInt128>(static_cast<Int128>(top)) << 64 | __builtin_bswap64(low));
}

template <typename To, size_t Length>
void fixed_to_decimal(const Leaf& leaf, const char* raw, size_t n, char* out) {
    for (size_t i = 0; i < n; ++i) {
        const Int128 value = read_big_endian<Length>(raw + i * Length);
        const To narrow = static_cast<To>(value);
        if (sizeof(To) < Length && narrow != value) does_not_fit(leaf);
        std::memcpy(out + i * sizeof(To), &narrow, sizeof(To));
    }
}

template <typename To>
bool short_to_decimal(const Leaf& leaf, const char* raw, size_t n, char* out) {
    const auto run = [&]<size_t... Lengths>(std::index_sequence<Lengths...>) {
        return ((static_cast<size_t>(leaf.length) == Lengths + 1 &&
                 (fixed_to_decimal<To, Lengths + 1>(leaf, raw, n, out), true)) ||
                ...);
    };
    return run(std::make_index_sequence<16>());
}

template <size_t Bytes>
void bytes_to_decimal(const Leaf& leaf, const char* raw, size_t n, char* out) {
    if (leaf.physical == PhysicalType::ByteArray) {
        const auto* refs = reinterpret_cast<const StringRef*>(raw);
        for (size_t i = 0; i < n; ++i)
            from_big_endian<Bytes>(leaf, reinterpret_cast<const uint8_t*>(refs[i].data), refs[i].size, out + i * Bytes);
        return;
    }
    if constexpr (Bytes == 4) {
        if (short_to_decimal<int32_t>(leaf, raw, n, out)) return;
    } else if constexpr (Bytes == 8) {
        if (short_to_decimal<int64_t>(leaf, raw, n, out)) return;
    } else if constexpr (Bytes == 16) {
        if (short_to_decimal<Int128>(leaf, raw, n, out)) return;
    }
    const auto length = static_cast<size_t>(leaf.length);
    for (size_t i = 0; i < n; ++i)
        from_big_endian<Bytes>(leaf, reinterpret_cast<const uint8_t*>(raw) + i * length, length, out + i * Bytes);
}

/// Nanoseconds of the day, then the Julian day. Ticks that pass 64 bits wrap around, as every reader of INT96 has it.
void int96_to_ticks(const char* raw, size_t n, char* out) {
    constexpr uint64_t kNanosecondsPerDay = 86'400'000'000'000;
    constexpr int64_t kEpochJulianDay = 2'440'588;
    for (size_t i = 0; i < n; ++i) {
        uint64_t nanoseconds;
        uint32_t day;  // unsigned, as other readers have it
        std::memcpy(&nanoseconds, raw + i * 12, 8);
        std::memcpy(&day, raw + i * 12 + 8, 4);
        const uint64_t ticks = static_cast<uint64_t>(day - kEpochJulianDay) * kNanosecondsPerDay + nanoseconds;
        std::memcpy(out + i * 8, &ticks, 8);
    }
}

float half_to_float(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
    if (exponent == 0) {
        const float magnitude = static_cast<float>(fraction) / 16777216.0f;  // 2^-24
        return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

void halves_to_floats(const char* raw, size_t n, char* out) {
    for (size_t i = 0; i < n; ++i) {
        uint16_t half;
        std::memcpy(&half, raw + 2 * i, 2);
        reinterpret_cast<float*>(out)[i] = half_to_float(half);
    }
}

void bytes_to_uuid(const char* raw, size_t n, char* out) {
    for (size_t i = 0; i < n; ++i) {
        uint64_t high, low;
        std::memcpy(&high, raw + 16 * i, 8);
        std::memcpy(&low, raw + 16 * i + 8, 8);
        reinterpret_cast<UInt128*>(out)[i] =
            static_cast<UInt128>(__builtin_bswap64(high)) << 64 | __builtin_bswap64(low);
    }
}

}  // namespace

void convert_values(const Leaf& leaf, const char* raw, size_t n, char* out) {
    switch (leaf.conversion) {
        case Conversion::Narrow8:
            return narrow<int32_t, int8_t>(raw, n, out);
        case Conversion::Narrow16:
            return narrow<int32_t, int16_t>(raw, n, out);
        case Conversion::Decimal:
            if (leaf.physical == PhysicalType::Int32) return integer_to_decimal<int32_t>(leaf, raw, n, out);
            return integer_to_decimal<int64_t>(leaf, raw, n, out);
        case Conversion::DecimalBytes:
            switch (leaf.type->value_size()) {
                case 4:
                    return bytes_to_decimal<4>(leaf, raw, n, out);
                case 8:
                    return bytes_to_decimal<8>(leaf, raw, n, out);
                case 16:
                    return bytes_to_decimal<16>(leaf, raw, n, out);
                default:
                    return bytes_to_decimal<32>(leaf, raw, n, out);
            }
        case Conversion::Int96:
            return int96_to_ticks(raw, n, out);
        case Conversion::Float16:
            return halves_to_floats(raw, n, out);
        case Conversion::Uuid:
            return bytes_to_uuid(raw, n, out);
        case Conversion::None:
        case Conversion::FixedBytes:
            break;
    }
    fail(ErrorCode::LOGICAL_ERROR, "no conversion for {}", leaf.type->name());
}

}  // namespace firn::file::pq
