// An open Parquet file: its footer, parsed and checked.
#pragma once

#include "firn/file/data_file.h"
#include "firn/file/parquet/metadata.h"
#include "firn/file/parquet/schema.h"

namespace firn::file::pq {

class ParquetFile final : public DataFile, public std::enable_shared_from_this<ParquetFile> {
public:
    explicit ParquetFile(std::shared_ptr<const storage::OpenFile> file);

    const std::string& path() const override { return file_->info().path; }
    Format format() const override { return Format::Parquet; }
    const std::vector<FileField>& fields() const override { return schema_.fields; }
    uint64_t rows() const override { return first_rows_.back(); }
    size_t units() const override { return metadata_.row_groups.size(); }
    uint64_t unit_rows(size_t unit) const override { return first_rows_[unit + 1] - first_rows_[unit]; }
    uint64_t unit_first_row(size_t unit) const override { return first_rows_[unit]; }

    ValueStatistics unit_statistics(size_t unit, int field) const override;
    std::vector<PageRange> page_statistics(size_t unit, int field) const override;
    bool has_bloom_filter(size_t unit, int field) const override;
    bool might_contain(size_t unit, int field, const VectorPtr& value) const override;
    VectorPtr unit_dictionary(size_t unit, int field) const override;
    std::unique_ptr<UnitReader> read_unit(size_t unit, std::vector<ReadField> columns) const override;
    std::shared_ptr<const void> read_ahead(size_t unit, const std::vector<ReadField>& columns) const override;

    const std::shared_ptr<const storage::OpenFile>& file() const { return file_; }
    const Schema& schema() const { return schema_; }
    const RowGroup& group(size_t unit) const { return metadata_.row_groups[unit]; }

private:
    void read_footer();
    void check_row_groups();
    const Leaf* leaf(int field) const;
    bool never_null(int field) const;
    ColumnOrder order(const Leaf& leaf) const;
    /// Bytes of the file; INCORRECT_DATA where the file is too short.
    std::string read(int64_t offset, int64_t size, const char* what) const;

    std::shared_ptr<const storage::OpenFile> file_;
    std::string footer_;  // what metadata_ looks into
    FileMetadata metadata_;
    Schema schema_;
    std::vector<uint64_t> first_rows_;  // one more than row groups
};

}  // namespace firn::file::pq
