// The examples of the ORC specification's sections on run-length encoding.
#include <gtest/gtest.h>

#include "firn/base/error.h"
#include "firn/file/orc/rle.h"

namespace firn::file::orc {
namespace {

std::shared_ptr<Decompressor> none() { return std::make_shared<Decompressor>(Compression::None, 0, "x.orc"); }

std::vector<int64_t> decode(const std::vector<uint8_t>& bytes, size_t n, bool version2, bool is_signed) {
    const std::string text(bytes.begin(), bytes.end());
    IntRle rle(std::make_unique<ByteStream>(text, none()), version2, is_signed);
    std::vector<int64_t> out(n);
    rle.read(out.data(), n);
    return out;
}

TEST(OrcRle, Version1Runs) {
    EXPECT_EQ(decode({0x61, 0x00, 0x07}, 100, false, false), std::vector<int64_t>(100, 7));
    std::vector<int64_t> down;
    for (int64_t i = 100; i > 0; --i) down.push_back(i);
    EXPECT_EQ(decode({0x61, 0xff, 0x64}, 100, false, false), down);
    EXPECT_EQ(decode({0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b}, 5, false, false), (std::vector<int64_t>{2, 3, 6, 7, 11}));
    EXPECT_EQ(decode({0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b}, 5, false, true), (std::vector<int64_t>{1, -2, 3, -4, -6}));
}

TEST(OrcRle, Version2ShortRepeat) {
    EXPECT_EQ(decode({0x0a, 0x27, 0x10}, 5, true, false), std::vector<int64_t>(5, 10000));
    EXPECT_EQ(decode({0x0a, 0x27, 0x10}, 5, true, true), std::vector<int64_t>(5, 5000));
}

TEST(OrcRle, Version2Direct) {
    EXPECT_EQ(decode({0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef}, 4, true, false),
              (std::vector<int64_t>{23713, 43806, 57005, 48879}));
}

TEST(OrcRle, Version2PatchedBase) {
    const std::vector<uint8_t> bytes = {0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70,
                                        0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82,
                                        0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8};
    const std::vector<int64_t> expected = {2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090,
                                           2100, 2110, 2120, 2130,    2140, 2150, 2160, 2170, 2180, 2190};
    EXPECT_EQ(decode(bytes, 20, true, false), expected);
}

TEST(OrcRle, Version2Delta) {
    EXPECT_EQ(decode({0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46}, 10, true, false),
              (std::vector<int64_t>{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}));
}

TEST(OrcRle, SkippingIsReadingAndDropping) {
    const std::string text("\x0a\x27\x10\x5e\x03\x5c\xa1\xab\x1e\xde\xad\xbe\xef", 13);
    for (size_t skip = 0; skip < 9; ++skip) {
        IntRle rle(std::make_unique<ByteStream>(text, none()), true, false);
        rle.skip(skip);
        int64_t next = 0;
        rle.read(&next, 1);
        const std::vector<int64_t> all = {10000, 10000, 10000, 10000, 10000, 23713, 43806, 57005, 48879};
        EXPECT_EQ(next, all[skip]);
    }
}

TEST(OrcRle, Bytes) {
    const std::string text("\x61\x00\xfe\x44\x45", 5);
    ByteRle rle(std::make_unique<ByteStream>(text, none()));
    std::vector<uint8_t> out(102);
    rle.read(out.data(), 102);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[99], 0);
    EXPECT_EQ(out[100], 0x44);
    EXPECT_EQ(out[101], 0x45);
}

TEST(OrcRle, Booleans) {
    const std::string text("\xff\x80", 2);  // one literal byte: true and seven times false
    BooleanRle rle(std::make_unique<ByteStream>(text, none()));
    std::vector<uint8_t> out(8);
    rle.read(out.data(), 3);
    rle.read(out.data() + 3, 5);
    EXPECT_EQ(out, (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(OrcRle, TruncatedRunsAreErrors) {
    for (const auto& bytes :
         std::vector<std::vector<uint8_t>>{{0x5e, 0x03, 0x5c}, {0x0a, 0x27}, {0x8e, 0x13, 0x2b}, {0xc6}, {}}) {
        try {
            decode(bytes, 4, true, false);
            FAIL() << "no error for " << bytes.size() << " bytes";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::INCORRECT_DATA);
            EXPECT_NE(error.message().find("x.orc"), std::string::npos);
        }
    }
}

TEST(OrcRle, PatchBeyondItsRunIsAnError) {
    // The example above with a gap of 3 and a length of 3.
    const std::vector<uint8_t> bytes = {0x8e, 0x02, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0xfc, 0xe8};
    EXPECT_THROW(decode(bytes, 3, true, false), Error);
}

}  // namespace
}  // namespace firn::file::orc
