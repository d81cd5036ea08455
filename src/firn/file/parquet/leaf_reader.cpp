#include "firn/file/parquet/leaf_reader.h"

#include <algorithm>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/file/parquet/bit_unpack.h"
#include "firn/file/parquet/convert.h"

namespace firn::file::pq {

LeafReader::LeafReader(std::shared_ptr<const storage::OpenFile> file, const ColumnChunk& chunk, const Node& node,
                       TypePtr wanted)
    : file_(std::move(file)),
      node_(node),
      leaf_(node.leaf),
      max_definition_(node.definition),
      wanted_(std::move(wanted)),
      walker_(file_, chunk) {
    if (chunk.encrypted) fail(ErrorCode::NOT_IMPLEMENTED, "the column is encrypted, which is not supported");
    if (chunk.elsewhere)
        fail(ErrorCode::NOT_IMPLEMENTED, "the column's data are in another file, which is not supported");
    if (chunk.physical != leaf_.physical)
        fail(ErrorCode::INCORRECT_DATA, "the column chunk's type is not the schema's");
    if (!wanted_) return;
    nullable_ = accepts_null(*wanted_);
    type_ = nullable_ ? make_nullable(leaf_.type) : leaf_.type;
    if (leaf_.conversion == Conversion::FixedBytes) {
        absent_owner_ = Buffer::allocate_zeroed(static_cast<size_t>(leaf_.length));
        absent_string_ = StringRef(absent_owner_->data(), absent_owner_->size());
    }
    promotes_ = !same_type(type_, wanted_);
    if (promotes_) promote(Vector::defaults(type_, 0), wanted_, leaf_.path);  // refuses what is no promotion
}

// ---- Pages

bool LeafReader::next_page() {
    if (has_page_) {
        if (!is_loaded_) count_event(ProfileEvent::ParquetSkippedPages);
        page_first_ += page_entries_;
    }
    has_page_ = is_loaded_ = false;
    decoder_.reset();
    page_owner_.reset();
    while (walker_.next()) {
        if (walker_.header().kind == PageKind::Dictionary) {
            if (base_ || dictionary_) fail(ErrorCode::INCORRECT_DATA, "the column chunk has more than one dictionary");
            dictionary_ = walker_.page();
            continue;
        }
        has_page_ = true;
        page_entries_ = walker_.header().values;
        page_at_ = 0;
        return true;
    }
    ended_ = true;
    return false;
}

void LeafReader::read_dictionary() {
    const PageHeader& header = dictionary_->header;
    if (header.encoding != PageEncoding::Plain && header.encoding != PageEncoding::PlainDictionary)
        fail(ErrorCode::INCORRECT_DATA, "encoding {} is not one of dictionaries", static_cast<int>(header.encoding));
    const PageWalker::Content content = walker_.content(*dictionary_);
    const size_t n = header.values;
    const size_t least = leaf_.physical == PhysicalType::ByteArray ? 4 : leaf_.raw_width();
    const bool is_boolean = leaf_.physical == PhysicalType::Boolean;
    if (n > (is_boolean ? content.bytes.size() * 8 : content.bytes.size() / least))
        fail(ErrorCode::INCORRECT_DATA, "a dictionary of {} values does not fit into {} bytes", n,
             content.bytes.size());
    const auto decoder = make_plain_decoder(leaf_, content.bytes);
    const size_t width = type_->value_size();
    auto values = Buffer::allocate((n + 1) * width);
    Owners owners;
    decode_values(*decoder, n, nullptr, n, values->mutable_data(), content.owner, owners);
    fill_absent(values->mutable_data() + n * width, 1);
    if (absent_owner_) owners.push_back(absent_owner_);
    base_ = Vector::flat(type_, n, std::move(values), nullptr, std::move(owners));
    promoted_base_ = promotes_ ? promote(base_, wanted_, leaf_.path) : base_;
    dictionary_size_ = static_cast<uint32_t>(n);
    dictionary_.reset();
}

void LeafReader::allow_absent() {
    if (!base_ || base_->size() > dictionary_size_) return;
    MutableBufferPtr nulls;
    if (nullable_) {
        nulls = Buffer::allocate_zeroed(size_t{dictionary_size_} + 1);
        nulls->mutable_as<uint8_t>()[dictionary_size_] = 1;
    }
    base_ =
        Vector::flat(type_, size_t{dictionary_size_} + 1, base_->values_buffer(), std::move(nulls), base_->owners());
    promoted_base_ = promotes_ ? promote(base_, wanted_, leaf_.path) : base_;
}

VectorPtr LeafReader::base_with_absent() {
    allow_absent();
    return promoted_base_;
}

VectorPtr LeafReader::dictionary() {
    if (!walker_.next() || walker_.header().kind != PageKind::Dictionary) return nullptr;
    dictionary_ = walker_.page();
    read_dictionary();
    return base_;
}

void LeafReader::load_page() {
    is_loaded_ = true;
    count_event(ProfileEvent::ParquetDecodedPages);
    PageWalker::Content content = walker_.content(walker_.page());
    page_owner_ = std::move(content.owner);
    start_levels(content.bytes);
    if (wanted_) start_values(content.bytes);
}

/// Takes the levels off the front of the page.
void LeafReader::start_levels(Bytes& bytes) {
    const PageHeader& header = walker_.header();
    const auto take = [&](uint8_t max, PageEncoding encoding, uint32_t v2_size) {
        size_t size = v2_size;
        if (header.kind != PageKind::DataV2) {
            if (max == 0) return LevelReader();
            if (encoding == PageEncoding::BitPacked) {
                size = (size_t{header.values} * static_cast<size_t>(bits_for(max)) + 7) / 8;
            } else if (encoding == PageEncoding::Rle) {
                uint32_t stored = 0;
                if (bytes.size() < 4) fail(ErrorCode::INCORRECT_DATA, "a page is too short for its levels");
                std::memcpy(&stored, bytes.begin, 4);
                bytes.begin += 4;
                size = stored;
            } else {
                fail(ErrorCode::INCORRECT_DATA, "encoding {} is not one of levels", static_cast<int>(encoding));
            }
        }
        if (size > bytes.size()) fail(ErrorCode::INCORRECT_DATA, "a page's levels pass its end");
        const uint8_t* begin = bytes.begin;
        bytes.begin += size;
        if (max == 0) return LevelReader();
        if (header.kind != PageKind::DataV2 && encoding == PageEncoding::BitPacked)
            return LevelReader::bit_packed(begin, bytes.begin, max);
        return LevelReader::hybrid(begin, bytes.begin, max);
    };
    repetition_ = take(node_.repetition, header.repetition_encoding, header.repetition_bytes);
    definition_ = take(max_definition_, header.definition_encoding, header.definition_bytes);
}

void LeafReader::start_values(Bytes bytes) {
    const PageHeader& header = walker_.header();
    is_dictionary_ = header.encoding == PageEncoding::PlainDictionary || header.encoding == PageEncoding::RleDictionary;
    if (!is_dictionary_) {
        decoder_ = bytes.size() ? make_decoder(leaf_, header.encoding, bytes, header.values)
                                : make_plain_decoder(leaf_, bytes);
        return;
    }
    if (dictionary_) read_dictionary();
    if (!base_) fail(ErrorCode::INCORRECT_DATA, "a page is dictionary-encoded, but there is no dictionary before it");
    const int width = bytes.size() ? *bytes.begin : 0;
    codes_ = bytes.size() ? HybridReader(bytes.begin + 1, bytes.end, width) : HybridReader(bytes.begin, bytes.end, 0);
    check_codes_ = width >= 32 || (uint64_t{1} << width) > dictionary_size_;
}

// ---- Values

/// n values (those at rows, where given: m of them) as values of type_ in out.
void LeafReader::decode_values(ValueDecoder& decoder, size_t n, const uint32_t* rows, size_t m, char* out,
                               const BufferPtr& page, Owners& owners) {
    const auto read = [&](char* to) { rows ? decoder.read_selected(rows, m, n, to) : decoder.read(n, to); };
    const size_t raw_width = leaf_.raw_width();
    if (leaf_.conversion == Conversion::None) {
        read(out);
        if (leaf_.physical == PhysicalType::ByteArray) {
            owners.push_back(page);
            if (auto owner = decoder.owner()) owners.push_back(std::move(owner));
        }
        return;
    }
    if (leaf_.conversion == Conversion::FixedBytes) {
        const char* bytes = rows ? nullptr : decoder.view(n);
        if (bytes) {
            decoder.skip(n);
            owners.push_back(page);
        } else {
            auto copy = Buffer::allocate(m * raw_width);
            read(copy->mutable_data());
            bytes = copy->data();
            owners.push_back(std::move(copy));
        }
        for (size_t i = 0; i < m; ++i)
            reinterpret_cast<StringRef*>(out)[i] = StringRef(bytes + i * raw_width, raw_width);
        return;
    }
    if (raw_.size() < m * raw_width) raw_.resize(m * raw_width);
    read(raw_.data());
    convert_values(leaf_, raw_.data(), m, out);
}

void LeafReader::read_codes(size_t n, const uint32_t* rows, size_t m, uint32_t* out) {
    uint32_t greatest = 0;
    if (!rows) {
        greatest = codes_.read(n, out);
    } else if (m < n / 4) {
        codes_.read_selected(rows, m, n, out);
        if (check_codes_) greatest = max_of(out, m);
    } else {
        if (code_scratch_.size() < n) code_scratch_.resize(n);
        greatest = codes_.read(n, code_scratch_.data());
        pick_values4(reinterpret_cast<const uint8_t*>(code_scratch_.data()), n, rows, m,
                     reinterpret_cast<uint8_t*>(out));
    }
    if (check_codes_ && m && greatest >= dictionary_size_)
        fail(ErrorCode::INCORRECT_DATA, "a code is beyond the dictionary's {} values", dictionary_size_);
}

void LeafReader::add_codes(size_t n, const uint32_t* rows, size_t m, LeafOutput& out) {
    uint32_t code = 0;
    if (codes_.run(code) >= n) {
        if (code >= dictionary_size_)
            fail(ErrorCode::INCORRECT_DATA, "a code is beyond the dictionary's {} values", dictionary_size_);
        codes_.skip(n);
        return out.add_run(base_, code, m);
    }
    read_codes(n, rows, m, out.add_codes(base_, m));
}

/// The values as they lie in the page, where that is possible and worth pinning the page for.
bool LeafReader::add_view(size_t n, LeafOutput& out) {
    constexpr size_t kLeast = 2048;
    if (leaf_.conversion != Conversion::None || leaf_.physical == PhysicalType::ByteArray || n < kLeast ||
        n != out.capacity())
        return false;
    const char* view = decoder_->view(n);
    const size_t width = type_->value_size();
    if (!view || reinterpret_cast<uintptr_t>(view) % width) return false;
    decoder_->skip(n);
    out.adopt(Vector::flat(type_, n, Buffer::wrap(view, n * width, page_owner_)));
    return true;
}

void LeafReader::add_present(size_t n, const uint32_t* rows, size_t m, LeafOutput& out) {
    if (is_dictionary_) return add_codes(n, rows, m, out);
    if (!rows && add_view(n, out)) return;
    Owners owners;
    decode_values(*decoder_, n, rows, m, out.add_values(m), page_owner_, owners);
    for (auto& owner : owners) out.keep(std::move(owner));
}

void LeafReader::add_absent(size_t n, LeafOutput& out) {
    if (is_dictionary_) {
        allow_absent();
        return out.add_run(base_, dictionary_size_, n);
    }
    fill_absent(out.add_values(n), n);
    if (absent_owner_) out.keep(absent_owner_);
    if (nullable_) std::memset(out.nulls_of_last(n), 1, n);
}

/// What stands in the places of values that are not there: the type's default.
void LeafReader::fill_absent(char* out, size_t n) const {
    if (leaf_.conversion == Conversion::FixedBytes)
        std::fill_n(reinterpret_cast<StringRef*>(out), n, absent_string_);
    else
        std::memset(out, 0, n * type_->value_size());
}

/// NULL of the column itself (as against that of a struct around it) where the wanted type has none.
void LeafReader::check_levels(const uint8_t* levels, size_t n) const {
    if (nullable_ || !node_.optional || !wanted_) return;
    const auto own = static_cast<uint8_t>(max_definition_ - 1);
    if (std::find(levels, levels + n, own) != levels + n)
        fail(ErrorCode::INCORRECT_DATA, "there is a NULL where {} allows none", wanted_->name());
}

/// n entries of the current page, or those at rows.
void LeafReader::read_part(size_t n, const uint32_t* rows, size_t m, LeafOutput& out) {
    uint8_t level = 0;
    if (definition_.run(level) < n) return read_mixed(n, rows, m, out);
    definition_.skip(n);
    if (level == max_definition_) return add_present(n, rows, m, out);
    check_levels(&level, 1);
    add_absent(m, out);
}

void LeafReader::read_mixed(size_t n, const uint32_t* rows, size_t m, LeafOutput& out) {
    if (valid_.size() < n) valid_.resize(n);
    uint8_t* valid = valid_.data();
    definition_.read(n, valid);
    check_levels(valid, n);
    if (max_definition_ > 1)
        for (size_t i = 0; i < n; ++i) valid[i] = valid[i] == max_definition_;
    const size_t present = count_ones(valid, n);
    const uint32_t* dense_rows = nullptr;
    size_t dense = present;
    if (rows) {
        // The wanted entries that have a value, as positions among the values; valid becomes that of the wanted
        // entries.
        if (picked_.size() < m) picked_.resize(m);
        dense = 0;
        size_t at = 0, before = 0;
        for (size_t i = 0; i < m; ++i) {
            before += count_ones(valid + at, rows[i] - at);
            at = rows[i];
            picked_[dense] = static_cast<uint32_t>(before);
            const uint8_t there = valid[at];
            valid[i] = there;  // i <= rows[i], and what lies before `at` is not looked at again
            dense += there;
            before += there;
            at += 1;
        }
        dense_rows = picked_.data();
    }
    if (is_dictionary_) {
        if (dense_codes_.size() < dense + 8) dense_codes_.resize(dense + 8);
        read_codes(present, dense_rows, dense, dense_codes_.data());
        if (dense < m) allow_absent();
        return spread_values(dense_codes_.data(), valid, m, dictionary_size_, out.add_codes(base_, m));
    }
    char* values = out.add_values(m);
    const size_t width = type_->value_size();
    char* to = values;
    if (width == 4 || width == 8) {
        if (dense_values_.size() < dense * width + 32) dense_values_.resize(dense * width + 32);
        to = dense_values_.data();
    }
    Owners owners;
    decode_values(*decoder_, present, dense_rows, dense, to, page_owner_, owners);
    for (auto& owner : owners) out.keep(std::move(owner));
    spread_present(to, valid, m, dense, values);
    if (absent_owner_) out.keep(absent_owner_);
    if (nullable_) invert_flags(valid, m, out.nulls_of_last(m));
}

/// The dense values at `from` to their places in `out`, which may be the same.
void LeafReader::spread_present(char* from, const uint8_t* valid, size_t n, size_t dense, char* out) const {
    switch (type_->value_size()) {
        case 4:
            return spread_values(reinterpret_cast<const uint32_t*>(from), valid, n, 0,
                                 reinterpret_cast<uint32_t*>(out));
        case 8:
            return spread_values(reinterpret_cast<const uint64_t*>(from), valid, n, 0,
                                 reinterpret_cast<uint64_t*>(out));
        default:
            break;
    }
    const bool fixed = dispatch_fixed(
        type_->physical(), [&]<typename T>() { spread_in_place(reinterpret_cast<T*>(out), valid, n, dense, T{}); });
    if (!fixed) spread_in_place(reinterpret_cast<StringRef*>(out), valid, n, dense, absent_string_);
}

void LeafReader::skip_present(size_t n) {
    if (!wanted_ || n == 0) return;
    if (is_dictionary_)
        codes_.skip(n);
    else
        decoder_->skip(n);
}

void LeafReader::skip_entries(size_t n) {
    while (n) {
        uint8_t level = 0;
        const size_t run = std::min(n, definition_.run(level));
        if (run) {
            definition_.skip(run);
            if (level == max_definition_) skip_present(run);
            n -= run;
            continue;
        }
        uint8_t block[1024];
        const size_t part = std::min(n, sizeof block);
        definition_.read(part, block);
        skip_present(count_equal(block, part, max_definition_));
        n -= part;
    }
}

VectorPtr LeafReader::finish(LeafOutput& out) {
    VectorPtr vector = out.finish();
    if (!promotes_) return vector;
    if (vector->encoding() == Encoding::Dictionary && vector->base() == base_)
        return Vector::dictionary(promoted_base_, vector->size(), vector->values_buffer());
    return promote(vector, wanted_, leaf_.path);
}

VectorPtr LeafReader::read(uint64_t begin, size_t count, const Selection* selection) {
    const size_t wanted_rows = selection ? selection->size() : count;
    LeafOutput out(type_, wanted_rows);
    size_t done = 0;  // of the selection
    std::vector<uint32_t> moved;
    for (uint64_t row = begin; row < begin + count && out.size() < wanted_rows;) {
        while (!has_page_ || page_first_ + page_entries_ <= row)
            if (!next_page())
                fail(ErrorCode::INCORRECT_DATA, "the column has fewer values than the row group has rows");
        uint64_t first = row, stop = std::min<uint64_t>(begin + count, page_first_ + page_entries_);
        row = stop;
        size_t picked = stop - first;
        const uint32_t* rows = nullptr;  // counted from `first`
        if (selection) {
            // What of the selection lies in this page.
            const auto from = selection->begin() + static_cast<std::ptrdiff_t>(done);
            const auto to = std::lower_bound(from, selection->end(), static_cast<uint32_t>(stop - begin));
            picked = static_cast<size_t>(to - from);
            if (picked == 0) continue;
            done += picked;
            stop = begin + *(to - 1) + 1;
            if (stop - begin - *from == picked) {
                first = begin + *from;
            } else if (first == begin) {
                rows = &*from;
            } else {
                first = begin + *from;
                moved.resize(picked);
                std::transform(from, to, moved.begin(), [&](uint32_t at) { return static_cast<uint32_t>(at - *from); });
                rows = moved.data();
            }
        }
        if (!is_loaded_) load_page();
        const auto skipped = static_cast<size_t>(first - page_first_) - page_at_;
        skip_entries(skipped);
        const auto n = static_cast<size_t>(stop - first);
        read_part(n, rows, picked, out);
        page_at_ += skipped + n;
    }
    return finish(out);
}

// ---- Values with levels

void LevelList::grow(size_t n) {
    auto larger = Buffer::allocate(std::max(size_ + n, 2 * size_));
    if (size_) std::memcpy(larger->mutable_data(), levels_->data(), size_);
    levels_ = std::move(larger);
}

bool LeafReader::fill_block() {
    const size_t n = std::min(kBlock, page_entries_ - page_at_);
    definition_.read(n, block_definition_);
    repetition_.read(n, block_repetition_);
    page_at_ += n;
    block_at_ = 0;
    block_size_ = n;
    return n != 0;
}

/// Walks over this page's entries until it ends or row `end` begins.
void LeafReader::read_page_rows(uint64_t begin, uint64_t end, LeafRows& out, PageTally& tally) {
    while (block_at_ < block_size_ || fill_block()) {
        const size_t from = block_at_;
        size_t take = from;  // entries from here on are wanted
        size_t at = from;
        const size_t starts = count_equal(block_repetition_ + from, block_size_ - from, 0);
        if (next_row_ > begin && next_row_ + starts <= end) {  // all of them are
            next_row_ += starts;
            at = block_size_;
        }
        for (; at < block_size_; ++at) {
            if (block_repetition_[at] == 0) {
                if (next_row_ == end) break;
                ++next_row_;
            } else if (next_row_ == 0) {
                fail(ErrorCode::INCORRECT_DATA, "the column's first value continues a row");
            }
            if (next_row_ <= begin) take = at + 1;
        }
        block_at_ = at;
        const uint8_t* levels = block_definition_;
        tally.skipped += count_equal(levels + from, take - from, max_definition_);
        tally.taken += count_equal(levels + take, at - take, max_definition_);
        check_levels(levels + take, at - take);
        out.definition.append(levels + take, at - take);
        if (node_.repetition) out.repetition.append(block_repetition_ + take, at - take);
        if (at < block_size_) return;
    }
}

void LeafReader::read_rows(uint64_t begin, size_t count, LeafRows& out) {
    const uint64_t end = begin + count;
    std::vector<VectorPtr> parts;
    while (!ended_) {
        if (!has_page_ || (page_at_ == page_entries_ && block_at_ == block_size_)) {
            block_at_ = block_size_ = 0;
            if (!next_page()) break;
            const PageHeader& header = walker_.header();
            // Pages of this kind hold whole rows.
            const uint64_t rows = header.kind == PageKind::DataV2 && node_.repetition ? header.rows
                                  : node_.repetition                                  ? 0
                                                                                      : header.values;
            if (rows && next_row_ + rows <= begin) {
                next_row_ += rows;
                page_at_ = page_entries_;
                continue;
            }
        }
        if (!is_loaded_) load_page();
        PageTally tally;
        read_page_rows(begin, end, out, tally);
        skip_present(tally.skipped);
        if (wanted_ && tally.taken) {
            LeafOutput values(type_, tally.taken);
            add_present(tally.taken, nullptr, tally.taken, values);
            parts.push_back(finish(values));
        }
        if (block_at_ < block_size_) break;  // the next row begins here
        if (next_row_ == end && (node_.repetition == 0 || walker_.header().kind == PageKind::DataV2)) break;
    }
    if (next_row_ < end) fail(ErrorCode::INCORRECT_DATA, "the column has fewer rows than its row group");
    if (wanted_) out.values = concat(wanted_, parts);
}

}  // namespace firn::file::pq
