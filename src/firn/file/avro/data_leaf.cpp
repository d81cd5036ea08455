#include <cstring>

#include "firn/base/error.h"
#include "firn/file/avro/data_value.h"

namespace firn::file::avro {

void ValueReader::fail_column(const std::string& what) const {
    fail(ErrorCode::INCORRECT_DATA, "column {}: {}", name_, what);
}

namespace {

constexpr size_t kUuidBytes = 16;

BufferPtr to_buffer(const void* data, size_t bytes) {
    auto buffer = Buffer::allocate(bytes);
    if (bytes) std::memcpy(buffer->mutable_data(), data, bytes);
    return buffer;
}

/// Null flags, kept only from the first NULL on.
class NullFlags {
public:
    void add(size_t row, bool is_null) {
        if (flags_.empty() && !is_null) return;
        flags_.resize(row, 0);
        flags_.push_back(is_null ? 1 : 0);
    }
    BufferPtr finish(size_t rows) {
        if (flags_.empty()) return nullptr;
        flags_.resize(rows, 0);
        auto buffer = to_buffer(flags_.data(), rows);
        flags_.clear();
        return buffer;
    }

private:
    TrackedVector<uint8_t> flags_;
};

/// `read_as`: the natural type, Nullable where the wanted one is; finish() promotes it.
class LeafReader : public ValueReader {
public:
    LeafReader(DataContext& context, int null_branch, std::string name, const TypePtr& natural, TypePtr wanted)
        : ValueReader(context, null_branch, std::move(name)),
          read_as_(accepts_null(*wanted) ? make_nullable(unwrap(natural)) : unwrap(natural)),
          wanted_(std::move(wanted)) {}

protected:
    void append_null() final {
        if (!accepts_null(*wanted_)) fail_column("it holds a NULL although it must not");
        append_absent();
    }
    VectorPtr promoted(const VectorPtr& vector) const {
        if (same_type(read_as_, wanted_)) return vector;
        return promote(vector, wanted_, context_.file + ": column " + name_);
    }

    TypePtr read_as_;
    TypePtr wanted_;
    NullFlags nulls_;
};

/// Read: a function from the cursor to the value.
template <typename T, typename Read>
class FixedReader final : public LeafReader {
public:
    FixedReader(DataContext& context, int null_branch, std::string name, const TypePtr& natural, TypePtr wanted,
                Read read)
        : LeafReader(context, null_branch, std::move(name), natural, std::move(wanted)), read_(std::move(read)) {}

    void append_absent() override {
        if (accepts_null(*read_as_)) nulls_.add(values_.size(), true);
        values_.push_back(T{});
    }
    VectorPtr finish() override {
        const size_t rows = values_.size();
        auto vector = Vector::flat(read_as_, rows, to_buffer(values_.data(), rows * sizeof(T)), nulls_.finish(rows));
        values_.clear();
        return promoted(vector);
    }

protected:
    void append_value(Cursor& cursor) override {
        nulls_.add(values_.size(), false);
        values_.push_back(read_(cursor));
    }

private:
    Read read_;
    TrackedVector<T> values_;
};

/// Read: a function from the cursor to a string_view of the block's bytes, or of bytes that live as long as the file.
template <typename Read>
class StringReader final : public LeafReader {
public:
    StringReader(DataContext& context, int null_branch, std::string name, const TypePtr& natural, TypePtr wanted,
                 Read read)
        : LeafReader(context, null_branch, std::move(name), natural, std::move(wanted)), read_(std::move(read)) {}

