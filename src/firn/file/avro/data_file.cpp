// Avro files as data files: units are runs of blocks.
#include "firn/file/data_file.h"

#include <algorithm>
#include <deque>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/file/avro/container.h"
#include "firn/file/avro/data_value.h"

namespace firn::file {
namespace avro {
namespace {

// A unit is ended by the block that brings it to either.
constexpr uint64_t kUnitRows = 16 * 1024;
constexpr uint64_t kUnitBytes = uint64_t{1} << 20;  // compressed

struct Unit {
    size_t first_block = 0;
    size_t blocks = 0;
    uint64_t first_row = 0;
    uint64_t rows = 0;
};

/// The file, open: what its readers share and keep.
struct OpenAvro {
    std::shared_ptr<const storage::OpenFile> file;
    BufferPtr bytes;
    std::unique_ptr<Container> container;
    DataSchema schema;
    std::vector<const FileField*> by_index;
    std::vector<RawBlock> blocks;
    std::vector<Unit> units;
    uint64_t rows = 0;
};

/// Decodes a unit's rows once for all columns of the reader; columns that lag find theirs in segments.
class AvroUnitReader final : public UnitReader {
public:
    AvroUnitReader(std::shared_ptr<const OpenAvro> open, size_t unit, std::vector<ReadField> columns)
        : open_(std::move(open)), unit_(open_->units[unit]), context_{open_->container->schema(),
                                                                      open_->schema,
                                                                      open_->by_index,
                                                                      open_->container->file(),
                                                                      open_,
                                                                      nullptr} {
        const Node& root = context_.schema.root();
        steps_.resize(root.fields.size());
        for (size_t i = 0; i < steps_.size(); ++i) steps_[i].skip = root.fields[i].type;
        for (auto& wanted : columns) {
            Column& column = columns_.emplace_back();
            column.type = wanted.type;
            if (wanted.source < 0) {
                column.missing = wanted.missing ? wanted.missing : Vector::defaults(wanted.type, 1);
                continue;
            }
            const auto found = std::find_if(open_->schema.fields.begin(), open_->schema.fields.end(),
                                            [&](const FileField& f) { return f.index == wanted.source; });
            if (found == open_->schema.fields.end())
                fail(ErrorCode::LOGICAL_ERROR, "{} has no top-level field {}", context_.file, wanted.source);
            column.reader = make_value_reader(context_, wanted, found->name);
            steps_[static_cast<size_t>(found - open_->schema.fields.begin())].readers.push_back(column.reader.get());
            ++decoded_columns_;
        }
    }

    VectorPtr read(size_t index, uint64_t begin, size_t count, const Selection* selection) override {
        check_cancelled();
        Column& column = columns_.at(index);
        if (begin < column.at || begin > unit_.rows || count > unit_.rows - begin)
            fail(ErrorCode::LOGICAL_ERROR, "Rows {} to {} of a unit of {} rows are read after row {}", begin,
                 begin + count, unit_.rows, column.at);
        column.at = begin + count;
        if (column.missing) return Vector::constant(column.missing, selection ? selection->size() : count);
        if (decoded_columns_ == 1 && begin > decoded_to_) skip_rows(begin - decoded_to_);
        if (begin + count > decoded_to_) decode(begin + count - decoded_to_);
        VectorPtr values = collect(index, begin, count);
        drop_passed();
        return selection && selection->size() < count ? gather(values, *selection) : values;
    }

private:
    struct Column {
        TypePtr type;
        VectorPtr missing;
        std::unique_ptr<ValueReader> reader;
        uint64_t at = 0;  // the next row that may be asked for
    };
    struct Step {
        std::vector<ValueReader*> readers;
        NodeId skip = 0;
    };
    struct Segment {
        uint64_t first_row = 0;
        uint64_t rows = 0;
        std::vector<VectorPtr> columns;
    };

    template <typename F>
    void at_file(F&& f) {
        try {
            f();
        } catch (Error& error) {
            if (error.message().find(context_.file) == std::string::npos)
                error.add_context(fmt::format("Avro file {}: block at byte {}: ", context_.file, block_offset_));
            throw;
        }
    }

    void next_block() {
        if (next_block_ >= unit_.blocks) fail(ErrorCode::LOGICAL_ERROR, "{}: no more blocks", context_.file);
        check_cancelled();
        const RawBlock& raw = open_->blocks[unit_.first_block + next_block_++];
        auto bytes = std::make_shared<std::string>();
        open_->container->decompress(raw, *bytes);
        count_event(ProfileEvent::ReadBytesFromStorage, raw.compressed.size());
        block_offset_ = raw.offset;
        rows_left_ = static_cast<uint64_t>(raw.objects);
        cursor_ = Cursor(std::string_view(*bytes));
        context_.block = std::move(bytes);
    }

    /// Calls row() for each of the next n rows.
    template <typename F>
    void for_rows(uint64_t n, F&& row) {
        at_file([&] {
            while (n) {
                if (rows_left_ == 0) next_block();
                const uint64_t piece = std::min(n, rows_left_);
                for (uint64_t i = 0; i < piece; ++i) row();
                n -= piece;
                rows_left_ -= piece;
                decoded_to_ += piece;
                if (rows_left_ == 0 && cursor_.left() > 0)
                    fail(ErrorCode::INCORRECT_DATA, "{} bytes are left behind its last value", cursor_.left());
            }
        });
    }

