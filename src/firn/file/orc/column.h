// Readers of a stripe's columns: each turns the streams of one column (and its children) into vectors of the wanted
// type.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/file/data_file.h"
#include "firn/file/orc/rle.h"
#include "firn/file/orc/tail.h"

namespace firn::file::orc {

/// What the columns of a stripe share. One for each UnitReader; not thread-safe.
class StripeReader {
public:
    /// `tail` and `fields` (by FileField::index) outlive it.
    StripeReader(std::shared_ptr<const storage::OpenFile> file, const Tail& tail, size_t stripe,
                 const std::vector<const FileField*>& fields);

    const std::string& path() const { return file_->info().path; }
    const Tail& tail() const { return tail_; }
    const FileField& field(int index) const;
    const Type& type(uint32_t column) const { return tail_.types[column]; }
    const ColumnEncoding& encoding(uint32_t column) const { return footer_.encodings[column]; }
    bool has_dictionary(uint32_t column) const {
        const EncodingKind kind = encoding(column).kind;
        return kind == EncodingKind::Dictionary || kind == EncodingKind::DictionaryV2;
    }
    const StripeFooter& footer() const { return footer_; }
    const std::string& writer_timezone() const { return footer_.writer_timezone; }

    bool has(uint32_t column, StreamKind kind) const { return streams_.count({column, kind}) != 0; }
    /// An empty stream where there is none.
    std::unique_ptr<ByteStream> stream(uint32_t column, StreamKind kind) const;
    std::unique_ptr<IntRle> integers(uint32_t column, StreamKind kind, bool is_signed) const;
    /// The entries of the column's row index, one for each row group; null where there is none.
    const std::vector<RowIndexEntry>* row_index(uint32_t column);

private:
    std::shared_ptr<const storage::OpenFile> file_;
    const Tail& tail_;
    StripeFooter footer_;
    const std::vector<const FileField*>& fields_;
    std::shared_ptr<Decompressor> decompressor_;
    std::map<std::pair<uint32_t, StreamKind>, StreamInfo> streams_;
    std::map<uint32_t, std::vector<RowIndexEntry>> indexes_;
};

class ColumnReader {
public:
    virtual ~ColumnReader() = default;
    /// The next n values, NULLs included.
    virtual VectorPtr read(size_t n) = 0;
    virtual void skip(size_t n) = 0;
    /// Whether the row index leads to the begin of a row group, for the column and all below it.
    virtual bool can_seek(size_t group) = 0;
    virtual void seek(size_t group) = 0;
};

/// A column with an optional PRESENT stream: what is the same for leaves, structs, lists and maps.
class PresentReader : public ColumnReader {
public:
    PresentReader(StripeReader& stripe, uint32_t column, std::string name);
    VectorPtr read(size_t n) override;
    void skip(size_t n) override;
    bool can_seek(size_t group) override;
    void seek(size_t group) override;

protected:
    /// The next n rows, `there` of which are not NULL: present() says which.
    virtual VectorPtr read_rows(size_t n, size_t there) = 0;
    /// Passes over `there` values.
    virtual void skip_values(size_t there) = 0;
    virtual void seek_values(Positions& positions) = 0;
    /// How many positions seek_values takes.
    virtual size_t positions() const = 0;
    virtual bool children_can_seek(size_t group) { return true; }
    virtual void seek_children(size_t group) {}

    /// One byte a row, 1 where it is not NULL. Valid during read_rows.
    const uint8_t* present() const { return present_.data(); }
    bool has_present() const { return present_rle_ != nullptr; }
    /// Null flags for n rows; null where there is no NULL. Throws INCORRECT_DATA where `type` accepts none.
    BufferPtr null_flags(const DataType& type, size_t n, size_t there) const;
    /// Positions of a stream's bytes: 2 with compression, else 1.
    size_t byte_positions() const { return compressed_ ? 2 : 1; }
    [[noreturn]] void fail_column(std::string_view what) const;

    StripeReader& stripe_;
    const uint32_t column_;
    const std::string name_;

private:
    bool compressed_;
    std::unique_ptr<BooleanRle> present_rle_;
    TrackedVector<uint8_t> present_;
};

/// The reader of a wanted field, children and all. `name` is the column's path, for errors.
std::unique_ptr<ColumnReader> make_column_reader(StripeReader& stripe, const ReadField& wanted,
                                                 const std::string& name);
/// The same for a field that is no struct, list or map.
std::unique_ptr<ColumnReader> make_leaf_reader(StripeReader& stripe, const ReadField& wanted, const std::string& name);

/// The same for a variant: a struct of metadata and value, read as JSON text.
std::unique_ptr<ColumnReader> make_variant_reader(StripeReader& stripe, const ReadField& wanted,
                                                  const std::string& name);

}  // namespace firn::file::orc
