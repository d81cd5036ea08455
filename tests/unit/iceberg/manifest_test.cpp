#include "firn/iceberg/manifest.h"

#include <gtest/gtest.h>

#include "tests/unit/avro_bytes.h"
#include "tests/unit/error_of.h"

using namespace firn;
using namespace firn::iceberg;
using firn::testing_avro::Bytes;
using firn::testing_avro::container;

namespace {

constexpr std::string_view kOptionalLong = R"(["null","long"])";

std::string record(std::string_view name, const std::vector<std::string>& fields) {
    std::string out = fmt::format(R"({{"type":"record","name":"{}","fields":[)", name);
    for (size_t i = 0; i < fields.size(); ++i) out += (i ? "," : "") + fields[i];
    return out + "]}";
}

std::string field(std::string_view name, std::string_view type, int id = -1) {
    bool bare = type.find_first_of("{[") == type.npos;
    std::string quoted = bare ? fmt::format("\"{}\"", type) : std::string(type);
    return id < 0 ? fmt::format(R"({{"name":"{}","type":{}}})", name, quoted)
                  : fmt::format(R"({{"name":"{}","type":{},"field-id":{}}})", name, quoted, id);
}

/// The least that a manifest can have, with more fields of the data file behind.
std::string plain_schema(const std::vector<std::string>& more = {}, std::string_view sequence = kOptionalLong) {
    std::vector<std::string> file = {field("file_path", "string", 100), field("file_format", "string", 101),
                                     field("record_count", "long", 103), field("file_size_in_bytes", "long", 104)};
    file.insert(file.end(), more.begin(), more.end());
    std::vector<std::string> entry = {field("status", "int", 0), field("snapshot_id", kOptionalLong, 1)};
    if (!sequence.empty()) entry.push_back(field("sequence_number", sequence, 3));
    entry.push_back(field("data_file", record("r2", file), 2));
    return record("manifest_entry", entry);
}

Bytes plain_entry(EntryStatus status, std::string_view path, int64_t records) {
    Bytes out;
    out.number(static_cast<int>(status)).number(0).number(0);
    return out.text(path).text("parquet").number(records).number(1000);
}

std::shared_ptr<const Manifest> parse(std::string_view schema, std::vector<testing_avro::Block> blocks,
                                      const ManifestInheritance& inherited = {}, std::string_view version = "2") {
    return parse_manifest(container(schema, blocks, "null", {{"format-version", std::string(version)}}), "m.avro",
                          inherited);
}

}  // namespace

TEST(Manifest, FieldsAreFoundByIdWhateverTheirNameAndOrder) {
    std::string data_file =
        record("df", {field("unknown_before", R"({"type":"map","values":"string"})"), field("zz", "string", 101),
                      field("mystery", R"(["null","int","string"])", 999), field("yy", "long", 104),
                      field("xx", "string", 100), field("ww", "long", 103)});
    std::string schema = record("e", {field("a", data_file, 2), field("extra", R"({"type":"array","items":"int"})", 77),
                                      field("b", R"(["long","null"])", 1), field("c", "int", 0)});
    Bytes entry;
    entry.number(1).text("k").text("v").number(0);  // unknown_before
    entry.text("ORC").number(2).text("s");          // format, mystery
    entry.number(4096).text("/t/f").number(17);
    entry.number(2).number(5).number(6).number(0);  // extra
    entry.number(0).number(99);                     // snapshot id, in the first branch
    entry.number(1);
    auto manifest = parse(schema, {{1, entry.str()}});
    ASSERT_EQ(manifest->size(), 1u);
    EXPECT_EQ(manifest->path(0), "/t/f");
    EXPECT_EQ(manifest->format(0), FileFormat::Orc);
    EXPECT_EQ(manifest->record_count(0), 17);
    EXPECT_EQ(manifest->file_size(0), 4096);
    EXPECT_EQ(manifest->snapshot_id(0), 99);
    EXPECT_EQ(manifest->status(0), EntryStatus::Added);
    EXPECT_EQ(manifest->file_content(0), FileContent::Data);
    EXPECT_FALSE(manifest->first_row_id(0).has_value());
    EXPECT_FALSE(manifest->has_map(0, MetricsMap::LowerBounds));
    EXPECT_EQ(manifest->partition_fields(), 0u);
}

