// Decoding of manifests: one pass over the entries that keeps places, then lookups into them.
#include "firn/iceberg/manifest.h"

#include <algorithm>
#include <charconv>

#include "firn/base/error.h"
#include "firn/file/avro/container.h"
#include "firn/iceberg/manifest_layout.h"

namespace firn::iceberg {

namespace avro = file::avro;

namespace {

constexpr uint64_t kMaxArenaBytes = UINT32_MAX;
constexpr int64_t kMissing = INT64_MIN;

FileFormat parse_format(std::string_view name) {
    auto is = [&](std::string_view word) {
        return name.size() == word.size() &&
               std::equal(name.begin(), name.end(), word.begin(), [](char a, char b) { return (a | 0x20) == b; });
    };
    if (is("parquet")) return FileFormat::Parquet;
    if (is("orc")) return FileFormat::Orc;
    if (is("avro")) return FileFormat::Avro;
    if (is("puffin")) return FileFormat::Puffin;
    return FileFormat::Unknown;
}

int32_t number_of(std::optional<std::string_view> text, int32_t otherwise) {
    if (!text) return otherwise;
    int32_t value = 0;
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc() && end == text->data() + text->size() ? value : otherwise;
}

/// Walks the pairs of a map; `visit(key, cursor, has_value)` reads the value where there is one, and says whether to go
/// on.
template <typename Visit>
void walk_map(const avro::Schema& schema, const MapShape& shape, avro::Cursor cursor, const Visit& visit) {
    for (;;) {
        int64_t block_bytes;
        int64_t count = cursor.read_block_count(block_bytes);
        if (count == 0) return;
        for (int64_t i = 0; i < count; ++i) {
            if (shape.plain) {
                int64_t key = cursor.read_long();
                if (!visit(key, cursor)) return;
                continue;
            }
            // Some other order: the value may come before its key, so it is read from its place afterwards.
            int64_t key = 0;
            std::optional<avro::Cursor> value;
            for (size_t f = 0; f < shape.fields.size(); ++f) {
                const AvroField& field = shape.fields[f];
                if (f == shape.key && field.simple) {
                    if (read_presence(field, cursor)) key = cursor.read_long();
                } else if (f == shape.value) {
                    if (!read_presence(field, cursor)) continue;
                    value = cursor;
                    avro::skip_value(schema, field.type, cursor);
                } else {
                    avro::skip_value(schema, field.whole, cursor);
                }
            }
            if (value && !visit(key, *value)) return;
        }
    }
}

Datum decode_partition_value(const avro::Node& node, const Type& type, avro::Cursor& cursor) {
    switch (node.kind) {
        case avro::Kind::Boolean:
            return Datum::boolean(cursor.read_boolean());
        case avro::Kind::Int:
        case avro::Kind::Long: {
            int64_t value = cursor.read_long();
            bool millis = node.logical == avro::Logical::TimeMillis || node.logical == avro::Logical::TimestampMillis ||
                          node.logical == avro::Logical::LocalTimestampMillis;
            if (millis && __builtin_mul_overflow(value, int64_t{1000}, &value)) {
                fail(ErrorCode::INCORRECT_DATA, "a partition value of milliseconds is out of range");
            }
            return Datum::integral(type.kind, value);
        }
        case avro::Kind::Float:
            return Datum::floating(type.kind, cursor.read_float());
        case avro::Kind::Double:
            return Datum::floating(type.kind, cursor.read_double());
        case avro::Kind::Bytes:
        case avro::Kind::String:
        case avro::Kind::Fixed: {
            std::string_view bytes =
                node.kind == avro::Kind::Fixed ? cursor.read_fixed(node.size) : cursor.read_bytes();
            if (type.kind != TypeKind::Decimal) return Datum::bytes(type.kind, bytes);
            auto value = decode_value(type, bytes);
            if (!value) fail(ErrorCode::INCORRECT_DATA, "a partition value of {} bytes is no decimal", bytes.size());
            return *value;
        }
        default:
            return Datum::null();
    }
}

}  // namespace

std::string_view format_name(FileFormat format) {
    switch (format) {
        case FileFormat::Parquet:
            return "PARQUET";
        case FileFormat::Orc:
            return "ORC";
        case FileFormat::Avro:
            return "AVRO";
        case FileFormat::Puffin:
            return "PUFFIN";
        case FileFormat::Unknown:
            break;
    }
    return "UNKNOWN";
}

Manifest::Manifest() = default;
Manifest::~Manifest() = default;

void Manifest::PlaceColumn::set(size_t i, size_t capacity, uint32_t place) {
    if (places.empty()) places.resize(capacity);
    places[i] = place;
}

void Manifest::SliceColumn::set(size_t i, size_t capacity, Slice slice) {
    if (slices.empty()) slices.resize(capacity);
    slices[i] = slice;
}

void Manifest::OptionalColumn::set(size_t i, size_t capacity, int64_t value) {
    if (values.empty()) values.resize(capacity, kAbsent);
    values[i] = value;
}

/// Fills a Manifest's columns.
class ManifestDecoder {
public:
    ManifestDecoder(Manifest& manifest, const ManifestInheritance& inherited) : out_(manifest), inherited_(inherited) {
        next_row_id_ = inherited.first_row_id;
    }

