// gather, slice, concat, flatten: vectors made of rows of other vectors.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/vector/builder.h"
#include "firn/vector/gather_words.h"
#include "firn/vector/row_ops.h"
#include "firn/vector/vector.h"

namespace firn {
namespace {

constexpr size_t kWordsOfGather = 4;

template <typename T>
void gather_fixed(const char* source, std::span<const uint32_t> rows, char* target) {
    const T* from = reinterpret_cast<const T*>(source);
    T* to = reinterpret_cast<T*>(target);
    for (size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
}

struct Wide {
    uint64_t words[kWordsOfGather];
};

void gather_bytes(const Buffer& buffer, size_t width, std::span<const uint32_t> rows, char* target) {
    const char* const source = buffer.data();
    switch (width) {
        case 1:
            return gather_fixed<uint8_t>(source, rows, target);
        case 2:
            return gather_fixed<uint16_t>(source, rows, target);
        case 4:
            return gather_fixed<uint32_t>(source, rows, target);
        case 8:
            return gather_words({buffer.as<uint64_t>(), buffer.size() / sizeof(uint64_t)}, rows,
                                reinterpret_cast<uint64_t*>(target));
        case 16:
            return gather_fixed<UInt128>(source, rows, target);
        case 32:
            return gather_fixed<Wide>(source, rows, target);
        default:
            fail(ErrorCode::LOGICAL_ERROR, "No value is {} bytes wide", width);
    }
}

BufferPtr gather_buffer(const BufferPtr& source, size_t width, std::span<const uint32_t> rows) {
    if (!source) return nullptr;
    auto out = Buffer::allocate(rows.size() * width);
    gather_bytes(*source, width, rows, out->mutable_data());
    return out;
}

BufferPtr slice_buffer(const BufferPtr& source, size_t width, size_t offset, size_t size) {
    if (!source) return nullptr;
    if (width == 0) return source;
    return Buffer::wrap(source->data() + offset * width, size * width, source);
}

VectorPtr gather_array(const VectorPtr& vector, std::span<const uint32_t> rows) {
    const int64_t* offsets = vector->offsets();
    auto out = Buffer::allocate((rows.size() + 1) * sizeof(int64_t));
    int64_t* out_offsets = out->mutable_as<int64_t>();
    int64_t total = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        out_offsets[i] = total;
        total += offsets[rows[i] + 1] - offsets[rows[i]];
    }
    out_offsets[rows.size()] = total;
    std::vector<uint32_t> elements;
    elements.reserve(static_cast<size_t>(total));
    for (uint32_t row : rows)
        for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at) elements.push_back(static_cast<uint32_t>(at));
    return Vector::array(vector->type(), rows.size(), std::move(out), gather(vector->child(), elements));
}

VectorPtr gather_flat(const VectorPtr& vector, std::span<const uint32_t> rows) {
    switch (vector->type()->physical()) {
        case Physical::Array:
            return gather_array(vector, rows);
        case Physical::Tuple: {
            std::vector<VectorPtr> children;
            for (const auto& child : vector->children()) children.push_back(gather(child, rows));
            return Vector::tuple(vector->type(), rows.size(), std::move(children));
        }
        default: {
            const size_t width = vector->type()->value_size();
            return Vector::flat(vector->type(), rows.size(),
                                width ? gather_buffer(vector->values_buffer(), width, rows) : Buffer::allocate(0),
                                gather_buffer(vector->nulls_buffer(), 1, rows), vector->owners());
        }
    }
}

VectorPtr slice_flat(const VectorPtr& vector, size_t offset, size_t size) {
    switch (vector->type()->physical()) {
        case Physical::Array:
            return Vector::array(vector->type(), size,
                                 slice_buffer(vector->offsets_buffer(), sizeof(int64_t), offset, size + 1),
                                 vector->child());
        case Physical::Tuple: {
            std::vector<VectorPtr> children;
            for (const auto& child : vector->children()) children.push_back(slice(child, offset, size));
            return Vector::tuple(vector->type(), size, std::move(children));
        }
        default:
            return Vector::flat(vector->type(), size,
                                slice_buffer(vector->values_buffer(), vector->type()->value_size(), offset, size),
                                slice_buffer(vector->nulls_buffer(), 1, offset, size), vector->owners());
    }
}

/// Runs are cut to those that the rows [offset, offset + size) touch.
VectorPtr slice_runs(const VectorPtr& vector, size_t offset, size_t size) {
    const size_t first = vector->base_row(offset);
    const size_t last = vector->base_row(offset + size - 1);
    auto ends = Buffer::allocate((last - first + 1) * sizeof(uint32_t));
    for (size_t run = first; run <= last; ++run)
        ends->mutable_as<uint32_t>()[run - first] =
            static_cast<uint32_t>(std::min<size_t>(vector->run_ends()[run] - offset, size));
    return Vector::run_length(slice(vector->base(), first, last - first + 1), size, std::move(ends));
}

VectorPtr gather_decoded(const VectorPtr& vector, std::span<const uint32_t> rows) {
    const Decoded decoded(vector);
    auto codes = Buffer::allocate(rows.size() * sizeof(uint32_t));
    for (size_t i = 0; i < rows.size(); ++i) codes->mutable_as<uint32_t>()[i] = static_cast<uint32_t>(decoded[rows[i]]);
    return Vector::dictionary(vector->base(), rows.size(), std::move(codes));
}

bool shares_dictionary(std::span<const VectorPtr> vectors) {
    return std::all_of(vectors.begin(), vectors.end(), [&](const VectorPtr& vector) {
        return vector->encoding() == Encoding::Dictionary && vector->base() == vectors[0]->base();
    });
}

template <typename T>
void copy_values(const Decoded& from, T* to) {
    const T* values = from.values<T>();
    if (from.is_identity())
        std::copy_n(values, from.size(), to);
    else
        for (size_t i = 0; i < from.size(); ++i) to[i] = values[from[i]];
}

/// Values of types that are not nested, each copied once, whatever the vectors' encodings.
VectorPtr concat_values(const TypePtr& type, std::span<const VectorPtr> vectors, size_t rows) {
    auto values = Buffer::allocate(rows * type->value_size());
    MutableBufferPtr nulls;
    Owners owners;
    size_t at = 0;
    for (const auto& vector : vectors) {
        if (vector->size() == 0) continue;
        const Decoded part(vector);
        if (type->physical() == Physical::Str)
            copy_values(part, values->mutable_as<StringRef>() + at);
        else
            dispatch_fixed(type->physical(), [&]<typename T>() { copy_values(part, values->mutable_as<T>() + at); });
        for (const auto& owner : part.flat().owners())
            if (owners.empty() || owners.back() != owner) owners.push_back(owner);
        if (part.nulls() && std::memchr(part.nulls(), 1, part.flat().size())) {
            if (!nulls) nulls = Buffer::allocate_zeroed(rows);
            for (size_t i = 0; i < vector->size(); ++i)
                nulls->mutable_data()[at + i] = static_cast<char>(part.nulls()[part[i]]);
        }
        at += vector->size();
    }
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    return Vector::flat(type, rows, std::move(values), std::move(nulls), std::move(owners));
}

VectorPtr concat_arrays(const TypePtr& type, std::span<const VectorPtr> vectors, size_t rows) {
    auto offsets = Buffer::allocate((rows + 1) * sizeof(int64_t));
    int64_t* out = offsets->mutable_as<int64_t>();
    std::vector<VectorPtr> elements;
    int64_t total = 0;
    size_t row = 0;
    for (const auto& vector : vectors) {
        const int64_t* from = vector->offsets();
        const int64_t start = from[0];
        for (size_t i = 0; i < vector->size(); ++i) out[row++] = total + from[i] - start;
        const int64_t length = from[vector->size()] - start;
        elements.push_back(slice(vector->child(), static_cast<size_t>(start), static_cast<size_t>(length)));
        total += length;
    }
    out[rows] = total;
    return Vector::array(type, rows, std::move(offsets), concat(elements[0]->type(), elements));
}

}  // namespace

