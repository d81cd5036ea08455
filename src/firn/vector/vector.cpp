#include "firn/vector/vector.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/vector/builder.h"

namespace firn {

VectorPtr Vector::flat(TypePtr type, size_t size, BufferPtr values, BufferPtr nulls, Owners owners) {
    std::shared_ptr<Vector> vector(new Vector());
    vector->type_ = std::move(type);
    vector->size_ = size;
    vector->values_ = std::move(values);
    vector->nulls_ = std::move(nulls);
    vector->owners_ = std::move(owners);
    return vector;
}

VectorPtr Vector::array(TypePtr type, size_t size, BufferPtr offsets, VectorPtr elements) {
    std::shared_ptr<Vector> vector(new Vector());
    vector->type_ = std::move(type);
    vector->size_ = size;
    vector->offsets_ = std::move(offsets);
    vector->children_.push_back(std::move(elements));
    return vector;
}

VectorPtr Vector::tuple(TypePtr type, size_t size, std::vector<VectorPtr> elements) {
    std::shared_ptr<Vector> vector(new Vector());
    vector->type_ = std::move(type);
    vector->size_ = size;
    vector->children_ = std::move(elements);
    return vector;
}

VectorPtr Vector::defaults(TypePtr type, size_t size) {
    VectorBuilder builder(type);
    builder.append_default();
    return constant(builder.finish(), size);
}

VectorPtr Vector::constant(VectorPtr base, size_t size) {
    if (base->is_constant()) base = base->base();
    if (!base->is_flat()) base = flatten(slice(base, 0, 1));
    if (base->size() != 1) base = slice(base, 0, 1);
    std::shared_ptr<Vector> vector(new Vector());
    vector->type_ = base->type();
    vector->size_ = size;
    vector->encoding_ = Encoding::Constant;
    vector->base_ = std::move(base);
    return vector;
}

VectorPtr Vector::dictionary(VectorPtr base, size_t size, BufferPtr codes) {
    std::shared_ptr<Vector> vector(new Vector());
    vector->type_ = base->type();
    vector->size_ = size;
    vector->encoding_ = Encoding::Dictionary;
    vector->values_ = std::move(codes);
    vector->base_ = std::move(base);
    return vector;
}

VectorPtr Vector::run_length(VectorPtr base, size_t size, BufferPtr ends) {
    std::shared_ptr<Vector> vector(new Vector());
    vector->type_ = base->type();
    vector->size_ = size;
    vector->encoding_ = Encoding::RunLength;
    vector->values_ = std::move(ends);
    vector->base_ = std::move(base);
    return vector;
}

size_t Vector::base_row(size_t row) const {
    switch (encoding_) {
        case Encoding::Flat:
            return row;
        case Encoding::Constant:
            return 0;
        case Encoding::Dictionary:
            return codes()[row];
        case Encoding::RunLength: {
            const uint32_t* ends = run_ends();
            return static_cast<size_t>(std::upper_bound(ends, ends + base_->size(), static_cast<uint32_t>(row)) - ends);
        }
    }
    return row;
}

bool Vector::is_null(size_t row) const {
    const Vector& base = flat_base();
    return base.nulls_ && base.nulls()[base_row(row)];
}

size_t Vector::allocated_bytes() const {
    size_t bytes = sizeof(Vector);
    for (const auto& buffer : {values_, nulls_, offsets_})
        if (buffer) bytes += buffer->size();
    if (is_flat() && type_->physical() == Physical::Str && values_)
        for (size_t i = 0; i < size_; ++i) bytes += values<StringRef>()[i].size;
    for (const auto& child : children_) bytes += child->allocated_bytes();
    if (base_) bytes += base_->allocated_bytes();
    return bytes;
}

VectorPtr Vector::with_type(TypePtr type) const {
    std::shared_ptr<Vector> vector(new Vector(*this));
    if (base_)
        vector->base_ = base_->with_type(type);
    else if (nulls_ && !accepts_null(*type))
        vector->nulls_ = nullptr;
    vector->type_ = std::move(type);
    return vector;
}

VectorPtr Vector::with_nulls(TypePtr type, BufferPtr nulls) const {
    std::shared_ptr<Vector> vector(new Vector(*this));
    vector->type_ = std::move(type);
    vector->nulls_ = std::move(nulls);
    return vector;
}

Decoded::Decoded(VectorPtr vector) : vector_(std::move(vector)) {
    switch (vector_->encoding()) {
        case Encoding::Flat:
            flat_ = vector_;
            break;
        case Encoding::Constant:
            flat_ = vector_->base();
            constant_ = true;
            break;
        case Encoding::Dictionary:
            flat_ = vector_->base();
            index_ = vector_->codes();
            break;
        case Encoding::RunLength: {
            flat_ = vector_->base();
            auto index = Buffer::allocate(vector_->size() * sizeof(uint32_t));
            uint32_t* out = index->mutable_as<uint32_t>();
            const uint32_t* ends = vector_->run_ends();
            for (uint32_t run = 0, row = 0; run < flat_->size(); ++run)
                for (; row < ends[run]; ++row) out[row] = run;
            index_buffer_ = std::move(index);
            index_ = index_buffer_->as<uint32_t>();
            break;
        }
    }
    nulls_ = flat_->nulls();
}

Selection selected_rows(const VectorPtr& filter) {
    Selection rows;
    const Decoded decoded(filter);
    const size_t size = filter->size();
    const auto pick = [&](auto&& passes) {
        if (decoded.is_constant()) {
            if (size && passes(0)) {
                rows.resize(size);
                for (size_t i = 0; i < size; ++i) rows[i] = static_cast<uint32_t>(i);
            }
            return;
        }
        rows.resize(size);
        size_t n = 0;
        for (size_t i = 0; i < size; ++i) {
            rows[n] = static_cast<uint32_t>(i);
            n += passes(i) ? 1 : 0;
        }
        rows.resize(n);
    };
    const uint8_t* nulls = decoded.nulls();
    const bool fixed = dispatch_fixed(decoded.flat().type()->physical(), [&]<typename T>() {
        const T* values = decoded.values<T>();
        const T zero{};
        if (nulls)
            pick([&](size_t i) {
                const size_t row = decoded[i];
                return !nulls[row] && values[row] != zero;
            });
        else if (decoded.is_identity())
            pick([&](size_t i) { return values[i] != zero; });
        else
            pick([&](size_t i) { return values[decoded[i]] != zero; });
    });
    if (!fixed && unwrap(filter->type())->id() != TypeId::Nothing)
        fail(ErrorCode::ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER,
             "Illegal type {} of a filter. Must be UInt8 or Nullable(UInt8)", filter->type()->name());
    return rows;
}

Batch Batch::select(std::span<const uint32_t> selected) const {
    if (selected.size() == rows) return *this;
    Batch out;
    out.rows = selected.size();
    out.columns.reserve(columns.size());
    for (const auto& column : columns) out.columns.push_back(gather(column, selected));
    return out;
}

Batch Batch::cut(size_t offset, size_t size) const {
    if (offset == 0 && size == rows) return *this;
    Batch out;
    out.rows = size;
    out.columns.reserve(columns.size());
    for (const auto& column : columns) out.columns.push_back(slice(column, offset, size));
    return out;
}

size_t Batch::allocated_bytes() const {
    size_t bytes = 0;
    for (const auto& column : columns) bytes += column->allocated_bytes();
    return bytes;
}

}  // namespace firn
