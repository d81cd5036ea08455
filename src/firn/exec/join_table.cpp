#include "firn/exec/join_table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "firn/base/error.h"
#include "firn/exec/pipeline.h"

namespace firn::exec {
namespace {

constexpr size_t kBlock = 32;
constexpr size_t kRowsOfTask = 1 << 15;
constexpr uint64_t kLeastDenseRange = 1 << 16;
constexpr uint64_t kMostDenseRange = 1 << 28;

/// The bit of a bucket's filter for a hash; the bucket is chosen by other bits of it.
uint64_t filter_bit(uint32_t hash) { return uint64_t{1} << (32 + (hash >> 27)); }

template <size_t kWords>
bool same_key(const uint64_t* a, const uint64_t* b) {
    for (size_t i = 0; i < kWords; ++i)
        if (a[i] != b[i]) return false;
    return true;
}

bool is_small_integer(Physical physical) {
    switch (physical) {
        case Physical::UInt8:
        case Physical::UInt16:
        case Physical::UInt32:
        case Physical::UInt64:
        case Physical::Int8:
        case Physical::Int16:
        case Physical::Int32:
        case Physical::Int64:
            return true;
        default:
            return false;
    }
}

template <typename F>
void dispatch_integer(Physical physical, F&& f) {
    dispatch_fixed(physical, [&]<typename T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) f.template operator()<T>();
    });
}

/// 1 for rows where some key is NULL; empty when there are none.
std::vector<uint8_t> null_rows(std::span<const VectorPtr> keys, size_t rows) {
    std::vector<uint8_t> out;
    for (const auto& vector : keys) {
        const uint8_t* flags = vector->flat_base().nulls();
        if (!flags || !std::memchr(flags, 1, vector->flat_base().size())) continue;
        const Decoded decoded(vector);
        for (size_t i = 0; i < rows; ++i) {
            if (!decoded.is_null(i)) continue;
            if (out.empty()) out.assign(rows, 0);
            out[i] = 1;
        }
    }
    return out;
}

std::vector<std::shared_ptr<Interner>> make_interners(const KeyLayout& layout) {
    std::vector<std::shared_ptr<Interner>> made;
    if (layout.form == KeyLayout::Form::String) return {std::make_shared<Interner>()};
    for (const auto& column : layout.columns) made.push_back(column.interned ? std::make_shared<Interner>() : nullptr);
    return made;
}

}  // namespace

JoinTable::JoinTable(const std::vector<TypePtr>& types, const std::vector<bool>& nullable, bool nulls_equal)
    // NULLs that match nothing need no bits in the keys: their rows are left out.
    : layout_(types, nulls_equal ? KeyLayout::Nulls::Marked : KeyLayout::Nulls::LeftOut, nullable, false),
      nulls_equal_(nulls_equal),
      interners_(make_interners(layout_)) {
    words_ = layout_.form == KeyLayout::Form::String ? 1 : layout_.words;
    stride_ = 8 + words_ * 8;
}

void JoinTable::build(Run& run, const std::vector<VectorPtr>& keys, size_t rows, const std::function<void()>& beside) {
    rows_ = rows;
    bool done = rows == 0 || keys.empty();
    // What one thread does alone.
    const auto begin = [&] {
        if (done) return;
        if (!nulls_equal_) {
            skipped_ = null_rows(keys, rows);
            has_null_key_ = !skipped_.empty();
        }
        done = keys.size() == 1 && !nulls_equal_ && build_dense(keys[0]);
    };
    if (beside && !done && rows >= kRowsOfTask) {
        run.parallel(2, [&](size_t task) { task == 0 ? begin() : beside(); });
    } else {
        begin();
        if (beside) beside();
    }
    if (done) return;
    pack_all(run, keys);
    insert_all(run);
}

bool JoinTable::build_dense(const VectorPtr& key) {
    const Physical physical = key->type()->physical();
    if (!is_small_integer(physical)) return false;
    bool filled = false;
    const Decoded decoded(key);
    dispatch_integer(physical, [&]<typename T>() { filled = fill_dense<T>(decoded); });
    return filled;
}

