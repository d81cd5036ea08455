// Vectors: a column's values for the rows of a batch, in one of four encodings.
//
//   Flat        one value a row, as the type's Physical says, plus null flags
//   Constant    one value for all rows                                  base: flat, 1 row
//   Dictionary  a code a row into distinct-ish values                   base: flat, any number of rows (≥1 if size > 0)
//   RunLength   values that stand for runs of rows                      base: flat, one row a run
//
// The last three say which row of `base` (always Flat, and of the same type) each row is: nulls live in flat vectors
// only. A dictionary may hold a NULL entry, equal entries and entries that no row uses. Vectors are immutable once
// shared. Encoding never shows in the SQL type.
//
// Flat layouts: fixed-width physical types: `values<T>()`, size() of them. Str: `values<StringRef>()`, whose bytes
// `owners()` keep alive. Array (Map too): `offsets()`, size()+1 ascending from any start into child(0); a Map's child is a
// Tuple of key and value. Tuple: children of size() rows each. Physical::None: no values, `nulls()` all 1 for
// Nullable(Nothing). `nulls()`: null, or one byte a row, 1 = NULL; only vectors of Nullable (or LowCardinality(Nullable))
// type have it. The value under a NULL is set (the type's default, as far as kernels may rely on it not trapping).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "firn/base/memory.h"
#include "firn/types/data_type.h"
#include "firn/vector/string_ref.h"

namespace firn {

enum class Encoding : uint8_t { Flat, Constant, Dictionary, RunLength };

class Vector;
using VectorPtr = std::shared_ptr<const Vector>;
using Owners = std::vector<std::shared_ptr<const void>>;

class Vector {
public:
    // Makers of flat vectors. nulls may be null (no NULLs); buffers hold at least what `size` rows need.
    static VectorPtr flat(TypePtr type, size_t size, BufferPtr values, BufferPtr nulls = nullptr, Owners owners = {});
    /// offsets: int64, size + 1.
    static VectorPtr array(TypePtr type, size_t size, BufferPtr offsets, VectorPtr elements);
    static VectorPtr tuple(TypePtr type, size_t size, std::vector<VectorPtr> elements);
    /// All rows NULL (type accepts_null) or the type's default value.
    static VectorPtr defaults(TypePtr type, size_t size);
    // Makers of encoded vectors.
    /// base: any encoding, its row 0 is used (flattened when needed).
    static VectorPtr constant(VectorPtr base, size_t size);
    /// codes: uint32, each < base->size(); base must be Flat. Checked in debug builds only.
    static VectorPtr dictionary(VectorPtr base, size_t size, BufferPtr codes);
    /// ends: uint32, one a run, ascending, last == size; base Flat with one row a run.
    static VectorPtr run_length(VectorPtr base, size_t size, BufferPtr ends);

    const TypePtr& type() const noexcept { return type_; }
    size_t size() const noexcept { return size_; }
    Encoding encoding() const noexcept { return encoding_; }
    bool is_flat() const noexcept { return encoding_ == Encoding::Flat; }
    bool is_constant() const noexcept { return encoding_ == Encoding::Constant; }

    // Flat only.
    template <typename T>
    const T* values() const {
        return values_->as<T>();
    }
    const BufferPtr& values_buffer() const noexcept { return values_; }
    const uint8_t* nulls() const { return nulls_ ? nulls_->as<uint8_t>() : nullptr; }
    const BufferPtr& nulls_buffer() const noexcept { return nulls_; }
    const int64_t* offsets() const { return offsets_->as<int64_t>(); }
    const BufferPtr& offsets_buffer() const noexcept { return offsets_; }
    const std::vector<VectorPtr>& children() const noexcept { return children_; }
    const VectorPtr& child(size_t i = 0) const { return children_[i]; }
    const Owners& owners() const noexcept { return owners_; }

    // Encoded only.
    const VectorPtr& base() const noexcept { return base_; }
    const uint32_t* codes() const { return values_->as<uint32_t>(); }     // Dictionary
    const uint32_t* run_ends() const { return values_->as<uint32_t>(); }  // RunLength