    void append_absent() override {
        if (accepts_null(*read_as_)) nulls_.add(values_.size(), true);
        if (!zeros_) zeros_ = Buffer::allocate_zeroed(unwrap(read_as_)->length());
        values_.push_back(StringRef(zeros_->data(), zeros_->size()));
    }
    VectorPtr finish() override {
        const size_t rows = values_.size();
        if (zeros_) owners_.push_back(zeros_);
        owners_.push_back(context_.owner);
        auto vector = Vector::flat(read_as_, rows, to_buffer(values_.data(), rows * sizeof(StringRef)),
                                   nulls_.finish(rows), std::move(owners_));
        values_.clear();
        owners_.clear();
        return promoted(vector);
    }

protected:
    void append_value(Cursor& cursor) override {
        if (owners_.empty() || owners_.back() != context_.block) owners_.push_back(context_.block);
        nulls_.add(values_.size(), false);
        const std::string_view text = read_(cursor);
        if (text.size() > UINT32_MAX) fail_column("a string is too long");
        values_.push_back(StringRef(text));
    }

private:
    Read read_;
    TrackedVector<StringRef> values_;
    Owners owners_;
    BufferPtr zeros_;
};

/// The schema's type null: no bytes.
class NullReader final : public LeafReader {
public:
    using LeafReader::LeafReader;
    void append_absent() override { ++rows_; }
    VectorPtr finish() override {
        const size_t rows = std::exchange(rows_, 0);
        return flatten(Vector::defaults(wanted_, rows));
    }

protected:
    void append_value(Cursor&) override { append_null(); }

private:
    size_t rows_ = 0;
};

int32_t read_int(Cursor& cursor) {
    const int64_t value = cursor.read_long();
    if (value != static_cast<int32_t>(value)) fail(ErrorCode::INCORRECT_DATA, "an int of more than 32 bits: {}", value);
    return static_cast<int32_t>(value);
}

UInt128 uuid_of_bytes(std::string_view bytes) {
    UInt128 uuid = 0;
    for (char byte : bytes) uuid = uuid << 8 | static_cast<uint8_t>(byte);
    return uuid;
}

UInt128 uuid_of_text(std::string_view text) {
    UInt128 uuid = 0;
    size_t digits = 0;
    for (char c : text) {
        if (c == '-') continue;
        const int digit = c >= '0' && c <= '9'                     ? c - '0'
                          : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                   : -1;
        if (digit < 0 || ++digits > 2 * kUuidBytes) fail(ErrorCode::INCORRECT_DATA, "no UUID: '{}'", text);
        uuid = uuid << 4 | static_cast<UInt128>(digit);
    }
    if (digits != 2 * kUuidBytes) fail(ErrorCode::INCORRECT_DATA, "no UUID: '{}'", text);
    return uuid;
}

/// Big-endian two's complement of any length; |value| < limit.
Int128 decimal_of_bytes(std::string_view bytes, Int128 limit) {
    const bool negative = !bytes.empty() && static_cast<int8_t>(bytes[0]) < 0;
    const auto fill = static_cast<char>(negative ? -1 : 0);
    while (bytes.size() > sizeof(Int128) && bytes[0] == fill) bytes.remove_prefix(1);
    if (bytes.size() > sizeof(Int128)) fail(ErrorCode::INCORRECT_DATA, "a decimal has too many digits");
    UInt128 value = negative ? ~UInt128{0} : 0;
    for (char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
    const auto number = static_cast<Int128>(value);
    // Bytes beyond 128 bits were only sign, so the sign must still be the same.
    if ((number < 0) != negative || number >= limit || number <= -limit)
        fail(ErrorCode::INCORRECT_DATA, "a decimal has too many digits");
    return number;
}

class LeafMaker {
public:
    LeafMaker(DataContext& context, const ReadField& wanted, const std::string& name)
        : context_(context),
          field_(*context.by_index[static_cast<size_t>(wanted.source)]),
          source_(context.fields.sources[static_cast<size_t>(wanted.source)]),
          node_(context.schema.node(source_.node)),
          wanted_(wanted.type),
          name_(name) {}

    std::unique_ptr<ValueReader> make() {
        const TypePtr natural = unwrap(field_.type);
        switch (natural->id()) {
            case TypeId::Nothing:
                if (!accepts_null(*wanted_)) break;
                return std::make_unique<NullReader>(context_, source_.null_branch, name_, field_.type, wanted_);
            case TypeId::Bool:
                return fixed<uint8_t>([](Cursor& c) -> uint8_t { return c.read_boolean() ? 1 : 0; });
            case TypeId::Int32:
            case TypeId::Date32:
                return fixed<int32_t>(read_int);
            case TypeId::Int64:
            case TypeId::DateTime64:
                return fixed<int64_t>([](Cursor& c) { return c.read_long(); });
            case TypeId::Float32:
                return fixed<float>([](Cursor& c) { return c.read_float(); });
            case TypeId::Float64:
                return fixed<double>([](Cursor& c) { return c.read_double(); });
            case TypeId::UUID:
                if (node_.kind == Kind::String)
                    return fixed<UInt128>([](Cursor& c) { return uuid_of_text(c.read_bytes()); });
                return fixed<UInt128>([](Cursor& c) { return uuid_of_bytes(c.read_fixed(kUuidBytes)); });
            case TypeId::Decimal:
                return decimal(*natural);
            default:
                return string();
        }
        fail(ErrorCode::INCORRECT_DATA, "{}: column {}: a null cannot be read as {}", context_.file, name_,
             wanted_->name());
    }

private:
    template <typename T, typename Read>
    std::unique_ptr<ValueReader> fixed(Read read) {
        return std::make_unique<FixedReader<T, Read>>(context_, source_.null_branch, name_, field_.type, wanted_,
                                                      std::move(read));
    }
    template <typename Read>
    std::unique_ptr<ValueReader> string_of(Read read) {
        return std::make_unique<StringReader<Read>>(context_, source_.null_branch, name_, field_.type, wanted_,
                                                    std::move(read));
    }

    std::unique_ptr<ValueReader> decimal(const DataType& type) {
        switch (type.physical()) {
            case Physical::Int32:
                return decimal_of<int32_t>(type);
            case Physical::Int64:
                return decimal_of<int64_t>(type);
            default:
                return decimal_of<Int128>(type);
        }
    }
    template <typename T>
    std::unique_ptr<ValueReader> decimal_of(const DataType& type) {
        const Int128 limit = power_of_ten(type.precision());
        if (node_.kind == Kind::Bytes)
            return fixed<T>([limit](Cursor& c) { return static_cast<T>(decimal_of_bytes(c.read_bytes(), limit)); });
        return fixed<T>([limit, size = node_.size](Cursor& c) {
            return static_cast<T>(decimal_of_bytes(c.read_fixed(size), limit));
        });
    }

    std::unique_ptr<ValueReader> string() {
        if (node_.kind == Kind::Fixed) return string_of([size = node_.size](Cursor& c) { return c.read_fixed(size); });
        if (node_.kind == Kind::Enum)
            return string_of([symbols = &node_.symbols](Cursor& c) {
                const int64_t symbol = c.read_long();
                if (symbol < 0 || static_cast<uint64_t>(symbol) >= symbols->size())
                    fail(ErrorCode::INCORRECT_DATA, "an enum has no symbol {}", symbol);
                return std::string_view((*symbols)[static_cast<size_t>(symbol)]);
            });
        return string_of([](Cursor& c) { return c.read_bytes(); });
    }

    DataContext& context_;
    const FileField& field_;
    const FieldSource& source_;
    const Node& node_;
    TypePtr wanted_;
    const std::string& name_;
};

}  // namespace

std::unique_ptr<ValueReader> make_leaf_reader(DataContext& context, const ReadField& wanted, const std::string& name) {
    return LeafMaker(context, wanted, name).make();
}

std::unique_ptr<ValueReader> make_key_reader(DataContext& context, const TypePtr& wanted, const std::string& name) {
    const auto read = [](Cursor& c) { return c.read_bytes(); };
    return std::make_unique<StringReader<decltype(read)>>(context, -1, name, make_type(TypeId::String), wanted, read);
}

}  // namespace firn::file::avro
