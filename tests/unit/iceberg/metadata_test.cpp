#include "firn/iceberg/metadata.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include "firn/iceberg/values.h"
#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::iceberg;

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

const std::string kV2 = R"json({
  "format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": "s3://b/t",
  "last-sequence-number": 34, "last-updated-ms": 1602638573590, "last-column-id": 3, "current-schema-id": 1,
  "schemas": [
    {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": true, "type": "long"}]},
    {"type": "struct", "schema-id": 1, "identifier-field-ids": [1], "fields": [
      {"id": 1, "name": "x", "required": true, "type": "long"},
      {"id": 2, "name": "y", "required": false, "type": "decimal(9, 2)", "doc": "comment", "initial-default": "1.50"},
      {"id": 3, "name": "p", "required": false, "type": {"type": "struct", "fields": [
        {"id": 4, "name": "x", "required": false, "type": "fixed[3]"},
        {"id": 5, "name": "l", "required": false, "type": {"type": "list", "element-id": 6, "element": "uuid", "element-required": true}}]}}]}],
  "default-spec-id": 0,
  "partition-specs": [{"spec-id": 0, "fields": [{"name": "x", "transform": "identity", "source-id": 1, "field-id": 1000},
                                                {"name": "z", "transform": "zorder[9]", "source-ids": [1, 2], "field-id": 1001}]}],
  "last-partition-id": 1001, "default-sort-order-id": 3,
  "sort-orders": [{"order-id": 3, "fields": [{"transform": "bucket[4]", "source-id": 3, "direction": "desc", "null-order": "nulls-last"}]}],
  "properties": {"a": "b", "schema.name-mapping.default": "[{\"field-id\": 1, \"names\": [\"x\", \"ex\"]}, {\"names\": [\"gone\"]}]"},
  "current-snapshot-id": 3055729675574597004,
  "snapshots": [
    {"snapshot-id": 3051729675574597004, "timestamp-ms": 1515100955770, "sequence-number": 0, "summary": {"operation": "append"}, "manifest-list": "s3://b/t/1.avro"},
    {"snapshot-id": 3055729675574597004, "parent-snapshot-id": 3051729675574597004, "timestamp-ms": 1555100955770, "sequence-number": 1, "summary": {"operation": "append"}, "manifest-list": "s3://b/t/2.avro", "schema-id": 1}],
  "snapshot-log": [{"snapshot-id": 3051729675574597004, "timestamp-ms": 1515100955770}, {"snapshot-id": 3055729675574597004, "timestamp-ms": 1555100955770}],
  "refs": {"t1": {"snapshot-id": 3051729675574597004, "type": "tag", "max-ref-age-ms": 10}},
  "metadata-log": [], "unheard-of": {"x": [1, 2]}
})json";

std::shared_ptr<const TableMetadata> parse(std::string_view text) {
    return parse_table_metadata(text, "v1.metadata.json");
}

}  // namespace

TEST(Metadata, ReadsVersionTwo) {
    auto table = parse(kV2);
    EXPECT_EQ(table->format_version, 2);
    EXPECT_EQ(table->current_schema().schema_id(), 1);
    const Schema& schema = table->current_schema();
    EXPECT_EQ(schema.identifier_field_ids(), std::vector<int32_t>{1});
    EXPECT_EQ(schema.place(6)->name, "p.l.element");
    EXPECT_TRUE(schema.place(6)->repeated);
    EXPECT_FALSE(schema.place(4)->repeated);
    EXPECT_EQ(schema.place(4)->parent_id, 3);
    EXPECT_EQ(schema.field_by_name("p.x")->type->to_string(), "fixed[3]");
    EXPECT_EQ(schema.field(2)->initial_default->datum.to_string(), "1.50");
    EXPECT_EQ(schema.field(99), nullptr);
    EXPECT_EQ(table->default_spec().fields[1].transform.kind(), TransformKind::Unknown);
    EXPECT_EQ(table->default_spec().fields[1].source_ids, (std::vector<int32_t>{1, 2}));
    EXPECT_TRUE(table->sort_order(3)->fields[0].descending);
    EXPECT_FALSE(table->sort_order(3)->fields[0].nulls_first);
    EXPECT_EQ(table->refs.at("main").snapshot_id, 3055729675574597004);
    EXPECT_TRUE(table->refs.at("t1").is_tag);
    EXPECT_EQ(table->property("a", ""), "b");
    ASSERT_NE(table->name_mapping, nullptr);
    EXPECT_EQ(NameMapping::find(table->name_mapping->fields, "ex")->field_id, 1);
    EXPECT_FALSE(NameMapping::find(table->name_mapping->fields, "gone")->field_id.has_value());
    EXPECT_EQ(NameMapping::find(table->name_mapping->fields, "none"), nullptr);
}

