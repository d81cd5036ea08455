#include "firn/iceberg/manifest_layout.h"

#include <algorithm>

namespace firn::iceberg {

namespace avro = file::avro;
using avro::Kind;

namespace {

constexpr int32_t kDataFileId = 2;

/// What a field of an entry or of its data file holds.
enum class Want : uint8_t { Number, Text, Record, List, Map };

struct Known {
    int32_t id;
    Step step;
    Want want;
    bool required = false;
    MetricsMap map{};
    int32_t key_id = 0;  ///< of maps; the value's is one more
};

constexpr Known kKnown[] = {
    {0, Step::Status, Want::Number, true},
    {1, Step::SnapshotId, Want::Number},
    {kDataFileId, Step::EnterRecord, Want::Record, true},
    {3, Step::SequenceNumber, Want::Number},
    {4, Step::FileSequenceNumber, Want::Number},
    {100, Step::Path, Want::Text, true},
    {101, Step::Format, Want::Text, true},
    {102, Step::Partition, Want::Record},
    {103, Step::RecordCount, Want::Number, true},
    {104, Step::FileSize, Want::Number, true},
    {108, Step::Map, Want::Map, false, MetricsMap::ColumnSizes, 117},
    {109, Step::Map, Want::Map, false, MetricsMap::ValueCounts, 119},
    {110, Step::Map, Want::Map, false, MetricsMap::NullCounts, 121},
    {111, Step::Map, Want::Map, false, MetricsMap::DistinctCounts, 123},
    {125, Step::Map, Want::Map, false, MetricsMap::LowerBounds, 126},
    {128, Step::Map, Want::Map, false, MetricsMap::UpperBounds, 129},
    {131, Step::KeyMetadata, Want::Text},
    {132, Step::SplitOffsets, Want::List},
    {134, Step::Content, Want::Number},
    {135, Step::EqualityIds, Want::List},
    {137, Step::Map, Want::Map, false, MetricsMap::NanCounts, 138},
    {140, Step::SortOrderId, Want::Number},
    {142, Step::FirstRowId, Want::Number},
    {143, Step::Referenced, Want::Text},
    {144, Step::ContentOffset, Want::Number},
    {145, Step::ContentSize, Want::Number},
};

bool is_number(Kind kind) { return kind == Kind::Int || kind == Kind::Long; }
bool is_text(Kind kind) { return kind == Kind::String || kind == Kind::Bytes; }

class LayoutMaker {
public:
    LayoutMaker(std::shared_ptr<const avro::Schema> schema, std::string_view file)
        : layout_(std::make_shared<Manifest::Layout>(std::move(schema))), file_(file) {}

    std::shared_ptr<const Manifest::Layout> make() {
        if (layout_->schema.root().kind != Kind::Record) violation("the Avro schema is no record");
        add_record(layout_->schema.root_id(), false);
        for (const Known& known : kKnown) {
            if (!known.required || seen_[&known - kKnown]) continue;
            violation(fmt::format("the manifest's schema has no field of id {}", known.id));
        }
        return layout_;
    }

private:
    [[noreturn]] void violation(std::string_view what) const {
        fail(ErrorCode::ICEBERG_SPECIFICATION_VIOLATION, "{}: {}", file_, what);
    }

    void add_record(avro::NodeId record, bool inside_data_file) {
        for (const AvroField& field : avro_fields(layout_->schema, record)) {
            // The entry's own ids are below 100, those of the data file from 100: a nested id never counts at the top.
            bool belongs = inside_data_file ? field.id >= 100 : field.id >= 0 && field.id < 100;
            auto known =
                std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.id == field.id; });
            if (!belongs || known == std::end(kKnown)) {
                layout_->ops.push_back({Step::Skip, 0, field});
                continue;
            }
            check(field, *known);
            if (seen_[known - kKnown]) violation(fmt::format("the schema has field {} twice", field.id));
            seen_[known - kKnown] = true;
            add_known(field, *known);
        }
    }

