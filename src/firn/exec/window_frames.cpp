#include "firn/exec/window_frames.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/functions/function.h"

namespace firn::exec {
namespace {

using Bound = plan::WindowFrame::Bound;
using Unit = plan::WindowFrame::Unit;

bool has_offset(Bound bound) { return bound == Bound::Preceding || bound == Bound::Following; }

int64_t count_of(const VectorPtr& offset) {
    if (!offset) fail(ErrorCode::BAD_ARGUMENTS, "A window frame's bound has no offset");
    const auto number = flatten(functions::cast_vector(offset, make_type(TypeId::Int64)));
    const int64_t value = number->values<int64_t>()[0];
    if (value < 0) fail(ErrorCode::BAD_ARGUMENTS, "Window frame offset must be non-negative, {} given", value);
    return value;
}

/// Order keys of a RANGE frame, so that offsets can be added: exact for integers, dates, times and decimals.
template <typename T>
struct Values {
    std::vector<T> values;      // by place
    std::vector<uint8_t> none;  // NULL or NaN
};

template <typename T>
Values<T> read_values(const VectorPtr& column, std::span<const uint32_t> order) {
    const Decoded decoded(column);
    Values<T> out;
    out.values.resize(order.size());
    out.none.resize(order.size());
    const bool fixed = dispatch_fixed(column->type()->physical(), [&]<typename P>() {
        if constexpr (std::is_arithmetic_v<P> || std::is_same_v<P, Int128> || std::is_same_v<P, UInt128>) {
            for (size_t i = 0; i < order.size(); ++i) {
                const size_t row = decoded[order[i]];
                const P value = decoded.values<P>()[row];
                out.none[i] = (decoded.nulls() && decoded.nulls()[row]) || value != value;
                if (!out.none[i]) out.values[i] = static_cast<T>(value);
            }
        } else {
            fail(ErrorCode::NOT_IMPLEMENTED, "A RANGE frame with an offset over {} is not supported",
                 column->type()->name());
        }
    });
    if (!fixed)
        fail(ErrorCode::NOT_IMPLEMENTED, "A RANGE frame with an offset over {} is not supported",
             column->type()->name());
    return out;
}

template <typename T>
T offset_of(const VectorPtr& offset, const TypePtr& key) {
    if (!offset) return T{};
    const bool decimal = unwrap(key)->id() == TypeId::Decimal;
    const TypePtr type =
        decimal ? strip_nullable(key) : make_type(std::is_floating_point_v<T> ? TypeId::Float64 : TypeId::Int64);
    const T value = read_values<T>(flatten(functions::cast_vector(offset, type)), std::vector<uint32_t>{0}).values[0];
    if (value < T{}) fail(ErrorCode::BAD_ARGUMENTS, "Window frame offset must be non-negative");
    return value;
}

template <typename T>
std::vector<RowRange> value_frames(const plan::WindowFrame& frame, const WindowRows& rows, const Values<T>& keys,
                                   const TypePtr& type, bool descending) {
    const T start = offset_of<T>(frame.start_offset, type), end = offset_of<T>(frame.end_offset, type);
    std::vector<RowRange> frames(rows.size());
    for (const RowRange partition : rows.partitions()) {
        RowRange present = partition;  // rows with a value; NULLs stand at one end
        while (!present.empty() && keys.none[present.begin]) ++present.begin;
        while (!present.empty() && keys.none[present.end - 1]) --present.end;
        const T* const first = keys.values.data() + present.begin;
        const T* const last = keys.values.data() + present.end;
        const auto before = [&](T a, T b) { return descending ? b < a : a < b; };
        const auto shifted = [&](T value, T offset, bool preceding) {
            return preceding != descending ? value - offset : value + offset;
        };
        const auto lower = [&](T value) {
            return static_cast<uint32_t>(std::lower_bound(first, last, value, before) - keys.values.data());
        };
        const auto upper = [&](T value) {
            return static_cast<uint32_t>(std::upper_bound(first, last, value, before) - keys.values.data());
        };
        for (uint32_t i = partition.begin; i < partition.end; ++i) {
            const RowRange peers = rows.peers(i);
            RowRange& out = frames[i];
            const bool none = keys.none[i];
            out.begin = frame.start == Bound::UnboundedPreceding   ? partition.begin
                        : frame.start == Bound::UnboundedFollowing ? partition.end
                        : frame.start == Bound::Current || none
                            ? peers.begin
                            : lower(shifted(keys.values[i], start, frame.start == Bound::Preceding));
            out.end = frame.end == Bound::UnboundedFollowing   ? partition.end
                      : frame.end == Bound::UnboundedPreceding ? partition.begin
                      : frame.end == Bound::Current || none
                          ? peers.end
                          : upper(shifted(keys.values[i], end, frame.end == Bound::Preceding));
        }
    }
    return frames;
}

}  // namespace

WindowRows::WindowRows(const plan::WindowNode& node, const SortKeys& keys, std::span<const uint32_t> order)
    : node_(node), keys_(keys), order_(order) {
    const size_t rows = order.size();
    partition_.resize(rows);
    peer_.resize(rows);
    for (uint32_t i = 0; i < rows; ++i) {
        const bool new_partition = i == 0 || keys.compare(order[i - 1], order[i], node.partition.size()) != 0;
        if (new_partition) {
            partitions_.push_back({i, i});
            first_peers_.push_back(static_cast<uint32_t>(peers_.size()));
        }
        if (new_partition || keys.compare(order[i - 1], order[i]) != 0) peers_.push_back({i, i});
        partitions_.back().end = peers_.back().end = i + 1;
        partition_[i] = static_cast<uint32_t>(partitions_.size() - 1);
        peer_[i] = static_cast<uint32_t>(peers_.size() - 1);
    }
}

std::vector<RowRange> WindowRows::frames(const plan::WindowFrame& frame) const {
    if (frame.unit == Unit::Range) return range_frames(frame);
    const int64_t before = has_offset(frame.start) ? count_of(frame.start_offset) : 0;
    const int64_t after = has_offset(frame.end) ? count_of(frame.end_offset) : 0;
    std::vector<RowRange> frames(size());
    for (size_t i = 0; i < size(); ++i)
        frames[i] =
            frame.unit == Unit::Rows ? rows_frame(frame, i, before, after) : groups_frame(frame, i, before, after);
    return frames;
}

RowRange WindowRows::rows_frame(const plan::WindowFrame& frame, size_t place, int64_t start, int64_t end) const {
    const RowRange all = partition(place);
    const int64_t at = static_cast<int64_t>(place), first = all.begin, past = all.end;
    const auto bounded = [&](int64_t value) { return static_cast<uint32_t>(std::clamp(value, first, past)); };
    start = std::min<int64_t>(start, past);
    end = std::min<int64_t>(end, past);
    RowRange out = all;
    if (frame.start == Bound::Preceding) out.begin = bounded(at - start);
    if (frame.start == Bound::Current) out.begin = bounded(at);
    if (frame.start == Bound::Following) out.begin = bounded(at + start);
    if (frame.start == Bound::UnboundedFollowing) out.begin = all.end;
    if (frame.end == Bound::Preceding) out.end = bounded(at - end + 1);
    if (frame.end == Bound::Current) out.end = bounded(at + 1);
    if (frame.end == Bound::Following) out.end = bounded(at + end + 1);
    if (frame.end == Bound::UnboundedPreceding) out.end = all.begin;
    return out;
}

RowRange WindowRows::groups_frame(const plan::WindowFrame& frame, size_t place, int64_t start, int64_t end) const {
    const RowRange all = partition(place);
    const int64_t first = first_peers_[partition_[place]], last = peer_[all.end - 1], at = peer_[place];
    start = std::min<int64_t>(start, static_cast<int64_t>(peers_.size()));
    end = std::min<int64_t>(end, static_cast<int64_t>(peers_.size()));
    const auto begin_of = [&](int64_t group) {
        return group > last ? all.end : peers_[static_cast<size_t>(std::max(group, first))].begin;
    };
    const auto end_of = [&](int64_t group) {
        return group < first ? all.begin : peers_[static_cast<size_t>(std::min(group, last))].end;
    };
    RowRange out = all;
    if (frame.start == Bound::Preceding) out.begin = begin_of(at - start);
    if (frame.start == Bound::Current) out.begin = begin_of(at);
    if (frame.start == Bound::Following) out.begin = begin_of(at + start);
    if (frame.end == Bound::Preceding) out.end = end_of(at - end);
    if (frame.end == Bound::Current) out.end = end_of(at);
    if (frame.end == Bound::Following) out.end = end_of(at + end);
    return out;
}

std::vector<RowRange> WindowRows::range_frames(const plan::WindowFrame& frame) const {
    if (!has_offset(frame.start) && !has_offset(frame.end)) {
        std::vector<RowRange> frames(size());
        for (size_t i = 0; i < size(); ++i) frames[i] = groups_frame(frame, i, 0, 0);
        return frames;
    }
    if (node_.order.size() != 1)
        fail(ErrorCode::BAD_ARGUMENTS, "The RANGE OFFSET frame requires exactly one ORDER BY column, {} given",
             node_.order.size());
    const VectorPtr& column = keys_.columns().back();
    if (is_float(unwrap(column->type())->id()))
        return value_frames(frame, *this, read_values<double>(column, order_), column->type(),
                            node_.order[0].descending);
    return value_frames(frame, *this, read_values<Int128>(column, order_), column->type(), node_.order[0].descending);
}

}  // namespace firn::exec