    void resize(size_t entries) {
        capacity_ = entries;
        out_.status_.resize(entries);
        out_.file_content_.resize(entries);
        out_.format_.resize(entries);
        out_.path_.resize(entries);
        out_.snapshot_id_.resize(entries);
        out_.sequence_number_.resize(entries);
        out_.file_sequence_number_.resize(entries);
        out_.record_count_.resize(entries);
        out_.file_size_.resize(entries);
        out_.partition_bytes_.resize(entries);
    }

    void decode(size_t begin, size_t end, int64_t objects) {
        base_ = out_.arena_.data();
        avro::Cursor cursor(base_ + begin, base_ + end);
        for (int64_t i = 0; i < objects; ++i) decode_entry(cursor);
        if (cursor.left() != 0) fail(ErrorCode::INCORRECT_DATA, "{} bytes follow the last entry", cursor.left());
    }

private:
    /// Numbers of one entry before inheritance; kMissing: null.
    struct Entry {
        int64_t status = kMissing;
        int64_t snapshot_id = kMissing;
        int64_t sequence_number = kMissing;
        int64_t file_sequence_number = kMissing;
        int64_t content = 0;
        int64_t record_count = kMissing;
        int64_t file_size = kMissing;
        int64_t first_row_id = kMissing;
        std::string_view path;
        std::string_view format;
    };

    uint32_t place(const avro::Cursor& cursor) const { return static_cast<uint32_t>(cursor.at() - base_); }
    Manifest::Slice slice(std::string_view view) const {
        return {static_cast<uint32_t>(view.data() - base_), static_cast<uint32_t>(view.size())};
    }

    void decode_entry(avro::Cursor& cursor) {
        Entry entry;
        for (const Manifest::Layout::Op& op : out_.layout_->ops) {
            if (op.step == Step::Skip) {
                avro::skip_value(out_.layout_->schema, op.field.whole, cursor);
            } else if (read_presence(op.field, cursor)) {
                read(op, cursor, entry);
            } else if (op.step == Step::EnterRecord) {
                fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "entry {} has no data_file (2)", next_);
            }
        }
        store(entry);
        ++next_;
    }

    void read(const Manifest::Layout::Op& op, avro::Cursor& cursor, Entry& entry) {
        switch (op.step) {
            case Step::Status:
                entry.status = cursor.read_long();
                break;
            case Step::SnapshotId:
                entry.snapshot_id = cursor.read_long();
                break;
            case Step::SequenceNumber:
                entry.sequence_number = cursor.read_long();
                break;
            case Step::FileSequenceNumber:
                entry.file_sequence_number = cursor.read_long();
                break;
            case Step::Content:
                entry.content = cursor.read_long();
                break;
            case Step::RecordCount:
                entry.record_count = cursor.read_long();
                break;
            case Step::FileSize:
                entry.file_size = cursor.read_long();
                break;
            case Step::FirstRowId:
                entry.first_row_id = cursor.read_long();
                break;
            case Step::Path:
                entry.path = cursor.read_bytes();
                break;
            case Step::Format:
                entry.format = cursor.read_bytes();
                break;
            case Step::Partition:
                read_partition(op, cursor);
                break;
            case Step::Map:
                read_map(op, cursor);
                break;
            case Step::KeyMetadata:
                out_.key_metadata_.set(next_, capacity_, slice(cursor.read_bytes()));
                break;
            case Step::Referenced:
                out_.referenced_.set(next_, capacity_, slice(cursor.read_bytes()));
                break;
            case Step::SplitOffsets:
                read_list(op, cursor, out_.split_offsets_);
                break;
            case Step::EqualityIds:
                read_list(op, cursor, out_.equality_ids_);
                break;
            case Step::SortOrderId:
                out_.sort_order_id_.set(next_, capacity_, cursor.read_long());
                break;
            case Step::ContentOffset:
                out_.content_offset_.set(next_, capacity_, cursor.read_long());
                break;
            case Step::ContentSize:
                out_.content_size_.set(next_, capacity_, cursor.read_long());
                break;
            case Step::EnterRecord:
            case Step::Skip:
                break;
        }
    }

