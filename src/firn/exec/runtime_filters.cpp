#include <algorithm>
#include <cmath>

#include "firn/exec/group_map.h"
#include "firn/exec/join_build.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

using Content = plan::RuntimeFilter::Content;

constexpr size_t kMostValues = 1000;
constexpr size_t kMostBloomRows = 1 << 21;
constexpr size_t kBloomBitsOfRow = 16;
// Integers close enough for a bit each are told apart exactly, at less cost than hashing them for a bloom filter.
constexpr size_t kOccurringBitsOfRow = 512;
constexpr size_t kLeastOccurringBits = size_t{1} << 23;  // always allowed: a megabyte
constexpr size_t kMostOccurringBits = size_t{1} << 26;

VectorPtr one_value(const VectorPtr& vector, size_t row) {
    const auto value = copy_owned(slice(vector, row, 1));
    return value->with_type(unwrap(value->type()));
}

/// The rows of the least and the greatest value; {kNoRow, kNoRow} where there is no value, or a NaN, which no bound serves.
std::pair<uint32_t, uint32_t> extremes(const Decoded& key, size_t rows, bool& unordered) {
    uint32_t least = kNoRow, most = kNoRow;
    const auto look = [&](const auto* values) {
        std::decay_t<decltype(*values)> low{}, high{};
        for (uint32_t i = 0; i < rows; ++i) {
            const size_t row = key[i];
            if (key.nulls() && key.nulls()[row]) continue;
            const auto& value = values[row];
            if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>) unordered |= std::isnan(value);
            if (least == kNoRow) {
                least = most = i;
                low = high = value;
            } else if (value < low) {
                least = i;
                low = value;
            } else if (high < value) {
                most = i;
                high = value;
            }
        }
    };
    const Physical physical = key.flat().type()->physical();
    if (physical == Physical::Str)
        look(key.values<StringRef>());
    else if (!dispatch_fixed(physical, [&]<typename T>() { look(key.values<T>()); }))
        unordered = true;
    return {least, most};
}

/// All different values where they are few.
VectorPtr few_values(const VectorPtr& key, const TypePtr& type, size_t rows) {
    const KeyLayout layout({key->type()});
    const GroupPayload payload;
    GroupMap map(layout, payload);
    constexpr size_t kStep = 4096;
    std::vector<char*> found(kStep);
    for (size_t at = 0; at < rows; at += kStep) {
        const auto part = slice(key, at, std::min(kStep, rows - at));
        map.find_or_insert(std::span(&part, 1), part->size(), found.data());
        if (map.size() > kMostValues + 1) return nullptr;
    }
    std::vector<char*> all;
    for (size_t i = 0; i < map.size(); ++i) all.push_back(map.row(i));
    const auto values = flatten(map.keys(all)[0]);
    std::vector<uint32_t> present;
    for (uint32_t i = 0; i < values->size(); ++i)
        if (!values->is_null(i)) present.push_back(i);
    return copy_owned(gather(values, present))->with_type(type);
}

std::shared_ptr<const std::vector<uint64_t>> bloom_of(const VectorPtr& key, size_t rows) {
    auto bits = std::make_shared<std::vector<uint64_t>>();
    size_t words = 64;
    while (words * 64 < rows * kBloomBitsOfRow) words *= 2;
    bits->assign(words, 0);
    std::vector<uint64_t> hashes(rows);
    hash_rows(std::span(&key, 1), rows, hashes.data());
    for (size_t i = 0; i < rows; ++i)
        if (!key->is_null(i)) plan::bloom_insert(*bits, hashes[i]);
    return bits;
}

/// Which integers between the bounds occur; null for other types, and where they lie too far apart.
std::shared_ptr<const std::vector<uint64_t>> occurring_between(const Decoded& key, const VectorPtr& least,
                                                               const VectorPtr& most, size_t rows) {
    std::shared_ptr<std::vector<uint64_t>> bits;
    dispatch_fixed(least->type()->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
            const auto low = static_cast<uint64_t>(least->values<T>()[0]);
            const uint64_t range = static_cast<uint64_t>(most->values<T>()[0]) - low;
            if (range >= std::min<uint64_t>(kMostOccurringBits,
                                            std::max<uint64_t>(kLeastOccurringBits, rows * kOccurringBitsOfRow)))
                return;
            bits = std::make_shared<std::vector<uint64_t>>(range / 64 + 1);
            const T* values = key.values<T>();
            for (size_t i = 0; i < rows; ++i) {
                const size_t row = key[i];
                if (key.nulls() && key.nulls()[row]) continue;
                const uint64_t bit = static_cast<uint64_t>(values[row]) - low;
                (*bits)[bit / 64] |= uint64_t{1} << (bit % 64);
            }
        }
    });
    return bits;
}

}  // namespace

void fill_runtime_filters(const plan::JoinNode& node, const std::vector<VectorPtr>& keys, size_t rows) {
    for (const auto& [number, filter] : node.runtime_filters) {
        auto content = std::make_shared<Content>();
        content->keep_nulls = node.nulls_equal;
        const VectorPtr& key = keys[number];
        bool unordered = false;
        const auto [least, most] = extremes(Decoded(key), rows, unordered);
        if (least == kNoRow && !unordered) {
            content->empty = !node.nulls_equal;
        } else if (!unordered) {
            content->min = one_value(key, least);
            content->max = one_value(key, most);
            content->values = few_values(key, content->min->type(), rows);
            content->occurring = occurring_between(Decoded(key), content->min, content->max, rows);
            if (!content->occurring && rows <= kMostBloomRows) content->bloom = bloom_of(key, rows);
        }
        filter->set(std::move(content));
    }
}

}  // namespace firn::exec