    /// Whether row is NULL; any encoding (slow for RunLength: a search).
    bool is_null(size_t row) const;
    /// The row of the flat vector that holds row's value: row itself for Flat.
    size_t base_row(size_t row) const;
    /// The flat vector that base_row counts in: this for Flat.
    const Vector& flat_base() const noexcept { return base_ ? *base_ : *this; }

    /// Bytes held, shared ones counted in full.
    size_t allocated_bytes() const;
    /// The same rows under another type of the same Physical layout (LowCardinality(T) as T, Nullable(T) of no NULLs as T).
    VectorPtr with_type(TypePtr type) const;
    /// The same rows, flat only, with other null flags (null = none) and type.
    VectorPtr with_nulls(TypePtr type, BufferPtr nulls) const;

private:
    Vector() = default;
    TypePtr type_;
    size_t size_ = 0;
    Encoding encoding_ = Encoding::Flat;
    BufferPtr values_;  // values, codes or run ends
    BufferPtr nulls_;
    BufferPtr offsets_;
    std::vector<VectorPtr> children_;
    Owners owners_;
    VectorPtr base_;
};

/// Any encoding as a flat vector and an index into it, the way for a kernel to read a vector without flattening it.
/// Keeps what it needs alive.
class Decoded {
public:
    explicit Decoded(VectorPtr vector);

    /// Row in flat() of row i.
    size_t operator[](size_t i) const { return index_ ? index_[i] : (constant_ ? 0 : i); }
    const Vector& flat() const { return *flat_; }
    template <typename T>
    const T* values() const {
        return flat_->values<T>();
    }
    template <typename T>
    const T& value(size_t i) const {
        return flat_->values<T>()[(*this)[i]];
    }
    bool is_null(size_t i) const { return nulls_ && nulls_[(*this)[i]]; }
    const uint8_t* nulls() const { return nulls_; }  // of flat()
    bool is_constant() const { return constant_; }
    bool is_identity() const { return !index_ && !constant_; }
    size_t size() const { return vector_->size(); }

private:
    VectorPtr vector_;
    VectorPtr flat_;
    BufferPtr index_buffer_;  // made for RunLength
    const uint32_t* index_ = nullptr;
    const uint8_t* nulls_ = nullptr;
    bool constant_ = false;
};

// Reshaping. Results share values with their sources where they can. Encoded vectors stay encoded unless it says flat.

/// One row for each of `rows` (indices into vector, any order, repeats allowed).
VectorPtr gather(const VectorPtr& vector, std::span<const uint32_t> rows);
/// As gather, with row == kNoRow giving NULL where the type accepts it, else the type's default. Used by outer joins.
constexpr uint32_t kNoRow = 0xFFFFFFFF;
VectorPtr gather_or_default(const VectorPtr& vector, std::span<const uint32_t> rows);
VectorPtr slice(const VectorPtr& vector, size_t offset, size_t size);
/// All rows of the vectors, one after another; same types. At least one vector, or an empty vector of `type`.
VectorPtr concat(const TypePtr& type, std::span<const VectorPtr> vectors);
/// Flat, top level and children.
VectorPtr flatten(const VectorPtr& vector);
/// A flat copy whose strings live in storage of its own, pinning no page.
VectorPtr copy_owned(const VectorPtr& vector);

/// Rows picked out of a batch: ascending row numbers.
using Selection = std::vector<uint32_t>;
/// The rows where a filter's result (Bool, UInt8 or another integer/float, Nullable or not, or Nothing) is not zero and
/// not NULL.
Selection selected_rows(const VectorPtr& filter);

/// Some rows of some columns. All columns have `rows` rows.
struct Batch {
    std::vector<VectorPtr> columns;
    size_t rows = 0;

    Batch select(std::span<const uint32_t> selected) const;
    Batch cut(size_t offset, size_t size) const;
    size_t allocated_bytes() const;
};

}  // namespace firn
