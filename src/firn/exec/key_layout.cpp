#include "firn/exec/key_layout.h"

#include <algorithm>
#include <cmath>

#include "firn/base/error.h"
#include "firn/vector/row_ops.h"

namespace firn::exec {
namespace {

/// All NaNs are one key; 0 and -0 are two, as in ClickHouse.
template <typename T>
T canonical(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
    }
    return value;
}

template <typename T>
uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T) < 8 ? sizeof(T) : 8);
    return bits;
}

template <typename T, typename Index>
void pack_values(const KeyLayout& layout, const KeyLayout::Column& column, const Decoded& decoded, size_t rows,
                 uint64_t* out, Index index) {
    const T* values = decoded.values<T>();
    const uint8_t* nulls = column.null_bit >= 0 ? decoded.nulls() : nullptr;
    if (layout.words == 1 && !nulls) {
        const unsigned shift = static_cast<unsigned>(8 * column.offset);
        for (size_t i = 0; i < rows; ++i) out[i] |= bits_of(canonical(values[index(i)])) << shift;
        return;
    }
    const size_t stride = layout.words * 8;
    char* place = reinterpret_cast<char*>(out);
    for (size_t i = 0; i < rows; ++i, place += stride) {
        const size_t row = index(i);
        if (nulls && nulls[row]) {
            place[layout.flags_offset + static_cast<size_t>(column.null_bit / 8)] |=
                static_cast<char>(1 << (column.null_bit % 8));
        } else {
            const T value = canonical(values[row]);
            std::memcpy(place + column.offset, &value, sizeof(T));
        }
    }
}

void pack_fixed(const KeyLayout& layout, const KeyLayout::Column& column, const VectorPtr& vector, size_t rows,
                uint64_t* out) {
    const Decoded decoded(vector);
    const bool fixed = dispatch_fixed(column.type->physical(), [&]<typename T>() {
        if (decoded.is_identity())
            pack_values<T>(layout, column, decoded, rows, out, [](size_t i) { return i; });
        else
            pack_values<T>(layout, column, decoded, rows, out, [&](size_t i) { return decoded[i]; });
    });
    if (!fixed && column.null_bit >= 0) {  // Nullable(Nothing)
        char* place = reinterpret_cast<char*>(out) + layout.flags_offset + column.null_bit / 8;
        for (size_t i = 0; i < rows; ++i, place += layout.words * 8)
            *place |= static_cast<char>(1 << (column.null_bit % 8));
    }
}

template <typename T>
void append_raw(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <typename T>
T take_raw(std::string_view& in) {
    T value;
    std::memcpy(&value, in.data(), sizeof(T));
    in.remove_prefix(sizeof(T));
    return value;
}

}  // namespace

KeyLayout::KeyLayout(const std::vector<TypePtr>& types, Nulls nulls, const std::vector<bool>& nullable,
                     bool allow_single_string) {
    size_t bytes = 0, bits = 0;
    bool packable = true;
    for (size_t i = 0; i < types.size(); ++i) {
        Column column;
        column.type = types[i];
        const Physical physical = types[i]->physical();
        if (physical == Physical::Array || physical == Physical::Tuple) packable = false;
        column.interned = physical == Physical::Str;
        column.width = column.interned ? sizeof(uint32_t) : types[i]->value_size();
        column.offset = bytes;
        bytes += column.width;
        const bool may_be_null = accepts_null(*types[i]) || (!nullable.empty() && nullable[i]);
        if (may_be_null && nulls == Nulls::Marked) column.null_bit = static_cast<int>(bits++);
        columns.push_back(column);
    }
    flags_offset = bytes;
    bytes += (bits + 7) / 8;
    if (types.size() == 1 && columns[0].interned && allow_single_string) {
        form = Form::String;
    } else if (!packable || bytes > kMaxKeyWords * 8) {
        form = Form::String;
        serialised = true;
    } else {
        words = bytes <= 8 ? 1 : bytes <= 16 ? 2 : bytes <= 32 ? 4 : 8;
    }
}

bool KeyLayout::has_interned() const {
    return form == Form::Packed &&
           std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.interned; });
}

uint32_t hash_string(const StringRef& text) {
    if (is_null_string(text)) return 0x9ae16a3b;
    if (text.size <= 8) {
        uint64_t word = 0;
        std::memcpy(&word, text.data, text.size);
        const uint64_t hash = fold_multiply(word ^ 0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL + 2 * text.size);
        return static_cast<uint32_t>(hash ^ (hash >> 32));
    }
    const uint64_t hash = hash_bytes(text.data, text.size);
    return static_cast<uint32_t>(hash ^ (hash >> 32));
}

Interner::Interner() : arena_(std::make_shared<Arena>()) {}