VectorPtr gather(const VectorPtr& vector, std::span<const uint32_t> rows) {
    switch (vector->encoding()) {
        case Encoding::Flat:
            return gather_flat(vector, rows);
        case Encoding::Constant:
            return Vector::constant(vector->base(), rows.size());
        case Encoding::Dictionary:
            return Vector::dictionary(vector->base(), rows.size(),
                                      gather_buffer(vector->values_buffer(), sizeof(uint32_t), rows));
        case Encoding::RunLength:
            return gather_decoded(vector, rows);
    }
    return vector;
}

VectorPtr gather_or_default(const VectorPtr& vector, std::span<const uint32_t> rows) {
    if (std::find(rows.begin(), rows.end(), kNoRow) == rows.end()) return gather(vector, rows);
    // One more row, the default, behind the vector's; missing rows are that one.
    const VectorPtr source = flatten(vector);
    const std::vector<VectorPtr> parts{source, flatten(Vector::defaults(vector->type(), 1))};
    const auto extended = concat(vector->type(), parts);
    std::vector<uint32_t> indices(rows.begin(), rows.end());
    for (uint32_t& row : indices)
        if (row == kNoRow) row = static_cast<uint32_t>(source->size());
    return gather(extended, indices);
}

VectorPtr slice(const VectorPtr& vector, size_t offset, size_t size) {
    if (offset == 0 && size == vector->size()) return vector;
    switch (vector->encoding()) {
        case Encoding::Flat:
            return slice_flat(vector, offset, size);
        case Encoding::Constant:
            return Vector::constant(vector->base(), size);
        case Encoding::Dictionary:
            return Vector::dictionary(vector->base(), size,
                                      slice_buffer(vector->values_buffer(), sizeof(uint32_t), offset, size));
        case Encoding::RunLength:
            if (size == 0) return Vector::defaults(vector->type(), 0);
            return slice_runs(vector, offset, size);
    }
    return vector;
}