template <typename T>
bool JoinTable::fill_dense(const Decoded& key) {
    const T* values = key.values<T>();
    T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
    for (size_t i = 0; i < rows_; ++i) {
        if (!skipped_.empty() && skipped_[i]) continue;
        const T value = values[key[i]];
        least = std::min(least, value);
        most = std::max(most, value);
    }
    if (least > most) least = most = 0;  // only NULLs
    const uint64_t range = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    if (range >= kMostDenseRange || range >= std::max<uint64_t>(kLeastDenseRange, 8 * static_cast<uint64_t>(rows_)))
        return false;
    dense_ = true;
    dense_least_ = static_cast<uint64_t>(least);
    dense_heads_.assign(range + 1, kNoRow);
    // From the last row to the first, so that chains run upwards.
    for (size_t i = rows_; i-- > 0;) {
        if (!skipped_.empty() && skipped_[i]) continue;
        uint32_t& head = dense_heads_[static_cast<uint64_t>(values[key[i]]) - dense_least_];
        if (head != kNoRow) {
            if (dense_next_.empty()) dense_next_.assign(rows_, kNoRow);
            dense_next_[i] = head;
        }
        head = static_cast<uint32_t>(i);
    }
    return true;
}

void JoinTable::pack_all(Run& run, const std::vector<VectorPtr>& keys) {
    records_ = Buffer::allocate(rows_ * stride_);
    const bool numbered = layout_.form == KeyLayout::Form::String || layout_.has_interned();
    const auto pack = [&](size_t begin, size_t end, KeyPacker& packer) {
        TrackedVector<uint64_t> packed((end - begin) * words_);
        std::vector<VectorPtr> part;
        for (const auto& vector : keys) part.push_back(slice(vector, begin, end - begin));
        if (layout_.form == KeyLayout::Form::String) {
            Arena scratch;
            TrackedVector<StringRef> texts(end - begin);
            string_keys(layout_, part, end - begin, texts.data(), scratch);
            for (size_t i = 0; i < texts.size(); ++i) packed[i] = interners_[0]->insert(texts[i]);
        } else {
            packer.pack(part, end - begin, packed.data());
        }
        char* place = records_->mutable_data() + begin * stride_;
        for (size_t i = 0; i < end - begin; ++i, place += stride_)
            std::memcpy(place + 8, &packed[i * words_], words_ * 8);
    };
    const size_t tasks = (rows_ + kRowsOfTask - 1) / kRowsOfTask;
    if (numbered) {  // numbers are given by one thread
        KeyPacker packer(layout_, interners_, true);
        for (size_t task = 0; task < tasks; ++task)
            pack(task * kRowsOfTask, std::min(rows_, (task + 1) * kRowsOfTask), packer);
    } else {
        run.parallel(tasks, [&](size_t task) {
            KeyPacker packer(layout_, interners_, true);
            pack(task * kRowsOfTask, std::min(rows_, (task + 1) * kRowsOfTask), packer);
        });
    }
}

void JoinTable::insert_all(Run& run) {
    size_t size = 64;
    while (size < rows_) size *= 2;
    buckets_ = Buffer::allocate_zeroed(size * sizeof(uint64_t));
    bucket_mask_ = size - 1;
    uint64_t* buckets = buckets_->mutable_as<uint64_t>();
    const size_t tasks = (rows_ + kRowsOfTask - 1) / kRowsOfTask;
    run.parallel(tasks, [&](size_t task) {
        const size_t begin = (tasks - 1 - task) * kRowsOfTask, end = std::min(rows_, begin + kRowsOfTask);
        for (size_t i = end; i-- > begin;) {
            if (!skipped_.empty() && skipped_[i]) continue;
            const uint32_t hash = hash_words(key(i), words_);
            std::atomic_ref<uint64_t> bucket(buckets[hash & bucket_mask_]);
            uint64_t old = bucket.load(std::memory_order_relaxed);
            do {
                chained(i) = static_cast<uint32_t>(old) - 1;  // 0 - 1 = kNoRow
            } while (!bucket.compare_exchange_weak(old, ((old >> 32 << 32) | filter_bit(hash) | (i + 1)),
                                                   std::memory_order_relaxed));
        }
    });
}

template <size_t kWords>
uint32_t JoinTable::next_equal(uint32_t row) const {
    const uint64_t* wanted = key(row);
    for (uint32_t at = chained(row); at != kNoRow; at = chained(at))
        if (same_key<kWords>(key(at), wanted)) return at;
    return kNoRow;
}

uint32_t JoinTable::next_slowly(uint32_t row) const {
    if (layout_.columns.empty()) return row + 1 < rows_ ? row + 1 : kNoRow;
    switch (words_) {
        case 1:
            return next_equal<1>(row);
        case 2:
            return next_equal<2>(row);
        case 4:
            return next_equal<4>(row);
        default:
            return next_equal<8>(row);
    }
}

