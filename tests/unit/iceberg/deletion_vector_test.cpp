#include "firn/iceberg/deletion_vector.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <roaring/roaring.h>

#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::iceberg;

namespace {

template <typename Int>
void put(std::string& out, Int value) {
    for (size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string big_endian(uint32_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
    return out;
}

/// The blob's frame around a serialized vector.
std::string framed(const std::string& vector) {
    std::string body = "\xd1\xd3\x39\x64" + vector;
    auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
    return big_endian(static_cast<uint32_t>(body.size())) + body + big_endian(static_cast<uint32_t>(sum));
}

std::string bitmap_of(const std::vector<uint32_t>& values, bool runs) {
    roaring_bitmap_t* bitmap = roaring_bitmap_create();
    for (uint32_t value : values) roaring_bitmap_add(bitmap, value);
    if (runs) roaring_bitmap_run_optimize(bitmap);
    std::string out(roaring_bitmap_portable_size_in_bytes(bitmap), '\0');
    roaring_bitmap_portable_serialize(bitmap, out.data());
    roaring_bitmap_free(bitmap);
    return out;
}

std::string vector_of(const std::vector<std::pair<uint32_t, std::string>>& parts) {
    std::string out;
    put<uint64_t>(out, parts.size());
    for (const auto& [key, bitmap] : parts) {
        put<uint32_t>(out, key);
        out += bitmap;
    }
    return out;
}

std::optional<ErrorCode> code_of(const std::string& blob) {
    return failure_of([&] { DeletionVector::parse(blob, "d.puffin"); }).code;
}

/// A bitmap of one array container with the given header and values.
std::string array_bitmap(uint16_t cardinality_less_one, const std::vector<uint16_t>& values) {
    std::string out;
    put<uint32_t>(out, 12346);
    put<uint32_t>(out, 1);
    put<uint16_t>(out, 0);
    put<uint16_t>(out, cardinality_less_one);
    put<uint32_t>(out, 16);
    for (uint16_t value : values) put<uint16_t>(out, value);
    return out;
}

}  // namespace

TEST(DeletionVector, ReadsAllContainersAndKeys) {
    std::vector<uint32_t> mixed;
    for (uint32_t i = 0; i < 10; ++i) mixed.push_back(i * 7);                    // array
    for (uint32_t i = 0; i < 20'000; ++i) mixed.push_back(65536 + i * 2);        // bitset
    for (uint32_t i = 0; i < 30'000; ++i) mixed.push_back(2 * 65536 + 100 + i);  // run
    std::string blob = framed(vector_of({{0, bitmap_of(mixed, true)}, {3, bitmap_of({0, 5}, false)}}));
    auto vector = DeletionVector::parse(blob, "d.puffin", 50'012);
    EXPECT_EQ(vector->cardinality(), 50'012u);
    std::vector<uint64_t> all = vector->all();
    ASSERT_EQ(all.size(), 50'012u);
    for (size_t i = 0; i < mixed.size(); ++i) ASSERT_EQ(all[i], mixed[i]);
    EXPECT_EQ(all.back(), (uint64_t{3} << 32) + 5);
    EXPECT_TRUE(vector->contains(7));
    EXPECT_FALSE(vector->contains(8));
    EXPECT_TRUE(vector->contains((uint64_t{3} << 32) + 5));
    EXPECT_FALSE(vector->contains((uint64_t{2} << 32) + 5));
    EXPECT_EQ(vector->count(0, UINT64_MAX), 50'012u);
    EXPECT_EQ(vector->count(7, 22), 3u);
    std::vector<uint32_t> some;
    vector->positions(7, 22, some);
    EXPECT_EQ(some, (std::vector<uint32_t>{0, 7, 14}));
    some.clear();
    vector->positions((uint64_t{3} << 32) - 1, (uint64_t{3} << 32) + 5, some);
    EXPECT_EQ(some, (std::vector<uint32_t>{1}));
    EXPECT_EQ(DeletionVector::parse(framed(vector_of({})), "d")->cardinality(), 0u);
}

TEST(DeletionVector, DamageIsAnError) {
    std::string good = framed(vector_of({{0, array_bitmap(2, {1, 5, 9})}}));
    EXPECT_EQ(code_of(good), std::nullopt);
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_EQ(code_of(good.substr(0, size)), ErrorCode::INCORRECT_DATA);
    for (size_t at = 0; at < good.size(); ++at) {
        std::string damaged = good;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        EXPECT_EQ(code_of(damaged), ErrorCode::INCORRECT_DATA) << at;
    }
    EXPECT_EQ(code_of(good + "x"), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(failure_of([&] { DeletionVector::parse(good, "d.puffin", 4); }).code, ErrorCode::INCORRECT_DATA);
    EXPECT_NE(failure_of([&] { DeletionVector::parse(good, "d.puffin", 4); }).message.find("d.puffin"),
              std::string::npos);
}

TEST(DeletionVector, BitmapsAreNotTrusted) {
    constexpr ErrorCode kWrong = ErrorCode::INCORRECT_DATA;
    EXPECT_EQ(code_of(framed(vector_of({{0, array_bitmap(2, {1, 9, 5})}}))), kWrong);  // unsorted
    EXPECT_EQ(code_of(framed(vector_of({{0, array_bitmap(3, {1, 5, 9})}}))), kWrong);  // too short
    EXPECT_EQ(code_of(framed(vector_of({{0, array_bitmap(1, {1, 5, 9})}}))), kWrong);  // too long
    EXPECT_EQ(code_of(framed(vector_of({{1, array_bitmap(0, {1})}, {1, array_bitmap(0, {1})}}))), kWrong);
    EXPECT_EQ(code_of(framed(vector_of({{0x80000000, array_bitmap(0, {1})}}))), kWrong);
    std::string many;
    put<uint64_t>(many, UINT64_MAX);
    EXPECT_EQ(code_of(framed(many)), kWrong);
    // A bitset whose header has another cardinality.
    std::string bitset;
    put<uint32_t>(bitset, 12346);
    put<uint32_t>(bitset, 1);
    put<uint16_t>(bitset, 0);
    put<uint16_t>(bitset, 4999);
    put<uint32_t>(bitset, 16);
    bitset += std::string(625, '\xff') + std::string(8192 - 625, '\0');
    EXPECT_EQ(code_of(framed(vector_of({{0, bitset}}))), std::nullopt);
    bitset.back() = '\1';
    EXPECT_EQ(code_of(framed(vector_of({{0, bitset}}))), kWrong);
    // Runs that overlap.
    std::string runs;
    put<uint32_t>(runs, 12347);
    runs += '\1';
    put<uint16_t>(runs, 0);
    put<uint16_t>(runs, 19);
    put<uint16_t>(runs, 2);
    for (uint16_t value : {0, 9, 5, 9}) put<uint16_t>(runs, value);
    EXPECT_EQ(code_of(framed(vector_of({{0, runs}}))), kWrong);
}
