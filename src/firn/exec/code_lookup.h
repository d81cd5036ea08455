// What a table says of dictionary codes, row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firn/vector/vector.h"

namespace firn::exec {

/// Some entries of a dictionary.
class EntrySet {
public:
    EntrySet() = default;
    explicit EntrySet(size_t entries);
    void add(uint32_t entry) { words_[entry / 32] |= uint32_t{1} << entry % 32; }
    bool has(uint32_t entry) const { return words_[entry / 32] >> entry % 32 & 1; }

    /// The rows, ascending, whose codes are of the set: of all rows, or of those given. Codes are below `entries`.
    Selection rows_in(const uint32_t* codes, size_t rows) const;
    Selection rows_in(const uint32_t* codes, std::span<const uint32_t> rows) const;

private:
    template <bool Some>
    Selection select(const uint32_t* codes, const uint32_t* rows, size_t count) const;
    std::vector<uint32_t> words_;  // a bit an entry, filled up to kLeastWords
};

/// A byte for each combination of the codes of one or two dictionaries.
class CombinationTable {
public:
    bool empty() const { return bytes_.empty(); }
    void clear() { bytes_.clear(); }
    /// All of so many combinations get this byte.
    void assign(size_t combinations, uint8_t byte);
    uint8_t& operator[](size_t combination) { return bytes_[combination]; }
    uint8_t operator[](size_t combination) const { return bytes_[combination]; }

    /// out[i]: that of combination low[i] + high[i] * by, for each row; high may be null. Combinations are in the table.
    void look_up(const uint32_t* low, const uint32_t* high, uint32_t by, size_t rows, uint8_t* out) const;

private:
    size_t combinations_ = 0;
    std::vector<uint8_t> bytes_;  // and some that may be read behind them
};

}  // namespace firn::exec