uint32_t Interner::insert(const StringRef& text, uint32_t hash) {
    if ((strings_.size() + 1) * 2 > slots_.size()) grow();
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        const uint64_t slot = slots_[at];
        if (slot == 0) {
            if (strings_.size() >= kUnknown - 1)
                fail(ErrorCode::LIMIT_EXCEEDED, "Too many different strings in the keys of one operator");
            const char* copy = text.size ? arena_->copy(text.data, text.size) : "";
            strings_.push_back(StringRef(copy, text.size));
            hashes_.push_back(hash);
            slots_[at] = static_cast<uint64_t>(hash) << 32 | strings_.size();
            return static_cast<uint32_t>(strings_.size() - 1);
        }
        const uint32_t id = static_cast<uint32_t>(slot) - 1;
        if (static_cast<uint32_t>(slot >> 32) == hash && strings_[id] == text) return id;
    }
}

uint32_t Interner::find(const StringRef& text) const {
    if (slots_.empty()) return kUnknown;
    const uint32_t hash = hash_string(text);
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
        const uint32_t id = static_cast<uint32_t>(slots_[at]) - 1;
        if (static_cast<uint32_t>(slots_[at] >> 32) == hash && strings_[id] == text) return id;
    }
    return kUnknown;
}

void Interner::grow() {
    const size_t size = std::max<size_t>(64, slots_.size() * 2);
    slots_.assign(size, 0);
    for (size_t id = 0; id < strings_.size(); ++id) {
        size_t at = hashes_[id] & (size - 1);
        while (slots_[at] != 0) at = (at + 1) & (size - 1);
        slots_[at] = static_cast<uint64_t>(hashes_[id]) << 32 | (id + 1);
    }
}

VectorPtr Interner::to_vector(const TypePtr& type) const {
    const bool with_null = accepts_null(*type);
    const size_t rows = strings_.size() + 1;
    auto values = Buffer::allocate(rows * sizeof(StringRef));
    std::copy(strings_.begin(), strings_.end(), values->mutable_as<StringRef>());
    values->mutable_as<StringRef>()[strings_.size()] = StringRef("", 0);
    MutableBufferPtr nulls;
    if (with_null) {
        nulls = Buffer::allocate_zeroed(rows);
        nulls->mutable_data()[strings_.size()] = 1;
    }
    return Vector::flat(type, rows, std::move(values), std::move(nulls), {arena_});
}

void KeyPacker::pack(std::span<const VectorPtr> keys, size_t rows, uint64_t* out, uint8_t* missing) {
    std::memset(out, 0, rows * layout_.words * sizeof(uint64_t));
    for (size_t c = 0; c < keys.size(); ++c) {
        if (layout_.columns[c].interned)
            pack_interned(c, keys[c], rows, out, missing);
        else
            pack_fixed(layout_, layout_.columns[c], keys[c], rows, out);
    }
}

void KeyPacker::pack_interned(size_t c, const VectorPtr& vector, size_t rows, uint64_t* out, uint8_t* missing) {
    const auto& column = layout_.columns[c];
    Interner& interner = *interners_[c];
    const Decoded decoded(vector);
    const StringRef* values = decoded.values<StringRef>();
    const uint8_t* nulls = decoded.nulls();
    Codes& codes = codes_[c];
    const bool dictionary = vector->encoding() == Encoding::Dictionary;
    if (dictionary && codes.base != vector->base()) {
        codes.base = vector->base();
        codes.ids.resize(codes.base->size());
        codes.known.assign(codes.base->size(), 0);
    }
    const auto number = [&](size_t row) { return insert_ ? interner.insert(values[row]) : interner.find(values[row]); };
    char* place = reinterpret_cast<char*>(out);
    for (size_t i = 0; i < rows; ++i, place += layout_.words * 8) {
        const size_t row = decoded[i];
        if (nulls && nulls[row]) {
            if (column.null_bit >= 0)
                place[layout_.flags_offset + static_cast<size_t>(column.null_bit / 8)] |=
                    static_cast<char>(1 << (column.null_bit % 8));
            continue;
        }
        uint32_t id;
        if (dictionary) {
            if (!codes.known[row]) {
                codes.ids[row] = number(row);
                codes.known[row] = 1;
            }
            id = codes.ids[row];
        } else {
            id = number(row);
        }
        if (id == Interner::kUnknown && missing) missing[i] = 1;
        std::memcpy(place + column.offset, &id, sizeof(id));
    }
}

std::vector<VectorPtr> unpack_keys(const KeyLayout& layout, const std::vector<VectorPtr>& interned,
                                   std::span<char* const> rows) {
    std::vector<VectorPtr> out;
    for (size_t c = 0; c < layout.columns.size(); ++c) {
        const auto& column = layout.columns[c];
        const size_t flag_byte = layout.flags_offset + static_cast<size_t>(std::max(0, column.null_bit) / 8);
        const char flag = static_cast<char>(column.null_bit >= 0 ? 1 << (column.null_bit % 8) : 0);
        const bool nullable = accepts_null(*column.type);
        if (column.interned) {
            auto codes = Buffer::allocate(rows.size() * sizeof(uint32_t));
            const uint32_t null_code = static_cast<uint32_t>(interned[c]->size() - 1);
            for (size_t i = 0; i < rows.size(); ++i) {
                uint32_t id;
                std::memcpy(&id, rows[i] + column.offset, sizeof(id));
                codes->mutable_as<uint32_t>()[i] = rows[i][flag_byte] & flag ? null_code : id;
            }
            out.push_back(Vector::dictionary(interned[c], rows.size(), std::move(codes)));
            continue;
        }
        MutableBufferPtr nulls;
        if (nullable) {
            nulls = Buffer::allocate(rows.size());
            for (size_t i = 0; i < rows.size(); ++i) nulls->mutable_data()[i] = rows[i][flag_byte] & flag ? 1 : 0;
        }
        auto values = Buffer::allocate(rows.size() * column.width);
        dispatch_fixed(column.type->physical(), [&]<typename T>() {
            T* to = values->mutable_as<T>();
            for (size_t i = 0; i < rows.size(); ++i) std::memcpy(&to[i], rows[i] + column.offset, sizeof(T));
        });
        out.push_back(Vector::flat(column.type, rows.size(), std::move(values), std::move(nulls)));
    }
    return out;
}