TEST(Metadata, TravelsInTime) {
    auto table = parse(kV2);
    EXPECT_EQ(table->snapshot_at(1515100955769), nullptr);
    EXPECT_EQ(table->snapshot_at(1515100955770)->snapshot_id, 3051729675574597004);
    EXPECT_EQ(table->snapshot_at(1555100955769)->snapshot_id, 3051729675574597004);
    EXPECT_EQ(table->snapshot_at(INT64_MAX)->snapshot_id, 3055729675574597004);
    EXPECT_EQ(table->schema_of(*table->snapshot_at(INT64_MAX)).schema_id(), 1);
}

TEST(Metadata, ReadsVersionOneWithNothingOptional) {
    auto table = parse(R"({"format-version": 1, "location": "/t", "last-updated-ms": 1, "last-column-id": 1,
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "x", "required": true, "type": "int"}]},
        "partition-spec": [{"name": "b", "transform": "bucket[2]", "source-id": 1}, {"name": "i", "transform": "identity", "source-id": 1}],
        "current-snapshot-id": 7,
        "snapshots": [{"snapshot-id": 7, "timestamp-ms": 1, "manifests": ["/t/m1.avro", "/t/m2.avro"]}]})");
    EXPECT_EQ(table->schemas.size(), 1u);
    EXPECT_EQ(table->default_spec().fields[1].field_id, 1001);
    EXPECT_EQ(table->last_partition_id, 1001);
    EXPECT_EQ(table->current_snapshot()->manifests.size(), 2u);
    EXPECT_EQ(table->current_snapshot()->sequence_number, 0);
    EXPECT_EQ(table->snapshot_at(5)->snapshot_id, 7);
}

TEST(Metadata, NoCurrentSnapshotHasThreeSpellings) {
    for (std::string_view id : {"null", "-1"}) {
        auto table = parse(replaced(kV2, "\"current-snapshot-id\": 3055729675574597004",
                                    fmt::format("\"current-snapshot-id\": {}", id)));
        EXPECT_EQ(table->current_snapshot(), nullptr);
        EXPECT_EQ(table->refs.count("main"), 0u);
    }
    EXPECT_EQ(parse(replaced(kV2, "\"current-snapshot-id\": 3055729675574597004,", ""))->current_snapshot(), nullptr);
}

TEST(Metadata, ReadsCompressedFiles) {
    std::string gzip(compressBound(kV2.size()) + 64, '\0');
    z_stream stream{};
    ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(kV2.data()));
    stream.avail_in = static_cast<uInt>(kV2.size());
    stream.next_out = reinterpret_cast<Bytef*>(gzip.data());
    stream.avail_out = static_cast<uInt>(gzip.size());
    ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    gzip.resize(stream.total_out);
    deflateEnd(&stream);
    EXPECT_EQ(parse(gzip)->location, "s3://b/t");
    EXPECT_EQ(failure_of([&] { parse(std::string_view(gzip).substr(0, gzip.size() / 2)); }).code,
              ErrorCode::INCORRECT_DATA);

    std::string zstd(ZSTD_compressBound(kV2.size()), '\0');
    zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), kV2.data(), kV2.size(), 3));
    EXPECT_EQ(parse(zstd)->location, "s3://b/t");
    EXPECT_EQ(failure_of([&] { parse(std::string_view(zstd).substr(0, zstd.size() / 2)); }).code,
              ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(parse_metadata_stamp(zstd, "f").last_updated_ms, 1602638573590);
}

