// Strings and binaries: direct ones and those of a dictionary, which one stripe's vectors share.
#include <algorithm>

#include "firn/base/error.h"
#include "firn/file/orc/column_leaf.h"

namespace firn::file::orc {
namespace {

/// Strings are read into storage of about this size each.
constexpr uint64_t kStorageBytes = uint64_t{1} << 20;

/// Reads strings whose lengths are given: `out` gets views into storage that `owners` keep.
/// The lengths must have been checked by check_lengths.
void read_bytes(ByteStream& data, const int64_t* lengths, size_t n, StringRef* out, Owners& owners) {
    for (size_t i = 0; i < n;) {
        uint64_t bytes = 0;
        size_t end = i;
        while (end < n && (end == i || bytes + static_cast<uint64_t>(lengths[end]) <= kStorageBytes))
            bytes += static_cast<uint64_t>(lengths[end++]);
        auto storage = Buffer::allocate(bytes);
        data.read(storage->mutable_data(), bytes);
        const char* at = storage->data();
        for (; i < end; at += lengths[i], ++i) out[i] = StringRef(at, static_cast<size_t>(lengths[i]));
        owners.push_back(std::move(storage));
    }
}

class StringReader final : public LeafReader {
public:
    StringReader(StripeReader& stripe, uint32_t column, LeafTarget target)
        : LeafReader(stripe, column, std::move(target)),
          lengths_(stripe.integers(column, StreamKind::Length, false)),
          data_(stripe.stream(column, StreamKind::Data)),
          inner_(unwrap(target_.read_as)) {}

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        raw_lengths_.resize(there);
        lengths_->read(raw_lengths_.data(), there);
        check_lengths();
        if (inner_->id() == TypeId::UUID) return read_uuids(n, there);
        auto values = Buffer::allocate(n * sizeof(StringRef));
        Owners owners;
        read_bytes(*data_, raw_lengths_.data(), there, values->mutable_as<StringRef>(), owners);
        StringRef under_null;
        if (inner_->id() == TypeId::FixedString && there < n) {
            auto zeros = Buffer::allocate_zeroed(inner_->length());
            under_null = StringRef(zeros->data(), zeros->size());
            owners.push_back(std::move(zeros));
        }
        return finish<StringRef>(std::move(values), n, there, std::move(owners), under_null);
    }

    void skip_values(size_t there) override {
        constexpr size_t kPiece = IntRle::kMaxRun;
        while (there) {
            const size_t piece = std::min(there, kPiece);
            raw_lengths_.resize(piece);
            lengths_->read(raw_lengths_.data(), piece);
            check_lengths();
            uint64_t bytes = 0;
            for (int64_t length : raw_lengths_) bytes += static_cast<uint64_t>(length);
            data_->skip(bytes);
            there -= piece;
        }
    }
    void seek_values(Positions& positions) override {
        seek_bytes(*data_, positions);
        lengths_->seek(positions);
    }
    size_t positions() const override { return 2 * byte_positions() + 1; }

private:
    void check_lengths() const {
        const uint64_t most = std::min<uint64_t>(data_->most_left(), UINT32_MAX);
        const bool fixed = inner_->id() == TypeId::FixedString || inner_->id() == TypeId::UUID;
        const uint64_t size = inner_->id() == TypeId::UUID ? 16 : inner_->length();
        for (int64_t length : raw_lengths_) {
            if (length < 0 || static_cast<uint64_t>(length) > most) fail_column("a string is longer than its stream");
            if (fixed && static_cast<uint64_t>(length) != size)
                fail_column("a value has " + std::to_string(length) + " bytes instead of " + std::to_string(size));
        }
    }

    VectorPtr read_uuids(size_t n, size_t there) {
        auto values = Buffer::allocate(n * sizeof(UInt128));
        auto* out = values->mutable_as<UInt128>();
        data_->read(out, there * sizeof(UInt128));
        for (size_t i = 0; i < there; ++i) {
            const auto low = static_cast<uint64_t>(out[i]), high = static_cast<uint64_t>(out[i] >> 64);
            out[i] = static_cast<UInt128>(__builtin_bswap64(low)) << 64 | __builtin_bswap64(high);
        }
        return finish<UInt128>(std::move(values), n, there);
    }

