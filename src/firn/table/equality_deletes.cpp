#include "firn/table/equality_deletes.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "firn/vector/row_ops.h"

namespace firn::table {
namespace {

constexpr size_t kMaxWords = 4;
constexpr size_t kWordBytes = 8;
constexpr size_t kFilterKeysAWord = 8;
constexpr size_t kAhead = 16;  // look-ups whose memory is asked for early

uint64_t next_number() {
    static std::atomic<uint64_t> next{0};
    return ++next;
}

size_t slots_for(size_t rows) {
    size_t slots = 16;
    while (slots < rows + rows / 2) slots *= 2;
    return slots;
}

/// Two bits of the filter's word that a hash stands for.
uint64_t filter_bits(uint64_t hash) { return (1ULL << (hash & 63)) | (1ULL << ((hash >> 6) & 63)); }

/// The filter's word of a key. Keys that lie near each other in their first word share words or have neighbouring ones, so
/// that data in the order of its keys walks through the filter instead of leaping about in it.
uint64_t filter_word(uint64_t first, uint64_t other_words) {
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15ULL;
    constexpr int kNear = 20;  // bits within which keys are near
    return (first >> 3) + (((first >> kNear) ^ other_words) * kSpread >> 24);
}

/// Width in bytes of values that are equal exactly when their bits are; 0 of others (floats, whose zeros and NaNs SQL and
/// Iceberg compare in their own ways, and what is wider than a word).
size_t packable_bytes(Physical physical) {
    size_t bytes = 0;
    dispatch_fixed(physical, [&]<typename T>() {
        if constexpr (std::is_integral_v<T>) bytes = sizeof(T);
    });
    return bytes <= kWordBytes ? bytes : 0;
}

/// One flag a row: some column (all flat) is NULL there. Empty where none is.
std::vector<uint8_t> null_rows(const std::vector<VectorPtr>& columns, size_t rows) {
    std::vector<uint8_t> out;
    for (const auto& column : columns) {
        const uint8_t* nulls = column->nulls();
        if (!nulls || !std::memchr(nulls, 1, rows)) continue;
        out.resize(rows, 0);
        for (size_t i = 0; i < rows; ++i) out[i] |= nulls[i];
    }
    return out;
}

std::vector<VectorPtr> flattened(const std::vector<VectorPtr>& columns) {
    std::vector<VectorPtr> out;
    for (const auto& column : columns) out.push_back(flatten(column));
    return out;
}

/// Iceberg tells -0.0 from 0.0, which SQL does not.
bool same_sign(const Vector& a, size_t row_a, const Vector& b, size_t row_b) {
    const auto negative = [](const Vector& vector, size_t row) {
        const Vector& flat = vector.flat_base();
        const size_t at = vector.base_row(row);
        if (vector.type()->physical() == Physical::Float64)
            return flat.values<double>()[at] == 0 && std::signbit(flat.values<double>()[at]);
        if (vector.type()->physical() == Physical::Float32)
            return flat.values<float>()[at] == 0 && std::signbit(flat.values<float>()[at]);
        return false;
    };
    return negative(a, row_a) == negative(b, row_b);
}

bool same_key(const std::vector<VectorPtr>& a, size_t row_a, const std::vector<VectorPtr>& b, size_t row_b) {
    for (size_t k = 0; k < a.size(); ++k)
        if (!equal_values(*a[k], row_a, *b[k], row_b) || !same_sign(*a[k], row_a, *b[k], row_b)) return false;
    return true;
}

}  // namespace

EqualityDeletes::EqualityDeletes(std::vector<int32_t> field_ids, std::vector<Part> parts)
    : field_ids_(std::move(field_ids)), number_(next_number()) {
    std::vector<VectorPtr> keys;
    for (size_t k = 0; k < field_ids_.size(); ++k) {
        std::vector<VectorPtr> columns;
        for (const auto& part : parts) columns.push_back(part.keys[k]);
        keys.push_back(columns.size() == 1 ? flatten(columns[0]) : flatten(concat(columns[0]->type(), columns)));
    }
    std::vector<int64_t> sequences;
    for (const auto& part : parts) sequences.insert(sequences.end(), part.keys[0]->size(), part.sequence_number);
    parts.clear();
    const size_t rows = sequences.size();
    if (!plan_packing(keys)) {
        build_other(keys, std::vector<uint8_t>(rows, 1), sequences);
        return;
    }
    const auto has_null = null_rows(keys, rows);
    build_packed(pack(keys, rows), has_null, sequences);
    if (!has_null.empty()) build_other(keys, has_null, sequences);
}

/// Each value goes into the first word that has room for it.
bool EqualityDeletes::plan_packing(const std::vector<VectorPtr>& keys) {
    std::vector<size_t> used;
    for (const auto& key : keys) {
        const size_t bytes = packable_bytes(key->type()->physical());
        if (bytes == 0) {
            places_.clear();
            return false;
        }
        const auto word = std::find_if(used.begin(), used.end(), [&](size_t u) { return u + bytes <= kWordBytes; });
        const auto index = static_cast<size_t>(word - used.begin());
        if (word == used.end()) used.push_back(0);
        places_.push_back({index, static_cast<uint32_t>(used[index] * 8)});
        used[index] += bytes;
    }
    words_ = used.size();
    if (words_ > kMaxWords) places_.clear();
    return !places_.empty();
}

EqualityDeletes::Words EqualityDeletes::pack(const std::vector<VectorPtr>& columns, size_t rows) const {
    Words words;
    for (size_t w = 0; w < words_; ++w) words.emplace_back(rows, 0);
    for (size_t k = 0; k < columns.size(); ++k) {
        const Vector& flat = *columns[k];
        uint64_t* out = words[places_[k].word].data();
        const uint32_t shift = places_[k].shift;
        dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
            if constexpr (std::is_integral_v<T> && sizeof(T) <= kWordBytes) {
                using Bits = std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
                const T* values = flat.values<T>();
                for (size_t i = 0; i < rows; ++i)
                    out[i] |= static_cast<uint64_t>(static_cast<Bits>(values[i])) << shift;
            }
        });
    }
    return words;
}

