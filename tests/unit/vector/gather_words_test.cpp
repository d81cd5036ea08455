#include "firn/vector/gather_words.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace firn {
namespace {

TEST(GatherWords, PicksOutOfFewAndOfMany) {
    std::mt19937_64 random(7);
    for (const size_t entries : {1u, 8u, 15u, 16u, 17u, 32u, 33u, 64u, 65u, 1000u}) {
        std::vector<uint64_t> from(entries);
        for (auto& word : from) word = random();
        for (const size_t rows : {0u, 1u, 255u, 256u, 263u, 1000u}) {
            std::vector<uint32_t> picked(rows);
            for (auto& row : picked) row = static_cast<uint32_t>(random() % entries);
            std::vector<uint64_t> out(rows + 1, 42);
            gather_words(from, picked, out.data());
            for (size_t i = 0; i < rows; ++i) ASSERT_EQ(out[i], from[picked[i]]) << entries << " entries, row " << i;
            EXPECT_EQ(out[rows], 42u);
        }
    }
}

}  // namespace
}  // namespace firn