    std::unique_ptr<IntRle> lengths_;
    std::unique_ptr<ByteStream> data_;
    TypePtr inner_;
    TrackedVector<int64_t> raw_lengths_;
};

class DictionaryReader final : public LeafReader {
public:
    DictionaryReader(StripeReader& stripe, uint32_t column, LeafTarget target)
        : LeafReader(stripe, column, std::move(target)), codes_(stripe.integers(column, StreamKind::Data, false)) {}

protected:
    VectorPtr read_leaf(size_t n, size_t there) override {
        if (!dictionary_) {
            const bool with_null = has_present() && accepts_null(*target_.read_as);
            dictionary_ = read_dictionary(stripe_, column_, target_.read_as, with_null, name_);
            entries_ = dictionary_->size() - (with_null ? 1 : 0);
        }
        raw_codes_.resize(n);
        codes_->read(raw_codes_.data(), there);
        for (size_t i = 0; i < there; ++i)
            if (static_cast<uint64_t>(raw_codes_[i]) >= entries_) fail_column("a code lies beyond the dictionary");
        if (there < n) {
            if (!accepts_null(*target_.read_as)) fail_column("it holds a NULL although it must not");
            spread<int64_t>(raw_codes_.data(), n, there, static_cast<int64_t>(entries_));
        }
        if (n == 0) return Vector::flat(target_.read_as, 0, Buffer::allocate(0));
        auto codes = Buffer::allocate(n * sizeof(uint32_t));
        std::transform(raw_codes_.begin(), raw_codes_.end(), codes->mutable_as<uint32_t>(),
                       [](int64_t code) { return static_cast<uint32_t>(code); });
        return Vector::dictionary(dictionary_, n, std::move(codes));
    }
    void skip_values(size_t there) override { codes_->skip(there); }
    void seek_values(Positions& positions) override { codes_->seek(positions); }
    size_t positions() const override { return byte_positions() + 1; }

private:
    std::unique_ptr<IntRle> codes_;
    VectorPtr dictionary_;
    uint64_t entries_ = 0;
    TrackedVector<int64_t> raw_codes_;
};

}  // namespace

VectorPtr read_dictionary(StripeReader& stripe, uint32_t column, const TypePtr& type, bool with_null,
                          const std::string& name) {
    const size_t entries = stripe.encoding(column).dictionary_size;
    const auto lengths = stripe.integers(column, StreamKind::Length, false);
    const auto data = stripe.stream(column, StreamKind::DictionaryData);
    TrackedVector<StringRef> refs;
    Owners owners;
    constexpr size_t kPiece = 4096;
    int64_t raw[kPiece];
    for (size_t left = entries; left;) {
        const size_t piece = std::min<size_t>(left, kPiece);
        lengths->read(raw, piece);
        const uint64_t most = std::min<uint64_t>(data->most_left(), UINT32_MAX);
        for (size_t i = 0; i < piece; ++i)
            if (raw[i] < 0 || static_cast<uint64_t>(raw[i]) > most)
                fail(ErrorCode::INCORRECT_DATA,
                     "ORC file {}: column {}: an entry of the dictionary is longer than its stream", stripe.path(),
                     name);
        refs.resize(refs.size() + piece);
        read_bytes(*data, raw, piece, refs.data() + refs.size() - piece, owners);
        left -= piece;
    }
    const size_t size = entries + (with_null ? 1 : 0);
    auto values = Buffer::allocate(size * sizeof(StringRef));
    std::copy(refs.begin(), refs.end(), values->mutable_as<StringRef>());
    MutableBufferPtr nulls;
    if (with_null) {
        values->mutable_as<StringRef>()[entries] = StringRef();
        nulls = Buffer::allocate_zeroed(size);
        nulls->mutable_as<uint8_t>()[entries] = 1;
    }
    return Vector::flat(type, size, std::move(values), std::move(nulls), std::move(owners));
}

std::unique_ptr<ColumnReader> make_string_reader(StripeReader& stripe, uint32_t column, LeafTarget target) {
    const bool dictionary = stripe.has_dictionary(column);
    if (dictionary && unwrap(target.read_as)->id() == TypeId::String)
        return std::make_unique<DictionaryReader>(stripe, column, std::move(target));
    if (dictionary)
        fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: column {}: a dictionary of {} is not supported", stripe.path(),
             target.name, target.read_as->name());
    return std::make_unique<StringReader>(stripe, column, std::move(target));
}

}  // namespace firn::file::orc
