// RowBinary and its variants, Native.
#include <algorithm>
#include <unordered_map>

#include "firn/base/error.h"
#include "firn/format/row_output.h"

namespace firn::format {
namespace {

void append_varint(std::string& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
}
void append_sized(std::string& out, std::string_view text) {
    append_varint(out, text.size());
    out += text;
}

/// A value that is neither NULL nor nested. Numbers little-endian; UUID as two 64-bit numbers, the first half first; IPv6 in
/// network order.
void append_scalar(std::string& out, const Vector& flat, size_t at, const DataType& type) {
    switch (type.id()) {
        case TypeId::Nothing:
            out.push_back('0');
            return;
        case TypeId::FixedString: {
            const std::string_view text = flat.values<StringRef>()[at].view();
            out += text;
            out.append(type.length() - std::min<size_t>(text.size(), type.length()), '\0');
            return;
        }
        case TypeId::String:
            return append_sized(out, flat.values<StringRef>()[at].view());
        case TypeId::UUID: {
            const char* bytes = flat.values_buffer()->data() + at * 16;
            out.append(bytes + 8, 8);
            out.append(bytes, 8);
            return;
        }
        case TypeId::IPv6: {
            const char* bytes = flat.values_buffer()->data() + at * 16;
            for (size_t i = 16; i-- > 0;) out.push_back(bytes[i]);
            return;
        }
        default:
            if (type.value_size() == 0)
                fail(ErrorCode::NOT_IMPLEMENTED, "Values of type {} cannot be written in a binary format yet",
                     type.name());
            out.append(flat.values_buffer()->data() + at * type.value_size(), type.value_size());
    }
}

void append_binary(std::string& out, const Vector& vector, size_t row) {
    const Vector& flat = vector.flat_base();
    const size_t at = vector.base_row(row);
    if (accepts_null(*flat.type())) {
        const bool null = (flat.nulls() && flat.nulls()[at]) || unwrap(flat.type())->id() == TypeId::Nothing;
        out.push_back(null ? 1 : 0);
        if (null) return;
    }
    const TypePtr type = unwrap(flat.type());
    switch (type->id()) {
        case TypeId::Array:
            append_varint(out, static_cast<uint64_t>(flat.offsets()[at + 1] - flat.offsets()[at]));
            for (int64_t i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i)
                append_binary(out, *flat.child(), static_cast<size_t>(i));
            return;
        case TypeId::Map: {
            const Vector& pairs = flat.child()->flat_base();
            append_varint(out, static_cast<uint64_t>(flat.offsets()[at + 1] - flat.offsets()[at]));
            for (int64_t i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i) {
                const size_t pair = flat.child()->base_row(static_cast<size_t>(i));
                append_binary(out, *pairs.child(0), pair);
                append_binary(out, *pairs.child(1), pair);
            }
            return;
        }
        case TypeId::Tuple:
            for (const auto& child : flat.children()) append_binary(out, *child, at);
            return;
        default:
            return append_scalar(out, flat, at, *type);
    }
}

class RowBinaryOutput : public BufferedOutput {
public:
    RowBinaryOutput(std::vector<Column> columns, const OutputContext& context, ByteSink sink, bool names, bool types)
        : BufferedOutput(std::move(columns), context, std::move(sink)), names_(names), types_(types) {}
    void begin() override {
        if (!names_) return;
        append_varint(buffer_, columns_.size());
        for (const auto& column : columns_) append_sized(buffer_, column.name);
        if (types_)
            for (const auto& column : columns_) append_sized(buffer_, column.type->name());
        flush();
    }
    void write(const Batch& batch) override {
        for (size_t row = 0; row < batch.rows; ++row) {
            for (const auto& column : batch.columns) append_binary(buffer_, *column, row);
            flush_if_large();
        }
        flush();
    }

private:
    bool names_, types_;
};

/// Rows of a flat vector, in the order given.
using Rows = std::vector<size_t>;

/// Blocks of columns. A LowCardinality column is written with the dictionary of its block.
class NativeOutput : public BufferedOutput {
public:
    using BufferedOutput::BufferedOutput;
    void write(const Batch& batch) override {
        if (batch.rows == 0) return;
        append_varint(buffer_, columns_.size());
        append_varint(buffer_, batch.rows);
        Rows rows(batch.rows);
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
        for (size_t i = 0; i < columns_.size(); ++i) {
            append_sized(buffer_, columns_[i].name);
            append_sized(buffer_, columns_[i].type->name());
            if (columns_[i].type->is_low_cardinality())
                low_cardinality(*batch.columns[i], rows);
            else
                values(*batch.columns[i], rows);
            flush_if_large();
        }
        flush();
    }

private:
    template <typename T>
    void number(T value) {
        buffer_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }

