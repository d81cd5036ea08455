#include "firn/iceberg/manifest_list.h"

#include "firn/base/error.h"
#include "firn/file/avro/container.h"
#include "firn/iceberg/avro_fields.h"

namespace firn::iceberg {

namespace avro = file::avro;
using avro::Kind;

namespace {

// Field ids of manifest_file and field_summary.
enum ListField : int32_t {
    kPath = 500,
    kLength = 501,
    kSpecId = 502,
    kAddedSnapshot = 503,
    kAddedFiles = 504,
    kExistingFiles = 505,
    kDeletedFiles = 506,
    kPartitions = 507,
    kContainsNull = 509,
    kLowerBound = 510,
    kUpperBound = 511,
    kAddedRows = 512,
    kExistingRows = 513,
    kDeletedRows = 514,
    kSequence = 515,
    kMinSequence = 516,
    kContent = 517,
    kContainsNan = 518,
    kKeyMetadata = 519,
    kFirstRowId = 520,
};

constexpr size_t kMaxManifests = 10'000'000;
constexpr uint64_t kMaxListBytes = uint64_t{1} << 31;

class ListDecoder {
public:
    ListDecoder(const avro::Container& container) : container_(container), schema_(container.schema()) {
        if (schema_.root().kind != Kind::Record) violation("the Avro schema is no record");
        fields_ = avro_fields(schema_, schema_.root_id());
        bool has_path = false;
        for (const AvroField& field : fields_) {
            check(field);
            has_path |= field.id == kPath;
            if (field.id != kPartitions) continue;
            avro::NodeId item = schema_.node(field.type).children[0];
            auto nullable = schema_.nullable(item);
            if (!nullable || schema_.node(nullable->type).kind != Kind::Record)
                violation("partitions (507) are no records");
            if (nullable->null_branch >= 0) violation("partitions (507) hold nulls");
            summary_fields_ = avro_fields(schema_, nullable->type);
            for (const AvroField& inner : summary_fields_) check(inner);
        }
        if (!has_path) violation("there is no field 500, manifest_path");
    }

    void decode(std::string_view bytes, int64_t objects, std::vector<ManifestFile>& out) {
        avro::Cursor cursor(bytes);
        if (static_cast<uint64_t>(objects) > bytes.size() ||
            out.size() + static_cast<uint64_t>(objects) > kMaxManifests) {
            fail(ErrorCode::INCORRECT_DATA, "an Avro block claims {} manifests", objects);
        }
        for (int64_t i = 0; i < objects; ++i) out.push_back(decode_one(cursor));
    }

private:
    [[noreturn]] void violation(std::string_view what) const {
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: {}", container_.file(), what);
    }

    /// Whether the type of a field that is read is of the right kind.
    void check(const AvroField& field) const {
        bool fits = true;
        switch (field.id) {
            case kPath:
            case kLowerBound:
            case kUpperBound:
            case kKeyMetadata:
                fits = field.kind == Kind::String || field.kind == Kind::Bytes;
                break;
            case kPartitions:
                fits = field.kind == Kind::Array;
                break;
            case kContainsNull:
            case kContainsNan:
                fits = field.kind == Kind::Boolean;
                break;
            case -1:
                return;
            default:
                if (field.id < kPath || field.id > kFirstRowId || field.id == 508) return;
                fits = field.kind == Kind::Int || field.kind == Kind::Long;
        }
        if (!fits || !field.simple) violation(fmt::format("field {} ({}) has the wrong type", field.name, field.id));
    }

    ManifestFile decode_one(avro::Cursor& cursor) const {
        ManifestFile file;
        for (const AvroField& field : fields_) {
            if (!is_known(field.id)) {
                avro::skip_value(schema_, field.whole, cursor);
                continue;
            }
            if (read_presence(field, cursor)) read_field(field, cursor, file);
        }
        if (file.path.empty()) violation("an entry has no manifest_path (500)");
        if (file.path.find('\0') != std::string::npos) violation("a manifest_path (500) holds a zero byte");
        return file;
    }

    static bool is_known(int32_t id) {
        return id >= kPath && id <= kFirstRowId && (id < 508 || id > 511) && id != kContainsNan;
    }

