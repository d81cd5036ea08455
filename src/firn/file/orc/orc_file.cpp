// ORC files as data files: units are stripes, pages are row groups.
#include <algorithm>
#include <mutex>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/file/data_file.h"
#include "firn/file/orc/bloom.h"
#include "firn/file/orc/column.h"
#include "firn/file/orc/column_leaf.h"
#include "firn/file/orc/schema.h"
#include "firn/file/orc/statistics.h"

namespace firn::file {
namespace orc {
namespace {

/// Between two selected rows so many are decoded and dropped rather than skipped.
constexpr uint64_t kReadThroughRows = 2048;

class OrcUnitReader final : public UnitReader {
public:
    OrcUnitReader(std::shared_ptr<const storage::OpenFile> file, std::shared_ptr<const void> owner, const Tail& tail,
                  size_t stripe, const std::vector<const FileField*>& fields, std::vector<ReadField> columns)
        : owner_(std::move(owner)),
          stride_(tail.row_index_stride),
          rows_(tail.stripes[stripe].rows),
          stripe_(std::move(file), tail, stripe, fields) {
        for (const auto& column : columns) {
            const std::string name = column.source < 0 ? std::string() : stripe_.field(column.source).name;
            const auto& top = tail.types[0].subtypes;
            if (column.source >= 0 &&
                std::find(top.begin(), top.end(), static_cast<uint32_t>(column.source) + 1) == top.end())
                fail(ErrorCode::LOGICAL_ERROR, "ORC file {}: {} is no top-level field", stripe_.path(), name);
            columns_.push_back({make_column_reader(stripe_, column, name), column.type, 0});
        }
    }

    VectorPtr read(size_t index, uint64_t begin, size_t count, const Selection* selection) override {
        check_cancelled();
        Column& column = columns_.at(index);
        if (begin < column.at || begin > rows_ || count > rows_ - begin)
            fail(ErrorCode::LOGICAL_ERROR, "Rows {} to {} of a stripe of {} rows are read after row {}", begin,
                 begin + count, rows_, column.at);
        if (!selection) {
            go_to(column, begin);
            column.at = begin + count;
            return column.reader->read(count);
        }
        return read_selected(column, begin, *selection);
    }

private:
    struct Column {
        std::unique_ptr<ColumnReader> reader;
        TypePtr type;
        uint64_t at = 0;  // the row that comes next
    };

    /// Passes over rows, by the row index where it leads further.
    void go_to(Column& column, uint64_t row) {
        if (row == column.at) return;
        if (stride_ > 0) {
            const uint64_t group = row / stride_;
            const uint64_t begin = group * stride_;
            if (begin > column.at && column.reader->can_seek(group)) {
                column.reader->seek(group);
                column.at = begin;
            }
        }
        column.reader->skip(row - column.at);
        column.at = row;
    }

    VectorPtr read_selected(Column& column, uint64_t begin, const Selection& selection) {
        std::vector<VectorPtr> parts;
        for (size_t from = 0; from < selection.size();) {
            size_t to = from + 1;
            while (to < selection.size() && selection[to] - selection[to - 1] <= kReadThroughRows) ++to;
            go_to(column, begin + selection[from]);
            const size_t count = selection[to - 1] - selection[from] + size_t{1};
            VectorPtr values = column.reader->read(count);
            column.at += count;
            if (to - from < count) {
                std::vector<uint32_t> rows(to - from);
                for (size_t i = from; i < to; ++i) rows[i - from] = selection[i] - selection[from];
                values = gather(values, rows);
            }
            parts.push_back(std::move(values));
            from = to;
        }
        if (parts.empty()) return flatten(Vector::defaults(column.type, 0));
        return concat(column.type, parts);
    }

    std::shared_ptr<const void> owner_;  // of tail and fields
    uint32_t stride_;
    uint64_t rows_;
    StripeReader stripe_;
    std::vector<Column> columns_;
};

class OrcFile final : public DataFile, public std::enable_shared_from_this<OrcFile> {
public:
    explicit OrcFile(std::shared_ptr<const storage::OpenFile> file)
        : file_(std::move(file)), tail_(read_tail(*file_)), fields_(to_fields(tail_, file_->info().path)) {
        by_index_.resize(tail_.types.size() - 1);
        below_list_.resize(by_index_.size());
        for (const auto& field : fields_) note(field, false);
    }

    const std::string& path() const override { return file_->info().path; }
    Format format() const override { return Format::ORC; }
    const std::vector<FileField>& fields() const override { return fields_; }
    uint64_t rows() const override { return tail_.rows; }
    size_t units() const override { return tail_.stripes.size(); }
    uint64_t unit_rows(size_t unit) const override { return tail_.stripes.at(unit).rows; }
    uint64_t unit_first_row(size_t unit) const override { return tail_.stripes.at(unit).first_row; }

    ValueStatistics unit_statistics(size_t unit, int field) const override {
        std::call_once(statistics_read_, [&] { statistics_ = read_stripe_statistics(*file_, tail_); });
        const auto column = static_cast<size_t>(field) + 1;
        if (unit >= statistics_.size() || column >= statistics_[unit].size()) return {};
        return statistics(statistics_[unit][column], field, tail_.stripes[unit].rows);
    }

