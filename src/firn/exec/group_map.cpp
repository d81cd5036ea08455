#include "firn/exec/group_map.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "firn/base/error.h"

namespace firn::exec {
namespace {

constexpr size_t kBlock = 32;              // rows whose lookups are under way at once
constexpr size_t kPrefetchFrom = 1 << 14;  // slots from which memory latency is worth hiding
constexpr size_t kMaxTranslation = 1 << 20;
constexpr size_t kMaxCombinations = 1 << 16;
constexpr size_t kMaxNumberedCombinations = 1 << 12;
constexpr uint8_t kNoNumber = GroupMap::kMostNumbered;
constexpr size_t kChunkBytes = 1 << 16;
constexpr size_t kBlockBytes = 4 << 20;

template <size_t kWords>
using Words = std::array<uint64_t, kWords>;

/// table[the combination of the row's codes] for each row.
void translate_codes(std::span<const VectorPtr> keys, size_t rows, const CombinationTable& table, uint8_t* out) {
    std::vector<std::pair<const uint32_t*, uint32_t>> columns;  // codes, and what they are multiplied by
    size_t scale = 1;
    for (const auto& key : keys) {
        if (key->is_constant()) continue;
        columns.emplace_back(key->codes(), static_cast<uint32_t>(scale));
        scale *= key->base()->size();
    }
    if (columns.empty()) {
        std::fill_n(out, rows, table[0]);
    } else if (columns.size() == 1) {
        table.look_up(columns[0].first, nullptr, 0, rows, out);
    } else if (columns.size() == 2) {
        table.look_up(columns[0].first, columns[1].first, columns[1].second, rows, out);
    } else {
        for (size_t i = 0; i < rows; ++i) {
            uint32_t at = 0;
            for (const auto& [codes, by] : columns) at += codes[i] * by;
            out[i] = table[at];
        }
    }
}

}  // namespace

GroupMap::GroupMap(const KeyLayout& layout, const GroupPayload& payload)
    : layout_(layout),
      payload_(payload),
      strings_(std::make_shared<Arena>()),
      interners_([&] {
          std::vector<std::shared_ptr<Interner>> made;
          for (const auto& column : layout.columns)
              made.push_back(column.interned ? std::make_shared<Interner>() : nullptr);
          return made;
      }()),
      packer_(layout, interners_, true) {
    stride_ = (layout.key_bytes() + payload.bytes + 7) & ~size_t{7};
    if (payload.bytes > 8) stride_ = (stride_ + 15) & ~size_t{15};
    chunk_shift_ = 6;
    while ((stride_ << (chunk_shift_ + 1)) <= kChunkBytes) ++chunk_shift_;
    chunk_mask_ = (size_t{1} << chunk_shift_) - 1;
    slots_ = Buffer::allocate_zeroed(256 * sizeof(uint64_t));
    slot_mask_ = 255;
}

/// Blocks of chunks grow with the map: large ones lie on large pages, which are faulted in faster.
void GroupMap::add_chunks() {
    const size_t bytes = stride_ << chunk_shift_;
    const size_t count = std::clamp<size_t>(chunks_.size() / 2, 1, std::max<size_t>(1, kBlockBytes / bytes));
    buffers_.push_back(Buffer::allocate(count * bytes));
    for (size_t i = 0; i < count; ++i) chunks_.push_back(buffers_.back()->mutable_data() + i * bytes);
}

template <typename Key>
char* GroupMap::add_row(const Key& key, uint32_t tag) {
    const size_t index = tags_.size();
    if (index >= kNoRow - 1) fail(ErrorCode::LIMIT_EXCEEDED, "Too many groups: at most {} are supported", kNoRow - 1);
    if ((index & chunk_mask_) == 0 && index >> chunk_shift_ == chunks_.size()) add_chunks();
    char* place = row(index);
    if constexpr (std::is_same_v<Key, StringRef>) {
        StringRef copy = key;
        if (key.size) copy.data = strings_->copy(key.data, key.size);
        std::memcpy(place, &copy, sizeof(copy));
    } else {
        std::memcpy(place, &key, sizeof(Key));
    }
    if (!payload_.image.empty()) std::memcpy(place + sizeof(Key), payload_.image.data(), payload_.bytes);
    if (payload_.construct) payload_.construct(place);
    tags_.push_back(tag);
    return place;
}

void GroupMap::grow_slots() {
    const size_t size = (slot_mask_ + 1) * (slot_mask_ + 1 < (1 << 20) ? 4 : 2);
    slots_ = nullptr;
    slots_ = Buffer::allocate_zeroed(size * sizeof(uint64_t));
    slot_mask_ = size - 1;
    uint64_t* slots = slots_->mutable_as<uint64_t>();
    for (size_t i = 0; i < tags_.size(); ++i) {
        size_t at = tags_[i] & slot_mask_;
        while (slots[at] != 0) at = (at + 1) & slot_mask_;
        slots[at] = static_cast<uint64_t>(tags_[i]) << 32 | (i + 1);
    }
}

template <typename Key>
void GroupMap::find_keys(const Key* keys, const uint32_t* tags, size_t rows, char** out) {
    for (size_t begin = 0; begin < rows; begin += kBlock) {
        const size_t end = std::min(rows, begin + kBlock);
        if ((tags_.size() + kBlock) * 2 > slot_mask_ + 1) grow_slots();
        uint64_t* slots = slots_->mutable_as<uint64_t>();
        if (slot_mask_ >= kPrefetchFrom) {
            // Slots of the next block and rows of this one are on their way while others are compared.
            for (size_t i = end; i < std::min(rows, end + kBlock); ++i)
                __builtin_prefetch(&slots[tags[i] & slot_mask_]);
            for (size_t i = begin; i < end; ++i) {
                const uint64_t slot = slots[tags[i] & slot_mask_];
                if (slot) __builtin_prefetch(row(static_cast<uint32_t>(slot) - 1), 1);
            }
            if constexpr (std::is_same_v<Key, StringRef>)  // and the bytes that the rows' strings point to
                for (size_t i = begin; i < end; ++i) {
                    const uint64_t slot = slots[tags[i] & slot_mask_];
                    if (static_cast<uint32_t>(slot >> 32) != tags[i] || !slot) continue;
                    const StringRef& text = key_of<StringRef>(row(static_cast<uint32_t>(slot) - 1));
                    __builtin_prefetch(text.data);
                    if (text.size > 32) __builtin_prefetch(text.data + text.size - 1);
                }
        }
        for (size_t i = begin; i < end; ++i) {
            const uint32_t tag = tags[i];
            size_t at = tag & slot_mask_;
            for (;; at = (at + 1) & slot_mask_) {
                const uint64_t slot = slots[at];
                if (slot == 0) {
                    out[i] = add_row(keys[i], tag);
                    slots[at] = static_cast<uint64_t>(tag) << 32 | tags_.size();
                    break;
                }
                if (static_cast<uint32_t>(slot >> 32) != tag) continue;
                char* found = row(static_cast<uint32_t>(slot) - 1);
                if (key_of<Key>(found) == keys[i]) {
                    out[i] = found;
                    break;
                }
            }
        }
    }
}

template <size_t kWords>
void GroupMap::find_packed(const uint64_t* keys, size_t rows, char** out) {
    for (size_t i = 0; i < rows; ++i) batch_tags_[i] = hash_key<kWords>(keys + i * kWords);
    find_keys(reinterpret_cast<const Words<kWords>*>(keys), batch_tags_.data(), rows, out);
}

void GroupMap::find_slowly(std::span<const VectorPtr> keys, size_t rows, char** out) {
    batch_tags_.resize(rows);
    if (layout_.form == KeyLayout::Form::String) {
        texts_.resize(rows);
        Arena scratch;
        string_keys(layout_, keys, rows, texts_.data(), scratch);
        for (size_t i = 0; i < rows; ++i) batch_tags_[i] = hash_string(texts_[i]);
        return find_keys(texts_.data(), batch_tags_.data(), rows, out);
    }
    packed_.resize(rows * layout_.words);
    packer_.pack(keys, rows, packed_.data());
    switch (layout_.words) {
        case 1:
            return find_packed<1>(packed_.data(), rows, out);
        case 2:
            return find_packed<2>(packed_.data(), rows, out);
        case 4:
            return find_packed<4>(packed_.data(), rows, out);
        default:
            return find_packed<8>(packed_.data(), rows, out);
    }
}

/// Makes translation_ one of these keys. False where they are not all dictionaries or constants, or have too many combinations.
bool GroupMap::begin_translation(std::span<const VectorPtr> keys) {
    size_t combinations = 1, dictionaries = 0;
    for (const auto& key : keys) {
        if (key->is_constant()) continue;
        if (key->encoding() != Encoding::Dictionary) return false;
        ++dictionaries;
        combinations *= key->base()->size();
        if (combinations > kMaxTranslation) return false;
    }
    if (keys.empty() || (dictionaries > 1 && combinations > kMaxCombinations)) return false;
    auto& known = translation_;
    const bool same = known.bases.size() == keys.size() &&
                      std::equal(keys.begin(), keys.end(), known.bases.begin(),
                                 [](const auto& key, const auto& base) { return key->base() == base; });
    if (!same) {
        known.bases.clear();
        for (const auto& key : keys) known.bases.push_back(key->base());
        known.rows.assign(combinations, nullptr);
        known.numbers.clear();
    }
    return true;
}

/// Keys that are all dictionaries or constants: an array from combinations of codes to rows.
bool GroupMap::translate(std::span<const VectorPtr> keys, size_t rows, char** out) {
    if (!begin_translation(keys)) return false;
    auto& known = translation_;
    batch_tags_.assign(rows, 0);
    uint32_t* at = batch_tags_.data();  // the combination of each row
    size_t scale = 1;
    for (const auto& key : keys) {
        if (key->is_constant()) continue;
        const uint32_t* codes = key->codes();
        if (scale == 1)
            std::copy_n(codes, rows, at);
        else
            for (size_t i = 0; i < rows; ++i) at[i] += codes[i] * static_cast<uint32_t>(scale);
        scale *= key->base()->size();
    }
    // Combinations met for the first time are looked up once each.
    std::vector<uint32_t> fresh;
    char* const pending = reinterpret_cast<char*>(1);
    char** to_row = known.rows.data();
    for (uint32_t i = 0; i < rows; ++i) {
        char* found = to_row[at[i]];
        out[i] = found;
        if (!found) {
            fresh.push_back(i);
            to_row[at[i]] = pending;
        }
    }
    if (fresh.empty()) return true;
    const TrackedVector<uint32_t> combination(batch_tags_);
    std::vector<VectorPtr> values;
    for (const auto& key : keys) values.push_back(flatten(gather(key, fresh)));
    std::vector<char*> found(fresh.size());
    try {
        find_slowly(values, fresh.size(), found.data());
    } catch (...) {
        known.bases.clear();
        throw;
    }
    for (size_t i = 0; i < fresh.size(); ++i) to_row[combination[fresh[i]]] = found[i];
    for (size_t i = fresh[0]; i < rows; ++i) out[i] = to_row[combination[i]];
    return true;
}

void GroupMap::number_combinations() {
    auto& known = translation_;
    known.numbers.assign(known.rows.size(), kNoNumber);
    for (size_t i = 0; i < known.rows.size(); ++i)
        for (size_t group = 0; known.rows[i] && group < size(); ++group)
            if (row(group) == known.rows[i]) known.numbers[i] = static_cast<uint8_t>(group);
}

bool GroupMap::find_few(std::span<const VectorPtr> keys, size_t rows, const Selection* selected, size_t most,
                        uint8_t* out) {
    if (size() > most || !begin_translation(keys) || translation_.rows.size() > kMaxNumberedCombinations) return false;
    if (translation_.numbers.empty()) number_combinations();
    translate_codes(keys, rows, translation_.numbers, out);
    if (!std::memchr(out, kNoNumber, rows)) return true;
    if (selected) {
        Selection unknown;
        for (const uint32_t row : *selected)
            if (out[row] == kNoNumber) unknown.push_back(row);
        if (unknown.empty()) return true;
        std::vector<VectorPtr> of_unknown;
        for (const auto& key : keys) of_unknown.push_back(gather(key, unknown));
        translate(of_unknown, unknown.size(), std::vector<char*>(unknown.size()).data());
    } else {
        translate(keys, rows, std::vector<char*>(rows).data());
    }
    if (size() > most) return false;
    number_combinations();
    translate_codes(keys, rows, translation_.numbers, out);
    return true;
}

void GroupMap::find_or_insert(std::span<const VectorPtr> keys, size_t rows, char** out) {
    if (!translate(keys, rows, out)) find_slowly(keys, rows, out);
}

std::vector<VectorPtr> GroupMap::keys(std::span<char* const> rows) {
    if (layout_.form == KeyLayout::Form::String) return unpack_string_keys(layout_, rows, strings_);
    if (interned_.empty())
        for (size_t i = 0; i < layout_.columns.size(); ++i)
            interned_.push_back(layout_.columns[i].interned ? interners_[i]->to_vector(layout_.columns[i].type)
                                                            : nullptr);
    return unpack_keys(layout_, interned_, rows);
}

}  // namespace firn::exec