    /// Whole blocks are left out without decompressing them.
    void skip_rows(uint64_t n) {
        while (n) {
            if (rows_left_ == 0) {
                const auto rows = static_cast<uint64_t>(open_->blocks.at(unit_.first_block + next_block_).objects);
                if (rows <= n) {
                    n -= rows;
                    decoded_to_ += rows;
                    ++next_block_;
                    continue;
                }
            }
            const uint64_t piece = rows_left_ ? std::min(n, rows_left_) : n;
            for_rows(piece, [&] { skip_value(context_.schema, context_.schema.root_id(), cursor_); });
            n -= piece;
        }
    }

    void decode(uint64_t n) {
        Segment segment;
        segment.first_row = decoded_to_;
        segment.rows = n;
        for_rows(n, [&] {
            for (const auto& step : steps_) {
                if (step.readers.empty()) {
                    skip_value(context_.schema, step.skip, cursor_);
                    continue;
                }
                const char* begin = cursor_.at();
                for (ValueReader* reader : step.readers) {
                    cursor_.seek(begin);
                    reader->append(cursor_);
                }
            }
        });
        at_file([&] {
            for (auto& column : columns_) segment.columns.push_back(column.reader ? column.reader->finish() : nullptr);
        });
        segments_.push_back(std::move(segment));
    }

    VectorPtr collect(size_t index, uint64_t begin, size_t count) const {
        std::vector<VectorPtr> parts;
        for (const auto& segment : segments_) {
            const uint64_t from = std::max(begin, segment.first_row);
            const uint64_t to = std::min(begin + count, segment.first_row + segment.rows);
            if (from < to) parts.push_back(slice(segment.columns[index], from - segment.first_row, to - from));
        }
        if (parts.empty()) return flatten(Vector::defaults(columns_[index].type, 0));
        return concat(columns_[index].type, parts);
    }

    void drop_passed() {
        uint64_t passed = unit_.rows;
        for (const auto& column : columns_)
            if (column.reader) passed = std::min(passed, column.at);
        while (!segments_.empty() && segments_.front().first_row + segments_.front().rows <= passed)
            segments_.pop_front();
    }

    std::shared_ptr<const OpenAvro> open_;
    const Unit unit_;
    DataContext context_;
    std::vector<Column> columns_;
    std::vector<Step> steps_;  // beside the file's fields
    size_t decoded_columns_ = 0;
    std::deque<Segment> segments_;
    uint64_t decoded_to_ = 0;
    size_t next_block_ = 0;
    uint64_t rows_left_ = 0;  // of the block
    uint64_t block_offset_ = 0;
    Cursor cursor_{std::string_view()};
};

void note(const FileField& field, std::vector<const FileField*>& by_index) {
    by_index[static_cast<size_t>(field.index)] = &field;
    for (const auto& child : field.children) note(child, by_index);
}

void cut_units(OpenAvro& open) {
    Unit unit;
    uint64_t bytes = 0;
    const auto close = [&] {
        if (unit.blocks == 0) return;
        open.units.push_back(unit);
        unit = Unit{unit.first_block + unit.blocks, 0, unit.first_row + unit.rows, 0};
        bytes = 0;
    };
    for (const auto& block : open.blocks) {
        const auto rows = static_cast<uint64_t>(block.objects);
        if (rows > static_cast<uint64_t>(INT64_MAX) - open.rows)
            fail(ErrorCode::INCORRECT_DATA, "Avro file {}: its blocks claim too many rows", open.container->file());
        open.rows += rows;
        unit.rows += rows;
        bytes += block.compressed.size();
        ++unit.blocks;
        if (unit.rows >= kUnitRows || bytes >= kUnitBytes) close();
    }
    close();
}

class AvroFile final : public DataFile {
public:
    explicit AvroFile(std::shared_ptr<const OpenAvro> open) : open_(std::move(open)) {}

    const std::string& path() const override { return open_->container->file(); }
    Format format() const override { return Format::Avro; }
    const std::vector<FileField>& fields() const override { return open_->schema.fields; }
    uint64_t rows() const override { return open_->rows; }
    size_t units() const override { return open_->units.size(); }
    uint64_t unit_rows(size_t unit) const override { return open_->units.at(unit).rows; }
    uint64_t unit_first_row(size_t unit) const override { return open_->units.at(unit).first_row; }
    std::unique_ptr<UnitReader> read_unit(size_t unit, std::vector<ReadField> columns) const override {
        if (unit >= units()) fail(ErrorCode::LOGICAL_ERROR, "Avro file {} has no unit {}", path(), unit);
        return std::make_unique<AvroUnitReader>(open_, unit, std::move(columns));
    }

private:
    std::shared_ptr<const OpenAvro> open_;
};

}  // namespace
}  // namespace avro

std::shared_ptr<const DataFile> open_avro(std::shared_ptr<const storage::OpenFile> file) {
    auto open = std::make_shared<avro::OpenAvro>();
    const uint64_t size = file->size();
    const auto mapped = file->map();
    if (mapped.size() == size) {
        open->bytes = Buffer::wrap(mapped.data(), size, file);
    } else {
        open->bytes = file->read_buffer(0, size);
        count_event(ProfileEvent::StorageReadRequests);
    }
    open->container = std::make_unique<avro::Container>(std::string_view(open->bytes->data(), size), file->info().path);
    open->schema = avro::to_data_schema(open->container->schema(), open->container->file());
    open->by_index.resize(open->schema.sources.size());
    for (const auto& field : open->schema.fields) avro::note(field, open->by_index);
    for (size_t i = 0; i < open->by_index.size(); ++i)
        if (!open->by_index[i]) fail(ErrorCode::LOGICAL_ERROR, "{}: field {} is lost", file->info().path, i);
    open->blocks = open->container->blocks();
    avro::cut_units(*open);
    open->file = std::move(file);
    return std::make_shared<avro::AvroFile>(std::move(open));
}

}  // namespace firn::file
