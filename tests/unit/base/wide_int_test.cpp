#include <gtest/gtest.h>

#include <random>

#include "firn/base/wide_int.h"

namespace firn {
namespace {

TEST(WideInt, TextAndBack) {
    for (const char* text : {"0", "7", "9999999999999999999", "10000000000000000000", "10000000000000000001",
                             "340282366920938463463374607431768211456",
                             "115792089237316195423570985008687907853269984665640564039457584007913129639935"}) {
        UInt256 value;
        ASSERT_TRUE(parse_int(text, value));
        EXPECT_EQ(to_string(value), text);
    }
}

TEST(WideInt, QuotientAndRemainderMakeTheDividend) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 2000; ++round) {
        UInt256 a, b, rest;
        for (uint64_t& limb : a.limbs) limb = random();
        for (unsigned i = 0; i <= static_cast<unsigned>(round) % 4; ++i) b.limbs[i] = random() >> (random() % 64);
        if (b == UInt256()) continue;
        const UInt256 quotient = a.divide(b, rest);
        EXPECT_LT(rest, b);
        EXPECT_EQ(quotient * b + rest, a);
    }
}

}  // namespace
}  // namespace firn