EqualityDeletes::Hashes EqualityDeletes::hashes_of(const Words& words, size_t rows) {
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15ULL;
    Hashes hashes{TrackedVector<uint64_t>(words[0].begin(), words[0].end()), TrackedVector<uint64_t>(rows, 0)};
    for (size_t w = 1; w < words.size(); ++w) {
        for (size_t i = 0; i < rows; ++i) {
            hashes.whole[i] = (hashes.whole[i] ^ (hashes.whole[i] >> 31)) * kSpread + words[w][i];
            hashes.place[i] = hashes.place[i] * kSpread + words[w][i];
        }
    }
    for (size_t i = 0; i < rows; ++i) {
        hashes.whole[i] = (hashes.whole[i] ^ (hashes.whole[i] >> 31)) * kSpread;
        hashes.whole[i] ^= hashes.whole[i] >> 32;
        hashes.place[i] = filter_word(words[0][i], hashes.place[i]);
    }
    return hashes;
}

void EqualityDeletes::build_packed(const Words& words, const std::vector<uint8_t>& has_null,
                                   const std::vector<int64_t>& sequences) {
    const size_t rows = sequences.size();
    const auto hashes = hashes_of(words, rows);
    packed_.resize(rows * words_);
    for (size_t w = 0; w < words_; ++w)
        for (size_t row = 0; row < rows; ++row) packed_[row * words_ + w] = words[w][row];
    packed_sequence_.assign(sequences.begin(), sequences.end());
    packed_slots_.resize(slots_for(rows), 0);
    size_t filter_words = 1;
    while (filter_words * kFilterKeysAWord < rows) filter_words *= 2;
    filter_.resize(filter_words, 0);
    const uint64_t mask = packed_slots_.size() - 1;
    for (size_t row = 0; row < rows; ++row) {
        if (row + kAhead < rows) __builtin_prefetch(&packed_slots_[(hashes.whole[row + kAhead] >> 16) & mask], 1);
        if (!has_null.empty() && has_null[row]) continue;
        ++packed_rows_;
        uint64_t slot = (hashes.whole[row] >> 16) & mask;
        const uint64_t* key = &packed_[row * words_];
        while (packed_slots_[slot] && !std::equal(key, key + words_, &packed_[(packed_slots_[slot] - 1) * words_]))
            slot = (slot + 1) & mask;
        if (packed_slots_[slot]) {
            int64_t& sequence = packed_sequence_[packed_slots_[slot] - 1];
            sequence = std::max(sequence, packed_sequence_[row]);
            continue;
        }
        packed_slots_[slot] = static_cast<uint32_t>(row) + 1;
        filter_[hashes.place[row] & (filter_words - 1)] |= filter_bits(hashes.whole[row]);
    }
}