    void read_partition(const Manifest::Layout::Op& op, avro::Cursor& cursor) {
        const char* begin = cursor.at();
        avro::skip_value(out_.layout_->schema, op.field.type, cursor);
        out_.partition_bytes_[next_] = slice({begin, static_cast<size_t>(cursor.at() - begin)});
    }

    void read_list(const Manifest::Layout::Op& op, avro::Cursor& cursor, Manifest::PlaceColumn& column) {
        column.set(next_, capacity_, place(cursor));
        avro::skip_value(out_.layout_->schema, op.field.type, cursor);
    }

    void read_map(const Manifest::Layout::Op& op, avro::Cursor& cursor) {
        out_.maps_[op.map].set(next_, capacity_, place(cursor));
        const MapShape& shape = out_.layout_->maps[op.map];
        if (!shape.plain) return avro::skip_value(out_.layout_->schema, op.field.type, cursor);
        for (;;) {
            int64_t block_bytes;
            int64_t count = cursor.read_block_count(block_bytes);
            if (count == 0) return;
            if (static_cast<uint64_t>(count) > cursor.left()) avro::fail_length(count);
            if (!shape.bytes) {
                cursor.skip_longs(static_cast<uint64_t>(count) * 2);
                continue;
            }
            for (int64_t i = 0; i < count; ++i) {
                cursor.read_long();
                cursor.read_bytes();
            }
        }
    }

    void store(const Entry& entry) {
        auto violation = [&](std::string_view what, int64_t value) {
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "entry {}: {} is {}", next_, what, value);
        };
        if (entry.status < 0 || entry.status > 2) violation("status (0)", entry.status);
        if (entry.content < 0 || entry.content > 2) violation("content (134)", entry.content);
        if (entry.record_count < 0) violation("record_count (103)", entry.record_count);
        if (entry.file_size < 0) violation("file_size_in_bytes (104)", entry.file_size);
        if (entry.path.empty())
            fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "entry {} has no file_path (100)", next_);
        if (entry.status != static_cast<int64_t>(EntryStatus::Deleted)) {
            ++out_.live_files_;
            out_.live_rows_ += static_cast<uint64_t>(entry.record_count);
        }
        out_.status_[next_] = static_cast<uint8_t>(entry.status);
        out_.file_content_[next_] = static_cast<uint8_t>(entry.content);
        out_.format_[next_] = static_cast<uint8_t>(parse_format(entry.format));
        out_.path_[next_] = slice(entry.path);
        out_.record_count_[next_] = entry.record_count;
        out_.file_size_[next_] = entry.file_size;
        out_.snapshot_id_[next_] = entry.snapshot_id == kMissing ? inherited_.snapshot_id : entry.snapshot_id;
        out_.sequence_number_[next_] = inherit(entry.sequence_number, entry.status);
        out_.file_sequence_number_[next_] = inherit(entry.file_sequence_number, entry.status);
        store_first_row_id(entry);
    }

    /// A v1 manifest has no sequence numbers, so they are 0; a missing one is inherited by added entries.
    int64_t inherit(int64_t written, int64_t status) const {
        if (written != kMissing) return written;
        if (out_.format_version_ < 2 && !out_.layout_->has_sequence_number) return 0;
        bool added = status == static_cast<int64_t>(EntryStatus::Added);
        return added || inherited_.sequence_number == 0 ? inherited_.sequence_number : -1;
    }

    /// Live data files without one get the next ids in the file's order. A manifest without a first row id has none.
    void store_first_row_id(const Entry& entry) {
        if (!next_row_id_ || entry.content != 0) return;
        int64_t id = entry.first_row_id;
        if (id == kMissing) {
            if (entry.status == static_cast<int64_t>(EntryStatus::Deleted)) return;
            id = *next_row_id_;
            if (__builtin_add_overflow(id, entry.record_count, &*next_row_id_)) {
                fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "entry {}: row ids pass 64 bits", next_);
            }
        }
        out_.first_row_id_.set(next_, capacity_, id);
    }

    Manifest& out_;
    const ManifestInheritance& inherited_;
    std::optional<int64_t> next_row_id_;
    const char* base_ = nullptr;
    size_t next_ = 0;
    size_t capacity_ = 0;
};

