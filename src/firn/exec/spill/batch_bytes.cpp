#include "firn/exec/spill/batch_bytes.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "firn/base/error.h"

namespace firn::exec {
namespace {

enum class Form : uint8_t { Flat, FlatWithNulls, Constant, Dictionary };

template <typename T>
void append_raw(SpillBytes& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

bool keeps_dictionary(const Vector& vector) {
    return vector.encoding() == Encoding::Dictionary && vector.base()->size() <= vector.size();
}

void append_flat(const Vector& vector, size_t begin, size_t end, SpillBytes& out) {
    const size_t rows = end - begin;
    const bool nulls = vector.nulls() && std::memchr(vector.nulls() + begin, 1, rows);
    append_raw(out, nulls ? Form::FlatWithNulls : Form::Flat);
    if (nulls) out.append(reinterpret_cast<const char*>(vector.nulls() + begin), rows);
    const bool fixed = dispatch_fixed(vector.type()->physical(), [&]<typename T>() {
        out.append(reinterpret_cast<const char*>(vector.values<T>() + begin), rows * sizeof(T));
    });
    if (fixed) return;
    switch (vector.type()->physical()) {
        case Physical::Str: {
            const StringRef* texts = vector.values<StringRef>();
            uint64_t bytes = 0;
            for (size_t i = begin; i < end; ++i) bytes += texts[i].size;
            append_raw(out, bytes);
            for (size_t i = begin; i < end; ++i) append_raw(out, texts[i].size);
            for (size_t i = begin; i < end; ++i) out.append(texts[i].data, texts[i].size);
            return;
        }
        case Physical::Array: {
            const int64_t* offsets = vector.offsets();
            for (size_t i = begin; i <= end; ++i) append_raw(out, offsets[i] - offsets[begin]);
            const auto child = flatten(vector.child());
            return append_flat(*child, static_cast<size_t>(offsets[begin]), static_cast<size_t>(offsets[end]), out);
        }
        case Physical::Tuple:
            for (const auto& child : vector.children()) append_flat(*flatten(child), begin, end, out);
            return;
        default:
            return;
    }
}

void append_vector(const VectorPtr& vector, SpillBytes& out) {
    if (vector->is_constant()) {
        append_raw(out, Form::Constant);
        append_flat(*vector->base(), 0, 1, out);
    } else if (keeps_dictionary(*vector)) {
        append_raw(out, Form::Dictionary);
        append_raw(out, static_cast<uint64_t>(vector->base()->size()));
        append_flat(*vector->base(), 0, vector->base()->size(), out);
        out.append(reinterpret_cast<const char*>(vector->codes()), vector->size() * sizeof(uint32_t));
    } else {
        const auto flat = flatten(vector);
        append_flat(*flat, 0, flat->size(), out);
    }
}

class Reader {
public:
    explicit Reader(std::string_view in) : in_(in) {}

    template <typename T>
    T take() {
        T value;
        std::memcpy(&value, take_bytes(sizeof(T)), sizeof(T));
        return value;
    }
    /// A number of rows: vectors have no more than a code can name.
    size_t take_rows() { return checked_rows(take<uint64_t>()); }
    VectorPtr vector(const TypePtr& type, size_t rows) {
        const Form form = take<Form>();
        if (form == Form::Constant) return Vector::constant(flat(take<Form>(), type, 1), rows);
        if (form != Form::Dictionary) return flat(form, type, rows);
        const size_t entries = take_rows();
        auto base = flat(take<Form>(), type, entries);
        auto codes = buffer(rows * sizeof(uint32_t));
        uint32_t largest = 0;
        for (size_t i = 0; i < rows; ++i) largest = std::max(largest, codes->as<uint32_t>()[i]);
        if (rows && largest >= entries) bad("a code without an entry");
        return Vector::dictionary(std::move(base), rows, std::move(codes));
    }
    void finish() const {
        if (!in_.empty()) bad("more bytes than a batch has");
    }

private:
    [[noreturn]] static void bad(std::string_view what) {
        fail(ErrorCode::INCORRECT_DATA, "Spilled rows are damaged: {}", what);
    }
    static size_t checked_rows(uint64_t rows) {
        if (rows > UINT32_MAX) bad("too many rows");
        return rows;
    }
    const char* take_bytes(size_t bytes) {
        if (bytes > in_.size()) bad("they end too early");
        const char* at = in_.data();
        in_.remove_prefix(bytes);
        return at;
    }
    MutableBufferPtr buffer(size_t bytes) {
        const char* from = take_bytes(bytes);
        auto made = Buffer::allocate(bytes);
        if (bytes) std::memcpy(made->mutable_data(), from, bytes);
        return made;
    }
    VectorPtr flat(Form form, const TypePtr& type, size_t rows) {
        if (form != Form::Flat && form != Form::FlatWithNulls) bad("an unknown form of a column");
        MutableBufferPtr nulls;
        if (form == Form::FlatWithNulls) nulls = buffer(rows);
        switch (type->physical()) {
            case Physical::Str:
                return strings(type, rows, std::move(nulls));
            case Physical::Array: {
                auto offsets = buffer((rows + 1) * sizeof(int64_t));
                const size_t elements = checked_offsets({offsets->as<int64_t>(), rows + 1});
                const TypePtr inner = unwrap(type);
                const TypePtr child =
                    inner->id() == TypeId::Map ? make_tuple_type({inner->child(0), inner->child(1)}) : inner->child();
                return Vector::array(type, rows, std::move(offsets), flat(take<Form>(), child, elements));
            }
            case Physical::Tuple: {
                std::vector<VectorPtr> children;
                for (const auto& child : unwrap(type)->children()) children.push_back(flat(take<Form>(), child, rows));
                return Vector::tuple(type, rows, std::move(children));
            }
            case Physical::None:
                return flatten(Vector::defaults(type, rows));
            default:
                return Vector::flat(type, rows, buffer(rows * type->value_size()), std::move(nulls));
        }
    }
    /// The number of elements.
    static size_t checked_offsets(std::span<const int64_t> offsets) {
        bool rising = offsets[0] == 0;
        for (size_t i = 1; i < offsets.size(); ++i) rising &= offsets[i - 1] <= offsets[i];
        if (!rising) bad("an array of less than no elements");
        return checked_rows(static_cast<uint64_t>(offsets.back()));
    }
    VectorPtr strings(const TypePtr& type, size_t rows, MutableBufferPtr nulls) {
        const auto bytes = take<uint64_t>();
        const char* sizes = take_bytes(rows * sizeof(uint32_t));
        auto texts = buffer(bytes);
        auto values = Buffer::allocate(rows * sizeof(StringRef));
        size_t at = 0;
        for (size_t i = 0; i < rows; ++i) {
            uint32_t size;
            std::memcpy(&size, sizes + i * sizeof(size), sizeof(size));
            if (size > bytes - at) bad("strings longer than their bytes");
            values->mutable_as<StringRef>()[i] = StringRef(texts->data() + at, size);
            at += size;
        }
        return Vector::flat(type, rows, std::move(values), std::move(nulls), {std::move(texts)});
    }

    std::string_view in_;
};

size_t bytes_between(const Vector& vector, size_t begin, size_t end) {
    const size_t rows = end - begin;
    switch (vector.encoding()) {
        case Encoding::Constant:
            return 0;
        case Encoding::Dictionary:
            return rows * sizeof(uint32_t) +
                   (keeps_dictionary(vector) ? bytes_between(*vector.base(), 0, vector.base()->size()) : 0);
        case Encoding::RunLength:
            return bytes_between(*vector.base(), 0, vector.base()->size());
        default:
            break;
    }
    size_t bytes = rows * vector.type()->value_size() + (vector.nulls() ? rows : 0);
    if (vector.type()->physical() == Physical::Str) {
        for (size_t i = begin; i < end; ++i) bytes += vector.values<StringRef>()[i].size;
    } else if (vector.type()->physical() == Physical::Array) {
        bytes += rows * sizeof(int64_t) + bytes_between(*vector.child(), static_cast<size_t>(vector.offsets()[begin]),
                                                        static_cast<size_t>(vector.offsets()[end]));
    } else {
        for (const auto& child : vector.children()) bytes += bytes_between(*child, begin, end);
    }
    return bytes;
}

}  // namespace

void append_batch(const Batch& batch, SpillBytes& out) {
    append_raw(out, static_cast<uint64_t>(batch.rows));
    for (const auto& column : batch.columns) append_vector(column, out);
}

Batch read_batch(std::string_view in, const std::vector<TypePtr>& types) {
    Reader reader(in);
    Batch batch;
    batch.rows = reader.take_rows();
    for (const auto& type : types) batch.columns.push_back(reader.vector(type, batch.rows));
    reader.finish();
    return batch;
}

size_t bytes_of_rows(const Batch& batch) {
    size_t bytes = 0;
    for (const auto& column : batch.columns) bytes += bytes_between(*column, 0, column->size());
    return bytes;
}

Batch detached(const Batch& batch) {
    SpillBytes bytes;
    append_batch(batch, bytes);
    std::vector<TypePtr> types;
    for (const auto& column : batch.columns) types.push_back(column->type());
    return read_batch(bytes, types);
}

}  // namespace firn::exec