void EqualityDeletes::build_other(const std::vector<VectorPtr>& keys, const std::vector<uint8_t>& wanted,
                                  const std::vector<int64_t>& sequences) {
    Selection rows;
    for (size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i]) rows.push_back(static_cast<uint32_t>(i));
    for (const auto& key : keys) other_.push_back(copy_owned(gather(key, rows)));
    for (const uint32_t row : rows) other_sequence_.push_back(sequences[row]);
    other_rows_ = rows.size();
    other_hashes_.resize(other_rows_);
    hash_rows(other_, other_rows_, other_hashes_.data());
    other_slots_.resize(slots_for(other_rows_), 0);
    const uint64_t mask = other_slots_.size() - 1;
    for (size_t row = 0; row < other_rows_; ++row) {
        uint64_t slot = other_hashes_[row] & mask;
        while (other_slots_[slot]) slot = (slot + 1) & mask;
        other_slots_[slot] = static_cast<uint32_t>(row) + 1;
    }
}

size_t EqualityDeletes::memory_bytes() const {
    size_t words = packed_.capacity() + packed_sequence_.capacity() + filter_.capacity() + other_sequence_.capacity() +
                   other_hashes_.capacity();
    size_t bytes = words * sizeof(uint64_t) + (packed_slots_.capacity() + other_slots_.capacity()) * sizeof(uint32_t);
    for (const auto& key : other_) bytes += key->allocated_bytes();
    return bytes;
}

bool EqualityDeletes::mark(const std::vector<VectorPtr>& columns, int64_t sequence_number,
                           std::vector<uint8_t>& keep) const {
    // Flat: hashing a large dictionary for each batch would cost more than its few rows.
    const auto flat = flattened(columns);
    if (places_.empty()) return mark_other(flat, {}, sequence_number, keep);
    const auto has_null = null_rows(flat, keep.size());
    bool any = false;
    if (packed_rows_ > 0) any = mark_packed(pack(flat, keep.size()), has_null, sequence_number, keep);
    // A row with a NULL in its key can only be deleted by such a key.
    if (!has_null.empty()) any = mark_other(flat, has_null, sequence_number, keep) || any;
    return any;
}

bool EqualityDeletes::mark_packed(const Words& words, const std::vector<uint8_t>& has_null, int64_t sequence_number,
                                  std::vector<uint8_t>& keep) const {
    const size_t rows = keep.size();
    const auto hashes = hashes_of(words, rows);
    const uint64_t filter_mask = filter_.size() - 1, mask = packed_slots_.size() - 1;
    std::vector<uint32_t> candidates(rows);
    size_t count = 0;
    for (size_t i = 0; i < rows; ++i) {
        const uint64_t bits = filter_bits(hashes.whole[i]);
        candidates[count] = static_cast<uint32_t>(i);
        count += (filter_[hashes.place[i] & filter_mask] & bits) == bits;
    }
    // What a look-up needs is asked for in two steps, ahead of it: the slot, then the key that the slot names.
    const auto slot_of = [&](size_t c) { return (hashes.whole[candidates[c]] >> 16) & mask; };
    bool any = false;
    for (size_t c = 0; c < count; ++c) {
        const uint32_t row = candidates[c];
        if (c + 2 * kAhead < count) __builtin_prefetch(&packed_slots_[slot_of(c + 2 * kAhead)]);
        if (c + kAhead < count)
            if (const uint32_t key = packed_slots_[slot_of(c + kAhead)])
                __builtin_prefetch(&packed_[(key - 1) * words_]);
        if (!has_null.empty() && has_null[row]) continue;
        for (uint64_t slot = slot_of(c); packed_slots_[slot]; slot = (slot + 1) & mask) {
            const size_t key = packed_slots_[slot] - 1;
            bool same = true;
            for (size_t w = 0; w < words_ && same; ++w) same = packed_[key * words_ + w] == words[w][row];
            if (!same) continue;
            if (packed_sequence_[key] > sequence_number) {
                keep[row] = 0;
                any = true;
            }
            break;
        }
    }
    return any;
}

bool EqualityDeletes::mark_other(const std::vector<VectorPtr>& flat, const std::vector<uint8_t>& only,
                                 int64_t sequence_number, std::vector<uint8_t>& keep) const {
    if (other_rows_ == 0) return false;
    std::vector<uint64_t> hashes(keep.size());
    hash_rows(flat, keep.size(), hashes.data());
    const uint64_t mask = other_slots_.size() - 1;
    bool any = false;
    for (size_t i = 0; i < keep.size(); ++i) {
        if (!keep[i] || (!only.empty() && !only[i])) continue;
        for (uint64_t slot = hashes[i] & mask; other_slots_[slot]; slot = (slot + 1) & mask) {
            const size_t key = other_slots_[slot] - 1;
            if (other_hashes_[key] != hashes[i] || other_sequence_[key] <= sequence_number) continue;
            if (!same_key(flat, i, other_, key)) continue;
            keep[i] = 0;
            any = true;
            break;
        }
    }
    return any;
}

}  // namespace firn::table