    void read_field(const AvroField& field, avro::Cursor& cursor, ManifestFile& file) const {
        switch (field.id) {
            case kPath:
                file.path = cursor.read_bytes();
                return;
            case kKeyMetadata:
                file.key_metadata = cursor.read_bytes();
                return;
            case kPartitions:
                read_summaries(cursor, file);
                return;
            default:
                break;
        }
        int64_t value = cursor.read_long();
        switch (field.id) {
            case kLength:
                file.length = value;
                break;
            case kSpecId:
                file.spec_id = static_cast<int32_t>(value);
                break;
            case kContent:
                if (value != 0 && value != 1) violation(fmt::format("content (517) is {}", value));
                file.content = static_cast<ManifestContent>(value);
                break;
            case kSequence:
                file.sequence_number = value;
                break;
            case kMinSequence:
                file.min_sequence_number = value;
                break;
            case kAddedSnapshot:
                file.added_snapshot_id = value;
                break;
            case kAddedFiles:
                file.added_files = value;
                break;
            case kExistingFiles:
                file.existing_files = value;
                break;
            case kDeletedFiles:
                file.deleted_files = value;
                break;
            case kAddedRows:
                file.added_rows = value;
                break;
            case kExistingRows:
                file.existing_rows = value;
                break;
            case kDeletedRows:
                file.deleted_rows = value;
                break;
            case kFirstRowId:
                file.first_row_id = value;
                break;
            default:
                break;
        }
    }

    void read_summaries(avro::Cursor& cursor, ManifestFile& file) const {
        file.has_partitions = true;
        for (;;) {
            int64_t block_bytes;
            int64_t count = cursor.read_block_count(block_bytes);
            if (count == 0) return;
            if (static_cast<uint64_t>(count) > cursor.left()) avro::fail_length(count);
            for (int64_t i = 0; i < count; ++i) file.partitions.push_back(read_summary(cursor));
        }
    }

    FieldSummary read_summary(avro::Cursor& cursor) const {
        FieldSummary summary;
        for (const AvroField& field : summary_fields_) {
            bool known = field.id >= kContainsNull && field.id <= kUpperBound;
            if (!known && field.id != kContainsNan) {
                avro::skip_value(schema_, field.whole, cursor);
                continue;
            }
            if (!read_presence(field, cursor)) continue;
            switch (field.id) {
                case kContainsNull:
                    summary.contains_null = cursor.read_boolean();
                    break;
                case kContainsNan:
                    summary.contains_nan = cursor.read_boolean();
                    break;
                case kLowerBound:
                    summary.lower_bound = cursor.read_bytes();
                    break;
                case kUpperBound:
                    summary.upper_bound = cursor.read_bytes();
                    break;
                default:
                    break;
            }
        }
        return summary;
    }

    const avro::Container& container_;
    const avro::Schema& schema_;
    std::vector<AvroField> fields_;
    std::vector<AvroField> summary_fields_;
};

}  // namespace

size_t ManifestList::memory_bytes() const {
    size_t bytes = sizeof *this + manifests_.capacity() * sizeof(ManifestFile);
    for (const std::string& part : arena_) bytes += part.capacity();
    for (const ManifestFile& file : manifests_) bytes += file.partitions.capacity() * sizeof(FieldSummary);
    return bytes;
}

std::shared_ptr<const ManifestList> ManifestList::of_paths(const std::vector<std::string>& paths, int64_t snapshot_id) {
    auto list = std::make_shared<ManifestList>();
    list->arena_ = paths;
    for (const std::string& path : list->arena_) {
        ManifestFile file;
        file.path = path;
        file.spec_id = -1;
        file.added_snapshot_id = snapshot_id;
        list->manifests_.push_back(std::move(file));
    }
    return list;
}

std::shared_ptr<const ManifestList> parse_manifest_list(std::string_view bytes, std::string_view file) {
    avro::Container container(bytes, file);
    ListDecoder decoder(container);
    auto list = std::make_shared<ManifestList>();
    std::vector<avro::RawBlock> blocks = container.blocks();
    // One string a block, in a vector that never grows: the views into short strings stay good.
    list->arena_.resize(blocks.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
        container.decompress(blocks[i], list->arena_[i], kMaxListBytes);
        try {
            decoder.decode(list->arena_[i], blocks[i].objects, list->manifests_);
        } catch (Error& error) {
            if (error.message().find(container.file()) == std::string::npos) {
                error.add_context(fmt::format("{}: Avro block at byte {}: ", file, blocks[i].offset));
            }
            throw;
        }
    }
    return list;
}

}  // namespace firn::iceberg
