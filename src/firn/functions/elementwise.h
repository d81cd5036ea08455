// Loops over the rows of vectors that a kernel gets (Flat or Constant, without NULL), and the columns that they fill.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "firn/functions/function.h"
#include "firn/vector/vector.h"

namespace firn::functions {

/// Read access to a Flat or Constant vector of fixed-width values or StringRefs.
template <typename T>
class Reader {
public:
    explicit Reader(const VectorPtr& vector)
        : values_(vector->flat_base().values<T>()), constant_(vector->is_constant()) {}
    const T& operator[](size_t row) const { return values_[constant_ ? 0 : row]; }
    const T* data() const { return values_; }
    bool is_constant() const { return constant_; }

private:
    const T* values_;
    bool constant_;
};

/// A flat column of fixed width being filled.
template <typename T>
class Output {
public:
    explicit Output(size_t rows)
        : buffer_(Buffer::allocate(rows * sizeof(T))), data_(buffer_->template mutable_as<T>()), rows_(rows) {}
    T& operator[](size_t row) { return data_[row]; }
    T* data() { return data_; }
    VectorPtr finish(TypePtr type, BufferPtr nulls = nullptr) {
        return Vector::flat(std::move(type), rows_, std::move(buffer_), std::move(nulls));
    }

private:
    MutableBufferPtr buffer_;
    T* data_;
    size_t rows_;
};

/// A flat column of strings being filled, with storage for their bytes.
class StringOutput {
public:
    explicit StringOutput(size_t rows) : refs_(rows), arena_(std::make_shared<Arena>()) {}
    /// Copies the bytes.
    void set(size_t row, std::string_view bytes) {
        refs_[row] = StringRef(arena_->copy(bytes.data(), bytes.size()), bytes.size());
    }
    /// The bytes are kept alive by the arena or by `keep`.
    void set_view(size_t row, std::string_view bytes) { refs_[row] = StringRef(bytes); }
    /// Room for the bytes of a row, to be filled before set_view().
    char* allocate(size_t bytes) { return arena_->allocate(bytes, 1); }
    /// Results may be views of the strings of this vector.
    void keep(const VectorPtr& source) { owners_.push_back(source); }
    VectorPtr finish(TypePtr type, BufferPtr nulls = nullptr) {
        owners_.push_back(std::move(arena_));
        return refs_.finish_with(std::move(type), std::move(nulls), std::move(owners_));
    }

private:
    struct Refs {
        explicit Refs(size_t rows) : buffer(Buffer::allocate(rows * sizeof(StringRef))), size(rows) {}
        StringRef& operator[](size_t row) { return buffer->mutable_as<StringRef>()[row]; }
        VectorPtr finish_with(TypePtr type, BufferPtr nulls, Owners owners) {
            return Vector::flat(std::move(type), size, std::move(buffer), std::move(nulls), std::move(owners));
        }
        MutableBufferPtr buffer;
        size_t size;
    };
    Refs refs_;
    std::shared_ptr<Arena> arena_;
    Owners owners_;
};

/// result[i] = f(a[i])
template <typename A, typename R, typename F>
VectorPtr map_unary(const VectorPtr& a, size_t rows, TypePtr type, F f) {
    Output<R> out(rows);
    R* to = out.data();
    const A* x = a->flat_base().values<A>();
    if (a->is_constant()) {
        for (size_t i = 0; i < rows; ++i) to[i] = f(x[0]);
    } else {
        for (size_t i = 0; i < rows; ++i) to[i] = f(x[i]);
    }
    return out.finish(std::move(type));
}

/// result[i] = f(a[i], b[i])
template <typename A, typename B, typename R, typename F>
VectorPtr map_binary(const VectorPtr& a, const VectorPtr& b, size_t rows, TypePtr type, F f) {
    Output<R> out(rows);
    R* to = out.data();
    const A* x = a->flat_base().values<A>();
    const B* y = b->flat_base().values<B>();
    if (b->is_constant()) {
        const B right = y[0];
        if (a->is_constant()) {
            for (size_t i = 0; i < rows; ++i) to[i] = f(x[0], right);
        } else {
            for (size_t i = 0; i < rows; ++i) to[i] = f(x[i], right);
        }
    } else if (a->is_constant()) {
        const A left = x[0];
        for (size_t i = 0; i < rows; ++i) to[i] = f(left, y[i]);
    } else {
        for (size_t i = 0; i < rows; ++i) to[i] = f(x[i], y[i]);
    }
    return out.finish(std::move(type));
}

}  // namespace firn::functions
