#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "firn/base/error.h"
#include "firn/file/parquet/bit_unpack.h"
#include "firn/file/parquet/delta.h"
#include "firn/file/parquet/hybrid.h"

namespace firn::file::pq {
namespace {

/// Least significant bit first.
class BitWriter {
public:
    void put(uint64_t value, int width) {
        for (int i = 0; i < width; ++i, ++bits_) {
            if (bits_ % 8 == 0) bytes_.push_back(0);
            bytes_.back() = static_cast<uint8_t>(bytes_.back() | (value >> i & 1) << (bits_ % 8));
        }
    }
    const std::vector<uint8_t>& bytes() const { return bytes_; }

private:
    std::vector<uint8_t> bytes_;
    size_t bits_ = 0;
};

void put_varint(std::vector<uint8_t>& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
    out.push_back(static_cast<uint8_t>(value));
}

uint32_t mask_of(int width) { return width == 32 ? ~0u : (1u << width) - 1; }

TEST(BitUnpack, EveryWidthAndPositionGivesWhatWasPacked) {
    std::mt19937 random(1);
    for (int width = 0; width <= 32; ++width) {
        std::vector<uint32_t> values(500);
        BitWriter writer;
        for (uint32_t& value : values) writer.put(value = static_cast<uint32_t>(random()) & mask_of(width), width);
        const std::vector<uint8_t> bytes = writer.bytes();  // exact: a read behind its end is the sanitizer's to find
        for (const size_t first : {0u, 1u, 7u, 8u, 13u, 64u, 499u}) {
            for (const size_t n : {size_t{0}, size_t{1}, size_t{9}, size_t{100}, values.size() - first}) {
                if (n > values.size() - first) continue;
                const std::vector<uint32_t> expected(values.begin() + static_cast<long>(first),
                                                     values.begin() + static_cast<long>(first + n));
                std::vector<uint32_t> fast(n), portable(n);
                unpack_bits(bytes.data(), bytes.data() + bytes.size(), first, n, width, fast.data());
                unpack_bits_portable(bytes.data(), bytes.data() + bytes.size(), first, n, width, portable.data());
                ASSERT_EQ(fast, expected) << width << " bits from " << first;
                ASSERT_EQ(portable, expected) << width << " bits from " << first;
            }
        }
    }
}

TEST(BitUnpack, MaximumAndOnes) {
    std::vector<uint32_t> values(100, 3);
    EXPECT_EQ(max_of(values.data(), 0), 0u);
    for (const size_t at : {0u, 15u, 16u, 77u, 99u}) {
        values.assign(100, 3);
        values[at] = 0xF0000000u;
        EXPECT_EQ(max_of(values.data(), 100), 0xF0000000u);
    }
    std::vector<uint8_t> bytes(70, 0);
    bytes[0] = bytes[17] = bytes[69] = 1;
    EXPECT_EQ(count_ones(bytes.data(), 70), 3u);
    EXPECT_EQ(count_ones(bytes.data(), 69), 2u);
}

template <typename T>
void check_spreading(std::mt19937_64& random) {
    for (size_t n = 0; n < 70; ++n) {
        for (const unsigned share : {0u, 1u, 5u, 9u, 10u}) {
            std::vector<uint8_t> valid(n);
            std::vector<T> expected(n), dense;
            for (size_t i = 0; i < n; ++i) {
                valid[i] = random() % 10 < share;
                expected[i] = valid[i] ? static_cast<T>(random()) : T{7};
                if (valid[i]) dense.push_back(expected[i]);
            }
            dense.resize(dense.size() + 32 / sizeof(T));
            std::vector<T> out(n);
            spread_values(dense.data(), valid.data(), n, T{7}, out.data());
            ASSERT_EQ(out, expected);
            std::vector<uint8_t> nulls(n);
            invert_flags(valid.data(), n, nulls.data());
            for (size_t i = 0; i < n; ++i) ASSERT_EQ(nulls[i], 1 - valid[i]);
            ASSERT_EQ(count_equal(valid.data(), n, 0), n - count_ones(valid.data(), n));
        }
    }
}

TEST(Spread, ValuesComeToTheirPlaces) {
    std::mt19937_64 random(6);
    check_spreading<uint32_t>(random);
    check_spreading<uint64_t>(random);
}

template <typename T>
void check_picking(std::mt19937_64& random) {
    for (const unsigned share : {30u, 60u, 95u, 100u})
        for (size_t n = 0; n < 300; n += 1 + n / 20) {
            std::vector<T> values(n), expected;
            std::vector<uint32_t> rows;
            for (size_t i = 0; i < n; ++i) {
                values[i] = static_cast<T>(random());
                if (random() % 100 >= share || (n > 200 && i > 60 && i < 160)) continue;
                rows.push_back(static_cast<uint32_t>(i));
                expected.push_back(values[i]);
            }
            // One byte off, as values in pages may lie.
            std::vector<uint8_t> bytes(n * sizeof(T) + 1), out(rows.size() * sizeof(T));
            if (n) std::memcpy(bytes.data() + 1, values.data(), n * sizeof(T));
            const auto pick = sizeof(T) == 4 ? pick_values4 : pick_values8;
            pick(bytes.data() + 1, n, rows.data(), rows.size(), out.data());
            EXPECT_EQ(0, rows.empty() ? 0 : std::memcmp(out.data(), expected.data(), out.size())) << n << " " << share;
        }
}

TEST(Pick, TakesTheValuesAtTheRows) {
    std::mt19937_64 random(7);
    check_picking<uint32_t>(random);
    check_picking<uint64_t>(random);
}

TEST(JoinStreams, BytesComeBackTogether) {
    std::mt19937_64 random(8);
    for (const size_t width : {4u, 8u}) {
        for (size_t n = 0; n < 50; ++n) {
            std::vector<char> values(n * width), out(n * width);
            std::vector<uint8_t> bytes(n * width);
            for (char& byte : values) byte = static_cast<char>(random());
            for (size_t i = 0; i < values.size(); ++i)
                bytes[i % width * n + i / width] = static_cast<uint8_t>(values[i]);
            const uint8_t* streams[8] = {};
            for (size_t k = 0; k < width; ++k) streams[k] = bytes.data() + k * n;
            join_streams(streams, width, n, out.data());
            ASSERT_EQ(out, values);
        }
    }
}

struct Hybrid {
    std::vector<uint8_t> bytes;
    std::vector<uint32_t> values;
};

/// Runs of both kinds, short and long.
Hybrid random_hybrid(std::mt19937& random, int width, size_t runs) {
    Hybrid out;
    for (size_t run = 0; run < runs; ++run) {
        if (random() % 2) {
            const size_t groups = 1 + random() % (random() % 8 ? 4 : 90);
            put_varint(out.bytes, groups << 1 | 1);
            BitWriter writer;
            for (size_t i = 0; i < groups * 8; ++i) {
                out.values.push_back(static_cast<uint32_t>(random()) & mask_of(width));
                writer.put(out.values.back(), width);
            }
            out.bytes.insert(out.bytes.end(), writer.bytes().begin(), writer.bytes().end());
        } else {
            const size_t length = 1 + random() % (random() % 8 ? 30 : 1000);
            const uint32_t value = static_cast<uint32_t>(random()) & mask_of(width);
            put_varint(out.bytes, length << 1);
            for (int i = 0; i < (width + 7) / 8; ++i) out.bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
            out.values.insert(out.values.end(), length, value);
        }
    }
    return out;
}

TEST(HybridReader, PartsOfAnySizeGiveAllValues) {
    std::mt19937 random(2);
    for (int width = 1; width <= 32; ++width) {
        const Hybrid data = random_hybrid(random, width, 60);
        HybridReader reader(data.bytes.data(), data.bytes.data() + data.bytes.size(), width);
        std::vector<uint32_t> got;
        while (got.size() < data.values.size()) {
            const size_t n = std::min<size_t>(data.values.size() - got.size(), 1 + random() % 300);
            const size_t at = got.size();
            got.resize(at + n);
            switch (random() % 3) {
                case 0: {
                    const uint32_t greatest = reader.read(n, got.data() + at);
                    EXPECT_EQ(greatest, *std::max_element(got.data() + at, got.data() + at + n));
                    break;
                }
                case 1: {
                    std::vector<uint32_t> rows, picked;
                    for (uint32_t row = 0; row < n; ++row)
                        if (random() % 3) rows.push_back(row);
                    picked.resize(rows.size());
                    reader.read_selected(rows.data(), rows.size(), n, picked.data());
                    std::copy_n(data.values.begin() + static_cast<long>(at), n, got.begin() + static_cast<long>(at));
                    for (size_t i = 0; i < rows.size(); ++i) got[at + rows[i]] = picked[i];
                    break;
                }
                default:
                    reader.skip(n);
                    std::copy_n(data.values.begin() + static_cast<long>(at), n, got.begin() + static_cast<long>(at));
            }
        }
        ASSERT_EQ(got, data.values) << width;
        uint32_t more = 0;
        EXPECT_THROW(reader.read(1, &more), Error);
    }
}

TEST(HybridReader, NothingIsWrittenBehindTheValuesAskedFor) {
    std::mt19937 random(3);
    const Hybrid data = random_hybrid(random, 3, 200);
    for (size_t n = 1; n < 200; ++n) {
        HybridReader reader(data.bytes.data(), data.bytes.data() + data.bytes.size(), 3);
        std::vector<uint32_t> out(n + 40, 77);
        reader.read(n, out.data());
        EXPECT_EQ(std::count(out.begin() + static_cast<long>(n), out.end(), 77u), 40) << n;
    }
}

TEST(LevelReader, OldLevelsArePackedFromTheHighestBit) {
    const uint8_t bytes[] = {0b00'01'10'11, 0b11'00'00'00};
    LevelReader reader = LevelReader::bit_packed(bytes, bytes + 2, 3);
    uint8_t levels[5];
    reader.read(5, levels);
    EXPECT_EQ((std::vector<uint8_t>(levels, levels + 5)), (std::vector<uint8_t>{0, 1, 2, 3, 3}));
    LevelReader above = LevelReader::bit_packed(bytes, bytes + 2, 2);
    EXPECT_THROW(above.read(5, levels), Error);
}

std::vector<uint8_t> encode_deltas(const std::vector<int64_t>& values) {
    std::vector<uint8_t> out;
    const auto zigzag = [](int64_t value) {
        return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
    };
    put_varint(out, 128);
    put_varint(out, 4);
    put_varint(out, values.size());
    put_varint(out, zigzag(values.empty() ? 0 : values[0]));
    for (size_t begin = 1; begin < values.size(); begin += 128) {
        const size_t end = std::min(values.size(), begin + 128);
        std::vector<uint64_t> deltas;
        int64_t least = std::numeric_limits<int64_t>::max();
        for (size_t i = begin; i < end; ++i) {
            deltas.push_back(static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]));
            least = std::min(least, static_cast<int64_t>(deltas.back()));
        }
        put_varint(out, zigzag(least));
        std::vector<int> widths(4, 0);
        for (size_t i = 0; i < deltas.size(); ++i) {
            deltas[i] -= static_cast<uint64_t>(least);
            widths[i / 32] = std::max(widths[i / 32], 64 - (deltas[i] ? __builtin_clzll(deltas[i]) : 64));
        }
        for (int width : widths) out.push_back(static_cast<uint8_t>(width));
        for (size_t mini = 0; mini * 32 < deltas.size(); ++mini) {
            BitWriter writer;
            for (size_t i = mini * 32; i < mini * 32 + 32; ++i)
                writer.put(i < deltas.size() ? deltas[i] : 0, widths[mini]);
            out.insert(out.end(), writer.bytes().begin(), writer.bytes().end());
        }
    }
    return out;
}

