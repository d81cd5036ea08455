#include "firn/table/runtime_filters.h"

#include <algorithm>
#include <cmath>

#include "firn/table/unit_pruning.h"
#include "firn/vector/row_ops.h"

namespace firn::table {
namespace {

/// Whether `range` shows that no value can pass.
bool range_fails(const plan::RuntimeFilter::Content& content, const iceberg::ValueRange& range,
                 const iceberg::Type& type) {
    if (content.empty) return true;
    if (content.keep_nulls && (range.may_be_null || range.may_be_nan)) return false;
    if (!range.may_be_value && !range.may_be_nan) return true;
    if (!range.may_be_value) return false;
    const auto bound = [&](const VectorPtr& value) { return value ? datum_of(*value, 0, type) : std::nullopt; };
    const auto least = bound(content.min), greatest = bound(content.max);
    const bool floats = type.kind == iceberg::TypeKind::Float || type.kind == iceberg::TypeKind::Double;
    if (floats && range.may_be_nan) return false;
    if (least && !least->is_null() && range.upper &&
        iceberg::compare_sql(*range.upper, *least) == std::partial_ordering::less)
        return true;
    return greatest && !greatest->is_null() && range.lower &&
           iceberg::compare_sql(*range.lower, *greatest) == std::partial_ordering::greater;
}

template <typename Range>
bool any_fails(const ScanContext& context, Range&& range_of) {
    for (const auto& filter : context.request.runtime_filters) {
        if (!filter->ready.load(std::memory_order_acquire)) continue;
        const auto content = filter->content();
        const auto* field = context.source->field(context.request.columns[filter->column]);
        if (!content) continue;
        if (content->empty) return true;
        if (!field || !field->type->is_primitive()) continue;
        if (range_fails(*content, range_of(*field, filter->column), *field->type)) return true;
    }
    return false;
}

/// passes(row of the flat base) for each row; of a dictionary's entry once, as long as `entries` is kept.
template <typename Passes>
Selection select_by_base(const VectorPtr& values, std::vector<uint8_t>& entries, Passes&& passes) {
    const size_t rows = values->size();
    Selection out(rows);
    uint32_t* to = out.data();
    size_t n = 0;
    const Decoded decoded(values);
    if (values->encoding() == Encoding::Dictionary) {
        const uint32_t* codes = values->codes();
        if (entries.size() <= rows) {  // all at once, so that the rows' loop need not ask
            for (size_t code = 0; code < entries.size(); ++code)
                if (entries[code] > 1) entries[code] = passes(code);
            for (size_t i = 0; i < rows; ++i) {
                to[n] = static_cast<uint32_t>(i);
                n += entries[codes[i]];
            }
        } else {
            for (size_t i = 0; i < rows; ++i) {
                uint8_t& entry = entries[codes[i]];
                if (entry > 1) entry = passes(codes[i]);
                to[n] = static_cast<uint32_t>(i);
                n += entry;
            }
        }
    } else if (decoded.is_identity()) {
        for (size_t i = 0; i < rows; ++i) {
            to[n] = static_cast<uint32_t>(i);
            n += passes(i);
        }
    } else {
        for (size_t i = 0; i < rows; ++i) {
            to[n] = static_cast<uint32_t>(i);
            n += passes(decoded[i]);
        }
    }
    out.resize(n);
    return out;
}

/// Integers by the bits of those that occur, without a branch a row.
template <typename T>
Selection select_occurring(const plan::RuntimeFilter::Content& content, const VectorPtr& values, const Vector& base,
                           std::vector<uint8_t>& entries) {
    const T* data = base.values<T>();
    const uint8_t* nulls = base.nulls();
    const auto least = static_cast<uint64_t>(content.min->flat_base().values<T>()[0]);
    const uint64_t range = static_cast<uint64_t>(content.max->flat_base().values<T>()[0]) - least;
    const uint64_t* bits = content.occurring->data();
    const auto occurs = [=](size_t row) -> uint8_t {
        const uint64_t at = static_cast<uint64_t>(data[row]) - least;
        const uint64_t inside = std::min(at, range);
        return static_cast<uint8_t>((bits[inside / 64] >> (inside % 64)) & (at <= range));
    };
    if (!nulls) return select_by_base(values, entries, occurs);
    const uint8_t keep_nulls = content.keep_nulls;
    return select_by_base(values, entries, [=](size_t row) -> uint8_t {
        const auto null = static_cast<uint8_t>(-nulls[row]);
        return static_cast<uint8_t>((occurs(row) & ~null) | (keep_nulls & null));
    });
}

}  // namespace

bool file_fails_runtime_filters(const ScanContext& context, const iceberg::PlannedFile& planned) {
    return any_fails(context, [&](const iceberg::NestedField& field, size_t) {
        return iceberg::known_range(planned.file, planned.spec, *context.source->choice().schema, field.id);
    });
}

bool unit_fails_runtime_filters(const ScanContext& context, const OpenedFile& file, size_t unit) {
    return any_fails(context, [&](const iceberg::NestedField& field, size_t column) {
        const auto& read = file.columns[column];
        if (read.source < 0) return iceberg::ValueRange{};
        return range_of_statistics(file.file->unit_statistics(unit, read.source), read.type, field);
    });
}

Selection RuntimeFilterTest::passing_rows(const std::shared_ptr<const plan::RuntimeFilter::Content>& wanted,
                                          const VectorPtr& values) {
    if (wanted->empty) return {};
    const plan::RuntimeFilter::Content& content = *wanted;
    const Vector& base = values->flat_base();
    if (values->encoding() == Encoding::Dictionary && (base_ != values->base() || content_ != wanted)) {
        base_ = values->base();
        entries_.assign(base.size(), 2);
    }
    content_ = wanted;
    const uint8_t* nulls = base.nulls();
    const auto in_bloom = [&](const auto& value) {
        return !content.bloom || plan::bloom_might_contain(*content.bloom, hash_value(value));
    };
    Selection out;
    const bool fixed = dispatch_fixed(base.type()->physical(), [&]<typename T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
            if (content.occurring) {
                out = select_occurring<T>(content, values, base, entries_);
                return;
            }
        }
        const T* data = base.values<T>();
        const T* least = content.min ? content.min->flat_base().values<T>() : nullptr;
        const T* greatest = content.max ? content.max->flat_base().values<T>() : nullptr;
        out = select_by_base(values, entries_, [&](size_t row) {
            if (nulls && nulls[row]) return content.keep_nulls;
            if constexpr (std::is_floating_point_v<T>)
                if (std::isnan(data[row])) return content.keep_nulls || (!least && !greatest);
            return !(least && data[row] < *least) && !(greatest && *greatest < data[row]) && in_bloom(data[row]);
        });
    });
    if (fixed) return out;
    const StringRef* texts = base.type()->physical() == Physical::Str ? base.values<StringRef>() : nullptr;
    return select_by_base(values, entries_, [&](size_t row) {
        if (nulls && nulls[row]) return content.keep_nulls;
        if (content.min && compare_values(base, row, *content.min, 0) < 0) return false;
        if (content.max && compare_values(base, row, *content.max, 0) > 0) return false;
        return !texts || in_bloom(texts[row]);
    });
}

}  // namespace firn::table