TEST(Manifest, InheritsSequenceNumbersAndSnapshot) {
    std::string bytes =
        plain_entry(EntryStatus::Added, "a", 1).str() + plain_entry(EntryStatus::Existing, "b", 1).str();
    ManifestInheritance inherited{7, 70, 0, std::nullopt};
    auto manifest = parse(plain_schema(), {{2, bytes}}, inherited);
    EXPECT_EQ(manifest->sequence_number(0), 7);
    EXPECT_EQ(manifest->file_sequence_number(0), 7);
    EXPECT_EQ(manifest->snapshot_id(0), 70);
    EXPECT_EQ(manifest->sequence_number(1), -1);  // existing, and does not say

    // A v1 manifest has no such column: everything is 0, whatever the list says.
    Bytes old;
    old.number(1).number(0).text("a").text("parquet").number(1).number(10);
    auto v1 = parse(plain_schema({}, ""), {{1, old.str()}}, inherited, "1");
    EXPECT_EQ(v1->sequence_number(0), 0);
    // The same column left out of a v2 manifest is a null.
    auto v2 = parse(plain_schema({}, ""), {{1, old.str()}}, inherited, "2");
    EXPECT_EQ(v2->sequence_number(0), 7);
}

TEST(Manifest, InheritsRowIdsInOrder) {
    std::string schema = plain_schema({field("content", "int", 134), field("first_row_id", kOptionalLong, 142)});
    auto entry = [](EntryStatus status, int64_t records, int content, std::optional<int64_t> id) {
        Bytes out = plain_entry(status, "f", records);
        out.number(content).number(id ? 1 : 0);
        if (id) out.number(*id);
        return out.str();
    };
    std::string bytes = entry(EntryStatus::Existing, 25, 0, 800) + entry(EntryStatus::Added, 50, 0, {}) +
                        entry(EntryStatus::Deleted, 9, 0, {}) + entry(EntryStatus::Existing, 50, 0, {}) +
                        entry(EntryStatus::Added, 5, 1, {});
    auto manifest = parse(schema, {{5, bytes}}, {1, 1, 0, 1000});
    EXPECT_EQ(manifest->first_row_id(0), 800);
    EXPECT_EQ(manifest->first_row_id(1), 1000);
    EXPECT_FALSE(manifest->first_row_id(2).has_value());
    EXPECT_EQ(manifest->first_row_id(3), 1050);
    EXPECT_FALSE(manifest->first_row_id(4).has_value());  // a delete file
    auto without = parse(schema, {{5, bytes}}, {1, 1, 0, std::nullopt});
    EXPECT_FALSE(without->first_row_id(0).has_value());
}

TEST(Manifest, ReadsMapsOfEveryShape) {
    auto map = [](std::string_view name, std::string_view first, std::string_view second) {
        return fmt::format(
            R"({{"type":"array","logicalType":"map","items":{{"type":"record","name":"{}","fields":[{},{}]}}}})", name,
            first, second);
    };
    std::string schema =
        plain_schema({field("nulls", map("k1", field("key", "int", 121), field("value", "long", 122)), 110),
                      // value before key, and optional
                      field("lower", map("k2", field("v", R"(["null","bytes"])", 127), field("k", "int", 126)), 125)});
    Bytes entry = plain_entry(EntryStatus::Added, "f", 10);
    entry.number(2).number(1).number(0).number(300).number(4);                      // {1: 0, 300: 4}
    entry.number(-1).number(4).number(-7).number(8).number(0);                      // a block with its size: {-7: 8}
    entry.number(2).number(1).text("abc").number(1).number(0).number(2).number(0);  // {1: "abc", 2: null}
    auto manifest = parse(schema, {{1, entry.str()}});
    EXPECT_EQ(manifest->counts(0, MetricsMap::NullCounts),
              (std::vector<std::pair<int32_t, int64_t>>{{1, 0}, {300, 4}, {-7, 8}}));
    EXPECT_EQ(manifest->bounds(0, MetricsMap::LowerBounds),
              (std::vector<std::pair<int32_t, std::string_view>>{{1, "abc"}}));
    EXPECT_EQ(manifest->metrics(0, 300).null_count, 4);
    EXPECT_EQ(manifest->metrics(0, 1).lower_bound, "abc");
    EXPECT_FALSE(manifest->metrics(0, 2).lower_bound.has_value());
    EXPECT_FALSE(manifest->metrics(0, 2).null_count.has_value());
    std::vector<int32_t> ids = {-7, 1, 5};
    std::vector<ColumnMetrics> out(3);
    manifest->metrics(0, ids, out);
    EXPECT_EQ(out[0].null_count, 8);
    EXPECT_EQ(out[1].null_count, 0);
    EXPECT_FALSE(out[2].null_count.has_value());
}

