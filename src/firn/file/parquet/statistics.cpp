#include "firn/file/parquet/statistics.h"

#include <cmath>
#include <cstring>

#include "firn/base/error.h"
#include "firn/file/parquet/convert.h"
#include "firn/vector/builder.h"

namespace firn::file::pq {
namespace {

template <typename T>
VectorPtr float_bound(const Leaf& leaf, T value, bool lower) {
    if (std::isnan(value)) return nullptr;
    // Writers may have written either zero for both.
    if (value == 0) value = lower ? -T{0} : T{0};
    return make_value(leaf.type, value);
}

/// A zero whose sign decode_bound chose.
bool is_zero(const VectorPtr& bound) {
    if (!bound) return false;
    return bound->type()->id() == TypeId::Float32 ? bound->values<float>()[0] == 0 : bound->values<double>()[0] == 0;
}

VectorPtr converted_bound(const Leaf& leaf, std::string_view bytes) {
    StringRef ref(bytes);
    const char* raw = leaf.physical == PhysicalType::ByteArray ? reinterpret_cast<const char*>(&ref) : bytes.data();
    auto value = Buffer::allocate(leaf.type->value_size());
    alignas(16) char aligned[64];
    if (raw == bytes.data() && bytes.size() <= sizeof aligned) {
        std::memcpy(aligned, raw, bytes.size());
        raw = aligned;
    }
    convert_values(leaf, raw, 1, value->mutable_data());
    return Vector::flat(leaf.type, 1, std::move(value));
}

}  // namespace

VectorPtr decode_bound(const Leaf& leaf, std::string_view bytes, bool lower) {
    const bool variable = leaf.physical == PhysicalType::ByteArray;
    if (leaf.conversion ==
        Conversion::FixedBytes)  // may be truncated: then shorter than the type, and a bound nonetheless
        return bytes.size() == static_cast<size_t>(leaf.length) ? make_string_value(leaf.type, bytes) : nullptr;
    if (!variable && bytes.size() != leaf.raw_width()) return nullptr;
    if (leaf.conversion == Conversion::DecimalBytes && bytes.empty()) return nullptr;
    try {
        if (leaf.conversion == Conversion::Float16) {
            const VectorPtr value = converted_bound(leaf, bytes);
            return float_bound(leaf, value->values<float>()[0], lower);
        }
        if (leaf.conversion != Conversion::None) return converted_bound(leaf, bytes);
    } catch (const Error&) {
        return nullptr;
    }
    if (variable) return make_string_value(leaf.type, bytes);
    if (leaf.physical == PhysicalType::Float || leaf.physical == PhysicalType::Double) {
        if (leaf.physical == PhysicalType::Float) {
            float value;
            std::memcpy(&value, bytes.data(), sizeof value);
            return float_bound(leaf, value, lower);
        }
        double value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return float_bound(leaf, value, lower);
    }
    auto value = Buffer::allocate(bytes.size());
    std::memcpy(value->mutable_data(), bytes.data(), bytes.size());
    if (leaf.physical == PhysicalType::Boolean) value->mutable_data()[0] &= 1;
    return Vector::flat(leaf.type, 1, std::move(value));
}

bool order_is_known(const Leaf& leaf, ColumnOrder order) {
    if (!leaf.ordered) return false;
    if (order == ColumnOrder::TypeDefined) return true;
    return order == ColumnOrder::Ieee754Total &&
           (leaf.physical == PhysicalType::Float || leaf.physical == PhysicalType::Double ||
            leaf.conversion == Conversion::Float16);
}

namespace {

/// A NaN among the bounds means that its writer compared NaNs: then neither bound says anything.
void set_bounds(const Leaf& leaf, std::optional<std::string_view> min, std::optional<std::string_view> max,
                bool min_exact, bool max_exact, ValueStatistics& out) {
    if (min) out.min = decode_bound(leaf, *min, true);
    if (max) out.max = decode_bound(leaf, *max, false);
    if (is_float(leaf.type->id())) {
        if ((min && !out.min) || (max && !out.max)) out.min = out.max = nullptr;
        const bool no_nan = out.nan_count == uint64_t{0};
        min_exact &= no_nan && !is_zero(out.min);
        max_exact &= no_nan && !is_zero(out.max);
    }
    out.min_exact = out.min && min_exact;
    out.max_exact = out.max && max_exact;
}

}  // namespace

ValueStatistics chunk_statistics(const Leaf& leaf, const ColumnChunk& chunk, ColumnOrder order) {
    ValueStatistics out;
    out.values = static_cast<uint64_t>(chunk.values);
    if (chunk.encrypted) return out;
    const Statistics& from = chunk.statistics;
    if (from.null_count && *from.null_count <= chunk.values) out.null_count = static_cast<uint64_t>(*from.null_count);
    if (from.nan_count && *from.nan_count <= chunk.values) out.nan_count = static_cast<uint64_t>(*from.nan_count);
    if (order_is_known(leaf, order)) {
        // Only strings are ever truncated; what does not say so may be.
        const bool whole = leaf.physical != PhysicalType::ByteArray || leaf.conversion != Conversion::None;
        set_bounds(leaf, from.min, from.max, from.min_exact.value_or(whole), from.max_exact.value_or(whole), out);
    } else if (leaf.ordered && !leaf.is_unsigned && leaf.physical != PhysicalType::FixedLenByteArray &&
               leaf.physical != PhysicalType::ByteArray) {
        // The old fields, compared as signed values by whoever wrote them.
        set_bounds(leaf, from.deprecated_min, from.deprecated_max, true, true, out);
    }
    return out;
}

void page_bounds(const Leaf& leaf, const ColumnIndex& index, size_t page, bool ordered, PageRange& out) {
    ValueStatistics& statistics = out.statistics;
    statistics.values = out.rows;
    if (!index.null_counts.empty() && index.null_counts[page] >= 0)
        statistics.null_count = static_cast<uint64_t>(index.null_counts[page]);
    if (page < index.nan_counts.size() && index.nan_counts[page] >= 0)
        statistics.nan_count = static_cast<uint64_t>(index.nan_counts[page]);
    if (index.null_pages[page])
        statistics.null_count = out.rows;
    else if (ordered)
        set_bounds(leaf, index.min[page], index.max[page], false, false, statistics);
}

}  // namespace firn::file::pq