TEST(DeltaReader, AllWidthsAndPartialReads) {
    std::mt19937_64 random(4);
    for (int width = 0; width <= 63; ++width) {
        for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{33}, size_t{129}, size_t{1000}}) {
            std::vector<int64_t> values(n);
            for (int64_t& value : values)
                value = static_cast<int64_t>(random() >> (63 - width) >> 1) * (random() % 2 ? 1 : -1);
            std::vector<uint8_t> bytes = encode_deltas(values);
            const size_t size = bytes.size();
            DeltaReader reader(bytes.data(), bytes.data() + size);
            ASSERT_EQ(reader.total(), n);
            std::vector<int64_t> got;
            while (got.size() < n) {
                const size_t part = std::min<size_t>(n - got.size(), 1 + random() % 200);
                const size_t at = got.size();
                got.resize(at + part);
                if (random() % 4) {
                    reader.read(part, got.data() + at);
                } else {
                    reader.skip(part);
                    std::copy_n(values.begin() + static_cast<long>(at), part, got.begin() + static_cast<long>(at));
                }
            }
            ASSERT_EQ(got, values) << width;
            EXPECT_EQ(reader.finish(), bytes.data() + size);
            int64_t more = 0;
            EXPECT_THROW(reader.read(1, &more), Error);
        }
    }
}

TEST(DeltaReader, HeadersWithoutSenseAreRefused) {
    const auto refused = [](std::vector<uint8_t> bytes) {
        EXPECT_THROW(DeltaReader(bytes.data(), bytes.data() + bytes.size()), Error);
    };
    refused({});
    refused({0, 4, 1, 0});                                            // blocks of no values
    refused({0x80, 0x01, 0, 1, 0});                                   // no miniblocks
    refused({0x80, 0x01, 3, 1, 0});                                   // 128 values in 3 of them
    refused({0x80, 0x01, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0});  // too many values
}

}  // namespace
}  // namespace firn::file::pq