std::shared_ptr<const Manifest> parse_manifest(std::string_view bytes, std::string_view file,
                                               const ManifestInheritance& inherited) {
    avro::Container container(bytes, file);
    std::shared_ptr<Manifest> manifest(new Manifest);
    manifest->file_ = file;
    manifest->format_version_ = number_of(container.metadata("format-version"), 1);
    manifest->spec_id_ =
        inherited.spec_id >= 0 ? inherited.spec_id : number_of(container.metadata("partition-spec-id"), 0);
    if (container.metadata("content").value_or("data") == "deletes") manifest->content_ = ManifestContent::Deletes;
    manifest->schema_json_ = container.metadata("schema").value_or("");
    manifest->partition_spec_json_ = container.metadata("partition-spec").value_or("");
    manifest->layout_ = Manifest::Layout::shared(container.shared_schema(), file);
    const Manifest::Layout& layout = *manifest->layout_;
    for (const AvroField& field : layout.partition) {
        manifest->partition_.push_back(
            {field.id, std::string(field.name), type_of_avro(layout.schema.node(field.type))});
    }
    std::string& arena = manifest->arena_;
    arena.assign(1, '\0');
    std::vector<avro::RawBlock> blocks = container.blocks();
    std::vector<size_t> ends;
    uint64_t entries = 0;
    for (const avro::RawBlock& block : blocks) {
        size_t begin = arena.size();
        container.decompress(block, arena, kMaxArenaBytes);
        if (static_cast<uint64_t>(block.objects) > arena.size() - begin) {
            fail(ErrorCode::INCORRECT_DATA, "{}: Avro block at byte {} claims {} entries in {} bytes", file,
                 block.offset, block.objects, arena.size() - begin);
        }
        entries += static_cast<uint64_t>(block.objects);
        ends.push_back(arena.size());
    }
    if (arena.capacity() > arena.size() + arena.size() / 4) arena.shrink_to_fit();
    ManifestDecoder decoder(*manifest, inherited);
    decoder.resize(entries);
    for (size_t i = 0; i < blocks.size(); ++i) {
        try {
            decoder.decode(i == 0 ? 1 : ends[i - 1], ends[i], blocks[i].objects);
        } catch (Error& error) {
            error.add_context(fmt::format("{}: Avro block at byte {}: ", file, blocks[i].offset));
            throw;
        }
    }
    manifest->size_ = entries;
    return manifest;
}

size_t Manifest::memory_bytes() const {
    size_t bytes = sizeof *this + sizeof(Layout) + layout_->ops.capacity() * sizeof(Layout::Op) + arena_.capacity();
    bytes += schema_json_.capacity() + partition_spec_json_.capacity();
    bytes += size_ * (3 + 2 * sizeof(Slice) + 5 * sizeof(int64_t));
    for (const OptionalColumn* column : {&first_row_id_, &content_offset_, &content_size_, &sort_order_id_}) {
        bytes += column->values.capacity() * sizeof(int64_t);
    }
    bytes += (referenced_.slices.capacity() + key_metadata_.slices.capacity()) * sizeof(Slice);
    bytes += (split_offsets_.places.capacity() + equality_ids_.places.capacity()) * sizeof(uint32_t);
    for (const PlaceColumn& column : maps_) bytes += column.places.capacity() * sizeof(uint32_t);
    return bytes;
}

namespace {

std::vector<int64_t> read_numbers(avro::Cursor cursor) {
    std::vector<int64_t> out;
    for (;;) {
        int64_t block_bytes;
        int64_t count = cursor.read_block_count(block_bytes);
        if (count == 0) return out;
        for (int64_t i = 0; i < count; ++i) out.push_back(cursor.read_long());
    }
}

}  // namespace

std::vector<int64_t> Manifest::split_offsets(size_t i) const {
    uint32_t place = split_offsets_.at(i);
    if (place == 0) return {};
    return read_numbers(avro::Cursor(arena_.data() + place, arena_.data() + arena_.size()));
}