TEST(Manifest, DecodesPartitionTuples) {
    std::string tuple = record(
        "r102",
        {field("d", R"(["null",{"type":"int","logicalType":"date"}])", 1000),
         field("n", R"({"type":"fixed","name":"dec","size":3,"logicalType":"decimal","precision":6,"scale":2})", 1001),
         field("t", R"(["null",{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false}])", 1002),
         field("x", "double", 1003)});
    Bytes entry = plain_entry(EntryStatus::Added, "f", 10);
    entry.number(1).number(17486).raw(std::string_view("\xff\xff\x9c", 3)).number(0).real(2.5);
    auto manifest = parse(plain_schema({field("partition", tuple, 102)}), {{1, entry.str()}});
    ASSERT_EQ(manifest->partition_fields(), 4u);
    std::vector<Datum> values(4);
    manifest->partition(0, values);
    EXPECT_EQ(values[0].to_string(), "2017-11-16");
    EXPECT_EQ(values[1].to_string(), "-1.00");
    EXPECT_TRUE(values[2].is_null());
    EXPECT_EQ(values[3].real(), 2.5);
    EXPECT_EQ(manifest->partition_type(2)->kind, TypeKind::Timestamp);
    EXPECT_EQ(manifest->find_partition_field(1003), 3u);
    EXPECT_FALSE(manifest->find_partition_field(1004).has_value());
}

TEST(Manifest, ManyBlocksAndNone) {
    EXPECT_EQ(parse(plain_schema(), {})->size(), 0u);
    auto manifest = parse(plain_schema(), {{1, plain_entry(EntryStatus::Added, "a", 1).str()},
                                           {1, plain_entry(EntryStatus::Deleted, "b", 2).str()}});
    ASSERT_EQ(manifest->size(), 2u);
    EXPECT_EQ(manifest->path(1), "b");
    EXPECT_FALSE(manifest->is_live(1));
}

TEST(Manifest, WhatIsAgainstTheSpecIsAnErrorThatNamesTheFile) {
    constexpr ErrorCode kViolation = ErrorCode::ICEBERG_SPECIFICATION_VIOLATION;
    std::string good = plain_entry(EntryStatus::Added, "a", 1).str();
    auto check = [&](ErrorCode code, std::string_view schema, testing_avro::Block block) {
        Failure failure = failure_of([&] { parse(schema, {block}); });
        EXPECT_EQ(failure.code, code) << failure.message;
        EXPECT_NE(failure.message.find("m.avro"), std::string::npos) << failure.message;
    };
    check(kViolation, record("e", {field("status", "int", 0)}), {1, "\2"});              // no data_file
    check(kViolation, plain_schema({field("second", "long", 103)}), {1, good});          // an id twice
    check(kViolation, plain_schema({field("first_row_id", "string", 142)}), {1, good});  // a wrong type
    check(kViolation,
          plain_schema({field("partition", record("r", {field("s", R"({"type":"array","items":"int"})", 1000)}), 102)}),
          {1, good});
    check(kViolation, R"("string")", {1, good});
    check(kViolation, plain_schema(), {1, plain_entry(static_cast<EntryStatus>(3), "a", 1).str()});
    check(kViolation, plain_schema(), {1, plain_entry(EntryStatus::Added, "a", -1).str()});
    check(kViolation, plain_schema(), {1, plain_entry(EntryStatus::Added, "", 1).str()});
    check(ErrorCode::INCORRECT_DATA, plain_schema(), {1, good.substr(0, good.size() - 1)});
    check(ErrorCode::INCORRECT_DATA, plain_schema(), {1, good + "x"});
    check(ErrorCode::INCORRECT_DATA, plain_schema(), {2, good});
    check(ErrorCode::INCORRECT_DATA, plain_schema(), {INT64_MAX, good});
    check(ErrorCode::INCORRECT_DATA, "{", {1, good});
    EXPECT_EQ(failure_of([&] { parse_manifest("not avro", "m.avro", {}); }).code, ErrorCode::INCORRECT_DATA);
}