template <size_t kWords>
void JoinTable::find_packed(const uint64_t* keys, const uint8_t* missing, size_t rows, uint32_t* first) const {
    const uint64_t* buckets = buckets_->as<uint64_t>();
    uint32_t hashes[kBlock];
    for (size_t begin = 0; begin < rows; begin += kBlock) {
        const size_t end = std::min(rows, begin + kBlock);
        for (size_t i = begin; i < end; ++i) {
            const uint32_t hash = hashes[i - begin] = hash_key<kWords>(keys + i * kWords);
            __builtin_prefetch(&buckets[hash & bucket_mask_]);
        }
        for (size_t i = begin; i < end; ++i) {
            const uint32_t hash = hashes[i - begin];
            const uint64_t bucket = buckets[hash & bucket_mask_];
            const bool possible = (bucket & filter_bit(hash)) != 0 && !(missing && missing[i]);
            first[i] = possible ? static_cast<uint32_t>(bucket) - 1 : kNoRow;
            if (possible) __builtin_prefetch(records_->data() + first[i] * stride_);
        }
        for (size_t i = begin; i < end; ++i) {
            uint32_t at = first[i];
            while (at != kNoRow && !same_key<kWords>(key(at), keys + i * kWords)) at = chained(at);
            first[i] = at;
            // Whoever finds a row asks for the next one of its key: the chain's next record is looked at then.
            if (at != kNoRow && chained(at) != kNoRow) __builtin_prefetch(records_->data() + chained(at) * stride_);
        }
    }
}

template <typename T>
void JoinTable::find_dense(const Decoded& keys, size_t rows, uint32_t* first) const {
    const T* values = keys.values<T>();
    const uint64_t size = dense_heads_.size();
    const uint32_t* heads = dense_heads_.data();
    const auto find = [&](size_t row) {
        const uint64_t at = static_cast<uint64_t>(values[row]) - dense_least_;
        return at < size ? heads[at] : kNoRow;
    };
    if (keys.is_identity())
        for (size_t i = 0; i < rows; ++i) first[i] = find(i);
    else
        for (size_t i = 0; i < rows; ++i) first[i] = find(keys[i]);
}

JoinTable::Probe::Probe(const JoinTable& table) : table_(table), packer_(table.layout_, table.interners_, false) {}

void JoinTable::Probe::find(std::span<const VectorPtr> keys, size_t rows, uint32_t* first, uint8_t* nulls) {
    const JoinTable& table = table_;
    std::vector<uint8_t> null_keys;
    if (!table.nulls_equal_) null_keys = null_rows(keys, rows);
    if (nulls) {
        if (null_keys.empty())
            std::fill_n(nulls, rows, 0);
        else
            std::copy(null_keys.begin(), null_keys.end(), nulls);
    }
    if (table.rows_ == 0 || keys.empty()) {
        std::fill_n(first, rows, table.rows_ ? 0 : kNoRow);
        return;
    }
    if (table.dense_) {
        const Decoded decoded(keys[0]);
        dispatch_integer(keys[0]->type()->physical(), [&]<typename T>() { table.find_dense<T>(decoded, rows, first); });
    } else {
        packed_.resize(rows * table.words_);
        missing_.assign(rows, 0);
        if (table.layout_.form == KeyLayout::Form::String) {
            Arena scratch;
            TrackedVector<StringRef> texts(rows);
            string_keys(table.layout_, keys, rows, texts.data(), scratch);
            for (size_t i = 0; i < rows; ++i) {
                packed_[i] = table.interners_[0]->find(texts[i]);
                if (packed_[i] == Interner::kUnknown) missing_[i] = 1;
            }
        } else {
            packer_.pack(keys, rows, packed_.data(), missing_.data());
        }
        switch (table.words_) {
            case 1:
                table.find_packed<1>(packed_.data(), missing_.data(), rows, first);
                break;
            case 2:
                table.find_packed<2>(packed_.data(), missing_.data(), rows, first);
                break;
            case 4:
                table.find_packed<4>(packed_.data(), missing_.data(), rows, first);
                break;
            default:
                table.find_packed<8>(packed_.data(), missing_.data(), rows, first);
                break;
        }
    }
    for (size_t i = 0; i < null_keys.size(); ++i)
        if (null_keys[i]) first[i] = kNoRow;
}

}  // namespace firn::exec