void string_keys(const KeyLayout& layout, std::span<const VectorPtr> keys, size_t rows, StringRef* out, Arena& arena) {
    if (!layout.serialised) {
        const Decoded decoded(keys[0]);
        const StringRef* values = decoded.values<StringRef>();
        if (!decoded.nulls() && decoded.is_identity())
            std::copy_n(values, rows, out);
        else
            for (size_t i = 0; i < rows; ++i) out[i] = decoded.is_null(i) ? null_string() : values[decoded[i]];
        return;
    }
    std::vector<Decoded> decoded;
    for (const auto& key : keys) decoded.emplace_back(key);
    std::string bytes;
    for (size_t i = 0; i < rows; ++i) {
        bytes.clear();
        for (const auto& key : decoded) serialise_value(key.flat(), key[i], bytes);
        out[i] = StringRef(arena.copy(bytes.data(), bytes.size()), bytes.size());
    }
}

std::vector<VectorPtr> unpack_string_keys(const KeyLayout& layout, std::span<char* const> rows,
                                          const std::shared_ptr<const void>& owner) {
    std::vector<VectorPtr> out;
    if (layout.serialised) {
        std::vector<VectorBuilder> builders;
        for (const auto& column : layout.columns) builders.emplace_back(column.type);
        for (char* row : rows) {
            std::string_view in = reinterpret_cast<const StringRef*>(row)->view();
            for (auto& builder : builders) deserialise_value(in, builder);
        }
        for (auto& builder : builders) out.push_back(builder.finish());
        return out;
    }
    const TypePtr& type = layout.columns[0].type;
    auto values = Buffer::allocate(rows.size() * sizeof(StringRef));
    MutableBufferPtr nulls;
    if (accepts_null(*type)) nulls = Buffer::allocate_zeroed(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        StringRef text = *reinterpret_cast<const StringRef*>(rows[i]);
        if (is_null_string(text)) {
            text = StringRef("", 0);
            if (nulls) nulls->mutable_data()[i] = 1;
        }
        values->mutable_as<StringRef>()[i] = text;
    }
    return {Vector::flat(type, rows.size(), std::move(values), std::move(nulls), {owner})};
}

void serialise_value(const Vector& vector, size_t row, std::string& out) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    const bool null = flat.nulls() && flat.nulls()[at];
    if (accepts_null(*flat.type())) {
        out.push_back(null ? 1 : 0);
        if (null) return;
    }
    switch (flat.type()->physical()) {
        case Physical::Str: {
            const StringRef& text = flat.values<StringRef>()[at];
            append_raw(out, text.size);
            out.append(text.data, text.size);
            return;
        }
        case Physical::Array: {
            const int64_t begin = flat.offsets()[at], end = flat.offsets()[at + 1];
            append_raw(out, end - begin);
            for (int64_t i = begin; i < end; ++i) serialise_value(*flat.child(), static_cast<size_t>(i), out);
            return;
        }
        case Physical::Tuple:
            for (const auto& child : flat.children()) serialise_value(*child, at, out);
            return;
        default:
            dispatch_fixed(flat.type()->physical(),
                           [&]<typename T>() { append_raw(out, canonical(flat.values<T>()[at])); });
    }
}

void deserialise_value(std::string_view& in, VectorBuilder& out) {
    const TypePtr& type = out.type();
    if (accepts_null(*type) && take_raw<char>(in)) return out.append_null();
    switch (type->physical()) {
        case Physical::Str: {
            const uint32_t size = take_raw<uint32_t>(in);
            out.append_string(in.substr(0, size));
            in.remove_prefix(size);
            return;
        }
        case Physical::Array: {
            const int64_t size = take_raw<int64_t>(in);
            for (int64_t i = 0; i < size; ++i) deserialise_value(in, out.element());
            return out.end_array();
        }
        case Physical::Tuple: {
            const auto elements = unwrap(type)->children().size();
            for (size_t i = 0; i < elements; ++i) deserialise_value(in, out.element(i));
            return out.end_tuple();
        }
        case Physical::None:
            return out.append_default();
        default:
            dispatch_fixed(type->physical(), [&]<typename T>() { out.append<T>(take_raw<T>(in)); });
    }
}

}  // namespace firn::exec