    void values(const Vector& vector, const Rows& rows) {
        const Vector& flat = vector.flat_base();
        const TypePtr type = unwrap(flat.type());
        if (flat.type()->is_low_cardinality())
            fail(ErrorCode::NOT_IMPLEMENTED,
                 "LowCardinality within another type cannot be written in format Native yet");
        Rows places(rows.size());
        for (size_t i = 0; i < rows.size(); ++i) places[i] = vector.base_row(rows[i]);
        if (accepts_null(*flat.type()))
            for (const size_t at : places)
                buffer_.push_back((flat.nulls() && flat.nulls()[at]) || type->id() == TypeId::Nothing ? 1 : 0);
        switch (type->id()) {
            case TypeId::Array:
                return elements(flat, *flat.child(), places, false);
            case TypeId::Map:
                return elements(flat, *flat.child(), places, true);
            case TypeId::Tuple:
                for (const auto& child : flat.children()) values(*child, places);
                return;
            default:
                for (const size_t at : places) {
                    if (flat.nulls() && flat.nulls()[at])
                        missing(*type);
                    else
                        append_scalar(buffer_, flat, at, *type);
                }
        }
    }

    void elements(const Vector& flat, const Vector& child, const Rows& places, bool map) {
        Rows inner;
        for (const size_t at : places) {
            for (int64_t i = flat.offsets()[at]; i < flat.offsets()[at + 1]; ++i)
                inner.push_back(static_cast<size_t>(i));
            number<uint64_t>(inner.size());
        }
        if (!map) return values(child, inner);
        const Vector& pairs = child.flat_base();
        for (size_t& row : inner) row = child.base_row(row);
        values(*pairs.child(0), inner);
        values(*pairs.child(1), inner);
    }

    /// The default value stands where a NULL is.
    void missing(const DataType& type) {
        switch (type.id()) {
            case TypeId::Nothing:
                buffer_.push_back('0');
                return;
            case TypeId::String:
                buffer_.push_back('\0');
                return;
            case TypeId::FixedString:
                buffer_.append(type.length(), '\0');
                return;
            default:
                buffer_.append(type.value_size(), '\0');
        }
    }

    /// Version 1; then the width of the indexes and that the dictionary is the block's own; the dictionary, whose first entry
    /// is the default (NULL and then the default where the type is Nullable); the indexes.
    void low_cardinality(const Vector& vector, const Rows& rows) {
        const Vector& flat = vector.flat_base();
        const bool nullable = accepts_null(*flat.type());
        const TypePtr type = unwrap(flat.type());
        std::vector<std::string> entries;
        std::string scratch;
        std::swap(buffer_, scratch);
        missing(*type);
        entries.assign(nullable ? 2 : 1, buffer_);
        std::unordered_map<std::string, uint64_t> known{{buffer_, entries.size() - 1}};
        std::vector<uint64_t> indexes;
        for (const size_t row : rows) {
            const size_t at = vector.base_row(row);
            if (flat.nulls() && flat.nulls()[at]) {
                indexes.push_back(0);
                continue;
            }
            buffer_.clear();
            append_scalar(buffer_, flat, at, *type);
            const auto [place, is_new] = known.emplace(buffer_, entries.size());
            if (is_new) entries.push_back(buffer_);
            indexes.push_back(place->second);
        }
        std::swap(buffer_, scratch);
        const unsigned width = entries.size() <= 0x100 ? 0 : entries.size() <= 0x10000 ? 1 : 2;
        number<uint64_t>(1);
        number<uint64_t>(0x600 | width);
        number<uint64_t>(entries.size());
        for (const auto& entry : entries) buffer_ += entry;
        number<uint64_t>(indexes.size());
        for (const uint64_t index : indexes) buffer_.append(reinterpret_cast<const char*>(&index), size_t{1} << width);
    }
};

OutputMaker row_binary(bool names, bool types) {
    return [names, types](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<RowBinaryOutput>(std::move(columns), context, std::move(sink), names, types);
    };
}

}  // namespace

void register_binary_outputs(const OutputRegistrar& add) {
    add("RowBinary", row_binary(false, false));
    add("RowBinaryWithNames", row_binary(true, false));
    add("RowBinaryWithNamesAndTypes", row_binary(true, true));
    add("Native", [](std::vector<Column> columns, const OutputContext& context, ByteSink sink) {
        return std::make_unique<NativeOutput>(std::move(columns), context, std::move(sink));
    });
}

}  // namespace firn::format
