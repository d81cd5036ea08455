#include "firn/functions/value_set.h"

#include <bit>
#include <cmath>
#include <vector>

#include "firn/functions/argument_types.h"
#include "firn/vector/row_ops.h"

namespace firn::functions {

namespace {

size_t table_size(size_t values) { return std::bit_ceil(values * 2 + 2); }

/// Open addressing over 64-bit images of values.
class NumberSet final : public ValueSet {
public:
    explicit NumberSet(const Vector& flat) : slots_(table_size(flat.size())), used_(slots_.size()) {
        dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
            if constexpr (sizeof(T) <= 8)
                for (size_t i = 0; i < flat.size(); ++i)
                    if (!flat.nulls() || !flat.nulls()[i]) insert(image(flat.values<T>()[i]));
        });
    }
    void find(const Vector& flat, uint8_t* out) const override {
        dispatch_fixed(flat.type()->physical(), [&]<typename T>() {
            if constexpr (sizeof(T) <= 8) {
                const T* values = flat.values<T>();
                for (size_t i = 0; i < flat.size(); ++i) out[i] = contains(image(values[i]));
            }
        });
    }

private:
    template <typename T>
    static uint64_t image(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(value)) return ~uint64_t{0};
            return std::bit_cast<uint64_t>(static_cast<double>(value) + 0.0);
        } else {
            return static_cast<uint64_t>(value);
        }
    }
    size_t place(uint64_t value) const {
        size_t at = mix_hash(value) & (slots_.size() - 1);
        while (used_[at] && slots_[at] != value) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void insert(uint64_t value) {
        const size_t at = place(value);
        slots_[at] = value;
        used_[at] = 1;
    }
    bool contains(uint64_t value) const { return used_[place(value)]; }
    std::vector<uint64_t> slots_;
    std::vector<uint8_t> used_;
};

/// Any type: rows hashed and compared.
class RowSet final : public ValueSet {
public:
    explicit RowSet(VectorPtr values) : values_(std::move(values)), slots_(table_size(values_->size()), kNoRow) {
        std::vector<uint64_t> hashes(values_->size());
        hash_rows({&values_, 1}, values_->size(), hashes.data());
        for (size_t i = 0; i < values_->size(); ++i) {
            if (holds_null(*values_, i)) continue;
            size_t at = hashes[i] & (slots_.size() - 1);
            while (slots_[at] != kNoRow && !equal_values(*values_, slots_[at], *values_, i))
                at = (at + 1) & (slots_.size() - 1);
            slots_[at] = static_cast<uint32_t>(i);
        }
    }
    void find(const Vector& flat, uint8_t* out) const override {
        const VectorPtr column(&flat, [](const Vector*) {});
        std::vector<uint64_t> hashes(flat.size());
        hash_rows({&column, 1}, flat.size(), hashes.data());
        for (size_t i = 0; i < flat.size(); ++i) {
            size_t at = hashes[i] & (slots_.size() - 1);
            out[i] = 0;
            for (; slots_[at] != kNoRow; at = (at + 1) & (slots_.size() - 1))
                if (equal_values(*values_, slots_[at], flat, i)) {
                    out[i] = 1;
                    break;
                }
        }
    }

private:
    static bool holds_null(const Vector& vector, size_t row) {
        if (vector.is_null(row)) return true;
        const Vector& flat = vector.flat_base();
        if (unwrap(flat.type())->id() != TypeId::Tuple) return false;
        const size_t at = vector.base_row(row);
        for (const auto& child : flat.children())
            if (holds_null(*child, at)) return true;
        return false;
    }
    VectorPtr values_;
    std::vector<uint32_t> slots_;
};

}  // namespace

std::unique_ptr<ValueSet> ValueSet::make(VectorPtr values) {
    const size_t width = values->type()->value_size();
    const Physical physical = values->type()->physical();
    if (physical != Physical::Str && width > 0 && width <= 8) return std::make_unique<NumberSet>(*values);
    return std::make_unique<RowSet>(std::move(values));
}

}  // namespace firn::functions
