#include "firn/vector/builder.h"

#include "firn/base/error.h"

namespace firn {

VectorBuilder::VectorBuilder(TypePtr type) : type_(std::move(type)), physical_(type_->physical()) {
    const TypePtr inner = unwrap(type_);
    if (physical_ == Physical::Str) arena_ = std::make_shared<Arena>(256);
    if (inner->id() == TypeId::Map) {
        children_.push_back(std::make_unique<VectorBuilder>(make_tuple_type({inner->child(0), inner->child(1)})));
    } else if (physical_ == Physical::Array || physical_ == Physical::Tuple) {
        for (const auto& child : inner->children()) children_.push_back(std::make_unique<VectorBuilder>(child));
    }
    if (physical_ == Physical::Array) offsets_.push_back(0);
}

VectorBuilder::~VectorBuilder() = default;
VectorBuilder::VectorBuilder(VectorBuilder&&) noexcept = default;
VectorBuilder& VectorBuilder::operator=(VectorBuilder&&) noexcept = default;

void VectorBuilder::reserve(size_t rows) {
    values_.reserve(rows * type_->value_size());
    if (physical_ == Physical::Array) offsets_.reserve(rows + 1);
}

char* VectorBuilder::grow(size_t bytes) {
    const size_t at = values_.size();
    values_.resize(at + bytes);
    return values_.data() + at;
}

void VectorBuilder::note_not_null() {
    if (!nulls_.empty()) nulls_.push_back(0);
    ++size_;
}

void VectorBuilder::append_string(std::string_view bytes) {
    append(StringRef(arena_->copy(bytes.data(), bytes.size()), bytes.size()));
}

void VectorBuilder::append_null() {
    if (!accepts_null(*type_))
        fail(ErrorCode::CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, "NULL cannot be stored in {}", type_->name());
    if (nulls_.empty()) nulls_.resize(size_, 0);
    nulls_.push_back(1);
    const size_t width = type_->value_size();
    if (width) std::memset(grow(width), 0, width);
    ++size_;
}

void VectorBuilder::append_default() {
    if (accepts_null(*type_)) return append_null();
    switch (physical_) {
        case Physical::Array:
            return end_array();
        case Physical::Tuple:
            for (auto& child : children_) child->append_default();
            return end_tuple();
        case Physical::Str: {
            const TypePtr inner = unwrap(type_);
            return append_string(std::string(inner->length(), '\0'));
        }
        case Physical::None:
            ++size_;
            return;
        default: {
            const size_t width = type_->value_size();
            char* place = grow(width);
            std::memset(place, 0, width);
            // An enum's default is its least value.
            const TypePtr inner = unwrap(type_);
            if (!inner->enum_values().empty()) {
                const int16_t least = inner->enum_values().front().second;
                std::memcpy(place, &least, width);
            }
            note_not_null();
        }
    }
}

void VectorBuilder::append_from(const Vector& source, size_t row) {
    const Vector& flat = source.flat_base();
    const size_t at = source.base_row(row);
    if (flat.nulls() && flat.nulls()[at]) {
        if (accepts_null(*type_)) return append_null();
        return append_default();
    }
    switch (physical_) {
        case Physical::Str:
            return append_string(flat.values<StringRef>()[at].view());
        case Physical::Array: {
            const int64_t* offsets = flat.offsets();
            for (int64_t i = offsets[at]; i < offsets[at + 1]; ++i)
                children_[0]->append_from(*flat.child(), static_cast<size_t>(i));
            return end_array();
        }
        case Physical::Tuple:
            for (size_t i = 0; i < children_.size(); ++i) children_[i]->append_from(*flat.child(i), at);
            return end_tuple();
        case Physical::None:
            if (accepts_null(*type_)) return append_null();
            ++size_;
            return;
        default: {
            const size_t width = type_->value_size();
            std::memcpy(grow(width), flat.values_buffer()->data() + at * width, width);
            note_not_null();
        }
    }
}

void VectorBuilder::end_array() {
    offsets_.push_back(static_cast<int64_t>(children_[0]->size()));
    ++size_;
}

void VectorBuilder::end_tuple() { ++size_; }

VectorPtr VectorBuilder::finish() {
    const size_t size = size_;
    size_ = 0;
    if (physical_ == Physical::Array) {
        auto offsets = Buffer::allocate(offsets_.size() * sizeof(int64_t));
        std::memcpy(offsets->mutable_data(), offsets_.data(), offsets_.size() * sizeof(int64_t));
        offsets_.assign(1, 0);
        return Vector::array(type_, size, std::move(offsets), children_[0]->finish());
    }
    if (physical_ == Physical::Tuple) {
        std::vector<VectorPtr> elements;
        for (auto& child : children_) elements.push_back(child->finish());
        return Vector::tuple(type_, size, std::move(elements));
    }
    auto values = Buffer::allocate(values_.size());
    if (!values_.empty()) std::memcpy(values->mutable_data(), values_.data(), values_.size());
    values_.clear();
    MutableBufferPtr nulls;
    if (!nulls_.empty()) {
        nulls = Buffer::allocate(nulls_.size());
        std::memcpy(nulls->mutable_data(), nulls_.data(), nulls_.size());
        nulls_.clear();
    }
    Owners owners;
    if (arena_) {
        owners.push_back(arena_);
        arena_ = std::make_shared<Arena>(256);
    }
    return Vector::flat(type_, size, std::move(values), std::move(nulls), std::move(owners));
}

VectorPtr make_string_value(TypePtr type, std::string_view bytes) {
    VectorBuilder builder(std::move(type));
    builder.append_string(bytes);
    return builder.finish();
}

VectorPtr make_null_value(TypePtr type) {
    VectorBuilder builder(std::move(type));
    builder.append_null();
    return builder.finish();
}

VectorPtr make_string_vector(TypePtr type, const std::vector<std::string>& values) {
    VectorBuilder builder(std::move(type));
    for (const auto& value : values) builder.append_string(value);
    return builder.finish();
}

}  // namespace firn
