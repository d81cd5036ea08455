#include "firn/exec/code_lookup.h"

#include <gtest/gtest.h>

#include <random>

namespace firn::exec {
namespace {

TEST(EntrySet, FindsTheRowsOfItsEntries) {
    std::mt19937 random(5);
    for (const size_t entries : {1u, 31u, 32u, 511u, 512u, 513u, 5000u})
        for (const size_t rows : {1u, 15u, 16u, 17u, 1000u}) {
            EntrySet set(entries);
            std::vector<bool> in(entries);
            for (uint32_t entry = 0; entry < entries; ++entry)
                if (random() % 3 == 0) {
                    set.add(entry);
                    in[entry] = true;
                }
            std::vector<uint32_t> codes(rows);
            Selection some, expected, expected_of_some;
            for (uint32_t i = 0; i < rows; ++i) {
                codes[i] = static_cast<uint32_t>(random() % entries);
                EXPECT_EQ(set.has(codes[i]), in[codes[i]]);
                if (in[codes[i]]) expected.push_back(i);
                if (random() % 2) continue;
                some.push_back(i);
                if (in[codes[i]]) expected_of_some.push_back(i);
            }
            EXPECT_EQ(set.rows_in(codes.data(), rows), expected) << entries << " entries, " << rows << " rows";
            EXPECT_EQ(set.rows_in(codes.data(), some), expected_of_some) << entries << " entries, " << rows << " rows";
        }
}

TEST(CombinationTable, LooksUpOneOrTwoCodesARow) {
    std::mt19937 random(6);
    for (const uint32_t lows : {1u, 4u, 16u, 100u})
        for (const uint32_t highs : {1u, 2u, 7u, 40u})
            for (const size_t rows : {1u, 16u, 100u, 333u}) {
                CombinationTable table;
                table.assign(size_t{lows} * highs, 255);
                for (size_t i = 0; i < size_t{lows} * highs; i += 2) table[i] = static_cast<uint8_t>(random() % 200);
                std::vector<uint32_t> low(rows), high(rows);
                for (size_t i = 0; i < rows; ++i) {
                    low[i] = static_cast<uint32_t>(random() % lows);
                    high[i] = static_cast<uint32_t>(random() % highs);
                }
                std::vector<uint8_t> one(rows), two(rows);
                table.look_up(low.data(), nullptr, 0, rows, one.data());
                table.look_up(low.data(), high.data(), lows, rows, two.data());
                for (size_t i = 0; i < rows; ++i) {
                    EXPECT_EQ(one[i], table[low[i]]);
                    EXPECT_EQ(two[i], table[low[i] + high[i] * lows]);
                }
            }
}

}  // namespace
}  // namespace firn::exec
