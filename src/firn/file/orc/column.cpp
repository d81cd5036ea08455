#include "firn/file/orc/column.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"

namespace firn::file::orc {

StripeReader::StripeReader(std::shared_ptr<const storage::OpenFile> file, const Tail& tail, size_t stripe,
                           const std::vector<const FileField*>& fields)
    : file_(std::move(file)),
      tail_(tail),
      footer_(read_stripe_footer(*file_, tail, stripe)),
      fields_(fields),
      decompressor_(std::make_shared<Decompressor>(tail.compression, tail.block_size, file_->info().path)) {
    for (const auto& stream : footer_.streams) {
        if (stream.kind > static_cast<uint32_t>(StreamKind::BloomFilterUtf8) || stream.column >= tail.types.size())
            continue;
        streams_.emplace(std::pair{stream.column, static_cast<StreamKind>(stream.kind)}, stream);
    }
    if (has(0, StreamKind::Present) && streams_.at({0, StreamKind::Present}).length > 0)
        fail(ErrorCode::NOT_IMPLEMENTED, "ORC file {}: whole rows may be NULL, which is not supported", path());
}

const FileField& StripeReader::field(int index) const {
    if (index < 0 || static_cast<size_t>(index) >= fields_.size() || !fields_[static_cast<size_t>(index)])
        fail(ErrorCode::LOGICAL_ERROR, "ORC file {} has no field {}", path(), index);
    return *fields_[static_cast<size_t>(index)];
}

std::unique_ptr<ByteStream> StripeReader::stream(uint32_t column, StreamKind kind) const {
    const auto found = streams_.find({column, kind});
    if (found == streams_.end()) return std::make_unique<ByteStream>(decompressor_);
    return std::make_unique<ByteStream>(file_, decompressor_, found->second.offset, found->second.length);
}

std::unique_ptr<IntRle> StripeReader::integers(uint32_t column, StreamKind kind, bool is_signed) const {
    const EncodingKind encoding_kind = encoding(column).kind;
    const bool version2 = encoding_kind == EncodingKind::DirectV2 || encoding_kind == EncodingKind::DictionaryV2;
    return std::make_unique<IntRle>(stream(column, kind), version2, is_signed);
}

const std::vector<RowIndexEntry>* StripeReader::row_index(uint32_t column) {
    const auto known = indexes_.find(column);
    if (known != indexes_.end()) return &known->second;
    const auto found = streams_.find({column, StreamKind::RowIndex});
    if (found == streams_.end()) return nullptr;
    return &indexes_.emplace(column, read_row_index(*file_, tail_, found->second)).first->second;
}

PresentReader::PresentReader(StripeReader& stripe, uint32_t column, std::string name)
    : stripe_(stripe),
      column_(column),
      name_(std::move(name)),
      compressed_(stripe.tail().compression != Compression::None) {
    if (stripe.has(column, StreamKind::Present))
        present_rle_ = std::make_unique<BooleanRle>(stripe.stream(column, StreamKind::Present));
}

VectorPtr PresentReader::read(size_t n) {
    size_t there = n;
    if (present_rle_) {
        present_.resize(n);
        present_rle_->read(present_.data(), n);
        there = static_cast<size_t>(std::count(present_.begin(), present_.end(), uint8_t{1}));
    }
    return read_rows(n, there);
}

void PresentReader::skip(size_t n) {
    if (!present_rle_) return skip_values(n);
    constexpr size_t kPiece = 4096;
    uint8_t bits[kPiece];
    size_t there = 0;
    for (size_t left = n; left;) {
        const size_t piece = std::min(left, kPiece);
        present_rle_->read(bits, piece);
        there += static_cast<size_t>(std::count(bits, bits + piece, uint8_t{1}));
        left -= piece;
    }
    skip_values(there);
}

bool PresentReader::can_seek(size_t group) {
    const auto* index = stripe_.row_index(column_);
    if (!index || group >= index->size()) return false;
    // Any other number means a layout that is not known.
    const size_t expected = (present_rle_ ? byte_positions() + 2 : 0) + positions();
    return (*index)[group].positions.size() == expected && children_can_seek(group);
}

void PresentReader::seek(size_t group) {
    const auto none = stripe_.stream(column_, StreamKind::Present);
    Positions positions((*stripe_.row_index(column_))[group].positions, none.get());
    if (present_rle_) present_rle_->seek(positions);
    seek_values(positions);
    seek_children(group);
}

BufferPtr PresentReader::null_flags(const DataType& type, size_t n, size_t there) const {
    if (there == n) return nullptr;
    if (!accepts_null(type)) fail_column("it holds a NULL although it must not");
    auto nulls = Buffer::allocate(n);
    auto* out = nulls->mutable_as<uint8_t>();
    for (size_t i = 0; i < n; ++i) out[i] = present_[i] ^ 1;
    return nulls;
}

void PresentReader::fail_column(std::string_view what) const {
    fail(ErrorCode::INCORRECT_DATA, "ORC file {}: column {}: {}", stripe_.path(), name_, what);
}

}  // namespace firn::file::orc