TEST(ManifestList, ReadsSummariesAndDefaults) {
    std::string summary =
        record("r508", {field("contains_null", "boolean", 509), field("lower_bound", R"(["null","bytes"])", 510)});
    std::string schema = record(
        "manifest_file", {field("path", "string", 500), field("length", "long", 501), field("spec", "int", 502),
                          field("added", R"(["null","int"])", 504), field("existing", R"(["null","int"])", 505),
                          field("partitions", fmt::format(R"(["null",{{"type":"array","items":{}}}])", summary), 507)});
    Bytes bytes;
    bytes.text("/t/m.avro").number(100).number(3).number(1).number(0).number(1).number(0);
    bytes.number(1).number(1).raw("\1").number(1).text("ab").number(0);
    bytes.text("/t/n.avro").number(100).number(0).number(0).number(0).number(0);
    auto list = parse_manifest_list(container(schema, {{2, bytes.str()}}), "l.avro");
    ASSERT_EQ(list->manifests().size(), 2u);
    const ManifestFile& first = list->manifests()[0];
    EXPECT_EQ(first.path, "/t/m.avro");
    EXPECT_EQ(first.spec_id, 3);
    EXPECT_EQ(first.sequence_number, 0);
    EXPECT_EQ(first.content, ManifestContent::Data);
    EXPECT_FALSE(first.may_have_live_files());
    ASSERT_EQ(first.partitions.size(), 1u);
    EXPECT_TRUE(first.partitions[0].contains_null);
    EXPECT_FALSE(first.partitions[0].contains_nan.has_value());
    EXPECT_EQ(first.partitions[0].lower_bound, "ab");
    EXPECT_FALSE(first.partitions[0].upper_bound.has_value());
    EXPECT_FALSE(list->manifests()[1].has_partitions);
    EXPECT_TRUE(list->manifests()[1].may_have_live_files());  // unknown counts are more than zero
}

TEST(ManifestList, Errors) {
    std::string schema = record("manifest_file", {field("path", "string", 500), field("content", "int", 517)});
    auto code = [&](std::string_view of, std::string_view bytes) {
        return failure_of([&] { parse_manifest_list(container(of, {{1, std::string(bytes)}}), "l.avro"); }).code;
    };
    EXPECT_EQ(code(schema, Bytes().text("p").number(0).str()), std::nullopt);
    EXPECT_EQ(code(schema, Bytes().text("p").number(2).str()), ErrorCode::ICEBERG_SPECIFICATION_VIOLATION);
    EXPECT_EQ(code(schema, Bytes().text("").number(0).str()), ErrorCode::ICEBERG_SPECIFICATION_VIOLATION);
    EXPECT_EQ(code(schema, Bytes().text("p").str()), ErrorCode::INCORRECT_DATA);
    EXPECT_EQ(code(record("x", {field("path", "string")}), "\2p"), ErrorCode::ICEBERG_SPECIFICATION_VIOLATION);
    EXPECT_EQ(code(record("x", {field("path", "int", 500)}), "\2"), ErrorCode::ICEBERG_SPECIFICATION_VIOLATION);
}

TEST(ManifestList, OfPathsAlone) {
    auto list = ManifestList::of_paths({"/t/a.avro", "/t/b.avro"}, 5);
    ASSERT_EQ(list->manifests().size(), 2u);
    EXPECT_EQ(list->manifests()[1].path, "/t/b.avro");
    EXPECT_EQ(list->manifests()[1].spec_id, -1);
    EXPECT_TRUE(list->manifests()[1].may_have_live_files());
}
