#include "firn/file/parquet/file.h"

#include <algorithm>
#include <cstring>

#include "firn/base/error.h"
#include "firn/base/query_context.h"
#include "firn/file/parquet/bloom.h"
#include "firn/file/parquet/column_reader.h"
#include "firn/file/parquet/statistics.h"

namespace firn::file::pq {
namespace {

constexpr size_t kTail = 8;                 // footer's length, "PAR1"
constexpr uint64_t kFirstRead = 64 * 1024;  // most footers are whole in it
constexpr uint64_t kReadAheadBytes = uint64_t{64} << 20;

/// Runs f; names the file in errors that do not yet.
template <typename F>
auto naming(const std::string& path, F&& f) {
    try {
        return f();
    } catch (Error& error) {
        error.add_context(fmt::format("Parquet file {}: ", path));
        throw;
    }
}

class GroupReader final : public UnitReader {
public:
    GroupReader(std::shared_ptr<const ParquetFile> file, size_t unit, const std::vector<ReadField>& columns)
        : file_(std::move(file)), context_{file_->file(), &file_->schema(), &file_->group(unit)} {
        count_event(ProfileEvent::ParquetReadRowGroups);
        ahead_ = file_->read_ahead(unit, columns);
        columns_.reserve(columns.size());
        for (const ReadField& column : columns) columns_.emplace_back(context_, column);
        for (const ReadField& column : columns) names_.push_back(name_of(column));
    }