VectorPtr concat(const TypePtr& type, std::span<const VectorPtr> vectors) {
    if (vectors.empty()) return Vector::defaults(type, 0);
    if (vectors.size() == 1) return vectors[0];
    size_t rows = 0;
    for (const auto& vector : vectors) rows += vector->size();
    if (shares_dictionary(vectors)) {
        auto codes = Buffer::allocate(rows * sizeof(uint32_t));
        uint32_t* out = codes->mutable_as<uint32_t>();
        for (const auto& vector : vectors) out = std::copy_n(vector->codes(), vector->size(), out);
        return Vector::dictionary(vectors[0]->base(), rows, std::move(codes));
    }
    const Physical physical = type->physical();
    if (physical != Physical::Array && physical != Physical::Tuple) return concat_values(type, vectors, rows);
    std::vector<VectorPtr> flats;
    flats.reserve(vectors.size());
    for (const auto& vector : vectors) flats.push_back(flatten(vector));
    if (physical == Physical::Array) return concat_arrays(type, flats, rows);
    std::vector<VectorPtr> children;
    for (size_t i = 0; i < flats[0]->children().size(); ++i) {
        std::vector<VectorPtr> parts;
        for (const auto& vector : flats) parts.push_back(vector->child(i));
        children.push_back(concat(parts[0]->type(), parts));
    }
    return Vector::tuple(type, rows, std::move(children));
}

VectorPtr flatten(const VectorPtr& vector) {
    if (vector->encoding() == Encoding::Dictionary) {
        const VectorPtr& base = vector->base();
        const bool drops_nulls = base->nulls() && !may_have_null(*vector);
        return flatten(gather_flat(drops_nulls ? base->with_nulls(base->type(), nullptr) : base,
                                   {vector->codes(), vector->size()}));
    }
    if (!vector->is_flat()) {
        const Decoded decoded(vector);
        std::vector<uint32_t> rows(vector->size());
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint32_t>(decoded[i]);
        return flatten(gather_flat(vector->base(), rows));
    }
    const auto& children = vector->children();
    if (std::all_of(children.begin(), children.end(),
                    [](const VectorPtr& child) { return child->is_flat() && child->children().empty(); }))
        return vector;
    std::vector<VectorPtr> flats;
    for (const auto& child : children) flats.push_back(flatten(child));
    if (vector->type()->physical() == Physical::Array)
        return Vector::array(vector->type(), vector->size(), vector->offsets_buffer(), flats[0]);
    return Vector::tuple(vector->type(), vector->size(), std::move(flats));
}

VectorPtr copy_owned(const VectorPtr& vector) {
    VectorBuilder builder(vector->type());
    builder.reserve(vector->size());
    const Decoded decoded(vector);
    for (size_t i = 0; i < vector->size(); ++i) builder.append_from(decoded.flat(), decoded[i]);
    return builder.finish();
}

}  // namespace firn