    std::vector<PageRange> page_statistics(size_t unit, int field) const override {
        const uint64_t rows = unit_rows(unit);
        const uint64_t stride = tail_.row_index_stride;
        if (stride == 0 || rows <= stride || below_list_.at(static_cast<size_t>(field))) return {};
        const auto footer = read_stripe_footer(*file_, tail_, unit);
        const StreamInfo* stream = footer.find(static_cast<uint32_t>(field) + 1, StreamKind::RowIndex);
        if (!stream) return {};
        const auto entries = read_row_index(*file_, tail_, *stream);
        if (entries.size() != (rows + stride - 1) / stride) return {};
        std::vector<PageRange> pages;
        for (size_t i = 0; i < entries.size(); ++i) {
            PageRange page;
            page.first_row = i * stride;
            page.rows = std::min<uint64_t>(stride, rows - page.first_row);
            page.statistics = statistics(entries[i].statistics, field, page.rows);
            pages.push_back(std::move(page));
        }
        return pages;
    }

    bool has_bloom_filter(size_t unit, int field) const override {
        return leaf(unit, field) &&
               read_stripe_footer(*file_, tail_, unit).find(column_of(field), StreamKind::BloomFilterUtf8) != nullptr;
    }

    bool might_contain(size_t unit, int field, const VectorPtr& value) const override {
        if (!leaf(unit, field) || value->is_null(0)) return true;
        const auto hash = bloom_hash(tail_.types[column_of(field)], *flatten(slice(value, 0, 1)));
        if (!hash) return true;
        const auto footer = read_stripe_footer(*file_, tail_, unit);
        const StreamInfo* stream = footer.find(column_of(field), StreamKind::BloomFilterUtf8);
        if (!stream) return true;
        const auto filters = read_bloom_filters(*file_, tail_, *stream);
        // A filter that says of no row group that it has the value must stand for all of them.
        const uint64_t stride = tail_.row_index_stride;
        if (stride == 0 || filters.size() != (unit_rows(unit) + stride - 1) / stride) return true;
        return std::any_of(filters.begin(), filters.end(),
                           [&](const auto& filter) { return bloom_may_contain(filter, *hash); });
    }

    VectorPtr unit_dictionary(size_t unit, int field) const override {
        const FileField* found = leaf(unit, field);
        if (!found || unwrap(found->type)->id() != TypeId::String) return nullptr;
        StripeReader stripe(file_, tail_, unit, by_index_);
        if (!stripe.has_dictionary(column_of(field))) return nullptr;
        return read_dictionary(stripe, column_of(field), unwrap(found->type), false, found->name);
    }

    std::unique_ptr<UnitReader> read_unit(size_t unit, std::vector<ReadField> columns) const override {
        if (unit >= units()) fail(ErrorCode::LOGICAL_ERROR, "ORC file {} has no stripe {}", path(), unit);
        // The reader holds what is read ahead as part of its owner.
        std::shared_ptr<const void> owner = shared_from_this();
        if (auto ahead = read_ahead(unit, columns))
            owner = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
                std::move(owner), std::move(ahead));
        return std::make_unique<OrcUnitReader>(file_, std::move(owner), tail_, unit, by_index_, std::move(columns));
    }

    /// The whole stripe, in which streams of all columns lie near to each other.
    std::shared_ptr<const void> read_ahead(size_t unit, const std::vector<ReadField>&) const override {
        constexpr uint64_t kReadAheadBytes = uint64_t{64} << 20;
        if (!file_->is_remote()) return nullptr;
        const Stripe& stripe = tail_.stripes.at(unit);
        const uint64_t bytes = stripe.index_length + stripe.data_length + stripe.footer_length;
        return bytes > kReadAheadBytes ? nullptr : file_->read_ahead({{stripe.offset, bytes}});
    }

private:
    static uint32_t column_of(int field) { return static_cast<uint32_t>(field) + 1; }

    /// The field where it is a leaf; null where it is none.
    const FileField* leaf(size_t unit, int field) const {
        if (unit >= units()) fail(ErrorCode::LOGICAL_ERROR, "ORC file {} has no stripe {}", path(), unit);
        const FileField* found = by_index_.at(static_cast<size_t>(field));
        return found && found->children.empty() && tail_.types[column_of(field)].kind != Kind::Struct ? found : nullptr;
    }

    void note(const FileField& field, bool below_list) {
        by_index_[static_cast<size_t>(field.index)] = &field;
        below_list_[static_cast<size_t>(field.index)] = below_list;
        const bool list = field.type->physical() == Physical::Array;
        for (const auto& child : field.children) note(child, below_list || list);
    }

    /// Counts of a field below a list or map are of elements; how many those are is not told.
    ValueStatistics statistics(const ColumnStatistics& from, int field, uint64_t rows) const {
        const auto index = static_cast<size_t>(field);
        if (!by_index_.at(index) || !by_index_[index]->children.empty()) return {};
        return to_value_statistics(from, tail_, tail_.types[index + 1], *by_index_[index],
                                   below_list_[index] ? std::nullopt : std::optional<uint64_t>(rows));
    }

    std::shared_ptr<const storage::OpenFile> file_;
    Tail tail_;
    std::vector<FileField> fields_;
    std::vector<const FileField*> by_index_;
    std::vector<bool> below_list_;
    mutable std::once_flag statistics_read_;
    mutable std::vector<std::vector<ColumnStatistics>> statistics_;
};

}  // namespace
}  // namespace orc

std::shared_ptr<const DataFile> open_orc(std::shared_ptr<const storage::OpenFile> file) {
    return std::make_shared<orc::OrcFile>(std::move(file));
}

}  // namespace firn::file