    VectorPtr read(size_t column, uint64_t begin, size_t count, const Selection* selection) override {
        try {
            return columns_[column].read(begin, count, selection);
        } catch (Error& error) {
            error.add_context(fmt::format("Parquet file {}, column '{}': ", file_->path(), names_[column]));
            throw;
        }
    }

private:
    std::string name_of(const ReadField& column) const {
        return column.source < 0 ? std::string() : file_->schema().by_field[static_cast<size_t>(column.source)]->name;
    }
    std::shared_ptr<const ParquetFile> file_;
    std::shared_ptr<const void> ahead_;
    GroupContext context_;
    std::vector<ColumnReader> columns_;
    std::vector<std::string> names_;
};

/// The leaves below a field that is read.
void collect_leaves(const Node& node, std::vector<int>& columns) {
    if (node.kind == Node::Kind::Leaf) columns.push_back(node.leaf.column);
    for (const Node& child : node.children) collect_leaves(child, columns);
}

void collect_leaves(const Schema& schema, const ReadField& field, std::vector<int>& columns) {
    if (field.source < 0) return;
    const Node& node = *schema.by_field[static_cast<size_t>(field.source)];
    // Of a struct only the wanted elements are read, and one leaf that tells which structs are there.
    const bool part = node.kind == Node::Kind::Struct && !field.children.empty();
    if (!part) return collect_leaves(node, columns);
    for (const ReadField& child : field.children) collect_leaves(schema, child, columns);
}

}  // namespace

ParquetFile::ParquetFile(std::shared_ptr<const storage::OpenFile> file) : file_(std::move(file)) {
    naming(path(), [&] {
        read_footer();
        metadata_ = parse_file_metadata({reinterpret_cast<const uint8_t*>(footer_.data()), footer_.size()});
        schema_ = build_schema(metadata_.schema);
        check_row_groups();
    });
}

void ParquetFile::read_footer() {
    const uint64_t size = file_->size();
    if (size < kTail + 4) fail(ErrorCode::INCORRECT_DATA, "it has {} bytes, too few for a Parquet file", size);
    std::string tail(std::min(size, kFirstRead), '\0');
    file_->read_at(size - tail.size(), {reinterpret_cast<uint8_t*>(tail.data()), tail.size()});
    count_event(ProfileEvent::ReadBytesFromStorage, tail.size());
    count_event(ProfileEvent::StorageReadRequests);
    const char* end = tail.data() + tail.size();
    if (std::memcmp(end - 4, "PARE", 4) == 0)
        fail(ErrorCode::NOT_IMPLEMENTED, "its footer is encrypted, which is not supported");
    if (std::memcmp(end - 4, "PAR1", 4) != 0)
        fail(ErrorCode::INCORRECT_DATA, "it does not end with PAR1: no Parquet file, or cut off");
    uint32_t length = 0;
    std::memcpy(&length, end - kTail, 4);
    if (length > size - kTail)
        fail(ErrorCode::INCORRECT_DATA, "its footer of {} bytes is longer than the file", length);
    if (length + kTail <= tail.size())
        footer_ = tail.substr(tail.size() - kTail - length, length);
    else
        footer_ = read(static_cast<int64_t>(size - kTail - length), length, "footer");
}

void ParquetFile::check_row_groups() {
    first_rows_.push_back(0);
    for (size_t i = 0; i < metadata_.row_groups.size(); ++i) {
        const RowGroup& group = metadata_.row_groups[i];
        if (group.columns.size() != schema_.columns)
            fail(ErrorCode::INCORRECT_DATA, "row group {} has {} columns, the schema {}", i, group.columns.size(),
                 schema_.columns);
        const uint64_t rows = static_cast<uint64_t>(group.rows);
        if (rows > (uint64_t{1} << 62) - first_rows_.back())
            fail(ErrorCode::INCORRECT_DATA, "its row groups have too many rows");
        first_rows_.push_back(first_rows_.back() + rows);
    }
}

std::string ParquetFile::read(int64_t offset, int64_t size, const char* what) const {
    const auto length = file_->size();
    if (offset < 0 || size < 0 || static_cast<uint64_t>(offset) > length ||
        static_cast<uint64_t>(size) > length - static_cast<uint64_t>(offset))
        fail(ErrorCode::INCORRECT_DATA, "its {} at byte {} passes the end of the file", what, offset);
    std::string out(static_cast<size_t>(size), '\0');
    file_->read_at(static_cast<uint64_t>(offset), {reinterpret_cast<uint8_t*>(out.data()), out.size()});
    count_event(ProfileEvent::ReadBytesFromStorage, out.size());
    count_event(ProfileEvent::StorageReadRequests);
    return out;
}

const Leaf* ParquetFile::leaf(int field) const {
    if (field < 0 || static_cast<size_t>(field) >= schema_.by_field.size()) return nullptr;
    const Node* node = schema_.by_field[static_cast<size_t>(field)];
    return node->kind == Node::Kind::Leaf ? &node->leaf : nullptr;
}

ColumnOrder ParquetFile::order(const Leaf& leaf) const {
    const auto column = static_cast<size_t>(leaf.column);
    return column < metadata_.column_orders.size() ? metadata_.column_orders[column] : ColumnOrder::Undefined;
}

ValueStatistics ParquetFile::unit_statistics(size_t unit, int field) const {
    const Leaf* at = leaf(field);
    if (!at) return {};
    ValueStatistics out = chunk_statistics(*at, group(unit).columns[static_cast<size_t>(at->column)], order(*at));
    if (never_null(field)) out.null_count = 0;
    return out;
}

/// No level of the schema allows the leaf to be absent.
bool ParquetFile::never_null(int field) const { return schema_.by_field[static_cast<size_t>(field)]->definition == 0; }

std::vector<PageRange> ParquetFile::page_statistics(size_t unit, int field) const {
    const Leaf* at = leaf(field);
    if (!at) return {};
    const ColumnChunk& chunk = group(unit).columns[static_cast<size_t>(at->column)];
    if (chunk.encrypted || chunk.offset_index_length <= 0 || chunk.column_index_length <= 0) return {};
    return naming(path(), [&]() -> std::vector<PageRange> {
        const std::string offsets = read(chunk.offset_index_offset, chunk.offset_index_length, "offset index");
        const std::string bounds = read(chunk.column_index_offset, chunk.column_index_length, "column index");
        const auto pages = parse_offset_index({reinterpret_cast<const uint8_t*>(offsets.data()), offsets.size()});
        const ColumnIndex index = parse_column_index({reinterpret_cast<const uint8_t*>(bounds.data()), bounds.size()});
        const size_t n = pages.size();
        if (index.null_pages.size() != n || index.min.size() != n || index.max.size() != n ||
            (!index.null_counts.empty() && index.null_counts.size() != n))
            fail(ErrorCode::INCORRECT_DATA, "the page index of column '{}' contradicts itself", at->path);
        const bool ordered = order_is_known(*at, order(*at));
        std::vector<PageRange> out(n);
        for (size_t i = 0; i < n; ++i) {
            const auto first = static_cast<uint64_t>(pages[i].first_row);
            const auto next = i + 1 < n ? static_cast<uint64_t>(pages[i + 1].first_row) : unit_rows(unit);
            if (next < first || next > unit_rows(unit) || (i == 0 && first != 0))
                fail(ErrorCode::INCORRECT_DATA, "the page index of column '{}' contradicts itself", at->path);
            out[i].first_row = first;
            out[i].rows = next - first;
            page_bounds(*at, index, i, ordered, out[i]);
            if (never_null(field)) out[i].statistics.null_count = 0;
        }
        return out;
    });
}

bool ParquetFile::has_bloom_filter(size_t unit, int field) const {
    const Leaf* at = leaf(field);
    if (!at) return false;
    const ColumnChunk& chunk = group(unit).columns[static_cast<size_t>(at->column)];
    return chunk.bloom_offset > 0 && !chunk.encrypted;
}

bool ParquetFile::might_contain(size_t unit, int field, const VectorPtr& value) const {
    if (!has_bloom_filter(unit, field) || value->is_null(0)) return true;
    const Leaf& at = *leaf(field);
    const VectorPtr flat = flatten(value);
    bool known = same_type(unwrap(flat->type()), at.type);
    const std::string plain = known ? plain_bytes(at, *flat, known) : std::string();
    if (!known) return true;
    const ColumnChunk& chunk = group(unit).columns[static_cast<size_t>(at.column)];
    return naming(path(), [&] {
        const auto rest = static_cast<int64_t>(file_->size()) - chunk.bloom_offset;
        const int64_t first = chunk.bloom_length > 0 ? chunk.bloom_length : std::min<int64_t>(rest, 256);
        std::string bytes = read(chunk.bloom_offset, first, "bloom filter");
        size_t header_size = 0;
        const BloomHeader header =
            parse_bloom_header({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, header_size);
        if (!header.known || header.bytes < 32 || header.bytes % 32) return true;
        if (bytes.size() - header_size < static_cast<size_t>(header.bytes))
            bytes = read(chunk.bloom_offset + static_cast<int64_t>(header_size), header.bytes, "bloom filter");
        else
            bytes.erase(0, header_size);
        return bloom_may_contain({reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<size_t>(header.bytes)},
                                 plain);
    });
}

VectorPtr ParquetFile::unit_dictionary(size_t unit, int field) const {
    const Leaf* at = leaf(field);
    if (!at) return nullptr;
    const Node& node = *schema_.by_field[static_cast<size_t>(field)];
    const ColumnChunk& chunk = group(unit).columns[static_cast<size_t>(at->column)];
    if (chunk.encrypted || chunk.elsewhere || !chunk.all_dictionary.value_or(false)) return nullptr;
    return naming(path(), [&] { return LeafReader(file_, chunk, node, at->type).dictionary(); });
}

std::shared_ptr<const void> ParquetFile::read_ahead(size_t unit, const std::vector<ReadField>& columns) const {
    if (!file_->is_remote()) return nullptr;
    std::vector<int> leaves;
    for (const ReadField& column : columns) collect_leaves(schema_, column, leaves);
    std::vector<storage::ByteRange> ranges;
    uint64_t bytes = 0;
    for (const int column : leaves) {
        const ColumnChunk& chunk = group(unit).columns[static_cast<size_t>(column)];
        if (chunk.encrypted || chunk.elsewhere || chunk.begin() < 0 || chunk.compressed_size < 0) continue;
        // As much as a PageWalker asks for.
        ranges.push_back(
            {static_cast<uint64_t>(chunk.begin()), static_cast<uint64_t>(chunk.compressed_size) + kChunkSlack});
        bytes += static_cast<uint64_t>(chunk.compressed_size);
    }
    return bytes > kReadAheadBytes ? nullptr : file_->read_ahead(std::move(ranges));
}

std::unique_ptr<UnitReader> ParquetFile::read_unit(size_t unit, std::vector<ReadField> columns) const {
    return naming(path(), [&] { return std::make_unique<GroupReader>(shared_from_this(), unit, columns); });
}

}  // namespace firn::file::pq

namespace firn::file {

std::shared_ptr<const DataFile> open_parquet(std::shared_ptr<const storage::OpenFile> file) {
    return std::make_shared<pq::ParquetFile>(std::move(file));
}

}  // namespace firn::file