std::vector<int32_t> Manifest::equality_ids(size_t i) const {
    uint32_t place = equality_ids_.at(i);
    if (place == 0) return {};
    std::vector<int64_t> wide = read_numbers(avro::Cursor(arena_.data() + place, arena_.data() + arena_.size()));
    return {wide.begin(), wide.end()};
}

std::optional<size_t> Manifest::find_partition_field(int32_t field_id) const {
    for (size_t k = 0; k < partition_.size(); ++k) {
        if (partition_[k].field_id == field_id) return k;
    }
    return std::nullopt;
}

void Manifest::partition(size_t i, std::span<Datum> out) const {
    avro::Cursor cursor(partition_bytes(i));
    for (size_t k = 0; k < partition_.size(); ++k) {
        const AvroField& field = layout_->partition[k];
        out[k] = Datum::null();
        if (!read_presence(field, cursor)) continue;
        out[k] = decode_partition_value(layout_->schema.node(field.type), *partition_[k].type, cursor);
    }
}

namespace {

template <typename T>
void keep_once(std::optional<T>& slot, T value, size_t& found) {
    if (!slot) ++found;
    slot = value;
}

}  // namespace

void Manifest::metrics(size_t i, std::span<const int32_t> field_ids, std::span<ColumnMetrics> out) const {
    std::fill(out.begin(), out.end(), ColumnMetrics{});
    auto slot = [&](int64_t id) -> ColumnMetrics* {
        for (size_t k = 0; k < field_ids.size(); ++k) {
            if (field_ids[k] == id) return &out[k];
        }
        return nullptr;
    };
    for (size_t map = 0; map < kMetricsMaps; ++map) {
        uint32_t place = maps_[map].at(i);
        if (place == 0 || map == static_cast<size_t>(MetricsMap::DistinctCounts)) continue;
        size_t found = 0;
        const MapShape& shape = layout_->maps[map];
        avro::Cursor cursor(arena_.data() + place, arena_.data() + arena_.size());
        walk_map(layout_->schema, shape, cursor, [&](int64_t key, avro::Cursor& at) {
            ColumnMetrics* metrics = slot(key);
            if (shape.bytes) {
                std::string_view value = at.read_bytes();
                if (!metrics) return true;
                bool lower = map == static_cast<size_t>(MetricsMap::LowerBounds);
                keep_once(lower ? metrics->lower_bound : metrics->upper_bound, value, found);
            } else {
                int64_t value = at.read_long();
                if (!metrics) return true;
                switch (static_cast<MetricsMap>(map)) {
                    case MetricsMap::ColumnSizes:
                        keep_once(metrics->column_size, value, found);
                        break;
                    case MetricsMap::ValueCounts:
                        keep_once(metrics->value_count, value, found);
                        break;
                    case MetricsMap::NullCounts:
                        keep_once(metrics->null_count, value, found);
                        break;
                    default:
                        keep_once(metrics->nan_count, value, found);
                        break;
                }
            }
            return found < field_ids.size();
        });
    }
}

ColumnMetrics Manifest::metrics(size_t i, int32_t field_id) const {
    ColumnMetrics one;
    metrics(i, {&field_id, 1}, {&one, 1});
    return one;
}

std::vector<std::pair<int32_t, int64_t>> Manifest::counts(size_t i, MetricsMap map) const {
    std::vector<std::pair<int32_t, int64_t>> out;
    uint32_t place = maps_[static_cast<size_t>(map)].at(i);
    const MapShape& shape = layout_->maps[static_cast<size_t>(map)];
    if (place == 0 || shape.bytes) return out;
    walk_map(layout_->schema, shape, avro::Cursor(arena_.data() + place, arena_.data() + arena_.size()),
             [&](int64_t key, avro::Cursor& at) {
                 out.emplace_back(static_cast<int32_t>(key), at.read_long());
                 return true;
             });
    return out;
}

std::vector<std::pair<int32_t, std::string_view>> Manifest::bounds(size_t i, MetricsMap map) const {
    std::vector<std::pair<int32_t, std::string_view>> out;
    uint32_t place = maps_[static_cast<size_t>(map)].at(i);
    const MapShape& shape = layout_->maps[static_cast<size_t>(map)];
    if (place == 0 || !shape.bytes) return out;
    walk_map(layout_->schema, shape, avro::Cursor(arena_.data() + place, arena_.data() + arena_.size()),
             [&](int64_t key, avro::Cursor& at) {
                 out.emplace_back(static_cast<int32_t>(key), at.read_bytes());
                 return true;
             });
    return out;
}

}  // namespace firn::iceberg