TEST(Metadata, ErrorsNameFileAndField) {
    struct Case {
        std::string_view from, to;
        ErrorCode code;
        std::string_view field;
    };
    constexpr ErrorCode kViolation = ErrorCode::ICEBERG_SPECIFICATION_VIOLATION;
    for (const Case& wrong : {
             Case{"\"location\": \"s3://b/t\",", "", kViolation, "location"},
             Case{"\"format-version\": 2", "\"format-version\": \"two\"", kViolation, "format-version"},
             Case{"\"format-version\": 2", "\"format-version\": 4", ErrorCode::NOT_IMPLEMENTED, "version 4"},
             Case{"\"current-schema-id\": 1", "\"current-schema-id\": 8", kViolation, "current-schema-id"},
             Case{"\"default-spec-id\": 0", "\"default-spec-id\": 8", kViolation, "default-spec-id"},
             Case{"\"decimal(9, 2)\"", "\"decimal(39, 2)\"", kViolation, "decimal(39, 2)"},
             Case{"\"id\": 2, \"name\": \"y\"", "\"id\": 1, \"name\": \"y\"", kViolation, "schemas[1]"},
             Case{"\"1.50\"", "\"abc\"", kViolation, "initial-default"},
             Case{"\"current-snapshot-id\": 3055729675574597004", "\"current-snapshot-id\": 5", kViolation,
                  "current-snapshot-id"},
             Case{"\"type\": \"tag\"", "\"type\": \"twig\"", kViolation, "type"},
             Case{"[{\\\"field-id\\\": 1", "[{\\\"field-id\\\": \\\"x\\\"", kViolation, "name-mapping"},
             Case{"\"timestamp-ms\": 1515100955770, \"seq", "\"seq", kViolation, "timestamp-ms"},
             Case{"{", "[", ErrorCode::INCORRECT_DATA, "JSON"},
         }) {
        Failure failure = failure_of([&] { parse(replaced(kV2, wrong.from, wrong.to)); });
        EXPECT_EQ(failure.code, wrong.code) << wrong.to << ": " << failure.message;
        EXPECT_NE(failure.message.find("v1.metadata.json"), std::string::npos) << failure.message;
        EXPECT_NE(failure.message.find(wrong.field), std::string::npos) << failure.message;
    }
}

TEST(Metadata, RefusesTypesNestedTooDeep) {
    std::string type = "\"int\"";
    for (int i = 0; i < 200; ++i)
        type = fmt::format(R"({{"type":"list","element-id":{},"element-required":false,"element":{}}})", i + 10, type);
    std::string schema =
        fmt::format(R"({{"type":"struct","fields":[{{"id":1,"name":"x","required":false,"type":{}}}]}})", type);
    EXPECT_EQ(failure_of([&] { parse_schema(schema, "schema"); }).code, ErrorCode::TOO_DEEP_RECURSION);
    std::string brackets = std::string(100'000, '[') + std::string(100'000, ']');
    EXPECT_EQ(failure_of([&] { parse_schema(brackets, "schema"); }).code, ErrorCode::TOO_DEEP_RECURSION);
}

TEST(Schema, PrimitiveNames) {
    for (std::string_view name :
         {"unknown", "boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz",
          "timestamp_ns", "timestamptz_ns", "string", "uuid", "binary", "variant", "fixed[16]"}) {
        ASSERT_NE(parse_primitive_type(name), nullptr) << name;
        EXPECT_EQ(parse_primitive_type(name)->to_string(), name);
    }
    EXPECT_EQ(parse_primitive_type("decimal(9,2)")->to_string(), "decimal(9, 2)");
    EXPECT_EQ(parse_primitive_type("geometry")->crs, "OGC:CRS84");
    EXPECT_EQ(parse_primitive_type("geometry(srid:4326)")->crs, "srid:4326");
    EXPECT_EQ(parse_primitive_type("geography(srid:4326, karney)")->algorithm, "karney");
    for (std::string_view name :
         {"", "bigint", "decimal", "decimal(0,0)", "decimal(5,6)", "fixed", "fixed[x]", "struct", "geometryx"}) {
        EXPECT_EQ(parse_primitive_type(name), nullptr) << name;
    }
}

TEST(Schema, Promotions) {
    auto can = [](std::string_view from, std::string_view to) {
        return can_promote(*parse_primitive_type(from), *parse_primitive_type(to));
    };
    EXPECT_TRUE(can("int", "long"));
    EXPECT_TRUE(can("float", "double"));
    EXPECT_TRUE(can("decimal(4,2)", "decimal(9,2)"));
    EXPECT_TRUE(can("date", "timestamp"));
    EXPECT_TRUE(can("date", "timestamp_ns"));
    EXPECT_TRUE(can("unknown", "uuid"));
    EXPECT_TRUE(can("fixed[3]", "fixed[3]"));
    EXPECT_FALSE(can("long", "int"));
    EXPECT_FALSE(can("decimal(9,2)", "decimal(9,3)"));
    EXPECT_FALSE(can("date", "timestamptz"));
    EXPECT_FALSE(can("fixed[3]", "fixed[4]"));
    EXPECT_FALSE(can("int", "double"));
}
