// Builders: rows appended one by one into a flat vector. For kernels whose output size is known, fill a Buffer instead.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "firn/vector/vector.h"

namespace firn {

/// Builds a flat vector of any type. Not thread-safe. Strings are copied into storage of the result's own.
class VectorBuilder {
public:
    explicit VectorBuilder(TypePtr type);
    ~VectorBuilder();
    VectorBuilder(VectorBuilder&&) noexcept;
    VectorBuilder& operator=(VectorBuilder&&) noexcept;

    const TypePtr& type() const noexcept { return type_; }
    size_t size() const noexcept { return size_; }
    void reserve(size_t rows);

    /// T must be the C++ type of the type's Physical.
    template <typename T>
    void append(T value) {
        std::memcpy(grow(sizeof(T)), &value, sizeof(T));
        note_not_null();
    }
    void append_string(std::string_view bytes);
    /// NULL; the type must accept it.
    void append_null();
    /// The type's default value (NULL for Nullable).
    void append_default();
    /// Row `row` of a vector of the same Physical layout; a NULL becomes a default where the type does not accept NULL.
    void append_from(const Vector& source, size_t row);
    /// Array and Map: call begin-less: append elements to element(), then end_array() closes the row.
    void end_array();
    VectorBuilder& element(size_t i = 0) { return *children_[i]; }
    /// Tuple: append one row to each element(i), then end_tuple().
    void end_tuple();

    /// The vector of all rows so far; the builder is empty afterwards.
    VectorPtr finish();

private:
    char* grow(size_t bytes);
    void note_not_null();
    TypePtr type_;
    Physical physical_;
    size_t size_ = 0;
    TrackedVector<char> values_;
    TrackedVector<uint8_t> nulls_;  // empty while no NULL was appended
    TrackedVector<int64_t> offsets_;
    std::shared_ptr<Arena> arena_;
    std::vector<std::unique_ptr<VectorBuilder>> children_;
};

/// A vector of one row.
template <typename T>
VectorPtr make_value(TypePtr type, T value) {
    VectorBuilder builder(std::move(type));
    builder.append<T>(value);
    return builder.finish();
}
VectorPtr make_string_value(TypePtr type, std::string_view bytes);
VectorPtr make_null_value(TypePtr type);
/// Fixed-width flat vector from a C++ range.
template <typename T>
VectorPtr make_vector(TypePtr type, const std::vector<T>& values) {
    auto buffer = Buffer::allocate(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(buffer->mutable_data(), values.data(), values.size() * sizeof(T));
    return Vector::flat(std::move(type), values.size(), std::move(buffer));
}
VectorPtr make_string_vector(TypePtr type, const std::vector<std::string>& values);

}  // namespace firn
