// How the key columns of an aggregation, a join or a DISTINCT are laid out as one value of fixed width.
//
// Packed: 1, 2, 4 or 8 words of 64 bits; fixed-width columns as they are, strings as numbers that an Interner gives them,
// and one bit for each column that may be NULL. String: one string column as it is, or, for keys that fit in no other
// form (arrays, tuples, very many columns), all columns serialised into a string.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "firn/vector/builder.h"
#include "firn/vector/vector.h"

namespace firn::exec {

constexpr size_t kMaxKeyWords = 8;

struct KeyLayout {
    enum class Form : uint8_t { Packed, String };
    struct Column {
        TypePtr type;
        size_t offset = 0;      // bytes into the packed key
        size_t width = 0;       // bytes of the value there
        bool interned = false;  // the value is a number of an Interner
        int null_bit = -1;      // of the flags, -1 = never NULL
    };

    /// Whether a NULL has a bit in the key, or the caller sees to it that rows with NULLs are never looked at.
    enum class Nulls : uint8_t { Marked, LeftOut };

    explicit KeyLayout(const std::vector<TypePtr>& types) : KeyLayout(types, Nulls::Marked, {}, true) {}
    /// nullable[i]: also when the type itself is not (the other side of a join is). May be empty.
    KeyLayout(const std::vector<TypePtr>& types, Nulls nulls, const std::vector<bool>& nullable,
              bool allow_single_string);

    Form form = Form::Packed;
    bool serialised = false;  // Form::String of all columns
    size_t words = 1;
    size_t flags_offset = 0;  // bytes to the NULL bits
    std::vector<Column> columns;

    size_t key_bytes() const { return form == Form::String ? sizeof(StringRef) : words * sizeof(uint64_t); }
    bool has_interned() const;
};

/// Stands for NULL among keys of Form::String: equal to itself only.
inline StringRef null_string() {
    StringRef null;
    null.prefix = 1;
    return null;
}
inline bool is_null_string(const StringRef& s) { return s.size == 0 && s.prefix == 1; }

inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
    const UInt128 product = static_cast<UInt128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
/// 32 good bits.
template <size_t kWords>
inline uint32_t hash_key(const uint64_t* key) {
    uint64_t hash = fold_multiply(key[0] ^ 0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL);
    for (size_t i = 1; i < kWords; ++i) hash = fold_multiply(hash ^ key[i], 0x94d049bb133111ebULL + 2 * i);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
}
/// The same, of as many words as the layout has.
inline uint32_t hash_words(const uint64_t* key, size_t words) {
    switch (words) {
        case 1:
            return hash_key<1>(key);
        case 2:
            return hash_key<2>(key);
        case 4:
            return hash_key<4>(key);
        default:
            return hash_key<8>(key);
    }
}
uint32_t hash_string(const StringRef& text);

/// Numbers for strings, dense from 0. Copies the strings. Not thread-safe for inserting; finding is.
class Interner {
public:
    static constexpr uint32_t kUnknown = 0xFFFFFFFF;
    Interner();
    uint32_t insert(const StringRef& text) { return insert(text, hash_string(text)); }
    uint32_t insert(const StringRef& text, uint32_t hash);
    uint32_t find(const StringRef& text) const;  // kUnknown when not there
    size_t size() const { return strings_.size(); }
    const StringRef& string(uint32_t id) const { return strings_[id]; }
    uint32_t hash(uint32_t id) const { return hashes_[id]; }
    /// All strings in order, and behind them a NULL where the type accepts it.
    VectorPtr to_vector(const TypePtr& type) const;

private:
    void grow();
    std::shared_ptr<Arena> arena_;
    TrackedVector<StringRef> strings_;
    TrackedVector<uint32_t> hashes_;
    TrackedVector<uint64_t> slots_;  // hash << 32 | id + 1; 0 = free
};

/// Packs keys of Form::Packed. One a worker: it remembers the numbers of a dictionary's entries.
class KeyPacker {
public:
    /// interners: one for each column (unused where not interned). With insert, unknown strings get numbers; without, rows
    /// that hold one are marked in `missing`.
    KeyPacker(const KeyLayout& layout, std::vector<std::shared_ptr<Interner>> interners, bool insert)
        : layout_(layout), interners_(std::move(interners)), insert_(insert), codes_(layout.columns.size()) {}

    /// out: rows * words. missing, when given: rows bytes, set to 1 where the key cannot be equal to any inserted one.
    void pack(std::span<const VectorPtr> keys, size_t rows, uint64_t* out, uint8_t* missing = nullptr);

private:
    struct Codes {
        VectorPtr base;
        std::vector<uint32_t> ids;
        std::vector<uint8_t> known;
    };
    void pack_interned(size_t column, const VectorPtr& vector, size_t rows, uint64_t* out, uint8_t* missing);
    const KeyLayout& layout_;
    std::vector<std::shared_ptr<Interner>> interners_;
    bool insert_;
    std::vector<Codes> codes_;
};

/// The columns of keys of Form::Packed: rows[i] points to words.
std::vector<VectorPtr> unpack_keys(const KeyLayout& layout, const std::vector<VectorPtr>& interned,
                                   std::span<char* const> rows);

/// Form::String. Serialised keys, and those of strings that need it, are copied into `arena`; others are views.
void string_keys(const KeyLayout& layout, std::span<const VectorPtr> keys, size_t rows, StringRef* out, Arena& arena);
std::vector<VectorPtr> unpack_string_keys(const KeyLayout& layout, std::span<char* const> rows,
                                          const std::shared_ptr<const void>& owner);

/// Any value as bytes such that equal values (by equal_values) have equal bytes.
void serialise_value(const Vector& vector, size_t row, std::string& out);
void deserialise_value(std::string_view& in, VectorBuilder& out);

}  // namespace firn::exec