    void add_known(const AvroField& field, const Known& known) {
        layout_->ops.push_back({known.step, static_cast<uint8_t>(known.map), field});
        if (known.step == Step::EnterRecord) add_record(field.type, true);
        if (known.step == Step::Map) {
            layout_->maps[static_cast<size_t>(known.map)] = map_shape(field, known);
        }
        if (known.step == Step::SequenceNumber) layout_->has_sequence_number = true;
        if (known.step != Step::Partition) return;
        layout_->partition = avro_fields(layout_->schema, field.type);
        for (const AvroField& part : layout_->partition) {
            if (!part.simple || !type_of_avro(layout_->schema.node(part.type))) {
                violation(fmt::format("partition field {} is no primitive", part.name));
            }
        }
    }

    void check(const AvroField& field, const Known& known) const {
        bool fits = false;
        switch (known.want) {
            case Want::Number:
                fits = is_number(field.kind);
                break;
            case Want::Text:
                fits = is_text(field.kind);
                break;
            case Want::Record:
                fits = field.kind == Kind::Record;
                break;
            case Want::Map:
                fits = field.kind == Kind::Array;
                break;
            case Want::List:
                fits = field.kind == Kind::Array && is_number(item_kind(field));
                break;
        }
        if (!fits || !field.simple) violation(fmt::format("field {} ({}) has the wrong type", field.name, field.id));
    }

    Kind item_kind(const AvroField& field) const {
        return layout_->schema.node(layout_->schema.node(field.type).children[0]).kind;
    }

    MapShape map_shape(const AvroField& field, const Known& known) const {
        const avro::Schema& schema = layout_->schema;
        avro::NodeId item = schema.node(field.type).children[0];
        if (schema.node(item).kind != Kind::Record)
            violation(fmt::format("field {} ({}) is no map", field.name, field.id));
        MapShape shape;
        shape.known = true;
        shape.fields = avro_fields(schema, item);
        shape.bytes = known.map == MetricsMap::LowerBounds || known.map == MetricsMap::UpperBounds;
        shape.key = index_of(shape, known.key_id, "key");
        shape.value = index_of(shape, known.key_id + 1, "value");
        const AvroField& key = shape.fields[shape.key];
        const AvroField& value = shape.fields[shape.value];
        bool fits = is_number(key.kind) && key.simple && value.simple &&
                    (shape.bytes ? is_text(value.kind) : is_number(value.kind));
        if (!fits) violation(fmt::format("the map {} ({}) has the wrong types", field.name, field.id));
        shape.plain = shape.fields.size() == 2 && shape.key == 0 && key.null_branch < 0 && value.null_branch < 0;
        return shape;
    }

    /// By id; in records that carry no ids at all by Avro's own names for the parts of a map.
    size_t index_of(const MapShape& shape, int32_t id, std::string_view name) const {
        bool has_ids = false;
        for (size_t i = 0; i < shape.fields.size(); ++i) {
            if (shape.fields[i].id == id) return i;
            has_ids |= shape.fields[i].id >= 0;
        }
        for (size_t i = 0; i < shape.fields.size() && !has_ids; ++i) {
            if (shape.fields[i].name == name) return i;
        }
        violation(fmt::format("a map's record has no field of id {}", id));
    }

    std::shared_ptr<Manifest::Layout> layout_;
    std::string_view file_;
    bool seen_[std::size(kKnown)] = {};
};

}  // namespace

std::shared_ptr<const Manifest::Layout> Manifest::Layout::make(std::shared_ptr<const avro::Schema> schema,
                                                               std::string_view file) {
    return LayoutMaker(std::move(schema), file).make();
}

std::shared_ptr<const Manifest::Layout> Manifest::Layout::shared(const std::shared_ptr<const avro::Schema>& schema,
                                                                 std::string_view file) {
    static thread_local std::shared_ptr<const Layout> last;
    if (!last || last->shared_schema != schema) last = make(schema, file);
    return last;
}

}  // namespace firn::iceberg
