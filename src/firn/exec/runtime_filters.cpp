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

VectorPtr one_value(const VectorPtr& vector, size_t row) {
    const auto value = copy_owned(slice(vector, row, 1));
    return value->with_type(unwrap(value->type()));
}

/// The rows of the least and the greatest value; {kNoRow, kNoRow} where there is no value, or a NaN, which no bound serves.
std::pair<uint32_t, uint32_t> extremes(const Decoded& key, size_t rows, bool& unordered) {
    uint32_t least = kNoRow, most = kNoRow;
    const auto look = [&](const auto* values) {
        for (uint32_t i = 0; i < rows; ++i) {
            if (key.is_null(i)) continue;
            const auto& value = values[key[i]];
            if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>) unordered |= std::isnan(value);
            if (least == kNoRow) least = most = i;
            if (value < values[key[least]]) least = i;
            if (values[key[most]] < value) most = i;
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

/// Whether integer keys leave gaps between their bounds that a bloom filter would find.
bool has_gaps(const VectorPtr& least, const VectorPtr& most, size_t rows) {
    double range = 0;
    const bool fixed = dispatch_fixed(least->type()->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 8)
            range = static_cast<double>(most->values<T>()[0]) - static_cast<double>(least->values<T>()[0]) + 1;
    });
    return !fixed || range == 0 || static_cast<double>(rows) < range / 5;
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
            if (rows <= kMostBloomRows && has_gaps(content->min, content->max, rows))
                content->bloom = bloom_of(key, rows);
        }
        filter->set(std::move(content));
    }
}

}  // namespace firn::exec
